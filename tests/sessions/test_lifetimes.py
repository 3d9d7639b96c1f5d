"""Who may use a session, how many there may be, and when each ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from unittest import mock

import grpc
import pytest
import pytest_asyncio

from codereward.v1 import session_service_pb2 as pb
from codereward.v1 import session_service_pb2_grpc as rpc
from reward_server.app import App, running_app
from reward_server.domain import MEBIBYTE
from reward_server.sessions import session as session_module
from reward_server.sessions.sessions import RETRY_SECONDS
from reward_server.settings import Settings
from tests.conformance.suite.host import processes_marked
from tests.sessions.conftest import BLUE, RED, SMALL, Cgroups, settings
from tests.support.common import PYTHON, on_the_servers_loop
from tests.support.sampling import times
from trainer_client import AsyncRewardClient, CallError, SessionEndedError
from trainer_client.sessions.errors import error_of

pytestmark = on_the_servers_loop

LONG = "603.25"  # a time to sleep that is no part of a container's id on a command line
IMPATIENT = 0.99 * RETRY_SECONDS  # for a client that gives up when a server asks it to wait


@pytest_asyncio.fixture(loop_scope="session")
async def red(app: App) -> AsyncIterator[AsyncRewardClient]:
    """Yields a client of the tenant that may have two sessions."""
    async with AsyncRewardClient(app.address, token=RED, timeout_seconds=IMPATIENT) as made:
        yield made


def metric(app: App, name: str, **labels: str) -> float:
    return app.telemetry.registry.get_sample_value(f"reward_server_{name}", labels) or 0.0


async def until(holds: Callable[[], bool]) -> None:
    while not holds():  # noqa: ASYNC110  # nothing tells of it
        await asyncio.sleep(0.01)


CALLS = {
    "Exec": lambda name: pb.ExecRequest(session_id=name, argv=["true"]),
    "RunCode": lambda name: pb.RunCodeRequest(session_id=name, code="1"),
    "SendInput": lambda name: pb.SendInputRequest(session_id=name, pid=2),
    "SendSignal": lambda name: pb.SendSignalRequest(session_id=name, pid=2, signal=9),
    "WriteFiles": lambda name: pb.WriteFilesRequest(session_id=name),
    "ReadFile": lambda name: pb.ReadFileRequest(session_id=name, path="x"),
    "ListFiles": lambda name: pb.ListFilesRequest(session_id=name),
    "KeepAlive": lambda name: pb.KeepAliveRequest(session_id=name),
    "CloseSession": lambda name: pb.CloseSessionRequest(session_id=name),
}


@pytest.mark.promise("A session of another credential is as unknown as none.", "Sessions")
@pytest.mark.parametrize("method", CALLS)
async def test_a_session_of_another_credential_is_as_unknown_as_none(
    method: str, app: App, client: AsyncRewardClient, red: AsyncRewardClient
) -> None:
    channel = red._connection.open_alone()
    stub = rpc.SessionServiceStub(channel)
    async with client.session(**SMALL) as session:
        told = []
        for name in (session.id, "x" * 24, ""):
            call = getattr(stub, method)(CALLS[method](name), metadata=red._connection.metadata)
            with pytest.raises(grpc.aio.AioRpcError) as raised:
                await (call.read() if method in ("Exec", "RunCode") else call)
            told.append((raised.value.code(), str(error_of(raised.value))))
        assert len(set(told)) == 1
        assert told[0][0] is grpc.StatusCode.NOT_FOUND
        assert (await session.exec(["echo", "untouched"])).success
    await channel.close(None)


async def test_a_stranger_gets_nothing(app: App) -> None:
    async with AsyncRewardClient(app.address, timeout_seconds=IMPATIENT) as stranger:
        with pytest.raises(CallError, match="UNAUTHENTICATED"):
            await stranger.session().__aenter__()


async def test_ids_cannot_be_guessed(client: AsyncRewardClient) -> None:
    async with client.session(**SMALL) as first, client.session(**SMALL) as second:
        assert len(first.id) == len(second.id) == 24
        assert sum(a == b for a, b in zip(first.id, second.id, strict=True)) < 8


async def test_the_quota_of_sessions_is_kept_and_named(
    app: App, red: AsyncRewardClient, client: AsyncRewardClient
) -> None:
    refused = metric(app, "tenant_refusals_total", tenant="red", quota="sessions")
    async with red.session(**SMALL), red.session(**SMALL):
        with pytest.raises(CallError, match="tenant red has no more than sessions of 2") as raised:
            await red.session(**SMALL).__aenter__()
        assert (raised.value.status, raised.value.can_retry) == ("RESOURCE_EXHAUSTED", True)
        async with client.session(**SMALL) as other:  # the quota is that tenant's alone
            assert (await other.exec(["true"])).success
    assert metric(app, "tenant_refusals_total", tenant="red", quota="sessions") > refused


@pytest.mark.promise("Sessions stay within the memory that is set aside for them.", "Sessions")
async def test_memory_admits_sessions_and_waiting_gets_room(app: App) -> None:
    async with (
        AsyncRewardClient(app.address, token=BLUE, timeout_seconds=IMPATIENT) as hasty,
        AsyncRewardClient(app.address, token=BLUE, timeout_seconds=30) as patient,
    ):
        large = {"memory_bytes": 600 * MEBIBYTE}
        async with patient.session(**large):
            assert metric(app, "session_memory_bytes") == 600 * MEBIBYTE
            with pytest.raises(CallError, match="session_memory_bytes, which is 1073741824"):
                await hasty.session(**large).__aenter__()
            waiting = asyncio.create_task(patient.session(**large).__aenter__())
            async with patient.session(**SMALL) as small:
                assert (await small.exec(["true"])).success
        session = await waiting
        assert (await session.exec(["true"])).success
        await session.close()


@pytest.mark.promise(
    "A session ends with its lifetime, even in use, or at its idle limit.", "Sessions"
)
async def test_a_session_ends_with_its_lifetime_even_if_it_is_in_use(
    app: App, client: AsyncRewardClient
) -> None:
    before = metric(app, "sessions_ended_total", reason="expired")
    async with client.session(**SMALL, lifetime_seconds=1.0) as session:
        with pytest.raises(SessionEndedError) as raised:
            await session.exec(["sleep", LONG])
        assert raised.value.reason == "SESSION_EXPIRED"
        with pytest.raises(SessionEndedError, match="ask for a longer one"):
            await session.read_file("x")
    await until(lambda: not processes_marked(LONG))
    assert metric(app, "sessions_ended_total", reason="expired") == before + 1


class SessionClock:
    """What a session knows of its event loop, with a time that a test moves forward."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ahead_seconds = 0.0
        self._timers: dict[asyncio.TimerHandle, tuple[float, Callable[[], None]]] = {}

    def time(self) -> float:
        return self._loop.time() + self._ahead_seconds

    def call_at(self, when: float, call: Callable[[], None]) -> asyncio.TimerHandle:
        timer = self._loop.call_at(when - self._ahead_seconds, call)
        self._timers[timer] = (when, call)
        return timer

    def advance(self, seconds: float) -> None:
        """Moves the time forward, and lets sessions look at it whose time has come."""
        self._ahead_seconds += seconds
        for timer, (when, call) in list(self._timers.items()):
            if when <= self.time() and not timer.cancelled():
                timer.cancel()
                call()


@pytest_asyncio.fixture(loop_scope="session")
async def clock(monkeypatch: pytest.MonkeyPatch) -> SessionClock:
    """Returns the clock of the sessions that the test opens."""
    made = SessionClock()
    monkeypatch.setattr(session_module, "asyncio", mock.Mock(get_running_loop=lambda: made))
    return made


@pytest.mark.promise(
    "A session ends with its lifetime, even in use, or at its idle limit.", "Sessions"
)
async def test_a_session_in_which_nothing_happens_ends_and_use_keeps_it(
    app: App, client: AsyncRewardClient, clock: SessionClock
) -> None:
    async with client.session(**SMALL, idle_seconds=600, lifetime_seconds=9000) as session:
        command = session.start(["sleep", "600"])
        async with command:
            for _ in range(3):  # a command that runs is use
                clock.advance(400)
                assert metric(app, "sessions", state="open") == 1
        await until(lambda: metric(app, "session_commands_running") == 0)
        for _ in range(3):
            clock.advance(400)
            await session.keep_alive()
        clock.advance(601)
        with pytest.raises(SessionEndedError) as raised:
            await session.keep_alive()
        assert raised.value.reason == "SESSION_IDLE"


async def test_a_lifetime_can_be_moved_within_the_servers(
    client: AsyncRewardClient, clock: SessionClock
) -> None:
    async with client.session(**SMALL, lifetime_seconds=600, idle_seconds=3000) as session:
        assert 1150 < await session.keep_alive(1200.0) <= 1200
        clock.advance(700)
        assert (await session.exec(["true"])).success
        with pytest.raises(CallError, match="lifetime_seconds: is 100000"):
            await session.keep_alive(100_000.0)
        await session.keep_alive(300)
        clock.advance(301)
        with pytest.raises(SessionEndedError) as raised:
            await session.keep_alive()
        assert raised.value.reason == "SESSION_EXPIRED"


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"memory_bytes": 1}, "INVALID_ARGUMENT: limits.memory_bytes: is 1; it must be from"),
        ({"memory_bytes": 1 << 40}, "INVALID_ARGUMENT: limits.memory_bytes: is"),
        ({"open_files": 16}, "INVALID_ARGUMENT: limits.open_files: is 16; it must be from 256"),
        ({"processes": -1}, "INVALID_ARGUMENT: limits.processes: is -1"),
        ({"lifetime_seconds": 1e9}, "INVALID_ARGUMENT: lifetime_seconds: is"),
        ({"lifetime_seconds": float("nan")}, "INVALID_ARGUMENT: lifetime_seconds: is nan"),
        ({"idle_seconds": 0.0}, "INVALID_ARGUMENT: idle_seconds: is 0.0"),
        ({"environment": {"1": "x"}}, "INVALID_ARGUMENT: environment: '1' is no name"),
        ({"language": "cobol"}, "FAILED_PRECONDITION"),
    ],
)
async def test_what_cannot_be_opened_is_refused_by_its_field(
    options: dict[str, object], problem: str, client: AsyncRewardClient
) -> None:
    with pytest.raises(CallError) as raised:
        await client.session(**options).__aenter__()  # type: ignore[arg-type]  # wrong on purpose
    assert str(raised.value).startswith(problem)


async def test_many_sessions_are_open_at_once_and_leave_nothing(
    tmp_path: Path, cgroups: Cgroups
) -> None:
    count = times(50, 12)
    changes = {"session_memory_bytes": 4096 * MEBIBYTE, "session_warm": 0, "workers": 1}
    async with running_app(settings(tmp_path, **changes)) as app:
        gate = asyncio.Semaphore(4)  # of starts, which take the processor

        async with AsyncRewardClient(app.address, token=BLUE, timeout_seconds=120) as client:
            opened = [client.session(memory_bytes=64 * MEBIBYTE) for _ in range(count)]

            async def begin(number: int) -> None:
                async with gate:
                    await opened[number].__aenter__()

            await asyncio.gather(*map(begin, range(count)))
            assert metric(app, "sessions", state="open") == count
            assert len(cgroups.left()) >= 2 * count
            told = await asyncio.gather(
                *(session.exec(["echo", str(n)]) for n, session in enumerate(opened))
            )
            assert [result.stdout for result in told] == [b"%d\n" % n for n in range(count)]
            await asyncio.gather(*(session.close() for session in opened))
            assert metric(app, "sessions", state="open") == 0
            assert metric(app, "session_memory_bytes") == 0
    assert cgroups.left() == []


async def test_a_drain_refuses_what_is_new_and_waits_for_commands(
    tmp_path: Path, cgroups: Cgroups
) -> None:
    stack = running_app(settings(tmp_path, drain_seconds=10, session_warm=1))
    app = await stack.__aenter__()
    client = AsyncRewardClient(app.address, token=BLUE)
    async with client, client.session(**SMALL) as session:
        running = asyncio.create_task(session.exec(["bash", "-c", "sleep 3; echo done"]))
        await until(lambda: metric(app, "session_commands_running") == 1)
        leaving = asyncio.create_task(stack.__aexit__(None, None, None))
        with pytest.raises(CallError, match="shutting down") as raised:  # noqa: PT012
            while True:  # until the drain has begun
                await session.exec(["true"])
        assert (raised.value.status, raised.value.blame) == ("UNAVAILABLE", "server")
        assert (await running).stdout == b"done\n"
        await leaving
    assert cgroups.left() == []


async def test_a_server_without_sessions_says_how_to_get_them() -> None:
    async with (
        running_app(Settings(port=0, workers=1, languages=PYTHON)) as app,
        AsyncRewardClient(app.address, timeout_seconds=1) as client,
    ):
        assert not (await client.server_info()).HasField("sessions")
        with pytest.raises(CallError, match=r"FAILED_PRECONDITION.*--set session_memory_bytes="):
            await client.session().__aenter__()


async def test_a_server_tells_the_bounds_of_sessions(client: AsyncRewardClient) -> None:
    bounds = (await client.server_info()).sessions
    assert (bounds.total_memory_bytes, bounds.sessions, bounds.commands) == (1 << 30, 64, 16)
    assert bounds.default_lifetime_seconds <= bounds.maximum_lifetime_seconds
    assert bounds.minimum_memory_bytes <= bounds.default_memory_bytes
