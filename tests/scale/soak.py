"""Mixed executions while the server, and what it is made of, is killed, stopped and starved.

Three tenants send the requests, and open sessions beside them. `make soak` makes many such runs
(`benchmarks/soak`).
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import grpc

from codereward.v1 import reward_service_pb2 as pb
from tests.scale.soak_server import (
    TOKENS,
    Server,
    files,
    mounts,
    sandbox_processes,
    start_server,
    tokens_beside,
)
from trainer_client import AsyncRewardClient, CallError, SessionEndedError

IN_FLIGHT = 8
SESSION_MEMORY_BYTES = 64 << 20
SESSION_SECONDS = 60.0
RARE = 20  # a heavy kind is so much rarer in the light mix
RETRIES = 8
SHARES_OF_MIX = 100
KILLS_IN_FIRST = 0.5  # all servers but the last live in this part of the executions
SAMPLES = 20
TELLINGS = 100
STOPPED_SECONDS = 1.0
RECOVERY_SECONDS = 1.0
MOST_ERRORS = 20  # that are told

LIMITS = pb.Limits(
    cpu_time_seconds=2.0,
    wall_time_seconds=5.0,
    memory_bytes=96 << 20,
    processes=16,
    disk_bytes=8 << 20,
    file_size_bytes=8 << 20,
    output_bytes=1 << 20,
)
SHORT = {"cpu_time_seconds": 0.15, "wall_time_seconds": 0.5}


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of completion: how many of a hundred are of it, and what becomes of it.

    Args:
        share: how many of a hundred.
        source: the completion.
        verdict: what becomes of it.
        short: whether its limits of time are short.
        heavy: whether it takes a hundred times what others take.
        tests: adds the tests to a request.
    """

    share: int
    source: str
    verdict: str
    short: bool = False
    heavy: bool = False
    tests: Callable[[pb.ScoreRequest], None]


def _stdio(request: pb.ScoreRequest) -> None:
    request.stdio.cases.add(stdin=b"2\n", expected_stdout=b"3\n")


def _function(request: pb.ScoreRequest) -> None:
    request.function.entry_point = "f"
    request.function.asserts.extend(["assert f(1) == 2", "assert f(2) == 3"])


def _objects(request: pb.ScoreRequest) -> None:
    request.function.entry_point = "Tally"
    request.function.asserts.append("t = Tally(); t.add(2); t.add(3); assert t.total() == 5")


def _calls(request: pb.ScoreRequest) -> None:
    request.call.entry_point = "f"
    request.call.cases.add(args_json="[1]", expected_json="2")
    request.call.cases.add(args_json="[2]", expected_json="3")


def _file(request: pb.ScoreRequest) -> None:
    request.unit.framework = pb.FRAMEWORK_UNITTEST
    text = "import unittest\nfrom solution import f\n\nclass TestF(unittest.TestCase):\n"
    text += "    def test_f(self): self.assertEqual([f(1), f(2)], [2, 3])\n"
    request.unit.files["test_f.py"] = text.encode()


ORPHANS = """
import os
for _ in range(5):
    if os.fork() == 0:
        os.setsid()
        os.execv('/usr/bin/sleep', ['sleep', '60'])
print(3)
"""
FORKS = "import os\nwhile True: os.fork()"
FILES = "while True: open(str(id(object())) + 'x', 'ab').write(bytes(1 << 20))"
FAULT = "import ctypes; ctypes.string_at(0)"
MEMORY = "x = bytearray(200 << 20)"
OUTPUT = "while True: print('x' * 999)"
ASLEEP = "import time; time.sleep(60)"
ATTACK = "import ctypes; ctypes.CDLL(None).unshare(0x10000000)"
RIGHT, WRONG = "def f(x): return x + 1", "def f(x): return x"
LEFT = "import os\ndef f(x): os._exit(0)"
TALLY = """
class Tally:
    def __init__(self): self.sum = 0
    def add(self, n): self.sum += n
    def total(self): return self.sum
"""
KINDS = {
    "right": Kind(share=14, source="print(int(input()) + 1)", verdict="PASSED", tests=_stdio),
    "wrong": Kind(share=6, source="print(4)", verdict="FAILED", tests=_stdio),
    "exit": Kind(share=4, source="import os; os._exit(3)", verdict="RUNTIME_ERROR", tests=_stdio),
    "fault": Kind(share=2, source=FAULT, verdict="RUNTIME_ERROR", tests=_stdio),
    "orphans": Kind(share=4, source=ORPHANS, verdict="PASSED", tests=_stdio),
    "memory": Kind(
        share=2, source=MEMORY, verdict="MEMORY_LIMIT_EXCEEDED", heavy=True, tests=_stdio
    ),
    "forks": Kind(share=2, source=FORKS, verdict="RUNTIME_ERROR", heavy=True, tests=_stdio),
    "output": Kind(
        share=2, source=OUTPUT, verdict="OUTPUT_LIMIT_EXCEEDED", heavy=True, tests=_stdio
    ),
    "files": Kind(share=2, source=FILES, verdict="OUTPUT_LIMIT_EXCEEDED", heavy=True, tests=_stdio),
    "busy": Kind(
        share=2,
        source="while True: pass",
        verdict="TIME_LIMIT_EXCEEDED",
        short=True,
        heavy=True,
        tests=_stdio,
    ),
    "asleep": Kind(
        share=2,
        source=ASLEEP,
        verdict="TIME_LIMIT_EXCEEDED",
        short=True,
        heavy=True,
        tests=_stdio,
    ),
    "attack": Kind(share=2, source=ATTACK, verdict="SECURITY_VIOLATION", tests=_stdio),
    "right function": Kind(share=26, source=RIGHT, verdict="PASSED", tests=_function),
    "wrong function": Kind(share=6, source=WRONG, verdict="FAILED", tests=_function),
    "left function": Kind(share=4, source=LEFT, verdict="RUNTIME_ERROR", tests=_function),
    "broken function": Kind(
        share=4, source="def f(x: return x", verdict="COMPILE_ERROR", tests=_function
    ),
    "right object": Kind(share=4, source=TALLY, verdict="PASSED", tests=_objects),
    "wrong object": Kind(
        share=2, source=TALLY.replace("+=", "="), verdict="FAILED", tests=_objects
    ),
    "right calls": Kind(share=6, source=RIGHT, verdict="PASSED", tests=_calls),
    "wrong calls": Kind(share=2, source=WRONG, verdict="FAILED", tests=_calls),
    "right file": Kind(share=1, source=RIGHT, verdict="PASSED", tests=_file),
    "wrong file": Kind(share=1, source=WRONG, verdict="FAILED", tests=_file),
}


def request(name: str, number: int) -> pb.ScoreRequest:
    """Builds a request; its number makes it unlike all others, so that nothing is shared."""
    kind = KINDS[name]
    made = pb.ScoreRequest(
        id=f"{name}-{number}",
        completion=f"{kind.source}\n# {number}\n",
        extraction=pb.EXTRACTION_NONE,
        limits=LIMITS,
    )
    if kind.short:
        made.limits.MergeFrom(pb.Limits(**SHORT))
    kind.tests(made)
    return made


def names(count: int, *, light: bool = False) -> list[str]:
    """Mixes kinds by their shares, in an order of this run's own.

    Args:
        count: how many names.
        light: whether heavy kinds are `RARE` times rarer.
    """
    assert sum(kind.share for kind in KINDS.values()) == SHARES_OF_MIX
    shares: list[str] = []
    for name, kind in KINDS.items():
        shares += [name] * kind.share * (RARE if light and not kind.heavy else 1)
    random.shuffle(shares)
    mixed = [shares[number % len(shares)] for number in range(count)]
    random.shuffle(mixed)
    return mixed


# ------------------------------------------------------------------------------------ faults


async def _kill_machinery(server: Server) -> None:
    os.kill(random.choice(server.machinery()), signal.SIGKILL)


async def _kill_judge(server: Server) -> None:
    os.kill(random.choice(server.judges()), signal.SIGKILL)


async def _stop_machinery(server: Server) -> None:
    await _stop(random.choice(server.machinery()))


async def _stop_server(server: Server) -> None:
    await _stop(server.process.pid)


async def _stop(pid: int) -> None:
    os.kill(pid, signal.SIGSTOP)
    await asyncio.sleep(STOPPED_SECONDS)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


async def _fill_temporary_folder(server: Server) -> None:
    filler = server.temporary / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(1 << 16))
    await asyncio.sleep(STOPPED_SECONDS)
    filler.unlink()


async def _remove_cgroups(server: Server) -> None:
    """Ends all that one container consists of, and removes its groups."""
    container = random.choice(server.cgroups()).name.rpartition(".")[0]
    groups = [path for path in server.cgroups() if path.name.startswith(f"{container}.")]
    for group in groups:
        for pid in (group / "cgroup.procs").read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
    for group in groups:
        with suppress(OSError):  # somebody is in it still, or it is gone
            group.rmdir()


FAULTS: Mapping[str, Callable[[Server], Awaitable[None]]] = {
    "machinery killed": _kill_machinery,
    "judge killed": _kill_judge,
    "machinery stopped": _stop_machinery,
    "server stopped": _stop_server,
    "temporary folder full": _fill_temporary_folder,
    "cgroups removed": _remove_cgroups,
}


@contextmanager
def small_folder() -> Iterator[Path]:
    """Yields a folder of a file system of its own, of 1 MiB."""
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        subprocess.run(("mount", "-t", "tmpfs", "-o", "size=1m", "soak", folder), check=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run(("umount", "--lazy", folder), check=True)
            tokens_beside(Path(folder)).unlink(missing_ok=True)


# ---------------------------------------------------------------------------------- the soak


@dataclass(kw_only=True)
class Figures:
    """What a soak saw.

    Args:
        judged: how many of each kind.
        wrong: answers with another verdict.
        refused: failed calls, by status; each was made again.
        sessions: how many sessions ended in each way; "right" is a command with its right output.
        faults: how many of each kind there were; kinds that found nothing to hit are not counted.
        memory_bytes: of the last server, at even distances.
        descriptors: the same.
        seconds: that it took.
        errors: what the servers logged as an error, the first of it.
    """

    judged: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    sessions: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    memory_bytes: list[int] = field(default_factory=list)
    descriptors: list[int] = field(default_factory=list)
    seconds: float = 0.0
    errors: list[str] = field(default_factory=list)


class Soak:
    """Sends every request until it is judged, whatever happens to servers.

    Args:
        executions: how many requests.
        servers: how many servers serve them one after another; all but the last are killed.
        faults: how many faults there are.
        sessions: how many sessions are opened, used and closed meanwhile.
        light: whether kinds that take long are rare.
        in_flight: how many requests wait for an answer at once.
        log: what the servers write to.
        tell: what is told how far it is, `TELLINGS` times.
    """

    def __init__(
        self,
        *,
        executions: int,
        servers: int,
        faults: int,
        sessions: int = 0,
        light: bool = False,
        in_flight: int = IN_FLIGHT,
        log: IO[bytes],
        tell: Callable[[str], object],
    ) -> None:
        self._log = log
        self._tell = tell
        self._executions = executions
        self._servers = servers
        self._faults_every = executions // (faults + 1)
        self._pending = list(enumerate(names(executions, light=light)))
        self._sessions = sessions
        self._in_flight = in_flight
        self._server: Server | None = None
        self._up = asyncio.Event()
        self._sessions_ended = asyncio.Event()
        self._progress = asyncio.Condition()
        self.figures = Figures()

    async def run(self, temporary: Path) -> None:
        """Runs all of it.

        Raises:
            AssertionError: a request was never judged, or something was left behind.
        """
        begun = time.monotonic()
        async with asyncio.TaskGroup() as group:
            for _ in range(self._in_flight):
                group.create_task(self._work())
            group.create_task(self._use_sessions())
            faults = group.create_task(self._break_things())
            try:
                await self._serve(temporary)
            finally:
                faults.cancel()
        self.figures.seconds = time.monotonic() - begun

    async def _serve(self, temporary: Path) -> None:
        for number in range(1, self._servers + 1):
            is_last = number == self._servers
            share = 1.0 if is_last else KILLS_IN_FIRST * number / (self._servers - 1)
            server = self._server = await start_server(temporary, self._log)
            try:
                self._up.set()
                if is_last:
                    await self._sample(server)
                await self._wait_for(int(self._executions * share))
                if is_last:
                    await self._sessions_ended.wait()
                self._up.clear()
                await server.end(signal.SIGTERM if is_last else signal.SIGKILL)
            finally:
                if server.process.returncode is None:
                    await server.end(signal.SIGKILL)
            assert server.process.returncode == (0 if is_last else -signal.SIGKILL)
            await gone(server)

    async def _sample(self, server: Server) -> None:
        first = self._done
        for step in range(1, SAMPLES + 1):
            await self._wait_for(first + (self._executions - first) * step // SAMPLES)
            self.figures.memory_bytes.append(server.memory_bytes())
            self.figures.descriptors.append(server.descriptors())

    async def _break_things(self) -> None:
        for number in range(1, self._executions // self._faults_every):
            await self._wait_for(number * self._faults_every)
            await self._up.wait()
            server, (name, fault) = self._server, random.choice(list(FAULTS.items()))
            assert server is not None
            with suppress(OSError, IndexError):  # what it was to hit is gone
                await fault(server)
                self.figures.faults[name] += 1
            await asyncio.sleep(RECOVERY_SECONDS)

    @property
    def _done(self) -> int:
        return self.figures.judged.total()

    async def _work(self) -> None:
        while self._pending:
            number, name = self._pending.pop()
            response = await self._score(request(name, number), TOKENS[number % len(TOKENS)])
            if response.id != f"{name}-{number}":
                self.figures.wrong.append(f"{name}-{number}: the answer is that of {response.id!r}")
            verdict = pb.Verdict.Name(response.verdict).removeprefix("VERDICT_")
            self.figures.judged[name] += 1
            if self._done % max(1, self._executions // TELLINGS) == 0:
                self._tell(f"{self._done} judged, {len(self.figures.wrong)} wrong")
            if verdict != KINDS[name].verdict:
                self.figures.wrong.append(f"{name}-{number}: {verdict}: {response.message}")
            async with self._progress:
                self._progress.notify_all()

    async def _score(self, request: pb.ScoreRequest, token: str) -> pb.ScoreResponse:
        for _ in range(RETRIES):
            await self._up.wait()
            server = self._server
            assert server is not None
            try:
                return await server.score(request, token)
            except grpc.aio.AioRpcError as error:
                self.figures.refused[error.code().name] += 1
                if error.code() is not grpc.StatusCode.UNAVAILABLE:
                    self.figures.wrong.append(f"{request.id}: {error.code()}: {error.details()}")
            except asyncio.CancelledError:
                # A channel closed under a call ends it so; a server was killed.
                if asyncio.current_task().cancelling():  # type: ignore[union-attr]  # a task runs this
                    raise
        raise AssertionError(f"{request.id} was not judged: {self.figures.refused}")

    async def _use_sessions(self) -> None:
        for number in range(self._sessions):
            await self._wait_for(number * self._executions // self._sessions)
            await self._up.wait()
            assert self._server is not None
            ended = await session_end(self._server.address, TOKENS[number % len(TOKENS)])
            self.figures.sessions[ended] += 1
        self._sessions_ended.set()

    async def _wait_for(self, count: int) -> None:
        """Waits until so many are judged."""
        async with self._progress:
            await self._progress.wait_for(lambda: self._done >= count)


async def session_end(address: str, token: str) -> str:
    """Opens a session, runs a command and closes it; returns how that ended."""
    options = {"outage_seconds": 1.0, "timeout_seconds": SESSION_SECONDS}
    try:
        async with (
            AsyncRewardClient(address, token=token, **options) as client,
            client.session(memory_bytes=SESSION_MEMORY_BYTES) as session,
        ):
            result = await session.exec(["bash", "-c", "echo $((6 * 7))"], time_limit_seconds=30)
    except SessionEndedError as error:
        return error.reason
    except CallError as error:
        return error.status
    if result.signal is not None:
        return "command killed"
    return "right" if (result.exit_code, result.stdout) == (0, b"42\n") else "wrong"


async def gone(server: Server) -> None:
    """Waits until nothing of a server is left, for as long as its janitor may take."""
    for _ in range(1000):
        if not server.cgroups() and not sandbox_processes():
            return
        await asyncio.sleep(0.01)
    raise AssertionError((server.cgroups(), sandbox_processes()))


def _errors(log: IO[bytes]) -> list[str]:
    log.seek(0)
    return [line.decode() for line in log if b'"level": "error"' in line][:MOST_ERRORS]


def _quiet(_: str) -> None:
    pass


async def soak(
    *,
    executions: int,
    servers: int,
    faults: int,
    sessions: int = 0,
    light: bool = False,
    in_flight: int = IN_FLIGHT,
    tell: Callable[[str], object] = _quiet,
) -> Figures:
    """Runs a soak, and sees to it that nothing is left; see `Soak` for the arguments.

    Raises:
        AssertionError: something is, or a request was never judged.
    """
    mounts_before, files_before = mounts(), files()
    assert sandbox_processes() == []
    with small_folder() as temporary, tempfile.TemporaryFile() as log:
        made = Soak(
            executions=executions,
            servers=servers,
            faults=faults,
            sessions=sessions,
            light=light,
            in_flight=in_flight,
            log=log,
            tell=tell,
        )
        await made.run(temporary)
        assert os.listdir(temporary) == []
        made.figures.errors = _errors(log)
    assert mounts() == mounts_before
    assert files() <= files_before
    assert made.figures.judged.total() == executions
    assert made.figures.sessions.total() == sessions
    return made.figures
