"""Values that cross as copies, though what they show may change: views, memory and arrays.

`keys()` of a dictionary, a `memoryview`, an array show what somebody else may change while both
sides go on looking. They have numbers like containers (`containers`) for as long as both sides
hold them, or what they are made of. A change is not carried over; it is counted, and takes the
label ISOLATED from a pass, since there a copy could be told from what it is a copy of.

What this stops: a view or an array that stands still where in one process it would have changed.

What it does not: bring the change to the other side.
"""

from __future__ import annotations

import gc
import sys
from collections import ChainMap
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Protocol, cast

from . import arrays
from .library_types import ITEMS, KEYS, VALUES

KINDS: frozenset[type] = frozenset((KEYS, VALUES, ITEMS, MappingProxyType, memoryview))
OF_DICTIONARIES = (VALUES, ITEMS, MappingProxyType)  # in which there may be containers
_BYTES_OF_AN_ELEMENT = 8


class _Buffer(Protocol):
    """What is used here of arrays."""

    def tobytes(self) -> bytes: ...


def is_live(value: object) -> bool:
    """Returns True if a value crosses as a copy, and what it shows may change."""
    return type(value) in KINDS or _is_array(value) or isinstance(value, ChainMap)


def _is_array(value: object) -> bool:
    typed = getattr(sys.modules.get("array"), "array", None)
    return arrays.can_change(value) or (typed is not None and isinstance(value, typed))


def made_of(value: object) -> list[object]:
    """Returns what a live value shows: a dictionary, a buffer, maps, another array."""
    kind = type(value)
    if kind is memoryview:
        return [cast("memoryview", value).obj]
    if kind in KINDS:
        return list(gc.get_referents(value))
    if isinstance(value, ChainMap):
        return list(value.maps)
    base = getattr(value, "base", None)
    return [] if base is None else [base]


def dictionary_of(view: object) -> dict[object, object]:
    """Returns a dictionary that holds what one of `OF_DICTIONARIES` shows."""
    mapping = view if isinstance(view, MappingProxyType) else getattr(view, "mapping", {})
    return dict(cast("Mapping[object, object]", mapping))


def like(view: object, content: object) -> object:
    """Returns a view of a dictionary, of the class that another one has."""
    dictionary = cast("dict[object, object]", content)
    if isinstance(view, MappingProxyType):
        return MappingProxyType(dictionary)
    return dictionary.values() if type(view) is VALUES else dictionary.items()


def state_of(value: object) -> list[object]:
    """Returns what a live value shows at this moment; nothing for what is an object over there."""
    kind = type(value)
    if kind is ITEMS:
        return [part for pair in cast("Iterable[tuple[object, object]]", value) for part in pair]
    if kind in (KEYS, VALUES) or isinstance(value, list):
        return list(cast("Iterable[object]", value))
    if isinstance(value, (MappingProxyType, ChainMap, dict)):
        content = dict(cast("Mapping[object, object]", value))
        return [*content.keys(), *content.values()]
    if kind is memoryview or _is_array(value):
        return [cast("_Buffer", value).tobytes(), getattr(value, "shape", None)]
    return []


def are_same(before: list[object], after: list[object]) -> bool:
    """Returns True if two states show the same."""
    return len(before) == len(after) and all(map(_is_same, before, after))


def _is_same(one: object, other: object) -> bool:
    if one is other:
        return True
    return type(one) is type(other) and type(one) in (bytes, tuple) and one == other


def size_of(state: list[object]) -> int:
    """Returns how many elements a state counts as."""
    sizes = (len(part) // _BYTES_OF_AN_ELEMENT for part in state if type(part) is bytes)
    return len(state) + sum(sizes)
