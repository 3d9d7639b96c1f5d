"""In-place changes: brings a test's own arguments to what the solution made of its copies.

Each container keeps its identity and gets the elements that its copy has: where these are
containers with a number (`sharing`), they are the test's own. So rows that are sorted change their
places and not their contents, and who else holds one of them sees what happened to it.

What this stops: a solution that empties the argument from which the test computes the expected
result. Changes are brought back where the test throws the result away, or asks no more of it than
whether it is None, or looks at the argument. What is withheld is counted, and a pass in which it
was is confirmed by a run with all changes.

What it does not: see a change that a solution makes when the call is over.
"""

from __future__ import annotations

import copy
import operator
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from opcode import opname
from types import FrameType
from typing import cast


def _update_list(old: object, new: object) -> None:
    before, after = cast("list[object]", old), cast("list[object]", new)
    before[:] = [*map(_brought_to, before, after), *after[len(before) :]]


def _update_dict(old: object, new: object) -> None:
    before, after = cast("dict[object, object]", old), cast("dict[object, object]", new)
    merged = {
        key: _brought_to(before[key], value) if key in before else value
        for key, value in after.items()
    }
    before.clear()
    before.update(merged)


def _update_counter(old: object, new: object) -> None:
    before = cast("dict[object, object]", old)
    dict.clear(before)
    dict.update(before, cast("dict[object, object]", new))


def _update_set(old: object, new: object) -> None:
    before = cast("set[object]", old)
    before.clear()
    before.update(cast("set[object]", new))


def _update_deque(old: object, new: object) -> None:
    before = cast("deque[object]", old)
    before.clear()
    before.extend(cast("deque[object]", new))


def _update_bytes(old: object, new: object) -> None:
    cast("bytearray", old)[:] = cast("bytearray", new)


_UPDATES: Mapping[type, Callable[[object, object], None]] = {
    list: _update_list,
    dict: _update_dict,
    OrderedDict: _update_dict,
    defaultdict: _update_dict,
    Counter: _update_counter,
    set: _update_set,
    deque: _update_deque,
    bytearray: _update_bytes,
}


KINDS = tuple(_UPDATES)
UNCHANGING = frozenset((type(None), bool, int, float, complex, str, bytes, range))


def bring(old: object, new: object) -> None:
    """Brings a container, or one of a subclass, to another, keeping what is inside it in place."""
    base = next((base for base in type(old).__mro__ if base in _UPDATES), None)
    if base is not None and isinstance(new, base):
        _UPDATES[base](old, new)


def replace(old: object, new: object) -> None:
    """Gives a container the elements of another, whose class is exactly one of these.

    Nothing inside it is changed: what else holds an element keeps it as it was.
    """
    kind = type(new)
    if kind is list:
        list.__setitem__(cast("list[object]", old), slice(None), cast("list[object]", new))
    elif issubclass(kind, OrderedDict):  # which keeps its order beside what `dict` changes
        OrderedDict.clear(cast("OrderedDict[object, object]", old))
        for key, value in cast("OrderedDict[object, object]", new).items():
            OrderedDict.__setitem__(cast("OrderedDict[object, object]", old), key, value)
    elif issubclass(kind, dict):
        base = OrderedDict if isinstance(old, OrderedDict) else dict
        base.clear(cast("OrderedDict[object, object]", old))
        base.update(cast("OrderedDict[object, object]", old), cast("dict[object, object]", new))
    else:
        _UPDATES[kind](old, new)


def can_change(value: object) -> bool:
    """Tells whether a value, or an element of a tuple, can be changed in place."""
    if type(value) is tuple:
        return any(map(can_change, value))
    return type(value) in _UPDATES


def _brought_to(old: object, new: object) -> object:
    """Returns what stands where `old` stood: `old` itself, updated, wherever that can be."""
    kind = type(old)
    if kind is not type(new):
        return new
    if kind in _UPDATES:
        _UPDATES[kind](old, new)
        return old
    if kind is tuple:
        before, after = cast("tuple[object, ...]", old), cast("tuple[object, ...]", new)
        if len(before) != len(after):
            return new
        parts = tuple(map(_brought_to, before, after))
        return old if all(a is b for a, b in zip(parts, before, strict=True)) else parts
    return new


def is_nested(value: object) -> bool:
    """Returns True if a container, or tuple, holds what can be changed in place."""
    parts = value.values() if isinstance(value, dict) else cast("Iterable[object]", value)
    return any(map(can_change, parts))


def elements(value: object) -> list[object]:
    """Returns what a container holds; it is another list of objects if the container changed."""
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    return list(cast("Iterable[object]", value))


def are_same(before: list[object], after: list[object]) -> bool:
    """Returns True if two lists hold the same objects, not only equal ones."""
    return len(before) == len(after) and all(map(operator.is_, before, after))


def can_replace(old: object, new: object) -> bool:
    """Returns True if a container can get the elements of another."""
    return type(new) in _UPDATES and isinstance(old, type(new))


def detached(value: object, contents: Mapping[int, object]) -> object:
    """Returns a value in which copies stand for containers that must not change.

    Args:
        value: what a call returned.
        contents: what the containers would hold, by their identity.
    """
    copies: dict[int, object] = {}

    def copied(one: object) -> object:
        source = contents.get(id(one), one)
        if type(source) is not tuple and type(source) not in _UPDATES:
            return one
        if id(one) not in copies:
            copies[id(one)] = _with_parts(source, copied)
        return copies[id(one)]

    return copied(value)


def _with_parts(source: object, part: Callable[[object], object]) -> object:
    """Returns a copy of a container, or tuple, with other parts."""
    if type(source) is tuple:
        return tuple(map(part, cast("tuple[object, ...]", source)))
    made = copy.copy(source)
    if isinstance(made, dict):
        replace(made, {key: part(one) for key, one in made.items()})
    elif isinstance(made, list):
        made[:] = map(part, made)
    elif isinstance(made, deque):
        replace(made, deque(map(part, made)))
    return made


def reachable(roots: Iterable[object]) -> set[int]:
    """Returns the identities of the containers in values, and in those inside them."""
    found, waiting = set[int](), list(roots)
    while waiting:
        value = waiting.pop()
        if id(value) in found or not isinstance(value, (*_UPDATES, tuple)):
            continue
        found.add(id(value))
        parts = value.values() if isinstance(value, dict) else value
        waiting += cast("Iterable[object]", parts)
    return found


def are_wanted(caller: FrameType) -> bool:
    """Returns True if a frame, amid a call, asks for no more than the result's identity."""
    following = _instructions_behind(caller)
    operation, _ = next(following, ("", 0))
    if operation.startswith("LOAD_"):
        operation, _ = next(following, ("", 0))
        return operation == "IS_OP"
    return operation == "POP_TOP" or operation.endswith(("_IF_NONE", "_IF_NOT_NONE"))


def _instructions_behind(caller: FrameType) -> Iterator[tuple[str, int]]:
    code, extended = caller.f_code.co_code, 0
    for position in range(caller.f_lasti + 2, len(code), 2):
        operation, argument = opname[code[position]], extended | code[position + 1]
        extended = argument << 8 if operation == "EXTENDED_ARG" else 0
        if operation not in ("CACHE", "EXTENDED_ARG"):
            yield operation, argument
