"""What every peer of a comparison offers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from benchmarks.comparison.cases import Case

PATIENCE_SECONDS = 30.0
LIMIT_SECONDS = 10.0


class Outcome(StrEnum):
    """What a peer said of a solution."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    TIMED_OUT = "timed_out"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer of a peer.

    Args:
        outcome: FAILED if there is no verdict.
        detail: the reason, if it is known.
    """

    outcome: Outcome
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """Describes a peer.

    Args:
        name: its name in tables.
        isolation: what separates a program from its host; "" if nothing does.
        version: name and version of what was measured.
        counted: the processes whose CPU time and memory are counted.
        runs_already: whether something else started it, so that it has no start to be measured.
    """

    name: str
    isolation: str
    version: str = ""
    counted: str = ""
    runs_already: bool = False


class UnavailableError(Exception):
    """A peer cannot be measured here; the text is the reason."""


class Peer(Protocol):
    """A way to judge a solution by its tests."""

    @property
    def about(self) -> About:
        """The description, complete once it has started."""

    async def start(self) -> None:
        """Starts everything that the peer needs.

        Raises:
            UnavailableError: it cannot run here.
        """

    async def judge(self, case: Case, number: int) -> Answer:
        """Judges a case as a submission that differs from those of other numbers."""

    async def stop(self) -> None:
        """Ends everything that was started; does nothing if nothing was."""

    def cpu_seconds(self) -> float | None:
        """Returns the CPU time used until now; None if it is not known."""

    def memory_bytes(self) -> int | None:
        """Returns the memory in use; None if it is not known."""
