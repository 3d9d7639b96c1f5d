"""Values that cross as copies, though their content may change: views, memory and arrays.

`keys()` of a dictionary, a `memoryview` and an array show content that another holder may change
while both sides use them. They have numbers like containers (`containers`) as long as both sides
hold them or the objects that they show. Changes in an array of numbers, texts or dates are applied
to the other side's array if it has the same form. Any other change does not cross. It is counted,
and a pass loses the label ISOLATED, since the tests could then notice that they see a copy. The
same holds if two values show the same content and it changes, because they are two copies on the
other side.

What this stops: a view or an array that stays unchanged although it would have changed in one
process.

What it does not do: a change of a view, or of an array's form, does not cross.
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
OF_DICTIONARIES = (VALUES, ITEMS, MappingProxyType)  # these may contain containers
_HOLDERS = (dict, list, tuple, deque, set, frozenset, bytearray)
_BYTES_OF_AN_ELEMENT = 8


def holder_of(value: object) -> type | None:
    """Returns the built-in container class that is, or is a base of, a value's class."""
    return next((kind for kind in _HOLDERS if isinstance(value, kind)), None)


def held_in(value: Any) -> Iterable[object]:
    """Returns a container's elements (a dictionary's values), without methods of its own class."""
    if isinstance(value, dict):
        return dict.values(value)
    holder: Any = holder_of(value)
    content: Iterable[object] = holder.__iter__(value)
    return content


def elements(value: object) -> list[object]:
    """Returns a container's elements as a list, which differs after a change."""
    if isinstance(value, dict):
        return [*dict.keys(value), *dict.values(value)]
    return list(held_in(value))


def size_held(value: Any) -> int:
    """Returns the number of a container's elements, without methods of its own class."""
    holder: Any = holder_of(value) or type(value)
    size: int = holder.__len__(value)
    return size


def is_live(value: object) -> bool:
    """Returns True if a value crosses as a copy although its content may change."""
    return type(value) in KINDS or is_array(value) or isinstance(value, ChainMap)


def is_array(value: object) -> bool:
    """Returns True for an array of numpy or of the standard library."""
    typed = getattr(sys.modules.get("array"), "array", None)
    return arrays.can_change(value) or (typed is not None and isinstance(value, typed))


def made_of(value: Any) -> list[object]:
    """Returns the objects that a live value shows: a dictionary, a buffer, maps, another array."""
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
    """Returns True for an array that shows the memory of another object."""
    return is_array(value) and bool(made_of(value))


def memory_of(value: object) -> set[int]:
    """Returns the identities of a value and of all objects that it shows."""
    found, waiting = dict[int, object](), [value]
    while waiting:
        one = waiting.pop()
        if id(one) not in found:
            found[id(one)] = one
            waiting += made_of(one) if is_live(one) else ()
    return set(found)


def are_apart(one: object, other: object) -> bool:
    """Returns True if a change of one value certainly does not change the other, which is live."""
    return memory_of(one).isdisjoint(memory_of(other)) or arrays.are_apart(one, other)


def dictionary_of(view: Any) -> dict[object, object]:
    """Returns a dictionary with the content of one of `OF_DICTIONARIES`."""
    mapping = view if isinstance(view, MappingProxyType) else getattr(view, "mapping", {})
    return dict(mapping)


def like(view: Any, dictionary: Any) -> object:
    """Returns a view of a dictionary, of the same class as another view."""
    if isinstance(view, MappingProxyType):
        return MappingProxyType(dictionary)
    return dictionary.values() if type(view) is VALUES else dictionary.items()


def state_of(value: Any) -> list[object]:
    """Returns the present content of a live value; empty if it is an object of the other side."""
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
    """Returns True for an array whose form is that of a state."""
    return is_array(value) and _form_of(value) == before[-1]


def can_hold(old: object, new: object) -> bool:
    """Returns True if an array can get the elements of another, or is the same one."""
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
    """Returns True if two states are equal."""
    return len(before) == len(after) and all(map(_is_same, before, after))


def _is_same(one: object, other: object) -> bool:
    if one is other:
        return True
    return type(one) is type(other) and type(one) in (bytes, tuple) and one == other


def size_of(state: list[object]) -> int:
    """Returns the number of elements that a state counts as."""
    sizes = (len(part) // _BYTES_OF_AN_ELEMENT for part in state if type(part) is bytes)
    return len(state) + sum(sizes)
