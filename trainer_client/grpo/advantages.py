"""Advantages of a group of completions of one prompt.

Rewards are finite numbers, or None if a completion was not judged. Such a completion counts neither
in means nor in deviations, and has the advantage 0.0, so that it does not change the policy. The
only judged completion of a group also has 0.0, because there is nothing to compare it with.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

# TRL adds this to a standard deviation before it divides.
EPSILON = 1e-4


def standardized_advantages(
    rewards: Sequence[float | None], *, epsilon: float = EPSILON
) -> list[float]:
    """Returns (reward - mean) / (standard deviation + epsilon) within a group.

    GRPO, arXiv 2402.03300, section 4.1.2; TRL's `scale_rewards="group"`, which takes the sample's
    standard deviation (divided by n - 1).

    Args:
        rewards: rewards of one group, shape (G,).
        epsilon: prevents a division by zero in a group without variance.

    Returns:
        Advantages, shape (G,).

    Raises:
        ValueError: a reward is NaN or infinite.
    """
    deviation = _deviation(_judged(rewards))
    return [advantage / (deviation + epsilon) for advantage in centered_advantages(rewards)]


def centered_advantages(rewards: Sequence[float | None]) -> list[float]:
    """Returns reward - mean within a group, without a division by the deviation.

    Dr. GRPO, arXiv 2503.20783, which shows that the division favours prompts that are
    too easy or too hard; TRL's `scale_rewards="none"`.

    Args:
        rewards: rewards of one group, shape (G,).

    Returns:
        Advantages, shape (G,).

    Raises:
        ValueError: a reward is NaN or infinite.
    """
    judged = _judged(rewards)
    if len(judged) < 2:
        return [0.0] * len(rewards)
    mean = _mean(judged)
    return [0.0 if reward is None else reward - mean for reward in rewards]


def batch_scaled_advantages(
    groups: Sequence[Sequence[float | None]], *, epsilon: float = EPSILON
) -> list[list[float]]:
    """Returns (reward - the group's mean) / (the whole batch's standard deviation + epsilon).

    arXiv 2508.08221; TRL's `scale_rewards="batch"`.

    Args:
        groups: rewards of all groups of a batch, shape (N, G).
        epsilon: prevents a division by zero in a batch without variance.

    Returns:
        Advantages, shape (N, G).

    Raises:
        ValueError: a reward is NaN or infinite.
    """
    centered = [centered_advantages(group) for group in groups]
    deviation = _deviation([reward for group in groups for reward in _judged(group)])
    return [[advantage / (deviation + epsilon) for advantage in group] for group in centered]


def leave_one_out_advantages(rewards: Sequence[float | None]) -> list[float]:
    """Returns reward - mean of the group's other rewards.

    RLOO, arXiv 2402.14740; TRL's `RLOOTrainer`.

    Args:
        rewards: rewards of one group, shape (G,).

    Returns:
        Advantages, shape (G,).

    Raises:
        ValueError: a reward is NaN or infinite.
    """
    count = len(_judged(rewards))
    if count < 2:
        return [0.0] * len(rewards)
    # reward - (sum - reward) / (n - 1) equals n / (n - 1) times (reward - mean).
    return [advantage * count / (count - 1) for advantage in centered_advantages(rewards)]


def split_groups(
    rewards: Sequence[float | None], num_generations: int
) -> list[Sequence[float | None]]:
    """Splits a batch's rewards into groups, in TRL's order: a prompt's completions are adjacent.

    Args:
        rewards: shape (N * num_generations,).
        num_generations: completions in a group.

    Returns:
        Groups, shape (N, num_generations).

    Raises:
        ValueError: the rewards do not divide into groups.
    """
    if num_generations < 1 or len(rewards) % num_generations:
        raise ValueError(f"num_generations: {num_generations} does not divide {len(rewards)}")
    starts = range(0, len(rewards), num_generations)
    return [rewards[start : start + num_generations] for start in starts]


def _judged(rewards: Sequence[float | None]) -> list[float]:
    for index, reward in enumerate(rewards):
        if reward is not None and not math.isfinite(reward):
            raise ValueError(f"rewards[{index}]: must be finite, or None if not judged: {reward}")
    return [reward for reward in rewards if reward is not None]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _deviation(values: Sequence[float]) -> float:
    """Returns the sample's standard deviation, or 0.0 for fewer than two values."""
    if len(values) < 2:
        return 0.0
    mean = _mean(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
