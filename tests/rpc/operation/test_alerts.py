"""Each alert fires for the server whose fault provokes it, and for no other, in a real Prometheus.

All servers run at once, each with its fault and under load, while one Prometheus scrapes them. One
is one of two processes, of which the other has no fault: two servers of this test, whose metrics
are joined as those of processes are.
"""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

import grpc
import pytest
import yaml
from grpc_health.v1 import health_pb2, health_pb2_grpc
from prometheus_client import CollectorRegistry, generate_latest

from reward_server.domain import Ending, Execution, Job, TestOutcome, TestResult, Wall
from reward_server.errors import SandboxError
from reward_server.operation import Condition
from reward_server.processes.metrics import MetricsOfProcesses
from reward_server.processes.parent import running_processes
from reward_server.sandbox import pool as pools
from reward_server.sandbox.pool import Pool
from reward_server.sandbox.retries import RetryingExecutor
from reward_server.settings import load_settings
from reward_server.telemetry import serve_metrics
from tests.rpc.conftest import Serve, Served, function_request, servers
from tests.rpc.fakes import FakeExecutor, passing
from tests.rpc.operation.prometheus import ALERTS, Prometheus, prometheus
from tests.support.simulated_process import COMMAND
from trainer_client.local_server import free_port

pytestmark = pytest.mark.timeout(180)

LONGEST_SECONDS = 60.0
CALM_SECONDS = 3.0
LOST = "RewardServerProcessLost"
ALL = {rule["alert"] for rule in yaml.safe_load(ALERTS.read_text())["groups"][0]["rules"]}


class Fragile:
    """A sandbox that fails when it is told to, and dies of that."""

    def __init__(self, fails: Callable[[], bool]) -> None:
        self._fails = fails
        self.is_alive = True

    async def run(self, job: Job) -> Execution:
        if self._fails():
            self.is_alive = False
            raise SandboxError("broken")
        await asyncio.sleep(0.01)
        return passing(job)

    async def close(self) -> None:
        self.is_alive = False


async def score(served: Served, number: int) -> None:
    """Sends one completion; a refusal is part of some faults."""
    with suppress(grpc.aio.AioRpcError):
        await served.stub.Score(function_request(number), timeout=20)


async def load(served: Served, width: int = 1) -> None:
    """Sends completions until it is cancelled, some of them at once."""
    number = 0
    while True:
        await asyncio.gather(*(score(served, number + one) for one in range(width)))
        number += width
        await asyncio.sleep(0.05)


@dataclass(frozen=True)
class Start:
    """Starts a server whose metrics are at a port, or one without metrics."""

    serve: Serve
    port: int
    has_metrics: bool = True

    async def __call__(self, **settings: Any) -> Served:
        if self.has_metrics:
            settings["metrics_port"] = self.port
        return await self.serve(**settings)


Fault = Callable[[Start, AsyncExitStack], Awaitable[Served | None]]


def of_one_of_two(fault: Fault) -> Fault:
    """Returns the fault of one of two processes."""

    async def provoke(start: Start, stack: AsyncExitStack) -> Served | None:
        apart = replace(start, has_metrics=False)
        faulty, sound = await fault(apart, stack), await apart()
        assert faulty is not None
        apps = (faulty.app, sound.app)

        def ask() -> dict[int, str]:
            texts = (generate_latest(app.telemetry.registry).decode() for app in apps)
            return dict(enumerate(texts))

        registry = CollectorRegistry()
        registry.register(MetricsOfProcesses(ask=ask, starts=lambda: {0: 1, 1: 1}))
        stack.callback(serve_metrics(start.port, registry))
        in_background(stack, load(sound))
        if fault not in WITHOUT_LOAD:
            in_background(stack, load(faulty))
        return None

    return provoke


async def nothing(start: Start, stack: AsyncExitStack) -> Served:
    return await start()


async def down(start: Start, stack: AsyncExitStack) -> Served:
    served = await start()
    await served.stop()
    return served


async def outage(start: Start, stack: AsyncExitStack) -> Served:
    outages = asyncio.Queue[bool]()
    served = await start(outages=outages)
    outages.put_nowait(False)
    return served


async def stuck(start: Start, stack: AsyncExitStack) -> Served:
    served = await start(executor=FakeExecutor(held=True))
    for number in range(3):
        in_background(stack, score(served, -1 - number))
    return served


async def queue_full(start: Start, stack: AsyncExitStack) -> Served:
    executor = FakeExecutor(held=True)
    served = await start(executor=executor, queue_capacity=2)

    async def work_slowly() -> None:
        while True:
            await executor.until_running(2)
            await asyncio.sleep(0.1)
            executor.finish()

    in_background(stack, work_slowly())
    for base in range(8):
        in_background(stack, insist(served, 100_000 * (base + 1)))
    return served


async def insist(served: Served, number: int) -> None:
    while True:
        number += 1
        await score(served, number)
        await asyncio.sleep(0.005)


async def starts_fail(start: Start, stack: AsyncExitStack) -> Served:
    made = 0

    async def factory(_: int) -> Fragile:
        nonlocal made
        made += 1
        if made > 2:
            raise SandboxError("no more")
        return Fragile(lambda: False)

    return await pooled(start, stack, Pool(factory, slots=2))


async def sandboxes_lost(start: Start, stack: AsyncExitStack) -> Served:
    jobs = 0

    def every_tenth() -> bool:
        nonlocal jobs
        jobs += 1
        return jobs % 10 == 0

    async def factory(_: int) -> Fragile:
        return Fragile(every_tenth)

    return await pooled(start, stack, Pool(factory, slots=2))


async def pooled(start: Start, stack: AsyncExitStack, pool: Pool) -> Served:
    """Serves with a real pool that runs jobs a second time elsewhere."""
    retrying = RetryingExecutor(pool)
    await pool.start()
    stack.push_async_callback(pool.close)
    return await start(
        executor=retrying,
        facts={"counts": lambda: pool.counts, "retries": lambda: retrying.retries},
    )


async def internal_error(start: Start, stack: AsyncExitStack) -> Served:
    def break_sometimes(job: Job) -> Execution:
        if "99" in str(job.work):
            raise KeyError("a defect")
        return passing(job)

    served = await start(executor=FakeExecutor(behaviour=break_sometimes))
    in_background(stack, score(served, 99))
    return served


async def hack_signals(start: Start, stack: AsyncExitStack) -> Served:
    def cheat(job: Job) -> Execution:
        return replace(passing(job), ending=Ending.CRASHED, signals={"early_exit": 1}, tests=())

    return await start(executor=FakeExecutor(behaviour=cheat))


async def invalid_tasks(start: Start, stack: AsyncExitStack) -> Served:
    def refuse(job: Job) -> Execution:
        return replace(passing(job), ending=Ending.INVALID_TASK, tests=())

    return await start(executor=FakeExecutor(behaviour=refuse))


async def missing_modules(start: Start, stack: AsyncExitStack) -> Served:
    message = "ModuleNotFoundError: No module named 'numpy'"

    def fail(job: Job) -> Execution:
        failed = TestResult(name="test 0", outcome=TestOutcome.ERROR, message=message)
        return replace(passing(job), tests=(failed,), message=message)

    return await start(executor=FakeExecutor(behaviour=fail))


async def strangers(start: Start, stack: AsyncExitStack) -> Served:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    (folder / "tokens").write_text("good\n")
    served = await start(token_file=folder / "tokens")
    health = health_pb2_grpc.HealthStub(served.channel)
    watches = [health.Watch(health_pb2.HealthCheckRequest()) for _ in range(60)]
    for watch in watches:
        in_background(stack, _read(watch))
        stack.callback(watch.cancel)
    return served


async def _read(watch: Any) -> None:
    with suppress(grpc.aio.AioRpcError):
        await watch.read()


async def wall_waived(start: Start, stack: AsyncExitStack) -> Served:
    waived = Wall(name="memory-limit", standing=False, detail="waived")
    return await start(facts={"walls": (waived,)})


async def event_loop_lags(start: Start, stack: AsyncExitStack) -> Served:
    async def hold_up() -> None:
        while True:
            time.sleep(1.5)  # noqa: ASYNC251  # the loop has to stand still
            await asyncio.sleep(0.1)

    served = await start()
    in_background(stack, hold_up())
    return served


FAULTS: dict[str, Fault] = {
    "RewardServerDown": down,
    "RewardServerOutage": outage,
    "RewardServerStuck": stuck,
    "RewardServerQueueFull": queue_full,
    "RewardServerSandboxesDoNotStart": starts_fail,
    "RewardServerSandboxesLost": sandboxes_lost,
    "RewardServerInternalErrors": internal_error,
    "RewardServerHackSignals": hack_signals,
    "RewardServerInvalidTasks": invalid_tasks,
    "RewardServerMissingModules": missing_modules,
    "RewardServerStrangers": strangers,
    "RewardServerWallWaived": wall_waived,
    "RewardServerStuck of a process": of_one_of_two(stuck),
    "none": nothing,
}
# They need no load, or have their own.
WITHOUT_LOAD = (down, stuck, queue_full, outage)
# Runs apart, because all servers of one test share an event loop.
LAGS: dict[str, Fault] = {"RewardServerEventLoopLags": event_loop_lags}
# The alert's second, less the time between two of a server's measurements.
HELD_UP_SECONDS = 0.5


def in_background(stack: AsyncExitStack, work: Any) -> None:
    """Runs a coroutine until the stack is closed."""
    task = asyncio.create_task(work)

    async def end() -> None:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    stack.push_async_callback(end)


async def provoked(
    running: Prometheus, faults: dict[str, Fault], ports: dict[str, int]
) -> dict[str, set[str]]:
    """Provokes faults; returns the alerts that fired, by the alert that was meant.

    Where the machine really held up this process, the alerts of that are right and are left out.
    """
    delays: list[float] = []
    async with servers() as serve, AsyncExitStack() as stack:
        in_background(stack, Condition(time.monotonic).feel(delays.append))
        for name, fault in faults.items():
            served = await fault(Start(serve, ports[name]), stack)
            if served is not None and fault not in WITHOUT_LOAD:
                in_background(stack, load(served))
        # Until now the servers that started last were down, which Prometheus soon sees is over.
        await asyncio.sleep(CALM_SECONDS)
        started = time.monotonic()
        while time.monotonic() < started + LONGEST_SECONDS:
            found = await asyncio.to_thread(fired, running, faults, ports, started)
            if all(alert_of(name) <= names for name, names in found.items()):
                break
            await asyncio.sleep(0.25)
        await asyncio.sleep(CALM_SECONDS)
        found = await asyncio.to_thread(fired, running, faults, ports, started)
    excused = {*LAGS, "RewardServerDown"} if max(delays) > HELD_UP_SECONDS else set()
    return {name: names - (excused - alert_of(name)) for name, names in found.items()}


def alert_of(name: str) -> set[str]:
    return {name.partition(" ")[0]} - {"none"}


def fired(
    running: Prometheus, faults: dict[str, Fault], ports: dict[str, int], started: float
) -> dict[str, set[str]]:
    seconds = time.monotonic() - started
    return {name: running.fired(f"127.0.0.1:{ports[name]}", seconds) for name in faults}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """The alerts that fired for each fault."""
    found: dict[str, set[str]] = {}
    for faults in (FAULTS, LAGS):
        ports = {name: free_port() for name in faults}
        targets = [f"127.0.0.1:{port}" for port in ports.values()]
        with (
            prometheus(tmp_path_factory.mktemp("prometheus"), targets) as running,
            mock.patch.object(pools, "LONGEST_RETRY_SECONDS", 0.2),
        ):
            found |= asyncio.run(provoked(running, faults, ports))
    return found


@pytest.mark.parametrize("name", FAULTS | LAGS)
def test_an_alert_fires_for_its_fault_and_no_other_does(
    found: dict[str, set[str]], name: str
) -> None:
    assert found[name] == alert_of(name)


async def test_the_alert_of_a_lost_process_fires_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of two real processes is killed and cannot be started again."""
    obstacle, port = tmp_path / "obstacle", free_port()
    monkeypatch.setenv("SIMULATED_OBSTACLE", str(obstacle))
    settings = load_settings({"port": 0, "workers": 2, "metrics_port": port})
    instance = f"127.0.0.1:{port}"
    async with AsyncExitStack() as stack:
        running = running_processes(settings, 2, command=COMMAND)
        processes = await stack.enter_async_context(running)
        prometheuses = prometheus(tmp_path, [instance])
        watching = await asyncio.to_thread(prometheuses.__enter__)
        stack.push_async_callback(asyncio.to_thread, prometheuses.__exit__, None, None, None)
        await asyncio.sleep(CALM_SECONDS)
        assert await asyncio.to_thread(watching.fired, instance) - set(LAGS) == set()
        await asyncio.to_thread(obstacle.touch)
        os.kill(processes.pids[1], signal.SIGKILL)
        while LOST not in await asyncio.to_thread(watching.fired, instance):  # noqa: ASYNC110
            await asyncio.sleep(0.25)
        await asyncio.sleep(CALM_SECONDS)
        # The two processes may really be late on a busy machine.
        assert await asyncio.to_thread(watching.fired, instance) - set(LAGS) == {LOST}


def test_every_alert_is_provoked() -> None:
    assert {LOST, *(alert for name in FAULTS | LAGS for alert in alert_of(name))} == ALL
