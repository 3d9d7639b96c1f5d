"""Decides by the end of a compiled program whether the reports of its tests count.

What this stops: a program that ends before its tests are done, whose output is cut off, or that
crashes after its last report. Tests and solution are compiled into one program, so the solution
could end it in any of these ways when a test is about to fail.

What it does not stop: forged reports; see `grading.compiled_tests.observations`
and `grading.compiled_tests.harness_reports`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reward_server.domain import Ending, Execution, TerminationKind, TestOutcome, TestResult
from reward_server.evaluation.graders.outputs import how_it_ended
from reward_server.grading.compiled_tests.observations import EARLY_EXIT, ProgramReport


def conclude(
    execution: Execution, report: ProgramReport, *, is_failure_status_normal: bool = False
) -> Execution:
    """Returns an execution with its report's signals, CRASHED if the program ended abnormally.

    Args:
        execution: the execution of the program.
        report: what its output says.
        is_failure_status_normal: whether a status other than 0 is a normal end, as with a test
            framework that reports a failed test by it.
    """
    signals = {**execution.signals, **report.signals}
    message = ""
    if execution.ending is Ending.COMPLETED:
        if not _exited_normally(execution, is_failure_status_normal=is_failure_status_normal):
            message = how_it_ended(execution)
        elif execution.stdout.truncated:
            message = "the output was not kept whole"
        elif not report.ended:
            message = "the program left before its tests came to their end"
            signals[EARLY_EXIT] = 1
    if not message:
        return replace(execution, signals=signals)
    return replace(execution, signals=signals, ending=Ending.CRASHED, message=message)


def results(tests: Sequence[TestResult], execution: Execution) -> tuple[TestResult, ...]:
    """Returns the results of tests; the program ended in the first test that was not run.

    Args:
        tests: the results that the program's output reports.
        execution: the execution of the program, concluded.
    """
    undone = next((test for test in tests if test.outcome is TestOutcome.NOT_RUN), None)
    if undone is None or execution.ending is Ending.COMPLETED:
        return tuple(tests)
    limited = execution.ending is Ending.LIMIT
    outcome = TestOutcome.LIMIT if limited else TestOutcome.ERROR
    ended = replace(undone, outcome=outcome, message=execution.message)
    return tuple(ended if test is undone else test for test in tests)


def _exited_normally(execution: Execution, *, is_failure_status_normal: bool) -> bool:
    if execution.termination.kind is not TerminationKind.EXITED:
        return False
    return not execution.termination.value or is_failure_status_normal
