"""What a server answered to a request of the audit."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from codereward.v1 import reward_service_pb2 as pb

# Statuses that say something about the task; others say something about the server.
_ABOUT_THE_TASK = ("INVALID_ARGUMENT", "FAILED_PRECONDITION")
_SHOWN = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer, or the reason why there is none.

    Args:
        response: the answer; an empty one if there is none.
        status: name of the status if there is no answer, or "".
        problem: what the status says.
    """

    response: pb.ScoreResponse
    status: str = ""
    problem: str = ""

    @property
    def passed(self) -> bool:
        """True if every test passed."""
        return not self.status and self.response.verdict == pb.VERDICT_PASSED

    @property
    def is_refused(self) -> bool:
        """True if the task itself is at fault."""
        if self.status:
            return self.status in _ABOUT_THE_TASK
        return self.response.verdict == pb.VERDICT_INVALID_TASK

    @property
    def is_lost(self) -> bool:
        """True if the server did not judge, by no fault of the task."""
        return bool(self.status) and not self.is_refused

    @property
    def verdict(self) -> str:
        """The verdict's short name, or the status."""
        return self.status or pb.Verdict.Name(self.response.verdict).removeprefix("VERDICT_")

    @property
    def integrity(self) -> str:
        """The label's short name."""
        return pb.Integrity.Name(self.response.integrity).removeprefix("INTEGRITY_")

    @property
    def limits_hit(self) -> list[str]:
        """Short names of the limits that were hit."""
        names = map(pb.LimitKind.Name, self.response.limits_hit)
        return [name.removeprefix("LIMIT_KIND_") for name in names]

    @property
    def reason(self) -> str:
        """Verdict and reason, in one line."""
        failing = (one.message for one in self.response.tests if one.message)
        told = self.problem or self.response.message or next(failing, "")
        signals = ", ".join(sorted(self.response.signals))
        seen = f" (signals: {signals})" if signals else ""
        return " ".join(f"{self.verdict}{seen}: {told}".split())[:_SHOWN]


Judge = Callable[[pb.ScoreRequest], Awaitable[Answer]]


async def judged_all(judge: Judge, requests: list[pb.ScoreRequest]) -> list[Answer]:
    """Judges requests at the same time, and returns their answers in order."""
    return list(await asyncio.gather(*map(judge, requests)))
