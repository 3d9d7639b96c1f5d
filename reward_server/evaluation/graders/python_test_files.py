"""Runs test files in the judge, or in the solution's process with perturbed copies."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from reward_server.domain import (
    Crossing,
    Ending,
    Execution,
    Framework,
    Integrity,
    RewardPolicy,
    RewardPolicyKind,
    TestOutcome,
    TestResult,
    UnitJudgement,
    UnitTests,
)
from reward_server.evaluation.graders.base import (
    NO_DATA,
    Candidate,
    Slots,
    concluded,
    read_aside,
)
from reward_server.evaluation.readings import Readings
from reward_server.grading import syntax
from reward_server.grading.copies.copies import Change, Copies
from reward_server.grading.copies.observed import without_note
from reward_server.grading.copies.outcomes import (
    Discrepancy,
    OutcomeVector,
    base_name,
    runs_needed,
    schedule,
)
from reward_server.grading.crossing.python.refusals import Refusal, crossing_of
from reward_server.grading.python_tests.inventory import Inventory, Skips
from reward_server.grading.python_tests.vacuous.rules import flaw_of_files
from reward_server.grading.repository.expectations import Expectations
from reward_server.grading.reward import stops_at_first_failure
from reward_server.grading.verdict import Run, claims_reward

# The trees and copies of test files were measured at 440 bytes a character.
BYTES_OF_CHARACTER = 450
_BYTES_OF_NODE = 400  # 320 were measured
NAME = "tests"
_NO_END = "it cannot be proven to have passed, since the tests did not come to their end"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How test files are run: what their text says, and their copies if they need some.

    Args:
        wanted: the names that the files take from the solution, as far as they are known.
        reasons: why they need the solution's process; none if they do not.
        skips: which tests may be skipped.
        inventory: which tests there are.
        flaw: why no answer can fail them; "" if one can.
        copies: copies of tests in the solution's process with wrong expectations, if there are any.
        crossing: what the judge binds; None if they need the solution's process.
    """

    wanted: frozenset[str]
    reasons: tuple[str, ...]
    skips: Skips
    inventory: Inventory
    flaw: str = ""
    copies: Copies | None = None
    crossing: Crossing | None = None

    @property
    def integrity(self) -> Integrity:
        """ISOLATED, unless there are reasons for the solution's process, whatever copies show."""
        return Integrity.SHARED if self.reasons else Integrity.ISOLATED

    def size_bytes(self, characters: int) -> int:
        """Returns the memory that it takes, with the files and the prompt."""
        if self.copies is not None:
            return BYTES_OF_CHARACTER * characters
        return 4 * characters + _BYTES_OF_NODE * self.skips.nodes

    def remedy(self) -> str:
        """Returns why tests run in the solution's process, and how to change that."""
        why = "; ".join(self.reasons[:3])
        return f"they live with the solution ({why}): leave that out, or require SHARED"


async def plan(tests: UnitTests, prompt: str, reasons: tuple[str, ...] = ()) -> Plan:
    """Reads test files and returns how they are run.

    Args:
        tests: the files.
        prompt: the prompt of the task.
        reasons: why they need the solution's process, if that is known without their text.
    """

    async def read() -> tuple[Plan, int]:
        characters = len(prompt) + sum(len(text) for _, text in tests.files)
        found = await read_aside(characters, _plan, tests, prompt, reasons)
        return found, found.size_bytes(characters)

    return await _plans.find((tests, prompt, reasons), read)


def _plan(tests: UnitTests, prompt: str, reasons: tuple[str, ...]) -> Plan:
    from reward_server.grading.crossing.python import texts  # its table takes a while to be made

    trees = syntax.parse_files(tests.files)
    inventory = Inventory(trees, tests.files, tests.framework)
    is_repository = bool(tests.places.targets)
    found = texts.read_files(tests)
    crossing = crossing_of(found)
    needed = reasons or ((str(found),) if isinstance(found, Refusal) else ())
    known = Plan(
        wanted=crossing.names,
        reasons=needed,
        skips=Skips(trees),
        inventory=inventory,
        flaw="" if is_repository else flaw_of_files(trees, tests, inventory),
        crossing=None if needed else crossing,
    )
    return replace(known, copies=copies_of(tests, prompt, inventory)) if needed else known


def copies_of(tests: UnitTests, told: str, inventory: Inventory) -> Copies | None:
    """Returns the copies of tests, if they have any.

    Args:
        tests: the tests.
        told: what every solution was told.
        inventory: which tests there are.
    """
    trees = syntax.parse_files(tests.files)  # copies change the trees that they are given
    copies = Copies(trees, tests.files, told, inventory.rows)
    return copies if copies.units else None


_plans: Readings[Plan] = Readings(128 << 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitGrader:
    """Runs test files.

    Args:
        tests: the files.
        plan: how they are run.
        expected: the tests that decide, of those that the files hold; None if all do.
        draw: the source of the copies' secret.
    """

    tests: UnitTests
    plan: Plan
    expected: Expectations | None = None
    draw: random.Random = random.SystemRandom()  # noqa: RUF009  # it holds no state

    @property
    def wanted(self) -> frozenset[str]:
        """The names that the files take from the solution."""
        return self.plan.wanted

    @property
    def integrity(self) -> Integrity:
        """The integrity that the files' text allows."""
        return self.plan.integrity

    @property
    def flaw(self) -> str:
        """See `Grader`."""
        return self.plan.flaw

    def remedy(self) -> str:
        """See `Plan.remedy`."""
        return self.plan.remedy()

    def cost(self, policy: RewardPolicy) -> int:
        """Returns 1 plus the number of copies."""
        copies = self.plan.copies
        return 1 + (runs_needed(copies.weights.values()) if copies is not None else 0)

    def not_run(self) -> tuple[TestResult, ...]:
        """Returns one result for all tests, since their names are not known yet."""
        return (TestResult(name=NAME, outcome=TestOutcome.NOT_RUN),)

    async def grade(self, candidate: Candidate, slots: Slots) -> list[Run]:
        """Runs the true tests and, if these run in the solution's process, their copies."""
        if not self.plan.reasons:
            stops = stops_at_first_failure(candidate.policy)
            work = self._work(candidate, self.tests, stops=stops)
            run = self._run_of(await slots.run(candidate.job(work)))
            run = run.with_tests([_doubted_skip(one, self.plan.skips) for one in run.tests])
            return await concluded(run, candidate, slots, partial(self._beside, candidate))
        if self.plan.copies is None:
            return [self._told(await self._true(self.tests, candidate, slots))]
        return await self._proven(self.plan.copies, candidate, slots)

    async def _beside(self, candidate: Candidate) -> UnitGrader:
        """Returns a grader of tests that turned out to hand over what is no data."""
        known = await plan(self.tests, candidate.prompt, (NO_DATA,))
        return replace(self, plan=known)

    def _run_of(self, execution: Execution) -> Run:
        return Run.of(execution, execution.tests or self.not_run())

    async def _true(self, tests: UnitTests, candidate: Candidate, slots: Slots) -> Execution:
        """Runs the true tests in the solution's process."""
        stops = self.expected is None and _stops(candidate.policy)
        work = self._work(candidate, tests, stops=stops)
        return await slots.run(candidate.job(work))

    def _told(self, execution: Execution) -> Run:
        """Returns the results that an execution in the solution's process reports."""
        if self.expected is not None:
            run = _without_notes(self._run_of(execution))
            return run.with_tests(self.expected.results(run.tests))
        return self._in_order(_doubted(_without_notes(self._run_of(execution)), self.plan))

    def _in_order(self, run: Run) -> Run:
        """Returns results in the order of the text, since the solution could choose another."""
        inventory, framework = self.plan.inventory, self.tests.framework
        names = sorted(inventory.rows) if framework is Framework.UNITTEST else list(inventory.rows)
        places = {name: place for place, name in enumerate(names)}
        in_order = sorted(run.tests, key=lambda test: places.get(base_name(test.name), -1))
        return run.with_tests(in_order)

    def _work(self, candidate: Candidate, tests: UnitTests, *, stops: bool) -> UnitJudgement:
        crossing = self.plan.crossing
        if crossing is not None:
            tests = replace(tests, files=crossing.files)
        return UnitJudgement(
            source=candidate.source,
            crossing=crossing,
            tests=tests,
            files=candidate.files,
            data=candidate.data,
            shared=bool(self.plan.reasons),
            stop_at_first_failure=stops,
            executable=candidate.executable,
        )

    async def _proven(self, copies: Copies, candidate: Candidate, slots: Slots) -> list[Run]:
        """Runs the true tests at a secret place among their copies, until the result is clear.

        A solution that keeps the expectations of one run for the next cannot know which are true.
        """
        copy_runs = _CopyRuns(grader=self, copies=copies, candidate=candidate, slots=slots)
        changes = schedule(copies.weights, self.draw)
        early = await copy_runs.early(changes[: self.draw.randint(0, len(changes))])
        before = [_spent(execution) for _, execution in early]
        if before and early[-1][1].ending is Ending.LIMIT:
            return [*before[:-1], _limited(self._told(early[-1][1]))]
        tests = replace(self.tests, files=await asyncio.to_thread(copies.true_files))
        execution = await self._true(tests, candidate, slots)
        run = self._told(execution)
        if not claims_reward(candidate.policy, run):
            return [*before, run]
        if run.execution.ending is not Ending.COMPLETED:
            return [*before, _unproven(run)]
        return [*before, *await copy_runs.compared(run, execution.tests, early, changes)]

    async def perturbed(
        self, copies: Copies, change: Change, candidate: Candidate, slots: Slots
    ) -> Execution:
        """Runs a copy."""
        files = await asyncio.to_thread(copies.perturbed_files, change, self.draw)
        work = self._work(candidate, replace(self.tests, files=files), stops=False)
        return await slots.run(candidate.copy(work))


_Early = Sequence[tuple[Change, Execution]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _CopyRuns:
    """Runs the copies of the tests against one solution."""

    grader: UnitGrader
    copies: Copies
    candidate: Candidate
    slots: Slots

    async def early(self, changes: Sequence[Change]) -> list[tuple[Change, Execution]]:
        """Runs copies before the true tests, until one shows that the solution cannot pass."""
        found = list[tuple[Change, Execution]]()
        for change in changes:
            found.append((change, await self._run(change)))
            if self._is_hopeless(*found[-1]):
                break
        return found

    async def compared(
        self,
        run: Run,
        reported: tuple[TestResult, ...],
        early: _Early,
        changes: Sequence[Change],
    ) -> list[Run]:
        """Compares copies with the true tests, and runs the copies that are left.

        If some of the tests failed, the copies that were run before do not prove the other tests
        by themselves, and new copies are run.

        Args:
            run: the run of the true tests.
            reported: the results that this run reported, with notes of their assertions.
            early: the copies that were run before.
            changes: the changes of all copies, in their order.
        """
        vector = OutcomeVector(tests=reported, shapes=self.copies.shapes)
        if vector.unproven(self.copies.units):
            message = "a test that passed cannot be proven to have run"
            return [_refused(run, message, {"unproven": 1})]
        units = vector.provable(self.copies.units)
        if not units:
            return [run]  # no test that passed has a copy
        if len(units) < len(self.copies.units):
            weights = {unit: self.copies.weights[unit] for unit in units}
            early, changes = (), schedule(weights, self.grader.draw)
        for change, execution in early:
            if found := vector.compare(execution.tests, change):
                return [_betrayed(run, found)]
        return await self._later(run, vector, changes[len(early) :])

    async def _later(self, run: Run, vector: OutcomeVector, changes: Sequence[Change]) -> list[Run]:
        runs = list[Run]()
        for change in changes:
            execution = await self._run(change)
            runs.append(_spent(execution))
            if found := vector.compare(execution.tests, change):
                return [*runs, _betrayed(run, found)]
        return [*runs, run]

    def _is_hopeless(self, change: Change, execution: Execution) -> bool:
        """Returns True if a copy's run differs from that of a solution that passes all tests."""
        may_skip = self.grader.plan.skips.may_skip
        tests = tuple(
            test
            if test.outcome is TestOutcome.SKIPPED and may_skip(test.name)
            else replace(test, outcome=TestOutcome.PASSED)
            for test in execution.tests
        )
        vector = OutcomeVector(tests=tests, shapes=self.copies.shapes)
        is_whole = execution.ending is Ending.COMPLETED
        return not is_whole or bool(vector.compare(execution.tests, change))

    async def _run(self, change: Change) -> Execution:
        return await self.grader.perturbed(self.copies, change, self.candidate, self.slots)


def _spent(execution: Execution) -> Run:
    """Returns a copy's run, in which no test counts.

    The true tests decide the verdict, unless the copy's run ended in something worse.
    """
    if execution.ending is not Ending.VIOLATION:
        execution = replace(execution, ending=Ending.COMPLETED)
    return Run.of(execution, ())


def _stops(policy: RewardPolicy) -> bool:
    """Returns True if a run in the solution's process ends with its first failed test.

    If only the first tests count, it does not, so that its copies run the same number of tests.
    """
    return policy.kind is not RewardPolicyKind.FIRST_K and stops_at_first_failure(policy)


def _without_notes(run: Run) -> Run:
    """Removes the notes of wrapped assertions from the messages, which people read."""
    return run.with_tests(replace(test, message=without_note(test.message)) for test in run.tests)


def _doubted(run: Run, plan: Plan) -> Run:
    """Fails tests that were skipped or left out although the files' text does not do this.

    Passed tests that the text does not hold do not count.
    """
    if run.execution.ending is not Ending.COMPLETED:
        return run
    tests = [_doubted_skip(test, plan.skips) for test in run.tests]
    skipped = sum(new is not old for new, old in zip(tests, run.tests, strict=True))
    known = _known(tests, plan.inventory)
    missing = list(_missing(known, plan))
    counts = {
        "forged_skip": skipped,
        "missing_test": len(missing),
        "invented_test": len(tests) - len(known),
    }
    signals = {name: count for name, count in counts.items() if count}
    return run.with_signals(signals).with_tests((*known, *missing))


def _known(tests: Sequence[TestResult], inventory: Inventory) -> list[TestResult]:
    """Returns the tests, without passed tests that the text does not have or has less often."""
    if not inventory.complete:
        return list(tests)
    counts = Counter(base_name(test.name) for test in tests)
    fit = {name for name, rows in inventory.rows.items() if rows in (None, counts[name])}
    return [
        test
        for test in tests
        if test.outcome is not TestOutcome.PASSED or base_name(test.name) in fit
    ]


def _missing(tests: Sequence[TestResult], plan: Plan) -> Iterator[TestResult]:
    """Yields a failed test for each test of the text, or row of one, that has no result."""
    counts = Counter(base_name(test.name) for test in tests)
    for name, rows in sorted(plan.inventory.rows.items()):
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


def _betrayed(run: Run, found: Discrepancy) -> Run:
    if found.passed:
        message = f"{found.passed} assertions held in a copy where they were made wrong"
    elif found.failed:
        message = f"{found.failed} assertions failed in a copy where they were true"
    else:
        message = "a copy of the tests did not come to its end"
    counts = {
        "twin_passed": found.passed,
        "twin_failed": found.failed,
        "twin_missing": found.missing,
    }
    return _refused(run, message, {name: count for name, count in counts.items() if count})


def _unproven(run: Run) -> Run:
    """Fails passed tests of a run that did not reach its end, since their copies prove nothing."""
    return run.without_passes(TestOutcome.NOT_RUN, _NO_END)


def _limited(run: Run) -> Run:
    """Removes the results of a copy that hit a limit."""
    return run.with_tests(
        test
        if test.outcome is TestOutcome.LIMIT
        else replace(test, outcome=TestOutcome.NOT_RUN, message=_NO_END)
        for test in run.tests
    )


def _refused(run: Run, message: str, signals: dict[str, int]) -> Run:
    """Fails the passed tests of a run."""
    return run.with_signals(signals).without_passes(TestOutcome.FAILED, message)
