"""Measures sessions: latency from a warm pool, idle memory, and what is left after faults.

    python -m benchmarks.sessions latency --count 200
    python -m benchmarks.sessions latency --set backend=docker --set runtime=runsc
    python -m benchmarks.sessions code --count 50
    python -m benchmarks.sessions memory --count 20

Each starts a server of its own on the local backend; `latency` and `code` take other settings.
`latency` opens a session, runs a command in it and closes it, one session after another, each when
a sandbox is warm; `--at-once` keeps several open and does not wait. `code` runs code in an
interpreter: the first call in a session, and further ones. `memory` opens sessions and leaves them
idle. `benchmarks.session_faults` kills what sessions are made of.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from reward_server.sandbox.local.cgroup import CgroupParent
from reward_server.sandbox.local.janitor import OUR_PREFIX
from reward_server.sandbox.owner import owner_id
from trainer_client import AsyncRewardClient, ExecResult
from trainer_client.local_server import LocalServer, free_port

MEMORY_BYTES = 64 << 20
COMMAND = ["bash", "-c", "echo $((6 * 7))"]


class Served:
    """A server with sessions, and its metrics."""

    def __init__(self, server: LocalServer, metrics_port: int) -> None:
        self.server = server
        self._metrics = f"http://127.0.0.1:{metrics_port}/metrics"

    @property
    def target(self) -> str:
        """The server's address."""
        return self.server.target

    def metric(self, line: str) -> float:
        """Returns the value of a metric, by its name and labels."""
        with urllib.request.urlopen(self._metrics, timeout=10) as answer:
            text = answer.read().decode()
        return float(next(row for row in text.splitlines() if row.startswith(line)).split()[-1])

    async def until_warm(self, count: int) -> None:
        """Waits until that many sandboxes are warm."""
        name = 'reward_server_sessions{state="warm"}'
        while await asyncio.to_thread(self.metric, name) < count:  # noqa: ASYNC110  # nothing tells
            await asyncio.sleep(0.02)


@contextmanager
def served(folder: Path, warm: int, sessions: int, changes: Sequence[str] = ()) -> Iterator[Served]:
    """Runs a server, with changes of its settings, for the length of the block."""
    port = free_port()
    settings = {
        "languages": "python",
        "session_memory_bytes": sessions * MEMORY_BYTES,
        "session_count": sessions,
        "session_warm": warm,
    }
    arguments = ["--workers", "1", "--metrics-port", str(port)]
    for name, value in settings.items():
        arguments += ["--set", f"{name}={value}"]
    for change in changes:
        arguments += ["--set", change]
    with LocalServer(folder / "server.log", arguments) as server:
        yield Served(server, port)


async def one(client: AsyncRewardClient) -> ExecResult:
    """Opens a session, runs a command and closes it; returns the command's result."""
    async with client.session(memory_bytes=MEMORY_BYTES) as session:
        return await session.exec(COMMAND)


async def latency(count: int, at_once: int, changes: Sequence[str]) -> None:
    """Prints the latency of sessions."""
    seconds: list[float] = []

    async def measured(client: AsyncRewardClient) -> None:
        begun = time.perf_counter()
        assert (await one(client)).stdout == b"42\n"
        seconds.append(time.perf_counter() - begun)

    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder), 4, 4 + at_once, changes) as running,
    ):
        async with AsyncRewardClient(running.target) as client:
            await one(client)
            begun = time.perf_counter()
            if at_once == 1:
                for _ in range(count):
                    await running.until_warm(2)
                    await measured(client)
            else:
                places = asyncio.Semaphore(at_once)

                async def placed() -> None:
                    async with places:
                        await measured(client)

                await asyncio.gather(*(placed() for _ in range(count)))
            whole = time.perf_counter() - begun
    seconds.sort()
    print(f"{count} sessions, {at_once} at once, in {whole:.1f} s: {count / whole:.1f} a second")
    print(f"open + exec + close: median {1e3 * statistics.median(seconds):.1f} ms", end=", ")
    print(f"p99 {1e3 * seconds[int(0.99 * len(seconds))]:.1f} ms")


async def code(count: int, changes: Sequence[str]) -> None:
    """Prints the latency of code in an interpreter."""
    first: list[float] = []
    further: list[float] = []
    with tempfile.TemporaryDirectory() as folder, served(Path(folder), 4, 4, changes) as running:
        async with AsyncRewardClient(running.target) as client:
            for _ in range(count):
                async with client.session(memory_bytes=MEMORY_BYTES) as session:
                    for seconds in (first, further, further, further):
                        begun = time.perf_counter()
                        assert (await session.run_code("6 * 7")).value == "42"
                        seconds.append(time.perf_counter() - begun)
    for name, taken in (("first", first), ("further", further)):
        print(f"{name} calls: median {1e3 * statistics.median(taken):.1f} ms", end=", ")
        print(f"p99 {1e3 * sorted(taken)[int(0.99 * len(taken))]:.1f} ms")


async def memory(count: int) -> None:
    """Prints the idle memory of a session."""
    with tempfile.TemporaryDirectory() as folder, served(Path(folder), 0, count) as running:
        async with AsyncRewardClient(running.target, timeout_seconds=120) as client:
            sessions = [client.session(memory_bytes=MEMORY_BYTES) for _ in range(count)]
            for session in sessions:
                await session.__aenter__()
                await session.exec(["true"])
            await asyncio.sleep(1)
            shares = sum(map(_share_bytes, _processes(running.server.pid)))
            charged = sum(map(_charged_bytes, _cgroups(running.server.pid)))
            for session in sessions:
                await session.close()
    print(f"{count} idle sessions: {shares / count / 2**20:.1f} MiB each (proportional share of")
    print(f"their processes), {charged / count / 2**20:.1f} MiB each charged to control groups")


def _processes(server: int) -> list[int]:
    """Returns the processes of a server's session containers."""
    found = []
    for group in _cgroups(server):
        with suppress(OSError):
            found += [int(line) for line in (group / "cgroup.procs").read_text().split()]
    return sorted({pid for pid in found if pid})


def _cgroups(server: int) -> list[Path]:
    return cgroups_of(owner_id(server), "*.session*")


def cgroups_of(owner: str, name: str = "*") -> list[Path]:
    """Finds the control groups of a server's containers, by its owner id and a pattern."""
    places = set(CgroupParent.look(None).directories.values())
    return [path for place in places for path in place.glob(f"{OUR_PREFIX}{owner}-{name}")]


def _share_bytes(pid: int) -> int:
    with suppress(OSError, StopIteration):
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("Pss:")).split()[1]) << 10
    return 0


def _charged_bytes(group: Path) -> int:
    for name in ("memory.usage_in_bytes", "memory.current"):
        with suppress(OSError):
            return int((group / name).read_text())
    return 0


def main() -> None:
    """Reads the command line and measures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("latency", "code", "memory"))
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--at-once", type=int, default=None)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    given = parser.parse_args()
    if given.what == "latency":
        asyncio.run(latency(given.count, given.at_once or 1, given.set))
    elif given.what == "code":
        asyncio.run(code(given.count, given.set))
    else:
        asyncio.run(memory(given.count))


if __name__ == "__main__":
    sys.exit(main())
