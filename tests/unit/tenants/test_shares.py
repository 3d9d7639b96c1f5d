"""Weighted turns, with a clock that the tests move."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import pytest

from reward_server.domain import Execution, Program
from reward_server.errors import OverloadedError
from reward_server.scheduler import Scheduler
from reward_server.tenants.tenant import Credential, Quotas, Tenant, Tenants
from tests.rpc.fakes import FakeExecutor, program

pytestmark = pytest.mark.promise(
    "Tenants get slot time by their weights, and no more slots than their quota.", "Service"
)


def table(**given: float | Quotas) -> Tenants:
    """Tenants by name, each with its weight or its quotas."""
    return Tenants(
        Credential(
            digest=b"",
            owner=name,
            tenant=Tenant(name=name, quotas=value)
            if isinstance(value, Quotas)
            else Tenant(name=name, weight=value),
        )
        for name, value in given.items()
    )


async def turn_over() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


@dataclass(kw_only=True)
class Machine:
    """Slots whose jobs end in the order in which they are due, on a clock of its own."""

    tenants: Tenants
    slots: int = 1
    seconds: Mapping[str, float] = field(default_factory=dict)
    now: float = 0.0
    started: str = ""
    held: Counter[str] = field(default_factory=Counter)
    used: Counter[str] = field(default_factory=Counter)
    tasks: list[asyncio.Task[Execution]] = field(default_factory=list)
    due: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.executor = FakeExecutor(slots=self.slots, held=True)
        self.scheduler = Scheduler(
            self.executor, capacity=10_000, tenants=self.tenants, clock=lambda: self.now
        )
        self.stack = AsyncExitStack()

    async def offer(self, owner: str, count: int) -> None:
        ticket = await self.stack.enter_async_context(self.scheduler.admit(owner=owner, cost=count))
        self.tasks += [asyncio.create_task(ticket.run(program(owner))) for _ in range(count)]
        await self._begin()

    async def advance(self, jobs: int) -> str:
        """Ends jobs; returns the owners of those that started meanwhile, one letter each."""
        before = len(self.started)
        for _ in range(jobs):
            index = min(range(len(self.due)), key=self.due.__getitem__)
            self.now = max(self.now, self.due.pop(index))
            self.held[name_of(self.executor.finish(index))] -= 1
            await self._begin()
        return self.started[before:]

    async def end(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        await self.stack.aclose()

    async def _begin(self) -> None:
        await turn_over()
        for job in self.executor.started[len(self.started) :]:
            name = name_of(job)
            self.started += name
            self.held[name] += 1
            self.used[name] += 1
            self.due.append(self.now + self.seconds.get(name, 1.0))


def name_of(job: object) -> str:
    work = getattr(job, "work", None)
    assert isinstance(work, Program)
    return work.source


async def test_one_slot_is_shared_in_proportion_to_weights() -> None:
    machine = Machine(tenants=table(a=3.0, b=1.0))
    for owner in "ab":
        await machine.offer(owner, 100)
    found = await machine.advance(80)
    assert abs(found.count("a") - 60) <= 2
    assert "aaaaa" not in found  # and not in long runs
    await machine.end()


@pytest.mark.parametrize("slots", [2, 3, 8])
async def test_many_slots_are_shared_in_proportion_to_weights(slots: int) -> None:
    machine = Machine(tenants=table(a=3.0, b=1.0), slots=slots)
    for owner in "ab":
        await machine.offer(owner, 600)
    await machine.advance(slots * 4)
    found = await machine.advance(400)
    assert abs(found.count("a") - 300) <= slots + 4
    await machine.end()


async def test_shares_are_of_time_and_not_of_jobs() -> None:
    machine = Machine(tenants=table(a=1.0, b=1.0), seconds={"a": 10.0, "b": 0.5})
    for owner in "ab":
        await machine.offer(owner, 1000)
    found = await machine.advance(420)
    assert abs(10.0 * found.count("a") - 0.5 * found.count("b")) <= 21
    await machine.end()


async def test_who_comes_after_a_long_rest_has_no_more_than_its_share() -> None:
    machine = Machine(tenants=table(a=1.0, b=1.0, c=1.0))
    for owner in "ac":
        await machine.offer(owner, 500)
    await machine.advance(200)
    await machine.offer("b", 200)
    found = await machine.advance(90)
    assert abs(found.count("b") - 30) <= 2
    await machine.end()


async def test_what_was_used_while_slots_were_free_costs_nothing_later() -> None:
    machine = Machine(tenants=table(a=1.0, b=1.0), slots=2)
    for _ in range(50):
        await machine.offer("a", 1)
        await machine.advance(1)
    for owner in "ab":
        await machine.offer(owner, 100)
    found = await machine.advance(20)
    assert abs(found.count("a") - 10) <= 2
    await machine.end()


async def test_a_flood_of_sixteen_times_as_much_does_not_overtake() -> None:
    machine = Machine(tenants=table(a=1.0, b=1.0), slots=2)
    await machine.offer("a", 160)
    await machine.advance(10)
    for _ in range(10):
        await machine.offer("b", 1)
        assert await machine.advance(1) == "b"
        await machine.advance(3)
    await machine.end()


async def test_a_very_long_job_keeps_its_owner_waiting_for_a_bounded_time() -> None:
    machine = Machine(tenants=table(a=1.0, b=1.0), seconds={"a": 3600.0})
    for owner in "ab":
        await machine.offer(owner, 500)
    await machine.advance(1)
    assert "a" in await machine.advance(70)
    await machine.end()


async def test_an_owner_never_holds_more_slots_than_its_quota() -> None:
    machine = Machine(tenants=table(a=Quotas(slots=2), b=1.0), slots=4)
    await machine.offer("a", 20)
    assert machine.held == {"a": 2}
    await machine.offer("b", 20)
    assert machine.held == {"a": 2, "b": 2}
    for _ in range(10):
        await machine.advance(1)
        assert machine.held["a"] <= 2
    await machine.end()


async def test_a_greater_quota_of_slots_applies_at_once() -> None:
    tenants = table(a=Quotas(slots=1))
    machine = Machine(tenants=tenants, slots=4)
    await machine.offer("a", 8)
    assert machine.held == {"a": 1}
    raised = Tenant(name="a", quotas=Quotas(slots=3))
    tenants.replace([Credential(digest=b"", owner="a", tenant=raised)])
    machine.scheduler.apply_quotas()
    await machine.offer("b", 0)
    assert machine.held == {"a": 3}
    await machine.end()


async def test_a_wait_for_slots_of_ones_own_counts_against_a_deadline() -> None:
    machine = Machine(tenants=table(a=Quotas(slots=1)), slots=4)
    await machine.offer("a", 5)
    await machine.advance(1)
    assert machine.scheduler.estimated_wait_seconds(1, "a") >= 1.0
    assert machine.scheduler.estimated_wait_seconds(1, "b") == 0.0
    await machine.end()


async def test_places_of_a_full_queue_follow_weights() -> None:
    scheduler = Scheduler(FakeExecutor(slots=2, held=True), capacity=8, tenants=table(a=1.0, b=4.0))
    async with AsyncExitStack() as stack:
        for _ in range(10):
            await stack.enter_async_context(scheduler.admit(owner="a"))
        for _ in range(8):
            await stack.enter_async_context(scheduler.admit(owner="b"))
        for owner in "ab":
            with pytest.raises(OverloadedError):
                scheduler.check(owner)
