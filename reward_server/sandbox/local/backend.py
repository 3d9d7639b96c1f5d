"""The local backend: bubblewrap containers on this machine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import aclosing, asynccontextmanager, closing
from dataclasses import dataclass

from reward_server.domain import Network, Wall
from reward_server.languages import Language
from reward_server.sandbox.base import Offer, SessionSource, Source
from reward_server.sandbox.local.cgroup import CgroupParent, remove_stale
from reward_server.sandbox.local.container import LocalOptions
from reward_server.sandbox.local.first_containers import FirstContainers
from reward_server.sandbox.local.host_files import shows_all
from reward_server.sandbox.local.janitor import Janitor
from reward_server.sandbox.local.probe import found_walls, probe
from reward_server.sandbox.local.sessions import LocalSessions
from reward_server.sandbox.walls import require, without_missing


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalBackend:
    """Containers on this machine; see `base.SandboxBackend`.

    Args:
        options: the way to make them.
        cgroup_parent: the cgroup in which theirs are made; the server's own if None.
        languages: the languages to offer, each if this host has all its executables.
        slots: how many containers the pool wants first.
        session_options: the way to make containers for sessions; None to offer none.
    """

    options: LocalOptions
    cgroup_parent: str | None
    languages: Sequence[Language]
    slots: int = 1
    session_options: LocalOptions | None = None

    async def probe(self) -> tuple[Wall, ...]:
        """Examines the host, and tries a container on it."""
        return await probe(self.cgroup_parent, self.options)

    @asynccontextmanager
    async def open(self, allow_missing: Collection[str]) -> AsyncIterator[Offer]:
        """Offers containers for the length of the block."""
        cgroups = CgroupParent.look(self.cgroup_parent)
        remove_stale(cgroups)
        with closing(Janitor.start()) as janitor:
            janitor.watch_cgroups(cgroups.prefixes)
            async with aclosing(FirstContainers(cgroups, self.slots)) as containers:
                yield await self._offer(cgroups, containers, allow_missing)

    async def _offer(
        self, cgroups: CgroupParent, containers: FirstContainers, allow_missing: Collection[str]
    ) -> Offer:
        walls = await found_walls(cgroups, self.options, containers.attempt)
        require(walls, allow_missing)
        await containers.use(without_missing(self.options, walls))
        languages = self._installed()
        sessions: tuple[SessionSource, ...] = ()
        if self.session_options is not None:
            start = LocalSessions(without_missing(self.session_options, walls), cgroups)
            sessions = (SessionSource(start=start, languages=languages),)
        return Offer(
            sources=(Source(start=containers, languages=languages),),
            walls=walls,
            networks=frozenset({Network.LOOPBACK}),
            sessions=sessions,
        )

    def _installed(self) -> tuple[str, ...]:
        return tuple(
            one.name
            for one in self.languages
            if one.toolchain is None or shows_all(one.toolchain.executables)
        )
