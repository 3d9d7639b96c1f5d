from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

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
    begun: dict[object, float] = field(default_factory=dict)
    ended_seconds: float = 0.0

    async def run(self, job: Job) -> Execution:
        loop, key = asyncio.get_running_loop(), object()
        self.begun[key] = loop.time()
        try:
            await asyncio.sleep(JOB_SECONDS)
        finally:
            self.ended_seconds += loop.time() - self.begun.pop(key)
        return passing(job)

    def used_seconds(self) -> float:
        """Returns how long slots were in use, all together."""
        now = asyncio.get_running_loop().time()
        return self.ended_seconds + sum(now - begun for begun in self.begun.values())


async def offer(served: Served, machine: Machine, rate: float) -> tuple[float, list[Refusal]]:
    """Sends calls at a rate, whatever becomes of them.

    Returns:
        The share of the time for which slots were in use, and the refusals.
    """
    loop = asyncio.get_running_loop()
    calls: list[asyncio.Task[bool | Refusal]] = []
    begun, used = loop.time(), machine.used_seconds()
    while (elapsed := loop.time() - begun) < LOAD_SECONDS:
        while len(calls) < elapsed * rate:
            calls.append(asyncio.create_task(ask(served, len(calls))))
        await asyncio.sleep(0.002)
    share = (machine.used_seconds() - used) / (SLOTS * (loop.time() - begun))
    done = [call.result() for call in calls if call.done()]
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    return share, [answer for answer in done if isinstance(answer, Refusal)]


async def ask(served: Served, number: int) -> bool | Refusal:
    try:
        await served.stub.Score(function_request(number))
    except grpc.aio.AioRpcError as error:
        return Refusal.of(error)
    return True


async def test_twenty_times_more_than_can_be_served_costs_no_throughput(serve: Serve) -> None:
    most = SLOTS / JOB_SECONDS
    machine = Machine()
    served = await serve(machine, queue_capacity=CAPACITY)
    usual, _ = await offer(served, machine, 2 * most)
    overloaded, refusals = await offer(served, machine, 20 * most)
    assert overloaded >= 0.75 * usual > 0
    assert len(refusals) > SLOTS * ROUNDS
    assert {refusal.code for refusal in refusals} == {grpc.StatusCode.RESOURCE_EXHAUSTED}
    assert all(int(refusal.pushback or 0) >= 10 for refusal in refusals)


async def test_those_who_come_again_as_told_are_all_judged(serve: Serve) -> None:
    served = await serve(Machine(), queue_capacity=CAPACITY)

    async def persist(number: int) -> None:
        while isinstance(answer := await ask(served, number), Refusal):  # noqa: ASYNC110  # as told
            await asyncio.sleep(int(answer.pushback or 0) / 1000)

    await asyncio.gather(*(persist(number) for number in range(6 * CAPACITY)))
