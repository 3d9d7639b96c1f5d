"""Reads data as `data` says; what is written in another way is refused."""

from __future__ import annotations

import math
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from types import GeneratorType, MappingProxyType, MemberDescriptorType
from typing import Any

from .data import FACTORIES, FLAT, MAX_EXPONENT, NUMERIC_KINDS, BadDataError, is_wide, numpy, uuid

_AS_THEY_ARE = frozenset((int, bool, type(None)))
_FLOATS = {float}


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
        if kind in FLAT or kind is int:
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
                flat = container.reshape(-1)
                for place, one in enumerate(parts[2:]):
                    flat[place] = self.value(one)
                return
            if tag == "R":
                self._fill_record(container, parts[1:])
                return
            if tag == "D":
                name, *parts = parts
                container.default_factory = None if name is None else FACTORIES[name]
            _FILL[tag](container, self._values(parts))
        except (TypeError, ValueError, KeyError) as error:
            raise BadDataError(f"a row: {type(error).__name__}") from None

    def replace(self, container: Any, row: Sequence[Any]) -> None:
        """Gives a container another content."""
        made: Any = self._empty(list(row))
        if type(made) is not type(container):
            raise BadDataError("a container that became another")
        if row[0] in ("a", "v"):
            self.fill(made, row)
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
            self.narrow |= not is_wide(dtype)
            if tag == "a" and dtype.kind in NUMERIC_KINDS:
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
            if isinstance(getattr(type(container), name, None), MemberDescriptorType):
                object.__setattr__(container, name, self.value(value))
            else:
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
        if tag == "s":
            base, original = content
            return self._resolve(["like", self.value(base), original["h"]])
        if tag == "i":
            return self._iterator(*content)
        return _MAKE[tag](self._values(content))

    def _values(self, written: list[Any]) -> list[Any]:
        kinds = set(map(type, written))
        if kinds <= _AS_THEY_ARE or (kinds == _FLOATS and not math.isnan(sum(written))):
            return written
        return list(map(self.value, written))

    def _scalar(self, kind: str, content: str) -> object:
        module = numpy()
        dtype = module.dtype(kind)
        if dtype.kind not in NUMERIC_KINDS or dtype.names is not None:
            raise BadDataError("a number of no kind")
        self.narrow |= not is_wide(dtype)
        return module.frombuffer(content.encode("latin-1"), dtype)[0]

    def _iterator(self, items: list[Any], rest: Any, error: Any) -> Iterator[object]:
        values = list(map(self.value, items))
        more = () if rest is None else self._resolve(["rest", rest["h"]])
        ended = None if error is None else self._resolve(["end", *error["h"][1:]])
        return _replayed(values, more, ended)


def _replayed(values: list[object], more: Any, error: Any) -> Iterator[object]:
    yield from values
    yield from more
    if error is not None:
        raise error


def is_answered(value: object) -> bool:
    """Returns True for an iterator that an answer was read as."""
    return isinstance(value, GeneratorType) and value.gi_code is _replayed.__code__


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
    "uuid": lambda parts: uuid().UUID(hex=parts[0]),
    "view": lambda parts: MappingProxyType(*parts),
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
    "B": bytearray,
}


def _pairs(container: Any, values: list[Any]) -> None:
    for key, value in zip(values[::2], values[1::2], strict=True):
        container[key] = value


_FILL: Mapping[str, Callable[[Any, list[Any]], object]] = {
    "l": lambda one, values: one.extend(values),
    "s": lambda one, values: one.update(values),
    "q": lambda one, values: one.extend(values[1:]),
    "B": lambda one, values: one.extend(values),
    **dict.fromkeys("dCOD", _pairs),
}
