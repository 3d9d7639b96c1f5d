"""Encodes values; see `codec`."""

from __future__ import annotations

import datetime
import enum
import functools
import json
import json.encoder
import types
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
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from decimal import Decimal
from fractions import Fraction
from typing import Any, Protocol, cast

from ..values import arrays, changes, exceptions, library_types, live
from . import extended
from .codec import (
    AGAIN,
    ANSWERED_TYPES,
    FACTORIES,
    LIVE,
    MAX_CONTAINERS,
    MAX_DECIMAL_EXPONENT,
    MAX_DEPTH,
    MAX_INTEGER_DIGITS,
    REFERENCE,
    SHARED,
    TYPES,
    DataOnly,
    Foreign,
    NotDataError,
    References,
    TooLargeError,
)

Encode = Callable[["Encoder", Any, int], object]  # encodes a value of one type
_SMALL = 1 << 63
_DATA_BYTES = 1 << 16  # greatest size of an exception's data
_PLAIN = frozenset((type(None), bool, float))
# The C encoder that `json.dumps` makes for each call, without the check for cycles.
_to_json = cast(
    "Callable[[object, int], Iterable[str]]",
    vars(json.encoder)["c_make_encoder"](
        None, None, json.encoder.encode_basestring_ascii, None, ":", ",", False, False, True
    ),
)
_EXTENDED = frozenset((*extended.BASES, UserDict, UserList, UserString, ChainMap))
_ADDITIONS = frozenset(("__getattr__", "__getattribute__", *extended.ASKED))
# Names that a class may define without changing the behaviour that its base defines.
_UNTOLD = frozenset(
    f"__{name}__"
    for name in (
        *("module", "qualname", "doc", "dict", "weakref", "slots", "annotations"),
        *("match_args", "new_member"),
        *("new", "init", "init_subclass", "class_getitem", "orig_bases", "parameters", "set_name"),
        *("getattr", "setattr", "delattr", "dir", "copy", "deepcopy"),
        *("getnewargs", "getnewargs_ex", "getstate", "setstate", "reduce", "reduce_ex"),
    )
).union(extended.SHOWN)
# Types whose text contains the name of their class.
_NAMED_IN_TEXT = frozenset((set, frozenset, bytearray, deque, OrderedDict, defaultdict, Counter))
_ENUMS = (enum.IntEnum, enum.StrEnum)
_TEXT = ("__str__", "__repr__", "__format__")
_COMPARISONS = frozenset(
    f"__{name}__" for name in ("eq", "ne", "lt", "le", "gt", "ge", "hash", "bool", "contains")
)


class Containers(Protocol):
    """Numbers containers; see `containers`."""

    @property
    def offered(self) -> int:
        """How many containers got a number since the last message."""

    def withdraw(self, count: int = 0) -> None:
        """Removes the numbers given since the last message, except the first `count`."""

    def number_of(self, value: object) -> int | None:
        """Returns the number of a container, or None."""

    def offer(self, value: object) -> int:
        """Numbers a container, and returns the number."""


class Encoder:
    """Encodes values.

    Args:
        references: encodes references to objects that are not data.
        limit_bytes: greatest size of an encoded message.
        types: the types that cross by their names; others are not data.
        extends: whether data may cross with a reference to the object that holds it.
        tells_casts: whether a value that loses its class is marked. This is so if data is extended,
            and if the data only wraps the value that crosses.
        containers: those with numbers; if given, every mutable value gets one.

    Attributes:
        mentions: whether a number stands for a container.
        overloads_cast_down: how many values lost the comparison that their class defines.
        met_class: whether a class was among the values.
        listed, waiting, is_listing: the numbers of the shared objects that a message mentions, the
            objects whose rows are to be made, and whether they are being made; see
            `sharing.objects`.
    """

    mentions = False
    overloads_cast_down = 0
    met_class = False
    is_listing = False
    _elements = 0
    _is_key = False

    def __init__(
        self,
        references: References,
        limit_bytes: int,
        types: Mapping[str, type] = TYPES,
        *,
        extends: bool = False,
        tells_casts: bool = False,
        containers: Containers | None = None,
    ) -> None:
        self._references = references
        self._containers = containers
        self._encoders = ENCODERS if containers is None else _WITH_NUMBERS
        self._extends, self._tells_casts = extends, extends or tells_casts
        self.types = types
        self._limit_bytes = limit_bytes

    @functools.cached_property
    def listed(self) -> set[int]:  # noqa: D102  # see the class
        return set()

    @functools.cached_property
    def waiting(self) -> deque[object]:  # noqa: D102  # see the class
        return deque()

    def dumps(self, message: list[object]) -> bytes:
        """Returns the bytes of a message whose values `value` has encoded.

        Raises:
            TooLargeError: the message is larger than the limit.
        """
        self._elements = 0
        data = "".join(_to_json(message, 0)).encode()
        if len(data) > self._limit_bytes:
            raise TooLargeError(f"takes more than {self._limit_bytes} bytes")
        if len(data) > MAX_CONTAINERS and data.count(b"[") + data.count(b"{") > MAX_CONTAINERS:
            raise TooLargeError(f"holds more than {MAX_CONTAINERS} containers")
        return data

    def container(self, value: object, depth: int, encode: Encode) -> object:
        """Returns the JSON value of a mutable container, or its number if it has one.

        Args:
            value: the container.
            depth: how many levels it may have.
            encode: returns the JSON value of its content.
        """
        containers = self._containers
        if containers is None or self.is_listing:  # it is a field of an object that both sides have
            return encode(self, value, depth)
        number = containers.number_of(value)
        if number is not None:
            self.mentions = True
            return {AGAIN: number}
        content = encode(self, value, depth)
        is_reference = type(content) is dict and REFERENCE in content
        return content if is_reference else {SHARED: [containers.offer(value), content]}

    def live(self, value: object, depth: int, encode: Encode) -> object:
        """Returns the JSON value of a live value, or its number if it has one."""
        content = self.container(value, depth, encode)
        if type(content) is dict and SHARED in content:
            return {LIVE: content[SHARED]}
        return content

    def content(self, value: object) -> object:
        """Returns the JSON value of the content of a built-in container or an array.

        Raises:
            NotDataError: a part of it cannot cross.
        """
        encode = _CONTENTS.get(type(value), Encoder._array)
        return encode(self, value, MAX_DEPTH)

    def value(self, value: object, depth: int = MAX_DEPTH) -> object:
        """Returns the JSON value of a value.

        Raises:
            NotDataError: the value cannot cross.
        """
        return self._encoders.get(type(value), Encoder._uncommon)(self, value, depth)

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
        if self.are_json(values):
            return values
        find, uncommon = self._encoders.get, Encoder._uncommon
        encoded: list[object] = []
        for value in values:  # a comprehension would cost one more call
            encoded.append(find(type(value), uncommon)(self, value, depth - 1))
        return encoded

    def attempt(self, values: list[object]) -> list[object] | None:
        """Returns the JSON values of a list's elements, or None if one of them cannot cross."""
        offered = 0 if self._containers is None else self._containers.offered
        try:
            return self.items(values)
        except NotDataError:
            if self._containers is not None:
                self._containers.withdraw(offered)
            return None

    @staticmethod
    def are_json(values: list[Any]) -> bool:
        """Returns True if JSON can represent the values unchanged."""
        kinds = set(map(type, values))
        if not kinds <= _JSON_KINDS:
            return False
        if int in kinds:
            numbers = values if len(kinds) == 1 else [v for v in values if type(v) is int]
            if min(numbers) <= -_SMALL or max(numbers) >= _SMALL:
                return False
        if str in kinds:
            texts = values if len(kinds) == 1 else [v for v in values if type(v) is str]
            return _has_no_surrogates("".join(texts))
        return True

    def unchanging(self, value: object, content: object) -> object:
        """Returns the JSON value of immutable data, whose content is encoded already."""
        return content

    def hashed(self, values: Iterable[object], depth: int) -> list[object]:
        """Returns the JSON values of a set's elements or a dictionary's keys.

        Raises:
            NotDataError: one of them is neither data nor an object whose hash both sides know.
        """
        was_key, self._is_key = self._is_key, True
        try:
            return self.items(list(values), depth)
        finally:
            self._is_key = was_key

    def refer(self, value: object) -> object:
        """Returns the JSON value of a reference.

        Raises:
            NotDataError: only data may cross.
        """
        return {REFERENCE: self._reference_to(value)}

    def _reference_to(self, value: object) -> object:
        if not self._is_key:
            return self._references.refer(value, self)
        if not self._references.may_be_key(value, self):
            raise NotDataError(f"{type(value).__name__} is not data")
        self._is_key = False  # values inside the reference are no keys
        try:
            return self._references.refer(value, self)
        finally:
            self._is_key = True

    @property
    def _may_extend(self) -> bool:
        return self._extends and not self._is_key

    def _uncommon(self, value: object, depth: int) -> object:
        if isinstance(value, Foreign):
            return self.refer(value)
        if live.is_array(value):
            return self.live(value, depth, Encoder._array)
        parts = arrays.parts(value)
        if parts is not None:
            return {"array": parts}
        kind: type = type(value)
        record = self._references.records.parts(value) if isinstance(value, tuple) else None
        if record is not None:
            content = {"record": [*record[:2], self.items(record[2], depth)]}
            return self.unchanging(value, content)
        base = _base_of(kind)
        if base is None:
            return self._foreign(value)
        if _overloads_comparison(kind, base):
            self.overloads_cast_down += 1
        if base is ChainMap:
            plain = self.live(value, depth, lambda *_: self._cast(value, base, depth))
        elif base in _SHARED_BASES:
            plain = self.container(value, depth, lambda *_: self._cast(value, base, depth))
        else:
            plain = self._cast(value, base, depth)
        is_reference = type(plain) is dict and REFERENCE in plain
        is_extended = self._may_extend and _adds_attributes(kind, base, value)
        is_exact = is_reference or (is_extended and _is_told(kind, base))
        if is_exact or not (self._tells_casts or base in _CAST_TO):
            return plain
        return {"cast": [plain]}

    def _told_cast(self, plain: object) -> object:
        return {"cast": [plain]} if self._tells_casts else plain

    def _cast(self, value: Any, base: type, depth: int) -> object:
        cast_value = _CASTS[base](value)
        encode = _CONTENTS.get(type(cast_value), Encoder.value)
        plain = encode(self, cast_value, depth)
        if self._may_extend and _adds_attributes(type(value), base, value):
            kind: Any = type(value)
            methods = _shown(kind, base)
            missing = [extended.FACTORY] if _is_filled_otherwise(value) else []
            return self._extended(value, plain, [*methods, *missing])
        return plain

    def _extended(self, value: object, plain: object, methods: list[str]) -> object:
        if type(plain) is dict and REFERENCE in plain:
            return self.refer(value)
        try:
            reference = self._references.refer(value, self)
        except TooLargeError:
            return self._told_cast(plain)
        if not _is_to_object(reference):
            return {REFERENCE: reference}
        return {"extended": [plain, reference, methods]}

    def asking(self, value: object, plain: object) -> object:
        """Returns the JSON value of a dictionary whose default factory cannot cross."""
        if type(plain) is dict and REFERENCE in plain:
            return plain
        if not self._may_extend:
            return self._told_cast(plain)
        return self._extended(value, plain, [extended.FACTORY])

    def zoned(
        self, tag: str, fields: list[int], value: datetime.time | datetime.datetime
    ) -> object:
        """Returns the JSON value of a time, with its zone; an unknown zone crosses as its offset.

        Args:
            tag: the tag of its type.
            fields: its fields without the zone.
            value: the time.
        """
        zone = value.tzinfo
        if zone is None:
            return {tag: [*fields, None]}
        if type(zone) is datetime.timezone:
            return {tag: [*fields, self.value(zone)]}
        offset = _microseconds(value.utcoffset())
        key = library_types.key_of(zone)
        told = None if offset is None else {"timezone": [offset]}
        if key is not None:
            return {tag: [*fields, {"zone": [key, told]}]}
        return self._told_cast({tag: [*fields, told]})

    def _foreign(self, value: object) -> object:
        if self._may_extend and isinstance(value, Exception):
            names, text = exceptions.names_of(value), exceptions.text_of(value)
            reference = self._references.refer(value, self)
            if not _is_to_object(reference):
                return {REFERENCE: reference}
            data = encoder_of_data(self._containers)
            arguments = arguments_of(value, text, data)
            self.mentions |= data.mentions
            return {"exception": [names, arguments, text, reference]}
        return self._of_library(value)

    def _of_library(self, value: object) -> object:
        told = library_types.text_of(value)
        if told is None:
            return self.refer(value)
        return {"library": [*told, self._reference_to(value)]}

    def _array(self, value: object, depth: int) -> object:
        parts = arrays.parts(value)
        return self._of_library(value) if parts is None else {"array": parts}


def _is_to_object(reference: object) -> bool:
    """Returns True if a reference is to an object of the sender."""
    return type(reference) is list and bool(reference) and reference[0] == "object"


def encoder_of_data(containers: Containers | None) -> Encoder:
    """Returns an encoder for the data in an exception, which encodes nothing but data."""
    return Encoder(DataOnly(), _DATA_BYTES, ANSWERED_TYPES, containers=containers)


def arguments_of(error: BaseException, text: str, encoder: Encoder) -> list[object]:
    """Returns the JSON values of an exception's arguments, or its message if they are not data."""
    arguments = encoder.attempt(list(error.args))
    return [text] if arguments is None else arguments


def cast_down(value: object) -> object:
    """Returns data as the built-in class from which its class derives."""
    base = None if type(value) in ENCODERS else _base_of(type(value))
    return value if base is None else _CASTS[base](value)


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


@functools.lru_cache(maxsize=256)
def _adds_to_class(kind: type, base: type) -> bool:
    """Returns True if a class adds public attributes or special methods to its base."""
    own = kind.__mro__[: kind.__mro__.index(base)]
    return any(_ADDITIONS & vars(part).keys() or any(map(_is_public, vars(part))) for part in own)


def _is_public(name: str) -> bool:
    return not name.startswith("_")


def _adds_attributes(kind: type, base: type, value: object) -> bool:
    if base not in _EXTENDED:
        return False
    return bool(getattr(value, "__dict__", None)) or _adds_to_class(kind, base)


@functools.lru_cache(maxsize=256)
def _shown(kind: type, base: type) -> list[str]:
    """Returns the methods that a class overrides."""
    special = [n for n in extended.ASKED if _defined(kind, n) is not _defined(base, n)]
    text = _TEXT if base in _NAMED_IN_TEXT and special.count("__repr__") == 0 else ()
    return [*dict.fromkeys((*special, *text, *_public_overrides(kind, base)))]


def _defined(kind: type, name: str) -> object:
    """Returns the class attribute with this name, or None."""
    return next((vars(part)[name] for part in kind.__mro__ if name in vars(part)), None)


def _public_overrides(kind: type, base: type) -> list[str]:
    plain = _CAST_TO.get(base, base)
    return [name for name in _own_names(kind, base) if extended.is_public_method(plain, name)]


def _own_names(kind: type, base: type) -> set[str]:
    """Returns the names that a class, or a class between it and its base, defines."""
    own = kind.__mro__[: kind.__mro__.index(base)]
    return {name for part in own if part not in _ENUMS for name in vars(part)}


@functools.lru_cache(maxsize=256)
def _does_as(kind: type, base: type) -> bool:
    """Returns True if a class overrides nothing of its base except text and items.

    The judge asks the candidate for text and items.
    """
    if base not in extended.CLASSES:
        return False
    return all(
        name in _UNTOLD or not (_is_special(name) or hasattr(base, name))
        for name in _own_names(kind, base)
    )


def _is_told(kind: Any, base: type) -> bool:
    """Returns True if the methods that the judge requests show whether a class is lost."""
    return _does_as(kind, base) or not extended.EXACT.issuperset(_shown(kind, base))


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _overloads_comparison(kind: type, base: type) -> bool:
    own = kind.__mro__[: kind.__mro__.index(base)]
    return any(_COMPARISONS & vars(part).keys() for part in own if part.__module__ != "enum")


def _itself(encoder: Encoder, value: object, depth: int) -> object:
    return value


def _encode_int(encoder: Encoder, number: int, depth: int) -> object:
    if -_SMALL < number < _SMALL:
        return number
    digits = hex(number)
    if len(digits) > MAX_INTEGER_DIGITS:
        raise TooLargeError(f"an integer of more than {MAX_INTEGER_DIGITS} hexadecimal digits")
    return {"int": digits}


def _encode_str(encoder: Encoder, text: str, depth: int) -> object:
    if _has_no_surrogates(text):
        return text
    return {"str": text.encode("utf-8", "surrogatepass").hex()}


def _encode_tuple(encoder: Encoder, value: tuple[object, ...], depth: int) -> object:
    return {"tuple": encoder.items(list(value), depth)}


def _encode_set(encoder: Encoder, value: AbstractSet[object], depth: int) -> object:
    try:
        return {type(value).__name__: encoder.hashed(value, depth)}
    except TooLargeError:
        raise
    except NotDataError:
        return encoder.refer(value)


def _keys_and_values(
    encoder: Encoder, value: Mapping[object, object], depth: int
) -> list[object] | None:
    """Returns the JSON values of a dictionary's keys and values, or None if a key cannot cross."""
    try:
        keys = encoder.hashed(value, depth)
    except TooLargeError:
        raise
    except NotDataError:
        return None
    return [keys, encoder.items(list(value.values()), depth)]


def _encode_dict(encoder: Encoder, value: dict[object, object], depth: int) -> object:
    parts = _keys_and_values(encoder, value, depth)
    return encoder.refer(value) if parts is None else {type(value).__name__: parts}


def _encode_defaultdict(encoder: Encoder, value: defaultdict[object, object], depth: int) -> object:
    factory = value.default_factory
    known = next((name for name, kind in FACTORIES.items() if kind is factory), None)
    parts = _keys_and_values(encoder, value, depth)
    return encoder.refer(value) if parts is None else {"defaultdict": [known, *parts]}


def _encode_filled_dict(encoder: Encoder, value: defaultdict[object, object], depth: int) -> object:
    content = _encode_defaultdict(encoder, value, depth)
    return encoder.asking(value, content) if _is_filled_otherwise(value) else content


def _is_filled_otherwise(value: object) -> bool:
    """Returns True for a dictionary whose default factory cannot cross."""
    factory = value.default_factory if isinstance(value, defaultdict) else None
    return factory is not None and not any(factory is kind for kind in FACTORIES.values())


def _encode_deque(encoder: Encoder, items: deque[object], depth: int) -> object:
    return {"deque": [items.maxlen, encoder.items(list(items), depth)]}


def _encode_bytes(encoder: Encoder, raw: bytes, depth: int) -> object:
    encoder.items([None] * (len(raw) // 2))
    return {type(raw).__name__: raw.hex()}


def _encode_complex(encoder: Encoder, number: complex, depth: int) -> object:
    return {"complex": [number.real, number.imag]}


def _encode_range(encoder: Encoder, span: range, depth: int) -> object:
    return {"range": encoder.items([span.start, span.stop, span.step], depth)}


def _encode_slice(encoder: Encoder, part: slice, depth: int) -> object:
    return {"slice": encoder.items([part.start, part.stop, part.step], depth)}


def _encode_decimal(encoder: Encoder, number: Decimal, depth: int) -> object:
    exponent = number.as_tuple().exponent
    if type(exponent) is int and abs(exponent) > MAX_DECIMAL_EXPONENT:
        raise TooLargeError(f"a decimal with an exponent beyond {MAX_DECIMAL_EXPONENT}")
    return {"Decimal": str(number)}


def _encode_fraction(encoder: Encoder, number: Fraction, depth: int) -> object:
    return {"Fraction": encoder.items([number.numerator, number.denominator], depth)}


def _encode_date(encoder: Encoder, day: datetime.date, depth: int) -> object:
    return {"date": [day.year, day.month, day.day]}


def _microseconds(span: datetime.timedelta | None) -> int | None:
    return None if span is None else span // datetime.timedelta(microseconds=1)


def _encode_time(encoder: Encoder, time: datetime.time, depth: int) -> object:
    clock = [time.hour, time.minute, time.second, time.microsecond, time.fold]
    return encoder.zoned("time", clock, time)


def _encode_datetime(encoder: Encoder, moment: datetime.datetime, depth: int) -> object:
    clock = [moment.hour, moment.minute, moment.second, moment.microsecond, moment.fold]
    return encoder.zoned("datetime", [moment.year, moment.month, moment.day, *clock], moment)


def _encode_timedelta(encoder: Encoder, span: datetime.timedelta, depth: int) -> object:
    return {"timedelta": _microseconds(span)}


def _encode_timezone(encoder: Encoder, value: object, depth: int) -> object:
    offset, *name = vars(datetime.timezone)["__getinitargs__"](value)
    return {"timezone": [_microseconds(offset), *name]}


def _encode_type(encoder: Encoder, kind: type, depth: int) -> object:
    name = kind.__name__
    encoder.met_class = True
    return {"type": name} if encoder.types.get(name) is kind else encoder.refer(kind)


def _encode_keys(encoder: Encoder, value: Iterable[object], depth: int) -> object:
    try:
        return {"dict_keys": encoder.hashed(value, depth)}
    except TooLargeError:
        raise
    except NotDataError:
        return encoder.refer(value)


def _encode_values(encoder: Encoder, value: Iterable[object], depth: int) -> object:
    return {"dict_values": encoder.items(list(value), depth)}


def _encode_items(encoder: Encoder, pairs: Iterable[tuple[object, object]], depth: int) -> object:
    parts = _keys_and_values(encoder, dict(pairs), depth)
    return encoder.refer(pairs) if parts is None else {"dict_items": parts}


def _encode_read_only(encoder: Encoder, value: Mapping[object, object], depth: int) -> object:
    parts = _keys_and_values(encoder, dict(value), depth)
    return encoder.refer(value) if parts is None else {"mappingproxy": parts}


def _encode_memory(encoder: Encoder, memory: memoryview, depth: int) -> object:
    if memory.format != "B" or memory.ndim != 1:
        return encoder.refer(memory)
    raw = memory.tobytes()
    encoder.items([None] * (len(raw) // 2))
    return {"memoryview": raw.hex()}


def _container(encode: Encode, encoder: Encoder, value: object, depth: int) -> object:
    return encoder.container(value, depth, encode)


def _live(encode: Encode, encoder: Encoder, value: object, depth: int) -> object:
    return encoder.live(value, depth, encode)


# The mutable types, whose objects must be distinguished from copies.
_CONTENTS: Mapping[type, Encode] = {
    list: Encoder.items,
    set: _encode_set,
    dict: _encode_dict,
    Counter: _encode_dict,
    OrderedDict: _encode_dict,
    defaultdict: _encode_defaultdict,
    deque: _encode_deque,
    bytearray: _encode_bytes,
}
ENCODERS: Mapping[type, Encode] = {
    library_types.KEYS: _encode_keys,
    library_types.VALUES: _encode_values,
    library_types.ITEMS: _encode_items,
    types.MappingProxyType: _encode_read_only,
    memoryview: _encode_memory,
    **dict.fromkeys(_PLAIN, _itself),
    int: _encode_int,
    str: _encode_str,
    tuple: _encode_tuple,
    frozenset: _encode_set,
    bytes: _encode_bytes,
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
    **_CONTENTS,
    defaultdict: _encode_filled_dict,
}
_WITH_NUMBERS: Mapping[type, Encode] = {
    **ENCODERS,
    **{kind: functools.partial(_live, ENCODERS[kind]) for kind in live.KINDS},
    **{kind: functools.partial(_container, ENCODERS[kind]) for kind in _CONTENTS},
}
_CAST_TO: Mapping[type, type] = {UserDict: dict, UserList: list, UserString: str, ChainMap: dict}
_SHARED_BASES = frozenset((*changes.KINDS, UserDict, UserList))

# Converts a subclass to its base, by the base's own methods; searched in the class's method
# resolution order.
_CASTS: Mapping[type, Callable[[Any], object]] = {
    int: lambda value: int.__int__(value),
    float: lambda value: float.__float__(value),
    complex: lambda value: complex.__complex__(value),
    str: lambda value: str.__str__(value),
    bytes: lambda value: bytes.__getitem__(value, slice(None)),
    bytearray: lambda value: bytearray.__getitem__(value, slice(None)),
    list: lambda value: list(list.__iter__(value)),
    tuple: lambda value: tuple(tuple.__iter__(value)),
    set: lambda value: set(set.__iter__(value)),
    frozenset: lambda value: frozenset(frozenset.__iter__(value)),
    Counter: lambda value: Counter(dict(dict.items(value))),
    OrderedDict: lambda value: OrderedDict(OrderedDict.items(value)),
    defaultdict: lambda value: defaultdict(
        value.default_factory,
        dict.items(value),
    ),
    dict: lambda value: dict(dict.items(value)),
    UserDict: lambda value: dict(value.data),
    UserList: lambda value: list(value.data),
    UserString: lambda value: str(value.data),
    ChainMap: lambda value: dict(value),
    deque: lambda value: deque(deque.__iter__(value)),
    Decimal: lambda value: Decimal(Decimal.__str__(value)),
    Fraction: lambda value: Fraction(*Fraction.as_integer_ratio(value)),
    datetime.datetime: lambda value: _plain_datetime(value),
    datetime.date: lambda value: datetime.date.fromordinal(datetime.date.toordinal(value)),
    datetime.timedelta: lambda value: datetime.timedelta(microseconds=_microseconds(value) or 0),
}


def _plain_datetime(moment: datetime.datetime) -> datetime.datetime:
    day, clock = datetime.datetime.date(moment), datetime.datetime.timetz(moment)
    return datetime.datetime.combine(day, clock)
