"""Runs a job once more, on another sandbox, when the first one failed."""

from __future__ import annotations

import structlog

from reward_server.domain import Execution, Job
from reward_server.errors import SandboxError
from reward_server.executor import Executor
from reward_server.sandbox.classify import LOST_SIGNALS

_log = structlog.get_logger("executor")


class RetryingExecutor:
    """Runs jobs on a pool, and once more, on another container, when our machinery failed.

    A program's own failure is an answer and never run again. Where a process of ours or the program
    was killed, and the kernel does not say for which limit, it may have been somebody outside, so
    that the first time counts as a failure of ours. The second time it is the program's: what it
    does itself buys it no more than one run.
    """

    def __init__(self, pool: Executor) -> None:
        self._pool = pool

    @property
    def slots(self) -> int:
        """How many jobs can run at once."""
        return self._pool.slots

    async def run(self, job: Job) -> Execution:
        """Runs a job to its end; see `executor.Executor`."""
        try:
            execution = await self._pool.run(job)
        except SandboxError as error:
            _log.warning("runs a job again elsewhere", error=str(error))
        else:
            if LOST_SIGNALS.isdisjoint(execution.signals):
                return execution
            _log.warning("runs a job again elsewhere", error=execution.message)
        return await self._run_again(job)

    async def _run_again(self, job: Job) -> Execution:
        try:
            return await self._pool.run(job)
        except SandboxError as error:
            _log.error("a job failed twice for want of a working sandbox", error=str(error))
            raise SandboxError("the sandboxes failed twice; the server's log says why") from error
