"""Each alert fires for the server whose fault provokes it, and for no other, by Prometheus' rules.

Each server, with its fault and under load, is scraped round by round, and the rules are tried on
what was found: to them, each round takes half a minute. One server is one of two processes, of
which the other has no fault: two servers of this test, whose metrics are joined as those of
processes are.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import tempfile
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

from reward_server import app as app_module
from reward_server import operation
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
from tests.rpc.operation.prometheus import ALERTS, Scrapes
from tests.support.simulated_process import COMMAND
from tests.support.tools import needs
from trainer_client.local_server import free_port

pytestmark = needs("promtool")

ROUNDS = 41  # twenty minutes, to the rules
LOAD = 4  # completions in each
LOST = "RewardServerProcessLost"
ALL = {rule["alert"] for rule in yaml.safe_load(ALERTS.read_text())["groups"][0]["rules"]}

Step = Callable[[], Awaitable[object]]
numbers = itertools.count()


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
        await served.stub.Score(function_request(number))


def loaded(served: Served) -> Step:
    """Returns a round of completions."""
    return lambda: asyncio.gather(*(score(served, next(numbers)) for _ in range(LOAD)))


async def until(condition: Callable[[], bool]) -> None:
    """Returns once something holds that nothing tells of."""
    while not condition():  # noqa: ASYNC110
        await asyncio.sleep(0.001)


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


# Starts a server with a fault; gives what happens to it in each round.
Fault = Callable[[Start, AsyncExitStack], Awaitable[Step]]


async def nothing(start: Start, stack: AsyncExitStack) -> Step:
    return loaded(await start())


async def down(start: Start, stack: AsyncExitStack) -> Step:
    served = await start()
    await served.stop()
    return no_load


async def no_load() -> None:
    """Does nothing."""


async def outage(start: Start, stack: AsyncExitStack) -> Step:
    outages = asyncio.Queue[bool]()
    served = await start(outages=outages)
    outages.put_nowait(False)
    figures, labels = served.app.telemetry.registry, {"obstacle": "outage"}
    await until(lambda: figures.get_sample_value("reward_server_obstacle", labels) == 1)
    return no_load


async def stuck(start: Start, stack: AsyncExitStack) -> Step:
    executor = FakeExecutor(held=True)
    served = await start(executor=executor)
    for _ in range(3):
        in_background(stack, score(served, next(numbers)))
    await executor.until_running(2)
    await until(lambda: served.app.scheduler.waiting == 1)
    return no_load


async def one_stuck_process_of_two(start: Start, stack: AsyncExitStack) -> Step:
    apart = replace(start, has_metrics=False)
    executor = FakeExecutor(held=True)
    faulty, sound = await apart(executor=executor), await apart()
    for _ in range(3):
        in_background(stack, score(faulty, next(numbers)))
    await until(lambda: faulty.app.scheduler.waiting == 1)

    def ask() -> dict[int, str]:
        registries = (one.app.telemetry.registry for one in (faulty, sound))
        return dict(enumerate(generate_latest(one).decode() for one in registries))

    registry = CollectorRegistry()
    registry.register(MetricsOfProcesses(ask=ask, starts=lambda: {0: 1, 1: 1}))
    stack.callback(serve_metrics(start.port, registry))
    return loaded(sound)


async def queue_full(start: Start, stack: AsyncExitStack) -> Step:
    executor = FakeExecutor(held=True)
    served = await start(executor=executor, queue_capacity=2)
    for _ in range(8):
        in_background(stack, insist(served))

    async def work_slowly() -> None:
        await until(lambda: served.app.scheduler.is_full)
        executor.finish()
        await executor.until_running(2)
        await until(lambda: served.app.scheduler.is_full)

    return work_slowly


async def insist(served: Served) -> None:
    while True:
        await score(served, next(numbers))
        await asyncio.sleep(0.005)


async def starts_fail(start: Start, stack: AsyncExitStack) -> Step:
    made = 0

    async def factory(_: int) -> Fragile:
        nonlocal made
        made += 1
        if made > 2:
            raise SandboxError("no more")
        return Fragile(lambda: False)

    pool = Pool(factory, slots=2)
    send = loaded(await pooled(start, stack, pool))

    async def fail_again() -> None:
        failed = pool.counts.failed_starts
        await send()
        await until(lambda: pool.counts.failed_starts > failed)

    return fail_again


async def sandboxes_lost(start: Start, stack: AsyncExitStack) -> Step:
    jobs = 0

    def every_tenth() -> bool:
        nonlocal jobs
        jobs += 1
        return jobs % 10 == 0

    async def factory(_: int) -> Fragile:
        return Fragile(every_tenth)

    return loaded(await pooled(start, stack, Pool(factory, slots=2)))


async def pooled(start: Start, stack: AsyncExitStack, pool: Pool) -> Served:
    """Serves with a real pool that runs jobs a second time elsewhere."""
    retrying = RetryingExecutor(pool)
    await pool.start()
    stack.push_async_callback(pool.close)
    return await start(
        executor=retrying,
        facts={"counts": lambda: pool.counts, "retries": lambda: retrying.retries},
    )


async def internal_error(start: Start, stack: AsyncExitStack) -> Step:
    jobs = itertools.count()

    def break_sometimes(job: Job) -> Execution:
        if next(jobs) % 50 == 30:
            raise KeyError("a defect")
        return passing(job)

    return loaded(await start(executor=FakeExecutor(behaviour=break_sometimes)))


async def hack_signals(start: Start, stack: AsyncExitStack) -> Step:
    def cheat(job: Job) -> Execution:
        return replace(passing(job), ending=Ending.CRASHED, signals={"early_exit": 1}, tests=())

    return loaded(await start(executor=FakeExecutor(behaviour=cheat)))


async def invalid_tasks(start: Start, stack: AsyncExitStack) -> Step:
    def refuse(job: Job) -> Execution:
        return replace(passing(job), ending=Ending.INVALID_TASK, tests=())

    return loaded(await start(executor=FakeExecutor(behaviour=refuse)))


async def missing_modules(start: Start, stack: AsyncExitStack) -> Step:
    message = "ModuleNotFoundError: No module named 'numpy'"

    def fail(job: Job) -> Execution:
        failed = TestResult(name="test 0", outcome=TestOutcome.ERROR, message=message)
        return replace(passing(job), tests=(failed,), message=message)

    return loaded(await start(executor=FakeExecutor(behaviour=fail)))


async def strangers(start: Start, stack: AsyncExitStack) -> Step:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    (folder / "tokens").write_text("good\n")
    served = await start(token_file=folder / "tokens")
    health = health_pb2_grpc.HealthStub(served.channel)
    rounds = itertools.count()

    async def crowd() -> None:
        if next(rounds) == 5:
            watches = [health.Watch(health_pb2.HealthCheckRequest()) for _ in range(60)]
            for watch in watches:
                stack.callback(watch.cancel)
            await asyncio.gather(*(_read(watch) for watch in watches))

    return crowd


async def _read(watch: Any) -> None:
    with suppress(grpc.aio.AioRpcError):
        await watch.read()


async def wall_waived(start: Start, stack: AsyncExitStack) -> Step:
    waived = Wall(name="memory-limit", standing=False, detail="waived")
    return loaded(await start(facts={"walls": (waived,)}))


async def event_loop_lags(start: Start, stack: AsyncExitStack) -> Step:
    late = itertools.count(step=2.0)  # on the clock of its own, all comes two seconds later
    condition = Condition(lambda: next(late))
    with mock.patch.object(app_module, "Condition", return_value=condition):
        served = await start()
    send, figures = loaded(served), served.app.telemetry.registry

    def measured() -> float:
        return figures.get_sample_value("reward_server_event_loop_lag_seconds_count") or 0.0

    async def be_late() -> None:
        before = measured()
        await send()
        await until(lambda: measured() > before)

    return be_late


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
    "RewardServerEventLoopLags": event_loop_lags,
    "RewardServerStuck of a process": one_stuck_process_of_two,
    "none": nothing,
}


def in_background(stack: AsyncExitStack, work: Any) -> None:
    """Runs a coroutine until the stack is closed."""
    task = asyncio.create_task(work)

    async def end() -> None:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    stack.push_async_callback(end)


def alert_of(name: str) -> set[str]:
    return {name.partition(" ")[0]} - {"none"}


@pytest.fixture
def punctual(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets no event loop be late by itself, as those of a busy machine are."""
    monkeypatch.setattr(app_module, "Condition", lambda _: Condition(lambda: 0.0))
    monkeypatch.setattr(operation, "_BEAT_SECONDS", 0.01)
    monkeypatch.setattr(pools, "LONGEST_RETRY_SECONDS", 0.01)


@pytest.mark.usefixtures("punctual")
@pytest.mark.parametrize("name", FAULTS)
async def test_an_alert_fires_for_its_fault_and_no_other_does(name: str, tmp_path: Path) -> None:
    port = free_port()
    scrapes = Scrapes(f"127.0.0.1:{port}")
    async with servers() as serve, AsyncExitStack() as stack:
        step = await FAULTS[name](Start(serve, port), stack)
        for _ in range(ROUNDS):
            await asyncio.to_thread(scrapes.scrape)
            await step()
    assert scrapes.complaint(alert_of(name), tmp_path) == ""


async def test_the_alert_of_a_lost_process_fires_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of two real processes is killed and cannot be started again."""
    obstacle, port = tmp_path / "obstacle", free_port()
    monkeypatch.setenv("SIMULATED_OBSTACLE", str(obstacle))
    settings = load_settings({"port": 0, "workers": 2, "metrics_port": port})
    # The processes may really be late.
    scrapes = Scrapes(f"127.0.0.1:{port}", without="reward_server_event_loop_lag")
    async with running_processes(settings, 2, command=COMMAND) as processes:
        for _ in range(ROUNDS // 2):
            await asyncio.to_thread(scrapes.scrape)
        assert scrapes.complaint(set(), tmp_path) == ""
        await asyncio.to_thread(obstacle.touch)
        os.kill(processes.pids[1], signal.SIGKILL)
        while 0.0 not in values_of("process_up", await asyncio.to_thread(scrapes.scrape)):
            pass
        for _ in range(ROUNDS // 2):
            await asyncio.to_thread(scrapes.scrape)
    assert scrapes.complaint({LOST}, tmp_path) == ""


def values_of(name: str, found: dict[str, float]) -> list[float]:
    return [value for series, value in found.items() if series.startswith(f"reward_server_{name}")]


def test_every_alert_is_provoked() -> None:
    assert {LOST, *(alert for name in FAULTS for alert in alert_of(name))} == ALL
