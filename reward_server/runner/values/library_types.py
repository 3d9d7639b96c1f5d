"""Standard library values that cross as data: views, memory, and values that a text describes.

As with numpy's arrays, a value is only made if its module is loaded already; a message of the other
side loads no module except `zoneinfo`. Otherwise the value stays an object of the candidate. For
values that tests pass to the solution, the solution's process loads modules of the standard
library. If numpy is not loaded there, it gets lists for arrays.
"""

from __future__ import annotations

import datetime
import importlib
import re
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from . import arrays

_ZONE = re.compile(r"[A-Za-z][\w+-]*(?:/[A-Za-z][\w+-]*){0,2}", re.ASCII)
_MAX_ZONE_CHARACTERS = 64
_MAX_CHARACTERS = 1 << 20


def _array_text(typed: Any) -> str:
    return f"{typed.typecode}{typed.tobytes().hex()}"


class _Array:
    """The parts of `array.array` that this module uses."""

    typecode: str

    def tobytes(self) -> bytes:
        raise NotImplementedError


def _array(kind: Callable[..., object], text: str) -> object:
    return kind(text[0], bytes.fromhex(text[1:]))


def _from_text(kind: Callable[..., object], text: str) -> object:
    return kind(text)


def _made_zone(kind: Callable[..., object], text: str) -> object:
    return zone(text)


def _made_array(kind: Callable[..., object], text: str) -> object:
    return arrays.from_text(text)


def key_of(value: object) -> str | None:
    """Returns the name of a time zone of the library, or None for any other value."""
    kind = getattr(sys.modules.get("zoneinfo"), "ZoneInfo", None)
    if kind is None or type(value) is not kind:
        return None
    key: object = getattr(value, "key", None)
    return key if type(key) is str else None


def zone(key: str) -> datetime.tzinfo | None:
    """Returns the library's time zone with this name, or None."""
    if len(key) > _MAX_ZONE_CHARACTERS or not _ZONE.fullmatch(key):
        return None
    import zoneinfo  # slow to import, and few answers have a time zone

    try:
        return zoneinfo.ZoneInfo(key)
    except (LookupError, OSError, ValueError):
        return None


_Build = Callable[[Callable[..., object], str], object]
# The functions that convert each class to a text and back, by its full name.
_TOLD: Mapping[str, tuple[Callable[[object], str | None], _Build]] = {
    **dict.fromkeys(
        ("numpy.ndarray", "numpy.datetime64", "numpy.timedelta64"), (arrays.text_of, _made_array)
    ),
    "zoneinfo.ZoneInfo": (key_of, _made_zone),
    "array.array": (_array_text, _array),
    "uuid.UUID": (str, _from_text),
    "pathlib.PurePosixPath": (str, _from_text),
    "ipaddress.IPv4Address": (str, _from_text),
    "ipaddress.IPv6Address": (str, _from_text),
    "ipaddress.IPv4Network": (str, _from_text),
    "ipaddress.IPv6Network": (str, _from_text),
}


_LOADED = frozenset(name for name, (_, build) in _TOLD.items() if build is _from_text)


def handed_over(value: object) -> tuple[str, object] | None:
    """Returns how to make a value of the tests if its module is not loaded; None for other values.

    The result is "library" with the value's class and text, or "data" with lists of its content.
    """
    told = text_of(value)
    if told is None:
        return None
    if told[0] in _LOADED:
        return "library", list(told)
    return ("data", arrays.plain(value)) if _TOLD[told[0]][1] is _made_array else None


def loaded(name: str, text: str) -> object | None:
    """Loads the module of a value of the tests, and returns the value that its text describes."""
    importlib.import_module(name.rpartition(".")[0])
    return from_text(name, text)


def text_of(value: object) -> tuple[str, str] | None:
    """Returns a value's class and the text that describes it, or None for other values."""
    kind = type(value)
    name = f"{kind.__module__}.{kind.__qualname__}"
    if name not in _TOLD:
        return None
    text = _TOLD[name][0](value)
    return (name, text) if text is not None and len(text) <= _MAX_CHARACTERS else None


def from_text(name: object, text: object) -> object | None:
    """Returns the value that a text describes, or None if its module is not loaded.

    Raises:
        ValueError, KeyError: there is no such value.
    """
    if type(name) is not str or type(text) is not str or len(text) > _MAX_CHARACTERS:
        raise ValueError("not a value of the library's")
    module, _, attribute = name.rpartition(".")
    build = _TOLD[name][1]
    kind = getattr(sys.modules.get(module), attribute, None)
    return None if kind is None else build(kind, text)


# ------------------------------------------------------------------------------------- views

_EMPTY: dict[object, object] = {}
KEYS, VALUES, ITEMS = type(_EMPTY.keys()), type(_EMPTY.values()), type(_EMPTY.items())
VIEWS: Mapping[type, str] = {KEYS: "dict_keys", VALUES: "dict_values", ITEMS: "dict_items"}


def keys(content: dict[object, object]) -> object:
    """Returns the keys of a dictionary as its view."""
    return content.keys()


def values(content: list[object]) -> object:
    """Returns elements as a view of a dictionary's values."""
    return dict(enumerate(content)).values()


def items(content: dict[object, object]) -> object:
    """Returns a dictionary's items as its view."""
    return content.items()


def read_only(content: dict[object, object]) -> object:
    """Returns a read-only view of a dictionary."""
    return MappingProxyType(content)
