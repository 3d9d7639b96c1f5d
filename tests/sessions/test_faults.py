"""What is left of sessions when the server, a runner or a container dies; and lies of a session."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import uvloop

from reward_server.app import App
from reward_server.domain import Limits
from reward_server.errors import SandboxError, SessionEndedError
from reward_server.runner.interpreter import wire as interpreter_wire
from reward_server.runner.interpreter.wire import Report as Saying
from reward_server.runner.sessions import wire
from reward_server.runner.sessions.wire import Order, Report
from reward_server.sandbox.local.cgroup import CgroupParent
from reward_server.sandbox.local.container import LocalContainer, LocalOptions
from reward_server.sandbox.local.janitor import OUR_PREFIX
from reward_server.sandbox.local.sessions import LocalSessions
from reward_server.sandbox.owner import owner_id
from reward_server.sandbox.sessions.sandbox import SessionSandbox
from reward_server.sandbox.sessions.values import (
    Code,
    CodeEnded,
    CodeEvent,
    CodeOutcome,
    Command,
    Counters,
    Ended,
    Event,
    Output,
    Place,
    SessionLimits,
)
from tests.conformance.suite.host import processes_marked
from tests.sessions.conftest import SMALL
from tests.support.common import on_the_servers_loop
from trainer_client import AsyncRewardClient, CallError, RewardClient
from trainer_client import SessionEndedError as Gone
from trainer_client.local_server import LocalServer

MARK = f"604.{os.getpid():07}"


def _wait(holds: Callable[[], bool]) -> None:
    while not holds():
        time.sleep(0.01)


def _cgroups_of(owner: str) -> list[Path]:
    places = set(CgroupParent.look(None).directories.values())
    return [path for place in places for path in place.glob(f"{OUR_PREFIX}{owner}-*")]


@pytest.mark.promise("After `kill -9` of the server, none of its sandboxes is left.", "Confinement")
def test_nothing_of_a_session_outlives_a_server_that_is_killed(tmp_path: Path) -> None:
    arguments = ["--workers", "1", "--set", "languages=python"]
    arguments += ["--set", f"session_memory_bytes={1 << 30}"]
    with LocalServer(tmp_path / "log", arguments) as server:
        owner = owner_id(server.pid)
        with RewardClient(server.target, outage_seconds=1) as client:
            session = client.session(**SMALL).__enter__()
            begin = f"(setsid sleep {MARK} >/dev/null 2>&1 &); echo on"
            assert session.exec(["bash", "-c", begin]).success
            _wait(lambda: len(processes_marked(MARK)) == 1)
            assert _cgroups_of(owner)
            server.kill()
            _wait(lambda: not processes_marked(MARK) and not _cgroups_of(owner))
            with pytest.raises(CallError) as raised:
                session.exec(["true"])
            assert (raised.value.status, raised.value.blame) == ("UNAVAILABLE", "server")
            server.start()
            with pytest.raises(Gone) as gone:
                _until_answered(lambda: session.exec(["true"]))
            assert gone.value.reason == "SESSION_NOT_FOUND"
            session.close()
            with client.session(**SMALL) as another:
                assert another.exec(["true"]).success


def _until_answered(call: Callable[[], object]) -> None:
    while True:
        try:
            call()
        except CallError as error:
            if error.status != "UNAVAILABLE":
                raise
        time.sleep(0.05)


@pytest.mark.promise("A lost session is `NOT_FOUND` with a reason, never an exit code.", "Sessions")
@on_the_servers_loop
@pytest.mark.parametrize("victim", ["runner", "container"])
async def test_a_session_whose_container_dies_is_lost_and_others_live_on(
    victim: str, app: App, client: AsyncRewardClient
) -> None:
    async with client.session(**SMALL) as other, client.session(**SMALL) as session:
        async with session.start(["sleep", MARK]) as command:
            # The kernel ends the start of a command just before its command line can be read.
            await asyncio.to_thread(_wait, lambda: len(processes_marked(MARK)) == 1)
            [inside] = processes_marked(MARK)
            first = _parent_of(inside)  # of the session, which is a child of the runner
            os.kill(first if victim == "container" else _parent_of(first), signal.SIGKILL)
            with pytest.raises(Gone, match="its processes ended") as raised:
                await command.wait()
        assert (raised.value.reason, raised.value.blame) == ("SESSION_LOST", "session")
        with pytest.raises(Gone) as again:
            await session.keep_alive()
        assert again.value.reason == "SESSION_LOST"
        await asyncio.to_thread(_wait, lambda: not processes_marked(MARK))
        assert (await other.exec(["true"])).success


def _parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_a_sandbox_that_dies_before_its_session_is_a_failure_of_ours_in_uvloop() -> None:
    """The loop of a server says so by another exception than the loop of these tests."""

    async def work() -> None:
        start = LocalSessions(LocalOptions(uid=1_990_500_000), CgroupParent.look(None))
        sandbox = await start(0)
        container = sandbox._container
        assert isinstance(container, LocalContainer)
        container._process.kill()
        await container._process.wait()
        assert container._process.stdin is not None
        container._process.stdin.close()  # as the loop does sooner or later
        await container._process.stdin.wait_closed()
        with pytest.raises(SandboxError, match="the session did not open"):
            await sandbox.open(Place(limits=SessionLimits()))
        await sandbox.close()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(work())


@on_the_servers_loop
async def test_a_sandbox_that_dies_while_it_is_warm_is_given_to_nobody(
    client: AsyncRewardClient,
) -> None:
    warm = [path for path in _cgroups_of(owner_id()) if "session" in path.name]
    for pid in [int(pid) for path in warm for pid in (path / "cgroup.procs").read_text().split()]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    async with client.session(**SMALL) as session:
        assert (await session.exec(["true"])).success


@on_the_servers_loop
async def test_a_caller_that_vanishes_ends_its_command_and_keeps_its_session(
    app: App, client: AsyncRewardClient
) -> None:
    async with client.session(**SMALL) as session:
        channel, session._channel = session._channel, client._connection.open_alone()
        assert channel is not None
        session._channel, kept = channel, session._channel
        command = session.start(["sleep", MARK])
        await command.__aenter__()
        session._channel = kept
        await channel.close(None)
        while processes_marked(MARK):  # noqa: ASYNC110  # nothing tells of it
            await asyncio.sleep(0.01)
        assert (await session.exec(["true"])).success


# ------------------------------------------------------------------------- a session that lies


class Liar:
    """A container whose first process is a test."""

    def __init__(self) -> None:
        self.output = asyncio.StreamReader()
        self.heard: list[tuple[int, int, bytes]] = []
        self.answer: Callable[[int, int, bytes], None] = lambda *_: None
        self.is_destroyed = False
        self.said = "it said this"

    def tell(self, kind: int, number: int, payload: bytes = b"") -> None:
        self.output.feed_data(wire.message(kind, number, payload))

    async def send(self, data: bytes) -> None:
        kind, number, _ = wire.HEAD.unpack_from(data)
        self.heard.append((kind, number, data[wire.HEAD.size :]))
        self.answer(kind, number, data[wire.HEAD.size :])

    async def set_limits(self, limits: Limits, runner_bytes: int) -> None:
        return

    def counters(self, told: Counters) -> Counters:
        return told

    async def destroy(self) -> str:
        self.is_destroyed = True
        return self.said


async def lying() -> tuple[Liar, SessionSandbox]:
    liar = Liar()
    liar.tell(Report.READY, 0)
    sandbox = await SessionSandbox.start(liar)
    liar.tell(Report.OPENED, 0)
    await sandbox.open(Place(limits=SessionLimits()))
    return liar, sandbox


async def events_of(sandbox: SessionSandbox, **changes: object) -> AsyncIterator[Event]:
    options = {"argv": ("x",), "environment": {}, "time_limit_seconds": 60.0, "output_bytes": 100}
    command = await sandbox.run(Command(**{**options, **changes}))  # type: ignore[arg-type]
    return command.events()


COUNTERS = {"oom_kills": 0, "process_limit_hits": 0}
ENDED = {
    "status": 0,
    "problem": "",
    "is_missing": False,
    "stdout_bytes": 0,
    "stderr_bytes": 0,
    **COUNTERS,
}
LIES = {
    "a report of an unknown kind": (99, 1, b""),
    "a report about nothing": (Report.STDOUT, 77, b"x"),
    "an answer to nothing": (Report.DONE, 77, b""),
    "output beyond the window": (Report.STDOUT, 1, bytes(wire.WINDOW_BYTES + 1)),
    "empty output": (Report.STDOUT, 1, b""),
    "an end without a status": (Report.ENDED, 1, wire.as_json(**{**ENDED, "status": "0"})),
    "an end with an impossible status": (Report.ENDED, 1, wire.as_json(**{**ENDED, "status": -1})),
    "sizes below zero": (Report.ENDED, 1, wire.as_json(**{**ENDED, "stdout_bytes": -1})),
    "a counter below zero": (Report.ENDED, 1, wire.as_json(**{**ENDED, "oom_kills": -1})),
    "an end without counters": (Report.ENDED, 1, wire.as_json(status=0)),
    "no JSON": (Report.ENDED, 1, b"{"),
    "JSON nested without end": (Report.ENDED, 1, b"[" * 100_000),
    "JSON of another type": (Report.STARTED, 1, b"[]"),
    "a process number that is none": (Report.STARTED, 1, wire.as_json(pid=True, **COUNTERS)),
    "an opening in the middle": (Report.OPENED, 1, b""),
}


@pytest.mark.parametrize("lie", LIES)
async def test_a_session_that_breaks_the_protocol_is_lost(lie: str) -> None:
    liar, sandbox = await lying()
    lost = []
    sandbox.tell_lost = lost.append
    events = await events_of(sandbox)
    liar.tell(*LIES[lie])
    with pytest.raises(SessionEndedError, match="it broke the protocol"):
        async for _ in events:
            pass
    assert len(lost) == 1
    await sandbox.close()
    assert liar.is_destroyed


async def test_a_message_that_announces_too_much_is_not_waited_for() -> None:
    liar, sandbox = await lying()
    events = await events_of(sandbox)
    liar.output.feed_data(wire.HEAD.pack(Report.STDOUT, 1, wire.MOST_MESSAGE_BYTES + 1))
    with pytest.raises(SessionEndedError, match="a message of"):
        await anext(events)
    await sandbox.close()


async def turn_over() -> None:
    """Lets every task that can go on do so until it waits for something else."""
    for _ in range(100):
        await asyncio.sleep(0)


async def test_a_flood_is_held_back_by_a_reader_that_stops() -> None:
    """While nobody reads a command's output, it gets no more credit than its window."""
    liar, sandbox = await lying()
    events = await events_of(sandbox)
    half = bytes(wire.WINDOW_BYTES // 2)
    for _ in range(2):
        liar.tell(Report.STDOUT, 1, half)
    await turn_over()
    assert [kind for kind, _, _ in liar.heard if kind == Order.CREDIT] == []
    first = await anext(events)
    assert isinstance(first, Output)
    await turn_over()
    credits = [payload for kind, _, payload in liar.heard if kind == Order.CREDIT]
    assert sum(wire.CREDIT.unpack(one)[0] for one in credits) == len(first.data)
    await sandbox.close()


async def test_a_command_that_cannot_be_stopped_ends_its_session(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("reward_server.sandbox.sessions.running_command.STOP_SECONDS", 0.1)
    liar, sandbox = await lying()
    events = await events_of(sandbox, time_limit_seconds=0.1)
    with pytest.raises(SessionEndedError, match="could not be stopped"):
        await anext(events)
    assert Order.KILL in [kind for kind, _, _ in liar.heard]
    await sandbox.close()


async def test_a_session_that_does_not_answer_about_files_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("reward_server.sandbox.sessions.sandbox.FILE_SECONDS", 0.1)
    _, sandbox = await lying()
    with pytest.raises(SessionEndedError, match="it does not answer"):
        await sandbox.read("x", 0, 10)
    await sandbox.close()


@pytest.mark.parametrize(
    "answer",
    [
        (Report.DONE, b""),
        (Report.DONE, wire.as_json(size=1)),
        (Report.FAILED, wire.as_json(reason="NO_SUCH_REASON", message="x")),
        (Report.FAILED, b"[]"),
    ],
)
async def test_a_wrong_answer_about_a_file_loses_the_session(answer: tuple[int, bytes]) -> None:
    liar, sandbox = await lying()
    liar.answer = lambda _, number, __: liar.tell(answer[0], number, answer[1])
    with pytest.raises(SessionEndedError, match="it broke the protocol"):
        await sandbox.read("x", 0, 10)
    await sandbox.close()


async def test_a_start_that_fails_quotes_the_container_and_removes_it() -> None:
    liar = Liar()
    liar.output.feed_eof()
    with pytest.raises(SandboxError, match="the session did not start: it said this"):
        await SessionSandbox.start(liar)
    assert liar.is_destroyed


async def test_a_start_that_fails_without_a_word_is_told_in_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("reward_server.sandbox.sessions.sandbox.START_SECONDS", 0.1)
    ended, silent = Liar(), Liar()
    ended.said = silent.said = ""
    ended.output.feed_eof()
    with pytest.raises(SandboxError, match="did not start: its processes ended"):
        await SessionSandbox.start(ended)
    with pytest.raises(SandboxError, match="did not start: it did not answer in time"):
        await SessionSandbox.start(silent)


async def test_output_that_was_counted_wrong_is_not_believed_to_be_whole() -> None:
    liar, sandbox = await lying()
    events = await events_of(sandbox)
    liar.tell(Report.STARTED, 1, wire.as_json(pid=2, **COUNTERS))
    liar.tell(Report.ENDED, 1, wire.as_json(**{**ENDED, "stdout_bytes": 101}))
    told = [event async for event in events]
    assert isinstance(told[-1], Ended)
    assert told[-1].stdout_truncated
    await sandbox.close()


# --------------------------------------------------------------------- an interpreter that lies


async def code_events(
    liar: Liar, sandbox: SessionSandbox, *said: tuple[int, bytes]
) -> list[CodeEvent]:
    """Runs code in an interpreter that is a test, and returns what is told of it."""

    def answer(kind: int, number: int, _: bytes) -> None:
        if kind == Order.INPUT:
            liar.tell(Report.TAKEN, number, wire.as_json(closed=False))
            for report in said:
                liar.tell(Report.STDOUT, number, interpreter_wire.message(*report)[:_LARGEST])
        elif kind == Order.KILL:
            liar.tell(Report.ENDED, number, wire.as_json(**{**ENDED, "status": 9}))

    liar.answer = answer
    interpreter = await sandbox.interpret({}, 3600.0, ".")
    number = interpreter.command.number
    liar.tell(Report.STARTED, number, wire.as_json(pid=2, **COUNTERS))
    liar.tell(Report.STDOUT, number, interpreter_wire.message(Saying.READY))
    code = Code(source="1", time_limit_seconds=60.0, output_bytes=100)
    return [event async for event in interpreter.run(code)]


def code_end(**changes: object) -> bytes:
    told = {"raised": False, "dropped_images": 0}
    sizes = interpreter_wire.SIZES.pack(0, 0)
    return sizes + json.dumps({**told, **changes}).encode()


def shown(data: object, **changes: object) -> tuple[int, bytes]:
    told = {"data": data, "is_main": False, "is_cut": False, **changes}
    return Saying.SHOWN, json.dumps(told).encode()


_LARGEST = 100_000  # so that of longer messages only the announcement comes
RAISED = {"raised": True, "name": "E", "message": "", "traceback": ""}
CODE_LIES = {
    "an unknown kind": (99, b""),
    "another start": (Saying.READY, b""),
    "a start with content": (Saying.READY, b"x"),
    "more output than was asked for": (Saying.STDOUT, bytes(101)),
    "something shown that is announced as too large": (Saying.SHOWN, bytes((3 << 20) + 1)),
    "empty output": (Saying.STDERR, b""),
    "a figure that is none": shown({"image/png": "R0lGODlh"}),
    "a figure that is no base64": shown({"image/png": [1]}),
    "something shown that is no JSON": (Saying.SHOWN, b"{"),
    "something shown without formats": shown("text"),
    "something shown in half of a character": shown({"text/html": "\ud800"}),
    "an end without sizes": (Saying.ENDED, b""),
    "an end that is no JSON": (Saying.ENDED, interpreter_wire.SIZES.pack(0, 0) + b"{"),
    "an end nested without end": (Saying.ENDED, interpreter_wire.SIZES.pack(0, 0) + b"[" * 90_000),
    "impossible sizes": (Saying.ENDED, b"\xff" * 16 + code_end()[16:]),
    "a value of another type": shown({"text/plain": 1}, is_main=True),
    "a value that is too long": shown({"text/plain": "x" * 70_000}, is_main=True),
    "an exception without a name": (Saying.ENDED, code_end(**{**RAISED, "name": None})),
    "a traceback that is too long": (
        Saying.ENDED,
        code_end(**RAISED | {"traceback": "x" * 70_000}),
    ),
    "a number of images that is none": (Saying.ENDED, code_end(dropped_images=True)),
}


@pytest.mark.parametrize("lie", CODE_LIES)
async def test_an_interpreter_that_breaks_the_protocol_is_lost_alone(lie: str) -> None:
    liar, sandbox = await lying()
    [told] = await code_events(liar, sandbox, CODE_LIES[lie])
    assert isinstance(told, CodeEnded)
    assert told.outcome is CodeOutcome.INTERPRETER_LOST
    assert Order.KILL in [kind for kind, _, _ in liar.heard]
    assert sandbox.is_alive
    await sandbox.close()


async def test_more_to_show_than_a_call_may_is_a_lie() -> None:
    liar, sandbox = await lying()
    said = [shown({"text/plain": "x"})] * (interpreter_wire.SHOWN + 1)
    events = await code_events(liar, sandbox, *said)
    assert len(events) == interpreter_wire.SHOWN + 1
    assert isinstance(events[-1], CodeEnded)
    await sandbox.close()


async def test_an_interpreter_that_does_not_start_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reward_server.sandbox.sessions.interpreter.READY_SECONDS", 0.1)
    liar, sandbox = await lying()
    liar.answer = lambda kind, number, _: (
        liar.tell(Report.ENDED, number, wire.as_json(**{**ENDED, "status": 9}))
        if kind == Order.KILL
        else None
    )
    interpreter = await sandbox.interpret({}, 3600.0, ".")
    code = Code(source="1", time_limit_seconds=60.0, output_bytes=100)
    [told] = [event async for event in interpreter.run(code)]
    assert isinstance(told, CodeEnded)
    assert told.outcome is CodeOutcome.INTERPRETER_LOST
    assert interpreter.has_ended
    await sandbox.close()
