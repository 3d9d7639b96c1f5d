"""Counts executions where they run."""

from __future__ import annotations

import asyncio
import time

from reward_server.domain import Execution, Job
from reward_server.executor import Executor
from reward_server.telemetry.metrics import CANCELLED, LOST, Telemetry


class CountingExecutor:
    """Runs jobs on another executor, and counts them.

    Args:
        executor: runs the jobs.
        telemetry: counts them.
    """

    def __init__(self, executor: Executor, telemetry: Telemetry) -> None:
        self._executor = executor
        self._telemetry = telemetry

    @property
    def slots(self) -> int:
        """Number of jobs that can run at once."""
        return self._executor.slots

    async def run(self, job: Job) -> Execution:
        """Runs a job to its end; see `executor.Executor`."""
        begun = time.perf_counter()
        try:
            execution = await self._executor.run(job)
        except asyncio.CancelledError:
            self._telemetry.execution_failed(job.language, CANCELLED)
            raise
        except Exception:
            self._telemetry.execution_failed(job.language, LOST)
            raise
        self._telemetry.execution_ended(job.language, execution, time.perf_counter() - begun)
        return execution
