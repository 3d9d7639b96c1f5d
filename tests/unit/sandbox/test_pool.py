from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reward_server.domain import (
    Ending,
    Execution,
    Job,
    LimitKind,
    Program,
    Termination,
    TerminationKind,
)
from reward_server.errors import SandboxError
from reward_server.sandbox import pool as pool_module
from reward_server.sandbox.pool import SPARES, Pool
from tests.support.sampling import times

JOB = Job(work=Program(source=""))
FINE = Execution(ending=Ending.COMPLETED, termination=Termination(kind=TerminationKind.EXITED))


def execution(**changes: Any) -> Execution:
    return Execution(**{"ending": Ending.COMPLETED, "termination": FINE.termination, **changes})


class FakeSandbox:
    """Does what the test says, and notices what a real one could not bear."""

    def __init__(self, host: Host, number: int) -> None:
        self.host = host
        self.number = number
        self.running = False
        self.closes = 0
        self.closed = asyncio.Event()
        self.is_alive = True
        self._ended: asyncio.Future[Execution] | None = None

    async def run(self, job: Job) -> Execution:
        assert not self.running, "two jobs at once"
        assert not self.closes, "a job on a closed sandbox"
        self.running = True
        self.host.running.append(self)
        self._ended = asyncio.get_running_loop().create_future()
        try:
            return await self._ended
        finally:
            self.running = False
            self.host.running.remove(self)

    def end(self, result: Execution | Exception) -> None:
        assert self._ended is not None
        if isinstance(result, Exception):
            self._ended.set_exception(result)
        else:
            self._ended.set_result(result)

    async def close(self) -> None:
        self.closes += 1
        await asyncio.sleep(0)
        if self._ended is not None and not self._ended.done():
            self._ended.set_exception(SandboxError("closed under its job"))
        self.host.alive.remove(self)
        self.closed.set()


class Host:
    """Where fake sandboxes live. `gate` holds starts back; `failures` makes the next ones fail."""

    def __init__(self) -> None:
        self.alive: list[FakeSandbox] = []
        self.running: list[FakeSandbox] = []
        self.failures = 0
        self.starts = 0
        self.gate = asyncio.Event()
        self.gate.set()

    async def start(self, number: int) -> FakeSandbox:
        self.starts += 1
        await asyncio.sleep(0)
        await self.gate.wait()
        if self.failures:
            self.failures -= 1
            raise SandboxError("no bubblewrap today")
        assert number not in {sandbox.number for sandbox in self.alive}, "a number used twice"
        sandbox = FakeSandbox(self, number)
        self.alive.append(sandbox)
        return sandbox


async def settle() -> None:
    """Lets everything that can happen without the test's doing happen."""
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "FIRST_RETRY_SECONDS", 0.0)


@pytest.fixture
async def host() -> Host:
    return Host()


PoolMaker = Callable[..., Awaitable[Pool]]


@pytest.fixture
async def make(host: Host) -> AsyncIterator[PoolMaker]:
    made: list[Pool] = []

    async def maker(slots: int = 1, **options: Any) -> Pool:
        pool = Pool(host.start, slots=slots, **options)
        made.append(pool)
        await pool.start()
        await settle()
        return pool

    yield maker
    for pool in made:
        await pool.close()
    await settle()
    assert host.alive == []
    assert host.running == []
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def one_after_another(pool: Pool, host: Host, count: int) -> list[FakeSandbox]:
    used = []
    for _ in range(count):
        task = asyncio.create_task(pool.run(JOB))
        await settle()
        used.append(host.running[0])
        host.running[0].end(FINE)
        await task
        await settle()
    return used


async def test_every_slot_and_a_spare_are_warm(host: Host, make: PoolMaker) -> None:
    pool = await make(slots=3)
    assert len(host.alive) == 3 + SPARES
    assert pool.statistics.idle == 3 + SPARES


async def test_spares_can_wait_until_a_servers_own_first_jobs_are_done(host: Host) -> None:
    pool = Pool(host.start, slots=2)
    await pool.start(with_spares=False)
    task = asyncio.create_task(pool.run(JOB))
    await settle()
    assert len(host.alive) == 2
    host.running[0].end(FINE)
    await task
    pool.add_spares()
    await settle()
    assert len(host.alive) == 2 + SPARES
    await pool.close()


async def test_without_spares_there_is_a_sandbox_a_slot_and_a_broken_one_is_replaced(
    host: Host, make: PoolMaker
) -> None:
    pool = await make(slots=2, spares=0)
    assert len(host.alive) == 2
    task = asyncio.create_task(pool.run(JOB))
    await settle()
    host.running[0].end(SandboxError("broken"))
    with pytest.raises(SandboxError, match="broken"):
        await task
    await settle()
    assert len(host.alive) == 2
    assert host.starts == 3


async def test_jobs_are_served_in_the_order_they_came(host: Host, make: PoolMaker) -> None:
    pool = await make()
    done: list[int] = []

    async def run(index: int) -> None:
        await pool.run(JOB)
        done.append(index)

    tasks = [asyncio.create_task(run(index)) for index in range(6)]
    await settle()
    while host.running:
        host.running[0].end(FINE)
        await settle()
    await asyncio.gather(*tasks)
    assert done == list(range(6))


async def test_a_cancelled_start_leaves_nothing(host: Host) -> None:
    pool = Pool(host.start, slots=3)
    task = asyncio.create_task(pool.start())
    await asyncio.sleep(0)
    host.gate.clear()
    await settle()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert host.alive == []


async def test_a_broken_sandbox_is_replaced_and_never_used_again(
    host: Host, make: PoolMaker
) -> None:
    pool = await make()
    task = asyncio.create_task(pool.run(JOB))
    await settle()
    broken = host.running[0]
    broken.end(SandboxError("the pipe closed"))
    with pytest.raises(SandboxError, match="the pipe closed"):
        await task
    await settle()
    assert broken not in host.alive
    assert len(host.alive) == 1 + SPARES
    assert broken not in await one_after_another(pool, host, 4)


@pytest.mark.parametrize(
    ("result", "replaced"),
    [
        (execution(), False),
        (execution(ending=Ending.CRASHED, signals={"early_exit": 1}), False),
        (execution(ending=Ending.LIMIT, limits_hit=(LimitKind.CPU_TIME,)), False),
        (execution(ending=Ending.LIMIT, limits_hit=(LimitKind.MEMORY,)), True),
        (execution(ending=Ending.VIOLATION), True),
        (execution(ending=Ending.CRASHED, signals={"judge_lost": 1}), True),
        (execution(ending=Ending.CRASHED, signals={"judge_stuck": 1}), True),
        (execution(signals={"leftover": 1}), True),
    ],
)
async def test_trouble_replaces_a_sandbox_and_a_mere_failure_does_not(
    host: Host, make: PoolMaker, result: Execution, replaced: bool
) -> None:
    pool = await make()
    task = asyncio.create_task(pool.run(JOB))
    await settle()
    used = host.running[0]
    used.end(result)
    assert await task == result
    await settle()
    assert (used not in host.alive) == replaced


async def test_after_trouble_the_next_job_waits_for_no_start(host: Host, make: PoolMaker) -> None:
    pool = await make()
    host.gate.clear()
    first = asyncio.create_task(pool.run(JOB))
    second = asyncio.create_task(pool.run(JOB))
    await settle()
    host.running[0].end(SandboxError("broken"))
    await settle()
    assert len(host.running) == 1
    host.running[0].end(FINE)
    assert await second == FINE
    with pytest.raises(SandboxError):
        await first


async def test_a_worn_sandbox_goes_once_a_spare_is_warm(host: Host, make: PoolMaker) -> None:
    pool = await make(recycle_after_executions=2)
    first, *_ = host.alive
    await one_after_another(pool, host, 2 * (1 + SPARES))
    assert first not in host.alive
    assert len(host.alive) == 1 + SPARES


async def test_a_worn_sandbox_works_on_while_there_is_no_spare(host: Host, make: PoolMaker) -> None:
    pool = await make(recycle_after_executions=1)
    host.gate.clear()
    used = await one_after_another(pool, host, 5)
    assert len(set(used)) == 2  # the spare took over from the first, and nobody from the spare
    host.gate.set()
    await settle()
    await one_after_another(pool, host, 2)
    assert used[-1] not in host.alive


async def test_an_old_sandbox_is_replaced_after_its_job(host: Host, make: PoolMaker) -> None:
    pool = await make(recycle_after_seconds=0.0)
    used = await one_after_another(pool, host, 3)
    assert len(set(used)) == 3


async def test_a_cancelled_job_takes_its_sandbox_along(host: Host, make: PoolMaker) -> None:
    pool = await make()
    task = asyncio.create_task(pool.run(JOB))
    await settle()
    used = host.running[0]
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await settle()
    assert used.closes == 1
    assert len(host.alive) == 1 + SPARES


async def test_a_job_cancelled_as_it_is_served_gives_the_sandbox_back(
    host: Host, make: PoolMaker
) -> None:
    pool = await make()
    first, second, third = (asyncio.create_task(pool.run(JOB)) for _ in range(3))
    await settle()
    host.running[0].end(FINE)
    await first  # the second has been handed the sandbox, but has not run since
    second.cancel()
    await settle()
    assert len(host.running) == 1
    host.running[0].end(FINE)
    assert await third == FINE
    assert second.cancelled()
    assert pool.statistics.lent == 0


async def test_waiting_jobs_are_told_when_no_sandbox_can_be_started(
    host: Host, make: PoolMaker
) -> None:
    pool = await make()
    host.failures = 1_000_000
    tasks = [asyncio.create_task(pool.run(JOB)) for _ in range(4)]
    for _ in range(1 + SPARES):
        await settle()
        host.running[0].end(SandboxError("broken"))
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(result, SandboxError) for result in results)
    assert "no sandbox can be started: no bubblewrap today" in str(results[-1])
    host.failures = 0
    await one_after_another(pool, host, 2)


async def test_an_outage_is_told_when_it_begins_and_when_it_is_over(
    host: Host, make: PoolMaker
) -> None:
    told: list[bool] = []
    pool = await make(tell_works=told.append)
    host.failures = 1_000_000
    tasks = [asyncio.create_task(pool.run(JOB)) for _ in range(1 + SPARES)]
    for left in range(SPARES, -1, -1):
        await settle()
        assert told == [], f"with {left + 1} sandboxes alive"
        host.running[0].end(SandboxError("broken"))
    await asyncio.gather(*tasks, return_exceptions=True)
    await settle()
    assert told == [False]
    assert pool.statistics.failed_starts > 2
    host.failures = 0
    await one_after_another(pool, host, 2)
    assert told == [False, True]


async def test_a_spare_that_cannot_be_started_is_no_outage(host: Host, make: PoolMaker) -> None:
    told: list[bool] = []
    pool = await make(tell_works=told.append)
    host.failures = 5
    task = asyncio.create_task(pool.run(JOB))
    await settle()
    host.running[0].end(SandboxError("broken"))
    await asyncio.gather(task, return_exceptions=True)
    await settle()
    assert (pool.statistics.failed_starts, told) == (5, [])


async def test_a_sandbox_that_died_idle_is_lent_to_nobody(host: Host, make: PoolMaker) -> None:
    pool = await make(slots=2)
    for sandbox in host.alive[:-1]:
        sandbox.is_alive = False
    dead = [sandbox for sandbox in host.alive if not sandbox.is_alive]
    assert not {*await one_after_another(pool, host, 6)} & {*dead}
    assert [sandbox.closes for sandbox in dead] == [1] * len(dead)
    assert len(host.alive) == 2 + SPARES


async def test_sandboxes_that_died_idle_are_noticed_without_a_job(
    host: Host, make: PoolMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_module, "LOOK_SECONDS", 0.0)
    told: list[bool] = []
    pool = await make(tell_works=told.append)
    host.failures = 5
    for sandbox in host.alive:
        sandbox.is_alive = False
    await settle()
    assert told == [False, True]
    assert pool.statistics.failed_starts == 5
    assert [sandbox.is_alive for sandbox in host.alive] == [True] * (1 + SPARES)


def test_failed_starts_are_retried_ever_more_rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "FIRST_RETRY_SECONDS", 0.1)
    delays = pool_module._delays()
    seen = [next(delays) for _ in range(12)]
    assert seen[:4] == [0.1, 0.2, 0.4, 0.8]
    assert seen[-1] == pool_module.LONGEST_RETRY_SECONDS


async def test_a_start_that_raises_something_unforeseen_loses_no_slot(
    host: Host, make: PoolMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = await make()
    monkeypatch.setattr(Host, "failures", property(lambda _: 1 / 0), raising=False)
    task = asyncio.create_task(pool.run(JOB))
    await settle()
    host.running[0].end(SandboxError("broken"))
    with pytest.raises(SandboxError):
        await task
    await settle()
    assert pool.statistics.failed_starts > 0
    monkeypatch.setattr(Host, "failures", 0)
    await settle()
    assert len(host.alive) == 1 + SPARES


async def test_a_sandbox_that_cannot_be_closed_frees_its_slot_all_the_same(
    host: Host, make: PoolMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = await make()

    async def fail(sandbox: FakeSandbox) -> None:
        host.alive.remove(sandbox)
        raise OSError("busy")

    with monkeypatch.context() as patch:
        patch.setattr(FakeSandbox, "close", fail)
        task = asyncio.create_task(pool.run(JOB))
        await settle()
        host.running[0].end(execution(ending=Ending.VIOLATION))
        await task
        await settle()
    assert len(host.alive) == 1 + SPARES


async def test_closing_ends_running_and_waiting_jobs(host: Host, make: PoolMaker) -> None:
    pool = await make(slots=2)
    tasks = [asyncio.create_task(pool.run(JOB)) for _ in range(5)]
    await settle()
    sandboxes = list(host.alive)
    await pool.close()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(result, SandboxError) for result in results)
    assert all(sandbox.closes == 1 for sandbox in sandboxes)
    with pytest.raises(SandboxError, match="closed"):
        await pool.run(JOB)


async def test_closing_while_a_spare_starts_leaves_nothing(host: Host, make: PoolMaker) -> None:
    pool = await make()
    host.gate.clear()
    task = asyncio.create_task(pool.run(JOB))
    await settle()
    host.running[0].end(SandboxError("broken"))
    with pytest.raises(SandboxError):
        await task
    await pool.close()
    assert host.alive == []


# -------------------------------------------------------------------------------- properties


async def live(seed: int, steps: list[str], slots: int) -> None:
    """Lives through random events, then checks that every slot is still there."""
    dice = random.Random(seed)
    host = Host()
    pool = Pool(host.start, slots=slots, recycle_after_executions=3)
    await pool.start()
    tasks: list[asyncio.Task[Execution]] = []
    for step in steps:
        if step == "run":
            tasks.append(asyncio.create_task(pool.run(JOB)))
        elif step == "cancel" and tasks:
            dice.choice(tasks).cancel()
        elif step == "fail to start":
            host.failures += 1
        elif step == "hold starts":
            host.gate.clear()
        elif step == "let start":
            host.gate.set()
        elif step == "die" and host.alive:
            dice.choice(host.alive).is_alive = False
        elif step == "yield":
            await asyncio.sleep(0)
        elif running := [one for one in host.running if not one._ended.done()]:  # type: ignore[union-attr]  # running ones have it
            results = {
                "end": FINE,
                "break": SandboxError("broken"),
                "trouble": execution(ending=Ending.VIOLATION),
            }
            if step in results:
                dice.choice(running).end(results[step])
        assert len(host.running) <= slots
    host.failures = 0
    host.gate.set()
    await drain(host, tasks)
    await check_every_slot(pool, host, slots)
    await pool.close()
    assert (host.alive, host.running) == ([], [])
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def drain(host: Host, tasks: list[asyncio.Task[Execution]]) -> None:
    while not all(task.done() for task in tasks):
        for sandbox in list(host.running):
            with contextlib.suppress(asyncio.InvalidStateError):
                sandbox.end(FINE)
        await asyncio.sleep(0)
    await asyncio.gather(*tasks, return_exceptions=True)


async def check_every_slot(pool: Pool, host: Host, slots: int) -> None:
    await settle()
    assert len(host.alive) == slots + SPARES
    tasks = [asyncio.create_task(pool.run(JOB)) for _ in range(slots)]
    await settle()
    assert len(host.running) == slots
    await drain(host, tasks)
    assert all(task.result() == FINE for task in tasks)


STEPS = ["run", "run", "run", "end", "end", "break", "trouble", "cancel", "yield", "yield"]
STEPS += ["fail to start", "hold starts", "let start", "die"]


@settings(max_examples=times(200, by_default=40), deadline=None)
@given(
    seed=st.integers(0, 2**16),
    steps=st.lists(st.sampled_from(STEPS), max_size=60),
    slots=st.integers(1, 3),
)
def test_no_history_loses_a_slot_or_leaves_anything(
    seed: int, steps: list[str], slots: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool_module, "FIRST_RETRY_SECONDS", 0.0)
        asyncio.run(live(seed, steps, slots))


# ---------------------------------------------------------------------------------- on demand


async def test_a_pool_on_demand_starts_nothing_until_a_job_comes(
    host: Host, make: PoolMaker
) -> None:
    pool = await make(slots=3, spares=0, idle_seconds=60.0)
    assert host.alive == []
    tasks = [asyncio.create_task(pool.run(JOB)) for _ in range(2)]
    await settle()
    assert len(host.running) == len(host.alive) == 2
    for sandbox in list(host.running):
        sandbox.end(FINE)
    await asyncio.gather(*tasks)


async def test_what_was_idle_for_long_is_closed_and_what_was_used_is_kept(
    host: Host, make: PoolMaker
) -> None:
    pool = await make(slots=2, spares=0, idle_seconds=0.2)
    tasks = [asyncio.create_task(pool.run(JOB)) for _ in range(2)]
    await settle()
    busy, idle = host.running
    idle.end(FINE)
    await idle.closed.wait()
    assert host.alive == [busy]
    busy.end(FINE)
    await asyncio.gather(*tasks)
    await busy.closed.wait()
    await settle()
    assert pool.statistics.closed == 2


async def test_a_failed_start_on_demand_is_told_and_the_next_job_tries_again(
    host: Host, make: PoolMaker
) -> None:
    pool = await make(slots=1, spares=0, idle_seconds=60.0)
    host.failures = 1
    with pytest.raises(SandboxError, match="no bubblewrap today"):
        await pool.run(JOB)
    await settle()
    assert host.starts == 1
    task = asyncio.create_task(pool.run(JOB))
    await settle()
    host.running[0].end(FINE)
    await task
