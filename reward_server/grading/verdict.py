"""Concludes a verdict from the results of executions.

Precedence:

1. If an execution found the tests broken, the task is invalid. A judge decides this before it hears
   the candidate.
2. An attack on the sandbox or the judge, in any execution, is a security violation.
3. Otherwise the first test in the request's order that counts and did not pass decides, by its
   outcome and by how its execution ended.
4. If there is no such test, the end of the execution decides: a program that passes all tests and
   then exceeds a limit does not pass.
5. A pass needs a test that ran to its end and was right. If all tests were skipped, the program
   fails, because a candidate's answer can make a test skip itself. An invalid task would not count
   in the group's baseline.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from reward_server.domain import (
    Ending,
    Execution,
    Integrity,
    LimitKind,
    RewardPolicy,
    TestOutcome,
    TestResult,
    Verdict,
)
from reward_server.grading.reward import counted_tests, reward

_BY_LIMIT = {
    LimitKind.CPU_TIME: Verdict.TIME_LIMIT_EXCEEDED,
    LimitKind.WALL_TIME: Verdict.TIME_LIMIT_EXCEEDED,
    LimitKind.CALLS: Verdict.TIME_LIMIT_EXCEEDED,  # most often an endless generator
    LimitKind.MEMORY: Verdict.MEMORY_LIMIT_EXCEEDED,
    LimitKind.OUTPUT: Verdict.OUTPUT_LIMIT_EXCEEDED,
    LimitKind.RESULT: Verdict.OUTPUT_LIMIT_EXCEEDED,
    LimitKind.FILE_SIZE: Verdict.OUTPUT_LIMIT_EXCEEDED,
    LimitKind.DISK: Verdict.OUTPUT_LIMIT_EXCEEDED,
    LimitKind.PROCESSES: Verdict.RUNTIME_ERROR,
    LimitKind.OPEN_FILES: Verdict.RUNTIME_ERROR,
}


LOWERED = "lowered_"  # begins the signal of a rule that lowered a completion's label


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """An execution with the results of the tests that it had to decide, in their order.

    Args:
        execution: the execution, with the result of each test.
        integrity: the integrity of this run, if it differs from what the tests' text allows.
    """

    execution: Execution
    integrity: Integrity | None = None

    @classmethod
    def of(cls, execution: Execution, tests: Iterable[TestResult]) -> Run:
        """Returns the run of an execution, with these results in place of the reported ones."""
        return cls(execution=replace(execution, tests=tuple(tests)))

    @property
    def tests(self) -> tuple[TestResult, ...]:
        """The result of each test."""
        return self.execution.tests

    def with_tests(self, tests: Iterable[TestResult]) -> Run:
        """Returns the run with other results."""
        return replace(self, execution=replace(self.execution, tests=tuple(tests)))

    def with_signals(self, signals: Mapping[str, int]) -> Run:
        """Returns the run with additional signals."""
        merged = {**self.execution.signals, **signals}
        return replace(self, execution=replace(self.execution, signals=merged))

    def without_passes(self, outcome: TestOutcome, message: str) -> Run:
        """Returns the run with another outcome for each test that passed."""
        return self.with_tests(
            replace(test, outcome=outcome, message=message)
            if test.outcome is TestOutcome.PASSED
            else test
            for test in self.tests
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """A verdict, one sentence about it, and the execution that decided it."""

    verdict: Verdict
    message: str
    execution: Execution


def conclude(policy: RewardPolicy, runs: Sequence[Run]) -> Conclusion:
    """Concludes the verdict on a submission.

    Args:
        policy: decides which tests count.
        runs: one run or more, in the order of their tests; every test of the request is in one of
            them.
    """
    for ending in (Ending.INVALID_TASK, Ending.VIOLATION):
        for run in runs:
            if run.execution.ending is ending:
                return _by_ending(run.execution)
    counted = counted_tests(policy, [test for run in runs for test in run.tests])
    owners = {id(test): run for run in runs for test in run.tests}
    for test in counted:
        if test.outcome is not TestOutcome.PASSED:
            return _by_test(test, owners[id(test)])
    for run in runs:
        if run.execution.ending is not Ending.COMPLETED:
            return _by_ending(run.execution)
    last = runs[-1].execution
    if not counted:
        return Conclusion(verdict=Verdict.FAILED, message="no test ran to its end", execution=last)
    return Conclusion(verdict=Verdict.PASSED, message=_all_passed(len(counted)), execution=last)


def claims_reward(policy: RewardPolicy, run: Run) -> bool:
    """Returns True if a run by itself earns more than a run in which no test passed."""
    return bool(claimed_reward(policy, run))


def claimed_reward(policy: RewardPolicy, run: Run) -> float:
    """Returns the reward of a run alone, without bonuses, since bonuses do not depend on tests.

    Args:
        policy: the rule.
        run: a run of all tests.
    """
    bare = replace(policy, compile_bonus=0.0, format_bonus=0.0)
    return reward(bare, conclude(bare, [run]).verdict, run.tests) or 0.0


def _all_passed(count: int) -> str:
    return "the test passed" if count == 1 else f"all {count} tests passed"


def _by_test(test: TestResult, run: Run) -> Conclusion:
    execution = run.execution
    if test.outcome is not TestOutcome.FAILED and _ended_in(test, run):
        return _by_ending(execution, test)
    if test.outcome is TestOutcome.LIMIT:
        return _conclusion(_limit_verdict(execution), execution, test)
    if test.outcome is TestOutcome.FAILED:
        return _conclusion(Verdict.FAILED, execution, test)
    return _conclusion(Verdict.RUNTIME_ERROR, execution, test)


def _ended_in(test: TestResult, run: Run) -> bool:
    """Returns True if the execution ended early in that test, so that no later test ran."""
    if run.execution.ending is Ending.COMPLETED:
        return False
    begun = [one for one in run.tests if one.outcome is not TestOutcome.NOT_RUN]
    return not begun or begun[-1] is test or test.outcome is TestOutcome.NOT_RUN


def _by_ending(execution: Execution, test: TestResult | None = None) -> Conclusion:
    match execution.ending:
        case Ending.INVALID_TASK:
            verdict = Verdict.INVALID_TASK
        case Ending.VIOLATION:
            verdict = Verdict.SECURITY_VIOLATION
        case Ending.COMPILE_ERROR:
            verdict = Verdict.COMPILE_ERROR
        case Ending.LIMIT:
            verdict = _limit_verdict(execution)
        case _:
            verdict = Verdict.RUNTIME_ERROR
    return _conclusion(verdict, execution, None if execution.message else test)


def _limit_verdict(execution: Execution) -> Verdict:
    # The first limit is the one that ended the execution.
    first = execution.limits_hit[0] if execution.limits_hit else LimitKind.WALL_TIME
    return _BY_LIMIT[first]


def _conclusion(verdict: Verdict, execution: Execution, test: TestResult | None) -> Conclusion:
    message = execution.message
    if test is not None:
        message = f"{test.name}: {test.message}" if test.message else f"{test.name} did not pass"
    return Conclusion(verdict=verdict, message=message, execution=execution)
