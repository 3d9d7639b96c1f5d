"""Decides which containers must remain one object on both sides.

A mutable container is data, and crosses as a copy, if a message mentions it once and nothing else
on its side holds it: the copy is then indistinguishable. Otherwise it has a number (`containers`).
The module counts references. Those from inside the values are known. If there are more, a name, a
field, a cache or a frame holds the container.

What this stops: a few bytes that stand for a structure larger than any message. Sizes are counted
as if each container were a copy, and a container that contains itself is refused.

What it does not find: a holder without a counted reference, such as a weak reference.
"""

from __future__ import annotations

import sys
from collections import UserDict, UserList, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..channel.codec import MAX_CONTAINERS, NotDataError, TooLargeError
from ..values import changes, live

_CHARACTERS = 64  # characters of a text that count as one element


def can_be_shared(value: object) -> bool:
    """Returns True if a value is a container that can change."""
    return isinstance(value, (*changes.KINDS, UserDict, UserList))


def must_be_shared(values: Sequence[Any], references: int = 0) -> bool:
    """Returns True if a container in the values has another holder, or is in two of them.

    Args:
        values: the values, in a list or tuple without other users.
        references: how many more references each of the values has.
    """
    unchanging = changes.UNCHANGING
    for value in values:
        kind = type(value)
        if kind in unchanging:
            continue
        if kind is not list or not unchanging.issuperset(map(type, value)):
            del value  # it is one more reference
            return _are_entangled(_changing(values), references + 1)
        if sys.getrefcount(value) > _OF_A_VALUE + references:  # a list of immutable elements
            return True
    return False


def _are_entangled(values: Sequence[object], references: int) -> bool:
    nodes, mentions = _met_in(values)
    if not nodes:
        return False
    if max(mentions.values()) > 1 or any(map(_is_extended, nodes.values())):
        return True
    roots = {id(value) for value in values}
    return any(
        excess > (references if identity in roots else 0)
        for identity, excess in _excess(nodes, mentions).items()
    )


def references_to(values: Sequence[object]) -> int:
    """Returns how many further references the first value has; see `must_be_shared`."""
    return _excess(*_met_in(values))[id(values[0])]


def held(values: Sequence[object], known: Mapping[int, int]) -> set[int]:
    """Returns the identities of the containers in the values that have another holder.

    Args:
        values: the values, in a list or tuple without other users.
        known: how many further references the runner has, by identity.
    """
    nodes, mentions = _met_in(values)
    outside = {
        identity
        for identity, excess in _excess(nodes, mentions).items()
        if excess > known.get(identity, 0)
    }
    found = outside | _met_in([nodes[identity] for identity in outside])[0].keys()
    return found | {identity for identity, node in nodes.items() if _shows(node, found)}


def _shows(value: object, held: set[int]) -> bool:
    """Returns True for a view of a held object."""
    return live.is_live(value) and any(id(one) in held for one in live.made_of(value))


def check(values: Iterable[object], contents: Mapping[int, object]) -> None:
    """Refuses values whose full content is larger than may cross.

    Args:
        values: the values.
        contents: the new contents of containers, by their identity.

    Raises:
        NotDataError: they contain themselves, or are too large.
    """
    sizes = _Sizes(contents)
    if sum(map(sizes.of, (*values, *contents.values()))) > MAX_CONTAINERS:
        raise TooLargeError(f"stands for more than {MAX_CONTAINERS} elements")


def _parts(value: Any) -> list[object] | None:
    """Returns the mutable elements of a container or tuple, or None for any other value."""
    kind = type(value)
    if kind in changes.UNCHANGING:
        return None
    if kind is list:
        return _changing(value)
    if issubclass(kind, (list, deque, dict)):
        return _changing(live.held_in(value))
    if kind is tuple or issubclass(kind, tuple):
        return _changing(live.held_in(value)) or None
    if issubclass(kind, (set, bytearray)):
        return []
    if live.is_live(value):
        return _changing(live.made_of(value))
    if issubclass(kind, BaseException):
        return _changing(value.args) or None
    is_user = UserList in kind.__mro__ or UserDict in kind.__mro__
    return [value.data] if is_user else None


def _is_extended(value: object) -> bool:
    """Returns True if a container may have attributes in addition to its content."""
    is_known = type(value) in changes.KINDS or isinstance(value, tuple)
    return not is_known and not live.is_live(value)


def _changing(values: Iterable[object]) -> list[object]:
    return [value for value in values if type(value) not in changes.UNCHANGING]


def _met_in(values: Sequence[object]) -> tuple[dict[int, object], dict[int, int]]:
    """Returns the containers in values, with the number of mentions of each, by identity."""
    nodes, mentions = dict[int, object](), dict[int, int]()
    waiting = [values]
    while waiting:
        for part in waiting.pop():
            identity = id(part)
            if identity in nodes:
                mentions[identity] += 1
            elif (parts := _parts(part)) is not None:
                nodes[identity], mentions[identity] = part, 1
                waiting.append(parts)
    return nodes, mentions


def _excess(nodes: Mapping[int, object], mentions: Mapping[int, int]) -> dict[int, int]:
    """Returns how many references each container has in addition to its mentions, by identity."""
    return {
        identity: sys.getrefcount(node) - mentions[identity] - _OF_OURS
        for identity, node in nodes.items()
    }


def _counted(sample: list[object]) -> int:
    return next(iter(_excess(*_met_in(sample)).values()))


_OF_OURS = 0
_OF_OURS = _counted([[[]]])
_OF_A_VALUE = 0
_OF_A_VALUE = next(count for count in range(100) if not must_be_shared([[]], count))


class _Sizes:
    """Sizes of values, in which each mention of a container counts as a copy."""

    def __init__(self, contents: Mapping[int, object]) -> None:
        self._contents = contents
        self._known: dict[int, int] = {}

    def of(self, value: object) -> int:
        if type(value) is str:
            return 1 + len(value) // _CHARACTERS
        size = self._known.get(id(value))
        if size is None:
            self._known[id(value)] = -1
            size = self._known[id(value)] = self._measured(self._contents.get(id(value), value))
        if size < 0:
            raise NotDataError("contains itself")
        return size

    def _measured(self, value: object) -> int:
        parts = _parts(value)
        if parts is None:
            return 1
        content = value.args if isinstance(value, BaseException) else value
        return 1 + live.size_held(content) + sum(map(self.of, parts))
