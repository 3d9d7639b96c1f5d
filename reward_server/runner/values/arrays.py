"""Arrays and numbers of numpy, on a side that has loaded numpy already.

This module does not import numpy. A process loads numpy only if the code of the solution or of the
tests imports it, and never because the other process sent an array.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
import struct
import sys
from typing import Any, Protocol

_KIND = re.compile(r"[<>|](?:b1|[iu][1248]|f[248]|c8|c16)")
_TEXT_KIND = re.compile(r"[<>]U[1-9]\d{0,5}|\|S[1-9]\d{0,5}")
_DATE_KIND = re.compile(r"[<>][Mm]8\[\d{0,9}(?:[YMWDhms]|[munpfa]s)\]")
_TOLD_KINDS = (_KIND, _TEXT_KIND, _DATE_KIND)
_NAMES = ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
_FORMATS = dict(zip(_NAMES, "?bhiqBHIQefd", strict=True))
_MAX_DIMENSIONS = 32
_MAX_FIELDS = 256
_MAX_EMPTY_ELEMENTS = 1_000_000
_MAX_WORK = 1000  # bound on the search for a shared element of two views


class _Type(Protocol):
    @property
    def str(self) -> str: ...

    @property
    def descr(self) -> list[tuple[object, ...]]: ...


class _Flags(Protocol):
    writeable: bool


class _Array(Protocol):
    """The parts of `numpy.ndarray` and `numpy.generic` that this module uses."""

    dtype: _Type
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    flags: _Flags
    nbytes: int
    itemsize: int

    def tobytes(self) -> bytes: ...

    def tolist(self) -> object: ...


class _Numpy(Protocol):
    """The parts of numpy that this module uses."""

    ndarray: Any
    flatiter: type
    generic: type

    def dtype(self, kind: object) -> _Type: ...

    def shares_memory(self, one: object, other: object, max_work: int) -> bool: ...

    def frombuffer(self, data: bytes, dtype: object) -> _Array: ...


def _numpy() -> _Numpy | None:
    module: Any = sys.modules.get("numpy")
    return module if hasattr(module, "ndarray") else None


def _loaded_numpy() -> _Numpy:
    numpy = _numpy()
    assert numpy is not None
    return numpy


def is_loaded() -> bool:
    """Returns True if numpy is loaded."""
    return _numpy() is not None


def can_change(value: Any) -> bool:
    """Returns True for a numpy array with elements that can be changed."""
    numpy = _numpy()
    return numpy is not None and isinstance(value, numpy.ndarray) and bool(value.shape)


def is_of_numpys(value: object) -> bool:
    """Returns True for a numpy array or an iterator over one."""
    numpy = _numpy()
    return numpy is not None and isinstance(value, (numpy.ndarray, numpy.flatiter))


def objects_in(value: Any) -> tuple[object, ...]:
    """Returns the content of an array of objects as one list, and nothing for other arrays."""
    if not getattr(getattr(value, "dtype", None), "hasobject", False):
        return ()
    return (value.tolist(),)


def form_of(array: _Array) -> tuple[object, ...]:
    """Returns the form of an array: its type and shape."""
    return str(array.dtype), array.shape


def can_be_written(array: Any) -> bool:
    """Returns True for a writable array that shows no element twice."""
    spans = ((size - 1) * abs(step) for size, step in zip(array.shape, array.strides, strict=True))
    return bool(array.flags.writeable) and array.nbytes <= sum(spans) + array.itemsize


def are_apart(one: object, other: object) -> bool:
    """Returns True for two numpy arrays that certainly share no element."""
    numpy = _numpy()
    if numpy is None or not (can_change(one) and can_change(other)):
        return False
    try:
        return not numpy.shares_memory(one, other, max_work=_MAX_WORK)
    except RuntimeError:  # the search would take too long
        return False


def parts(value: Any) -> list[object] | None:
    """Returns type, shape and bytes of a numpy array or number, or None for any other value.

    A number's shape is None. A matrix or masked array behaves differently, and does not count as an
    array here.
    """
    numpy = _numpy()
    kind = type(value)
    if numpy is None:
        return None
    is_array = kind is numpy.ndarray
    if not is_array and not issubclass(kind, numpy.generic):
        return None
    plain: _Array = value if is_array else vars(numpy.generic)["__array__"](value)
    if not _KIND.fullmatch(plain.dtype.str):
        return None
    shape = list(plain.shape) if is_array else None
    return [plain.dtype.str, shape, base64.b64encode(plain.tobytes()).decode()]


def build(kind: object, shape: object, data: object) -> object:
    """Returns the array or number with these parts, or lists if numpy is not loaded.

    Raises:
        ValueError: there is no such array.
    """
    if type(kind) is not str or not _KIND.fullmatch(kind) or type(data) is not str:
        raise ValueError("not an array")
    raw = _bytes_of(data)
    dimensions = _dimensions(shape)
    if len(raw) != math.prod(dimensions) * int(kind[2:]):
        raise ValueError("array of another size than it says")
    numpy = _numpy()
    if numpy is None:
        return _nested(_numbers(kind, raw), dimensions)
    return _shaped(numpy.frombuffer(raw, kind), shape)


def text_of(array: Any) -> str | None:
    """Returns a text that describes an array of texts, dates or records; None for any other.

    A date or time span of numpy is described in the same way.
    """
    numpy = _loaded_numpy()
    kind: object = array.dtype.str
    if not _is_told(kind):
        kind = [list(field) for field in array.dtype.descr]
        if not _are_fields(kind) or numpy.dtype(_as_type(kind)) != array.dtype:
            return None
    shape = list(array.shape) if type(array) is numpy.ndarray else None
    return json.dumps([kind, shape, base64.b64encode(array.tobytes()).decode()])


def plain(value: Any) -> object:
    """Returns the content of an array, or of a numpy date, as lists."""
    return value.tolist()


def from_text(text: str) -> object:
    """Returns the array that a text describes; numpy is loaded.

    Raises:
        ValueError: there is no such array.
    """
    match json.loads(text):
        case [kind, shape, str(data)] if _is_told(kind) or _are_fields(kind):
            array = _loaded_numpy().frombuffer(_bytes_of(data), _as_type(kind))
            return _shaped(array, shape)
    raise ValueError("not an array")


def _is_told(kind: object) -> bool:
    return type(kind) is str and any(one.fullmatch(kind) for one in _TOLD_KINDS)


def _are_fields(kind: object) -> bool:
    """Returns True for names and kinds of a record's fields."""
    if type(kind) is not list or not 0 < len(kind) <= _MAX_FIELDS:
        return False
    return all(
        type(field) is list and len(field) == 2 and type(field[0]) is str and _is_told(field[1])
        for field in kind
    )


def _as_type(kind: Any) -> object:
    return list(map(tuple, kind)) if type(kind) is list else kind


def _shaped(array: _Array, shape: object) -> object:
    dimensions = _dimensions(shape)
    if math.prod(array.shape) != math.prod(dimensions):
        raise ValueError("array of another size than it says")
    if shape is None:
        return array[0]  # type: ignore[index]  # the protocol above names no operators
    return array.reshape(dimensions).copy()  # type: ignore[attr-defined]  # as above


def _bytes_of(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except binascii.Error as error:
        raise ValueError("not base64") from error


def _dimensions(shape: object) -> list[int]:
    if shape is None:
        return []
    if type(shape) is not list or len(shape) > _MAX_DIMENSIONS:
        raise ValueError("not a shape")
    if any(type(size) is not int or size < 0 for size in shape):
        raise ValueError("not a shape")
    if 0 in shape and math.prod(size for size in shape if size) > _MAX_EMPTY_ELEMENTS:
        raise ValueError("an empty array with too many rows")
    return shape


def _numbers(kind: str, raw: bytes) -> list[object]:
    order = ">" if kind[0] == ">" else "<"
    if kind[1] == "c":
        letter = "f" if kind[2:] == "8" else "d"
        halves = struct.unpack(f"{order}{2 * len(raw) // int(kind[2:])}{letter}", raw)
        return [complex(*pair) for pair in zip(halves[::2], halves[1::2], strict=True)]
    return list(struct.unpack(f"{order}{len(raw) // int(kind[2:])}{_FORMATS[kind[1:]]}", raw))


def _nested(numbers: list[object], dimensions: list[int]) -> object:
    if not dimensions:
        return numbers[0]
    nested = numbers
    for position in range(len(dimensions) - 1, 0, -1):
        size = dimensions[position]
        rows = math.prod(dimensions[:position])
        nested = [nested[row * size : (row + 1) * size] for row in range(rows)]
    return nested
