"""Writes data as `data` says."""

from __future__ import annotations

import sys
from collections import (
    ChainMap,
    Counter,
    OrderedDict,
    UserDict,
    UserList,
    UserString,
    defaultdict,
    deque,
)
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from itertools import chain, islice
from types import MappingProxyType
from typing import Any

from .data import (
    FACTORIES,
    FIRST_ITEMS,
    FIXED,
    FLAT,
    MAX_DEPTH,
    MAX_EXPONENT,
    NUMERIC_KINDS,
    NotDataError,
    is_written,
)
from .reading import is_answered

_MAX_BITS = 4_000_000
_SMALL = 1 << 63
_WHOLE = {int}
_ITERATING = frozenset(("builtins", "itertools", "collections"))  # whose iterators begin once
# What a class may define and still be nothing but a container of its base.
_PLAIN = frozenset(
    (
        *("__init__", "__new__", "__repr__", "__str__", "__hash__", "__doc__", "__module__"),
        *("__qualname__", "__slots__", "__dict__", "__weakref__", "__annotations__"),
        *("__orig_bases__", "__parameters__", "__firstlineno__", "__static_attributes__"),
    )
)


class Writer:
    """Writes the values of one message.

    Args:
        refer: returns what stands for a value that is no data, or raises NotDataError.
        known: the containers of the message to which this one answers.
        records: the classes whose objects cross as data, by name.
        casts: whether a value of a subclass crosses as one of its base, and an iterator as what it
            yields, as in answers.

    Attributes:
        has_cast: whether one did.
        hands_back: whether an iterator that was answered crosses back, as all that it yields.
    """

    def __init__(
        self,
        refer: Callable[[object], object],
        *,
        known: Sequence[object] = (),
        records: Mapping[str, object] | None = None,
        casts: bool = False,
    ) -> None:
        self._refer = refer
        self._casts = casts
        self._records = {one: name for name, one in (records or {}).items()}
        self.containers = list(known)
        self._places = {id(one): place for place, one in enumerate(known)}
        self._rows: dict[int, list[Any]] = {}
        self._waiting: deque[int] = deque()
        self._depth = 0
        self.has_cast = self.hands_back = False

    def value(self, value: Any) -> Any:
        """Returns what is written for a value where it stands.

        Raises:
            NotDataError: it is no data, and nothing stands for it.
        """
        kind = type(value)
        if kind in FLAT:
            return value
        if kind is int:
            return _whole(value)
        if id(value) in self._places:
            return {"r": self._places[id(value)]}
        if kind in ROWS or kind in self._records or _is_array(kind):
            return self._listed(value) if self._is_listed(value) else self._refer(value)
        if kind in TAGS:
            tag, parts = TAGS[kind]
            value = self._with_fixed_zone(value) if kind in (datetime, time) else value
            if kind is Decimal and not _is_handy(value):
                return self._refer(value)
            return {tag: self._values(parts(value))}
        if _is_of("uuid", "UUID", kind):
            return {"uuid": [value.hex]}
        if _is_scalar(kind) and value.dtype.kind in NUMERIC_KINDS:
            return {"np": [value.dtype.str, value.tobytes().decode("latin-1")]}
        if is_answered(value):
            return {"i": self._handed_back(value)}
        return self._cast(value) if self._casts else self._refer(value)

    def rows(self) -> list[Any]:
        """Returns the rows of the table that follow the known ones."""
        while self._waiting:
            place = self._waiting.popleft()
            self._rows[place] = self.row(self.containers[place])
        return [self._rows[place] for place in sorted(self._rows)]

    def row(self, container: Any) -> list[Any]:
        """Returns the content of a container."""
        kind = type(container)
        if kind in self._records:
            fields = chain.from_iterable(fields_of(container).items())
            return ["R", self._records[kind], *self._values(fields)]
        if kind in ROWS:
            tag, parts = ROWS[kind]
            return [tag, *self._values(parts(container))]
        shape = list(container.shape)
        if container.dtype.kind in NUMERIC_KINDS:
            return ["a", container.dtype.str, shape, container.tobytes().decode("latin-1")]
        return ["v", container.dtype.str, shape, *self._values(container.ravel().tolist())]

    def _values(self, parts: Iterable[object]) -> list[Any]:
        found = list(parts)
        kinds = set(map(type, found))
        if kinds <= FLAT or (kinds == _WHOLE and _are_small(found)):
            return found
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise NotDataError("it is nested too deeply")
        try:
            return [one if type(one) in FLAT else self.value(one) for one in found]
        finally:
            self._depth -= 1

    def _is_listed(self, value: Any) -> bool:
        """Returns True if a container is as plain as its type."""
        if type(value) is defaultdict:
            factory = value.default_factory
            return factory is None or factory in FACTORIES.values()
        return is_written(value.dtype) if _is_array(type(value)) else True

    def _listed(self, container: object) -> dict[str, int]:
        place = self._places[id(container)] = len(self.containers)
        self.containers.append(container)
        self._waiting.append(place)
        return {"r": place}

    def _with_fixed_zone(self, value: Any) -> Any:
        """Returns a time of day whose zone is an offset; answers have it instead of a region."""
        zone = value.tzinfo
        if zone is None or type(zone) is timezone:
            return value
        if not self._casts:
            raise NotDataError("its time zone is no fixed one")
        self.has_cast, offset = True, value.utcoffset()
        fixed = None if offset is None else timezone(offset, str(value.tzname()))
        return value.replace(tzinfo=fixed)

    def _cast(self, value: Any) -> Any:
        """Writes a value of a subclass as one of its base, and what an iterator yields."""
        base = base_of(type(value))
        if base in FIXED:
            self.has_cast = True
            return self._like(self.value(BASES[base](value)), value)
        if base is not None and _is_plain(value, base):
            self.has_cast = True
            return self.value(BASES[base](value))
        if type(value).__module__ in _ITERATING and hasattr(value, "__next__"):
            return {"i": self._drained(value)}
        return self._refer(value)

    def _handed_back(self, iterator: Iterator[object]) -> list[Any]:
        self.hands_back = True
        items = list(islice(iterator, FIRST_ITEMS + 1))
        if len(items) > FIRST_ITEMS:
            raise NotDataError(f"an iterator of more than {FIRST_ITEMS} items")
        return [self._values(items), None, None]

    def _like(self, written: Any, original: object) -> Any:
        try:
            return {"s": [written, self._refer(original)]}
        except NotDataError:  # nothing stands for it, or too much already stands for others
            return written

    def _drained(self, iterator: Iterator[object]) -> list[Any]:
        """Returns the first items of an iterator, and what stands for the rest or its error."""
        found: list[Any] = []
        try:
            for item in islice(iterator, FIRST_ITEMS):
                found.append(self.value(item))
        except Exception as error:  # noqa: BLE001  # a solution may raise anything
            return [found, None, self._refer(error)]
        is_over = len(found) < FIRST_ITEMS
        return [found, None if is_over else self._refer(iterator), None]


def fields_of(record: Any) -> Mapping[str, Any]:
    """Returns the fields of a record, whose class may have slots."""
    names = [name for kind in type(record).__mro__ for name in _slots(kind)]
    slots = {name: getattr(record, name) for name in names if hasattr(record, name)}
    return slots | getattr(record, "__dict__", {})


def _slots(kind: type) -> Iterable[str]:
    slots = vars(kind).get("__slots__", ())
    names = (slots,) if isinstance(slots, str) else slots
    return [name for name in names if not name.startswith("__")]


def base_of(kind: type) -> type | None:
    """Returns the listed type of which a class is a subclass, or None."""
    return next((one for one in kind.__mro__ if one in BASES), None)


def _is_plain(value: object, base: type) -> bool:
    """Returns True if a value of a subclass does and holds nothing but what its base does."""
    kinds = type(value).__mro__
    own = chain.from_iterable(map(vars, kinds[: kinds.index(base)]))
    return _PLAIN.issuperset(own) and not (
        base is not type(value) and getattr(value, "__dict__", False)
    )


def _are_small(values: Sequence[Any]) -> bool:
    return bool(min(values) > -_SMALL and max(values) < _SMALL)


def _whole(value: Any) -> Any:
    if -_SMALL < value < _SMALL:
        return value
    if value.bit_length() > _MAX_BITS:
        raise NotDataError("its integers are too large")
    return {"n": hex(value)}


def _is_array(kind: type) -> bool:
    return _is_of("numpy", "ndarray", kind)


def _is_of(module: str, name: str, kind: type) -> bool:
    """Returns True if a type is that of a module, which need not be loaded."""
    return module in sys.modules and kind is getattr(sys.modules[module], name, None)


def _is_scalar(kind: type) -> bool:
    module = sys.modules.get("numpy")
    return module is not None and issubclass(kind, module.generic) and kind.__module__ == "numpy"


def _is_handy(value: Decimal) -> bool:
    exponent = value.as_tuple().exponent
    return not isinstance(exponent, int) or abs(exponent) <= MAX_EXPONENT


def _zone(zone: Any) -> list[Any]:
    if zone is None:
        return []
    offset, name = zone.utcoffset(None), zone.tzname(None)
    return [offset] if name == timezone(offset).tzname(None) else [offset, name]


def _moment(value: Any) -> list[Any]:
    parts = [value.hour, value.minute, value.second, value.microsecond, value.fold]
    return [*parts, *_zone(value.tzinfo)]


def _pairs(one: Mapping[object, object]) -> Iterable[object]:
    return chain.from_iterable(one.items())


def _made_by(one: defaultdict[object, object]) -> Iterable[object]:
    factory = one.default_factory
    if factory is not None and factory not in FACTORIES.values():
        raise NotDataError("it makes what it misses by an own function")
    return [getattr(factory, "__name__", None), *_pairs(one)]


TAGS: Mapping[type, tuple[str, Callable[[Any], Iterable[Any]]]] = {
    tuple: ("t", iter),
    frozenset: ("f", iter),
    bytes: ("b", lambda one: [one.decode("latin-1")]),
    complex: ("c", lambda one: [one.real, one.imag]),
    range: ("range", lambda one: [one.start, one.stop, one.step]),
    date: ("date", lambda one: [one.year, one.month, one.day]),
    datetime: ("moment", lambda one: [one.year, one.month, one.day, *_moment(one)]),
    time: ("time", _moment),
    timedelta: ("delta", lambda one: [one.days, one.seconds, one.microseconds]),
    timezone: ("zone", _zone),
    Decimal: ("decimal", lambda one: [str(one)]),
    Fraction: ("fraction", lambda one: [one.numerator, one.denominator]),
    MappingProxyType: ("view", lambda one: [dict(one)]),
    type({}.keys()): ("keys", iter),
    type({}.values()): ("values", iter),
    type({}.items()): ("items", iter),
}
ROWS: Mapping[type, tuple[str, Callable[[Any], Iterable[Any]]]] = {
    list: ("l", iter),
    set: ("s", iter),
    dict: ("d", _pairs),
    Counter: ("C", _pairs),
    OrderedDict: ("O", _pairs),
    defaultdict: ("D", _made_by),
    deque: ("q", lambda one: [one.maxlen, *one]),
    bytearray: ("B", iter),
}
# How a value of a subclass becomes one of the listed type, by methods of that type.
BASES: Mapping[type, Callable[[Any], object]] = {
    int: lambda one: int.__index__(one),
    float: lambda one: float.__float__(one),
    str: lambda one: str.__str__(one),
    bytes: lambda one: bytes.__getitem__(one, slice(None)),
    complex: lambda one: complex.__complex__(one),
    tuple: lambda one: tuple(tuple.__iter__(one)),
    frozenset: lambda one: frozenset(frozenset.__iter__(one)),
    list: lambda one: list(list.__iter__(one)),
    set: lambda one: set(set.__iter__(one)),
    Counter: lambda one: Counter(dict(dict.items(one))),
    OrderedDict: lambda one: OrderedDict(OrderedDict.items(one)),
    dict: lambda one: dict(dict.items(one)),
    deque: lambda one: deque(deque.__iter__(one), one.maxlen),
    bytearray: lambda one: bytearray(bytearray.__iter__(one)),
    memoryview: bytes,
    ChainMap: lambda one: dict(ChainMap.items(one)),
    UserDict: lambda one: dict(one.data),
    UserList: lambda one: list(one.data),
    UserString: lambda one: str(one.data),
}
