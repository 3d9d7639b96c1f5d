"""Runs a program once for each case, and judges its output, also with a checker program.

If a checker program neither accepts nor rejects, or rejects by an exception that it does not catch,
it is broken, or the candidate's output made it fail. To find out which, the server runs the checker
again on the expected output. If the checker fails again, the task is invalid, whatever the
candidate wrote. Otherwise the candidate's output is wrong. Without this second run, a candidate
could avoid a verdict with output that crashes the checker.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from reward_server.domain import (
    CheckerKind,
    Ending,
    Execution,
    Integrity,
    Job,
    Limits,
    RewardPolicy,
    RewardPolicyKind,
    StdioCase,
    StdioTests,
    TerminationKind,
    TestOutcome,
    TestResult,
)
from reward_server.errors import BudgetSpentError
from reward_server.evaluation.graders.base import Candidate, Slots, case_name, over_budget
from reward_server.evaluation.graders.compilation import Programs, Ready
from reward_server.evaluation.graders.interactors import conversation, decided
from reward_server.evaluation.graders.outputs import kept, with_last_line, without_output
from reward_server.grading.checkers import difference
from reward_server.grading.reward import stops_at_first_failure
from reward_server.grading.verdict import Run
from reward_server.languages import Language

_QUICK_BYTES = 256 * 1024
_ACCEPTED, _REJECTED = 0, 1
_RAISED = re.compile(
    rb"^(?:Traceback \(most recent call last\):|Exception in thread |    at .+:\d+:\d+\)?$)",
    re.MULTILINE,
)
# After such an ending no other case can change the verdict.
_FINAL = (Ending.COMPILE_ERROR, Ending.INVALID_TASK, Ending.VIOLATION)


@dataclass(frozen=True, slots=True, kw_only=True)
class StdioGrader:
    """Runs a program once for each case and compares its output.

    The first case runs alone, since most wrong programs fail it; then up to `parallelism` run at
    once. If the policy lets one failure decide, the cases after the first failed one do not count:
    they are not started, or are killed. So the verdict does not depend on which run was faster.

    Args:
        tests: the cases.
        programs: makes programs ready to run.
        checker_language: the checker program's language.
        checker_limits: limits of each execution of the checker program.
        parallelism: executions of one submission that wait for a slot or run at once.
    """

    tests: StdioTests
    programs: Programs
    checker_language: Language
    checker_limits: Limits
    parallelism: int
    flaw = ""

    @property
    def wanted(self) -> frozenset[str]:
        """The empty set: a program is run as a whole, so tests use no names of it."""
        return frozenset()

    @property
    def integrity(self) -> Integrity:
        """ISOLATED, since the server compares the output."""
        return Integrity.ISOLATED

    def cost(self, policy: RewardPolicy) -> int:
        """Returns one execution for each case that counts, two with a checker program.

        Compilations are not counted, since most programs are compiled already.
        """
        count = len(self.tests.cases)
        if policy.kind is RewardPolicyKind.FIRST_K:
            count = min(count, policy.first_k)
        return 2 * count if self.tests.checker.kind is CheckerKind.PROGRAM else count

    def not_run(self) -> tuple[TestResult, ...]:
        """Returns a result for each case."""
        return tuple(map(self._blank, range(len(self.tests.cases))))

    async def grade(self, candidate: Candidate, slots: Slots) -> list[Run]:
        """Makes the program ready and runs the cases; see `Grader`."""
        source = self.tests.harness or candidate.source
        files, data = candidate.files, candidate.data
        ready = await self.programs.ready(candidate.language, source, slots, files, data)
        if ready.refusal is not None:
            return [Run.of(kept(ready.refusal), self.not_run())]
        runs = await _Cases(self, ready, candidate, slots).run()
        if ready.compilation is None:
            return runs
        return [without_output(Run.of(ready.compilation, ())), *runs]

    async def run_case(self, index: int, ready: Ready, candidate: Candidate, slots: Slots) -> Run:
        """Runs one case, or returns a run that says that no time is left for it."""
        try:
            return await self._run_case(index, ready, candidate, slots)
        except BudgetSpentError as error:
            return over_budget(error, [self._blank(index)])

    async def _run_case(self, index: int, ready: Ready, candidate: Candidate, slots: Slots) -> Run:
        case, blank = self.tests.cases[index], self._blank(index)
        if self.tests.checker.kind is CheckerKind.INTERACTOR:
            return await self._converse(case, ready, candidate, blank, slots)
        execution = await slots.run(ready.job(candidate.limits, stdin=case.stdin))
        outcome, message = _outcome(execution)
        if outcome is not TestOutcome.PASSED:
            return _run(execution, blank, outcome, message)
        if self.tests.checker.kind is CheckerKind.PROGRAM:
            return await self._ask_checker(case, execution, blank, slots)
        message = await self._difference(case.expected_stdout, execution.stdout.data)
        outcome = TestOutcome.FAILED if message else TestOutcome.PASSED
        return _run(execution, blank, outcome, message)

    def _blank(self, index: int) -> TestResult:
        case = self.tests.cases[index]
        return TestResult(
            name=case_name(index),
            outcome=TestOutcome.NOT_RUN,
            weight=case.weight,
            subtask=case.subtask,
        )

    async def _difference(self, expected: bytes, actual: bytes) -> str:
        if len(expected) <= _QUICK_BYTES:
            return difference(self.tests.checker, expected, actual)
        return await asyncio.to_thread(difference, self.tests.checker, expected, actual)

    async def _ask_checker(
        self, case: StdioCase, execution: Execution, blank: TestResult, slots: Slots
    ) -> Run:
        checker = await self._checker(slots)
        if checker.refusal is not None:
            return _run(_broken(checker.refusal), blank, TestOutcome.NOT_RUN, "")
        answer = await slots.run(self._checker_job(checker, case, execution.stdout.data))
        status = _status(answer, case)
        if status == _ACCEPTED:
            return _run(execution, blank, TestOutcome.PASSED, "")
        if status == _REJECTED:
            return _run(execution, blank, TestOutcome.FAILED, _checker_words(answer))
        control = await slots.run(self._checker_job(checker, case, case.expected_stdout))
        if _status(control, case) is None:
            return _run(_broken(control), blank, TestOutcome.NOT_RUN, "")
        message = "the output upsets the checker program, which the expected output does not"
        return _run(execution, blank, TestOutcome.FAILED, message)

    async def _checker(self, slots: Slots) -> Ready:
        program = self.tests.checker.program
        return await self.programs.ready(self.checker_language, program, slots)

    async def _converse(
        self,
        case: StdioCase,
        ready: Ready,
        candidate: Candidate,
        blank: TestResult,
        slots: Slots,
    ) -> Run:
        interactor = await self._checker(slots)
        if interactor.refusal is not None:
            return _run(_broken(interactor.refusal), blank, TestOutcome.NOT_RUN, "")
        is_text = bool(self.tests.harness)
        job = conversation(interactor, ready, case, candidate, is_text=is_text)
        execution = await slots.run(job)
        outcome, message = _outcome(execution)
        if outcome is TestOutcome.PASSED:
            execution, message = decided(execution)
            outcome = TestOutcome.FAILED if message else TestOutcome.PASSED
        return _run(execution, blank, outcome, message)

    def _checker_job(self, checker: Ready, case: StdioCase, output: bytes) -> Job:
        files = {"input": case.stdin, "output": output, "expected": case.expected_stdout}
        return checker.job(self.checker_limits, args=tuple(files), files=files)


class _Cases:
    """The runs of one submission's cases."""

    def __init__(
        self, grader: StdioGrader, ready: Ready, candidate: Candidate, slots: Slots
    ) -> None:
        self._grader = grader
        self._ready = ready
        self._candidate = candidate
        self._slots = slots
        self._end = candidate.counted(len(grader.tests.cases))
        self._next = 0
        self._runs: dict[int, Run] = {}
        self._active: dict[asyncio.Task[Run], int] = {}
        self._decisive = 0  # the first case runs alone, so that it is recorded first

    async def run(self) -> list[Run]:
        async with self._killing_leftovers():
            self._start(1)
            while self._active:
                await self._settle()
                self._start(self._grader.parallelism)
        return self._collected()

    @asynccontextmanager
    async def _killing_leftovers(self) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await _kill(list(self._active))

    def _start(self, width: int) -> None:
        while self._next < self._end and len(self._active) < width:
            case = self._grader.run_case(self._next, self._ready, self._candidate, self._slots)
            self._active[asyncio.create_task(case)] = self._next
            self._next += 1

    async def _settle(self) -> None:
        done, _ = await asyncio.wait(self._active, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            index = self._active.pop(task)
            self._record(index, task.result())
        late = [task for task, index in self._active.items() if index >= self._end]
        await _kill(late)
        for task in late:
            del self._active[task]

    def _record(self, index: int, run: Run) -> None:
        self._runs[index] = run
        if self._decides_all(run):
            self._end = min(self._end, index + 1)
        # A thousand runs write much, and the output of only one run is read.
        decisive = min(self._decisive, index, key=self._order)
        for other in {self._decisive, index} - {decisive}:
            self._runs[other] = without_output(self._runs[other])
        self._decisive = decisive

    def _order(self, index: int) -> tuple[bool, int]:
        """Returns a key that orders the first failed run first, or else the last passed run."""
        passed = self._runs[index].tests[0].outcome is TestOutcome.PASSED
        return passed, -index if passed else index

    def _decides_all(self, run: Run) -> bool:
        if run.execution.ending in _FINAL:
            return True
        failed = run.tests[0].outcome is not TestOutcome.PASSED
        return failed and stops_at_first_failure(self._candidate.policy)

    def _collected(self) -> list[Run]:
        runs = [self._runs[index] for index in range(self._end)]
        rest = self._grader.not_run()[self._end :]
        last = runs[-1]
        return [*runs[:-1], last.with_tests((*last.tests, *rest))]


async def _kill(tasks: list[asyncio.Task[Run]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _run(execution: Execution, blank: TestResult, outcome: TestOutcome, message: str) -> Run:
    test = replace(
        blank,
        outcome=outcome,
        message=message,
        wall_time_seconds=execution.usage.wall_time_seconds,
    )
    return Run.of(kept(execution), (test,))


def _broken(checker: Execution) -> Execution:
    """Returns an execution of a checker program that shows that the task is broken."""
    message = f"the checker program fails on the expected output: {_words(checker)}"
    if checker.ending is Ending.COMPILE_ERROR:
        message = f"the checker program does not compile: {_words(checker)}"
    return replace(checker, ending=Ending.INVALID_TASK, message=message)


def _outcome(execution: Execution) -> tuple[TestOutcome, str]:
    """Returns the outcome of a run before its output is compared."""
    if execution.ending is Ending.LIMIT:
        return TestOutcome.LIMIT, execution.message
    if execution.ending is not Ending.COMPLETED:
        return TestOutcome.ERROR, execution.message
    if execution.termination.kind is TerminationKind.EXITED and execution.termination.value:
        return TestOutcome.ERROR, _words(execution)
    if execution.stdout.truncated:
        return TestOutcome.LIMIT, "the output was not kept whole"
    return TestOutcome.PASSED, ""


def _status(answer: Execution, case: StdioCase) -> int | None:
    """Returns a checker program's status; None if it neither accepted nor rejected.

    An exception ends programs in Python, Java and Node with the status of a rejection. It counts as
    one only if the case has no expected output with which the checker can be tried.
    """
    exited = answer.termination.kind is TerminationKind.EXITED
    if answer.ending is not Ending.COMPLETED or not exited:
        return None
    status = answer.termination.value
    raised = _RAISED.search(answer.stderr.data) is not None and bool(case.expected_stdout.strip())
    is_clear = status == _ACCEPTED or (status == _REJECTED and not raised)
    return status if is_clear else None


def _checker_words(answer: Execution) -> str:
    lines = (answer.stderr.data or answer.stdout.data).decode("utf-8", "replace").split("\n", 1)
    return f"the checker program rejects the output: {lines[0][:200]}".removesuffix(": ")


def _words(execution: Execution) -> str:
    if execution.ending is Ending.COMPILE_ERROR:
        return execution.message
    said = f"exited with status {execution.termination.value}"
    if execution.ending is not Ending.COMPLETED:
        said = execution.message
    return with_last_line(said, execution)
