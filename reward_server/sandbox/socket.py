"""Runners that another tool started and hardened, reached at sockets.

With these runners the server needs neither an engine nor any privilege. In a cluster, the runners
are sidecars of the server's pod, and share a folder of sockets with the server.

What this stops: what the runner's own walls around each execution stop. The runner's container
limits memory, processes and the network.

What it does not: it does not harden, limit or restart those containers. It trusts a runner's
description of its walls, because the operator provides the container.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from reward_server.domain import Limits, Wall
from reward_server.errors import SandboxError
from reward_server.runner import wire
from reward_server.sandbox.base import Offer, Source
from reward_server.sandbox.runner_sandbox import ContainedSandbox
from reward_server.sandbox.walls import require

BUFFER_BYTES = 1 << 20


class SocketContainer:
    """A connection to a runner; see `runner_sandbox.Container`."""

    def __init__(
        self,
        output: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        path: Path,
        free: asyncio.Queue[Path],
    ) -> None:
        self.output = output
        self._writer = writer
        self._path = path
        self._free = free
        self._is_open = True

    @classmethod
    async def connect(cls, free: asyncio.Queue[Path], hash_seed: int) -> SocketContainer:
        """Connects to an unused runner; waits for one if all are in use.

        Args:
            free: the sockets of unused runners.
            hash_seed: of the runner's interpreters.

        Raises:
            SandboxError: nothing listens at the socket.
        """
        path = await free.get()
        try:
            reader, writer = await asyncio.open_unix_connection(path, limit=BUFFER_BYTES)
        except BaseException as error:
            free.put_nowait(path)
            if isinstance(error, OSError):
                raise SandboxError(f"no runner listens at {path}: {error}") from error
            raise
        writer.write(wire.SEED.pack(hash_seed))
        return cls(reader, writer, path, free)

    async def send(self, data: bytes) -> None:
        """Writes to the runner."""
        self._writer.write(data)
        await self._writer.drain()

    async def set_limits(self, limits: Limits, runner_bytes: int) -> None:
        """Does nothing: the runner enforces an execution's limits, its container the others."""

    async def destroy(self) -> str:
        """Closes the connection, upon which the runner kills what it forked."""
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()
        if self._is_open:
            self._is_open = False
            self._free.put_nowait(self._path)
        return f"see the log of the runner at {self._path}"


class SocketSandboxes:
    """Makes sandboxes of runners for a pool, one for each socket at a time.

    Args:
        paths: the sockets on which the runners listen.
        hash_seed: of the runners' interpreters, as of PYTHONHASHSEED.
    """

    def __init__(self, paths: Sequence[Path], hash_seed: int = 0) -> None:
        self._hash_seed = hash_seed
        self._free: asyncio.Queue[Path] = asyncio.Queue()
        for path in paths:
            self._free.put_nowait(path)

    async def __call__(self, number: int) -> ContainedSandbox:
        """Connects to a runner.

        Raises:
            SandboxError: nothing listens at the socket, or the runner does not start.
        """
        container = await SocketContainer.connect(self._free, self._hash_seed)
        return await ContainedSandbox.start(container)


@dataclass(frozen=True, slots=True, kw_only=True)
class SocketBackend:
    """Runners that another tool started; see `base.SandboxBackend`.

    Args:
        paths: the sockets on which they listen, one or more.
        languages: the languages to offer, by canonical name.
        hash_seed: see `SocketSandboxes`.
    """

    paths: Sequence[Path]
    languages: tuple[str, ...]
    hash_seed: int = 0

    async def probe(self) -> tuple[Wall, ...]:
        """Connects to every runner once; a wall is in effect if it is in effect in all of them."""
        found: list[tuple[Wall, ...]] = []
        for path in self.paths:
            try:
                sandbox = await SocketSandboxes([path])(0)
            except SandboxError as error:
                return (Wall(name="container", standing=False, detail=str(error)),)
            await sandbox.close()
            found.append(sandbox.description.walls)
        works = Wall(name="container", standing=True, detail=f"{len(self.paths)} runners answered")
        return (works, *(_weakest(walls) for walls in zip(*found, strict=True)))

    @asynccontextmanager
    async def open(self, allow_missing: Collection[str]) -> AsyncIterator[Offer]:
        """Offers a sandbox of each runner for the length of the block."""
        walls = await self.probe()
        require(walls, allow_missing)
        source = Source(start=SocketSandboxes(self.paths, self.hash_seed), languages=self.languages)
        yield Offer(sources=(source,), walls=walls, slots=len(self.paths))


def _weakest(walls: Sequence[Wall]) -> Wall:
    return min(walls, key=lambda wall: wall.standing)
