"""Containers of the solution's that the tests hold: what either side changes, the other sees.

`cart.items.append(x)` changes a list that crossed as data. So the candidate numbers the lists,
dictionaries and sets that attributes, items and methods of its objects give; before each request
the judge sends what the tests changed in them, and with each answer comes what the solution did.

What this stops: a change that reaches anything but what the solution gave. Refreshing a container
replaces its elements; whatever else the tests put into it stays as it was.

What it does not: keep more than the latest containers, or larger ones, in step; they are copies.
"""

from __future__ import annotations

import json
from collections import OrderedDict, UserDict, UserList
from collections.abc import Callable, Sequence
from typing import cast

from . import changes
from .codec import REFERENCE, NotDataError

_MOST = 32
_MAX_CHARACTERS = 1 << 16


class Containers:
    """The containers of one session, as one side has them.

    Args:
        encode: returns the JSON value of a container, as the built-in class that it is.
    """

    def __init__(self, encode: Callable[[object], object]) -> None:
        self._encode = encode
        self._held: OrderedDict[int, tuple[object, str]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._held)

    def changed(self) -> list[list[object]]:
        """Returns numbers and JSON values of containers that changed since it was asked last."""
        return [
            [number, content]
            for number, (value, before) in list(self._held.items())
            if (content := self._content_if_changed(number, value, before)) is not None
        ]

    def _content_if_changed(self, number: int, value: object, before: str) -> object:
        content, text = self._content(value)
        if text == before:
            return None
        return content if self._keep(number, value, text) else None

    def _content(self, value: object) -> tuple[object, str]:
        """Returns a container's JSON value and its text, which is empty if it cannot be kept."""
        try:
            content = self._encode(value)
        except NotDataError:
            return None, ""
        if type(content) is dict and REFERENCE in content:
            return None, ""
        text = json.dumps(content)
        return content, text if len(text) <= _MAX_CHARACTERS else ""

    def _keep(self, number: int, value: object, text: str) -> bool:
        """Keeps a container in step, unless it cannot be; returns True if it can."""
        if not text:
            self._held.pop(number, None)
            return False
        self._held[number] = (value, text)
        if len(self._held) > _MOST:
            self._held.popitem(last=False)
        return True

    def _keep_as_it_is(self, number: int, value: object) -> bool:
        return self._keep(number, value, self._content(value)[1])


class Given(Containers):
    """The candidate's: it gave them away."""

    def __init__(self, encode: Callable[[object], object]) -> None:
        super().__init__(encode)
        self._next = 0

    def number_of(self, value: object) -> int | None:
        """Returns the number of a container, None if it is too large to have one."""
        for number, (held, _) in self._held.items():
            if held is value:
                return number
        self._next += 1
        return self._next if self._keep_as_it_is(self._next, value) else None

    def take(self, updates: Sequence[list[object]]) -> None:
        """Brings containers to what the tests made of them."""
        for number, content in updates:
            held = self._held.get(cast("int", number))
            if held is not None:
                _bring(held[0], content)
                self._keep_as_it_is(cast("int", number), held[0])


class Held(Containers):
    """The judge's: the tests hold them."""

    def hold(self, number: int, value: object) -> object:
        """Returns the container with a number, brought to the value that the candidate gave."""
        known, _ = self._held.pop(number, (value, ""))
        if known is not value and not _replace(known, value):
            known = value
        self._keep_as_it_is(number, known)
        return known

    def refresh(self, updates: Sequence[tuple[int, object]]) -> bool:
        """Brings containers to what the solution made of them; returns False for other values."""
        for number, content in updates:
            known, _ = self._held.get(number, (None, ""))
            if known is not None:
                if not _replace(known, content):
                    return False
                self._keep_as_it_is(number, known)
        return True


def can_be_held(value: object) -> bool:
    """Returns True if a value is a container that can change."""
    return isinstance(value, (*changes.KINDS, UserDict, UserList))


def _replace(known: object, content: object) -> bool:
    if not isinstance(known, type(content)) or type(content) not in changes.KINDS:
        return False
    changes.replace(known, content)
    return True


def _bring(held: object, content: object) -> None:
    own = held.data if isinstance(held, (UserDict, UserList)) else held
    changes.bring(own, content)
