"""Judges cases by one peer for a while."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from benchmarks.comparison.cases import Case
from benchmarks.comparison.peer import PATIENCE_SECONDS, Answer, Outcome, Peer

Numbered = tuple[int, Case]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The answer to a case, and the seconds until it came."""

    case: Case
    answer: Answer
    seconds: float

    @property
    def is_verdict(self) -> bool:
        """True if the peer said whether the solution is right."""
        return self.answer.outcome in (Outcome.ACCEPTED, Outcome.REJECTED)

    @property
    def is_true(self) -> bool:
        """True if what the peer said is so."""
        return self.answer.outcome is (Outcome.ACCEPTED if self.case.is_right else Outcome.REJECTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What a peer did in one turn.

    Args:
        width: number of submissions in flight.
        seconds: time until the last answer.
        cpu_seconds: CPU time of the peer; None if it is not known.
        replies: all answers.
    """

    width: int
    seconds: float
    cpu_seconds: float | None
    replies: Sequence[Reply]

    @property
    def verdicts(self) -> int:
        """The number of verdicts, true or not."""
        return sum(reply.is_verdict for reply in self.replies)

    @property
    def rate(self) -> float:
        """Verdicts per second."""
        return self.verdicts / self.seconds

    @property
    def cpu_per_verdict(self) -> float | None:
        """CPU seconds of each verdict; None if they are not known."""
        if self.cpu_seconds is None or not self.verdicts:
            return None
        return self.cpu_seconds / self.verdicts

    @property
    def problem(self) -> str:
        """What was said most often instead of a verdict; "" if there was one."""
        if self.verdicts:
            return ""
        told = Counter(f"{one.answer.outcome}: {one.answer.detail}" for one in self.replies)
        return told.most_common(1)[0][0]


async def ask(peer: Peer, numbered: Numbered) -> Reply:
    """Judges a case; an answer that does not come in time is a time-out."""
    number, case = numbered
    clock = asyncio.get_running_loop().time
    began = clock()
    try:
        answer = await asyncio.wait_for(peer.judge(case, number), PATIENCE_SECONDS)
    except TimeoutError:
        detail = f"no answer within {PATIENCE_SECONDS:.0f} s"
        answer = Answer(outcome=Outcome.TIMED_OUT, detail=detail)
    return Reply(case=case, answer=answer, seconds=clock() - began)


async def take_turn(
    peer: Peer, cases: Iterator[Numbered], *, width: int, most: int, seconds: float
) -> Turn:
    """Judges cases with `width` in flight.

    Args:
        peer: the peer, which has started.
        cases: an endless sequence of cases.
        width: number of submissions in flight.
        most: greatest number of cases.
        seconds: time after which none is begun.
    """
    clock = asyncio.get_running_loop().time
    rest = islice(cases, most)
    replies: list[Reply] = []
    before, began = peer.cpu_seconds(), clock()

    async def work() -> None:
        for numbered in rest:
            replies.append(await ask(peer, numbered))
            if clock() - began > seconds:
                return

    await asyncio.gather(*(work() for _ in range(width)))
    ended, after = clock(), peer.cpu_seconds()
    used = None if before is None or after is None else after - before
    return Turn(width=width, seconds=ended - began, cpu_seconds=used, replies=replies)
