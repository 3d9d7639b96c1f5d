"""Decides which of the solution's changes to the tests' containers the tests see.

What this stops: a solution that empties the argument from which the test computes the expected
result. If the tests passed a container to the solution, they see its changes in three cases: the
test discards the call's result, only checks whether it is None, or looks at the container. Other
changes are withheld and counted, and a pass with withheld changes is confirmed by a run with all
changes. Containers that the solution made, and that the tests never passed to it, are the
solution's answers: the tests always see their changes.

What it does not do: if a solution changes a container after a call, the tests see this only at the
next request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Protocol

from ..sharing.containers import Containers
from ..values import changes, live


class Rules(Protocol):
    """The properties of a call that the tests' text shows, by the frame that makes it; see
    `Session`."""

    brings_changes: bool

    def are_apart(self, frame: FrameType, things: frozenset[int]) -> bool:
        """Returns True if nothing combines things with answers, see `arguments`."""

    def observes(
        self, frame: FrameType, names: tuple[str, ...], things: frozenset[int], nested: bool
    ) -> bool:
        """See `observations.are_observed`; `things` are the identities of the observed objects."""

    def withhold(self) -> None:
        """Records that the tests did not see a change."""

    def bring(self, frame: FrameType, things: frozenset[int]) -> None:
        """Records that the tests saw changes that would have been withheld."""


class Visibility:
    """Brings changes back to the tests' containers.

    Args:
        containers: the containers that both sides hold.
        rules: the rules for the tests.
    """

    def __init__(self, containers: Containers, rules: Rules) -> None:
        self._containers = containers
        self._rules = rules

    def take(
        self,
        updates: Mapping[int, object],
        results: list[object],
        frame: FrameType,
        arguments: Sequence[object],
    ) -> list[object]:
        """Applies the solution's changes to containers.

        Args:
            updates: their new contents, by number.
            results: the solution's results.
            frame: the frame of the test that made the request.
            arguments: what the test handed over.

        Returns:
            The results, in which copies replace containers whose changes were withheld.
        """
        lent = {n for n in updates if self._containers.is_own(n)}
        shown = updates.keys() - lent
        if lent:
            values = [self._containers.value_of(n) for n in lent]
            seen = self._seen(frame, arguments, values)
            shown |= {n for n in lent if id(self._containers.value_of(n)) in seen}
        if self._rules.brings_changes and lent - shown:
            self._rules.bring(frame, frozenset(changes.reachable((*arguments, *values))))
            shown |= lent
        for number in shown:
            self._containers.replace(number, updates[number])
        withheld = {number: updates[number] for number in lent - shown}
        return self._withheld(withheld, results) if withheld else results

    def copied(self, updates: Mapping[int, object], values: list[object]) -> list[object]:
        """Returns values in which copies replace containers that do not have these contents."""
        return list(map(self._copies(updates).of, values))

    def _copies(self, updates: Mapping[int, object]) -> _Copies:
        contents = {id(self._containers.value_of(n)): updates[n] for n in updates}
        return _Copies(contents, {id(value) for _, value in self._containers.own()})

    def _withheld(self, updates: Mapping[int, object], results: list[object]) -> list[object]:
        """Replaces containers that stay unchanged by updated copies, and returns the results with
        them."""
        copies = self._copies(updates)
        for number, value in list(self._containers.own()):
            copy = copies.of(value)
            if copy is not value:
                self._containers.put(number, copy)
        for _ in updates:
            self._rules.withhold()
        return list(map(copies.of, results))

    def _seen(
        self, frame: FrameType, arguments: Sequence[object], lent: Sequence[object]
    ) -> set[int]:
        """Returns the identities of containers whose changes cannot change the expected answers."""
        things = frozenset(changes.reachable((*arguments, *lent)))
        is_apart = changes.are_wanted(frame) and self._rules.are_apart(frame, things)
        wanted = changes.reachable(arguments) if is_apart else set[int]()
        if all(id(one) in wanted for one in lent):
            return wanted
        looked_at = self._looked_at(frame, arguments, lent, things)
        return wanted | changes.reachable(
            one for one in (*arguments, *lent) if id(one) in looked_at
        )

    def _looked_at(
        self,
        frame: FrameType,
        arguments: Sequence[object],
        lent: Sequence[object],
        things: frozenset[int],
    ) -> frozenset[int]:
        """Returns the identities of containers at which the test looks after the call."""
        inside = changes.reachable(arguments)
        kept = [one for one in lent if id(one) not in inside]
        changing = [one for one in (*arguments, *kept) if changes.can_change(one)]
        named = [
            (name, value)
            for name, value in frame.f_locals.items()
            if any(value is one for one in changing)
        ]
        names = tuple(name for name, _ in named)
        found = frozenset(id(value) for _, value in named)
        is_plain = bool(named) and len(found) == len(named)
        nested = any(map(changes.is_nested, changing))
        is_seen = is_plain and self._rules.observes(frame, names, things, nested)
        return found if is_seen else frozenset()


class _Copies:
    """Values in which copies replace the tests' containers that have other contents in the
    candidate.

    Args:
        contents: the candidate's contents, by identity.
        lent: the identities of all of the tests' containers.
    """

    def __init__(self, contents: Mapping[int, object], lent: set[int]) -> None:
        self._contents = contents
        self._lent = lent
        self._known: dict[int, object] = {}

    def of(self, value: object) -> object:
        """Returns a value with copies, or the value itself if nothing in it differs."""
        if live.is_array(value):
            return self._contents.get(id(value), value)
        if not isinstance(value, (*changes.KINDS, tuple, *live.OF_DICTIONARIES)):
            return value
        if id(value) not in self._known:
            is_view = isinstance(value, live.OF_DICTIONARIES)
            self._known[id(value)] = self._view(value) if is_view else self._made(value)
        return self._known[id(value)]

    def _view(self, value: object) -> object:
        shown = live.dictionary_of(value)
        copy = changes.with_elements(shown, list(map(self.of, live.elements(shown))))
        is_same = changes.are_same(live.elements(shown), live.elements(copy))
        return value if is_same else live.like(value, copy)

    def _made(self, value: object) -> object:
        content = self._contents.get(id(value), value)
        before = live.elements(content)
        after = list(map(self.of, before))
        if content is value and changes.are_same(before, after):
            return value
        if id(value) not in self._lent and not isinstance(value, tuple):
            changes.replace(value, changes.with_elements(value, after))
            return value
        return changes.with_elements(content, after)
