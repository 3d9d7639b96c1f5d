"""The interfaces between the server and its sandboxes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from reward_server.domain import Execution, ImageInfo, Job, Network, Wall
from reward_server.grading.repository.tree import Tree
from reward_server.sandbox.sessions.sandbox import SessionSandbox


@dataclass(frozen=True, slots=True, kw_only=True)
class WallOptions:
    """The walls that the runner builds; one is False only if it is missing and waived.

    Args:
        use_seccomp: the seccomp filter.
        use_landlock: the Landlock ruleset.
        private_proc: a /proc for each execution.
    """

    use_seccomp: bool = True
    use_landlock: bool = True
    private_proc: bool = True


class Sandbox(Protocol):
    """A hardened container with a ready runner, which runs one execution at a time."""

    @property
    def is_alive(self) -> bool:
        """Whether its runner was last known to be alive and fit to run another execution."""

    async def run(self, job: Job) -> Execution:
        """Runs one execution in new namespaces. If the call is cancelled, the execution is killed.

        Raises:
            SandboxError: the container is broken and must be closed.
        """

    async def close(self) -> None:
        """Destroys the container and everything in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A source of sandboxes, and the languages that they have.

    Args:
        start: starts a sandbox; see `pool.Pool`.
        languages: canonical names.
        image: the image from which they are made, if there is one.
        repository: reads the repository of the image, if it has one.
    """

    start: Callable[[int], Awaitable[Sandbox]]
    languages: tuple[str, ...]
    image: ImageInfo | None = None
    repository: Callable[[], Awaitable[Tree]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSource:
    """A source of sandboxes for sessions, and the languages that they have.

    Args:
        start: starts a sandbox, with a number that no other living one of this source has.
        languages: canonical names.
        image: name of the image from which they are made; empty if there is none.
        aliases: other names of the image.
    """

    start: Callable[[int], Awaitable[SessionSandbox]]
    languages: tuple[str, ...]
    image: str = ""
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """The sandboxes that an open backend offers.

    Args:
        sources: the sources of its sandboxes, the most wanted first.
        walls: the walls around them: those in effect, and those that are missing.
        networks: the networks that executions can have.
        slots: how many sandboxes there are; None if any number can be started.
        sessions: the sources of sandboxes for sessions, the most wanted first; empty if none are
            offered.
    """

    sources: tuple[Source, ...]
    walls: tuple[Wall, ...]
    networks: frozenset[Network] = frozenset()
    slots: int | None = None
    sessions: tuple[SessionSource, ...] = ()


class SandboxBackend(Protocol):
    """A kind of sandbox, as the settings describe it."""

    async def probe(self) -> tuple[Wall, ...]:
        """Tries a sandbox; returns all walls, with whether each is in effect.

        Raises:
            SandboxError: no sandbox can be tried, because there is no engine or no image.
        """

    def open(self, allow_missing: Collection[str]) -> AbstractAsyncContextManager[Offer]:
        """Offers sandboxes for the length of the block, and removes them at its end.

        Raises:
            SettingsError: a wall cannot be waived.
            MissingWallError: a wall is missing and was not waived.
            SandboxError: no sandbox can be started.
        """
