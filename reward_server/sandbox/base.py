"""What confines a job, and what offers it: the seams between the server and its sandboxes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from reward_server.domain import Execution, Job, Network, Wall


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
    """One warm, hardened container, which runs one execution at a time."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where sandboxes come from, and which languages they may have.

    Args:
        start: starts one; see `pool.Pool`.
        languages: canonical names.
        image: digest of the image that they are made of, where there is one.
    """

    start: Callable[[int], Awaitable[Sandbox]]
    languages: tuple[str, ...]
    image: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What an open backend has.

    Args:
        sources: of its sandboxes, the most wanted first.
        walls: those that stand around them, and those that are missing.
        networks: what executions can be given.
        slots: how many sandboxes there are; None where as many as are wanted can be started.
    """

    sources: tuple[Source, ...]
    walls: tuple[Wall, ...]
    networks: frozenset[Network] = frozenset()
    slots: int | None = None


class SandboxBackend(Protocol):
    """A kind of sandboxes, as the settings describe it."""

    async def probe(self) -> tuple[Wall, ...]:
        """Tries a sandbox; returns which walls stand.

        Raises:
            SandboxError: there is nothing to try: no engine, or no image.
        """

    def open(self, allow_missing: Collection[str]) -> AbstractAsyncContextManager[Offer]:
        """Offers sandboxes for the length of the block, and removes in the end what was made.

        Raises:
            SettingsError: a wall cannot be waived.
            MissingWallError: a wall is missing and was not waived.
            SandboxError: no sandbox can be started.
        """
