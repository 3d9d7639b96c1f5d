"""Containers with numbers: which of them in a message are one and the same.

A container that can change, and that a message mentions twice or whose changes the judge wants, has
a number: {"shared": [number, container]} where it is met first, {"again": number} later on, in the
answer too. So `[[0]] * 3` arrives as one row three times, and `return xs` is the test's own list.

What this stops: a few bytes that stand for a structure larger than any message. Sizes are counted
as if each container were a copy, and what contains itself is refused.

What it does not: keep a number from one call to the next, or number what is in fields of objects of
the prompt's classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from .codec import AGAIN, MAX_CONTAINERS, SHARED, ProtocolViolation, TooLargeError

_CHARACTERS = 64  # of a text that count as one element


def check(message: list[object], known: Mapping[int, object]) -> None:
    """Refuses a message that stands for more than may cross.

    Args:
        message: as JSON, an answer's third element being the changed containers by number.
        known: the JSON values of containers with numbers in the request.

    Raises:
        ProtocolViolation: it contains itself, or mentions what there is not.
        TooLargeError: it is too large.
    """
    nodes = {**known, **dict(_numbered(message)), **dict(_changed(message))}
    if _Sizes(nodes).of(message) > MAX_CONTAINERS:
        raise TooLargeError(f"stands for more than {MAX_CONTAINERS} elements")


def numbered(message: object) -> dict[int, object]:
    """Returns the JSON values of the containers with numbers in a message."""
    return dict(_numbered(message))


def _numbered(node: object) -> Iterator[tuple[int, object]]:
    if type(node) is dict:
        ((tag, content),) = cast("dict[str, object]", node).items()
        if tag == SHARED:
            number, content = cast("list[object]", content)
            yield cast("int", number), content
        yield from _numbered(content)
    elif type(node) is list:
        for part in cast("list[object]", node):
            yield from _numbered(part)


def _changed(message: list[object]) -> Iterator[tuple[int, object]]:
    if message[0] == "return" and len(message) > 2 and type(message[2]) is list:
        for number, content in cast("list[list[object]]", message[2]):
            yield cast("int", number), content


class _Sizes:
    """Sizes of JSON values, in which each mention of a container counts as a copy."""

    def __init__(self, nodes: Mapping[int, object]) -> None:
        self._nodes = nodes
        self._known: dict[int, int] = {}

    def of(self, node: object) -> int:
        if type(node) is list:
            return 1 + sum(map(self.of, cast("list[object]", node)))
        if type(node) is str:
            return 1 + len(node) // _CHARACTERS
        if type(node) is not dict:
            return 1
        ((tag, content),) = cast("dict[str, object]", node).items()
        if tag == SHARED:
            return self._numbered(cast("list[int]", content)[0])
        return self._numbered(cast("int", content)) if tag == AGAIN else self.of(content)

    def _numbered(self, number: int) -> int:
        size = self._known.get(number)
        if size is None:
            self._known[number] = -1
            size = self._known[number] = self.of(self._nodes[number])
        if size < 0:
            raise ProtocolViolation("a container that contains itself")
        return size
