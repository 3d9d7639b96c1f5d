"""Named tuples, which cross as plain data: the class's name, its fields' names and the values.

What this stops: everything of the other side's class except these names. The class is made here, by
`collections.namedtuple`, which accepts only public identifiers, so its only attributes are the
elements.

What it does not do: methods that such a class defines itself do not cross here; see
`channel.extended`.
"""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable

_MAX_TYPES = 1000
_MAX_FIELDS = 255
_GENERATED = frozenset(
    (
        *("__doc__", "__slots__", "_fields", "_field_defaults", "_make", "_replace", "_asdict"),
        *("__repr__", "__getnewargs__", "__match_args__", "__new__", "__module__"),
        *("__annotations__", "__orig_bases__", "__dict__", "__firstlineno__"),
        *("__static_attributes__", "__replace__", "__annotate__", "__annotations_cache__"),
    )
)


def _finds_nothing(name: str) -> object:
    return None


def fields_of(kind: type) -> tuple[str, ...] | None:
    """Returns the fields of a class of named tuples, or None for any other class."""
    fields = getattr(kind, "_fields", None) if issubclass(kind, tuple) else None
    if type(fields) is not tuple or not all(type(field) is str for field in fields):
        return None
    return fields


@functools.lru_cache(maxsize=256)
def has_nothing_else(kind: type) -> bool:
    """Returns True if all attributes of a class of named tuples are generated."""
    fields = fields_of(kind)
    if fields is None or kind.__mro__ != (kind, tuple, object):
        return False
    written = getattr(vars(kind).get("__repr__"), "__globals__", {})
    is_generated = written.get("__name__") == collections.__name__
    return is_generated and vars(kind).keys() <= _GENERATED.union(fields)


class Records:
    """The classes of named tuples that one side of a session knows.

    Args:
        find: returns what this side itself defines under the name of a class, or None.
        keeps_methods: whether a class with methods of its own is left to `extended`.
    """

    def __init__(
        self, find: Callable[[str], object] = _finds_nothing, *, keeps_methods: bool = False
    ) -> None:
        self._find = find
        self._keeps_methods = keeps_methods
        self._types: dict[tuple[str, tuple[str, ...]], type] = {}

    def parts(self, value: tuple[object, ...]) -> tuple[str, list[str], list[object]] | None:
        """Returns name, fields and values of a named tuple, or None for any other tuple.

        The class is kept, since the other side may send the tuple back.
        """
        kind = type(value)
        fields = fields_of(kind)
        if fields is None or (self._keeps_methods and not has_nothing_else(kind)):
            return None
        if len(self._types) < _MAX_TYPES:
            self._types.setdefault((kind.__name__, fields), kind)
        return kind.__name__, list(fields), list(tuple.__iter__(value))

    def build(self, name: object, fields: object, values: object) -> object:
        """Returns a named tuple.

        Raises:
            ValueError: there is no such class.
        """
        if type(name) is not str or type(fields) is not list or type(values) is not list:
            raise ValueError("not a named tuple")
        if len(fields) != len(values) or not all(type(field) is str for field in fields):
            raise ValueError("a named tuple with other fields than values")
        kind = self._type(name, tuple(fields))
        return tuple.__new__(kind, values)

    def _type(self, name: str, fields: tuple[str, ...]) -> type:
        kind = self._types.get((name, fields))
        if kind is None:
            if len(self._types) == _MAX_TYPES or len(fields) > _MAX_FIELDS:
                raise ValueError("too many classes of named tuples, or fields of one")
            kind = self._types[name, fields] = self._own(name, fields) or _made(name, fields)
        return kind

    def _own(self, name: str, fields: tuple[str, ...]) -> type | None:
        own = self._find(name)
        return own if isinstance(own, type) and fields_of(own) == fields else None


def _made(name: str, fields: tuple[str, ...]) -> type:
    return collections.namedtuple(name, fields, module="solution")  # noqa: PYI024  # at run time
