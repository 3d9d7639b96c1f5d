"""The servers of a name in a Ray cluster, over which a client spreads its requests.

The client asks the cluster where they are, connects to each of them, and sends a request to the one
with the fewest in progress. A server that does not answer is left out for a while, and the cluster
is asked again: if its node was lost, the server is started on another one.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import grpc

from trainer_client.transport import ray_names
from trainer_client.transport.channel import Connection, Tls, addresses
from trainer_client.transport.processes import Process, Processes
from trainer_client.transport.ray_names import Listed, NotFoundError
from trainer_client.transport.retry import Failure

# A server that serves again, or one more, is found after this time at the latest.
_LOOK_SECONDS = 10.0
_FAILED_LOOK_SECONDS = 1.0
_OUT_SECONDS = 2.0
_REST_SECONDS = 1.0
_order = random.Random()  # not the global generator, which programs seed


class RayServers:
    """The servers of a name, as one event loop sees them.

    Args:
        connection: the options of all connections; its target is `ray://NAME`.
        clock: returns the time in seconds.
    """

    def __init__(self, connection: Connection, clock: Callable[[], float] = time.monotonic) -> None:
        self._connection = connection
        self._name = ray_names.checked_name(addresses(connection.target)[0])
        self._clock = clock
        self._servers: dict[Listed, Processes] = {}
        self._leaving: list[Processes] = []
        self._closing: set[asyncio.Task[None]] = set()
        self._out_until: dict[Processes, float] = {}
        self._problem = ""
        self._next_look = 0.0
        self._look: asyncio.Task[None] | None = None

    async def ready(self) -> Failure | None:
        """Waits until a server is known; returns None, or the reason why there is none."""
        if self._clock() >= self._next_look and (self._look is None or self._look.done()):
            self._look = asyncio.create_task(self._look_around())
        if not self._servers and self._look is not None:
            await asyncio.shield(self._look)
        if self._servers:
            return None
        return Failure(status=grpc.StatusCode.UNAVAILABLE, message=self._problem)

    @property
    def shared(self) -> Process:
        """A connection to any of the servers that `ready` found."""
        return self._least_busy().shared

    @contextmanager
    def sending(self, requests: int) -> Iterator[Process]:
        """Picks the server with the fewest requests in progress, for the length of the block.

        Args:
            requests: number of requests that will be sent to it.
        """
        try:
            with self._least_busy().sending(requests) as process:
                yield process
        finally:
            self._close_idle()

    def lose(self, process: Process) -> None:
        """Leaves out a server that does not answer, and has the cluster asked again."""
        for server in self._servers.values():
            server.lose(process)
            if process is server.shared:
                self._out_until[server] = self._clock() + _OUT_SECONDS
                self._next_look = min(self._next_look, self._clock() + _FAILED_LOOK_SECONDS)

    async def rest(self) -> None:
        """Ends all work besides calls; see `Processes.rest`."""
        await self._end_look(_REST_SECONDS)
        await asyncio.gather(*(server.rest() for server in self._all()), *self._closing)

    async def close(self) -> None:
        """Closes all connections."""
        await self._end_look(0.0)
        await asyncio.gather(*(server.close() for server in self._all()), *self._closing)

    async def _end_look(self, seconds: float) -> None:
        look, self._look = self._look, None
        if look is not None and not look.done():
            await asyncio.wait({look}, timeout=seconds)
            look.cancel()
            await asyncio.wait({look})

    def _all(self) -> list[Processes]:
        return [*self._servers.values(), *self._leaving]

    def _least_busy(self) -> Processes:
        now = self._clock()
        return min(
            self._servers.values(),
            key=lambda one: (max(self._out_until.get(one, now), now), one.requests),
        )

    async def _look_around(self) -> None:
        try:
            found = await asyncio.to_thread(ray_names.look_up, self._name)
        except NotFoundError as error:
            # The servers that are known may still serve.
            self._problem = str(error)
            self._next_look = self._clock() + _FAILED_LOOK_SECONDS
            return
        self._next_look = self._clock() + _LOOK_SECONDS
        self._follow(found)

    def _follow(self, found: tuple[Listed, ...]) -> None:
        for gone in self._servers.keys() - set(found):
            self._leaving.append(self._servers.pop(gone))
        # Each client begins with another server if all are equally busy.
        for listed in _order.sample(found, len(found)):
            if listed not in self._servers:
                self._servers[listed] = Processes(_connection_to(listed, self._connection))
        known = set(self._servers.values())
        self._out_until = {one: until for one, until in self._out_until.items() if one in known}
        self._close_idle()

    def _close_idle(self) -> None:
        """Closes the connections to servers that left, once no request uses them."""
        for server in [one for one in self._leaving if not one.requests]:
            self._leaving.remove(server)
            closing = asyncio.get_running_loop().create_task(server.close())
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)


def _connection_to(listed: Listed, connection: Connection) -> Connection:
    """Returns the options for one server; the caller's own credentials come first."""
    tls = connection.tls
    if tls is None and listed.certificate:
        tls = Tls(root_certificates=listed.certificate.encode())
    token = connection.token or listed.token or None
    return replace(connection, target=listed.address, tls=tls, token=token)
