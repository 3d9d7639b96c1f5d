"""Runs a job a second time, on another sandbox, if the first one failed."""

from __future__ import annotations

from collections.abc import Mapping

import structlog

from reward_server.domain import Execution, Job
from reward_server.errors import SandboxError
from reward_server.executor import Executor
from reward_server.sandbox.classify import LOST_SIGNALS

_log = structlog.get_logger("executor")


class RetryingExecutor:
    """Runs jobs on a pool, and a second time, on another container, if the server's part failed.

    A program's own failure is an answer, and the program does not run again. If a process of the
    runner or the program was killed, and the kernel does not report a limit, the cause may be
    outside the sandbox. So the first time counts as a failure of the server. The second time counts
    as the program's failure, so a program gains at most one more run by killing itself.
    """

    def __init__(self, pool: Executor) -> None:
        self._pool = pool
        self._retries = {"sandbox_failed": 0, "process_lost": 0}

    @property
    def retries(self) -> Mapping[str, int]:
        """Number of second runs, by cause."""
        return self._retries.copy()

    @property
    def slots(self) -> int:
        """How many jobs can run at once."""
        return self._pool.slots

    async def run(self, job: Job) -> Execution:
        """Runs a job to its end; see `executor.Executor`."""
        try:
            execution = await self._pool.run(job)
        except SandboxError as error:
            self._retries["sandbox_failed"] += 1
            _log.warning("runs a job again elsewhere", error=str(error))
        else:
            if LOST_SIGNALS.isdisjoint(execution.signals):
                return execution
            self._retries["process_lost"] += 1
            _log.warning("runs a job again elsewhere", error=execution.message)
        return await self._run_again(job)

    async def _run_again(self, job: Job) -> Execution:
        try:
            return await self._pool.run(job)
        except SandboxError as error:
            _log.error("a job failed twice for want of a working sandbox", error=str(error))
            raise SandboxError("the sandboxes failed twice; the server's log says why") from error
