"""Compares the reported results of tests with those that a task expects, by the tests' names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reward_server.domain import TestOutcome, TestResult

FORGED = "forged_report"
FAILURES = frozenset((TestOutcome.FAILED, TestOutcome.ERROR))
_WORST = (
    TestOutcome.PASSED,
    TestOutcome.SKIPPED,
    TestOutcome.NOT_RUN,
    TestOutcome.FAILED,
    TestOutcome.LIMIT,
    TestOutcome.ERROR,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectations:
    """The tests that decide a task.

    A test that is not reported has failed, and so has one that was skipped. The tests of
    `pass_to_pass` earn no reward; but if one of them fails, the reward is 0.

    Args:
        fail_to_pass: names of tests that only pass with a right solution.
        pass_to_pass: names of tests that pass before and after.
        must_fail: names of tests that have to be reported as failed.
    """

    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...] = ()
    must_fail: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tests that have to pass."""
        return (*self.fail_to_pass, *self.pass_to_pass)

    def results(self, reported: Sequence[TestResult]) -> tuple[TestResult, ...]:
        """Returns a result for each test that has to pass."""
        known: dict[str, TestResult] = {}
        for test in reported:
            before = known.get(test.name)
            if before is None or _rank(test) > _rank(before):
                known[test.name] = test
        wanted = [_concluded(name, known.get(name)) for name in self.fail_to_pass]
        others = [_concluded(name, known.get(name)) for name in self.pass_to_pass]
        holds = all(test.outcome is TestOutcome.PASSED for test in others)
        return (
            *(replace(test, counts=holds or not _passed(test)) for test in wanted),
            *(replace(test, counts=not _passed(test)) for test in others),
        )

    def is_forged(self, reported: Sequence[TestResult]) -> bool:
        """Returns True if a test that has to fail was not reported as failed."""
        found = {test.name for test in reported if test.outcome in FAILURES}
        passed = {test.name for test in reported if test.outcome not in FAILURES}
        return not found.issuperset(self.must_fail) or not passed.isdisjoint(self.must_fail)


def _passed(test: TestResult) -> bool:
    return test.outcome is TestOutcome.PASSED


def _rank(test: TestResult) -> int:
    return _WORST.index(test.outcome)


def _concluded(name: str, test: TestResult | None) -> TestResult:
    if test is None:
        return TestResult(name=name, outcome=TestOutcome.FAILED, message="it was not reported")
    if test.outcome is TestOutcome.SKIPPED:
        message = f"it was skipped, and has to pass: {test.message}".removesuffix(": ")
        return replace(test, outcome=TestOutcome.FAILED, message=message)
    return test
