"""`reward-server serve` as a process of its own, over real sandboxes."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import pytest

from codereward.v1 import reward_service_pb2 as pb
from codereward.v1 import reward_service_pb2_grpc as pb_grpc
from reward_server.cli import main
from reward_server.sandbox.walls import WALLS, Need

serve = importlib.import_module("reward_server.cli.serve")
EXTRA = {kind.name for kind in WALLS if kind.need is Need.EXTRA}
COMMAND = (sys.executable, "-c", "from reward_server.cli import main; main()")
PYTHON = ("--set", "languages=python")  # a start tries each language that a server offers
SECRET = "a_name_that_only_this_completion_has"
FOREVER = f"def f(x):\n    {SECRET} = 1\n    while True: pass\n"


@dataclass(kw_only=True)
class Process:
    """A running command."""

    process: asyncio.subprocess.Process
    printed: list[str] = field(default_factory=list)

    async def line(self) -> str:
        """Reads the next line of its standard output."""
        assert self.process.stdout is not None
        line = (await self.process.stdout.readline()).decode()
        self.printed.append(line)
        return line

    async def end(self) -> tuple[int, str]:
        """Waits for its end; returns its exit code and all that it printed."""
        output, complaints = await self.process.communicate()
        assert self.process.returncode is not None
        text = "".join(self.printed) + output.decode() + complaints.decode()
        return self.process.returncode, text


Run = Callable[..., Awaitable[Process]]


@pytest.fixture
async def run() -> AsyncIterator[Run]:
    running: list[asyncio.subprocess.Process] = []

    async def start(*arguments: str) -> Process:
        process = await asyncio.create_subprocess_exec(
            *COMMAND,
            *arguments,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        running.append(process)
        return Process(process=process)

    yield start
    for process in running:
        if process.returncode is None:
            process.kill()
            await process.wait()


def request(completion: str) -> pb.ScoreRequest:
    tests = pb.FunctionTests(entry_point="f", asserts=["assert f(20) == 21"])
    return pb.ScoreRequest(completion=completion, function=tests, limits=pb.Limits(calls=100))


async def started(process: Process) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(await process.line())
    return facts


async def test_it_serves_until_sigterm_and_tells_where(run: Run) -> None:
    server = await run("serve", "--port", "0", "--workers", "1", "--json")
    facts = await started(server)
    assert facts["slots"] == 1
    assert all(wall["standing"] for wall in facts["walls"] if wall["name"] not in EXTRA)
    async with grpc.aio.insecure_channel(facts["address"]) as channel:
        stub: pb_grpc.RewardServiceAsyncStub = pb_grpc.RewardServiceStub(channel)
        right = await stub.Score(request("def f(x): return x + 1"))
        wrong = await stub.Score(request("def f(x): return x"))
        run_alone = await stub.Execute(pb.ExecuteRequest(source="print(input())", stdin=b"heard"))
    assert (right.verdict, right.reward) == (pb.VERDICT_PASSED, 1.0)
    assert (wrong.verdict, wrong.reward) == (pb.VERDICT_FAILED, 0.0)
    assert run_alone.stdout.data == b"heard\n"
    server.process.send_signal(signal.SIGTERM)
    code, _ = await server.end()
    assert code == 0


@pytest.mark.promise("Certificates and tokens are rotated without a restart.", "Service")
async def test_a_hang_up_reads_the_tokens_again_and_ends_nothing(run: Run, tmp_path: Path) -> None:
    tokens = await asyncio.to_thread(_token_file, tmp_path, "first")
    server = await run("serve", "--port", "0", "--json", *PYTHON, "--token-file", str(tokens))
    facts = await started(server)
    async with grpc.aio.insecure_channel(facts["address"]) as channel:
        stub: pb_grpc.RewardServiceAsyncStub = pb_grpc.RewardServiceStub(channel)
        assert await is_known(stub, "first")
        await asyncio.to_thread(_token_file, tmp_path, "second")
        server.process.send_signal(signal.SIGHUP)
        while not await is_known(stub, "second"):  # noqa: ASYNC110  # nothing tells of it
            await asyncio.sleep(0.1)
        assert not await is_known(stub, "first")
        await asyncio.to_thread(_token_file, tmp_path, "# none")
        for _ in range(3):
            server.process.send_signal(signal.SIGHUP)
            assert await is_known(stub, "second")
    server.process.send_signal(signal.SIGTERM)
    code, _ = await server.end()
    assert code == 0


def _token_file(folder: Path, token: str) -> Path:
    file = folder / "tokens"
    file.write_text(f"{token}\n")
    return file


async def is_known(stub: pb_grpc.RewardServiceAsyncStub, token: str) -> bool:
    try:
        await stub.GetServerInfo(
            pb.GetServerInfoRequest(), metadata=(("authorization", f"Bearer {token}"),)
        )
    except grpc.aio.AioRpcError as error:
        if error.code() is grpc.StatusCode.UNAUTHENTICATED:
            return False
        raise
    return True


async def test_a_first_signal_lets_work_finish_and_a_second_does_not(run: Run) -> None:
    server = await run("serve", "--port", "0", "--workers", "2", "--json", *PYTHON)
    facts = await started(server)
    async with grpc.aio.insecure_channel(facts["address"]) as channel:
        stub: pb_grpc.RewardServiceAsyncStub = pb_grpc.RewardServiceStub(channel)
        await until_connected(stub)
        endless = asyncio.ensure_future(score(stub, request(FOREVER)))
        await score(stub, request("def f(x): return x + 1"))
        server.process.send_signal(signal.SIGTERM)
        await until_draining(stub)
        assert not endless.done()
        server.process.send_signal(signal.SIGINT)
        code, text = await server.end()
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await endless
    assert code == 1
    assert raised.value.code() is grpc.StatusCode.UNAVAILABLE
    assert SECRET not in text
    assert "Traceback" not in text


async def score(stub: pb_grpc.RewardServiceAsyncStub, sent: pb.ScoreRequest) -> pb.ScoreResponse:
    return await stub.Score(sent)


async def until_connected(stub: pb_grpc.RewardServiceAsyncStub) -> None:
    """Connects; gRPC may fail to read the first frames, and then connects again."""
    for _ in range(20):
        with contextlib.suppress(grpc.aio.AioRpcError):
            await stub.GetServerInfo(pb.GetServerInfoRequest(), timeout=20)
            return


async def until_draining(stub: pb_grpc.RewardServiceAsyncStub) -> None:
    """Asks for short work until it is refused."""
    short = request("def f(x): return x + 1")
    while True:
        (answer,) = await asyncio.gather(score(stub, short), return_exceptions=True)
        if isinstance(answer, grpc.aio.AioRpcError):
            assert answer.code() is grpc.StatusCode.UNAVAILABLE
            assert "shutting down" in str(answer.details())
            return


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--workers", "0"), "workers"),
        (("--set", "max_cases=none"), "max_cases"),
        (("--set", "max_cases"), "write NAME=VALUE"),
        (("--set", "default_limits.calls=0"), "default_limits.calls"),
        (("--set", "nonsense=1"), "nonsense"),
        (("--config", "/nonexistent.toml"), "cannot read /nonexistent.toml"),
        (("--host", "0.0.0.0"), "--insecure-public"),
        (("--backend", "socket"), "name the sockets"),
        (("--runtime", "runsc"), "runtime"),
        (("--allow-missing", "gravity"), "gravity"),
        (("--set", "sandbox_packages=/nonexistent"), "/nonexistent"),
        (("--no-such-flag",), "--no-such-flag"),
    ],
)
def test_wrong_settings_are_told_in_words(
    arguments: tuple[str, ...],
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(serve, "configure_logging", lambda *_, **__: None)
    monkeypatch.setattr(sys, "argv", ["reward-server", "serve", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert told in capsys.readouterr().err


async def test_an_address_that_cannot_be_had_is_told_in_words(run: Run) -> None:
    ended, text = await (await run("serve", "--host", "192.0.2.1", "--insecure-public")).end()
    assert ended == 1
    assert text.startswith("error: cannot listen on 192.0.2.1")
    assert len(text.splitlines()) == 1


async def test_a_file_of_settings_is_followed(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "server.toml"
    file.write_text("workers = 1\nport = 0\nmax_cases = 3\n[default_limits]\nprocesses = 9\n")
    server = await run("serve", "--json", "--config", str(file), "--set", "max_cases=4")
    facts = await started(server)
    async with grpc.aio.insecure_channel(facts["address"]) as channel:
        stub: pb_grpc.RewardServiceAsyncStub = pb_grpc.RewardServiceStub(channel)
        info = await stub.GetServerInfo(pb.GetServerInfoRequest())
    assert (info.maximum_cases, info.default_limits.processes, info.slots) == (4, 9, 1)
    server.process.send_signal(signal.SIGINT)
    assert (await server.end())[0] == 0


async def test_a_container_that_starts_while_calls_come_adds_no_line_of_grpc(run: Run) -> None:
    arguments = ("--workers", "2", "--set", "recycle_after_executions=2", "--json", *PYTHON)
    server = await run("serve", "--port", "0", *arguments)
    facts = await started(server)
    async with grpc.aio.insecure_channel(facts["address"]) as channel:
        stub: pb_grpc.RewardServiceAsyncStub = pb_grpc.RewardServiceStub(channel)
        programs = [request(f"def f(x): return x + 1  # {number}") for number in range(16)]
        answers = await asyncio.gather(*map(stub.Score, programs))
    assert {answer.verdict for answer in answers} == {pb.VERDICT_PASSED}
    server.process.send_signal(signal.SIGTERM)
    code, text = await server.end()
    assert code == 0
    assert "fork" not in text
