"""Where a job runs."""

from __future__ import annotations

from typing import Protocol

from reward_server.domain import Execution, Job


class Executor(Protocol):
    """Runs jobs, at most `slots` at once."""

    @property
    def slots(self) -> int:
        """How many jobs can run at once."""

    async def run(self, job: Job) -> Execution:
        """Runs a job to its end; cancelling the call kills the execution.

        Raises:
            SandboxError: our machinery failed, also on its bounded retry.
            UnsupportedError: the job's language or a limit cannot be served.
        """
