"""What a trainer gets for a completion that was not judged, and so has no reward.

Where a trainer takes numbers alone, there are two choices:

raise    an exception, which each trainer treats in a way of its own
nan      a number that no statistics survive, for trainers that drop the group of such a one

Where a trainer compares a completion with its group, its advantage is its reward less the mean of
the group. The mean of the judged ones, given to one that was not judged, leaves that mean as it is,
and makes the advantage zero.
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
        RewardLostError: there is none, and the choice is "raise".
    """
    if score.reward is not None:
        return score.reward
    if choice == "nan":
        return math.nan
    verdict = "" if score.verdict is None else f"{score.verdict.name}: {score.message}"
    raise RewardLostError(f"no reward: {score.error or verdict}")


def passed(score: Score) -> float:
    """Returns 1.0 for a completion that passed, 0.0 for another that was judged, else NaN."""
    if score.reward is None or score.verdict is None:
        return math.nan
    return float(score.verdict.name == "PASSED")


def with_group_means(
    rewards: Sequence[float | None], groups: Sequence[Hashable]
) -> list[float | None]:
    """Returns each reward, and in place of a missing one the mean of its group's others.

    What no other reward of its group can stand in for stays None.

    Args:
        rewards: one for each completion, None where there is none.
        groups: what tells groups apart, such as a prompt's id; as many.

    Raises:
        ValueError: there are not as many groups as rewards.
    """
    known: dict[Hashable, list[float]] = defaultdict(list)
    for reward, group in zip(rewards, groups, strict=True):
        if reward is not None:
            known[group].append(reward)
    means = {group: sum(found) / len(found) for group, found in known.items()}
    pairs = zip(rewards, groups, strict=True)
    return [means.get(group) if reward is None else reward for reward, group in pairs]
