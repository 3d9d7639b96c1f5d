"""When a pass is confirmed, refused, or run again."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from reward_server.domain import (
    Ending,
    Execution,
    FunctionTests,
    Integrity,
    RewardPolicy,
    RewardPolicyKind,
    Termination,
    TerminationKind,
    TestOutcome,
    TestResult,
    Tests,
    Verdict,
)
from reward_server.evaluation.graders.confirmation import Confirmation
from reward_server.grading.python_tests.confirmation import FunctionCopies
from reward_server.grading.verdict import Run, conclude
from reward_server.runner import wire
from tests.support.sampling import times

POLICY = RewardPolicy()
TESTS = FunctionTests(
    entry_point="f",
    test_code="def check(f):\n" + "\n".join(f"    assert f({x}) == {x}" for x in range(4)),
)
SOLUTION = "def f(x): return x"


def execution(
    *tests: TestResult,
    ending: Ending = Ending.COMPLETED,
    crossed: bool = True,
    signals: Mapping[str, int] | None = None,
) -> Execution:
    return Execution(
        ending=ending,
        termination=Termination(kind=TerminationKind.EXITED),
        tests=tests,
        crossed=crossed,
        signals=signals or {},
    )


RUNS = times(200, by_default=50)
PASS = TestResult(name="check", outcome=TestOutcome.PASSED)


def judged(solution: str, tests: Tests) -> Execution:
    """Runs tests as a sound judge does."""
    assert isinstance(tests, FunctionTests)
    scope: dict[str, object] = {}
    try:
        exec(f"{solution}\n{tests.test_code}\ncheck(f)", scope)
    except AssertionError as error:
        return execution(TestResult(name="check", outcome=TestOutcome.FAILED, message=str(error)))
    return execution(PASS)


def observed(text: str) -> str:
    """Returns what an assertion of a copy says of a right solution."""
    with pytest.raises(AssertionError) as found:
        exec(text, {"f": lambda x: x})
    return str(found.value)


def confirm(
    answers: Callable[[int, Tests], Execution],
    *,
    run: Execution | None = None,
    policy: RewardPolicy = POLICY,
    tests: FunctionTests = TESTS,
    with_changes: Execution | None = None,
    repeating: Execution | None = None,
) -> tuple[list[Run], int]:
    """Returns the runs of a confirmation, and how many copies it took."""
    count = 0

    async def execute(
        perturbed: Tests | None = None,
        *,
        brings_changes: bool = False,
        repeats_answers: bool = False,
    ) -> Execution:
        nonlocal count
        if perturbed is None:
            assert brings_changes is not repeats_answers
            again = with_changes if brings_changes else repeating
            assert again is not None
            return again
        count += 1
        return answers(count, perturbed)

    first = run or execution(PASS)
    confirmation = Confirmation(
        read=lambda passed: FunctionCopies(tests, passed),
        execute=execute,
        policy=policy,
        draw=random.Random(3),
    )
    runs = asyncio.run(confirmation.confirmed(Run(execution=first)))
    return runs, count


def verdict(runs: list[Run]) -> Verdict:
    return conclude(POLICY, runs).verdict


def sound(_: int, tests: Tests) -> Execution:
    return judged(SOLUTION, tests)


def test_a_sound_judge_confirms_with_one_pair() -> None:
    runs, count = confirm(sound)
    assert (verdict(runs), count) == (Verdict.PASSED, 2)
    assert runs[-1].execution.signals == {}


def test_a_single_assertion_takes_two_pairs() -> None:
    tests = FunctionTests(entry_point="f", test_code="def check(f):\n    assert f(1) == 1")
    assert confirm(sound, tests=tests)[1] == 4


@pytest.mark.parametrize(
    "run",
    [
        execution(PASS, crossed=False),
        execution(TestResult(name="check", outcome=TestOutcome.FAILED)),
        execution(PASS, ending=Ending.VIOLATION),
        execution(),
    ],
    ids=["plain data", "failed", "violation", "no tests"],
)
def test_what_brings_no_reward_or_crossed_as_data_costs_nothing(run: Execution) -> None:
    runs, count = confirm(sound, run=run)
    assert ([one.execution for one in runs], count) == ([run], 0)


def test_tests_of_which_nothing_can_be_made_wrong_pass_as_they_are() -> None:
    tests = FunctionTests(entry_point="f", test_code="def check(f):\n    f(1)")
    runs, count = confirm(sound, tests=tests)
    assert (verdict(runs), count) == (Verdict.PASSED, 0)


def test_a_judge_that_always_says_yes_is_refused_by_the_first_copy() -> None:
    message = "observed p,p,p,p"
    yes = execution(TestResult(name="check", outcome=TestOutcome.FAILED, message=message))
    runs, count = confirm(lambda *_: yes)
    assert (verdict(runs), count) == (Verdict.FAILED, 1)
    assert runs[-1].execution.signals["unconfirmed"] == 1
    assert runs[-1].execution.signals["twin_passed"] >= 1


@pytest.mark.parametrize(
    "deviating",
    [
        execution(PASS),
        execution(),
        execution(ending=Ending.CRASHED),
        execution(ending=Ending.LIMIT),
        execution(TestResult(name="check", outcome=TestOutcome.ERROR, message="ValueError")),
        execution(TestResult(name="check", outcome=TestOutcome.FAILED, message="observed f,f,f,f")),
    ],
    ids=["passed", "nothing", "crash", "limit", "raised", "all failed"],
)
def test_other_deviations_are_run_again_twice_and_then_refused(deviating: Execution) -> None:
    rare, count = confirm(lambda number, t: deviating if number == 1 else sound(number, t))
    assert (verdict(rare), count) == (Verdict.PASSED, 3)
    twice, count = confirm(lambda number, t: deviating if number < 3 else sound(number, t))
    assert (verdict(twice), count) == (Verdict.PASSED, 4)
    always, count = confirm(lambda *_: deviating)
    assert (verdict(always), count) == (Verdict.FAILED, 3)
    assert always[-1].execution.signals == {"unconfirmed": 1}


def test_a_copy_that_is_broken_by_itself_is_our_fault() -> None:
    runs, count = confirm(lambda *_: execution(ending=Ending.INVALID_TASK))
    assert (verdict(runs), count) == (Verdict.PASSED, 1)
    assert runs[-1].execution.signals == {"unconfirmable": 1}


def test_an_attack_on_the_judge_of_a_copy_is_a_violation() -> None:
    runs, _ = confirm(lambda *_: execution(ending=Ending.VIOLATION))
    assert verdict(runs) is Verdict.SECURITY_VIOLATION


def test_a_wrong_solution_of_which_a_share_passed_is_confirmed_for_that_share() -> None:
    tests = FunctionTests(asserts=("assert f(1) == 1", "assert f(2) == 2"))
    first = execution(
        TestResult(name="assert 1", outcome=TestOutcome.PASSED),
        TestResult(name="assert 2", outcome=TestOutcome.FAILED),
    )

    def answers(_: int, copy: Tests) -> Execution:
        assert isinstance(copy, FunctionTests)
        assert copy.asserts[1] == tests.asserts[1]
        return execution(
            TestResult(name="assert 1", outcome=TestOutcome.FAILED, message="observed p"),
            TestResult(name="assert 2", outcome=TestOutcome.FAILED),
        )

    policy = RewardPolicy(kind=RewardPolicyKind.FRACTION)
    runs, _ = confirm(answers, run=first, policy=policy, tests=tests)
    assert {test.outcome for test in runs[-1].tests} == {TestOutcome.FAILED}
    runs, count = confirm(answers, run=first, tests=tests)
    assert count == 0


@pytest.mark.parametrize(
    ("ending", "word", "last", "is_paid"),
    [
        (Ending.CRASHED, "", TestOutcome.ERROR, True),
        (Ending.COMPLETED, "", TestOutcome.FAILED, True),
        (Ending.LIMIT, "", TestOutcome.ERROR, False),
        (Ending.CRASHED, "", TestOutcome.NOT_RUN, False),
        (Ending.CRASHED, "p", TestOutcome.ERROR, False),
        (Ending.CRASHED, "none", TestOutcome.ERROR, False),
    ],
    ids=["alike", "to its end", "another ending", "in another test", "says yes", "says nothing"],
)
def test_what_passed_before_the_end_counts_if_copies_end_as_the_run_did(
    ending: Ending, word: str, last: TestOutcome, is_paid: bool
) -> None:
    asserts = ("assert f(1) == 1", "assert f(2) == 2", "assert f(3) == 3")
    tests = FunctionTests(asserts=asserts)
    passed = [TestResult(name=f"assert {n}", outcome=TestOutcome.PASSED) for n in (1, 2)]
    died = TestResult(name="assert 3", outcome=TestOutcome.ERROR)
    first = execution(*passed, died, ending=Ending.CRASHED)

    def answers(_: int, copy: Tests) -> Execution:
        assert isinstance(copy, FunctionTests)
        said = [
            TestResult(
                name=f"assert {number}",
                outcome=TestOutcome.FAILED,
                message=f"observed {word}" if word else observed(text),
            )
            for number, text in enumerate(copy.asserts[:2], 1)
        ]
        return execution(*said, replace(died, outcome=last), ending=ending)

    policy = RewardPolicy(kind=RewardPolicyKind.FRACTION)
    runs, _ = confirm(answers, run=first, policy=policy, tests=tests)
    held = [test.outcome is TestOutcome.PASSED for test in runs[-1].tests]
    assert held == [is_paid, is_paid, False]


@pytest.mark.parametrize("honest", [0.05, 0.3])
def test_how_often_a_solution_that_fails_by_chance_is_refused(honest: float) -> None:
    draw = random.Random(1)
    flaky = execution(TestResult(name="check", outcome=TestOutcome.ERROR, message="by chance"))
    refused = sum(
        verdict(confirm(lambda n, t: flaky if draw.random() < honest else sound(n, t))[0])
        is not Verdict.PASSED
        for _ in range(RUNS)
    )
    assert refused <= RUNS * 6 * honest**3 + 3


WITHHELD = {wire.WITHHELD_CHANGE: 1}
FAILURE = TestResult(name="check", outcome=TestOutcome.FAILED)


@pytest.mark.parametrize("crossed", [False, True])
def test_a_pass_with_withheld_changes_counts_if_it_passes_with_them(crossed: bool) -> None:
    first = execution(PASS, crossed=crossed, signals=WITHHELD)
    runs, count = confirm(sound, run=first, with_changes=execution(PASS))
    assert (verdict(runs), count) == (Verdict.PASSED, 2 if crossed else 0)
    assert len(runs) == 2 + count
    assert runs[-1].execution is first


@pytest.mark.parametrize(
    ("with_changes", "expected"),
    [
        (execution(FAILURE), Verdict.FAILED),
        (execution(), Verdict.FAILED),
        (execution(PASS, ending=Ending.CRASHED), Verdict.FAILED),
        (execution(PASS, ending=Ending.LIMIT), Verdict.FAILED),
        (execution(PASS, ending=Ending.VIOLATION), Verdict.SECURITY_VIOLATION),
    ],
    ids=["failed", "nothing", "crash", "limit", "violation"],
)
def test_a_pass_that_needs_changes_to_be_withheld_is_refused(
    with_changes: Execution, expected: Verdict
) -> None:
    for crossed in (False, True):
        first = execution(PASS, crossed=crossed, signals=WITHHELD)
        runs, count = confirm(sound, run=first, with_changes=with_changes)
        assert (verdict(runs), count) == (expected, 0)
        assert runs[-1].execution.signals["unconfirmed"] == 1


COMPUTED = FunctionTests(
    entry_point="f", test_code="def check(f):\n    x = [1]\n    y = f(x)\n    assert y == sorted(x)"
)
BLIND = FunctionTests(entry_point="f", test_code="def check(f):\n    f(1)")
MET = {wire.MET_CHANGE: 1}


@pytest.mark.parametrize(
    ("tests", "signals", "expected"),
    [
        (TESTS, {}, (Verdict.PASSED, None)),
        (TESTS, MET, (Verdict.PASSED, None)),
        (BLIND, {}, (Verdict.PASSED, Integrity.SHARED)),
        (COMPUTED, MET, (Verdict.FAILED, None)),
    ],
    ids=["constants", "constants beside arguments", "nothing to make wrong", "computed"],
)
def test_tests_that_fail_while_changes_are_withheld_are_run_with_them(
    tests: FunctionTests, signals: Mapping[str, int], expected: tuple[Verdict, Integrity | None]
) -> None:
    for first in (
        execution(FAILURE, signals=WITHHELD),
        execution(FAILURE, signals=WITHHELD, ending=Ending.LIMIT),
    ):
        again = execution(PASS, signals=signals)
        runs, _ = confirm(sound, run=first, with_changes=again, tests=tests)
        assert (verdict(runs) is Verdict.PASSED) is (expected[0] is Verdict.PASSED)
        assert runs[-1].integrity is expected[1]


def test_a_failure_with_withheld_changes_that_fails_with_them_stands() -> None:
    first = execution(FAILURE, signals=WITHHELD)
    runs, count = confirm(sound, run=first, with_changes=execution(FAILURE))
    assert (verdict(runs), count, len(runs)) == (Verdict.FAILED, 0, 2)


def test_a_pass_with_all_changes_is_refused_by_copies_that_say_yes() -> None:
    yes = execution(
        TestResult(name="check", outcome=TestOutcome.FAILED, message="observed p,p,p,p")
    )
    first = execution(FAILURE, signals=WITHHELD)
    runs, _ = confirm(lambda *_: yes, run=first, with_changes=execution(PASS))
    assert verdict(runs) is Verdict.FAILED


@pytest.mark.parametrize("signal", [wire.CONTRADICTION, wire.OUT_OF_STEP])
def test_a_pass_that_rests_on_the_solutions_word_is_shared(signal: str) -> None:
    for crossed in (False, True):
        first = execution(PASS, crossed=crossed, signals={signal: 1})
        runs, _ = confirm(sound, run=first, repeating=execution(FAILURE))
        assert (verdict(runs), runs[-1].integrity) == (Verdict.PASSED, Integrity.SHARED)


@pytest.mark.parametrize(
    ("signals", "repeating", "expected"),
    [
        ({}, execution(PASS), None),
        ({}, execution(PASS, signals={wire.CONTRADICTION: 1}), Integrity.SHARED),
        ({}, execution(PASS, ending=Ending.LIMIT), Integrity.SHARED),
        ({wire.CAST: 1}, execution(PASS), Integrity.SHARED),
    ],
    ids=["one answer is enough", "other contradictions", "limit", "another doubt"],
)
def test_a_contradiction_that_decides_nothing_takes_no_label(
    signals: Mapping[str, int], repeating: Execution, expected: Integrity | None
) -> None:
    first = execution(PASS, signals={wire.CONTRADICTION: 1, **signals})
    runs, _ = confirm(sound, run=first, repeating=repeating)
    assert (verdict(runs), runs[-1].integrity) == (Verdict.PASSED, expected)
