"""The first containers of a server: they show which walls this host can build, and then run jobs.

What this stops: a server that reports a wall as in effect without a test. The server reports those
walls that the runner of the first container reports after it has run a first program.

What it does not: it does not decide whether the server may start; see `probe` and `sandbox.walls`.

To start a container takes longer than to use it. So the first container is not thrown away: the
pool gets it. The containers of the other slots start at the same time. If the host cannot build a
wall, all of them are closed before containers without that wall start.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from reward_server.domain import Wall
from reward_server.sandbox.local.cgroup import CgroupParent
from reward_server.sandbox.local.container import LocalOptions, LocalSandboxes
from reward_server.sandbox.runner_sandbox import ContainedSandbox


class FirstContainers:
    """Starts containers before a pool asks for them, and makes further ones for the pool.

    Args:
        cgroups: the cgroup in which the cgroups of the containers are made.
        count: how many containers to start; their numbers begin with 0.
    """

    def __init__(self, cgroups: CgroupParent, count: int) -> None:
        self._cgroups = cgroups
        self._count = count
        self._options: LocalOptions | None = None
        self._start: LocalSandboxes
        self._begun: dict[int, asyncio.Task[ContainedSandbox]] = {}

    async def attempt(self, options: LocalOptions) -> Sequence[Wall]:
        """Starts containers in place of earlier ones; returns the walls of the first one's runner.

        Raises:
            SandboxError: the first container did not start.
            OSError: it could not be started.
        """
        await self.use(options)
        starts = {number: self._start(number) for number in range(self._count)}
        self._begun = {number: asyncio.create_task(start) for number, start in starts.items()}
        return (await asyncio.shield(self._begun[0])).description.walls

    async def use(self, options: LocalOptions) -> None:
        """Sets how containers are made; closes those that were made in another way."""
        if options != self._options:
            await self.aclose()
            self._options = options
            self._start = LocalSandboxes(options, self._cgroups)

    async def __call__(self, number: int) -> ContainedSandbox:
        """Hands out the container of a slot, or starts another; see `container.start_local`.

        If the call is cancelled, a container that was started before stays for the next call.
        """
        begun = self._begun.get(number)
        if begun is None:
            return await self._start(number)
        try:
            sandbox = await asyncio.shield(begun)
        except Exception:
            del self._begun[number]
            raise
        del self._begun[number]
        return sandbox

    async def aclose(self) -> None:
        """Closes the containers that were not handed out."""
        begun = self._begun.values()
        self._begun = {}
        for start in begun:
            start.cancel()
        for made in await asyncio.gather(*begun, return_exceptions=True):
            if isinstance(made, ContainedSandbox):
                await made.close()
