"""Reads the content of mutable containers, and gives them another content.

A container that changes keeps its identity and gets the elements of the other side's container. If
an element is a container with a number (`containers`), this side's container with that number is
used. So if rows are sorted, their order changes and not their contents, and other holders of a row
see its changes.

What this stops: nothing; `visibility` decides which changes the tests see.

What it does not do: it changes nothing inside an element.
"""

from __future__ import annotations

import operator
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable, Iterator
from opcode import opname
from types import FrameType
from typing import Any

from . import live

KINDS = (list, dict, OrderedDict, defaultdict, Counter, set, deque, bytearray)
UNCHANGING = frozenset((type(None), bool, int, float, complex, str, bytes, range))


def replace(old: Any, new: Any) -> None:
    """Gives a container the elements of another, whose class is exactly one of `KINDS`.

    Raises:
        TypeError: the class of the other one is not among `KINDS`.
    """
    kind = type(new)
    if kind is list:
        list.__setitem__(old, slice(None), new)
    elif kind is bytearray:
        bytearray.__setitem__(old, slice(None), new)
    elif issubclass(kind, OrderedDict):  # it stores its order in addition to the `dict`
        OrderedDict.clear(old)
        for key, value in new.items():
            OrderedDict.__setitem__(old, key, value)
    elif issubclass(kind, dict):
        base = OrderedDict if isinstance(old, OrderedDict) else dict
        base.clear(old)
        base.update(old, new)
    elif kind is deque:
        deque.clear(old)
        deque.extend(old, new)
    elif kind is not set:
        raise TypeError(f"{kind.__name__} is no container that changes")
    else:
        set.clear(old)
        set.update(old, new)


def can_change(value: object) -> bool:
    """Returns True if a value, or an element of a tuple, can be changed in place."""
    if type(value) is tuple:
        return any(map(can_change, value))
    return type(value) in KINDS or live.is_array(value)


def is_nested(value: Any) -> bool:
    """Returns True if an element of a container, tuple or array may be changed in place."""
    if live.is_array(value):  # its parts share its memory
        return True
    is_held = live.holder_of(value) is not None
    return any(map(can_change, live.held_in(value) if is_held else value))


def with_elements(source: object, parts: list[object]) -> object:
    """Returns a built-in container or tuple of the same kind as `source`, with these elements."""
    if isinstance(source, tuple):
        return tuple.__new__(type(source), parts)
    if isinstance(source, deque):
        return deque(parts, source.maxlen)
    if not isinstance(source, dict):
        return next(kind for kind in (list, set, bytearray) if isinstance(source, kind))(parts)  # type: ignore[arg-type]  # of its own kind
    count = len(parts) // 2
    content = dict(zip(parts[:count], parts[count:], strict=True))
    if isinstance(source, defaultdict):
        return defaultdict(source.default_factory, content)
    return next(kind for kind in (OrderedDict, Counter, dict) if isinstance(source, kind))(content)


def are_same(before: list[object], after: list[object]) -> bool:
    """Returns True if two lists hold the same objects, not only equal ones."""
    return len(before) == len(after) and all(map(operator.is_, before, after))


def are_alike(one: Any, other: Any) -> bool:
    """Returns True if two values are one object, or data of the same kinds and content."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if type(one) in UNCHANGING:
        return bool(one == other)
    if live.is_array(one):
        return live.are_same(live.state_of(one), live.state_of(other))
    if isinstance(one, (set, bytearray)):
        if isinstance(one, set) and set(map(id, one)) == set(map(id, other)):
            return True
        is_same: Any = (set if isinstance(one, set) else bytearray).__eq__
        return UNCHANGING.issuperset(map(type, live.held_in(one))) and is_same(one, other) is True
    if not isinstance(one, (*KINDS, tuple)):
        return False
    before, after = live.elements(one), live.elements(other)
    return len(before) == len(after) and all(map(are_alike, before, after))


def reachable(roots: Iterable[object]) -> set[int]:
    """Returns the identities of the containers in values, at any depth.

    They include arrays, and the objects of which these are parts.
    """
    found, waiting = set[int](), list(roots)
    while waiting:
        value = waiting.pop()
        if id(value) in found or type(value) in UNCHANGING:
            continue
        if isinstance(value, (*KINDS, tuple)):
            found.add(id(value))
            waiting += live.held_in(value)
        elif live.is_array(value) or isinstance(value, memoryview):
            found.add(id(value))
            waiting += live.made_of(value)
    return found


def are_wanted(caller: FrameType) -> bool:
    """Returns True if a frame ignores its current call's result, or only uses its identity."""
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
