"""Rewards for slime (and miles); `serve` implements its HTTP protocol.

    --custom-rm-path trainer_client.adapters.slime.custom_rm
    --group-rm --custom-rm-path trainer_client.adapters.slime.batched_custom_rm

The data set's `--label-key` column holds the label; see `common.judge`. Environment variables set
the rest; see `common.settings`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

from trainer_client.adapters.common import missing_rewards
from trainer_client.adapters.common.responses import without_end
from trainer_client.adapters.common.settings import shared_judge, shared_settings


class Sample(Protocol):
    """The part of slime's `Sample` that is used here."""

    response: str
    label: str | None
    reward: float | dict[str, Any] | None


async def custom_rm(
    args: object, sample: Sample | Sequence[Sample], **kwargs: Any
) -> float | list[float]:
    """Judges one sample, or several if a rollout made several.

    Raises:
        RewardLostError: it was not judged. slime then stops.

    Examples:
        >>> import asyncio
        >>> from types import SimpleNamespace  # stands for slime's Sample
        >>> from trainer_client.adapters.slime import custom_rm
        >>> label = {"function": {"entry_point": "double", "asserts": ["assert double(3) == 6"]}}
        >>> sample = SimpleNamespace(response="def double(x): return 2 * x", label=label)
        >>> asyncio.run(custom_rm(None, sample))
        1.0
    """
    if isinstance(sample, Sequence):
        return await batched_custom_rm(args, sample)
    (reward,) = await batched_custom_rm(args, [sample])
    return reward


async def batched_custom_rm(args: object, samples: Sequence[Sample], **kwargs: Any) -> list[float]:
    """Judges a group of samples at once.

    Raises:
        RewardLostError: one was not judged. slime then stops.
    """
    texts = [without_end(sample.response) for sample in samples]
    scores = await shared_judge().score(texts, [sample.label for sample in samples])
    return [missing_rewards.number(found, shared_settings().unjudged) for found in scores]


def judged_groups(
    args: object, samples: Sequence[Sample | Sequence[Sample]], **kwargs: Any
) -> bool:
    """Returns False if a reward of a group is NaN, so that the group cannot be used for training.

    With CODEREWARD_UNJUDGED=nan and `--dynamic-sampling-filter-path` set to this function, slime
    drops such groups and samples others.
    """
    return not any(
        isinstance(sample.reward, float) and math.isnan(sample.reward)
        for item in samples
        for sample in (item if isinstance(item, Sequence) else [item])
    )
