"""Decides which submissions are admitted and which job runs next.

Admission counts submissions, and refuses those that find no room or cannot be served in time. A
refusal costs a few microseconds, so throughput stays constant under any load. Slots are assigned in
turns: every admitted submission with a waiting job gets one slot before any submission gets its
next slot. So a submission of a thousand jobs delays the job of another submission by only one job.

Owners are the holders of credentials. Slots are assigned to owners first, in proportion to their
weights (`tenants.shares`), and only then to an owner's submissions. An owner never holds more slots
than its quota. A full queue only refuses owners that have filled their share of it, so that a new
owner finds room. The queue therefore holds at most twice its capacity.

Deadlines are points on the running loop's clock (`asyncio.get_running_loop().time()`).
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

from reward_server.domain import Execution, Job
from reward_server.errors import DeadlineError, DrainingError, OverloadedError
from reward_server.executor import Executor
from reward_server.telemetry import NO_SPANS, Spans
from reward_server.tenants.shares import Shares
from reward_server.tenants.tenant import Tenants

_jitter = random.Random()  # not the global generator, which programs seed
DEFAULT_CAPACITY = 256

_MEAN_WEIGHT = 0.1
_UNMEASURED_RETRY_SECONDS = 1.0
_SHORTEST_RETRY_SECONDS = 0.01
_LONGEST_RETRY_SECONDS = 30.0
_RETRY_SHARE_OF_BACKLOG = (0.25, 0.75)
# Bounds on the number of refused callers that may return while one submission is served.
# A refusal costs about as much CPU time as another call, so callers that come back faster than
# others are served take the time that serving needs.
_FEWEST_RETURNS, _MOST_RETURNS = 0.5, 2.0
_WHEN_FULL, _WHEN_EMPTYING = 0.98, 1.2


class Ticket:
    """An admitted submission, made by `Scheduler.admit`."""

    def __init__(self, scheduler: Scheduler, owner: str, deadline: float | None, cost: int) -> None:
        self.owner = owner
        self.deadline = deadline
        self.outstanding = cost
        self.admitted_at = asyncio.get_running_loop().time()
        self.ran_seconds = 0.0
        self.waiters: deque[asyncio.Future[None]] = deque()
        self._scheduler = scheduler

    async def run(self, job: Job) -> Execution:
        """Waits for this submission's turn and runs the job.

        Cancelling the call kills the execution. The `usage.queue_time_seconds` of the result is the
        time spent waiting here.

        Raises:
            DeadlineError: the deadline passed; if the execution had begun, it was killed.
            OverloadedError: the deadline passed, and most of the time was spent waiting.
            SandboxError, UnsupportedError: see `Executor.run`.
        """
        self._refuse_late_start()
        try:
            async with asyncio.timeout_at(self.deadline) as scope:
                return await self._scheduler.run(self, job)
        except TimeoutError:
            if scope.expired():
                raise self._too_late() from None
            raise

    def _too_late(self) -> DeadlineError | OverloadedError:
        elapsed = asyncio.get_running_loop().time() - self.admitted_at
        # Most clients do not try again after DEADLINE_EXCEEDED: an honest program would have no
        # reward because others slept in the slots before it.
        if 2 * self.ran_seconds < elapsed:
            return self._scheduler.overload(
                f"the queue took most of the {elapsed:.3f} s there were"
            )
        return DeadlineError("the deadline passed before the program was judged")

    def _refuse_late_start(self) -> None:
        if self.deadline is not None and asyncio.get_running_loop().time() >= self.deadline:
            raise DeadlineError("the deadline passed before the program was started")


class Scheduler:
    """Bounds the number of waiting submissions and shares an executor's slots fairly.

    Args:
        executor: runs the jobs.
        capacity: number of submissions that may wait, besides one for each slot.
        spans: gets a span for each wait.
        tenants: weights and quotas of the owners; by default all are alike.
        used: receives an owner and the seconds for which it held a slot.
        clock: returns the time in seconds, for the durations of jobs; by default the loop's.
    """

    def __init__(
        self,
        executor: Executor,
        *,
        capacity: int = DEFAULT_CAPACITY,
        spans: Spans = NO_SPANS,
        tenants: Tenants | None = None,
        used: Callable[[str, float], None] = lambda owner, seconds: None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._executor = executor
        self._spans = spans
        self._capacity = capacity
        self._tenants = Tenants() if tenants is None else tenants
        self._used = used
        self._clock = clock or (lambda: asyncio.get_running_loop().time())
        self._shares = Shares(self._weight)
        self._admitted: dict[str, set[Ticket]] = {}
        self._backlog = 0
        self._lines: dict[str, deque[Ticket]] = {}
        self._held: Counter[str] = Counter()
        self._arrivals: dict[asyncio.Future[None], float] = {}
        self._free = executor.slots
        self._mean_seconds: float | None = None
        self._next_return = 0.0
        self._returns = _MOST_RETURNS
        self._draining = False
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def slots(self) -> int:
        """Number of executions that can run at once."""
        return self._executor.slots

    @property
    def capacity(self) -> int:
        """Number of submissions that may wait, besides one for each slot."""
        return self._capacity

    @property
    def admitted(self) -> int:
        """Number of submissions that are admitted and have not left."""
        return sum(map(len, self._admitted.values()))

    @property
    def running(self) -> int:
        """Number of slots in use."""
        return self._executor.slots - self._free

    @property
    def waiting(self) -> int:
        """Number of executions that wait for a slot."""
        return len(self._arrivals)

    @property
    def first_arrival(self) -> float | None:
        """Time on the loop's clock when the oldest one began to wait; any thread may read it."""
        return next(iter(list(self._arrivals.values())[:1]), None)

    @property
    def is_full(self) -> bool:
        """Whether an owner that fills its share of the queue would be refused."""
        return self.admitted >= self._executor.slots + self._capacity

    def check(self, owner: str = "") -> None:
        """Raises an error if there is no room for an owner; takes no place.

        Raises:
            OverloadedError: the queue is full, and the owner has filled its share of it.
            DrainingError: the server is shutting down.
        """
        if self._draining:
            raise DrainingError("the server is shutting down")
        if not self.is_full:
            return
        places = self._executor.slots + self._capacity
        own = len(self._admitted.get(owner, ()))
        everybody = sum(map(self._weight, self._admitted.keys() | {owner}))
        if own >= max(int(places * self._weight(owner) / everybody), 1):
            raise self.overload(f"the queue is full with {self.admitted} submissions")

    @asynccontextmanager
    async def admit(
        self, deadline: float | None = None, cost: int = 1, owner: str = ""
    ) -> AsyncIterator[Ticket]:
        """Admits a submission for the length of the block.

        Args:
            deadline: time on the loop's clock after which the result is worthless, or None.
            cost: number of jobs that the submission is going to run.
            owner: owner of the submission.

        Raises:
            OverloadedError: the queue is full, or its turn cannot come before the deadline.
            DeadlineError: the deadline has passed.
            DrainingError: the server is shutting down.
        """
        self.check(owner)
        self._refuse_hopeless(deadline, cost, owner)
        ticket = Ticket(self, owner, deadline, cost)
        self._enter(ticket)
        try:
            yield ticket
        finally:
            self._leave(ticket)

    async def run(self, ticket: Ticket, job: Job) -> Execution:
        """Runs a job of an admitted submission when its turn comes; see `Ticket.run`."""
        clock = self._clock
        arrived = clock()
        with self._spans.begin("queue"):
            await self._acquire(ticket)
        started = clock()
        try:
            execution = await self._executor.run(job)
        finally:
            ended = clock()
            ticket.ran_seconds += ended - started
            self._record(ended - started)
            self._count_down(ticket)
            self._shares.end(ticket.owner, started, ended, self._lines)
            self._release(ticket.owner)
            self._used(ticket.owner, ended - started)
        usage = replace(execution.usage, queue_time_seconds=started - arrived)
        return replace(execution, usage=usage)

    async def drain(self, timeout: float) -> bool:
        """Refuses new submissions from now on and waits for the admitted ones to leave.

        Returns:
            True if all of them left within `timeout` seconds.
        """
        self._draining = True
        try:
            async with asyncio.timeout(timeout):
                await self._idle.wait()
        except TimeoutError:
            return False
        return True

    def estimated_wait_seconds(self, cost: int = 1, owner: str = "") -> float:
        """Estimates the time until a new submission gets a slot for the last of its `cost` jobs.

        Slots are assigned in turns. So before the submission gets that slot, each other submission
        of the owner runs at most `cost` jobs. Each other owner runs at most as many jobs as this
        owner, times the ratio of their weights. The estimate is zero if a slot is free that the
        owner may hold, or if no job has been measured yet. So a wrong estimate cannot refuse work
        for ever.
        """
        if self._mean_seconds is None:
            return 0.0
        jobs = {
            name: sum(min(ticket.outstanding, cost) for ticket in tickets)
            for name, tickets in self._admitted.items()
        }
        own = jobs.pop(owner, 0)
        turns = (own + cost) / self._weight(owner)
        ahead = own + sum(min(count, turns * self._weight(name)) for name, count in jobs.items())
        most = min(self._most_slots(owner), self.slots)
        rounds = max(0.0, (ahead - self.slots + 1) / self.slots, (own - most + 1) / most)
        return rounds * self._mean_seconds

    def _longest_wait_seconds(self, owner: str) -> float:
        """Returns a time that no estimate exceeds, in a time that does not grow with the queue."""
        most = min(self._most_slots(owner), self.slots)
        return self._backlog / most * (self._mean_seconds or 0.0)

    def apply_quotas(self) -> None:
        """Assigns free slots that owners may hold since their quotas were replaced."""
        self._assign()

    def _weight(self, owner: str) -> float:
        return self._tenants.of(owner).weight

    def _most_slots(self, owner: str) -> int:
        most = self._tenants.of(owner).quotas.slots
        return self.slots if most is None else most

    def _refuse_hopeless(self, deadline: float | None, cost: int, owner: str) -> None:
        if deadline is None:
            return
        remaining = deadline - asyncio.get_running_loop().time()
        if remaining <= 0:
            raise DeadlineError("the deadline passed before the program was started")
        if self._longest_wait_seconds(owner) < remaining:
            return
        wait = self.estimated_wait_seconds(cost, owner)
        if remaining <= wait:
            raise self.overload(
                f"{remaining:.3f} s are left, and the queue takes about {wait:.3f} s"
            )

    def overload(self, message: str) -> OverloadedError:
        """Returns the error for a caller that has to retry, with the time of the retry."""
        return OverloadedError(message, retry_after_seconds=self._retry_after_seconds())

    def _retry_after_seconds(self) -> float:
        """Returns a time to retry, different for each refused caller.

        The first callers return well before the backlog is done, so that no slot becomes idle.
        Later callers return at a lower rate while the queue stays full. Otherwise the retries of
        many callers would use the CPU time that their work needs. The rate rises when places are
        free.
        """
        if self._mean_seconds is None:
            return _UNMEASURED_RETRY_SECONDS
        now = asyncio.get_running_loop().time()
        turn = self._mean_seconds / self.slots
        first = now + self._backlog * turn * _jitter.uniform(*_RETRY_SHARE_OF_BACKLOG)
        last = now + _LONGEST_RETRY_SECONDS
        self._next_return = min(max(first, self._next_return + turn / self._returns), last)
        return max(self._next_return - now, _SHORTEST_RETRY_SECONDS)

    def _enter(self, ticket: Ticket) -> None:
        self._admitted.setdefault(ticket.owner, set()).add(ticket)
        self._backlog += ticket.outstanding
        self._idle.clear()

    def _leave(self, ticket: Ticket) -> None:
        own = self._admitted[ticket.owner]
        own.discard(ticket)
        if not own:
            del self._admitted[ticket.owner]
        self._backlog -= ticket.outstanding
        self._adapt_returns()
        if not self._admitted:
            self._idle.set()

    def _adapt_returns(self) -> None:
        places, taken = self._executor.slots + self._capacity, self.admitted
        if taken < places // 2:
            self._returns = min(self._returns * _WHEN_EMPTYING, _MOST_RETURNS)
        elif taken >= places - 1:
            self._returns = max(self._returns * _WHEN_FULL, _FEWEST_RETURNS)

    def _record(self, seconds: float) -> None:
        if self._mean_seconds is None:
            self._mean_seconds = seconds
        self._mean_seconds += _MEAN_WEIGHT * (seconds - self._mean_seconds)

    def _count_down(self, ticket: Ticket) -> None:
        # A job may continue for other submissions after its own submission has ended. It was
        # subtracted when that submission left.
        if ticket.outstanding > 0 and ticket in self._admitted.get(ticket.owner, ()):
            ticket.outstanding -= 1
            self._backlog -= 1

    async def _acquire(self, ticket: Ticket) -> None:
        owner = ticket.owner
        if self._free > 0 and self._held[owner] < self._most_slots(owner):
            self._free -= 1
            self._held[owner] += 1
            self._shares.forget(self._clock())
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if not ticket.waiters:
            if owner not in self._lines:
                self._shares.begin_waiting(owner, self._lines)
            self._lines.setdefault(owner, deque()).append(ticket)
        ticket.waiters.append(turn)
        self._arrivals[turn] = turn.get_loop().time()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._release(owner)
            raise
        finally:
            del self._arrivals[turn]

    def _release(self, owner: str) -> None:
        """Takes a slot from an owner and assigns it to the next one."""
        self._held[owner] -= 1
        if not self._held[owner]:
            del self._held[owner]
        self._free += 1
        self._assign()

    def _assign(self) -> None:
        """Assigns free slots to the owners that wait."""
        while self._free > 0 and (heir := self._heir()) is not None:
            turn = self._next_turn(heir)
            if not turn.done():
                self._free -= 1
                self._held[heir] += 1
                turn.set_result(None)

    def _heir(self) -> str | None:
        """Returns the owner that gets the next slot, or None if no waiting owner may get one."""
        seconds = self._mean_seconds or 0.0
        return min(
            (one for one in self._lines if self._held[one] < self._most_slots(one)),
            key=lambda one: self._shares.level(one, self._held[one], seconds),
            default=None,
        )

    def _next_turn(self, owner: str) -> asyncio.Future[None]:
        """Removes and returns the first waiter of an owner's first submission.

        The submission then becomes the owner's last one, and the owner the last of all owners.
        """
        line = self._lines.pop(owner)
        ticket = line.popleft()
        turn = ticket.waiters.popleft()
        if ticket.waiters:
            line.append(ticket)
        if line:
            self._lines[owner] = line
        return turn
