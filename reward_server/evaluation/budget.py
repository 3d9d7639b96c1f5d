"""Bounds the time that all executions of a submission share, and sets the network of each.

Limits bound one execution. Without a bound on their sum, a program that sleeps in each of many
cases would outlast its caller, and would end without a verdict. Time is counted as on an idle
server: waiting for a slot does not count, and each of several executions that run in parallel only
counts its share.

Perturbed copies of tests do not count against that budget, since a slow and honest test may need
22 of them. All executions together end before the caller's deadline. So a
program that sleeps in its copies gets a verdict, too.
"""

from __future__ import annotations

import math
from dataclasses import replace

from reward_server.domain import Execution, Job, LimitKind, Limits, Network
from reward_server.errors import BudgetSpentError, DeadlineError
from reward_server.evaluation.graders.base import Slots

_TIMES = frozenset({LimitKind.CPU_TIME, LimitKind.WALL_TIME})
# A compilation and one whole execution always fit.
_FEWEST_EXECUTIONS = 2.0


class Budget:
    """Slots that a submission may use for a bounded time.

    Args:
        slots: where its executions run.
        width: how many of them can run at once on an idle server.
        seconds: the time, without copies.
        together_seconds: the time of copies and all other executions together.
        network: what each execution gets.
    """

    def __init__(
        self,
        slots: Slots,
        *,
        width: int,
        seconds: float,
        together_seconds: float = math.inf,
        network: Network = Network.NONE,
    ) -> None:
        self._slots = slots
        self._network = network
        self._width = width
        self._seconds = seconds
        self._together_seconds = together_seconds
        self._spent = 0.0
        self._copied = 0.0
        self._running = 0
        self._peak = 0
        self._has_run_over = False

    async def run(self, job: Job) -> Execution:
        """Waits for a slot and runs a job; cancelling the call kills it.

        Raises:
            BudgetSpentError: the time is used up, or the caller's deadline passed after an
                execution had run into its own time limit.
            DeadlineError, SandboxError, UnsupportedError: as the slots.
        """
        self._refuse_if_spent(is_copy=job.is_copy)
        self._running += 1
        self._peak = min(max(self._peak, self._running), self._width)
        try:
            execution = await self._slots.run(self._networked(job))
        except DeadlineError:
            if not self._has_run_over:
                raise
            raise BudgetSpentError("the deadline passed after a run above its limit") from None
        finally:
            self._running -= 1
        # By the most that ran at once so far: a verdict must not depend on how busy the server is.
        self._count(execution.usage.wall_time_seconds / self._peak, is_copy=job.is_copy)
        self._has_run_over |= not _TIMES.isdisjoint(execution.limits_hit)
        return execution

    def _networked(self, job: Job) -> Job:
        return job if job.network is self._network else replace(job, network=self._network)

    def _refuse_if_spent(self, *, is_copy: bool) -> None:
        if not is_copy and self._spent >= self._seconds:
            raise BudgetSpentError(f"its executions took the {self._seconds:g} s that they share")
        if is_copy and self._spent + self._copied >= self._together_seconds:
            raise BudgetSpentError(
                f"its executions, those that confirm a pass among them, took the "
                f"{self._together_seconds:g} s that the call's deadline allows"
            )

    def _count(self, seconds: float, *, is_copy: bool) -> None:
        if is_copy:
            self._copied += seconds
        else:
            self._spent += seconds


def budget_seconds(asked: float, limits: Limits) -> float:
    """Returns the time budget of a submission, which is more than one execution can take."""
    return max(asked, _FEWEST_EXECUTIONS * limits.wall_time_seconds)


def together_seconds(remaining: float, seconds: float, limits: Limits) -> float:
    """Returns the time of copies and all other executions together.

    Args:
        remaining: the time until the caller's deadline.
        seconds: the budget without copies, which always fits.
        limits: limits of each execution; an execution that has begun may go on when the time is up.
    """
    return max(seconds, remaining - limits.wall_time_seconds)
