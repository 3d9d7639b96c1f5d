"""The data that crosses between tests and solution: a closed list of types, by value, as JSON.

What this stops: anything but data that reaches the judge. Decoding makes objects of exactly the
types in this file, from a closed set of tags, and runs no code of the other side.

What it does not do: it does not decide what a value means. A value that is narrower than Python's
own (an array of float32) crosses as it is, and the reader is told (`Reader.narrow`), since numpy
compares such values in another way than by their value.

A message has one table for all containers that can be changed. A container is written where it
stands as its place in the table, so that a message keeps which containers are the same. The rows of
a call's arguments come first in the table of its answer, which refers to them by the same places;
those whose content is another than before are written again.

    null, true, 1, 1.5, "a"     the same in JSON; larger integers are texts in base 16
    {"r": 3}                    the container at place 3
    {"t": [..]}                 another type, by its tag; see `_TAGS`
    ["l", ..]                   a row of the table: its kind and its content; see `_ROWS`
"""

from __future__ import annotations

import importlib
import math
import sys
from collections import Counter, OrderedDict, UserDict, UserList, UserString, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from itertools import chain, islice
from types import MappingProxyType
from typing import Any
from uuid import UUID

MOST_ITEMS = 100_000  # that are taken from an iterator
MAX_DEPTH = 400  # levels of tuples
MAX_EXPONENT = 10_000
FRAMES_OF_A_VALUE = 3 * MAX_DEPTH + 100  # to write or read a value
_MAX_BITS = 4_000_000
_FLAT = frozenset((type(None), bool, str, float))
_SMALL = 1 << 63
_WIDE = frozenset(("|b1", "<i8", "<u8", "<f8", "<c16"))
_HIDING = frozenset(("__getitem__", "__missing__"))  # a subclass with these holds other items
_ITERATING = frozenset(("builtins", "itertools", "collections"))  # whose iterators begin once
_WIDE_KINDS = "UMm"
_NUMERIC_KINDS = "biufcMm"


class NotDataError(Exception):
    """A value stands in no row of the list, so that it cannot cross."""


class BadDataError(Exception):
    """The other side sent something that is no data."""


def numpy() -> Any:
    """Returns numpy, which is loaded where a solution or tests use it."""
    return importlib.import_module("numpy")


# ----------------------------------------------------------------------------------- writing


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
        self.has_cast = False

    def value(self, value: Any) -> Any:
        """Returns what is written for a value where it stands.

        Raises:
            NotDataError: it is no data, and nothing stands for it.
        """
        kind = type(value)
        if kind in _FLAT:
            return value
        if kind is int:
            return _whole(value)
        if id(value) in self._places:
            return {"r": self._places[id(value)]}
        if kind in _ROWS or kind in self._records or _is_array(kind):
            return self._listed(value)
        if kind in _TAGS:
            tag, parts = _TAGS[kind]
            return {tag: self._values(parts(value))}
        if _is_scalar(kind) and value.dtype.kind in _NUMERIC_KINDS:
            return {"np": [value.dtype.str, value.tobytes().decode("latin-1")]}
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
            fields = chain.from_iterable(vars(container).items())
            return ["R", self._records[kind], *self._values(fields)]
        if kind in _ROWS:
            tag, parts = _ROWS[kind]
            return [tag, *self._values(parts(container))]
        shape = list(container.shape)
        if container.dtype.kind in _NUMERIC_KINDS and container.dtype.names is None:
            return ["a", container.dtype.str, shape, container.tobytes().decode("latin-1")]
        return ["v", container.dtype.str, shape, *self._values(container.ravel().tolist())]

    def _values(self, parts: Iterable[object]) -> list[Any]:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise NotDataError("it is nested too deeply")
        try:
            return [one if type(one) in _FLAT else self.value(one) for one in parts]
        finally:
            self._depth -= 1

    def _listed(self, container: object) -> dict[str, int]:
        place = self._places[id(container)] = len(self.containers)
        self.containers.append(container)
        self._waiting.append(place)
        return {"r": place}

    def _cast(self, value: Any) -> Any:
        """Writes a value of a subclass as one of its base, and what an iterator yields."""
        for base in type(value).__mro__:
            if not _HIDING.isdisjoint(vars(base)) and base not in _BASES:
                break
            if base in _BASES:
                self.has_cast = True
                return self.value(_BASES[base](value))
        if type(value).__module__ in _ITERATING and hasattr(value, "__next__"):
            return {"i": self._drained(value)}
        return self._refer(value)

    def _drained(self, iterator: Iterator[object]) -> list[Any]:
        """Returns the items of an iterator, and what stands for the rest."""
        found: list[Any] = []
        try:
            for item in islice(iterator, MOST_ITEMS):
                found.append(self.value(item))
        except Exception as error:  # noqa: BLE001  # a solution may raise anything
            return [found, None, self._refer(error)]
        is_over = len(found) < MOST_ITEMS
        return [found, None if is_over else self._refer(iterator), None]


def _whole(value: Any) -> Any:
    if -_SMALL < value < _SMALL:
        return value
    if value.bit_length() > _MAX_BITS:
        raise NotDataError("its integers are too large")
    return {"n": hex(value)}


def _is_array(kind: type) -> bool:
    module = sys.modules.get("numpy")
    return module is not None and kind is module.ndarray


def _is_scalar(kind: type) -> bool:
    module = sys.modules.get("numpy")
    return module is not None and issubclass(kind, module.generic) and kind.__module__ == "numpy"


def _zone(zone: Any) -> list[Any]:
    if zone is None:
        return []
    if type(zone) is not timezone:
        raise NotDataError("its time zone is no fixed one")
    return [zone.utcoffset(None)]


def _moment(value: Any) -> list[Any]:
    parts = [value.hour, value.minute, value.second, value.microsecond, value.fold]
    return [*parts, *_zone(value.tzinfo)]


_TAGS: Mapping[type, tuple[str, Callable[[Any], Iterable[Any]]]] = {
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
    UUID: ("uuid", lambda one: [one.hex]),
    type({}.keys()): ("keys", iter),
    type({}.values()): ("values", iter),
    type({}.items()): ("items", iter),
}
_ROWS: Mapping[type, tuple[str, Callable[[Any], Iterable[Any]]]] = {
    list: ("l", iter),
    set: ("s", iter),
    dict: ("d", lambda one: chain.from_iterable(one.items())),
    Counter: ("C", lambda one: chain.from_iterable(one.items())),
    OrderedDict: ("O", lambda one: chain.from_iterable(one.items())),
    defaultdict: ("D", lambda one: chain.from_iterable(one.items())),
    deque: ("q", lambda one: [one.maxlen, *one]),
}
# How a value of a subclass becomes one of the listed type, by methods of that type.
_BASES: Mapping[type, Callable[[Any], object]] = {
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
    bytearray: bytes,
    memoryview: bytes,
    MappingProxyType: dict,
    UserDict: lambda one: dict(one.data),
    UserList: lambda one: list(one.data),
    UserString: lambda one: str(one.data),
}


# ----------------------------------------------------------------------------------- reading


class Reader:
    """Reads the values of one message.

    Args:
        resolve: returns what a reference stands for.
        known: the containers of the message to which this one answers.
        records: the classes whose objects cross as data, by name.
        nan: the object that answers have for what is not a number; lists compare by identity.

    Attributes:
        narrow: whether a value is narrower than Python's own.
        texts: the texts among the values.
    """

    def __init__(
        self,
        resolve: Callable[[object], object],
        rows: object,
        *,
        known: Sequence[object] = (),
        records: Mapping[str, Any] | None = None,
        nan: float = math.nan,
    ) -> None:
        self._resolve = resolve
        self._nan = nan
        self._records = records or {}
        self.narrow = False
        self.texts: list[str] = []
        if type(rows) is not list or not all(type(one) is list and one for one in rows):
            raise BadDataError("a table without rows")
        self.containers = [*known, *map(self._empty, rows)]
        for container, row in zip(self.containers[len(known) :], rows, strict=True):
            self.fill(container, row)

    def value(self, written: Any) -> Any:
        """Returns a value.

        Raises:
            BadDataError: nothing on the list is written like this.
        """
        kind = type(written)
        if kind is str:
            self.texts.append(written)
            return written
        if kind in _FLAT or kind is int:
            return written if written == written else self._nan
        if kind is not dict or len(written) != 1:
            raise BadDataError("a value that is no data")
        [(tag, content)] = written.items()
        try:
            return self._tagged(tag, content)
        except (TypeError, ValueError, KeyError, IndexError, ArithmeticError) as error:
            raise BadDataError(f"{tag}: {type(error).__name__}") from None

    def fill(self, container: Any, row: Sequence[Any]) -> None:
        """Gives a container its content."""
        tag, *parts = row
        try:
            if tag == "a":
                return
            if tag == "v":
                container.reshape(-1)[:] = [*map(self.value, parts[2:])]
                return
            if tag == "R":
                self._fill_record(container, parts[1:])
                return
            values = list(map(self.value, parts))
            _FILL[tag](container, values)
        except (TypeError, ValueError, KeyError) as error:
            raise BadDataError(f"a row: {type(error).__name__}") from None

    def replace(self, container: Any, row: Sequence[Any]) -> None:
        """Gives a container another content."""
        made: Any = self._empty(list(row))
        if type(made) is not type(container):
            raise BadDataError("a container that became another")
        if _is_array(type(container)):
            if container.shape != made.shape or container.dtype != made.dtype:
                raise BadDataError("an array that became another")
            container[...] = made
            return
        (vars(container) if row[0] == "R" else container).clear()
        self.fill(container, row)

    def _empty(self, row: list[Any]) -> object:
        match row:
            case ["a" | "v", str(kind), list(shape), *content]:
                return self._array(row[0], kind, shape, content)
            case ["R", str(name), *_] if name in self._records:
                found = self._records[name]
                return found.__new__(found)
            case ["q", int() | None as most, *_]:
                return deque(maxlen=most)
            case [str(tag), *_] if tag in _EMPTY:
                return _EMPTY[tag]()
        raise BadDataError("a row of no kind")

    def _array(self, tag: str, kind: str, shape: list[Any], content: list[Any]) -> object:
        module = numpy()
        try:
            dtype = module.dtype(kind)
            self.narrow |= not _is_wide(dtype)
            if tag == "a" and dtype.kind in _NUMERIC_KINDS:
                data = module.frombuffer(bytearray(content[0], "latin-1"), dtype)
                return data.reshape(shape)
            if tag == "v" and dtype.kind in "UO":
                return module.empty(len(content), dtype).reshape(shape)
        except (TypeError, ValueError, IndexError) as error:
            raise BadDataError(f"an array: {type(error).__name__}") from None
        raise BadDataError("an array of no kind")

    def _fill_record(self, container: Any, parts: Sequence[Any]) -> None:
        names, values = parts[::2], parts[1::2]
        for name, value in zip(names, values, strict=True):
            if type(name) is not str or not name.isidentifier() or name.startswith("__"):
                raise BadDataError("a field without a name")
            vars(container)[name] = self.value(value)

    def _tagged(self, tag: str, content: Any) -> Any:
        if tag == "r":
            if type(content) is not int or content < 0:
                raise BadDataError("a place outside of the table")
            return self.containers[content]
        if tag == "n":
            return int(content, 16)
        if tag == "h":
            return self._resolve(content)
        if type(content) is not list:
            raise BadDataError("a value without content")
        if tag == "np":
            return self._scalar(*content)
        if tag == "i":
            return self._iterator(*content)
        return _MAKE[tag](list(map(self.value, content)))

    def _scalar(self, kind: str, content: str) -> object:
        module = numpy()
        dtype = module.dtype(kind)
        if dtype.kind not in _NUMERIC_KINDS or dtype.names is not None:
            raise BadDataError("a number of no kind")
        self.narrow |= not _is_wide(dtype)
        return module.frombuffer(content.encode("latin-1"), dtype)[0]

    def _iterator(self, items: list[Any], rest: Any, error: Any) -> Iterator[object]:
        values = list(map(self.value, items))
        more = None if rest is None else self.value(rest)
        return _replayed(values, more, None if error is None else self.value(error))


def _replayed(values: list[object], more: Any, error: Any) -> Iterator[object]:
    yield from values
    if more is not None:
        yield from more
    if error is not None:
        raise error


def _is_wide(dtype: Any) -> bool:
    return dtype.str in _WIDE or dtype.kind in _WIDE_KINDS


def _decimal(parts: list[Any]) -> Decimal:
    [text] = parts
    made = Decimal(text)
    exponent = made.as_tuple().exponent
    if isinstance(exponent, int) and abs(exponent) > MAX_EXPONENT:
        raise BadDataError("a decimal that is too large")
    return made


def _made_zone(parts: list[Any]) -> timezone | None:
    return timezone(*parts) if parts else None


def _made_time(parts: list[Any]) -> time:
    hour, minute, second, microsecond, fold = parts[:5]
    return time(hour, minute, second, microsecond, _made_zone(parts[5:]), fold=fold)


def _made_moment(parts: list[Any]) -> datetime:
    clock = _made_time(parts[3:])
    return datetime.combine(date(*parts[:3]), clock)


_MAKE: Mapping[str, Callable[[list[Any]], object]] = {
    "t": tuple,
    "f": frozenset,
    "b": lambda parts: parts[0].encode("latin-1"),
    "c": lambda parts: complex(*parts),
    "range": lambda parts: range(*parts),
    "date": lambda parts: date(*parts),
    "moment": _made_moment,
    "time": _made_time,
    "delta": lambda parts: timedelta(*parts),
    "zone": lambda parts: timezone(*parts),
    "decimal": _decimal,
    "fraction": lambda parts: Fraction(*parts),
    "uuid": lambda parts: UUID(hex=parts[0]),
    "keys": lambda parts: dict.fromkeys(parts).keys(),
    "values": lambda parts: dict(enumerate(parts)).values(),
    "items": lambda parts: dict(parts).items(),
}
_EMPTY: Mapping[str, Callable[[], object]] = {
    "l": list,
    "s": set,
    "d": dict,
    "C": Counter,
    "O": OrderedDict,
    "D": defaultdict,
}


def _pairs(container: Any, values: list[Any]) -> None:
    for key, value in zip(values[::2], values[1::2], strict=True):
        container[key] = value


_FILL: Mapping[str, Callable[[Any, list[Any]], object]] = {
    "l": lambda one, values: one.extend(values),
    "s": lambda one, values: one.update(values),
    "q": lambda one, values: one.extend(values[1:]),
    **dict.fromkeys("dCOD", _pairs),
}
