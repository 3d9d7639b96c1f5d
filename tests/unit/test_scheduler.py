from __future__ import annotations

import asyncio
import functools
import random
import time
from collections.abc import Coroutine, Iterable
from contextlib import AsyncExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reward_server.domain import Execution, Program
from reward_server.errors import DeadlineError, DrainingError, OverloadedError
from reward_server.scheduler import Scheduler, Ticket
from tests.rpc.fakes import FakeExecutor, program
from tests.support.clock import Clock
from tests.support.timing import steps


def source_of(executor: FakeExecutor, index: int) -> str:
    work = executor.started[index].work
    assert isinstance(work, Program)
    return work.source


def sources(executor: FakeExecutor) -> list[str]:
    return [source_of(executor, index) for index in range(len(executor.started))]


def spawn(ticket: Ticket, names: Iterable[str]) -> list[asyncio.Task[Execution]]:
    return [asyncio.create_task(ticket.run(program(name))) for name in names]


async def turn_over() -> None:
    """Lets every task that can go on do so until it waits for something else."""
    for _ in range(20):
        await asyncio.sleep(0)


async def measured(scheduler: Scheduler, executor: FakeExecutor, seconds: float) -> None:
    """Teaches the scheduler how long an execution takes."""
    async with scheduler.admit() as ticket:
        task = asyncio.create_task(ticket.run(program("measured")))
        await executor.until_running(1)
        Clock().advance(seconds)
        executor.finish()
        await task


async def test_jobs_of_equal_submissions_run_in_order_of_arrival() -> None:
    executor = FakeExecutor(slots=1, held=True)
    scheduler = Scheduler(executor)
    async with AsyncExitStack() as stack:
        tasks = []
        for name in "abcd":
            ticket = await stack.enter_async_context(scheduler.admit())
            tasks += spawn(ticket, [name])
            await turn_over()
        executor.release()
        await asyncio.gather(*tasks)
    assert sources(executor) == list("abcd")


async def test_a_submission_of_many_jobs_delays_a_single_one_by_one_job() -> None:
    executor = FakeExecutor(slots=1, held=True)
    scheduler = Scheduler(executor)
    async with scheduler.admit(cost=50) as many, scheduler.admit() as single:
        tasks = spawn(many, ["many"] * 50)
        await turn_over()
        tasks += spawn(single, ["single"])
        await turn_over()
        executor.release()
        await asyncio.gather(*tasks)
    assert sources(executor).index("single") == 2


async def test_the_time_waited_for_a_slot_is_reported() -> None:
    executor = FakeExecutor(slots=1, held=True)
    scheduler = Scheduler(executor)
    async with scheduler.admit() as first, scheduler.admit() as second:
        ahead, behind = spawn(first, ["first"]) + spawn(second, ["second"])
        await executor.until_running(1)
        before = time.monotonic()
        await turn_over()
        at_least = time.monotonic() - before
        executor.release()
        waited = (await behind).usage.queue_time_seconds
        assert waited >= at_least > 0
        assert (await ahead).usage.queue_time_seconds < waited


async def test_a_full_queue_refuses_with_a_time_to_come_back() -> None:
    executor = FakeExecutor(slots=2, held=True)
    scheduler = Scheduler(executor, capacity=3)
    async with AsyncExitStack() as stack:
        for _ in range(5):
            await stack.enter_async_context(scheduler.admit())
        with pytest.raises(OverloadedError) as refused:
            async with scheduler.admit():
                pytest.fail("was let in")
        assert 0 < refused.value.retry_after_seconds <= 30
    async with scheduler.admit():
        assert scheduler.admitted == 1


async def test_a_refused_crowd_comes_back_at_twice_the_rate_that_is_served() -> None:
    executor = FakeExecutor(slots=1, held=True)
    scheduler = Scheduler(executor, capacity=1)
    await measured(scheduler, executor, 0.05)
    waits = []
    async with scheduler.admit(), scheduler.admit():
        for _ in range(100):
            with pytest.raises(OverloadedError) as refused:
                scheduler.check()
            waits.append(refused.value.retry_after_seconds)
        served_in_a_second = scheduler.admitted / scheduler.estimated_wait_seconds()
    first, last = min(waits), max(waits)
    returns_a_second = (len(waits) - 1) / (last - first)
    assert served_in_a_second < returns_a_second <= 2.5 * served_in_a_second


def returns_a_second(scheduler: Scheduler, count: int = 100) -> float:
    """The rate at which a crowd that is refused now is told to come back."""
    waits = []
    for _ in range(count):
        with pytest.raises(OverloadedError) as refused:
            scheduler.check()
        waits.append(refused.value.retry_after_seconds)
    return (count - 1) / (max(waits) - min(waits))


async def crowded(scheduler: Scheduler, turns: int) -> float:
    """Has the last of ten places taken again at once, so often; returns who comes back then."""
    async with AsyncExitStack() as stack:
        for _ in range(9):
            await stack.enter_async_context(scheduler.admit())
        for _ in range(turns):
            async with scheduler.admit():
                pass
        async with scheduler.admit():
            return returns_a_second(scheduler)


async def scheduler_of_ten() -> Scheduler:
    executor = FakeExecutor(slots=1, held=True)
    scheduler = Scheduler(executor, capacity=9)
    await measured(scheduler, executor, 0.05)
    return scheduler


async def test_fewer_come_back_a_second_while_every_free_place_is_taken_at_once() -> None:
    scheduler = await scheduler_of_ten()
    at_first = await crowded(await scheduler_of_ten(), turns=0)
    assert await crowded(scheduler, turns=200) == pytest.approx(at_first / 4, rel=0.3)


async def test_more_come_back_a_second_when_places_stay_free() -> None:
    scheduler = await scheduler_of_ten()
    when_full = await crowded(scheduler, turns=200)
    for _ in range(20):
        async with scheduler.admit():
            pass
    assert await crowded(scheduler, turns=0) == pytest.approx(4 * when_full, rel=0.3)


async def test_the_time_to_come_back_follows_the_measured_backlog() -> None:
    executor = FakeExecutor(slots=1, held=True)
    scheduler = Scheduler(executor, capacity=9)
    await measured(scheduler, executor, 0.05)
    async with AsyncExitStack() as stack:
        for _ in range(10):
            await stack.enter_async_context(scheduler.admit(cost=20))
        with pytest.raises(OverloadedError) as refused:
            scheduler.check()
    backlog_seconds = 10 * 20 * 0.05
    assert 0.2 * backlog_seconds < refused.value.retry_after_seconds < 2 * backlog_seconds


async def test_a_refusal_costs_the_same_however_many_wait() -> None:
    async def cost(capacity: int) -> int:
        scheduler = Scheduler(FakeExecutor(slots=2), capacity=capacity)
        async with AsyncExitStack() as stack:
            for _ in range(capacity + 2):
                await stack.enter_async_context(scheduler.admit(cost=100))
            return steps(functools.partial(refuse, scheduler))

    def refuse(scheduler: Scheduler) -> None:
        with pytest.raises(OverloadedError):
            scheduler.check()

    await cost(10)
    assert await cost(1000) <= 1.1 * await cost(10)


async def test_a_deadline_that_the_queue_cannot_meet_is_refused_early() -> None:
    executor = FakeExecutor(slots=1, held=True)
    scheduler = Scheduler(executor)
    await measured(scheduler, executor, 0.05)
    now = asyncio.get_running_loop().time
    async with AsyncExitStack() as stack:
        for _ in range(100):
            await stack.enter_async_context(scheduler.admit())
        assert scheduler.estimated_wait_seconds() >= 5.0
        with pytest.raises(OverloadedError, match="the queue takes") as refused:
            async with scheduler.admit(deadline=now() + 1.0):
                pytest.fail("was let in")
        assert refused.value.retry_after_seconds > 0
        async with scheduler.admit(deadline=now() + 600.0):
            assert scheduler.admitted == 101


async def test_admitting_takes_no_longer_while_many_wait() -> None:
    """As cheap with 2000 submissions ahead as with none, if the deadline is far."""

    async def cost(waiting: int) -> int:
        executor = FakeExecutor(slots=1, held=True)
        scheduler = Scheduler(executor, capacity=3000)
        await measured(scheduler, executor, 0.001)
        far = asyncio.get_running_loop().time() + 3600.0
        async with AsyncExitStack() as stack:
            for _ in range(waiting):
                await stack.enter_async_context(scheduler.admit(cost=2))
            assert scheduler.estimated_wait_seconds(2) < 60.0
            return steps(lambda: at_once(admitted(scheduler, far)))

    async def admitted(scheduler: Scheduler, deadline: float) -> None:
        async with scheduler.admit(deadline=deadline, cost=2):
            pass

    def at_once(work: Coroutine[object, None, None]) -> None:
        with pytest.raises(StopIteration):
            work.send(None)

    await cost(0)
    assert await cost(2000) <= 1.1 * await cost(0)


@pytest.mark.parametrize("seed", range(20))
async def test_what_the_estimate_refuses_is_refused_whoever_else_waits(seed: int) -> None:
    draw = random.Random(seed)
    executor = FakeExecutor(slots=draw.randint(1, 4), held=True)
    scheduler = Scheduler(executor)
    await measured(scheduler, executor, 10.0)
    async with AsyncExitStack() as stack:
        for _ in range(draw.randint(10, 60)):
            waiting = scheduler.admit(cost=draw.randint(1, 9), owner=draw.choice("abc"))
            await stack.enter_async_context(waiting)
        for owner in "abcd":
            cost = draw.randint(1, 9)
            wait = scheduler.estimated_wait_seconds(cost, owner)
            if wait > 0.0:
                late = asyncio.get_running_loop().time() + 0.99 * wait
                with pytest.raises(OverloadedError, match="the queue takes"):
                    async with scheduler.admit(deadline=late, cost=cost, owner=owner):
                        pytest.fail("was let in")


async def test_the_wait_of_a_single_job_counts_one_job_of_each_submission_ahead() -> None:
    executor = FakeExecutor(slots=1, held=True)
    scheduler = Scheduler(executor)
    await measured(scheduler, executor, 0.02)
    async with scheduler.admit(cost=1000):
        single = scheduler.estimated_wait_seconds(1)
        assert single > 0
        assert scheduler.estimated_wait_seconds(1000) == pytest.approx(1000 * single)


async def run_for(ticket: Ticket, executor: FakeExecutor, name: str) -> None:
    (task,) = spawn(ticket, [name])
    await turn_over()
    executor.finish()
    await task


async def test_of_two_owners_each_gets_every_other_slot_whatever_they_offer() -> None:
    executor = FakeExecutor(slots=1, held=True)
    scheduler = Scheduler(executor, clock=lambda: 0.0)
    async with AsyncExitStack() as stack:
        tasks: list[asyncio.Task[Execution]] = []
        for name in "bbbbbbbbbbbb":
            ticket = await stack.enter_async_context(scheduler.admit(owner="bully"))
            tasks += spawn(ticket, [name])
        for name in "hhh":
            ticket = await stack.enter_async_context(scheduler.admit(owner="honest"))
            tasks += spawn(ticket, [name])
        await turn_over()
        executor.release()
        await asyncio.gather(*tasks)
    assert "".join(sources(executor))[:7] in ("bhbhbhb", "bbhbhbh")


async def test_the_next_slot_goes_to_the_owner_that_holds_the_fewest() -> None:
    executor = FakeExecutor(slots=4, held=True)
    scheduler = Scheduler(executor, clock=lambda: 0.0)
    async with AsyncExitStack() as stack:
        bully = await stack.enter_async_context(scheduler.admit(owner="bully", cost=9))
        honest = await stack.enter_async_context(scheduler.admit(owner="honest", cost=2))
        tasks = spawn(bully, "b" * 9)
        await turn_over()
        tasks += spawn(honest, "hh")
        await turn_over()
        executor.finish()
        executor.finish()
        await turn_over()
        assert sources(executor)[4:6] == ["h", "h"]
        executor.release()
        await asyncio.gather(*tasks)


async def test_a_full_queue_has_room_for_an_owner_below_its_share_and_no_more_than_that() -> None:
    scheduler = Scheduler(FakeExecutor(slots=2, held=True), capacity=8)
    async with AsyncExitStack() as stack:
        for _ in range(10):
            await stack.enter_async_context(scheduler.admit(owner="bully"))
        with pytest.raises(OverloadedError):
            scheduler.check("bully")
        for _ in range(5):
            await stack.enter_async_context(scheduler.admit(owner="honest"))
        for owner in ("honest", "bully"):
            with pytest.raises(OverloadedError):
                scheduler.check(owner)
        await stack.enter_async_context(scheduler.admit(owner="third"))


async def test_many_owners_overbook_a_queue_at_most_once() -> None:
    scheduler = Scheduler(FakeExecutor(slots=2, held=True), capacity=10)
    async with AsyncExitStack() as stack:
        for number in range(1000):
            owner = str(number % 50)
            try:
                await stack.enter_async_context(scheduler.admit(owner=owner))
            except OverloadedError:
                continue
        assert scheduler.admitted <= 12 + 50


async def test_another_owners_crowd_does_not_count_as_a_wait_beyond_its_share() -> None:
    executor = FakeExecutor(slots=1, held=True)
    scheduler = Scheduler(executor)
    await measured(scheduler, executor, 0.05)
    async with AsyncExitStack() as stack:
        for _ in range(100):
            await stack.enter_async_context(scheduler.admit(owner="bully"))
        alone = scheduler.estimated_wait_seconds(1, "bully")
        assert 50 * scheduler.estimated_wait_seconds(1, "honest") < alone


async def test_a_deadline_that_passes_in_the_middle_of_a_long_wait_is_an_overload() -> None:
    executor = FakeExecutor(slots=1, held=True)
    scheduler = Scheduler(executor)
    clock = Clock()
    soon = clock.time() + 60
    async with scheduler.admit(cost=9) as first, scheduler.admit(deadline=soon, cost=2) as second:
        await run_for(second, executor, "quick")
        tasks = spawn(first, ["slow"])
        await executor.until_running(1)
        (late,) = spawn(second, ["late"])
        await turn_over()
        clock.advance(61)
        with pytest.raises(OverloadedError):
            await late
        executor.release()
        await asyncio.gather(*tasks)


async def test_an_idle_server_never_refuses_early_however_slow_it_was() -> None:
    executor = FakeExecutor(slots=2, held=True)
    scheduler = Scheduler(executor)
    await measured(scheduler, executor, 300)
    soon = asyncio.get_running_loop().time() + 240
    async with scheduler.admit(), scheduler.admit(deadline=soon, cost=1000) as ticket:
        assert ticket.deadline == soon


async def test_a_deadline_that_passes_kills_the_execution() -> None:
    executor = FakeExecutor(slots=1, held=True)
    scheduler = Scheduler(executor)
    clock = Clock()
    async with scheduler.admit(deadline=clock.time() + 60) as ticket:
        (slow,) = spawn(ticket, ["slow"])
        await executor.until_running(1)
        clock.advance(61)
        with pytest.raises(DeadlineError):
            await slow
        with pytest.raises(DeadlineError):
            await ticket.run(program("late"))
    assert [job.work for job in executor.killed] == [program("slow").work]
    assert len(executor.started) == 1
    assert scheduler.running == 0


async def test_a_deadline_that_passes_while_waiting_leaves_no_slot_behind() -> None:
    executor = FakeExecutor(slots=1, held=True)
    scheduler = Scheduler(executor)
    clock = Clock()
    soon = clock.time() + 60
    async with scheduler.admit() as first, scheduler.admit(deadline=soon) as second:
        (running,) = spawn(first, ["first"])
        await executor.until_running(1)
        (waiting,) = spawn(second, ["second"])
        await turn_over()
        clock.advance(61)
        with pytest.raises(OverloadedError, match="the queue took most"):
            await waiting
        executor.release()
        await running
    async with scheduler.admit() as third:
        await third.run(program("third"))
    assert sources(executor) == ["first", "third"]


async def test_a_time_out_of_the_executor_is_not_taken_for_the_deadline() -> None:
    executor = FakeExecutor(held=True)
    scheduler = Scheduler(executor)
    async with scheduler.admit(deadline=asyncio.get_running_loop().time() + 60) as ticket:
        (task,) = spawn(ticket, ["broken"])
        await executor.until_running(1)
        executor.fail(TimeoutError("machinery"))
        with pytest.raises(TimeoutError, match="machinery"):
            await task


async def test_a_waiter_cancelled_as_its_turn_comes_hands_the_slot_on() -> None:
    executor = FakeExecutor(slots=1, held=True)
    scheduler = Scheduler(executor)
    async with scheduler.admit(cost=3) as ticket:
        first, second, third = spawn(ticket, ["first", "second", "third"])
        await executor.until_running(1)
        executor.finish()
        asyncio.get_running_loop().call_soon(second.cancel)
        await first
        await executor.until_started(2)
        executor.release()
        await third
    assert second.cancelled()
    assert sources(executor) == ["first", "third"]
    assert scheduler.running == 0


async def test_draining_refuses_newcomers_and_waits_for_those_inside() -> None:
    executor = FakeExecutor(held=True)
    scheduler = Scheduler(executor)
    async with scheduler.admit() as ticket:
        (task,) = spawn(ticket, ["inside"])
        await executor.until_running(1)
        assert not await scheduler.drain(0.01)
        with pytest.raises(DrainingError):
            async with scheduler.admit():
                pytest.fail("was let in")
        draining = asyncio.create_task(scheduler.drain(60))
        executor.release()
        await task
    assert await draining


@given(
    slots=st.integers(1, 4),
    submissions=st.lists(st.integers(1, 6), min_size=1, max_size=8),
    moves=st.lists(st.tuples(st.booleans(), st.integers(0, 50)), max_size=60),
)
def test_slots_are_never_idle_while_jobs_wait_nor_lost(
    slots: int, submissions: list[int], moves: list[tuple[bool, int]]
) -> None:
    """Finishes and cancels in any order; every job not cancelled runs, none twice."""
    asyncio.run(_play(slots, submissions, moves))


async def _play(slots: int, submissions: list[int], moves: list[tuple[bool, int]]) -> None:
    executor = FakeExecutor(slots=slots, held=True)
    scheduler = Scheduler(executor)
    async with AsyncExitStack() as stack:
        tasks: list[asyncio.Task[Execution]] = []
        for number, jobs in enumerate(submissions):
            ticket = await stack.enter_async_context(scheduler.admit(cost=jobs))
            tasks += spawn(ticket, [f"{number}.{job}" for job in range(jobs)])
        for cancel, index in moves:
            await turn_over()
            unfinished = [task for task in tasks if not task.done()]
            assert len(executor.running) == min(slots, len(unfinished))
            if cancel and unfinished:
                unfinished[index % len(unfinished)].cancel()
            elif executor.running:
                executor.finish(index % len(executor.running))
        executor.release()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
    started = sources(executor)
    assert len(set(started)) == len(started)
    assert sum(isinstance(end, Execution) for end in ended) <= len(started)
    assert all(isinstance(end, Execution | asyncio.CancelledError) for end in ended)
    assert scheduler.running == 0
    assert scheduler.admitted == 0


@given(jobs=st.lists(st.integers(1, 8), min_size=2, max_size=6))
def test_no_submission_runs_two_jobs_more_than_another_that_waits(jobs: list[int]) -> None:
    asyncio.run(_check_turns(jobs))


async def _check_turns(jobs: list[int]) -> None:
    executor = FakeExecutor(slots=1, held=True)
    scheduler = Scheduler(executor)
    async with AsyncExitStack() as stack:
        blocker = await stack.enter_async_context(scheduler.admit())
        tasks = spawn(blocker, ["blocker"])
        await executor.until_running(1)
        for number, count in enumerate(jobs):
            ticket = await stack.enter_async_context(scheduler.admit(cost=count))
            tasks += spawn(ticket, [str(number)] * count)
        await turn_over()
        executor.release()
        await asyncio.gather(*tasks)
    served = [0] * len(jobs)
    for name in sources(executor)[1:]:
        served[int(name)] += 1
        waiting = [had for had, count in zip(served, jobs, strict=True) if had < count]
        assert served[int(name)] - min(waiting, default=served[int(name)]) <= 1
