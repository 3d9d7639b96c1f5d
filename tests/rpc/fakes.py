"""An executor whose every execution starts and ends when the test says so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from reward_server.domain import (
    CallJudgement,
    Ending,
    Execution,
    FunctionJudgement,
    Job,
    Program,
    Termination,
    TerminationKind,
    TestOutcome,
    TestResult,
    Usage,
)

Behaviour = Callable[[Job], Execution]


def passing(job: Job) -> Execution:
    """Answers as a right program would: every test passed, standard input echoed."""
    return Execution(
        ending=Ending.COMPLETED,
        termination=Termination(kind=TerminationKind.EXITED),
        tests=tuple(
            TestResult(name=f"test {number}", outcome=TestOutcome.PASSED)
            for number in range(_test_count(job))
        ),
        usage=Usage(cpu_time_seconds=0.001, wall_time_seconds=0.002, peak_memory_bytes=1 << 20),
    )


def _test_count(job: Job) -> int:
    match job.work:
        case FunctionJudgement(tests=tests):
            return max(len(tests.asserts), 1)
        case CallJudgement(tests=tests):
            return len(tests.cases)
        case Program():
            return 0


def program(source: str = "") -> Job:
    """A job told apart by its source."""
    return Job(work=Program(source=source))


@dataclass(kw_only=True)
class FakeExecutor:
    """Answers at once, or, when `held`, once `finish` or `fail` is called.

    Attributes:
        started: every job begun, in order.
        killed: jobs whose call was cancelled.
    """

    slots: int = 2
    held: bool = False
    behaviour: Behaviour = passing
    started: list[Job] = field(default_factory=list)
    killed: list[Job] = field(default_factory=list)
    running: list[tuple[Job, asyncio.Future[Execution]]] = field(default_factory=list)
    peak: int = 0
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def run(self, job: Job) -> Execution:
        """Runs a job; see `executor.Executor`."""
        self.started.append(job)
        if not self.held:
            await self._tell()
            return self.behaviour(job)
        return await self._hold(job)

    async def _hold(self, job: Job) -> Execution:
        ending: asyncio.Future[Execution] = asyncio.get_running_loop().create_future()
        entry = (job, ending)
        self.running.append(entry)
        self.peak = max(self.peak, len(self.running))
        try:
            await self._tell()
            return await ending
        except asyncio.CancelledError:
            self.killed.append(job)
            raise
        finally:
            if entry in self.running:
                self.running.remove(entry)
            await self._tell()

    def finish(self, index: int = 0) -> Job:
        """Ends the execution at a position among those running, oldest first."""
        job, ending = self.running.pop(index)
        if not ending.done():
            ending.set_result(self.behaviour(job))
        return job

    def fail(self, error: Exception) -> None:
        """Breaks the oldest execution that runs."""
        _, ending = self.running.pop(0)
        ending.set_exception(error)

    def release(self) -> None:
        """Ends all that runs, and all that will at once."""
        self.held = False
        while self.running:
            self.finish()

    async def until_running(self, count: int) -> None:
        """Returns once exactly `count` executions run."""
        await self._until(lambda: len(self.running) == count)

    async def until_started(self, count: int) -> None:
        """Returns once `count` executions were begun."""
        await self._until(lambda: len(self.started) >= count)

    async def until_killed(self, count: int) -> None:
        """Returns once `count` executions were killed."""
        await self._until(lambda: len(self.killed) >= count)

    async def _until(self, condition: Callable[[], bool]) -> None:
        async with self._changed:
            await self._changed.wait_for(condition)

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()
