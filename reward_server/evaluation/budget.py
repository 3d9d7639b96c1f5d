"""The time that all executions of a submission share, and the network that each gets.

Limits bound one execution. Without a bound on their sum, a program that sleeps in each of many
cases would outlast its caller, and so end without a verdict. Time is counted as on an idle server:
waiting for a slot is free, and of executions that run side by side each counts its part.
"""

from __future__ import annotations

from dataclasses import replace

from reward_server.domain import Execution, Job, LimitKind, Limits, Network
from reward_server.errors import BudgetSpentError, DeadlineError
from reward_server.evaluation.graders import Slots

_TIMES = frozenset({LimitKind.CPU_TIME, LimitKind.WALL_TIME})
# A compilation and one whole execution always fit.
_FEWEST_EXECUTIONS = 2.0


class Budget:
    """Slots that a submission may use for a bounded time.

    Args:
        slots: where its executions run.
        width: how many of them can run at once on an idle server.
        seconds: the time.
        network: what each execution gets.
    """

    def __init__(
        self, slots: Slots, *, width: int, seconds: float, network: Network = Network.NONE
    ) -> None:
        self._slots = slots
        self._network = network
        self._width = width
        self._seconds = seconds
        self._spent = 0.0
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
        if self._spent >= self._seconds:
            raise BudgetSpentError(f"its executions took the {self._seconds:g} s that they share")
        self._running += 1
        self._peak = min(max(self._peak, self._running), self._width)
        try:
            execution = await self._slots.run(replace(job, network=self._network))
        except DeadlineError:
            if not self._has_run_over:
                raise
            raise BudgetSpentError("the deadline passed after a run above its limit") from None
        finally:
            self._running -= 1
        self._spent += execution.usage.wall_time_seconds / self._peak
        self._has_run_over |= not _TIMES.isdisjoint(execution.limits_hit)
        return execution


def budget_seconds(asked: float, limits: Limits) -> float:
    """Returns the time that a submission gets, of which one execution never takes all."""
    return max(asked, _FEWEST_EXECUTIONS * limits.wall_time_seconds)
