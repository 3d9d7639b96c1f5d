"""Turns test outcomes into a reward.

A completion that passes gets exactly 1.0. Any other completion gets at most `FAILING_CEILING`,
whatever the weights and bonuses are. So a trainer never ranks a wrong completion as high as a right
one. A bonus is a lower bound of the reward, and is not added to it. So a completion that passes
some tests never gets less than one that passes none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from reward_server.domain import (
    RewardPolicy,
    RewardPolicyKind,
    Subtask,
    SubtaskRule,
    TestOutcome,
    TestResult,
    Verdict,
)

# It is below 1.0 even in single precision, and above (n - 1) / n for every possible number n of
# tests.
FAILING_CEILING = 1.0 - 2.0**-16


def counted_tests(policy: RewardPolicy, tests: Sequence[TestResult]) -> list[TestResult]:
    """Returns the tests that decide: all that were not skipped, or those among the first k."""
    leading = [test for test in tests if test.counts]
    if policy.kind is RewardPolicyKind.FIRST_K:
        leading = leading[: policy.first_k]
    return [test for test in leading if test.outcome is not TestOutcome.SKIPPED]


def stops_at_first_failure(policy: RewardPolicy) -> bool:
    """Returns True if one failed test decides the reward, so that the others need not run."""
    return policy.kind in (RewardPolicyKind.ALL_OR_NOTHING, RewardPolicyKind.FIRST_K)


def reward(
    policy: RewardPolicy,
    verdict: Verdict,
    tests: Sequence[TestResult],
    *,
    has_code_block: bool = False,
) -> float | None:
    """Returns the reward, from 0 to 1; None if the task is invalid.

    A program that attacked its judge earns nothing, even if it passed tests before.

    Args:
        policy: the rule.
        verdict: the verdict.
        tests: all results, in the request's order.
        has_code_block: whether the completion has its code in a fenced block.
    """
    if verdict is Verdict.INVALID_TASK:
        return None
    if verdict is Verdict.PASSED:
        return 1.0
    if verdict is Verdict.SECURITY_VIOLATION:
        return 0.0
    if verdict is Verdict.COMPILE_ERROR:
        return _below_passing(policy.format_bonus if has_code_block else 0.0)
    return _below_passing(max(_share(policy, tests), policy.compile_bonus))


def _below_passing(value: float) -> float:
    return min(max(value, 0.0), FAILING_CEILING)


def _share(policy: RewardPolicy, tests: Sequence[TestResult]) -> float:
    counted = counted_tests(policy, tests)
    if stops_at_first_failure(policy) or not counted:
        return 0.0
    if policy.kind is RewardPolicyKind.SUBTASKS:
        return _share_of_points(policy.subtasks, counted)
    weighted = policy.kind is RewardPolicyKind.WEIGHTED
    return _mean(
        [float(test.outcome is TestOutcome.PASSED) for test in counted],
        [test.weight if weighted else 1.0 for test in counted],
    )


def _share_of_points(subtasks: Sequence[Subtask], tests: Sequence[TestResult]) -> float:
    shares = [
        _earned(one, [test for test in tests if test.subtask == one.name]) for one in subtasks
    ]
    return _mean(shares, [one.points for one in subtasks])


def _earned(subtask: Subtask, tests: Sequence[TestResult]) -> float:
    """Returns the share of a subtask's points that was earned, from 0 to 1."""
    passed = [float(test.outcome is TestOutcome.PASSED) for test in tests]
    if subtask.rule is SubtaskRule.SUM:
        return _mean(passed, [test.weight for test in tests])
    return min(passed, default=0.0)


def _mean(values: Sequence[float], weights: Sequence[float]) -> float:
    """Returns the weighted mean; 0 if no weight is positive."""
    largest = max(weights, default=0.0)
    if largest <= 0.0:
        return 0.0
    # Scaled, so that no sum of finite weights is infinite.
    scaled = [weight / largest for weight in weights]
    parts = (value * weight for value, weight in zip(values, scaled, strict=True))
    return math.fsum(parts) / math.fsum(scaled)
