"""The processes of a server, over which a client spreads its requests.

A server with several processes has one address, and each connection to it stays with one process.
The client asks the server for its processes and connects to each of them at its own port. If that
port cannot be reached, the client opens connections to the shared address until it has one to each
process. A request goes to the process with the fewest in progress. A process that does not answer
is left out until it is found again, and its requests are sent to the others.

This is only done for one address of one host. If there are several addresses, they belong to
several servers, and gRPC spreads the calls over them. It is also not done behind a proxy that
spreads the calls of one connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import grpc

from codereward.v1 import reward_service_pb2 as pb
from codereward.v1 import reward_service_pb2_grpc as rpc
from trainer_client.transport.channel import Connection, addresses, host_of
from trainer_client.transport.contract import ServerContract
from trainer_client.transport.retry import Failure
from trainer_client.transport.stored_tasks import StoredTasks

_ASK_SECONDS = 5.0
_PAUSE_SECONDS = 1.0
_REST_SECONDS = 1.0
# Connections to the shared address, for each process; a connection meets any process.
_TRIES = 8
# A proxy that picks one of two processes at random sends all these requests to the same one with a
# chance of 1 in 256.
_PROXY_ASKS = 8


@dataclass(slots=True, eq=False)
class Process:
    """A connection to a process of a server.

    Args:
        connection: its options.
        channel: the connection.
        stub: its calls.
        tasks: the tasks that the process is believed to store.
        contract: the contract that the process knows.
        requests: how many are in progress.
    """

    connection: Connection
    channel: grpc.aio.Channel
    stub: rpc.RewardServiceAsyncStub
    tasks: StoredTasks
    contract: ServerContract
    requests: int = 0

    @classmethod
    def open(cls, connection: Connection, address: str | None = None) -> Process:
        """Opens a connection; with an address, it is one that no other channel shares."""
        channel = connection.open(address)
        stub: rpc.RewardServiceAsyncStub = rpc.RewardServiceStub(channel)
        tasks = StoredTasks(stub, connection.metadata)
        target = address or ",".join(addresses(connection.target))
        return cls(connection, channel, stub, tasks, _contract_of(stub, connection, target))

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """The metadata of every call."""
        return self.connection.metadata


@dataclass(slots=True, eq=False)
class Processes:
    """The processes behind a client's target.

    Args:
        connection: the options of all connections.
        clock: returns the time in seconds.
    """

    connection: Connection
    clock: Callable[[], float] = time.monotonic
    shared: Process = field(init=False)
    _found: dict[int, Process] = field(init=False, default_factory=dict)
    _lost: list[Process] = field(init=False, default_factory=list)
    _closing: set[asyncio.Task[None]] = field(init=False, default_factory=set)
    _instance: str = field(init=False, default="")
    _is_complete: bool = field(init=False, default=False)
    _next_look: float = field(init=False, default=0.0)
    _look: asyncio.Task[None] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.shared = Process.open(self.connection)

    async def ready(self) -> Failure | None:
        """Returns None at once, since the target has the address of the server."""
        return None

    @property
    def requests(self) -> int:
        """How many requests are in progress."""
        every = (self.shared, *self._found.values(), *self._lost)
        return sum(process.requests for process in every)

    @contextmanager
    def sending(self, requests: int) -> Iterator[Process]:
        """Picks the process with the fewest requests in progress, for the length of the block.

        Args:
            requests: number of requests that will be sent to it.
        """
        self._look_around()
        process = min(self._found.values(), key=lambda one: one.requests, default=self.shared)
        process.requests += requests
        try:
            yield process
        finally:
            process.requests -= requests
            self._close_idle()

    def lose(self, process: Process) -> None:
        """Leaves out a process that does not answer, and looks for it later."""
        for number, one in list(self._found.items()):
            if one is process:
                self._lost.append(self._found.pop(number))
        self._is_complete = False

    async def rest(self) -> None:
        """Ends all work besides calls, so that a process may be forked after a call.

        A forked child that frees an RPC in progress would crash, see `forks`.
        """
        look = self._look
        if look is not None and not look.done():
            await asyncio.wait({look}, timeout=_REST_SECONDS)
            look.cancel()
            await asyncio.wait({look})
        await asyncio.gather(*self._closing)

    async def close(self) -> None:
        """Closes all connections."""
        if self._look is not None:
            self._look.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._look
        for process in (self.shared, *self._found.values(), *self._lost):
            await process.channel.close(None)
        await asyncio.gather(*self._closing)

    def _close_idle(self) -> None:
        """Closes the connections to lost processes that no request uses."""
        for process in [one for one in self._lost if not one.requests]:
            self._lost.remove(process)
            closing = asyncio.get_running_loop().create_task(process.channel.close(None))
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)

    def _look_around(self) -> None:
        is_looking = self._look is not None and not self._look.done()
        if not self._is_complete and not is_looking and self.clock() >= self._next_look:
            self._look = asyncio.get_running_loop().create_task(self._find())

    async def _find(self) -> None:
        try:
            self._is_complete = await self._find_all()
        except (grpc.aio.AioRpcError, OSError):
            pass  # the next look may find them
        finally:
            self._next_look = self.clock() + _PAUSE_SECONDS

    async def _find_all(self) -> bool:
        """Connects to the processes without a connection; returns True if none is missing.

        Raises:
            AioRpcError: the server does not answer.
            OSError: its name cannot be resolved.
        """
        host = await _one_host(self.connection)
        if host is None:
            return True
        info = await self.shared.contract.described()
        if info.instance != self._instance:
            self._instance = info.instance
            self._lost += self._found.values()
            self._found = {}
        if len(info.processes) < 2 or await self._is_balanced(info.process):
            return True
        ports = {one.number: one.port for one in info.processes}
        await asyncio.gather(
            *(
                self._meet(f"{host}:{port}", number)
                for number, port in ports.items()
                if number not in self._found
            )
        )
        address = addresses(self.connection.target)[0]
        for _ in range(_TRIES * len(ports)):
            if len(self._found) == len(ports):
                break
            await self._meet(address)
        return len(self._found) == len(ports)

    async def _is_balanced(self, first: int) -> bool:
        """Returns True if one connection reaches several processes, as behind a proxy.

        Args:
            first: the number of the process that it met.

        Raises:
            AioRpcError: the server does not answer.
        """
        # All at once: a proxy that takes its servers in turns could give each of several questions
        # that are apart to the same one, because other requests lie between them.
        asking = (self.shared.contract.described() for _ in range(_PROXY_ASKS))
        answers = await asyncio.gather(*asking, return_exceptions=True)
        numbers = set[int]()
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
            numbers.add(answer.process)
        return numbers != {first}

    async def _meet(self, address: str, expected: int | None = None) -> None:
        """Connects, and keeps the connection if there is no other to this process of the server.

        Args:
            address: where to connect.
            expected: number of the process that has this address for itself.
        """
        process = Process.open(self.connection, address)
        with contextlib.suppress(grpc.aio.AioRpcError):  # another look may meet it
            info = await process.contract.described()
            is_ours = info.instance == self._instance and expected in (None, info.process)
            if is_ours and self._found.setdefault(info.process, process) is process:
                return
        await process.channel.close(None)


def _contract_of(
    stub: rpc.RewardServiceAsyncStub, connection: Connection, target: str
) -> ServerContract:
    async def describe() -> pb.GetServerInfoResponse:
        return await stub.GetServerInfo(
            pb.GetServerInfoRequest(), timeout=_ASK_SECONDS, metadata=connection.metadata
        )

    return ServerContract(describe, target)


async def _one_host(connection: Connection) -> str | None:
    """Returns the host of a target that is one address of one host, else None."""
    found: Sequence[str] = addresses(connection.target)
    host = host_of(found[0]) if len(found) == 1 else None
    if host is None:
        return None
    loop = asyncio.get_running_loop()
    resolved = await loop.getaddrinfo(host.strip("[]"), None)
    by_family: dict[int, set[object]] = {}
    for family, _, _, _, address in resolved:
        by_family.setdefault(family, set()).add(address[0])
    return host if all(len(one) == 1 for one in by_family.values()) else None
