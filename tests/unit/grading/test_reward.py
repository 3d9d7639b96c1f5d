"""Rewards are finite, ordered, and exactly 1.0 for a pass and for nothing else."""

from __future__ import annotations

import math
import struct
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reward_server.domain import (
    RewardPolicy,
    RewardPolicyKind,
    Subtask,
    SubtaskRule,
    TestOutcome,
    TestResult,
    Verdict,
)
from reward_server.grading.reward import (
    FAILING_CEILING,
    counted_tests,
    reward,
    stops_at_first_failure,
)

FAILING = [verdict for verdict in Verdict if verdict not in (Verdict.PASSED, Verdict.INVALID_TASK)]
OUTCOMES = {"P": TestOutcome.PASSED, "F": TestOutcome.FAILED, "S": TestOutcome.SKIPPED}


def results(outcomes: str, weights: tuple[float, ...] = ()) -> list[TestResult]:
    return [
        TestResult(
            name=str(index),
            outcome=OUTCOMES.get(letter, TestOutcome.NOT_RUN),
            weight=weights[index] if weights else 1.0,
        )
        for index, letter in enumerate(outcomes)
    ]


weights = st.floats(0, 1.7e308, allow_nan=False)
tests = st.lists(
    st.builds(
        TestResult,
        name=st.text(),
        outcome=st.sampled_from(TestOutcome),
        weight=weights,
        subtask=st.sampled_from("ab"),
    ),
    max_size=20,
)
bonuses = st.floats(0, 1)
policies = st.builds(
    RewardPolicy,
    kind=st.sampled_from(RewardPolicyKind),
    first_k=st.integers(1, 25),
    compile_bonus=bonuses,
    format_bonus=bonuses,
    subtasks=st.tuples(
        st.builds(Subtask, name=st.just("a"), points=weights, rule=st.sampled_from(SubtaskRule)),
        st.builds(Subtask, name=st.just("b"), points=weights, rule=st.sampled_from(SubtaskRule)),
    ),
)


@given(policies, st.sampled_from(Verdict), tests, st.booleans())
def test_a_reward_is_finite_and_one_only_for_a_pass(
    policy: RewardPolicy, verdict: Verdict, results: list[TestResult], fenced: bool
) -> None:
    value = reward(policy, verdict, results, has_code_block=fenced)
    if verdict is Verdict.INVALID_TASK:
        assert value is None
    elif verdict is Verdict.PASSED:
        assert value == 1.0
    else:
        assert value is not None
        assert math.isfinite(value)
        assert 0.0 <= value <= FAILING_CEILING
        (single,) = struct.unpack("f", struct.pack("f", value))
        assert single < 1.0


@given(policies, tests, st.integers(0, 19))
def test_passing_one_more_test_never_lowers_the_reward(
    policy: RewardPolicy, results: list[TestResult], index: int
) -> None:
    better = list(results)
    if index < len(results) and results[index].outcome is not TestOutcome.SKIPPED:
        test = results[index]
        better[index] = TestResult(name="", outcome=TestOutcome.PASSED, weight=test.weight)
    before, after = (reward(policy, Verdict.FAILED, one) for one in (results, better))
    assert before is not None
    assert after is not None
    assert after >= before - 1e-12


def test_all_or_nothing_gives_nothing_for_all_but_one() -> None:
    assert reward(RewardPolicy(), Verdict.FAILED, results("PPPF")) == 0.0


def test_a_fraction_counts_every_test_that_did_not_pass() -> None:
    policy = RewardPolicy(kind=RewardPolicyKind.FRACTION)
    assert reward(policy, Verdict.FAILED, results("PFN-")) == 0.25


def test_a_skipped_test_counts_neither_way() -> None:
    policy = RewardPolicy(kind=RewardPolicyKind.FRACTION)
    assert reward(policy, Verdict.FAILED, results("PFSS")) == 0.5


def test_weights_count_under_their_policy_only() -> None:
    unequal = results("PF", (3.0, 1.0))
    weighted = RewardPolicy(kind=RewardPolicyKind.WEIGHTED)
    assert reward(weighted, Verdict.FAILED, unequal) == 0.75
    assert reward(RewardPolicy(kind=RewardPolicyKind.FRACTION), Verdict.FAILED, unequal) == 0.5


def test_a_failed_test_without_weight_keeps_the_reward_below_a_pass() -> None:
    policy = RewardPolicy(kind=RewardPolicyKind.WEIGHTED)
    assert reward(policy, Verdict.FAILED, results("PF", (1.0, 0.0))) == FAILING_CEILING


def test_weights_whose_sum_is_infinite_give_a_finite_share() -> None:
    policy = RewardPolicy(kind=RewardPolicyKind.WEIGHTED)
    assert reward(policy, Verdict.FAILED, results("PF", (1.7e308, 1.7e308))) == 0.5


def test_the_first_k_decide_alone() -> None:
    policy = RewardPolicy(kind=RewardPolicyKind.FIRST_K, first_k=2)
    assert [test.name for test in counted_tests(policy, results("PSF"))] == ["0"]
    assert reward(policy, Verdict.FAILED, results("PFP")) == 0.0


@pytest.mark.parametrize("kind", list(RewardPolicyKind))
def test_a_result_that_does_not_count_changes_nothing(kind: RewardPolicyKind) -> None:
    policy = RewardPolicy(kind=kind, first_k=2 if kind is RewardPolicyKind.FIRST_K else 0)
    right, wrong = results("PF")
    told = [replace(right, counts=False)] * 3
    assert counted_tests(policy, [*told, wrong, *told, right]) == [wrong, right]
    assert reward(policy, Verdict.FAILED, [*told, wrong, right]) == reward(
        policy, Verdict.FAILED, [wrong, right]
    )


@pytest.mark.parametrize("count", [2, 1000, 10_000])
def test_the_ceiling_is_above_every_honest_fraction(count: int) -> None:
    policy = RewardPolicy(kind=RewardPolicyKind.FRACTION)
    value = reward(policy, Verdict.FAILED, results("P" * (count - 1) + "F"))
    assert value == (count - 1) / count < FAILING_CEILING


def test_a_program_that_compiles_gets_at_least_its_bonus() -> None:
    policy = RewardPolicy(kind=RewardPolicyKind.FRACTION, compile_bonus=0.3)
    assert reward(policy, Verdict.FAILED, results("FFFF")) == 0.3
    assert reward(policy, Verdict.FAILED, results("PFFF")) == 0.3
    assert reward(policy, Verdict.FAILED, results("PPFF")) == 0.5


def test_a_code_block_that_does_not_compile_gets_the_format_bonus() -> None:
    policy = RewardPolicy(compile_bonus=0.3, format_bonus=0.1)
    assert reward(policy, Verdict.COMPILE_ERROR, [], has_code_block=True) == 0.1
    assert reward(policy, Verdict.COMPILE_ERROR, [], has_code_block=False) == 0.0


def test_an_attack_earns_nothing_however_many_tests_passed() -> None:
    policy = RewardPolicy(kind=RewardPolicyKind.FRACTION, compile_bonus=1.0)
    assert reward(policy, Verdict.SECURITY_VIOLATION, results("PPPP")) == 0.0


@pytest.mark.parametrize("verdict", FAILING)
def test_the_largest_bonus_stays_below_a_pass(verdict: Verdict) -> None:
    policy = RewardPolicy(compile_bonus=1.0, format_bonus=1.0)
    value = reward(policy, verdict, results("F"), has_code_block=True)
    assert value is not None
    assert value < 1.0


def test_only_policies_that_one_failure_decides_stop_at_it() -> None:
    stopping = {
        kind for kind in RewardPolicyKind if stops_at_first_failure(RewardPolicy(kind=kind))
    }
    assert stopping == {RewardPolicyKind.ALL_OR_NOTHING, RewardPolicyKind.FIRST_K}


def in_subtasks(outcomes: str, names: str, weights: tuple[float, ...] = ()) -> list[TestResult]:
    return [
        replace(result, subtask=name)
        for result, name in zip(results(outcomes, weights), names, strict=True)
    ]


@pytest.mark.parametrize(
    ("outcomes", "share"),
    [
        ("FFFF", 0.0),
        ("PFFF", 0.0),
        ("PPFF", 0.3),
        ("FFPF", 0.175),
        ("FPFP", 0.525),
        ("PPPF", 0.475),
    ],
)
def test_points_of_subtasks_are_earned_whole_or_by_weight(outcomes: str, share: float) -> None:
    subtasks = (
        Subtask(name="small", points=30, rule=SubtaskRule.MINIMUM),
        Subtask(name="large", points=70, rule=SubtaskRule.SUM),
    )
    policy = RewardPolicy(kind=RewardPolicyKind.SUBTASKS, subtasks=subtasks)
    names = ("small", "small", "large", "large")
    found = [
        replace(result, subtask=name)
        for result, name in zip(results(outcomes, (1, 1, 1, 3)), names, strict=True)
    ]
    assert reward(policy, Verdict.FAILED, found) == pytest.approx(share)


def test_a_case_that_never_ran_earns_no_points() -> None:
    policy = RewardPolicy(kind=RewardPolicyKind.SUBTASKS, subtasks=(Subtask(name="a", points=1.0),))
    found = in_subtasks("P-", "aa")
    assert reward(policy, Verdict.TIME_LIMIT_EXCEEDED, found) == 0.0
    assert reward(policy, Verdict.RUNTIME_ERROR, []) == 0.0


def test_one_failed_case_of_a_subtask_does_not_end_the_others() -> None:
    assert not stops_at_first_failure(RewardPolicy(kind=RewardPolicyKind.SUBTASKS))
