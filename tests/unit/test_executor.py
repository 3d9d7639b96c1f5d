from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from reward_server.domain import Ending, Execution, Job, Termination, TerminationKind
from reward_server.errors import SandboxError, UnsupportedError
from reward_server.sandbox.pool import Pool
from reward_server.sandbox.retries import RetryingExecutor
from tests.rpc.fakes import passing, program

KILLED = Termination(kind=TerminationKind.SIGNALED, value=9)


class Container:
    """A container that fails as the test wants, or answers."""

    def __init__(
        self, number: int, failures: Iterator[Exception | Execution], used: list[int]
    ) -> None:
        self._number = number
        self._failures = failures
        self._used = used
        self.is_alive = True

    async def run(self, job: Job) -> Execution:
        self._used.append(self._number)
        failure = next(self._failures, None)
        if isinstance(failure, Execution):
            return failure
        if failure is not None:
            raise failure
        return passing(job)

    async def close(self) -> None:
        await asyncio.sleep(0)


class Machine:
    """An executor over such containers."""

    def __init__(self, pool: Pool, used: list[int]) -> None:
        self.executor = RetryingExecutor(pool)
        self.used = used


@pytest.fixture
async def machine() -> AsyncIterator[Callable[..., object]]:
    pools: list[Pool] = []

    async def start(*failures: Exception | Execution) -> Machine:
        pending, used = iter(failures), list[int]()

        async def make(number: int) -> Container:
            return Container(number, pending, used)

        pools.append(Pool(make, slots=1))
        await pools[-1].start()
        return Machine(pools[-1], used)

    yield start
    for pool in pools:
        await pool.close()


Start = Callable[..., "asyncio.Future[Machine]"]


async def test_a_job_runs_once_when_nothing_breaks(machine: Start) -> None:
    ours = await machine()
    assert await ours.executor.run(program()) == passing(program())
    assert len(ours.used) == 1
    assert ours.executor.slots == 1


async def test_a_job_runs_again_on_another_container_when_ours_broke(machine: Start) -> None:
    ours = await machine(SandboxError("the runner died"))
    assert await ours.executor.run(program()) == passing(program())
    first, second = ours.used
    assert first != second


async def test_a_job_that_breaks_two_containers_is_not_run_a_third_time(machine: Start) -> None:
    ours = await machine(SandboxError("first"), SandboxError("cannot write /sys/fs/second"))
    with pytest.raises(SandboxError, match="failed twice") as caught:
        await ours.executor.run(program())
    assert len(ours.used) == 2
    assert "/" not in str(caught.value)
    assert "second" in str(caught.value.__cause__)


LOST = [
    Execution(ending=Ending.CRASHED, termination=KILLED, signals={"judge_lost": 1}),
    Execution(ending=Ending.INVALID_TASK, termination=KILLED, signals={"judge_lost": 1}),
    Execution(ending=Ending.CRASHED, termination=KILLED, signals={"killed": 1}),
]


@pytest.mark.parametrize("lost", LOST, ids=lambda one: f"{one.ending.name}-{[*one.signals]}")
async def test_what_somebody_outside_may_have_killed_runs_once_more(
    machine: Start, lost: Execution
) -> None:
    ours = await machine(lost)
    assert await ours.executor.run(program()) == passing(program())
    assert len(ours.used) == 2


@pytest.mark.parametrize("lost", LOST, ids=lambda one: f"{one.ending.name}-{[*one.signals]}")
async def test_a_program_that_has_it_killed_each_time_gets_its_verdict(
    machine: Start, lost: Execution
) -> None:
    ours = await machine(lost, lost, lost)
    assert await ours.executor.run(program()) == lost
    assert len(ours.used) == 2


@pytest.mark.promise(
    "A job whose processes are killed from outside runs once more, and no third time.",
    "Confinement",
)
async def test_no_mixture_of_losses_buys_a_third_run(machine: Start) -> None:
    ours = await machine(SandboxError("first"), LOST[0], LOST[0])
    assert await ours.executor.run(program()) == LOST[0]
    assert len(ours.used) == 2


@pytest.mark.parametrize("name", ["early_exit", "tampering", "forbidden_syscall", "judge_stuck"])
async def test_what_a_program_did_itself_is_not_run_again(machine: Start, name: str) -> None:
    crashed = Execution(ending=Ending.CRASHED, termination=KILLED, signals={name: 1})
    ours = await machine(crashed)
    assert await ours.executor.run(program()) == crashed
    assert len(ours.used) == 1


async def test_only_our_own_failures_are_worth_a_retry(machine: Start) -> None:
    ours = await machine(UnsupportedError("no such limit"))
    with pytest.raises(UnsupportedError):
        await ours.executor.run(program())
    assert len(ours.used) == 1
