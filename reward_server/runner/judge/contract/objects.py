"""What stands in the judge for functions, classes and objects of the solution.

What this stops: an object that learns what the tests expect, or that answers for them. A stand-in
has no special method by which a library could ask it for its memory or its copy. Whatever is asked
by an operator lowers the label, and no operator shows data of the tests to an object: it is told
other objects of the solution alone. Data is compared and computed with its content, if its class is
one of data's, by the judge's own operators.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, NoReturn, Protocol

from ...channel.data import FIRST_ITEMS

_NEVER = ("__", "_pytest")  # names that only libraries ask for
_ORDER = ("lt", "le", "gt", "ge")
_OPERATORS = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
    *("and_", "or_", "xor", "lshift", "rshift"),
)
_UNARY = ("neg", "pos", "abs", "invert", "round")
_KINDS = {
    "hash": int,
    "int": int,
    "index": int,
    "float": float,
    "str": str,
    "repr": str,
    "len": int,
}


class Asker(Protocol):
    """Asks the solution; see `session`."""

    def ask(self, operation: str, *operands: object, caller: FrameType | None = None) -> Any:
        """Returns the answer, or raises the exception that it is."""

    def lower(self, rule: str) -> None:
        """Lowers the label of this run."""


class Handle:
    """A function, class or object of the solution. Each crossing makes a fresh one.

    Args:
        asker: asks the solution.
        reference: what the candidate knows it by.
        is_member: whether the tests did not make it: they may only call it.
    """

    __slots__ = ("_runner",)
    _asks_solution = True

    def __init__(self, asker: Asker, reference: object, *, is_member: bool = False) -> None:
        object.__setattr__(self, "_runner", (asker, reference, is_member))

    def __call__(self, /, *args: object, **kwargs: object) -> object:  # noqa: D102  # as any below
        ask, caller = _runner(self)[0].ask, sys._getframe(1)
        if not kwargs:
            return ask("call", self, *args, caller=caller)
        named = (tuple(kwargs), *args, *kwargs.values())
        return ask("call_named", self, *named, caller=caller)

    def __getattr__(self, name: str) -> object:
        return _named(self, "get", name)

    def __setattr__(self, name: str, value: object) -> None:
        _named(self, "set", name, value)

    def __delattr__(self, name: str) -> None:
        _named(self, "delete", name)

    def __str__(self) -> str:
        return str(_checked(self, "str"))

    def __repr__(self) -> str:
        return str(_checked(self, "repr"))

    def __len__(self) -> int:
        return int(_checked(self, "len"))

    def __iter__(self) -> Iterator[object]:
        return iter(_runner(self)[0].ask("iter", self))

    def __next__(self) -> object:
        found = _runner(self)[0].ask("next", self)
        if type(found) is not tuple or len(found) != 1:
            raise StopIteration
        return found[0]

    def __getitem__(self, key: object) -> object:
        return _runner(self)[0].ask("item", self, key)

    def __setitem__(self, key: object, value: object) -> None:
        _runner(self)[0].ask("set_item", self, key, value)

    def __delitem__(self, key: object) -> None:
        _runner(self)[0].ask("delete_item", self, key)

    def __contains__(self, item: object) -> bool:
        """Looks among the items, which are data: an object does not say what it holds."""
        if is_member(self):
            return any(item == one for one in self)
        return _lowered(self, "contains", item) is True

    def __eq__(self, other: object) -> bool:
        if type(other) is Handle:
            return _lowered(self, "eq", other) is True
        content = _content(self)
        return type(content) is not Handle and bool(content == other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __bool__(self) -> bool:
        """An object is true; one that says otherwise lowers the label."""
        asker = _runner(self)[0]
        if asker.ask("bool", self) is True:
            return True
        asker.lower("handles")
        return False

    def __hash__(self) -> int:
        return int(_asked(self, "hash"))

    def __int__(self) -> int:
        return int(_asked(self, "int"))

    def __index__(self) -> int:
        return int(_asked(self, "index"))

    def __float__(self) -> float:
        return float(_asked(self, "float"))

    def __format__(self, spec: str) -> str:
        _runner(self)[0].lower("handles")
        return format(str(self), spec)

    def __instancecheck__(self, one: object) -> bool:
        """Data is no object of the solution's classes; see also `Like`."""
        return original_of(one) is not None and _lowered(self, "isinstance", one, left=1) is True

    def __reduce_ex__(self, _: object) -> NoReturn:
        raise TypeError("an object of the solution cannot be copied")


def _operated(name: str, *, swapped: bool = False) -> Callable[[Handle, object], Any]:
    """Returns the method of an operator: between objects, or between data and a content."""
    function: Callable[[Any, Any], Any] = getattr(operator, name)

    def method(self: Handle, other: object) -> Any:
        if type(other) is Handle:
            return NotImplemented if swapped else _lowered(self, name, other)
        content = _content(self)
        if type(content) is Handle:
            return NotImplemented
        return function(other, content) if swapped else function(content, other)

    return method


def _unary(name: str) -> Callable[..., Any]:
    def method(self: Handle, *digits: object) -> Any:
        return _lowered(self, name, *digits)

    return method


for _name in (*_ORDER, *_OPERATORS):
    setattr(Handle, f"__{_name.rstrip('_')}__", _operated(_name))
for _name in _OPERATORS:
    setattr(Handle, f"__r{_name.rstrip('_')}__", _operated(_name, swapped=True))
for _name in _UNARY:
    setattr(Handle, f"__{_name}__", _unary(_name))


def drawn(handle: Handle) -> Iterator[object]:
    """Yields what an iterator of the solution still yields.

    Raises:
        TypeError: it answers something else.
    """
    ask, count = _runner(handle)[0].ask, FIRST_ITEMS
    while found := ask("draw", handle, count):
        if type(found) is not list:
            raise TypeError("an iterator yielded no items")
        yield from found
        count += count // 4


class Like:
    """Methods of a value that the solution answered as one of a subclass of data's.

    It is what its base is. What the base does not have, it asks the original for, which lowers the
    label; so does its text.
    """

    original: Handle

    def __getattr__(self, name: str) -> object:
        if name == "original":
            raise AttributeError(name)
        return getattr(self.original, name)

    def __repr__(self) -> str:
        return repr(self.original)

    def __copy__(self) -> object:
        return self

    def __deepcopy__(self, _: object) -> object:
        return self


def like(base: Any, original: Handle) -> Any:
    """Returns a value of a subclass of a base's type."""
    kind = type(base)
    made: Any = _like(kind)(base)
    made.original = original
    return made


def _like(kind: type[Any]) -> type[Any]:
    if kind not in _LIKE:
        methods = {} if kind is str else {"__str__": lambda one: str(one.original)}
        _LIKE[kind] = type(kind.__name__, (Like, kind), methods)
    return _LIKE[kind]


_LIKE: dict[type[Any], type[Any]] = {}


def original_of(one: object) -> Handle | None:
    """Returns the object of the solution that is meant by a value, if one is."""
    if isinstance(one, Like):
        return one.original
    return one if type(one) is Handle else None


def reference_of(handle: Handle) -> object:
    """Returns the reference of a stand-in."""
    return _runner(handle)[1]


def is_member(handle: Handle) -> bool:
    """Returns True if it is the value of an attribute."""
    return _runner(handle)[2]


def _runner(handle: Handle) -> tuple[Asker, object, bool]:
    found: tuple[Asker, object, bool] = object.__getattribute__(handle, "_runner")
    return found


def _named(handle: Handle, operation: str, name: str, *operands: object) -> object:
    if name.startswith(_NEVER):
        raise AttributeError(name)
    return _runner(handle)[0].ask(operation, handle, name, *operands)


def _checked(handle: Handle, operation: str) -> Any:
    answer, kind = _runner(handle)[0].ask(operation, handle), _KINDS[operation]
    if type(answer) is not kind:
        raise TypeError(f"{operation} returned no {kind.__name__}")
    return answer


def _asked(handle: Handle, operation: str) -> Any:
    _runner(handle)[0].lower("handles")
    return _checked(handle, operation)


def _lowered(handle: Handle, operation: str, *operands: object, left: int = 0) -> Any:
    asker, order = _runner(handle)[0], [handle, *operands]
    asker.lower("handles")
    return asker.ask(operation, *order[left:], *order[:left])


def _content(handle: Handle) -> object:
    """Returns an object's content as data, if its class is one of data's, or a stand-in."""
    return _lowered(handle, "data")
