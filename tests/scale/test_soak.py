"""Mixed executions, runners and servers killed meanwhile, and then nothing left.

A run makes 600 executions; REWARD_SERVER_TEST_ALL=1 makes two thousand.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import secrets
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import grpc
import pytest

from codereward.v1 import reward_service_pb2 as pb
from codereward.v1 import reward_service_pb2_grpc as pb_grpc
from reward_server.sandbox.cgroup import CgroupParent, owner_id
from reward_server.sandbox.janitor import OUR_PREFIX
from tests.sampling import times

EXECUTIONS = times(2_000, by_default=600)
SLOTS = 2
IN_FLIGHT = 8
SERVERS = 4  # all but the last are killed
RUNNER_KILLS_PER_SERVER = 3
RETRIES = 5
# A range of users of its own: whoever has such a uid is a process of this test's sandboxes.
UID = 1_970_000_000 + 64 * secrets.randbelow(100_000)  # another run may go on beside this one
UIDS = range(UID, UID + 64)
SHARES_OF_MIX = 100
DEADLINE_SECONDS = 60

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
    """A kind of program: how many of a hundred are of it, and what becomes of it."""

    share: int
    source: str
    verdict: str
    short: bool = False


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
PROGRAMS = {
    "right": Kind(share=16, source="print(int(input()) + 1)", verdict="PASSED"),
    "wrong": Kind(share=6, source="print(4)", verdict="FAILED"),
    "exit": Kind(share=4, source="import os; os._exit(3)", verdict="RUNTIME_ERROR"),
    "fault": Kind(share=2, source="import ctypes; ctypes.string_at(0)", verdict="RUNTIME_ERROR"),
    "orphans": Kind(share=4, source=ORPHANS, verdict="PASSED"),
    "memory": Kind(share=2, source="x = bytearray(200 << 20)", verdict="MEMORY_LIMIT_EXCEEDED"),
    "forks": Kind(share=2, source=FORKS, verdict="RUNTIME_ERROR"),
    "output": Kind(share=2, source="while True: print('x' * 999)", verdict="OUTPUT_LIMIT_EXCEEDED"),
    "files": Kind(share=2, source=FILES, verdict="OUTPUT_LIMIT_EXCEEDED"),
    "busy": Kind(share=2, source="while True: pass", verdict="TIME_LIMIT_EXCEEDED", short=True),
    "asleep": Kind(
        share=2, source="import time; time.sleep(60)", verdict="TIME_LIMIT_EXCEEDED", short=True
    ),
    "attack": Kind(
        share=2,
        source="import ctypes; ctypes.CDLL(None).unshare(0x10000000)",
        verdict="SECURITY_VIOLATION",
    ),
}
FUNCTIONS = {
    "right function": Kind(share=38, source="def f(x): return x + 1", verdict="PASSED"),
    "wrong function": Kind(share=8, source="def f(x): return x", verdict="FAILED"),
    "left function": Kind(
        share=4, source="import os\ndef f(x): os._exit(0)", verdict="RUNTIME_ERROR"
    ),
    "broken function": Kind(share=4, source="def f(x: return x", verdict="COMPILE_ERROR"),
}
KINDS = {**PROGRAMS, **FUNCTIONS}


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
    if name in FUNCTIONS:
        made.function.entry_point = "f"
        made.function.asserts.extend(["assert f(1) == 2", "assert f(2) == 3"])
    else:
        made.stdio.cases.add(stdin=b"2\n", expected_stdout=b"3\n")
    return made


def requests(count: int) -> list[pb.ScoreRequest]:
    """Mixes kinds by their shares, in an order of this run's own."""
    names = [name for name, kind in KINDS.items() for _ in range(kind.share)]
    assert len(names) == SHARES_OF_MIX
    mixed = [names[number % SHARES_OF_MIX] for number in range(count)]
    random.shuffle(mixed)
    return [request(name, number) for number, name in enumerate(mixed)]


# ----------------------------------------------------------------------------------- servers


@dataclass(kw_only=True)
class Server:
    """A server in a process of its own."""

    process: asyncio.subprocess.Process
    address: str
    prefixes: tuple[str, ...]
    channel: grpc.aio.Channel = field(init=False)

    def __post_init__(self) -> None:
        self.channel = grpc.aio.insecure_channel(self.address)

    async def score(self, request: pb.ScoreRequest) -> pb.ScoreResponse:
        stub = pb_grpc.RewardServiceStub(self.channel)
        response: pb.ScoreResponse = await stub.Score(request, timeout=DEADLINE_SECONDS)
        return response

    def cgroups(self) -> list[Path]:
        """Finds the control groups that it made."""
        found = []
        for prefix in map(Path, self.prefixes):
            found += prefix.parent.glob(f"{prefix.name}*")
        return found

    def runners(self) -> list[int]:
        """Finds bubblewraps and zygotes; a judge, however it dies, dies of its candidate."""
        groups = [path for path in self.cgroups() if path.name.endswith(".supervisor")]
        texts = []
        for group in groups:
            with contextlib.suppress(OSError):
                texts.append((group / "cgroup.procs").read_text())
        return [int(pid) for text in texts for pid in text.split() if namespace_depth(pid) <= 2]

    def descriptors(self) -> int:
        """Counts its open files."""
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    async def end(self, number: signal.Signals) -> None:
        """Ends it with a signal and waits until it is gone."""
        self.process.send_signal(number)
        await self.process.wait()
        await self.channel.close()


def namespace_depth(pid: str) -> int:
    """Tells in how many pid namespaces a process lives: a container is the second."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("NSpid:"):
                return len(line.split()) - 1
    return sys.maxsize


async def start_server() -> Server:
    command = ["serve", "--json", "--port", "0", "--workers", str(SLOTS)]
    settings = ["--set", f"sandbox_uid={UID}", "--set", "recycle_after_executions=200"]
    code = "from reward_server.cli import main; main()"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", code, *command, *settings),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdout is not None
    told = json.loads(await process.stdout.readline())
    parent = CgroupParent.detect()
    prefixes = tuple(
        f"{place}/{OUR_PREFIX}{owner_id(process.pid)}-" for place in parent.directories.values()
    )
    return Server(process=process, address=told["address"], prefixes=prefixes)


# ------------------------------------------------------------------------------- what is left


def sandbox_processes() -> list[str]:
    """Finds processes of this test's users, by their command lines."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if path.stat().st_uid in UIDS:
                found.append(f"{path.name} {(path / 'cmdline').read_bytes()!r}")
    return found


def mounts() -> set[str]:
    """Finds the mounts of this process's namespace, but those of an engine's containers."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return {path for line in lines if "/overlay2/" not in (path := line.split(" ", 5)[4])}


def files() -> set[str]:
    """Finds what lies in the folders that programs and servers may write."""
    return {
        str(path)
        for folder in ("/tmp", "/dev/shm", "/run")
        for path in Path(folder).glob("*")
        if path.lstat().st_uid in UIDS or "codereward" in path.name
    }


async def gone(server: Server) -> None:
    """Waits until nothing of a server is left, for as long as its janitor may take."""
    for _ in range(1000):
        if not server.cgroups() and not sandbox_processes():
            return
        await asyncio.sleep(0.01)
    raise AssertionError((server.cgroups(), sandbox_processes()))


# ---------------------------------------------------------------------------------- the soak


class Soak:
    """Sends every request until it is judged, whatever happens to servers."""

    def __init__(self, pending: list[pb.ScoreRequest]) -> None:
        self.pending = pending
        self.server: Server | None = None
        self.up = asyncio.Event()
        self.progress = asyncio.Condition()
        self.judged: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.refused: Counter[str] = Counter()

    @property
    def done(self) -> int:
        return self.judged.total()

    async def work(self) -> None:
        while self.pending:
            request = self.pending.pop()
            response = await self._score(request)
            name = request.id.rpartition("-")[0]
            verdict = pb.Verdict.Name(response.verdict).removeprefix("VERDICT_")
            self.judged[name] += 1
            if verdict != KINDS[name].verdict:
                self.wrong.append(f"{request.id}: {verdict}: {response.message}")
            async with self.progress:
                self.progress.notify_all()

    async def _score(self, request: pb.ScoreRequest) -> pb.ScoreResponse:
        for _ in range(RETRIES):
            await self.up.wait()
            server = self.server
            assert server is not None
            try:
                return await server.score(request)
            except grpc.aio.AioRpcError as error:
                self.refused[error.code().name] += 1
                if error.code() is not grpc.StatusCode.UNAVAILABLE:
                    raise
            except asyncio.CancelledError:
                # A channel closed under a call ends it so; a server was killed.
                if asyncio.current_task().cancelling():  # type: ignore[union-attr]  # a task runs this
                    raise
        raise AssertionError(f"{request.id} was not judged: {self.refused}")

    async def wait_for(self, count: int) -> None:
        """Waits until so many are judged."""
        async with self.progress:
            await self.progress.wait_for(lambda: self.done >= count)


async def kill_runners(soak: Soak, server: Server, first: int, last: int) -> int:
    """Kills processes of containers' machinery between two counts of judged requests."""
    killed = 0
    for step in range(RUNNER_KILLS_PER_SERVER):
        await soak.wait_for(first + (last - first) * (step + 1) // (RUNNER_KILLS_PER_SERVER + 1))
        with contextlib.suppress(ProcessLookupError, IndexError):
            os.kill(random.choice(server.runners()), signal.SIGKILL)
            killed += 1
    return killed


@pytest.fixture
async def servers() -> AsyncIterator[list[Server]]:
    started: list[Server] = []
    yield started
    for server in started:
        if server.process.returncode is None:
            await server.end(signal.SIGKILL)


@pytest.mark.timeout(300)
async def test_after_many_executions_and_some_kills_nothing_is_left(
    servers: list[Server],
) -> None:
    mounts_before, files_before = mounts(), files()
    assert sandbox_processes() == []
    soak = Soak(requests(EXECUTIONS))
    killed = 0
    async with asyncio.TaskGroup() as group:
        for _ in range(IN_FLIGHT):
            group.create_task(soak.work())
        for number in range(SERVERS):
            server = await start_server()
            servers.append(server)
            at_rest = server.descriptors()
            soak.server = server
            soak.up.set()
            first, last = soak.done, EXECUTIONS * (number + 1) // SERVERS
            killed += await kill_runners(soak, server, first, last)
            await soak.wait_for(last)
            if number < SERVERS - 1:
                soak.up.clear()
                await server.end(signal.SIGKILL)
                await gone(server)
    assert soak.wrong == []
    assert soak.done == EXECUTIONS
    assert set(soak.refused) == {"UNAVAILABLE"}  # by servers that were killed under their calls
    assert killed >= SERVERS * (RUNNER_KILLS_PER_SERVER - 1)
    # Connections of this test's own, and containers that are being replaced, come and go.
    assert server.descriptors() <= at_rest + 16
    await server.end(signal.SIGTERM)
    assert server.process.returncode == 0
    await gone(server)
    assert mounts() == mounts_before
    assert files() <= files_before
