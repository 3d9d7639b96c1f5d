"""Commands in a session: their input, output, signals and ends."""

from __future__ import annotations

import asyncio
import signal
from contextlib import AsyncExitStack

import grpc
import pytest

from codereward.v1 import session_service_pb2 as pb
from codereward.v1 import session_service_pb2_grpc as rpc
from reward_server.app import App
from tests.sessions.conftest import SMALL
from tests.support.common import on_the_servers_loop
from trainer_client import (
    AsyncRewardClient,
    AsyncSession,
    CallError,
    RewardClient,
    SessionEndedError,
    SessionProcessError,
)
from trainer_client.sessions.errors import error_of

pytestmark = on_the_servers_loop


async def test_a_command_is_run_with_input_and_its_streams_are_told_apart(
    shared_session: AsyncSession,
) -> None:
    told = "read x; echo out $x; echo err >&2; exit 7"
    result = await shared_session.exec(["bash", "-c", told], stdin="in")
    assert (result.exit_code, result.stdout, result.stderr) == (7, b"out in\n", b"err\n")
    assert (result.stdout_size_bytes, result.stdout_truncated) == (7, False)
    assert result.explanation == ""


async def test_a_command_gets_its_folder_and_the_variables_of_session_and_command(
    client: AsyncRewardClient,
) -> None:
    async with client.session(
        **SMALL, environment={"A": "1", "B": "1"}, files={"d/x": ""}
    ) as session:
        told = ["bash", "-c", "pwd; echo $A$B$C$HOME"]
        result = await session.exec(told, cwd="d", environment={"B": "2", "C": "3"})
        assert result.stdout.decode().split() == [
            f"{session.working_folder}/d",
            f"123{session.working_folder}",
        ]


async def test_files_and_processes_of_one_command_are_there_for_the_next(
    session: AsyncSession,
) -> None:
    begin = "echo kept > file; (sleep 30 >/dev/null 2>&1 &) ; echo done"
    assert (await session.exec(["bash", "-c", begin])).stdout == b"done\n"
    told = await session.exec(["bash", "-c", "cat file; cat /proc/[0-9]*/comm"])
    assert {b"kept", b"sleep"} <= set(told.stdout.split())


@pytest.mark.parametrize(
    ("argv", "cwd", "code", "problem"),
    [
        (["no-such-tool"], "", 127, "no-such-tool: No such file"),
        (["/no/such/tool"], "", 127, "/no/such/tool: No such file"),
        (["/etc/passwd"], "", 126, "/etc/passwd: Permission denied"),
        (["true"], "/no/such/folder", 126, "/no/such/folder: No such file"),
    ],
)
async def test_a_command_that_cannot_be_started_says_why(
    argv: list[str], cwd: str, code: int, problem: str, shared_session: AsyncSession
) -> None:
    result = await shared_session.exec(argv, cwd=cwd)
    assert result.exit_code == code
    assert result.explanation.startswith(f"not started: {problem}")


async def test_a_command_is_stopped_at_its_time_limit_with_its_children(
    shared_session: AsyncSession,
) -> None:
    # An ignored signal of the whole group does not help, nor does a pipe that stays open.
    stubborn = "trap '' TERM INT; sleep 601 & sleep 601"
    result = await shared_session.exec(["bash", "-c", stubborn], time_limit_seconds=0.4)
    assert (result.exit_code, result.signal, result.limits_hit) == (None, None, ("WALL_TIME",))
    assert result.wall_time_seconds < 5
    assert result.explanation.startswith("stopped at its time limit, after 0.4")
    left = await shared_session.exec(["bash", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"])
    assert b"sleep 601" not in left.stdout


async def test_output_above_the_limit_is_dropped_and_counted(
    shared_session: AsyncSession,
) -> None:
    flood = "head -c 3000000 /dev/zero; head -c 5 /dev/zero >&2"
    result = await shared_session.exec(["bash", "-c", flood], output_bytes=1_000_000)
    assert result.exit_code == 0
    assert (len(result.stdout), result.stdout_size_bytes) == (1_000_000, 3_000_000)
    assert (result.stdout_truncated, result.stderr_truncated) == (True, False)
    assert (result.stderr, result.limits_hit) == (bytes(5), ("OUTPUT",))


async def test_much_input_and_output_are_kept_whole(shared_session: AsyncSession) -> None:
    data = bytes(range(256)) * 12_000
    result = await shared_session.exec(["cat"], stdin=data)
    assert result.stdout == data
    assert not result.stdout_truncated


async def test_input_above_the_size_of_a_message_and_long_arguments_arrive_whole(
    shared_session: AsyncSession,
) -> None:
    size = 20 << 20
    counted = await shared_session.exec(["wc", "-c"], stdin=b"x" * size)
    assert int(counted.stdout) == size
    arguments = ["y" * 100_000] * 12
    written = await shared_session.exec(["printf", "%s", *arguments])
    assert written.stdout == "".join(arguments).encode()


async def test_input_that_nobody_reads_does_not_block(shared_session: AsyncSession) -> None:
    result = await shared_session.exec(["echo", "done"], stdin=bytes(1_000_000))
    assert result.stdout == b"done\n"


async def test_a_command_whose_output_is_not_read_holds_up_no_other(
    shared_session: AsyncSession,
) -> None:
    async with shared_session.start(["cat", "/dev/zero"]) as flood:
        assert flood.pid
        others = [shared_session.exec(["echo", str(number)]) for number in range(5)]
        results = await asyncio.gather(*others)
    assert [result.stdout for result in results] == [b"%d\n" % number for number in range(5)]


async def test_a_dialogue_with_a_command_that_runs(shared_session: AsyncSession) -> None:
    echo = "import sys\nfor line in sys.stdin: print(line.upper(), end='', flush=True)"
    async with shared_session.start(["python3", "-c", echo], keep_stdin_open=True) as command:
        for word in ("one", "two"):
            assert await command.send_input(f"{word}\n")
            chunk = await command.next_chunk()
            assert chunk is not None
            assert chunk.data == f"{word.upper()}\n".encode()
        await command.send_input("", end=True)
        assert (await command.wait()).exit_code == 0


async def test_a_signal_reaches_a_command_and_its_group(shared_session: AsyncSession) -> None:
    trapping = "trap 'echo caught; exit 5' INT; echo ready; while true; do sleep 0.01; done"
    async with shared_session.start(["bash", "-c", trapping]) as command:
        assert await command.next_chunk()
        await command.send_signal(signal.SIGINT)
        result = await command.wait()
    assert (result.exit_code, result.stdout) == (5, b"caught\n")
    async with shared_session.start(["sleep", "30"]) as command:
        await command.send_signal(signal.SIGKILL)
        result = await command.wait()
    assert (result.exit_code, result.signal) == (None, 9)
    assert result.explanation == "ended by signal 9"
    with pytest.raises(SessionProcessError):
        await command.send_signal(signal.SIGTERM)
    with pytest.raises(SessionProcessError):
        await command.send_input("late")


async def test_leaving_a_running_command_kills_it_and_keeps_the_session(
    shared_session: AsyncSession,
) -> None:
    async with shared_session.start(["sleep", "602"]) as command:
        assert command.pid
    while b"602" in (await _commands_lines(shared_session)):
        pass


async def _commands_lines(session: AsyncSession) -> bytes:
    return (await session.exec(["bash", "-c", "cat /proc/[0-9]*/cmdline"])).stdout


async def test_orphans_are_reaped_and_their_late_output_is_dropped(
    shared_session: AsyncSession,
) -> None:
    leaving = "for i in 1 2 3 4 5 6 7 8; do (setsid bash -c 'sleep 0.1; echo late' &); done"
    result = await shared_session.exec(["bash", "-c", leaving])
    assert (result.stdout, result.exit_code) == (b"", 0)
    assert result.wall_time_seconds < 5
    waiting = "sleep 0.3; grep -hc ') Z ' /proc/[0-9]*/stat | sort -rn | head -1"
    assert (await shared_session.exec(["bash", "-c", waiting])).stdout == b"0\n"


async def test_as_many_commands_run_at_once_as_may_and_one_more_is_refused(
    client: AsyncRewardClient,
) -> None:
    async with client.session(**SMALL) as session, AsyncExitStack() as running:
        for _ in range(16):
            await running.enter_async_context(session.start(["sleep", "60"]))
        refused = await session.exec(["true"])
        assert (refused.exit_code, refused.start_error) == (126, "16 commands run already")


@pytest.mark.parametrize(
    ("argv", "options", "field"),
    [
        ([], {}, "argv"),
        (["a\0b"], {}, "argv"),
        (["x"] * 5000, {}, "argv"),
        (["x", *["y" * 100_000] * 16], {}, "argv"),
        (["true"], {"environment": {"A=B": "1"}}, "environment"),
        (["true"], {"environment": {"A": "\0"}}, "environment"),
        (["true"], {"cwd": "x" * 5000}, "cwd"),
        (["true"], {"time_limit_seconds": 0.0}, "time_limit_seconds"),
        (["true"], {"time_limit_seconds": 1e9}, "time_limit_seconds"),
        (["true"], {"output_bytes": -1}, "output_bytes"),
    ],
)
async def test_a_wrong_command_is_refused_by_its_field(
    argv: list[str], options: dict[str, object], field: str, shared_session: AsyncSession
) -> None:
    with pytest.raises(CallError, match=f"INVALID_ARGUMENT: {field}: ") as raised:
        await shared_session.exec(argv, **options)  # type: ignore[arg-type]  # wrong on purpose
    assert (raised.value.blame, raised.value.can_retry) == ("caller", False)


async def test_a_client_without_an_event_loop_does_the_same(app: App) -> None:
    def work() -> None:
        with RewardClient(app.address, token="blue-secret") as blocking:
            with blocking.session(files={"a.txt": "hello"}) as session:
                assert session.exec(["cat", "a.txt"]).stdout == b"hello"
                with session.start(["bash", "-c", "echo 1; read x; echo $x"], stdin="2\n") as one:
                    assert b"".join(chunk.data for chunk in one) == b"1\n2\n"
                    assert one.wait().success
                session.write_files({"b": b"\0"})
                assert session.read_file("b") == b"\0"
                assert [entry.path for entry in session.list_files()] == ["a.txt", "b"]
                assert session.keep_alive(60) <= 60
                gone = session
            with pytest.raises(RuntimeError, match="is not open"):
                gone.exec(["true"])

    await asyncio.to_thread(work)


async def test_a_closed_session_is_gone(client: AsyncRewardClient) -> None:
    channel = client._connection.open_alone()
    stub = rpc.SessionServiceStub(channel)
    token = {"metadata": client._connection.metadata}
    async with client.session(**SMALL) as session:
        pass
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await stub.KeepAlive(pb.KeepAliveRequest(session_id=session.id), **token)
    error = error_of(raised.value)
    assert isinstance(error, SessionEndedError)
    assert (error.reason, error.blame) == ("SESSION_CLOSED", "caller")
    await stub.CloseSession(pb.CloseSessionRequest(session_id=session.id), **token)
    await channel.close(None)
