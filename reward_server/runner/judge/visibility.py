"""What the tests see of what the solution did to their containers.

What this stops: a solution that empties the argument from which the test computes the expected
result. A change of a container that the tests handed over is brought back where the test throws
the call's result away, or asks no more of it than whether it is None, or looks at the container.
What is withheld is counted, and a pass in which it was is confirmed by a run with all changes.
Containers that the solution made, and the tests never handed over, are the solution's answers:
their changes are brought back always.

What it does not: see a change that a solution makes when the call is over, until it is asked again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Protocol

from ..sharing.containers import Containers
from ..values import changes, live


class Rules(Protocol):
    """What the tests' text says of a call that a frame is in the middle of; see `Session`."""

    brings_changes: bool

    def are_apart(self, frame: FrameType, things: frozenset[int]) -> bool:
        """Returns True if nothing brings things and answers together, see `arguments`."""

    def observes(
        self, frame: FrameType, names: tuple[str, ...], things: frozenset[int], nested: bool
    ) -> bool:
        """See `observations.are_observed`; things are the identities of what is looked at."""

    def withhold(self) -> None:
        """Records that a change was kept from the tests."""

    def bring(self, frame: FrameType, things: frozenset[int]) -> None:
        """Records that things changed before the tests' eyes that would have been withheld."""


class Visibility:
    """Brings changes back.

    Args:
        containers: that both sides hold.
        rules: of the tests.
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
        """Takes what the solution did to containers.

        Args:
            updates: what they are to hold, by number.
            results: what it answered.
            frame: of the test that asked.
            arguments: what the test handed over.

        Returns:
            The results, in which copies stand for what was not brought back.
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
        """Returns values in which copies stand for containers that do not hold such updates."""
        return list(map(self._copies(updates).of, values))

    def _copies(self, updates: Mapping[int, object]) -> _Copies:
        contents = {id(self._containers.value_of(n)): updates[n] for n in updates}
        return _Copies(contents, {id(value) for _, value in self._containers.own()})

    def _withheld(self, updates: Mapping[int, object], results: list[object]) -> list[object]:
        """Has copies stand for containers that keep what they hold; returns such results."""
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
        """Returns the identities of containers whose changes decide nothing about answers."""
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
        """Returns the identities of containers at which the test looks when it has the result."""
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
    """Values in which copies stand for the tests' containers that hold something else over there.

    Args:
        contents: what they hold there, by identity.
        lent: the identities of all of the tests'.
    """

    def __init__(self, contents: Mapping[int, object], lent: set[int]) -> None:
        self._contents = contents
        self._lent = lent
        self._known: dict[int, object] = {}

    def of(self, value: object) -> object:
        """Returns a value, itself if nothing in it is held otherwise."""
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
