"""Keeps warm sandboxes, lends each to one job at a time, and never repairs one.

    starting ──▶ idle ◀──▶ lent ──▶ closing
                   └───────────────────┘

A sandbox is closed at the first sign of trouble (`troubled`), if it failed, or if its job was
cancelled. One that has run often or long enough is closed after a job, if another one is idle then.
The pool keeps one more sandbox than there are slots, so that the next job does not wait for a
start. Starting and closing happen in the background. A pool without spares at its start gets them
when its owner has done its own first jobs.

A pool that starts sandboxes on demand keeps none warm in advance: it starts one when a job waits,
up to one for each slot, and closes those that were idle for a while. It closes a worn sandbox after
its job, even if no other is idle.

Sandboxes that die while idle are not lent, and are replaced within `LOOK_SECONDS`.

If no further sandboxes can be started, those that are alive continue to serve. If none is alive,
waiting jobs fail at each failed attempt to start one, and the attempts continue at growing
intervals. An observer is called when the outage begins and when it is over.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import structlog

from reward_server.domain import Ending, Execution, Job, LimitKind
from reward_server.errors import SandboxError
from reward_server.sandbox.base import Sandbox

SPARES = 1
FIRST_RETRY_SECONDS = 0.1
LONGEST_RETRY_SECONDS = 10.0
LOOK_SECONDS = 1.0

# Signals that the judge and the classifier count if the container, not only the program, was
# harmed.
TROUBLE_SIGNALS = frozenset({"judge_lost", "judge_stuck", "leftover"})

# Why sandboxes are closed. The server lost those that FAILED during a job and those that DIED while
# idle. A program's trouble (`troubled`) and a cancelled job end others.
FAILED, DIED, TROUBLED, CANCELLED = "failed", "died", "troubled", "cancelled"
WORN, UNUSED, SHUTDOWN = "worn", "unused", "shutdown"
REASONS = (FAILED, DIED, TROUBLED, CANCELLED, WORN, UNUSED, SHUTDOWN)

_log = structlog.get_logger("pool")


def troubled(execution: Execution) -> bool:
    """Returns True if the container of this execution must not run anything else.

    This is so after an out-of-memory kill, an attack on the walls, a lost judge, or if something
    was left behind.
    """
    return (
        execution.ending is Ending.VIOLATION
        or LimitKind.MEMORY in execution.limits_hit
        or not TROUBLE_SIGNALS.isdisjoint(execution.signals)
    )


@dataclass(slots=True, kw_only=True, eq=False)
class _Member:
    """A warm sandbox, with the data that decides when it is closed."""

    number: int
    sandbox: Sandbox
    born: float
    idle_since: float
    executions: int = 0
    leaving: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolStatistics:
    """The sandboxes that a pool holds, and its counts since its start."""

    idle: int
    lent: int
    waiting: int
    started: int
    closed: int
    failed_starts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxCounts:
    """Sandboxes now and since the start, for operators; any thread may ask for them.

    Attributes:
        idle: warm ones that wait for a job.
        lent: those that run a job.
        started: number of starts.
        failed_starts: number of failed attempts to start one.
        closed: number of closed ones, by one of `REASONS`.
    """

    idle: int
    lent: int
    started: int
    failed_starts: int
    closed: Mapping[str, int]

    @classmethod
    def together(cls, pools: Iterable[SandboxCounts]) -> SandboxCounts:
        """Returns the sums over pools."""
        found = tuple(pools)
        return cls(
            idle=sum(one.idle for one in found),
            lent=sum(one.lent for one in found),
            started=sum(one.started for one in found),
            failed_starts=sum(one.failed_starts for one in found),
            closed={reason: sum(one.closed[reason] for one in found) for reason in REASONS},
        )


class Pool:
    """Runs jobs on warm sandboxes, at most `slots` at once, first come first served.

    Args:
        factory: starts a sandbox; its argument is a small number, different for all living
            sandboxes. Cancelling it must leave nothing behind.
        slots: jobs that run at once.
        recycle_after_executions: executions after which a sandbox is replaced.
        recycle_after_seconds: age at which a sandbox is replaced, after its next job.
        spares: how many sandboxes are kept ready in addition to one for each slot, `SPARES` by
            default; with 0, a worn sandbox is replaced only while another one is idle.
        idle_seconds: how long a sandbox may be idle in a pool that starts them on demand; None for
            a pool that keeps them warm.
        tell_works: called with False when no sandbox is left and none can be started, and with True
            when one was started again.
    """

    def __init__(
        self,
        factory: Callable[[int], Awaitable[Sandbox]],
        *,
        slots: int,
        recycle_after_executions: int = 2_000,
        recycle_after_seconds: float = 1_800.0,
        spares: int | None = None,
        idle_seconds: float | None = None,
        tell_works: Callable[[bool], None] = lambda _: None,
    ) -> None:
        self._factory = factory
        self._slots = slots
        self._recycle_after_executions = recycle_after_executions
        self._recycle_after_seconds = recycle_after_seconds
        self._spares = SPARES if spares is None else spares
        self._keeps_spares = True
        self._idle_seconds = idle_seconds
        self._idle_timer: asyncio.TimerHandle | None = None
        self._tell_works = tell_works
        self._works = True
        self._idle: deque[_Member] = deque()
        self._lent: set[_Member] = set()
        self._waiters: deque[asyncio.Future[_Member]] = deque()
        self._starting: set[asyncio.Task[None]] = set()
        self._closing: set[asyncio.Task[None]] = set()
        self._looking: set[asyncio.Task[None]] = set()
        self._numbers: set[int] = set()
        self._is_closed = False
        self._started = self._closed = self._failed_starts = 0
        self._closed_for = dict.fromkeys(REASONS, 0)

    @property
    def slots(self) -> int:
        """Jobs that run at once."""
        return self._slots

    @property
    def statistics(self) -> PoolStatistics:
        """The pool's sandboxes and counts."""
        return PoolStatistics(
            idle=len(self._idle),
            lent=len(self._lent),
            waiting=sum(not waiter.done() for waiter in self._waiters),
            started=self._started,
            closed=self._closed,
            failed_starts=self._failed_starts,
        )

    @property
    def counts(self) -> SandboxCounts:
        """The counts that operators see."""
        return SandboxCounts(
            idle=len(self._idle),
            lent=len(self._lent),
            started=self._started,
            failed_starts=self._failed_starts,
            closed=self._closed_for.copy(),
        )

    async def start(self, *, with_spares: bool = True) -> None:
        """Starts a sandbox for every slot, except in a pool on demand; returns when all are warm.

        Args:
            with_spares: whether the spares start too, in the background; otherwise `add_spares`
                starts them.

        Raises:
            SandboxError: one did not start; none is left behind.
        """
        self._keeps_spares = with_spares
        wanted = self._slots if self._idle_seconds is None else 0
        try:
            results = await asyncio.gather(
                *(self._make() for _ in range(wanted)), return_exceptions=True
            )
        except asyncio.CancelledError:
            await self.close()
            raise
        errors = [result for result in results if isinstance(result, BaseException)]
        if errors:
            await self.close()
            raise SandboxError(f"cannot start the sandboxes: {errors[0]}") from errors[0]
        self._replenish()
        _keep(self._looking, asyncio.create_task(self._look_after_idle()))

    def add_spares(self) -> None:
        """Starts the spares in the background, and keeps as many from now on."""
        self._keeps_spares = True
        self._replenish()

    async def run(self, job: Job) -> Execution:
        """Runs a job on a free sandbox; cancelling the call kills the execution.

        Raises:
            SandboxError: the sandbox failed, none can be started, or the pool was closed.
        """
        member = await self._borrow()
        member.executions += 1
        try:
            execution = await member.sandbox.run(job)
        except asyncio.CancelledError:
            self._give_back(member, broken=CANCELLED)
            raise
        except BaseException:
            self._give_back(member, broken=FAILED)
            raise
        self._give_back(member, broken=TROUBLED if troubled(execution) else None)
        return execution

    @property
    def idle_since(self) -> float:
        """When the sandbox that is idle for longest became idle, on `time.monotonic`; infinity if
        none is idle."""
        return min((member.idle_since for member in self._idle), default=math.inf)

    def close_longest_idle(self) -> None:
        """Closes the sandbox that is idle for longest, if any is, of a pool on demand."""
        if self._idle:
            member = min(self._idle, key=lambda member: member.idle_since)
            self._idle.remove(member)
            self._let_go(member, UNUSED)

    async def close(self) -> None:
        """Closes every sandbox, even one with a running job, and waits until all are gone."""
        self._is_closed = True
        if self._idle_timer is not None:
            self._idle_timer.cancel()
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_exception(SandboxError("the sandbox pool was closed"))
        background = (*self._starting, *self._looking)
        for task in background:
            task.cancel()
        await asyncio.gather(*background, return_exceptions=True)
        for member in (*self._idle, *self._lent):
            self._let_go(member, SHUTDOWN)
        self._idle.clear()
        await asyncio.gather(*self._closing)

    # --------------------------------------------------------------------------- lending

    async def _borrow(self) -> _Member:
        if self._is_closed:
            raise SandboxError("the sandbox pool was closed")
        waiter: asyncio.Future[_Member] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        self._serve()
        self._replenish()
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                self._give_back(waiter.result(), broken=None)
            raise

    def _serve(self) -> None:
        """Hands idle sandboxes to waiting jobs."""
        self._drop_dead()
        while self._waiters and self._idle and len(self._lent) < self._slots:
            waiter = self._waiters.popleft()
            if not waiter.done():
                member = self._idle.popleft()
                self._lent.add(member)
                waiter.set_result(member)

    def _give_back(self, member: _Member, *, broken: str | None) -> None:
        """Takes a sandbox back; closes it if it is broken, for the given reason, or is worn."""
        self._lent.discard(member)
        replaceable = self._idle or self._idle_seconds is not None
        if broken or self._is_closed or (self._is_worn(member) and replaceable):
            self._let_go(member, broken or (SHUTDOWN if self._is_closed else WORN))
        else:
            member.idle_since = time.monotonic()
            self._idle.append(member)
            self._watch_idle()
        self._replenish()
        self._serve()

    def _is_worn(self, member: _Member) -> bool:
        return (
            member.executions >= self._recycle_after_executions
            or time.monotonic() - member.born >= self._recycle_after_seconds
        )

    def _watch_idle(self) -> None:
        """Schedules the next check for idle sandboxes, in a pool on demand."""
        if self._idle_seconds is not None and self._idle_timer is None and not self._is_closed:
            loop = asyncio.get_running_loop()
            self._idle_timer = loop.call_later(self._idle_seconds, self._close_idle)

    def _close_idle(self) -> None:
        assert self._idle_seconds is not None
        self._idle_timer = None
        last = time.monotonic() - self._idle_seconds
        for member in [one for one in self._idle if one.idle_since <= last]:
            self._idle.remove(member)
            self._let_go(member, UNUSED)
        if self._idle:
            self._watch_idle()

    # -------------------------------------------------------------- starting and closing

    def _replenish(self) -> None:
        """Starts, in the background, as many sandboxes as are missing."""
        if self._is_closed:
            return
        alive = len(self._idle) + len(self._lent) + len(self._starting)
        for _ in range(self._wanted - alive):
            _keep(self._starting, asyncio.create_task(self._make_until_it_works()))

    @property
    def _wanted(self) -> int:
        """How many sandboxes the pool should have."""
        if self._idle_seconds is None:
            return self._slots + (self._spares if self._keeps_spares else 0)
        return min(self._slots, len(self._lent) + self.statistics.waiting)

    async def _look_after_idle(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            self._drop_dead()

    def _drop_dead(self) -> None:
        dead = [member for member in self._idle if not member.sandbox.is_alive]
        if not dead:
            return
        for member in dead:
            self._idle.remove(member)
            self._let_go(member, DIED)
        self._replenish()

    async def _make_until_it_works(self) -> None:
        for delay in _delays():
            try:
                await self._make()
            except Exception as error:  # noqa: BLE001 - after any error, the slot must not be lost
                self._tell_of_failed_start(error)
                if self._idle_seconds is not None and not self.statistics.waiting:
                    return
                await asyncio.sleep(delay)
            else:
                # The task is removed at once. Otherwise it and its new sandbox would count as two,
                # and a missing sandbox would not be noticed.
                self._starting -= {asyncio.current_task()}
                self._replenish()
                return

    async def _make(self) -> None:
        number = next(n for n in range(len(self._numbers) + 1) if n not in self._numbers)
        self._numbers.add(number)
        try:
            sandbox = await self._factory(number)
        except BaseException:
            self._numbers.discard(number)
            raise
        self._started += 1
        now = time.monotonic()
        member = _Member(number=number, sandbox=sandbox, born=now, idle_since=now)
        if self._is_closed:
            self._let_go(member, SHUTDOWN)
            return
        self._idle.append(member)
        self._watch_idle()
        self._note(works=True)
        self._serve()

    def _tell_of_failed_start(self, error: Exception) -> None:
        self._failed_starts += 1
        _log.warning("a sandbox did not start", error=str(error))
        self._drop_dead()
        if self._idle or self._lent:
            return
        self._note(works=False)
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_exception(SandboxError(f"no sandbox can be started: {error}"))

    def _note(self, *, works: bool) -> None:
        if works is not self._works:
            self._works = works
            self._tell_works(works)

    def _let_go(self, member: _Member, reason: str) -> None:
        if not member.leaving:
            member.leaving = True
            self._closed_for[reason] += 1
            _keep(self._closing, asyncio.create_task(self._close_member(member)))

    async def _close_member(self, member: _Member) -> None:
        try:
            await member.sandbox.close()
        except Exception as error:  # noqa: BLE001 - its slot must become free in any case
            _log.warning("a sandbox was not closed cleanly", error=str(error))
        finally:
            self._closed += 1
            self._numbers.discard(member.number)


def _delays() -> Iterator[float]:
    delay = FIRST_RETRY_SECONDS
    while True:
        yield delay
        delay = min(2 * delay, LONGEST_RETRY_SECONDS)


def _keep(tasks: set[asyncio.Task[None]], task: asyncio.Task[None]) -> None:
    """Keeps a reference to a task until it is done, because the event loop does not."""
    tasks.add(task)
    task.add_done_callback(tasks.discard)
