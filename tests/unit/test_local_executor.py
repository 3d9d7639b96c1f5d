from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from reward_server.domain import Execution, Job
from reward_server.errors import SandboxError, UnsupportedError
from reward_server.executors.local import LocalExecutor
from reward_server.sandbox.pool import Pool
from tests.rpc.fakes import passing, program


class Container:
    """A container that fails as the test wants, or answers."""

    def __init__(self, number: int, failures: Iterator[Exception], used: list[int]) -> None:
        self._number = number
        self._failures = failures
        self._used = used
        self.is_alive = True

    async def run(self, job: Job) -> Execution:
        self._used.append(self._number)
        failure = next(self._failures, None)
        if failure is not None:
            raise failure
        return passing(job)

    async def close(self) -> None:
        await asyncio.sleep(0)


class Machine:
    """An executor over such containers."""

    def __init__(self, pool: Pool, used: list[int]) -> None:
        self.executor = LocalExecutor(pool)
        self.used = used


@pytest.fixture
async def machine() -> AsyncIterator[Callable[..., object]]:
    pools: list[Pool] = []

    async def start(*failures: Exception) -> Machine:
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
    ours = await machine(SandboxError("first"), SandboxError("second"))
    with pytest.raises(SandboxError, match="second"):
        await ours.executor.run(program())
    assert len(ours.used) == 2


async def test_only_our_own_failures_are_worth_a_retry(machine: Start) -> None:
    ours = await machine(UnsupportedError("no such limit"))
    with pytest.raises(UnsupportedError):
        await ours.executor.run(program())
    assert len(ours.used) == 1
