"""Substitutes for the reward of a completion that was not judged.

For trainers that accept only numbers there are two choices:

raise    an exception, which each trainer handles in its own way
nan      NaN, for trainers that drop a group that contains it

For trainers that pass whole groups there is a third choice. They compare a completion with its
group: its advantage is its reward minus the group's mean. A completion that was not judged gets the
mean of the judged ones. This does not change the mean and makes the advantage zero.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import Literal

from trainer_client.errors import RewardLostError
from trainer_client.score import Score

Choice = Literal["raise", "nan"]


def number(score: Score, choice: Choice) -> float:
    """Returns the reward as a number.

    Raises:
        RewardLostError: there is no reward, and the choice is "raise".
    """
    if score.reward is not None:
        return score.reward
    if choice == "nan":
        return math.nan
    verdict = "" if score.verdict is None else f"{score.verdict.name}: {score.message}"
    raise RewardLostError(f"no reward: {score.error or verdict}")


def passed(score: Score) -> float:
    """Returns 1.0 if the completion passed, 0.0 if it was judged and failed, otherwise NaN."""
    if score.reward is None or score.verdict is None:
        return math.nan
    return float(score.verdict.name == "PASSED")


def with_group_means(
    rewards: Sequence[float | None], groups: Sequence[Hashable]
) -> list[float | None]:
    """Returns each reward; replaces a missing one by the mean of the other rewards of its group.

    A missing reward stays None if its group has no other reward.

    Args:
        rewards: one for each completion; None if it is missing.
        groups: for each completion a value that identifies its group, such as the prompt's id.

    Raises:
        ValueError: `groups` and `rewards` differ in length.
    """
    known: dict[Hashable, list[float]] = defaultdict(list)
    for reward, group in zip(rewards, groups, strict=True):
        if reward is not None:
            known[group].append(reward)
    means = {group: sum(found) / len(found) for group, found in known.items()}
    pairs = zip(rewards, groups, strict=True)
    return [means.get(group) if reward is None else reward for reward, group in pairs]
