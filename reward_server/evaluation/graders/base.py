"""The interface of graders, and the graders of function tests and of calls."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ParamSpec, Protocol, TypeVar

from reward_server.domain import (
    CallJudgement,
    CallTests,
    Crossing,
    Ending,
    Execution,
    FunctionJudgement,
    FunctionTests,
    Integrity,
    Job,
    LimitKind,
    Limits,
    RewardPolicy,
    RewardPolicyKind,
    Signature,
    Termination,
    TerminationKind,
    TestOutcome,
    TestResult,
    Usage,
    Work,
)
from reward_server.errors import BudgetSpentError, UnsupportedError
from reward_server.grading.extraction.python_text import called_names
from reward_server.grading.reward import stops_at_first_failure
from reward_server.grading.signatures import leaves_open
from reward_server.grading.verdict import LOWERED, Run
from reward_server.languages import Language
from reward_server.recent import Recent

_CLASS = re.compile(r"(\w+)\(\)")
_QUICK_CHARACTERS = 1 << 12  # reading them takes some 10 ms
P = ParamSpec("P")
T = TypeVar("T")


async def read_aside(characters: int, read: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Reads texts; long ones in a thread, so that the event loop is not blocked."""
    if characters <= _QUICK_CHARACTERS:
        return read(*args, **kwargs)
    return await asyncio.to_thread(read, *args, **kwargs)


async def read_once(
    recent: Recent[T],
    bytes_of_character: int,
    characters: int,
    read: Callable[P, T],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Reads texts like `read_aside`, unless what was made of them is kept.

    Args:
        recent: keeps what was made.
        bytes_of_character: memory that it takes for each character.
        characters: of all texts.
        read: reads the texts.
        args: the arguments of `read`, which are the key.
        kwargs: none.
    """
    size = bytes_of_character * characters
    return await read_aside(characters, recent.find, args, size, lambda: read(*args, **kwargs))


class Slots(Protocol):
    """Runs executions; a scheduler's ticket."""

    async def run(self, job: Job) -> Execution:
        """Waits for a slot and runs a job; cancelling the call kills it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A program to judge, with its limits and the reward policy.

    Args:
        source: the program.
        prompt: trusted code of the task, which can run without the program.
        language: what it is written in.
        limits: limits of each execution.
        policy: decides which tests count, and whether one failure ends the execution.
        files: files beside the program.
        data: read-only files of each execution.
        executable: paths among `files` of those that may be executed.
        image: digest of the image in which it runs; empty for the first with the language.
        required: the integrity that the request requires.
    """

    source: str
    prompt: str
    language: Language
    limits: Limits
    policy: RewardPolicy
    files: Mapping[str, bytes] = field(default_factory=dict)
    data: Mapping[str, bytes] = field(default_factory=dict)
    executable: frozenset[str] = frozenset()
    image: str = ""
    required: Integrity = Integrity.UNSPECIFIED

    def job(self, work: Work) -> Job:
        """Makes a job of work on this program."""
        return Job(work=work, language=self.language.name, limits=self.limits, image=self.image)

    async def read_by(self, read: Callable[[str], T]) -> T:
        """Reads the program; see `read_aside`."""
        return await read_aside(len(self.source), read, self.source)

    def copy(self, work: Work) -> Job:
        """Makes a job of a perturbed copy of tests."""
        return replace(self.job(work), is_copy=True)

    def counted(self, total: int) -> int:
        """Returns how many of the leading tests count."""
        if self.policy.kind is RewardPolicyKind.FIRST_K:
            return min(self.policy.first_k, total)
        return total


class Grader(Protocol):
    """Judges a program by one kind of tests."""

    @property
    def wanted(self) -> frozenset[str]:
        """Names that the tests take from the program, as far as they are known."""

    @property
    def integrity(self) -> Integrity:
        """The integrity that the tests allow."""

    @property
    def flaw(self) -> str:
        """Why the tests' text makes the task invalid for every program; "" if it does not."""

    def cost(self, policy: RewardPolicy) -> int:
        """Returns how many executions are expected."""

    def not_run(self) -> tuple[TestResult, ...]:
        """Returns the results of tests that never ran."""

    async def grade(self, candidate: Candidate, slots: Slots) -> list[Run]:
        """Runs as many executions as needed; each test is in one of the runs, in order.

        Raises:
            SandboxError, DeadlineError: as the slots.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionGrader:
    """Gives function tests to an isolated judge, in one execution.

    Args:
        tests: the tests.
        reasons: why they are SHARED, if they run in the judge all the same, since they make no
            test file.
        flaw: why no answer can fail them; "" if one can.
        crossing: what the judge binds.
        beside: makes a grader that runs them beside the solution, if they turn out to hand over
            what is no data.
    """

    tests: FunctionTests
    crossing: Crossing
    reasons: tuple[str, ...] = ()
    flaw: str = ""
    beside: Callable[[], Awaitable[Grader]] | None = None

    @property
    def wanted(self) -> frozenset[str]:
        """The entry point, or else the functions that the asserts call."""
        if self.tests.entry_point:
            return frozenset({_owner(self.tests.entry_point)})
        return frozenset(called_names("\n".join(self.tests.asserts)))

    @property
    def integrity(self) -> Integrity:
        """ISOLATED, unless the contract does not allow the tests."""
        return Integrity.SHARED if self.reasons else Integrity.ISOLATED

    def remedy(self) -> str:
        """Returns why tests that run apart prove less, and how to change that."""
        why = "; ".join(self.reasons[:3])
        return f"their text needs the solution itself ({why}): leave that out, or require SHARED"

    def cost(self, policy: RewardPolicy) -> int:
        """Returns 1."""
        return 1

    def not_run(self) -> tuple[TestResult, ...]:
        """Returns results with the names that the judge uses."""
        names = [f"assert {number}" for number in range(1, len(self.tests.asserts) + 1)]
        return _not_run(names or ["check"])

    async def grade(self, candidate: Candidate, slots: Slots) -> list[Run]:
        """Runs one execution; see `Grader`."""
        work = FunctionJudgement(
            source=candidate.source,
            tests=self.tests,
            files=candidate.files,
            data=candidate.data,
            stop_at_first_failure=stops_at_first_failure(candidate.policy),
            crossing=self.crossing,
        )
        execution = await slots.run(candidate.job(work))
        run = Run.of(execution, execution.tests or self.not_run())
        return await concluded(run, candidate, slots, self.beside)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallGrader:
    """Gives calls to an isolated judge, all in one execution.

    If a call ends the program and the reward needs the calls after it, these run in a fresh
    execution. Each execution decides at least one call, so there are no more executions than calls.

    Args:
        tests: the calls.
        signature: the task's signature, which says which JSON arrays stand for linked lists or
            trees.
    """

    tests: CallTests
    signature: Signature
    flaw = ""

    @property
    def wanted(self) -> frozenset[str]:
        """The function, or the class whose method is called."""
        return frozenset({_owner(self.tests.entry_point)})

    @property
    def integrity(self) -> Integrity:
        """ISOLATED, unless the solution decides which arrays stand for nodes."""
        is_open = leaves_open(self.signature, self.tests)
        return Integrity.SHARED if is_open else Integrity.ISOLATED

    def cost(self, policy: RewardPolicy) -> int:
        """Returns 1, since only programs that crash need more."""
        return 1

    def not_run(self) -> tuple[TestResult, ...]:
        """Returns a result for each call."""
        blank = _not_run([case_name(index) for index in range(len(self.tests.cases))])
        return tuple(
            replace(test, weight=case.weight, subtask=case.subtask)
            for test, case in zip(blank, self.tests.cases, strict=True)
        )

    async def grade(self, candidate: Candidate, slots: Slots) -> list[Run]:
        """Runs as many executions as it takes; see `Grader`."""
        blank = self.not_run()
        counted = candidate.counted(len(blank))
        whole = self._work(candidate)
        runs: list[Run] = []
        start = 0
        while True:
            work = _part(whole, start, counted)
            try:
                execution = await slots.run(candidate.job(work))
            except BudgetSpentError as error:
                return [*runs, over_budget(error, blank[start:])]
            tests = _filled(execution.tests, blank[start:])
            decided = start + _decided(tests)
            goes_on = self._goes_on(candidate, execution, start, decided, counted)
            run = Run.of(execution, tests[: decided - start] if goes_on else tests)
            runs += await concluded(run, candidate, slots, None)
            if not goes_on:
                return runs
            start = decided

    def _work(self, candidate: Candidate) -> CallJudgement:
        return CallJudgement(
            source=candidate.source,
            tests=self.tests,
            signature=self.signature,
            files=candidate.files,
            data=candidate.data,
            stop_at_first_failure=stops_at_first_failure(candidate.policy),
        )

    def _goes_on(
        self, candidate: Candidate, execution: Execution, start: int, decided: int, end: int
    ) -> bool:
        died = execution.ending in (Ending.CRASHED, Ending.LIMIT)
        return died and start < decided < end and not stops_at_first_failure(candidate.policy)


def _part(whole: CallJudgement, start: int, end: int) -> CallJudgement:
    return replace(whole, tests=replace(whole.tests, cases=whole.tests.cases[start:end]))


def over_budget(error: BudgetSpentError, tests: Sequence[TestResult]) -> Run:
    """Returns the run of tests for which a submission had no time left."""
    execution = Execution(
        ending=Ending.LIMIT,
        termination=Termination(kind=TerminationKind.LIMIT),
        message=str(error),
        limits_hit=(LimitKind.WALL_TIME,),
        usage=Usage(executions=0),
    )
    return Run.of(
        execution,
        (replace(test, outcome=TestOutcome.LIMIT, message=str(error)) for test in tests),
    )


def case_name(index: int) -> str:
    """Returns the name of the case at an index, which counts from 1 for people."""
    return f"case {index + 1}"


async def concluded(
    run: Run, candidate: Candidate, slots: Slots, beside: Callable[[], Awaitable[Grader]] | None
) -> list[Run]:
    """Returns a run under the contract; what lowered its label is among its signals.

    Tests that hand over what is no data before they have an answer do so for every completion: they
    run beside the solution, if they may.

    Args:
        run: the run.
        candidate: the program.
        slots: where further executions run.
        beside: makes the grader of tests beside the solution; None if they may not run there.

    Raises:
        UnsupportedError: the request requires more than tests beside the solution give.
    """
    if UNSENDABLE not in run.execution.signals:
        is_lowered = any(name.startswith(LOWERED) for name in run.execution.signals)
        return [replace(run, integrity=Integrity.SHARED) if is_lowered else run]
    if beside is None:
        return [replace(run, execution=replace(run.execution, ending=Ending.INVALID_TASK))]
    if candidate.required > Integrity.SHARED:
        raise UnsupportedError(f"{candidate.required.name} is not on offer, since {NO_DATA}")
    runs = await (await beside()).grade(candidate, slots)
    signals = {f"{LOWERED}arguments": 1}
    return [replace(one.with_signals(signals), integrity=Integrity.SHARED) for one in runs]


UNSENDABLE = "unsendable"
NO_DATA = "the tests hand over what is no data"


def _owner(entry_point: str) -> str:
    owner = _CLASS.match(entry_point)
    return owner[1] if owner else entry_point


def _not_run(names: Sequence[str]) -> tuple[TestResult, ...]:
    return tuple(TestResult(name=name, outcome=TestOutcome.NOT_RUN) for name in names)


def _filled(results: Sequence[TestResult], blank: Sequence[TestResult]) -> tuple[TestResult, ...]:
    """Returns results with the names, weights and subtasks of their cases; a blank where there is
    none."""
    named = [
        replace(result, name=case.name, weight=case.weight, subtask=case.subtask)
        for result, case in zip(results, blank, strict=False)
    ]
    return (*named, *blank[len(named) :])


def _decided(tests: Sequence[TestResult]) -> int:
    """Returns how many tests were decided before the first that was not run."""
    outcomes = [test.outcome for test in tests]
    if TestOutcome.NOT_RUN in outcomes:
        return outcomes.index(TestOutcome.NOT_RUN)
    return len(outcomes)
