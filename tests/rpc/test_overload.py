from __future__ import annotations

import asyncio
from dataclasses import dataclass

import grpc

from reward_server.domain import Execution, Job
from tests.rpc.conftest import Refusal, Serve, Served, function_request
from tests.rpc.fakes import passing

SLOTS = 8
JOB_SECONDS = 0.4
CAPACITY = 8
ROUNDS = 5
LOAD_SECONDS = (ROUNDS + 0.5) * JOB_SECONDS


@dataclass(kw_only=True)
class Machine:
    """An executor whose jobs take a known time and no computing."""

    slots: int = SLOTS

    async def run(self, job: Job) -> Execution:
        await asyncio.sleep(JOB_SECONDS)
        return passing(job)


async def offer(served: Served, rate: float) -> tuple[int, list[Refusal]]:
    """Sends calls at a rate, whatever becomes of them; returns how many were judged."""
    loop = asyncio.get_running_loop()
    calls: list[asyncio.Task[bool | Refusal]] = []
    begun = loop.time()
    while (elapsed := loop.time() - begun) < LOAD_SECONDS:
        while len(calls) < elapsed * rate:
            calls.append(asyncio.create_task(ask(served, len(calls))))
        await asyncio.sleep(0.002)
    done = [call.result() for call in calls if call.done()]
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    return sum(answer is True for answer in done), [a for a in done if isinstance(a, Refusal)]


async def ask(served: Served, number: int) -> bool | Refusal:
    try:
        await served.stub.Score(function_request(number))
    except grpc.aio.AioRpcError as error:
        return Refusal.of(error)
    return True


async def test_twenty_times_more_than_can_be_served_costs_no_throughput(serve: Serve) -> None:
    most = SLOTS / JOB_SECONDS
    served = await serve(Machine(), queue_capacity=CAPACITY)
    usual, _ = await offer(served, 2 * most)
    judged, refusals = await offer(served, 20 * most)
    assert judged >= 0.75 * usual > 0
    assert len(refusals) > judged
    assert {refusal.code for refusal in refusals} == {grpc.StatusCode.RESOURCE_EXHAUSTED}
    assert all(int(refusal.pushback or 0) >= 10 for refusal in refusals)


async def test_those_who_come_again_as_told_are_all_judged(serve: Serve) -> None:
    served = await serve(Machine(), queue_capacity=CAPACITY)

    async def persist(number: int) -> None:
        while isinstance(answer := await ask(served, number), Refusal):  # noqa: ASYNC110  # as told
            await asyncio.sleep(int(answer.pushback or 0) / 1000)

    await asyncio.gather(*(persist(number) for number in range(6 * CAPACITY)))
