"""The first test that did not pass decides, and how its execution ended tells why."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reward_server.domain import (
    Ending,
    Execution,
    LimitKind,
    RewardPolicy,
    RewardPolicyKind,
    Termination,
    TerminationKind,
    TestOutcome,
    TestResult,
    Verdict,
)
from reward_server.grading.verdict import Conclusion, Run, conclude

LETTERS = {
    "P": TestOutcome.PASSED,
    "F": TestOutcome.FAILED,
    "E": TestOutcome.ERROR,
    "L": TestOutcome.LIMIT,
    "-": TestOutcome.NOT_RUN,
    "S": TestOutcome.SKIPPED,
}


ALL = RewardPolicy()


def run(
    outcomes: str,
    ending: Ending = Ending.COMPLETED,
    *limits: LimitKind,
    message: str = "",
) -> Run:
    tests = tuple(
        TestResult(name=f"test {index}", outcome=LETTERS[letter], message="why")
        for index, letter in enumerate(outcomes, start=1)
    )
    execution = Execution(
        ending=ending,
        termination=Termination(kind=TerminationKind.EXITED),
        message=message,
        tests=tests,
        limits_hit=limits,
    )
    return Run.of(execution, tests)


def verdict(*runs: Run, policy: RewardPolicy = ALL) -> Verdict:
    return conclude(policy, runs).verdict


def test_all_tests_passed_is_a_pass() -> None:
    concluded = conclude(RewardPolicy(), [run("PSP"), run("P")])
    assert concluded.verdict is Verdict.PASSED
    assert concluded.message == "all 3 tests passed"


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ("PFE", Verdict.FAILED),
        ("PEF", Verdict.RUNTIME_ERROR),
        ("F--", Verdict.FAILED),
        ("E--", Verdict.RUNTIME_ERROR),
    ],
)
def test_the_first_test_that_did_not_pass_decides(outcomes: str, expected: Verdict) -> None:
    assert verdict(run(outcomes)) is expected


@pytest.mark.parametrize(
    ("ending", "expected"),
    [
        (Ending.COMPILE_ERROR, Verdict.COMPILE_ERROR),
        (Ending.LOAD_ERROR, Verdict.RUNTIME_ERROR),
        (Ending.CRASHED, Verdict.RUNTIME_ERROR),
        (Ending.VIOLATION, Verdict.SECURITY_VIOLATION),
        (Ending.INVALID_TASK, Verdict.INVALID_TASK),
    ],
)
@pytest.mark.parametrize("outcomes", ["--", "PE-", "PP", ""])
def test_an_execution_that_did_not_complete_decides_by_its_ending(
    ending: Ending, expected: Verdict, outcomes: str
) -> None:
    assert verdict(run(outcomes, ending)) is expected


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (LimitKind.CPU_TIME, Verdict.TIME_LIMIT_EXCEEDED),
        (LimitKind.WALL_TIME, Verdict.TIME_LIMIT_EXCEEDED),
        (LimitKind.CALLS, Verdict.TIME_LIMIT_EXCEEDED),
        (LimitKind.MEMORY, Verdict.MEMORY_LIMIT_EXCEEDED),
        (LimitKind.OUTPUT, Verdict.OUTPUT_LIMIT_EXCEEDED),
        (LimitKind.RESULT, Verdict.OUTPUT_LIMIT_EXCEEDED),
        (LimitKind.FILE_SIZE, Verdict.OUTPUT_LIMIT_EXCEEDED),
        (LimitKind.DISK, Verdict.OUTPUT_LIMIT_EXCEEDED),
        (LimitKind.PROCESSES, Verdict.RUNTIME_ERROR),
        (LimitKind.OPEN_FILES, Verdict.RUNTIME_ERROR),
    ],
)
@pytest.mark.parametrize("outcomes", ["PE-", "PL-", "---", ""])
def test_a_limit_gives_the_verdict_of_its_kind(
    limit: LimitKind, expected: Verdict, outcomes: str
) -> None:
    assert verdict(run(outcomes, Ending.LIMIT, limit)) is expected


def test_the_limit_that_ended_the_execution_stands_first() -> None:
    limits = (LimitKind.MEMORY, LimitKind.OUTPUT)
    assert verdict(run("E", Ending.LIMIT, *limits)) is Verdict.MEMORY_LIMIT_EXCEEDED


def test_a_wrong_answer_before_the_limit_is_a_wrong_answer() -> None:
    assert verdict(run("FL-", Ending.LIMIT, LimitKind.CPU_TIME)) is Verdict.FAILED


def test_an_exception_before_the_limit_is_a_runtime_error() -> None:
    assert verdict(run("EL-", Ending.LIMIT, LimitKind.CPU_TIME)) is Verdict.RUNTIME_ERROR


def test_a_pass_up_to_a_limit_is_no_pass() -> None:
    late = run("PP", Ending.LIMIT, LimitKind.OUTPUT)
    assert verdict(late) is Verdict.OUTPUT_LIMIT_EXCEEDED


def test_a_process_limit_that_a_passing_program_survived_is_no_failure() -> None:
    assert verdict(run("P", Ending.COMPLETED, LimitKind.PROCESSES)) is Verdict.PASSED


def test_a_violation_in_a_later_run_outweighs_an_earlier_wrong_answer() -> None:
    assert verdict(run("F"), run("E", Ending.VIOLATION)) is Verdict.SECURITY_VIOLATION


@pytest.mark.parametrize("outcomes", ["", "S", "SSS"])
def test_no_test_or_only_skipped_ones_is_never_a_pass_nor_a_way_out(outcomes: str) -> None:
    assert verdict(run(outcomes)) is Verdict.FAILED


def test_tests_behind_the_first_k_do_not_count() -> None:
    policy = RewardPolicy(kind=RewardPolicyKind.FIRST_K, first_k=2)
    assert verdict(run("PPF"), policy=policy) is Verdict.PASSED
    assert verdict(run("P"), run("F"), policy=policy) is Verdict.FAILED


def test_the_deciding_execution_comes_with_the_verdict() -> None:
    runs = [run("P"), run("F"), run("E")]
    assert conclude(RewardPolicy(), runs).execution is runs[1].execution


def test_the_message_names_the_test_or_the_ending() -> None:
    assert conclude(RewardPolicy(), [run("PF")]).message == "test 2: why"
    crashed = run("PE", Ending.CRASHED, message="it left early")
    assert conclude(RewardPolicy(), [crashed]).message == "it left early"


endings = st.sampled_from(Ending)
outcomes = st.text(alphabet="PFEL-S", max_size=4)
runs = st.lists(st.builds(run, outcomes, endings), min_size=1, max_size=4)


@given(runs)
def test_a_pass_means_that_every_execution_completed_and_every_test_passed(
    runs: list[Run],
) -> None:
    concluded: Conclusion = conclude(RewardPolicy(), runs)
    letters = "".join(
        letter
        for one in runs
        for test in one.tests
        for letter, outcome in LETTERS.items()
        if outcome is test.outcome
    ).replace("S", "")
    clean = all(one.execution.ending is Ending.COMPLETED for one in runs)
    passed = bool(letters) and set(letters) == {"P"} and clean
    assert (concluded.verdict is Verdict.PASSED) == passed
    assert (concluded.verdict is Verdict.INVALID_TASK) == any(
        one.execution.ending is Ending.INVALID_TASK for one in runs
    )
