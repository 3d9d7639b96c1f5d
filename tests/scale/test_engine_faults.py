"""Faults of a Docker Engine under load: no verdict is wrong, and the server recovers by itself."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import docker
import grpc
import pytest
import pytest_asyncio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from codereward.v1 import reward_service_pb2 as pb
from reward_server.sandbox.docker import janitor as engine_janitor
from reward_server.sandbox.docker.inventory import OWNER_LABEL, Containers, remove
from tests.scale.own_engine import OwnEngine, copy_image, own_engine
from tests.support.engine import PYTHON_TAG
from tests.support.tools import require
from trainer_client import AsyncRewardClient, Score

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.promise(
        "While a Docker Engine fails, verdicts are right or absent; then the server recovers.",
        "Confinement",
    ),
]

SLOTS = 2
CONTAINERS = SLOTS + 1  # and a spare
IN_FLIGHT = 4
DEADLINE_SECONDS = 4.0
RECOVERY_SECONDS = 300.0
DEAD_OWNER = "dead"
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
UNJUDGED = {"UNAVAILABLE", "DEADLINE_EXCEEDED"}
# A queue that is too slow for a deadline is told as an overload.
TOO_SLOW = re.compile(r"RESOURCE_EXHAUSTED: .*\bthe queue (?:takes about|took most of)\b")
WHY = "the sandboxes failed twice; the server's log says why"

SLOW = "import time; time.sleep(0.1); print(int(input()) + {})"
FUNCTION = "def f(x): return x + {}"


def request(number: int) -> pb.ScoreRequest:
    """Builds a request unlike all others; an even one is right."""
    right = 1 + number % 2
    made = pb.ScoreRequest(id=str(number), extraction=pb.EXTRACTION_NONE)
    if number // 2 % 2:
        made.completion = f"{SLOW.format(right)}  # {number}"
        made.stdio.cases.add(stdin=b"2\n", expected_stdout=b"3\n")
    else:
        made.completion = f"{FUNCTION.format(right)}  # {number}"
        made.function.entry_point = "f"
        made.function.asserts.append("assert f(1) == 2")
    return made


# -------------------------------------------------------------------------- server and load


@dataclass(kw_only=True)
class Server:
    """A server in a process of its own, on an engine of the test's."""

    process: asyncio.subprocess.Process
    address: str
    log: Path
    health: list[int] = field(default_factory=list)

    async def watch(self) -> None:
        """Notes how its health changes."""
        async with grpc.aio.insecure_channel(self.address) as channel:
            stub = health_pb2_grpc.HealthStub(channel)
            async for answer in stub.Watch(health_pb2.HealthCheckRequest()):
                self.health.append(answer.status)

    async def until_healthy(self, status: int) -> None:
        await until(lambda: self.health[-1:] == [status], f"health is {status}")

    async def says_why(self, load: Load, reason: str) -> None:
        """Waits until a request is told of the log, and the log tells the reason."""
        await load.error_that_says(WHY)
        await until(lambda: reason in self.log.read_text(), f"the log says {reason!r}")

    async def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(RECOVERY_SECONDS):
            assert await self.process.wait() == 0, self.log.read_text()[-4000:]


async def until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + RECOVERY_SECONDS
    while not await asyncio.to_thread(condition):
        assert time.monotonic() < deadline, f"not in time: {what}"
        await asyncio.sleep(0.05)


class Load:
    """Sends requests all the time, each to its end, and keeps what became of them."""

    def __init__(self, address: str) -> None:
        self._client = AsyncRewardClient(
            address, outage_seconds=0.5, timeout_seconds=DEADLINE_SECONDS
        )
        self._numbers = itertools.count()
        self._ended = False
        self.judged = 0
        self.wrong: list[str] = []
        self.errors: list[str] = []

    async def send(self) -> None:
        """Sends one request after another until told to end."""
        while not self._ended:
            number = next(self._numbers)
            [score] = await self._client.score([request(number)])
            self._note(number, score)

    def _note(self, number: int, score: Score) -> None:
        if score.error is not None:
            self.errors.append(str(score.error))
        else:
            self.judged += 1
        expected = None if score.error else "FAILED" if number % 2 else "PASSED"
        verdict = score.verdict and score.verdict.name
        if verdict != expected:
            self.wrong.append(f"{number}: {verdict}: {score}")

    async def more_judged(self, count: int = 8) -> None:
        """Waits until as many more have their verdict."""
        goal = self.judged + count
        await until(lambda: self.judged >= goal, f"{count} more verdicts; {self.errors[-3:]}")

    async def error_that_says(self, text: str) -> None:
        """Waits until a request ends without a verdict, for a reason with this text."""
        told = len(self.errors)
        await until(
            lambda: any(text in error for error in self.errors[told:]),
            f"an error that says {text!r}; {set(self.errors[-20:])}",
        )

    async def end(self) -> None:
        self._ended = True


@contextlib.asynccontextmanager
async def loaded(address: str) -> AsyncIterator[Load]:
    """Keeps a server busy, and checks that every request got its due."""
    load = Load(address)
    async with asyncio.TaskGroup() as group:
        for _ in range(IN_FLIGHT):
            group.create_task(load.send())
        try:
            await load.more_judged()
            yield load
            await load.more_judged()
        finally:
            await load.end()
    assert not load.wrong, "\n".join(load.wrong)
    unlike = [error for error in load.errors if not TOO_SLOW.match(error)]
    assert {error.partition(":")[0] for error in unlike} <= UNJUDGED, set(unlike)


@pytest.fixture(scope="module")
def faulty(
    engine: docker.APIClient, python_image: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OwnEngine]:
    """Yields an engine that has the Python image."""
    require("root", "dockerd")
    with own_engine(tmp_path_factory.mktemp("engine")) as own:
        copy_image(engine, PYTHON_TAG, own)
        yield own
        assert own.containers() == set()


@pytest_asyncio.fixture(loop_scope="module")
async def server(faulty: OwnEngine, tmp_path: Path) -> AsyncIterator[Server]:
    """Yields a server; when it stops, nothing of it is left."""
    command = ("serve", "--json", "--port=0", "--backend=docker", f"--workers={SLOTS}")
    settings = (f"--set=images={PYTHON_TAG}", "--set=drain_seconds=2")
    log = tmp_path / "log"
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", "from reward_server.cli import main; main()"),
            *(*command, *settings),
            env={**os.environ, "DOCKER_HOST": faulty.address},
            stdout=asyncio.subprocess.PIPE,
            stderr=output,
        )
    assert process.stdout is not None
    made = Server(process=process, log=log, address="")
    try:
        told = await process.stdout.readline()
        assert told, log.read_text()[-4000:]
        made.address = json.loads(told)["address"]
        watch = asyncio.create_task(made.watch())
        await made.until_healthy(SERVING)
        yield made
        await until(lambda: len(faulty.containers()) == CONTAINERS, "its containers are whole")
        watch.cancel()
        await made.stop()
        assert faulty.containers() == set()
        await until(lambda: not faulty.container_mounts(), "its containers' mounts are gone")
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


# ----------------------------------------------------------------------------------- faults


async def test_killed_containers_cost_no_verdict(server: Server, faulty: OwnEngine) -> None:
    async with loaded(server.address) as load:
        for _ in range(3):
            await asyncio.to_thread(faulty.kill_containers)
            await load.more_judged()


async def test_an_engine_that_stands_still_holds_requests_up_to_their_deadline(
    server: Server, faulty: OwnEngine
) -> None:
    async with loaded(server.address) as load:
        faulty.signal(signal.SIGSTOP)
        try:
            await load.error_that_says("DEADLINE_EXCEEDED: ")
            await load.error_that_says("DEADLINE_EXCEEDED: ")
        finally:
            faulty.signal(signal.SIGCONT)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_a_server_outlives_its_engine(
    server: Server, faulty: OwnEngine, number: signal.Signals
) -> None:
    async with loaded(server.address) as load:
        await asyncio.to_thread(faulty.end, number)
        await server.says_why(load, "the engine did not start a container: it does not answer")
        await server.until_healthy(NOT_SERVING)
        await asyncio.to_thread(faulty.start)
        await server.until_healthy(SERVING)
        await load.more_judged()


async def test_an_image_that_vanished_is_named_until_it_is_back(
    server: Server, faulty: OwnEngine, engine: docker.APIClient, python_image: str
) -> None:
    def vanish() -> bool:
        faulty.kill_containers()
        with contextlib.suppress(docker.errors.APIError):  # a new container may use it already
            faulty.client.remove_image(python_image, force=True)
        return not faulty.client.images(all=True)

    async with loaded(server.address) as load:
        await until(vanish, "the image is gone")
        await server.says_why(load, f"no longer has image {PYTHON_TAG}")
        await server.until_healthy(NOT_SERVING)
        await asyncio.to_thread(copy_image, engine, PYTHON_TAG, faulty)
        await server.until_healthy(SERVING)


async def test_a_full_disk_is_told_until_it_has_room(server: Server, faulty: OwnEngine) -> None:
    ballast = faulty.data / "ballast"

    def starve() -> bool:
        with ballast.open("ab") as file, contextlib.suppress(OSError):
            while True:
                os.write(file.fileno(), bytes(1 << 20))
        faulty.kill_containers()  # which gives some room back
        told = any(WHY in error for error in load.errors)
        reason = "no space left on device" in server.log.read_text()
        return told and reason and server.health[-1:] == [NOT_SERVING]

    async with loaded(server.address) as load:
        try:
            await until(starve, "no container can be made, and requests are told why")
        finally:
            ballast.unlink()
        await server.until_healthy(SERVING)


@contextlib.asynccontextmanager
async def one_stuck(faulty: OwnEngine, labels: Mapping[str, str]) -> AsyncIterator[str]:
    """Makes three containers and gives the second one's id, which meanwhile cannot be removed."""
    create = functools.partial(
        faulty.client.create_container, PYTHON_TAG, command=["true"], labels=labels
    )
    _, stuck, _ = [(await asyncio.to_thread(create))["Id"] for _ in range(3)]
    held = faulty.data / "containers" / stuck / "held"
    held.touch()
    await asyncio.to_thread(subprocess.run, ["chattr", "+i", held], check=True)
    try:
        yield stuck
    finally:
        await asyncio.to_thread(subprocess.run, ["chattr", "-i", held], check=True)


async def test_a_container_that_cannot_be_removed_keeps_no_other(faulty: OwnEngine) -> None:
    containers = Containers(faulty.client)
    async with one_stuck(faulty, containers.labels) as stuck:
        await containers.close()
        assert faulty.containers() == {stuck}
    await asyncio.to_thread(remove, faulty.client, stuck)


async def test_a_container_that_cannot_be_removed_keeps_no_other_from_the_janitor(
    faulty: OwnEngine,
) -> None:
    async with one_stuck(faulty, {OWNER_LABEL: DEAD_OWNER}) as stuck:
        janitor = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", engine_janitor.__name__, DEAD_OWNER),
            env={**os.environ, "DOCKER_HOST": faulty.address},
            stdin=asyncio.subprocess.PIPE,
        )
        assert janitor.stdin is not None
        janitor.stdin.close()
        await until(lambda: faulty.containers() == {stuck}, "the others are gone")
    assert await janitor.wait() == 0
    assert faulty.containers() == set()
