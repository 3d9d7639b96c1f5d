"""What confines a job: one warm, hardened container that runs one execution at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from reward_server.domain import Execution, Job


@dataclass(frozen=True, slots=True, kw_only=True)
class WallOptions:
    """Which walls the runner builds; False only where one was waived that cannot be had.

    Args:
        use_seccomp: the system call filter.
        use_landlock: the rules on files.
        private_proc: a /proc for each execution.
    """

    use_seccomp: bool = True
    use_landlock: bool = True
    private_proc: bool = True


class Sandbox(Protocol):
    """One warm container."""

    @property
    def is_alive(self) -> bool:
        """Whether its runner was there when last heard of, and fit to run another execution."""

    async def run(self, job: Job) -> Execution:
        """Runs one execution in fresh namespaces; cancelling the call kills it.

        Raises:
            SandboxError: the container is broken and must be closed.
        """

    async def close(self) -> None:
        """Destroys the container and everything in it."""
