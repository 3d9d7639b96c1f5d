"""Values that cross as copies, though what they show may change: views, memory and arrays.

`keys()` of a dictionary, a `memoryview`, an array show what somebody else may change while both
sides go on looking. They have numbers like containers (`containers`) for as long as both sides
hold them, or what they are made of. What changes in an array of numbers, texts or dates is brought
to the other side's array, whose form it has. Any other change is not carried over; it is counted,
and takes the label ISOLATED from a pass, since there a copy could be told from what it is a copy
of. So is a change of what two values show, which are two copies over there.

What this stops: a view or an array that stands still where in one process it would have changed.

What it does not: bring a change of a view, or of an array's form, to the other side.
"""

from __future__ import annotations

import gc
import sys
from collections import ChainMap, deque
from collections.abc import Iterable
from types import MappingProxyType
from typing import Any

from . import arrays
from .library_types import ITEMS, KEYS, VALUES

KINDS: frozenset[type] = frozenset((KEYS, VALUES, ITEMS, MappingProxyType, memoryview))
OF_DICTIONARIES = (VALUES, ITEMS, MappingProxyType)  # in which there may be containers
_HOLDERS = (dict, list, tuple, deque, set, frozenset, bytearray)
_BYTES_OF_AN_ELEMENT = 8


def holder_of(value: object) -> type | None:
    """Returns the built-in class of containers that a value's class is, or derives from."""
    return next((kind for kind in _HOLDERS if isinstance(value, kind)), None)


def held_in(value: Any) -> Iterable[object]:
    """Returns what a container holds, of a dictionary the values, without asking its class."""
    if isinstance(value, dict):
        return dict.values(value)
    holder: Any = holder_of(value)
    content: Iterable[object] = holder.__iter__(value)
    return content


def elements(value: object) -> list[object]:
    """Returns what a container holds; it is another list of objects if the container changed."""
    if isinstance(value, dict):
        return [*dict.keys(value), *dict.values(value)]
    return list(held_in(value))


def size_held(value: Any) -> int:
    """Returns how many elements a container holds, whatever its own class makes of that."""
    holder: Any = holder_of(value) or type(value)
    size: int = holder.__len__(value)
    return size


def is_live(value: object) -> bool:
    """Returns True if a value crosses as a copy, and what it shows may change."""
    return type(value) in KINDS or is_array(value) or isinstance(value, ChainMap)


def is_array(value: object) -> bool:
    """Returns True for an array of numpy's, or of the library's."""
    typed = getattr(sys.modules.get("array"), "array", None)
    return arrays.can_change(value) or (typed is not None and isinstance(value, typed))


def made_of(value: Any) -> list[object]:
    """Returns what a live value shows: a dictionary, a buffer, maps, another array."""
    kind = type(value)
    if kind is memoryview:
        return [value.obj]
    if kind in KINDS:
        return list(gc.get_referents(value))
    if isinstance(value, ChainMap):
        return list(value.maps)
    base = getattr(value, "base", None)
    return [] if base is None else [base]


def is_part(value: object) -> bool:
    """Returns True for an array that shows the memory of something else."""
    return is_array(value) and bool(made_of(value))


def memory_of(value: object) -> set[int]:
    """Returns the identities of a value and of all that it is made of."""
    found, waiting = dict[int, object](), [value]
    while waiting:
        one = waiting.pop()
        if id(one) not in found:
            found[id(one)] = one
            waiting += made_of(one) if is_live(one) else ()
    return set(found)


def are_apart(one: object, other: object) -> bool:
    """Returns True if a change of one value is certainly none of another, which is live."""
    return memory_of(one).isdisjoint(memory_of(other)) or arrays.are_apart(one, other)


def dictionary_of(view: Any) -> dict[object, object]:
    """Returns a dictionary that holds what one of `OF_DICTIONARIES` shows."""
    mapping = view if isinstance(view, MappingProxyType) else getattr(view, "mapping", {})
    return dict(mapping)


def like(view: Any, dictionary: Any) -> object:
    """Returns a view of a dictionary, of the class that another one has."""
    if isinstance(view, MappingProxyType):
        return MappingProxyType(dictionary)
    return dictionary.values() if type(view) is VALUES else dictionary.items()


def state_of(value: Any) -> list[object]:
    """Returns what a live value shows at this moment; nothing for what is an object over there."""
    kind = type(value)
    if kind is ITEMS:
        return [part for pair in value for part in pair]
    if isinstance(value, (list, dict)):
        return elements(value)
    if kind in (KEYS, VALUES):
        return list(value)
    if isinstance(value, (MappingProxyType, ChainMap)):
        content = dict(value)
        return [*content.keys(), *content.values()]
    if kind is memoryview or is_array(value):
        return [value.tobytes(), _form_of(value)]
    return []


def _form_of(value: Any) -> tuple[object, ...]:
    if arrays.can_change(value):
        return arrays.form_of(value)
    return getattr(value, "typecode", ""), len(value)


def keeps_form(value: object, before: list[object]) -> bool:
    """Returns True for an array that has the form of a state."""
    return is_array(value) and _form_of(value) == before[-1]


def can_hold(old: object, new: object) -> bool:
    """Returns True if an array can get the elements of another, or is it."""
    if old is new:
        return True
    if type(old) is not type(new) or not is_array(old) or _form_of(old) != _form_of(new):
        return False
    return not arrays.can_change(old) or arrays.can_be_written(old)


def replace(old: Any, new: Any) -> None:
    """Gives an array the elements of another, if it can hold them."""
    if can_hold(old, new):
        old[:] = new


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
