"""What confines a job: one warm, hardened container that runs one execution at a time."""

from __future__ import annotations

from typing import Protocol

from reward_server.domain import Execution, Job


class Sandbox(Protocol):
    """One warm container."""

    async def run(self, job: Job) -> Execution:
        """Runs one execution in fresh namespaces; cancelling the call kills it.

        Raises:
            SandboxError: the container is broken and must be closed.
        """

    async def close(self) -> None:
        """Destroys the container and everything in it."""
