"""Decodes messages of the other side, which are treated as hostile input; see `codec`."""

from __future__ import annotations

import datetime
import json
import json.scanner
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, Protocol, TypeVar, cast

from ..values import arrays, library_types
from .codec import (
    FACTORIES,
    MAX_CONTAINERS,
    MAX_DECIMAL_EXPONENT,
    MAX_INTEGER_DIGITS,
    REFERENCE,
    TYPES,
    ProtocolViolation,
    References,
)

T = TypeVar("T")

_COLLISIONS_CHECKED_FROM = 512
_MAX_COLLISIONS = 64


def _check(condition: bool, problem: str) -> None:
    if not condition:
        raise ProtocolViolation(problem)


def _exactly(kind: type[T], content: object) -> T:
    """Returns content of exactly this type, not of a subclass.

    Raises:
        ProtocolViolation: it is of another type.
    """
    if type(content) is not kind:
        raise ProtocolViolation(f"no {kind.__name__}")
    return content


def _list(content: object) -> list[object]:
    return _exactly(list, content)


def _list_of(content: object, size: int) -> list[object]:
    items = _list(content)
    _check(len(items) == size, "a list of another length")
    return items


def _integers(content: object, size: int) -> list[int]:
    return [_exactly(int, item) for item in _list_of(content, size)]


def _text(content: object) -> str:
    return _exactly(str, content)


def _elements(content: object) -> list[object]:
    """Returns the elements of a set or keys of a dictionary, unless their hashes collide on
    purpose."""
    items = _list(content)
    if len(items) >= _COLLISIONS_CHECKED_FROM:
        hashes = sorted(map(hash, items))
        apart = _MAX_COLLISIONS
        if any(map(int.__eq__, hashes, hashes[apart:])):
            raise ProtocolViolation("keys that were made to collide")
    return items


def _decode_int(content: object) -> object:
    text = _text(content)
    _check(len(text) <= MAX_INTEGER_DIGITS, "an integer with too many digits")
    number = int(text, 16)
    _check(hex(number) == text, "not an integer")
    return number


def _decode_str(content: object) -> object:
    return bytes.fromhex(_text(content)).decode("utf-8", "surrogatepass")


def _decode_tuple(content: object) -> object:
    return tuple(_list(content))


def _decode_set(content: object) -> set[object]:
    items = _elements(content)
    decoded = set(items)
    _check(len(decoded) == len(items), "an element twice")
    return decoded


def _decode_frozenset(content: object) -> object:
    return frozenset(_decode_set(content))


def _decode_dict(content: object) -> dict[object, object]:
    keys, values = _list_of(content, 2)
    keys = _elements(keys)
    decoded = dict(zip(keys, _list(values), strict=True))
    _check(len(decoded) == len(keys), "a key twice")
    return decoded


def _decode_counter(content: object) -> object:
    counts: Any = _decode_dict(content)
    return Counter(counts)


def _decode_ordered(content: object) -> object:
    return OrderedDict(_decode_dict(content))


def _decode_defaultdict(content: object) -> object:
    name, *parts = _list_of(content, 3)
    factory = None if name is None else FACTORIES[_text(name)]
    return defaultdict(factory, _decode_dict(parts))


def _decode_deque(content: object) -> object:
    size, items = _list_of(content, 2)
    elements = _list(items)
    decoded = deque(elements, None if size is None else _exactly(int, size))
    _check(len(decoded) == len(elements), "a deque beyond its size")
    return decoded


def _decode_bytes(content: object) -> object:
    return bytes.fromhex(_text(content))


def _decode_bytearray(content: object) -> object:
    return bytearray.fromhex(_text(content))


def _decode_complex(content: object) -> object:
    real, imaginary = _list_of(content, 2)
    return complex(_exactly(float, real), _exactly(float, imaginary))


def _decode_range(content: object) -> object:
    return range(*_integers(content, 3))


def _decode_slice(content: object) -> object:
    return slice(*_list_of(content, 3))


def _decode_decimal(content: object) -> object:
    text = _text(content)
    number = Decimal(text)
    exponent = number.as_tuple().exponent
    _check(type(exponent) is not int or abs(exponent) <= MAX_DECIMAL_EXPONENT, "a huge exponent")
    _check(str(number) == text, "not a decimal")
    return number


def _decode_fraction(content: object) -> object:
    numerator, denominator = _integers(content, 2)
    number = Fraction(numerator, denominator)
    _check(number.denominator == denominator, "not a fraction in lowest terms")
    return number


def _decode_date(content: object) -> object:
    return datetime.date(*_integers(content, 3))


def _zone(value: object) -> datetime.tzinfo | None:
    if value is None or isinstance(value, datetime.tzinfo):
        return value
    raise ProtocolViolation("not a zone")


def _decode_time(content: object) -> object:
    *clock, zone = _list_of(content, 6)
    hour, minute, second, microsecond, fold = _integers(clock, 5)
    return datetime.time(hour, minute, second, microsecond, _zone(zone), fold=fold)


def _decode_datetime(content: object) -> object:
    *fields, zone = _list_of(content, 9)
    *moment, fold = _integers(fields, 8)
    year, month, day, hour, minute, second, microsecond = moment
    return datetime.datetime(
        year, month, day, hour, minute, second, microsecond, _zone(zone), fold=fold
    )


def _decode_timedelta(content: object) -> object:
    return datetime.timedelta(microseconds=_exactly(int, content))


def _decode_timezone(content: object) -> object:
    offset, *names = _list(content)
    _check(len(names) <= 1, "a zone with several names")
    span = datetime.timedelta(microseconds=_exactly(int, offset))
    return datetime.timezone(span, *map(_text, names))


def _decode_array(content: object) -> object:
    return arrays.build(*_list_of(content, 3))


def _decode_keys(content: object) -> object:
    items = _elements(content)
    decoded = dict.fromkeys(items)
    _check(len(decoded) == len(items), "a key twice")
    return library_types.keys(decoded)


def _decode_values(content: object) -> object:
    return library_types.values(_list(content))


def _decode_items(content: object) -> object:
    return library_types.items(_decode_dict(content))


def _decode_read_only(content: object) -> object:
    return library_types.read_only(_decode_dict(content))


def _decode_memory(content: object) -> object:
    return memoryview(bytes.fromhex(_text(content)))


DECODERS: Mapping[str, Callable[[object], object]] = {
    "int": _decode_int,
    "str": _decode_str,
    "tuple": _decode_tuple,
    "set": _decode_set,
    "frozenset": _decode_frozenset,
    "dict": _decode_dict,
    "Counter": _decode_counter,
    "OrderedDict": _decode_ordered,
    "defaultdict": _decode_defaultdict,
    "deque": _decode_deque,
    "bytes": _decode_bytes,
    "bytearray": _decode_bytearray,
    "complex": _decode_complex,
    "range": _decode_range,
    "slice": _decode_slice,
    "Decimal": _decode_decimal,
    "Fraction": _decode_fraction,
    "date": _decode_date,
    "time": _decode_time,
    "datetime": _decode_datetime,
    "timedelta": _decode_timedelta,
    "timezone": _decode_timezone,
    "array": _decode_array,
    "dict_keys": _decode_keys,
    "dict_values": _decode_values,
    "dict_items": _decode_items,
    "mappingproxy": _decode_read_only,
    "memoryview": _decode_memory,
}

# The exceptions that the constructors above raise for content that they refuse.
_REFUSALS = (
    ValueError,
    TypeError,
    LookupError,
    OverflowError,
    ZeroDivisionError,
    InvalidOperation,
    RecursionError,
)


class _Settings:
    """The settings of the standard library's scanner; all but the hook are those of
    `json.loads`."""

    strict = True
    object_hook = None
    parse_float = float
    parse_int = int
    parse_constant = json.decoder.JSONDecoder().parse_constant

    def __init__(self, object_pairs_hook: _PairsHook) -> None:
        self.object_pairs_hook = object_pairs_hook


class Containers(Protocol):
    """Finds containers by their numbers; see `containers`."""

    def receive(self, number: int, value: object, *, is_live: bool = False) -> None:
        """Registers a container or a live value that came with a number."""

    def value_of(self, number: object) -> object:
        """Returns the container with this number."""


_PairsHook = Callable[[list[tuple[str, object]]], object]
_make_scanner = cast(
    "Callable[[_Settings], Callable[[str, int], tuple[object, int]]]", json.scanner.make_scanner
)


class Identities(Protocol):
    """Finds immutable data by its numbers; see `identities`."""

    def identified(self, number: int, value: object) -> object:
        """Returns the data with this number."""


class Decoder:
    """Decodes messages of the other side, which may be hostile.

    Args:
        references: resolves references to objects that are not data.
        type_of: returns the type for the name of a built-in type.
        containers: those with numbers.

    Attributes:
        mentions: whether a number stood for a container in the latest message.
        identities: the numbers of immutable data, if tests look at its identity.
    """

    identities: Identities | None = None

    def __init__(
        self,
        references: References,
        type_of: Callable[[str], object] = TYPES.__getitem__,
        containers: Containers | None = None,
    ) -> None:
        self._references = references
        self._type_of = type_of
        self._containers = containers
        self.mentions = False
        self._scan = _make_scanner(_Settings(self._tagged))

    def loads(self, data: bytes) -> object:
        """Returns the message.

        Raises:
            ProtocolViolation: no `Encoder` makes such a message.
        """
        if len(data) > MAX_CONTAINERS and data.count(b"[") + data.count(b"{") > MAX_CONTAINERS:
            raise ProtocolViolation("too many containers")
        try:
            self.mentions = False
            text = data.decode("ascii")
            message, end = self._scan(text, 0)
        except StopIteration:
            raise ProtocolViolation("not a message") from None
        except _REFUSALS as error:
            raise ProtocolViolation(f"{type(error).__name__}: {error}") from None
        if end != len(text):
            raise ProtocolViolation("more than a message")
        return message

    def _tagged(self, pairs: list[tuple[str, object]]) -> object:
        if len(pairs) != 1:
            raise ProtocolViolation("an object with more than a tag")
        ((tag, content),) = pairs
        if tag == REFERENCE:
            return self._references.resolve(content)
        decode = DECODERS.get(tag)
        if decode is not None:
            value = decode(content)
            if tag == "array" and not arrays.is_loaded():
                self._references.note_cast()
            return value
        if tag == "type":
            return self._type_of(_text(content))
        return self._referring(tag, content)

    def _zone(self, key: str, offset: datetime.tzinfo | None) -> datetime.tzinfo | None:
        """Returns the zone with this name, or the given offset if it is unknown."""
        found = library_types.zone(key)
        if found is None:
            self._references.note_cast()
        return found or offset

    def _referring(self, tag: str, content: object) -> object:
        match tag, content:
            case ("cast", [value]):
                self._references.note_cast()
                return value
            case ("zone", [str(key), offset]):
                return self._zone(key, _zone(offset))
            case ("record", [name, fields, values]):
                return self._references.records.build(name, fields, values)
            case ("extended", [value, reference, shown]):
                return self._references.extend(value, reference, shown)
            case ("exception", [list(names), list(arguments), str(text), reference]):
                return self._references.rebuild(names, arguments, text, reference)
            case ("shared", [int(number), value]) if self._containers is not None:
                self._containers.receive(number, value)
                return value
            case ("live", [int(number), value]) if self._containers is not None:
                self._containers.receive(number, value, is_live=True)
                return value
            case ("again", int(number)) if self._containers is not None:
                self.mentions = True
                return self._containers.value_of(number)
            case ("one", [int(number), value]) if self.identities is not None:
                return self.identities.identified(number, value)
            case ("library", [name, text, reference]):
                value = library_types.from_text(name, text)
                return value if value is not None else self._references.resolve(reference)
        raise ProtocolViolation("an unknown tag")
