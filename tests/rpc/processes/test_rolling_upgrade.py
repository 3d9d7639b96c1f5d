"""Servers are replaced by ones of the next version, one after the other, under load.

All servers are processes of their own over simulated sandboxes, which pass or fail a solution as
its text says. `next_version.py` tells what the next version is. The clients are of
this version; they send without a pause while servers are drained.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from codereward.v1 import reward_service_pb2 as pb
from reward_server.processes.parent import running_processes
from reward_server.settings import load_settings
from reward_server.version import server_version
from tests.rpc.processes import next_version
from tests.rpc.processes.name_server import NameServer
from trainer_client import AsyncRewardClient, Score, Verdict
from trainer_client.local_server import free_port

HOSTS = ("127.0.0.1", "127.0.0.2")
STEP, SECONDS = 24, "0.05"
THIS, NEXT = server_version(), next_version.VERSION


@pytest.fixture(scope="module")
def successor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree of the next version."""
    return next_version.copied(tmp_path_factory.mktemp("next"))


@asynccontextmanager
async def serving(tree: Path, host: str, port: int) -> AsyncIterator[asyncio.subprocess.Process]:
    """Runs a server of a tree."""
    flags = {"host": host, "port": port, "workers": 4, "drain_seconds": 20}
    path = {"PYTHONPATH": next_version.python_path(tree), "SIMULATED_SECONDS": SECONDS}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "tests.support.simulated_server", json.dumps(flags)),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, **path},
    )
    assert process.stdout is not None
    try:
        assert await process.stdout.readline() == b"serving\n"
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def drained(process: asyncio.subprocess.Process) -> None:
    """Ends a server as its operator does, whatever requests are in it."""
    process.send_signal(signal.SIGTERM)
    await process.communicate()
    assert process.returncode == 0


@dataclass
class Trainer:
    """A client that sends step after step, and the answers that it got."""

    client: AsyncRewardClient
    numbers: Iterator[int]
    by_version: Counter[str] = field(default_factory=Counter)
    answered: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def run(self) -> None:
        while True:
            await self.step()

    async def step(self) -> None:
        requests = [
            request_of(number) for number, _ in zip(self.numbers, range(STEP), strict=False)
        ]
        scores = await self.client.score(requests)
        for request, score in zip(requests, scores, strict=True):
            assert_right(request, score)
        async with self.answered:
            self.by_version.update(version_of(score) for score in scores if score.judged)
            self.answered.notify_all()

    async def meets(self, version: str, more: int = STEP) -> None:
        """Returns when so many more answers have come from a version."""
        wanted = self.by_version[version] + more
        async with self.answered:
            await self.answered.wait_for(lambda: self.by_version[version] >= wanted)


def request_of(number: int) -> pb.ScoreRequest:
    """Makes a request; half of the solutions fail, and no two have the same task.

    Each third request has a field of the next version, as one of its clients would send it. This
    version refuses it, and the next one judges it.
    """
    asserts = [f"assert f({number}) == {row}" for row in range(1 + number % 5)]
    what = "wrong" if number % 2 else "right"
    request = pb.ScoreRequest(
        id=str(number),
        completion=f"def f(x): return '{what}'",
        function=pb.FunctionTests(entry_point="f", asserts=asserts),
    )
    if number % 3 == 0:
        request.MergeFromString(next_version.IN_A_REQUEST)
    return request


def assert_right(request: pb.ScoreRequest, score: Score) -> None:
    if score.error is not None and int(request.id) % 3 == 0:
        assert f"{next_version.NEW_NUMBER} is not known to this server" in score.error.message
        return
    expected = Verdict.FAILED if "wrong" in request.completion else Verdict.PASSED
    assert score.verdict is expected, score.error
    assert (score.id, len(score.tests)) == (request.id, len(request.function.asserts))


def version_of(score: Score) -> str:
    """Returns the version that judged; the next one also fills a field that is unknown here."""
    assert score.response is not None
    version: str = score.response.provenance.server_version
    assert (b"a text" in score.response.SerializeToString()) == (version == NEXT)
    return version


@asynccontextmanager
async def training(targets: dict[str, dict[str, Any]]) -> AsyncIterator[list[Trainer]]:
    """Sends requests of all clients during the block; an error of any of them ends the test."""
    async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
        trainers, tasks = [], []
        for number, (target, options) in enumerate(targets.items()):
            client = AsyncRewardClient(target, **options)
            trainers.append(Trainer(await stack.enter_async_context(client), count(number * 10**6)))
            tasks.append(group.create_task(trainers[-1].run()))
        yield trainers
        for task in tasks:
            task.cancel()


async def all_meet(trainers: list[Trainer], version: str) -> None:
    await asyncio.gather(*(one.meets(version) for one in trainers))


async def test_servers_are_replaced_one_after_the_other_and_no_verdict_is_lost(
    successor: Path,
) -> None:
    port = free_port()
    listed = ",".join(f"{host}:{port}" for host in HOSTS)
    async with AsyncExitStack() as stack:
        names = await stack.enter_async_context(NameServer({"rewards.test": HOSTS}))
        servers = [
            await stack.enter_async_context(serving(next_version.ROOT, host, port))
            for host in HOSTS
        ]
        targets = {
            listed: {"max_in_flight": 16},
            f"{listed},": {"batch_size": 1, "store_from_bytes": 1, "max_in_flight": 16},
            f"dns://{names.address}/rewards.test:{port}": {"batch_size": 4, "store_from_bytes": 1},
        }
        trainers = await stack.enter_async_context(training(targets))
        await all_meet(trainers, THIS)
        for server, host in zip(servers, HOSTS, strict=True):
            await drained(server)
            await stack.enter_async_context(serving(successor, host, port))
            await all_meet(trainers, NEXT)
        seen = [one.by_version for one in trainers]
    assert all(one.keys() == {THIS, NEXT} for one in seen)


async def test_the_processes_of_one_server_are_replaced_by_those_of_the_next_version(
    successor: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The package is replaced where it lies, and the processes are started again (SIGUSR1).

    The parent stays: it is of this version, and its children are of the next.
    """
    current = tmp_path / "current"
    current.symlink_to(next_version.ROOT)
    monkeypatch.setenv("PYTHONPATH", next_version.python_path(current))
    monkeypatch.setenv("SIMULATED_SECONDS", SECONDS)
    settings = load_settings({"port": 0, "workers": 8, "drain_seconds": 20})
    command = (sys.executable, "-P", "-m", "tests.support.simulated_process")
    async with running_processes(settings, 2, command=command) as processes:
        options = {"store_from_bytes": 1, "max_in_flight": 16}
        async with training({processes.facts["address"]: options}) as trainers:
            await all_meet(trainers, THIS)
            current.unlink()
            current.symlink_to(successor)
            await processes.restart()
            await all_meet(trainers, NEXT)
        assert processes.starts == {0: 2, 1: 2}
