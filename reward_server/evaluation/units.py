"""Test files: run by an isolated judge, or beside the solution together with perturbed twins."""

from __future__ import annotations

import asyncio
import functools
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from reward_server.domain import (
    Ending,
    Execution,
    Framework,
    Integrity,
    RewardPolicy,
    RewardPolicyKind,
    TestOutcome,
    TestResult,
    Tests,
    UnitJudgement,
    UnitTests,
)
from reward_server.evaluation.confirmation import Confirmation
from reward_server.evaluation.graders import Candidate, Slots
from reward_server.grading.confirmation import FileCopies
from reward_server.grading.instrumentation import without_note
from reward_server.grading.policy import stops_at_first_failure
from reward_server.grading.rosters import Roster, Skips
from reward_server.grading.suites import Reading, parse_files, read_suite
from reward_server.grading.twins import Twins
from reward_server.grading.vectors import (
    MOST_LEAVES,
    Discrepancy,
    Vector,
    base_name,
    runs_needed,
    schedule,
)
from reward_server.grading.verdict import Run, claims_reward

_QUICK_CHARACTERS = 1 << 12  # some 20 ms
_REMEMBERED_CHARACTERS = 1 << 15
_REMEMBERED = 64
NAME = "tests"
_NO_END = "it cannot be proven to have passed, since the tests did not come to their end"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How test files are run: what their text says, and their twins where they need some.

    Args:
        reading: what the files take from the solution, and why they have to live with it.
        skips: which tests may be skipped.
        roster: which tests there are.
        twins: of tests that live with the solution, where some can be made wrong.
    """

    reading: Reading
    skips: Skips
    roster: Roster
    twins: Twins | None = None

    @property
    def integrity(self) -> Integrity:
        """The most that their text allows."""
        if not self.reading.reasons:
            return Integrity.ISOLATED
        return Integrity.SHARED_TWINS if self._all_have_twins() else Integrity.SHARED

    def _all_have_twins(self) -> bool:
        """Returns True if there is no test, row, assertion or leaf where cheating alone passes."""
        if self.twins is None or not self.roster.is_exact:
            return False
        run = {test for test in self.roster.tests if not self.skips.is_always_skipped(test)}
        return (
            run <= self.twins.tests
            and self.twins.are_proof
            and not any(map(self.skips.may_skip, run))
            and max(self.twins.weights.values()) <= MOST_LEAVES
        )


async def plan(tests: UnitTests, prompt: str, reasons: tuple[str, ...] = ()) -> Plan:
    """Reads test files and tells how to run them.

    Args:
        tests: the files.
        prompt: the task's.
        reasons: why they have to live with the solution, besides what their text says.
    """
    characters = len(prompt) + sum(len(text) for _, text in tests.files)
    if characters > _REMEMBERED_CHARACTERS:
        return await asyncio.to_thread(_plan, tests, prompt, reasons)
    if characters > _QUICK_CHARACTERS:
        return await asyncio.to_thread(_remembered_plan, tests, prompt, reasons)
    return _remembered_plan(tests, prompt, reasons)


def _plan(tests: UnitTests, prompt: str, reasons: tuple[str, ...]) -> Plan:
    trees = parse_files(tests.files)
    paths = [path for path, _ in tests.files]
    reading = read_suite(trees, paths, tests.solution_path)
    known = Plan(
        reading=replace(reading, reasons=(*reading.reasons, *reasons)),
        skips=Skips(trees),
        roster=Roster(trees, tests.files, tests.framework),
    )
    if not known.reading.reasons:
        return known
    # Twins change the trees that they are given.
    twins = Twins(parse_files(tests.files), tests.files, prompt, known.roster.rows)
    return replace(known, twins=twins if twins.units else None)


_remembered_plan = functools.lru_cache(maxsize=_REMEMBERED)(_plan)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitGrader:
    """Runs test files.

    Args:
        tests: the files.
        plan: how they are run.
        draw: where the secret of twins comes from.
    """

    tests: UnitTests
    plan: Plan
    draw: random.Random = random.SystemRandom()  # noqa: RUF009  # it holds no state

    @property
    def wanted(self) -> frozenset[str]:
        """The names that the files take from the solution."""
        return self.plan.reading.wanted

    @property
    def integrity(self) -> Integrity:
        """What the files' text allows."""
        return self.plan.integrity

    def cost(self, policy: RewardPolicy) -> int:
        """Returns 1 and, where tests have twins, their number."""
        twins = self.plan.twins
        return 1 + (runs_needed(twins.weights.values()) if twins is not None else 0)

    def not_run(self) -> tuple[TestResult, ...]:
        """Returns one result for all tests, whose names are not known yet."""
        return (TestResult(name=NAME, outcome=TestOutcome.NOT_RUN),)

    async def grade(self, candidate: Candidate, slots: Slots) -> list[Run]:
        """Runs the true tests and, where they pass beside the solution, their twins."""
        twins, policy = self.plan.twins, candidate.policy
        stops = _stops(policy, shared=bool(self.plan.reading.reasons))
        tests = self.tests
        if twins is not None:
            tests = replace(tests, files=await asyncio.to_thread(twins.true_files))
        execution = await slots.run(candidate.job(self._work(candidate, tests, stops=stops)))
        run = Run(execution=execution, tests=execution.tests or self.not_run())
        if not self.plan.reading.reasons:
            return await self._confirmed(run, candidate, slots)
        run = self._in_order(_doubted(_without_notes(run), self.plan))
        if twins is None or not claims_reward(policy, run):
            return [run]
        if run.execution.ending is not Ending.COMPLETED:
            return [_unproven(run)]
        return await self._proven(run, twins, candidate, slots)

    def _in_order(self, run: Run) -> Run:
        """Puts tests in the order of their text, which is not the solution's word."""
        roster, framework = self.plan.roster, self.tests.framework
        names = sorted(roster.rows) if framework is Framework.UNITTEST else list(roster.rows)
        places = {name: place for place, name in enumerate(names)}
        tests = sorted(run.tests, key=lambda test: places.get(base_name(test.name), -1))
        return replace(run, tests=tuple(tests))

    def _work(self, candidate: Candidate, tests: UnitTests, *, stops: bool) -> UnitJudgement:
        return UnitJudgement(
            source=candidate.source,
            tests=tests,
            files=candidate.files,
            data=candidate.data,
            shared=bool(self.plan.reading.reasons),
            stop_at_first_failure=stops,
        )

    async def _confirmed(self, run: Run, candidate: Candidate, slots: Slots) -> list[Run]:
        """Has a pass of an isolated judge confirmed, where it needs to be."""

        async def execute(tests: Tests) -> Execution:
            assert isinstance(tests, UnitTests)
            return await slots.run(candidate.copy(self._work(candidate, tests, stops=False)))

        read = partial(FileCopies, self.tests, self.wanted)
        confirmation = Confirmation(read=read, execute=execute, policy=candidate.policy)
        return await confirmation.confirmed(run)

    async def _proven(
        self, run: Run, twins: Twins, candidate: Candidate, slots: Slots
    ) -> list[Run]:
        """Runs twins until the outcomes are beyond guessing, or one betrays the solution."""
        vector, runs = Vector(tests=run.execution.tests, shapes=twins.shapes), list[Run]()
        units = vector.provable(twins.units)
        if not units or vector.unproven(twins.units):
            return [
                _refused(run, "a test that passed cannot be proven to have run", {"unproven": 1})
            ]
        for change in schedule({unit: twins.weights[unit] for unit in units}, self.draw):
            files = await asyncio.to_thread(twins.perturbed_files, change, self.draw)
            work = self._work(candidate, replace(self.tests, files=files), stops=False)
            execution = await slots.run(candidate.copy(work))
            if found := vector.compare(execution.tests, change):
                return [*runs, Run(execution=_ended(execution), tests=()), _betrayed(run, found)]
            runs.append(Run(execution=execution, tests=()))
        return [*runs, run]


def _stops(policy: RewardPolicy, *, shared: bool) -> bool:
    """Returns True if a run ends with its first failed test.

    Beside a solution no run does of which the first tests alone count, so that its twins have as
    many tests as it has.
    """
    if shared and policy.kind is RewardPolicyKind.FIRST_K:
        return False
    return stops_at_first_failure(policy)


def _without_notes(run: Run) -> Run:
    """Takes the notes of wrapped assertions out of the messages, which people read."""
    tests = tuple(replace(test, message=without_note(test.message)) for test in run.tests)
    return replace(run, tests=tests)


def _doubted(run: Run, plan: Plan) -> Run:
    """Has tests fail that were skipped, or left out, though the files' text does neither.

    What passed beyond the tests that the text holds does not count.
    """
    if run.execution.ending is not Ending.COMPLETED:
        return run
    tests = [_doubted_skip(test, plan.skips) for test in run.tests]
    skipped = sum(new is not old for new, old in zip(tests, run.tests, strict=True))
    known = _known(tests, plan.roster)
    missing = list(_missing(known, plan))
    counts = {
        "forged_skip": skipped,
        "missing_test": len(missing),
        "invented_test": len(tests) - len(known),
    }
    signals = dict(run.execution.signals) | {name: n for name, n in counts.items() if n}
    execution = replace(run.execution, signals=signals)
    return Run(execution=execution, tests=(*known, *missing))


def _known(tests: Sequence[TestResult], roster: Roster) -> list[TestResult]:
    """Returns the tests but for those that passed and that the text has not, or not so often."""
    if not roster.complete:
        return list(tests)
    counts = Counter(base_name(test.name) for test in tests)
    fit = {name for name, rows in roster.rows.items() if rows in (None, counts[name])}
    return [
        test
        for test in tests
        if test.outcome is not TestOutcome.PASSED or base_name(test.name) in fit
    ]


def _missing(tests: Sequence[TestResult], plan: Plan) -> Iterator[TestResult]:
    """Gives a failed test for each of the text, and each of its rows, that has no result."""
    counts = Counter(base_name(test.name) for test in tests)
    for name, rows in sorted(plan.roster.rows.items()):
        if counts[name] or not plan.skips.may_skip(name):
            for number in range(counts[name], rows or 1):
                shown = name if rows in (None, 1) else f"{name}[row {number + 1}]"
                message = "it was not collected"
                yield TestResult(name=shown, outcome=TestOutcome.FAILED, message=message)


def _doubted_skip(test: TestResult, skips: Skips) -> TestResult:
    if test.outcome is not TestOutcome.SKIPPED or skips.may_skip(test.name):
        return test
    message = "it was skipped, and not by its author"
    return replace(test, outcome=TestOutcome.FAILED, message=message)


def _ended(execution: Execution) -> Execution:
    """Leaves the verdict on a betrayal to the true tests, unless the twin's run says worse."""
    if execution.ending is Ending.VIOLATION:
        return execution
    return replace(execution, ending=Ending.COMPLETED)


def _betrayed(run: Run, found: Discrepancy) -> Run:
    if found.passed:
        message = f"{found.passed} assertions held in a twin where they were made wrong"
    elif found.failed:
        message = f"{found.failed} assertions failed in a twin where they were true"
    else:
        message = "a twin of the tests did not come to its end"
    counts = {
        "twin_passed": found.passed,
        "twin_failed": found.failed,
        "twin_missing": found.missing,
    }
    return _refused(run, message, {name: count for name, count in counts.items() if count})


def _unproven(run: Run) -> Run:
    """Takes back what tests passed that did not come to their end: their twins show nothing."""
    tests = tuple(
        replace(test, outcome=TestOutcome.NOT_RUN, message=_NO_END)
        if test.outcome is TestOutcome.PASSED
        else test
        for test in run.tests
    )
    return replace(run, tests=tests)


def _refused(run: Run, message: str, signals: dict[str, int]) -> Run:
    """Takes back what a run claimed."""
    tests = tuple(
        replace(test, outcome=TestOutcome.FAILED, message=message)
        if test.outcome is TestOutcome.PASSED
        else test
        for test in run.tests
    )
    execution = replace(run.execution, signals={**run.execution.signals, **signals}, tests=tests)
    return Run(execution=execution, tests=tests)
