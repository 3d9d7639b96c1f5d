"""What a run asked and what crossed, so that it shows whether a change of an argument decided it.

**Arguments come back.** A change is applied to the tests' own containers. Each test's questions and
answers are recorded, so that the tests can be run again without the solution and without any
change: if a change decided what the tests did, the label is lowered. Where nothing was answered
with or after a change, tests may compare the change itself. What they conclude may then differ, but
not what they ask: a loop over a list that the solution emptied asks nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

_OWN = 3  # references: of a record, of the name and of the call that counts them
BEFORE = -1  # the test that stands for what runs before all tests


class DiffersError(BaseException):  # tests must not catch it by `except Exception`
    """A replay asks something else than the run did."""


class _Step(NamedTuple):
    """One question with its answer."""

    question: str
    answer: list[Any]


class Recording:
    """The questions of a run by test, and its replay.

    Attributes:
        changed: the tests that had a change within reach.
        doubted: those of them in which something was answered with or after it.
        is_replay: whether answers come from the record.
        differs: whether a test asked something else in the replay, or a doubted one asked less.
    """

    def __init__(self) -> None:
        self._steps: dict[int, list[_Step]] = {}
        self._test, self._place = BEFORE, 0
        self._within_reach: list[object] = []
        self._spreads = False  # whether a changed container outlived its test
        self.changed: set[int] = set()
        self.doubted: set[int] = set()
        self.is_replay = self.differs = False

    @property
    def strips(self) -> bool:
        """Returns True if the tests do not get the changes of the current test."""
        return self.is_replay and (self._spreads or self._test in self.changed)

    @property
    def has_changes(self) -> bool:
        """Returns True if the current test can reach something that the solution changed."""
        return bool(self._within_reach)

    def begin(self, test: int) -> None:
        """Begins a test; what was changed before counts if the tests can still reach it."""
        self._test, self._place = test, 0
        if not self.is_replay:
            reached = [one for one in self._within_reach if sys.getrefcount(one) > _OWN]
            self._within_reach, self._spreads = reached, self._spreads or bool(reached)
            if reached:
                self.changed.add(test)

    def finish(self) -> None:
        """Ends a test; in a replay it has to have asked everything."""
        is_doubted = self.is_replay and self._test in self.doubted
        if is_doubted and self._place != len(self._steps.get(self._test, ())):
            self.differs = True

    def replay(self) -> None:
        """Answers what follows from the record; what stands before the tests cannot be doubted."""
        self.is_replay, self.differs = True, BEFORE in self.doubted
        self._test, self._place = BEFORE, 0

    def replayed(self, question: str) -> list[Any]:
        """Returns the recorded answer to the next question.

        Raises:
            DiffersError: it was another question.
        """
        steps = self._steps.get(self._test, ())
        if self._place >= len(steps) or steps[self._place].question != question:
            self.differs = True
            raise DiffersError("another question")
        self._place += 1
        return steps[self._place - 1].answer

    def keep(self, question: str, answer: list[Any]) -> None:
        """Records a question."""
        self._steps.setdefault(self._test, []).append(_Step(question, answer))

    def doubt(self, changed: Sequence[object], *, is_answered: bool) -> None:
        """Doubts the current test if something is answered with or after a change."""
        self._within_reach += changed
        if self._within_reach:
            self.changed.add(self._test)
            if is_answered:
                self.doubted.add(self._test)


class Crossed:
    """The content of what crossed, which the solution could see change in one process."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[Any, list[object]]] = {}

    def see(self, containers: Sequence[Any]) -> None:
        """Remembers the content of containers."""
        for one in containers:
            self._seen.pop(id(one), None)
            self._seen[id(one)] = one, _content(one)

    def has_changed(self, most: int | None = None) -> bool:
        """Returns True once if the tests changed one of the last that crossed."""
        for place in list(islice(reversed(self._seen), most)):
            one, content = self._seen[place]
            if sys.getrefcount(one) == _OWN:  # no test can reach it any more
                del self._seen[place]
                continue
            found = _content(one)
            if len(found) != len(content) or any(map(_is_other, found, content)):
                self._seen = {}
                return True
        return False


def _content(container: Any) -> list[object]:
    """Returns what a container holds, to be compared by identity."""
    if isinstance(container, dict):
        return [*container, *container.values()]
    if hasattr(container, "tobytes"):
        return [container.tobytes()]
    if isinstance(container, set):
        return [frozenset(container)]
    return [*(vars(container).values() if hasattr(container, "__dict__") else container)]


def _is_other(one: object, other: object) -> bool:
    if one is other:
        return False
    return not (isinstance(one, (bytes, frozenset)) and one == other)
