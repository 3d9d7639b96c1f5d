"""Runs jobs in this machine's sandboxes."""

from __future__ import annotations

import structlog

from reward_server.domain import Execution, Job
from reward_server.errors import SandboxError
from reward_server.sandbox.pools import Runs

_log = structlog.get_logger("executor")


class LocalExecutor:
    """Runs jobs on a pool, and once more, on another container, when our machinery failed.

    A program's own failure is an answer and never run again.
    """

    def __init__(self, pool: Runs) -> None:
        self._pool = pool

    @property
    def slots(self) -> int:
        """How many jobs can run at once."""
        return self._pool.slots

    async def run(self, job: Job) -> Execution:
        """Runs a job to its end; see `executors.base.Executor`."""
        try:
            return await self._pool.run(job)
        except SandboxError as error:
            _log.warning("runs a job again elsewhere", error=str(error))
        return await self._pool.run(job)
