"""What callers without a credential can take from those who hold one: next to nothing."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from unittest import mock

import grpc
import h2.config
import h2.connection
import h2.errors
import pytest
from google.protobuf.message import Message
from grpc_health.v1 import health_pb2, health_pb2_grpc

from codereward.v1 import reward_service_pb2 as pb
from reward_server.rpc import health as health_service
from reward_server.rpc import strangers
from reward_server.rpc.server import streams_for
from reward_server.rpc.strangers import Strangers, _Rates
from reward_server.telemetry import Telemetry
from tests.rpc.conftest import Serve, Served, function_request, refused
from tests.rpc.fakes import FakeExecutor

pytestmark = pytest.mark.promise(
    "Strangers take few streams, connections and calls, and lock nobody out.", "Service"
)

TOKEN = (("authorization", "Bearer good"),)
HEADERS = [
    (":method", "POST"),
    (":scheme", "http"),
    (":path", "/codereward.v1.RewardService/Score"),
    (":authority", "x"),
    ("te", "trailers"),
    ("content-type", "application/grpc"),
]


@pytest.fixture
async def served(serve: Serve, tmp_path: Path) -> Served:
    file = tmp_path / "tokens"
    file.write_text("good\nbetter\n")
    return await serve(token_file=file)


async def is_served(served: Served, number: int = 0) -> bool:
    response = await served.stub.Score(function_request(number), metadata=TOKEN, timeout=30)
    return response.verdict == pb.VERDICT_PASSED


def http2() -> h2.connection.H2Connection:
    configuration = h2.config.H2Configuration(client_side=True, header_encoding=None)
    connection = h2.connection.H2Connection(configuration)
    connection.initiate_connection()
    return connection


async def acknowledged(
    connection: h2.connection.H2Connection, reader: asyncio.StreamReader
) -> None:
    """Reads until a connection is ended, so that the server is told that it is listened to."""
    with suppress(ConnectionError):
        while data := await reader.read(1 << 16):
            connection.receive_data(data)


async def until_ended(reader: asyncio.StreamReader) -> None:
    while await reader.read(1 << 16):
        pass


# --------------------------------------------------------------------------------- connections


@pytest.fixture
async def crowd(served: Served) -> AsyncIterator[list[asyncio.StreamReader]]:
    """Three times as many connections as strangers may have."""
    ends = []
    for _ in range(3 * strangers.MOST_CONNECTIONS):
        try:
            ends.append(await asyncio.open_connection("127.0.0.1", served.app.port))
        except ConnectionError:
            continue
    yield [reader for reader, _ in ends]
    for _, writer in ends:
        writer.transport.abort()


async def test_connections_without_a_credential_are_few(
    served: Served, crowd: list[asyncio.StreamReader]
) -> None:
    ended = [asyncio.create_task(until_ended(reader)) for reader in crowd]
    most = len(crowd) - strangers.MOST_CONNECTIONS
    for ends in asyncio.as_completed(ended):
        await ends
        if sum(task.done() for task in ended) >= most:
            break
    assert await is_served(served)
    for task in ended:
        task.cancel()
    await asyncio.gather(*ended, return_exceptions=True)


async def test_a_connection_on_which_a_credential_was_shown_is_never_ended(
    served: Served,
) -> None:
    assert await is_served(served)
    ends = [
        await asyncio.open_connection("127.0.0.1", served.app.port)
        for _ in range(2 * strangers.MOST_CONNECTIONS)
    ]
    state = served.channel.get_state()
    await until_ended(ends[0][0])
    assert await is_served(served, 7)
    assert served.channel.get_state() == state
    for _, writer in ends:
        writer.transport.abort()


@pytest.mark.parametrize(
    ("old", "young", "room", "ended"),
    [
        (0, 64, 1000, 0),
        (0, 300, 1000, 0),  # all may be about to show a credential
        (300, 0, 1000, 300 - 64),
        (100, 300, 1000, 100),
        (10, 500, 600, 210),  # no room: the oldest go
        (0, 900, 416, 900 - 208),
        (0, 900, 16, 900 - 64),
    ],
)
def test_newcomers_have_time_to_show_a_credential_while_there_is_room(
    old: int, young: int, room: int, ended: int
) -> None:
    guard = Strangers(Telemetry())
    peers = [str(number) for number in range(old + young)]
    seen = [0.0] * old + [99.9] * young
    guard._first_seen = dict(zip(peers, seen, strict=True))
    assert guard._surplus(peers, 100.0, room) == peers[:ended]


@pytest.mark.parametrize("call", ["listdir", "dup"])
@pytest.mark.parametrize("error", [errno.EMFILE, errno.ENFILE])
async def test_a_look_for_which_no_descriptor_is_left_forgets_nobody_and_is_not_the_last(
    monkeypatch: pytest.MonkeyPatch, call: str, error: int
) -> None:
    before, guard, looked = getattr(os, call), Strangers(Telemetry()), asyncio.Event()
    look, refusals = guard._look, [error]

    def refused_once(what: object) -> object:
        if refusals:
            raise OSError(refusals.pop(), "no descriptor is left")
        return before(what)

    def noted(ports: frozenset[int], room: int) -> None:
        look(ports, room)
        looked.set()

    monkeypatch.setattr(strangers, "_LOOK_SECONDS", 0.01)
    monkeypatch.setattr(guard, "_look", noted)
    monkeypatch.setattr(os, call, refused_once)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)), server.accept()[0] as own:
            peer = f"ipv4:127.0.0.1:{own.getpeername()[1]}"
            async with guard.watched({port}, 100), asyncio.timeout(30):
                guard.showed_credential(peer)
                await looked.wait()
            assert guard._holders == {peer}
            assert not refusals


# ----------------------------------------------------------------------------------------- calls


@pytest.fixture
def slow_refill(monkeypatch: pytest.MonkeyPatch) -> None:
    """Strangers use up their calls even where a busy machine sends few a second."""
    monkeypatch.setattr(strangers, "CALLS_PER_SECOND", 0.1)


@pytest.mark.usefixtures("slow_refill")
async def test_who_goes_on_calling_without_a_credential_loses_the_connection(
    served: Served,
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", served.app.port)
    connection = http2()
    ended = asyncio.create_task(acknowledged(connection, reader))
    while not ended.done():
        for number in range(8):
            stream = connection.get_next_available_stream_id()
            connection.send_headers(stream, HEADERS)
            if number % 3:
                connection.reset_stream(stream, h2.errors.ErrorCodes.CANCEL)
        writer.write(connection.data_to_send())
        await asyncio.wait([ended], timeout=0.02)
    assert await is_served(served)
    writer.transport.abort()


async def test_a_token_holder_whose_token_is_wrong_now_and_then_is_not_cut_off(
    served: Served,
) -> None:
    assert await is_served(served)
    calls = [served.stub.Score(function_request(n)) for n in range(strangers.CALLS_AT_ONCE + 20)]
    codes = {(await refused(call)).code for call in calls}
    assert codes == {grpc.StatusCode.UNAUTHENTICATED}
    assert await is_served(served, 1)


def test_calls_of_one_host_do_not_count_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strangers, "time", mock.Mock(monotonic=lambda: 100.0))
    rates = _Rates()
    allowed = sum(rates.allows("ipv4:10.0.0.1") for _ in range(10 * strangers.CALLS_AT_ONCE))
    assert allowed == strangers.CALLS_AT_ONCE
    assert rates.allows("ipv4:10.0.0.2")


def test_connections_are_remembered_only_while_they_are_looked_at() -> None:
    guard = Strangers(Telemetry())
    for number in range(100):
        guard.showed_credential(f"ipv4:10.0.0.1:{number}")
    assert not guard._holders


def test_hosts_that_are_remembered_are_bounded() -> None:
    rates = _Rates()
    for number in range(3 * strangers._MOST_ADDRESSES):
        rates.allows(f"ipv6:[::{number:x}]")
    assert len(rates._buckets) <= strangers._MOST_ADDRESSES


def test_a_descriptor_that_is_anothers_by_now_is_left_alone() -> None:
    ours, theirs = socket.socketpair()
    assert not strangers._end(ours.fileno(), "ipv4:127.0.0.1:1", 1)
    ours.send(b"x")
    assert theirs.recv(1) == b"x"
    read, write = os.pipe()
    assert not strangers._end(read, "ipv4:127.0.0.1:1", 1)
    for end in (read, write):
        os.close(end)
    ours.close()
    theirs.close()


# ------------------------------------------------------------------------- many calls of a holder

MANY = 600


def executed(_: int) -> pb.ExecuteRequest:
    return pb.ExecuteRequest(source="")


def alike(_: int) -> pb.ScoreRequest:
    return function_request()


@pytest.mark.parametrize(
    ("method", "request_of"),
    [("Score", function_request), ("Score", alike), ("Execute", executed), ("GetServerInfo", None)],
    ids=["different", "alike", "executed", "information"],
)
async def test_a_holder_with_many_calls_on_one_connection_gets_all_of_them_answered(
    served: Served, method: str, request_of: Callable[[int], Message] | None
) -> None:
    """Those that finish together are freed together, after others were opened in their place."""
    call = getattr(served.stub, method)
    requests = [request_of(n) if request_of else pb.GetServerInfoRequest() for n in range(MANY)]
    await asyncio.gather(*(call(request, metadata=TOKEN, timeout=120) for request in requests))


async def test_calls_of_a_holder_that_wait_for_their_turn_outlive_others_of_the_connection(
    serve: Serve, tmp_path: Path
) -> None:
    file, executor = tmp_path / "tokens", FakeExecutor(held=True)
    file.write_text("good\n")
    served = await serve(executor, token_file=file)
    calls = [
        served.stub.Score(function_request(number), metadata=TOKEN, timeout=120)
        for number in range(MANY // 4)
    ]
    await served.until_admitted(streams_for(executor.slots))
    for call in calls[::8]:
        call.cancel()
    executor.release()
    await asyncio.gather(*(call for call in calls if not call.cancelled()))


@pytest.mark.parametrize(("slots", "streams"), [(1, 32), (4, 32), (16, 32), (17, 34), (64, 128)])
def test_one_connection_keeps_all_slots_at_work(slots: int, streams: int) -> None:
    assert streams_for(slots) == streams


# ---------------------------------------------------------------------------------------- health


async def test_health_streams_without_a_credential_are_few_and_shut_nobody_out(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health_service, "_REFUSAL_SECONDS", (0.0, 0.1))
    async with grpc.aio.insecure_channel(
        served.app.address, options=[("grpc.use_local_subchannel_pool", 1)]
    ) as channel:
        health = health_pb2_grpc.HealthStub(channel)
        watches = [health.Watch(health_pb2.HealthCheckRequest()) for _ in range(60)]
        answers = await asyncio.gather(*(watch.read() for watch in watches), return_exceptions=True)
        told = [answer for answer in answers if isinstance(answer, health_pb2.HealthCheckResponse)]
        errors = [answer for answer in answers if isinstance(answer, grpc.aio.AioRpcError)]
        assert len(told) <= strangers.MOST_STREAMS
        assert {error.code() for error in errors} <= {
            grpc.StatusCode.RESOURCE_EXHAUSTED,
            grpc.StatusCode.UNAVAILABLE,
        }
        assert await is_served(served)
        own = health_pb2_grpc.HealthStub(served.channel)
        mine = own.Watch(health_pb2.HealthCheckRequest(), metadata=TOKEN)
        assert (await mine.read()).status == health_pb2.HealthCheckResponse.SERVING
        for watch in [*watches, mine]:
            watch.cancel()


@pytest.mark.usefixtures("slow_refill")
@pytest.mark.parametrize("places", [0, strangers.MOST_STREAMS], ids=["refused", "told"])
async def test_who_resets_health_streams_loses_the_connection(
    served: Served, monkeypatch: pytest.MonkeyPatch, places: int
) -> None:
    monkeypatch.setattr(strangers, "MOST_STREAMS", places)
    reader, writer = await asyncio.open_connection("127.0.0.1", served.app.port)
    connection = http2()
    watch = [(":path", "/grpc.health.v1.Health/Watch") if h[0] == ":path" else h for h in HEADERS]
    ended = asyncio.create_task(acknowledged(connection, reader))
    while not ended.done():
        stream = connection.get_next_available_stream_id()
        connection.send_headers(stream, watch)
        writer.write(connection.data_to_send())
        await asyncio.wait([ended], timeout=0.01)
        connection.reset_stream(stream, h2.errors.ErrorCodes.CANCEL)
    assert await is_served(served)
    writer.transport.abort()


async def test_a_place_of_a_health_stream_is_free_again_when_it_ends() -> None:
    guard = Strangers(Telemetry())
    for _ in range(3):
        places = [guard.stream() for _ in range(strangers.MOST_STREAMS)]
        for place in places:
            place.__enter__()
        with pytest.raises(Exception, match="no more may be"), guard.stream():
            pytest.fail("was let in")
        for place in places:
            place.__exit__(None, None, None)


async def test_the_body_of_a_strangers_health_check_is_not_read(served: Served) -> None:
    health = health_pb2_grpc.HealthStub(served.channel)
    too_large_for_the_transport = health_pb2.HealthCheckRequest(service="x" * (80 << 20))
    answer = await health.Check(too_large_for_the_transport)
    assert answer.status == health_pb2.HealthCheckResponse.SERVING
    assert await is_served(served)


async def test_owners_of_a_credential_are_told_which_services_there_are(served: Served) -> None:
    health = health_pb2_grpc.HealthStub(served.channel)
    error = await refused(
        health.Check(health_pb2.HealthCheckRequest(service="other"), metadata=TOKEN)
    )
    assert error.code is grpc.StatusCode.NOT_FOUND
