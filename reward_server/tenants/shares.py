"""Divides the time in slots between owners in proportion to their weights.

An owner's level is a sum, divided by its weight: the time for which it held slots, and the expected
time of the jobs that it runs. The next slot goes to the waiting owner with the lowest level. So
owners that wait get slot time in proportion to their weights, whether their jobs are short or long.

Only time in which slots were scarce counts. If a slot is free when an owner asks for one, there are
enough slots for all, and all earlier time is forgotten. An owner that did not wait earns no credit
for later: when it waits again, it begins at the lowest level of the owners that wait. The lead of
an owner over that level is bounded. Otherwise an owner with a job of many minutes would wait as
long afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

# A job counts as at least this long, so that owners of very short jobs take turns.
LEAST_SECONDS = 0.001
# Greatest difference to the lowest owner that waits, in seconds of a slot at weight 1.
MOST_DEBT_SECONDS = 60.0


class Shares:
    """The slot time that owners received while slots were scarce.

    Args:
        weight_of: returns the weight of an owner.
    """

    def __init__(self, weight_of: Callable[[str], float]) -> None:
        self._weight_of = weight_of
        self._received: dict[str, float] = {}  # seconds of a slot, divided by the weight
        self._since = 0.0

    def forget(self, now: float) -> None:
        """Forgets all previous use, because a free slot shows that there are enough."""
        self._since = now
        if self._received:
            self._received.clear()

    def begin_waiting(self, owner: str, others: Iterable[str]) -> None:
        """Records that an owner begins to wait; `others` are the owners that wait already."""
        floor = self._lowest(others)
        self._received[owner] = self._bounded(max(self._received.get(owner, 0.0), floor), floor)

    def end(self, owner: str, began: float, now: float, waiting: Iterable[str]) -> None:
        """Counts the time for which an owner held a slot.

        Args:
            owner: who held it.
            began: when it got the slot.
            now: the time.
            waiting: the owners that wait.
        """
        seconds = max(now - max(began, self._since), LEAST_SECONDS)
        received = self._received.get(owner, 0.0) + seconds / self._weight_of(owner)
        self._received[owner] = self._bounded(received, self._lowest(waiting))

    def level(self, owner: str, held: int, job_seconds: float) -> float:
        """Returns an owner's level.

        Args:
            owner: the owner.
            held: the number of slots that it holds.
            job_seconds: the expected duration of a job.
        """
        expected = held * max(job_seconds, LEAST_SECONDS) / self._weight_of(owner)
        return self._received.get(owner, 0.0) + expected

    def _lowest(self, owners: Iterable[str]) -> float:
        return min((self._received.get(one, 0.0) for one in owners), default=0.0)

    def _bounded(self, received: float, floor: float) -> float:
        return min(received, floor + MOST_DEBT_SECONDS)
