"""Which ends of a compiled program let what its tests reported count."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reward_server.domain import (
    CapturedStream,
    Ending,
    Execution,
    Termination,
    TerminationKind,
    TestOutcome,
    TestResult,
)
from reward_server.evaluation.graders.program_end import conclude, results
from reward_server.grading.compiled_tests.observations import ProgramReport

EXITED = Termination(kind=TerminationKind.EXITED)
WHOLE = CapturedStream(data=b"output", size_bytes=6)
CUT = CapturedStream(data=b"output", size_bytes=7)
COMPLETED = Execution(ending=Ending.COMPLETED, termination=EXITED, stdout=WHOLE)
ENDED = ProgramReport(tests=(), ended=True, signals={})
PASSED = TestResult(name="first", outcome=TestOutcome.PASSED)
SECOND = TestResult(name="second", outcome=TestOutcome.NOT_RUN)
THIRD = TestResult(name="third", outcome=TestOutcome.NOT_RUN)


def test_a_program_that_came_to_its_normal_end_is_completed() -> None:
    assert conclude(COMPLETED, ENDED) == COMPLETED


def test_a_program_that_left_early_crashed_and_is_counted() -> None:
    concluded = conclude(COMPLETED, replace(ENDED, ended=False))
    assert concluded.ending is Ending.CRASHED
    assert concluded.signals == {"early_exit": 1}


def test_a_program_whose_output_was_cut_crashed() -> None:
    for is_normal in (False, True):
        concluded = conclude(
            replace(COMPLETED, stdout=CUT), ENDED, is_failure_status_normal=is_normal
        )
        assert concluded.ending is Ending.CRASHED
        assert concluded.message == "the output was not kept whole"


def test_a_status_of_failure_is_a_normal_end_only_where_a_framework_says_so() -> None:
    failed = replace(COMPLETED, termination=replace(EXITED, value=1))
    assert conclude(failed, ENDED).ending is Ending.CRASHED
    assert conclude(failed, ENDED, is_failure_status_normal=True).ending is Ending.COMPLETED


def test_a_signal_is_never_a_normal_end() -> None:
    killed = Termination(kind=TerminationKind.SIGNALED, value=6)
    for is_normal in (False, True):
        concluded = conclude(
            replace(COMPLETED, termination=killed), ENDED, is_failure_status_normal=is_normal
        )
        assert concluded.ending is Ending.CRASHED


@pytest.mark.parametrize("ending", [Ending.LIMIT, Ending.VIOLATION, Ending.CRASHED])
def test_an_ending_that_the_sandbox_found_stays_and_signals_are_added(ending: Ending) -> None:
    execution = replace(COMPLETED, ending=ending, message="why", signals={"killed": 1})
    concluded = conclude(execution, replace(ENDED, ended=False, signals={"forged_word": 2}))
    assert concluded.ending is ending
    assert concluded.message == "why"
    assert concluded.signals == {"killed": 1, "forged_word": 2}


@pytest.mark.parametrize(
    ("ending", "outcome"),
    [(Ending.CRASHED, TestOutcome.ERROR), (Ending.LIMIT, TestOutcome.LIMIT)],
)
def test_the_first_test_that_was_not_run_is_where_the_program_ended(
    ending: Ending, outcome: TestOutcome
) -> None:
    execution = replace(COMPLETED, ending=ending, message="why")
    second = replace(SECOND, outcome=outcome, message="why")
    assert results((PASSED, SECOND, THIRD), execution) == (PASSED, second, THIRD)
    assert results((PASSED, SECOND), COMPLETED) == (PASSED, SECOND)
