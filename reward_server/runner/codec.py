"""The data that crosses between judge and candidate: a closed set of types, as JSON.

What this stops: anything of the candidate's but data reaching the judge. Decoding makes exact
built-in (or standard library) objects from a closed set of tags and runs no code of the other
side; nothing is ever imported because the other side named it.

What it does not: decide whether the data is true, or right.

None, bool, str, float and int up to 64 bits are themselves in JSON, a list is an array. All else
is an object with one member, whose name is the type's tag (see `_DECODERS`). Tags are resolved
inside the C scanner, innermost first, so that a large list costs no Python code for an element.

Subclasses of these types are cast down to them, by the base's own methods; a named tuple is a
tuple, an `IntEnum` an int. A `defaultdict` keeps its factory only where that is a plain type. A
time zone becomes its offset at that moment. A numpy array decodes to an array where numpy is
loaded already, else to nested lists. What has no tag is left to `References`.
"""

from __future__ import annotations

import builtins
import datetime
import json
import json.scanner
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Protocol, cast

from . import arrays

MAX_DEPTH = 100
MAX_CONTAINERS = 2_000_000
MAX_INTEGER_DIGITS = 1_000_000  # hexadecimal
MAX_DECIMAL_EXPONENT = 10_000
_SMALL = 1 << 63
_COLLISIONS_CHECKED_FROM = 512
_MAX_COLLISIONS = 64

REFERENCE = "@"


class ProtocolViolation(Exception):  # noqa: N818  # it is the other side's deed, not our error
    """What the other side sent is not what this protocol allows."""


class NotDataError(Exception):
    """A value cannot cross."""


class TooLargeError(NotDataError):
    """A value is larger than what may cross."""


class References(Protocol):
    """Turns what is not data into a reference, and a reference into what it stands for."""

    def refer(self, value: object) -> object:
        """Returns the JSON value of a reference to `value`.

        Raises:
            NotDataError: it must not cross.
        """

    def resolve(self, reference: object) -> object:
        """Returns what a reference stands for.

        Raises:
            ProtocolViolation: there is no such thing.
        """


class DataOnly:
    """References of a place where only data may cross."""

    def refer(self, value: object) -> object:
        """Refuses."""
        raise NotDataError(f"{type(value).__name__} is not data")

    def resolve(self, reference: object) -> object:
        """Refuses."""
        raise ProtocolViolation("a reference where only data may be")


# ------------------------------------------------------------------------------- encoding

_PLAIN = frozenset((type(None), bool, float))
_to_json = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode
_FACTORIES: Mapping[str, type] = {
    kind.__name__: kind for kind in (bool, dict, float, int, list, set, str, tuple)
}
_TYPES: Mapping[str, type] = {
    "NoneType": type(None),
    **{kind.__name__: kind for kind in vars(builtins).values() if isinstance(kind, type)},
}
_COMPARISONS = frozenset(
    f"__{name}__" for name in ("eq", "ne", "lt", "le", "gt", "ge", "hash", "bool", "contains")
)


class Encoder:
    """Encodes values.

    Args:
        references: takes what is not data.
        limit_bytes: greatest size of an encoded message.
    """

    def __init__(self, references: References, limit_bytes: int) -> None:
        self._references = references
        self._limit_bytes = limit_bytes
        self._elements = 0
        self.overloads_cast_down = 0

    def dumps(self, message: list[object]) -> bytes:
        """Returns the bytes of a message whose values went through `value`.

        Raises:
            TooLargeError: it is larger than the limit.
        """
        self._elements = 0
        data = _to_json(message).encode()
        if len(data) > self._limit_bytes:
            raise TooLargeError(f"takes more than {self._limit_bytes} bytes")
        if len(data) > MAX_CONTAINERS and data.count(b"[") + data.count(b"{") > MAX_CONTAINERS:
            raise TooLargeError(f"holds more than {MAX_CONTAINERS} containers")
        return data

    def value(self, value: object, depth: int = MAX_DEPTH) -> object:
        """Returns the JSON value of a value.

        Raises:
            NotDataError: it cannot cross.
        """
        kind = type(value)
        if kind in _PLAIN:
            return value
        encode = _ENCODERS.get(kind)
        if encode is None:
            return self._uncommon(value, depth)
        return encode(self, value, depth)

    def items(self, values: list[object], depth: int = MAX_DEPTH) -> list[object]:
        """Returns the JSON values of a list's elements.

        Raises:
            NotDataError: one of them cannot cross, or there are too many.
        """
        self._elements += len(values)
        if self._elements * 2 > self._limit_bytes:
            raise TooLargeError(f"takes more than {self._limit_bytes} bytes")
        if not depth:
            raise NotDataError(f"nested deeper than {MAX_DEPTH} levels, or contains itself")
        if _are_json(values):
            return values
        depth -= 1
        return [self.value(value, depth) for value in values]

    def hashed(self, values: Iterable[object], depth: int) -> list[object]:
        """Returns the JSON values of a set's elements or a dictionary's keys.

        Raises:
            NotDataError: one of them is not data.
        """
        references, self._references = self._references, DataOnly()
        try:
            return self.items(list(values), depth)
        finally:
            self._references = references

    def refer(self, value: object) -> object:
        """Returns the JSON value of a reference.

        Raises:
            NotDataError: only data may cross.
        """
        return {REFERENCE: self._references.refer(value)}

    def _uncommon(self, value: object, depth: int) -> object:
        parts = arrays.parts(value)
        if parts is not None:
            return {"array": parts}
        base = _base_of(type(value))
        if base is None:
            return self.refer(value)
        if _overloads_comparison(type(value), base):
            self.overloads_cast_down += 1
        return self.value(_CASTS[base](value), depth)


def _are_json(values: list[object]) -> bool:
    kinds = set(map(type, values))
    if kinds <= _PLAIN:
        return True
    if not kinds <= _JSON_KINDS:
        return False
    pure = len(kinds) == 1
    if int in kinds:
        numbers = cast("list[int]", values if pure else [v for v in values if type(v) is int])
        if min(numbers) <= -_SMALL or max(numbers) >= _SMALL:
            return False
    if str in kinds:
        texts = cast("list[str]", values if pure else [v for v in values if type(v) is str])
        return _has_no_surrogates("".join(texts))
    return True


_JSON_KINDS = _PLAIN | {int, str}


def _has_no_surrogates(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _base_of(kind: type) -> type | None:
    return next((base for base in kind.__mro__ if base in _CASTS), None)


def _overloads_comparison(kind: type, base: type) -> bool:
    own = kind.__mro__[: kind.__mro__.index(base)]
    return any(_COMPARISONS & vars(part).keys() for part in own if part.__module__ != "enum")


def _encode_int(encoder: Encoder, value: object, depth: int) -> object:
    number = cast("int", value)
    if -_SMALL < number < _SMALL:
        return number
    digits = hex(number)
    if len(digits) > MAX_INTEGER_DIGITS:
        raise TooLargeError(f"an integer of more than {MAX_INTEGER_DIGITS} hexadecimal digits")
    return {"int": digits}


def _encode_str(encoder: Encoder, value: object, depth: int) -> object:
    text = cast("str", value)
    if _has_no_surrogates(text):
        return text
    return {"str": text.encode("utf-8", "surrogatepass").hex()}


def _encode_list(encoder: Encoder, value: object, depth: int) -> object:
    return encoder.items(cast("list[object]", value), depth)


def _encode_tuple(encoder: Encoder, value: object, depth: int) -> object:
    return {"tuple": encoder.items(list(cast("tuple[object, ...]", value)), depth)}


def _encode_set(encoder: Encoder, value: object, depth: int) -> object:
    try:
        return {type(value).__name__: encoder.hashed(cast("set[object]", value), depth)}
    except TooLargeError:
        raise
    except NotDataError:
        return encoder.refer(value)


def _encode_dict(encoder: Encoder, value: object, depth: int) -> object:
    items = cast("dict[object, object]", value)
    try:
        keys = encoder.hashed(items, depth)
    except TooLargeError:
        raise
    except NotDataError:
        return encoder.refer(value)
    return {type(value).__name__: [keys, encoder.items(list(items.values()), depth)]}


def _encode_defaultdict(encoder: Encoder, value: object, depth: int) -> object:
    factory = cast("defaultdict[object, object]", value).default_factory
    name = factory.__name__ if type(factory) is type else None
    known = name if name is not None and _FACTORIES.get(name) is factory else None
    plain = _encode_dict(encoder, dict(cast("defaultdict[object, object]", value)), depth)
    parts = cast("dict[str, list[object]]", plain).get("dict")
    return {"defaultdict": [known, *parts]} if parts is not None else encoder.refer(value)


def _encode_deque(encoder: Encoder, value: object, depth: int) -> object:
    items = cast("deque[object]", value)
    return {"deque": [items.maxlen, encoder.items(list(items), depth)]}


def _encode_bytes(encoder: Encoder, value: object, depth: int) -> object:
    raw = cast("bytes", value)
    encoder.items([None] * (len(raw) // 2))
    return {type(value).__name__: raw.hex()}


def _encode_complex(encoder: Encoder, value: object, depth: int) -> object:
    number = cast("complex", value)
    return {"complex": [number.real, number.imag]}


def _encode_range(encoder: Encoder, value: object, depth: int) -> object:
    span = cast("range", value)
    return {"range": encoder.items([span.start, span.stop, span.step], depth)}


def _encode_slice(encoder: Encoder, value: object, depth: int) -> object:
    part = cast("slice", value)
    return {"slice": encoder.items([part.start, part.stop, part.step], depth)}


def _encode_decimal(encoder: Encoder, value: object, depth: int) -> object:
    number = cast("Decimal", value)
    exponent = number.as_tuple().exponent
    if type(exponent) is int and abs(exponent) > MAX_DECIMAL_EXPONENT:
        raise TooLargeError(f"a decimal with an exponent beyond {MAX_DECIMAL_EXPONENT}")
    return {"Decimal": str(number)}


def _encode_fraction(encoder: Encoder, value: object, depth: int) -> object:
    number = cast("Fraction", value)
    return {"Fraction": encoder.items([number.numerator, number.denominator], depth)}


def _encode_date(encoder: Encoder, value: object, depth: int) -> object:
    day = cast("datetime.date", value)
    return {"date": [day.year, day.month, day.day]}


def _microseconds(span: datetime.timedelta | None) -> int | None:
    return None if span is None else span // datetime.timedelta(microseconds=1)


def _encode_time(encoder: Encoder, value: object, depth: int) -> object:
    time = cast("datetime.time", value)
    clock = [time.hour, time.minute, time.second, time.microsecond, time.fold]
    return {"time": [*clock, _microseconds(time.utcoffset())]}


def _encode_datetime(encoder: Encoder, value: object, depth: int) -> object:
    moment = cast("datetime.datetime", value)
    clock = [moment.hour, moment.minute, moment.second, moment.microsecond, moment.fold]
    offset = _microseconds(moment.utcoffset())
    return {"datetime": [moment.year, moment.month, moment.day, *clock, offset]}


def _encode_timedelta(encoder: Encoder, value: object, depth: int) -> object:
    return {"timedelta": _microseconds(cast("datetime.timedelta", value))}


def _encode_timezone(encoder: Encoder, value: object, depth: int) -> object:
    zone = cast("datetime.timezone", value)
    return {"timezone": _microseconds(zone.utcoffset(None))}


def _encode_type(encoder: Encoder, value: object, depth: int) -> object:
    name = cast("type", value).__name__
    return {"type": name} if _TYPES.get(name) is value else encoder.refer(value)


_ENCODERS: Mapping[type, Callable[[Encoder, object, int], object]] = {
    int: _encode_int,
    str: _encode_str,
    list: _encode_list,
    tuple: _encode_tuple,
    set: _encode_set,
    frozenset: _encode_set,
    dict: _encode_dict,
    Counter: _encode_dict,
    OrderedDict: _encode_dict,
    defaultdict: _encode_defaultdict,
    deque: _encode_deque,
    bytes: _encode_bytes,
    bytearray: _encode_bytes,
    complex: _encode_complex,
    range: _encode_range,
    slice: _encode_slice,
    Decimal: _encode_decimal,
    Fraction: _encode_fraction,
    datetime.date: _encode_date,
    datetime.time: _encode_time,
    datetime.datetime: _encode_datetime,
    datetime.timedelta: _encode_timedelta,
    datetime.timezone: _encode_timezone,
    type: _encode_type,
}

# How a subclass becomes its base, by the base's own methods; searched along the class's order.
_CASTS: Mapping[type, Callable[[object], object]] = {
    int: lambda value: int.__int__(cast("int", value)),
    float: lambda value: float.__float__(cast("float", value)),
    complex: lambda value: complex.__complex__(cast("complex", value)),
    str: lambda value: str.__str__(cast("str", value)),
    bytes: lambda value: bytes.__getitem__(cast("bytes", value), slice(None)),
    bytearray: lambda value: bytearray.__getitem__(cast("bytearray", value), slice(None)),
    list: lambda value: list(list.__iter__(cast("list[object]", value))),
    tuple: lambda value: tuple(tuple.__iter__(cast("tuple[object, ...]", value))),
    set: lambda value: set(set.__iter__(cast("set[object]", value))),
    frozenset: lambda value: frozenset(frozenset.__iter__(cast("frozenset[object]", value))),
    dict: lambda value: dict(dict.items(cast("dict[object, object]", value))),
    deque: lambda value: deque(deque.__iter__(cast("deque[object]", value))),
    Decimal: lambda value: Decimal(Decimal.__str__(cast("Decimal", value))),
    Fraction: lambda value: Fraction(*Fraction.as_integer_ratio(cast("Fraction", value))),
    datetime.datetime: lambda value: _plain_datetime(cast("datetime.datetime", value)),
    datetime.date: lambda value: datetime.date.fromordinal(
        datetime.date.toordinal(cast("datetime.date", value))
    ),
    datetime.timedelta: lambda value: datetime.timedelta(
        microseconds=_microseconds(cast("datetime.timedelta", value)) or 0
    ),
}


def _plain_datetime(moment: datetime.datetime) -> datetime.datetime:
    day, clock = datetime.datetime.date(moment), datetime.datetime.timetz(moment)
    return datetime.datetime.combine(day, clock)


# ------------------------------------------------------------------------------- decoding


def _check(condition: bool, problem: str) -> None:
    if not condition:
        raise ProtocolViolation(problem)


def _list_of(content: object, size: int) -> list[object]:
    _check(type(content) is list, "not a list")
    items = cast("list[object]", content)
    _check(len(items) == size, "a list of another length")
    return items


def _integers(content: object, size: int) -> list[int]:
    items = _list_of(content, size)
    _check(all(type(item) is int for item in items), "not integers")
    return cast("list[int]", items)


def _text(content: object) -> str:
    _check(type(content) is str, "not a text")
    return cast("str", content)


def _elements(content: object) -> list[object]:
    """Returns the elements of a set or keys of a dictionary, unless they were made to collide."""
    _check(type(content) is list, "not a list")
    items = cast("list[object]", content)
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
    _check(type(content) is list, "not a list")
    return tuple(cast("list[object]", content))


def _decode_set(content: object) -> object:
    items = _elements(content)
    decoded = set(items)
    _check(len(decoded) == len(items), "an element twice")
    return decoded


def _decode_frozenset(content: object) -> object:
    return frozenset(cast("set[object]", _decode_set(content)))


def _decode_dict(content: object) -> object:
    keys, values = _list_of(content, 2)
    keys = _elements(keys)
    _check(type(values) is list, "not a list")
    decoded = dict(zip(keys, cast("list[object]", values), strict=True))
    _check(len(decoded) == len(keys), "a key twice")
    return decoded


def _decode_counter(content: object) -> object:
    return Counter(cast("dict[object, int]", _decode_dict(content)))


def _decode_ordered(content: object) -> object:
    return OrderedDict(cast("dict[object, object]", _decode_dict(content)))


def _decode_defaultdict(content: object) -> object:
    name, *parts = _list_of(content, 3)
    factory = None if name is None else _FACTORIES[_text(name)]
    return defaultdict(factory, cast("dict[object, object]", _decode_dict(parts)))


def _decode_deque(content: object) -> object:
    size, items = _list_of(content, 2)
    _check(size is None or type(size) is int, "not a size")
    _check(type(items) is list, "not a list")
    decoded = deque(cast("list[object]", items), cast("int | None", size))
    _check(len(decoded) == len(cast("list[object]", items)), "a deque beyond its size")
    return decoded


def _decode_bytes(content: object) -> object:
    return bytes.fromhex(_text(content))


def _decode_bytearray(content: object) -> object:
    return bytearray.fromhex(_text(content))


def _decode_complex(content: object) -> object:
    real, imaginary = _list_of(content, 2)
    _check(type(real) is float and type(imaginary) is float, "not floats")
    return complex(cast("float", real), cast("float", imaginary))


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


def _zone(offset: object) -> datetime.timezone | None:
    if offset is None:
        return None
    _check(type(offset) is int, "not an offset")
    return datetime.timezone(datetime.timedelta(microseconds=cast("int", offset)))


def _decode_time(content: object) -> object:
    *clock, offset = _list_of(content, 6)
    hour, minute, second, microsecond, fold = _integers(clock, 5)
    return datetime.time(hour, minute, second, microsecond, _zone(offset), fold=fold)


def _decode_datetime(content: object) -> object:
    *fields, offset = _list_of(content, 9)
    *moment, fold = _integers(fields, 8)
    year, month, day, hour, minute, second, microsecond = moment
    return datetime.datetime(
        year, month, day, hour, minute, second, microsecond, _zone(offset), fold=fold
    )


def _decode_timedelta(content: object) -> object:
    _check(type(content) is int, "not an integer")
    return datetime.timedelta(microseconds=cast("int", content))


def _decode_timezone(content: object) -> object:
    _check(type(content) is int, "not an integer")
    return _zone(content)


def _decode_array(content: object) -> object:
    return arrays.build(*_list_of(content, 3))


def _decode_type(content: object) -> object:
    return _TYPES[_text(content)]


_DECODERS: Mapping[str, Callable[[object], object]] = {
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
    "type": _decode_type,
}

# What the constructors above raise for content that they refuse.
_REFUSALS = (
    ValueError,
    TypeError,
    KeyError,
    OverflowError,
    ZeroDivisionError,
    InvalidOperation,
    RecursionError,
)


# `json.loads` for text that was decoded already, without its look for white space.
_make_scanner = cast(
    "Callable[[json.JSONDecoder], Callable[[str, int], tuple[object, int]]]",
    json.scanner.make_scanner,
)


class Decoder:
    """Decodes messages of the other side, which may be an enemy's.

    Args:
        references: resolves what is not data.
    """

    def __init__(self, references: References) -> None:
        self._references = references
        self._scan = _make_scanner(json.JSONDecoder(object_pairs_hook=self._tagged))

    def loads(self, data: bytes) -> object:
        """Returns the message.

        Raises:
            ProtocolViolation: it is anything but what an `Encoder` makes.
        """
        _check(
            len(data) <= MAX_CONTAINERS or data.count(b"[") + data.count(b"{") <= MAX_CONTAINERS,
            "too many containers",
        )
        try:
            text = data.decode("ascii")
            message, end = self._scan(text, 0)
        except StopIteration:
            raise ProtocolViolation("not a message") from None
        except _REFUSALS as error:
            raise ProtocolViolation(f"{type(error).__name__}: {error}") from None
        _check(end == len(text), "more than a message")
        return message

    def _tagged(self, pairs: list[tuple[str, object]]) -> object:
        _check(len(pairs) == 1, "an object with more than a tag")
        ((tag, content),) = pairs
        decode = _DECODERS.get(tag)
        if decode is not None:
            return decode(content)
        _check(tag == REFERENCE, "an unknown tag")
        return self._references.resolve(content)
