from __future__ import annotations

import asyncio
from dataclasses import dataclass

import grpc
import pytest

from reward_server.domain import Execution, Job
from tests.rpc.conftest import Refusal, Serve, Served, function_request
from tests.rpc.fakes import FakeExecutor, passing

SLOTS = 8
JOB_SECONDS = 0.02
CAPACITY = 8
CALLERS = 20 * (SLOTS + CAPACITY)


@dataclass(kw_only=True)
class Machine:
    """An executor whose jobs take a known time and no computing."""

    slots: int = SLOTS

    async def run(self, job: Job) -> Execution:
        await asyncio.sleep(JOB_SECONDS)
        return passing(job)


async def ask(served: Served, number: int) -> bool | Refusal:
    try:
        await served.stub.Score(function_request(number))
    except grpc.aio.AioRpcError as error:
        return Refusal.of(error)
    return True


async def insist(served: Served, number: int, refusals: dict[int, Refusal]) -> None:
    """Asks again at once whenever it is refused."""
    while isinstance(answer := await ask(served, number), Refusal):
        refusals[number] = answer


@pytest.mark.promise("Twenty times the load that can be served costs no throughput.", "Service")
async def test_twenty_times_more_than_can_be_served_costs_no_throughput(serve: Serve) -> None:
    executor, refusals = FakeExecutor(slots=SLOTS, held=True), dict[int, Refusal]()
    served = await serve(executor, queue_capacity=CAPACITY)
    callers = [asyncio.create_task(insist(served, n, refusals)) for n in range(CALLERS)]
    while len(refusals) < CALLERS - SLOTS - CAPACITY:  # noqa: ASYNC110  # nothing tells of it
        await asyncio.sleep(0)
    for _ in range(CALLERS - SLOTS - CAPACITY):
        await executor.until_running(SLOTS)
        await served.until_admitted(SLOTS + CAPACITY)
        executor.finish()
        assert served.app.scheduler.waiting  # for the place of this one, which is free at once
    executor.release()
    assert await asyncio.gather(*callers) == [None] * CALLERS
    assert len(executor.started) == CALLERS
    assert {refusal.code for refusal in refusals.values()} == {grpc.StatusCode.RESOURCE_EXHAUSTED}
    assert all(int(refusal.pushback or 0) >= 10 for refusal in refusals.values())


async def test_those_who_come_again_as_told_are_all_judged(serve: Serve) -> None:
    served = await serve(Machine(), queue_capacity=CAPACITY)

    async def persist(number: int) -> None:
        while isinstance(answer := await ask(served, number), Refusal):  # noqa: ASYNC110  # as told
            await asyncio.sleep(int(answer.pushback or 0) / 1000)

    await asyncio.gather(*(persist(number) for number in range(6 * CAPACITY)))
