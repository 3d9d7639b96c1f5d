"""Ways in which one client once stopped or starved the server; each goes on until it is ended.

Run as a program: `python -m tests.scale.edge_attacks NAME ADDRESS`. It writes a line as it begins.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from itertools import count

import grpc
import h2.config
import h2.connection
import h2.errors
import h2.exceptions
from grpc_health.v1 import health_pb2, health_pb2_grpc

from codereward.v1 import reward_service_pb2 as pb
from codereward.v1 import reward_service_pb2_grpc as pb_grpc

OTHER = (("authorization", "Bearer other"),)
_OWN_CONNECTION = [
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
]
_RESETS_AT_ONCE = 100
_HEADERS = [
    (":method", "POST"),
    (":scheme", "http"),
    (":path", "/codereward.v1.RewardService/Score"),
    (":authority", "x"),
    ("te", "trailers"),
    ("content-type", "application/grpc"),
]


def request(number: int) -> pb.ScoreRequest:
    """A request that no other number's is identical to."""
    tests = pb.FunctionTests(entry_point="f", asserts=[f"assert f({number}) == {number}"])
    return pb.ScoreRequest(completion="def f(x): return x", function=tests)


async def connections(address: str) -> None:
    """Opens connections until there are no descriptors, and again when they are ended."""
    host, _, port = address.rpartition(":")

    async def hold() -> None:
        while True:
            try:
                reader, writer = await asyncio.open_connection(host, int(port))
                while await reader.read(1 << 16):
                    pass
                writer.close()
            except OSError:
                await asyncio.sleep(0.05)

    await asyncio.gather(*(hold() for _ in range(900)))


async def watches(address: str) -> None:
    """Holds 1,100 health streams, or asks for them again and again."""

    async def watch(stub: health_pb2_grpc.HealthStub) -> None:
        while True:
            try:
                async for _ in stub.Watch(health_pb2.HealthCheckRequest()):
                    pass
            except grpc.aio.AioRpcError:
                await asyncio.sleep(0.5)

    channels = [grpc.aio.insecure_channel(address, options=_OWN_CONNECTION) for _ in range(11)]
    stubs = [health_pb2_grpc.HealthStub(channel) for channel in channels]
    await asyncio.gather(*(watch(stubs[number % 11]) for number in range(1100)))


async def bodies(address: str) -> None:
    """Sends health checks of 60 MiB."""
    large = health_pb2.HealthCheckRequest(service="x" * (60 << 20))

    async def send() -> None:
        async with grpc.aio.insecure_channel(address, options=_OWN_CONNECTION) as channel:
            stub = health_pb2_grpc.HealthStub(channel)
            while True:
                try:
                    await stub.Check(large)
                except grpc.aio.AioRpcError:
                    await asyncio.sleep(0.1)

    await asyncio.gather(*(send() for _ in range(4)))


async def unread_batches(address: str) -> None:
    """Asks for eight batches of a thousand and reads nothing of the answers."""

    async def ask(number: int) -> None:
        requests = [request(10_000 * number + n) for n in range(1000)]
        async with grpc.aio.insecure_channel(address, options=_OWN_CONNECTION) as channel:
            stub: pb_grpc.RewardServiceAsyncStub = pb_grpc.RewardServiceStub(channel)
            while True:
                batch = pb.ScoreBatchRequest(requests=requests)
                try:
                    await stub.ScoreBatch(batch, metadata=OTHER).read()
                except grpc.aio.AioRpcError:
                    await asyncio.sleep(0.5)
                else:
                    await asyncio.Event().wait()

    await asyncio.gather(*map(ask, range(8)))


async def rapid_reset(address: str) -> None:
    """Opens streams and resets them at once, on a connection after the other."""
    host, _, port = address.rpartition(":")
    while True:
        try:
            reader, writer = await asyncio.open_connection(host, int(port))
            await _reset_streams(reader, writer)
        except (OSError, h2.exceptions.ProtocolError):
            await asyncio.sleep(0.001)


async def _reset_streams(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    connection = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding=None))
    connection.initiate_connection()
    reading = asyncio.create_task(_acknowledge(connection, reader))
    try:
        while not reading.done():
            for _ in range(_RESETS_AT_ONCE):
                stream = connection.get_next_available_stream_id()
                connection.send_headers(stream, _HEADERS)
                connection.reset_stream(stream, h2.errors.ErrorCodes.CANCEL)
            writer.write(connection.data_to_send())
            await writer.drain()
            await asyncio.sleep(0)
    finally:
        reading.cancel()
        writer.transport.abort()
        await asyncio.gather(reading, return_exceptions=True)


async def _acknowledge(
    connection: h2.connection.H2Connection, reader: asyncio.StreamReader
) -> None:
    """Reads what the server says, so that it is told that its settings and pings arrived."""
    while data := await reader.read(1 << 16):
        connection.receive_data(data)


async def calls(address: str) -> None:
    """Keeps 512 calls of another token open."""
    numbers = count()

    async def ask(stub: pb_grpc.RewardServiceAsyncStub) -> None:
        while True:
            try:
                await stub.Score(request(next(numbers)), metadata=OTHER)
            except grpc.aio.AioRpcError:
                await asyncio.sleep(0.5)

    channels = [grpc.aio.insecure_channel(address, options=_OWN_CONNECTION) for _ in range(4)]
    stubs: list[pb_grpc.RewardServiceAsyncStub] = [pb_grpc.RewardServiceStub(c) for c in channels]
    await asyncio.gather(*(ask(stubs[number % 4]) for number in range(512)))


ATTACKS: dict[str, Callable[[str], Awaitable[None]]] = {
    attack.__name__: attack
    for attack in (connections, watches, bodies, unread_batches, rapid_reset, calls)
}

if __name__ == "__main__":
    print(flush=True)  # noqa: T201  # a line
    asyncio.run(ATTACKS[sys.argv[1]](sys.argv[2]))  # type: ignore[arg-type]  # coroutines
