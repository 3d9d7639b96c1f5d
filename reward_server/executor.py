"""The protocol of objects that run jobs."""

from __future__ import annotations

from typing import Protocol

from reward_server.domain import Execution, Job


class Executor(Protocol):
    """Runs jobs, at most `slots` at once."""

    @property
    def slots(self) -> int:
        """Number of jobs that can run at once."""

    async def run(self, job: Job) -> Execution:
        """Runs a job to its end; cancelling the call kills the execution.

        Raises:
            SandboxError: the server's machinery failed, and its bounded retries failed too.
            UnsupportedError: the job's language or a limit cannot be served.
        """
