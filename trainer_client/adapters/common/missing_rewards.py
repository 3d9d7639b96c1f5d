"""Stands in for missing rewards where a trainer compares a completion with its group.

Such a trainer's advantage is a reward less the mean of its group. The mean of the judged ones,
given to one that was not judged, leaves that mean as it is, and makes the advantage zero.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence


def neutral(rewards: Sequence[float | None], groups: Sequence[Hashable]) -> list[float | None]:
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
