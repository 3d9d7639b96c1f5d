"""Rewards for EasyR1.

    worker.reward.reward_function=.../site-packages/trainer_client/adapters/easyr1.py:compute_score

The column `data.answer_key` of the data set is the label; see `common.judge`. Environment variables
set the rest; see `common.settings`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trainer_client.adapters.common.missing_rewards import number, with_group_means
from trainer_client.adapters.common.responses import without_end
from trainer_client.adapters.common.settings import shared_judge

REWARD_NAME = "code_reward"
REWARD_TYPE = "batch"


def compute_score(
    reward_inputs: Sequence[Mapping[str, Any]], **options: Any
) -> list[dict[str, float]]:
    """Judges a batch; returns `overall`, and `judged` (1.0 or 0.0) as a metric.

    A response that was not judged gets the mean of the judged responses to the same task, which
    makes its advantage zero. If none of those was judged, all of them get the mean of the batch.

    Raises:
        RewardLostError: nothing was judged.

    Examples:
        >>> from trainer_client.adapters.easyr1 import compute_score
        >>> label = {"function": {"entry_point": "double", "asserts": ["assert double(3) == 6"]}}
        >>> compute_score([{"response": "def double(x): return 2 * x", "ground_truth": label}])
        [{'overall': 1.0, 'judged': 1.0}]
    """
    texts = [without_end(item["response"]) for item in reward_inputs]
    labels = [item["ground_truth"] for item in reward_inputs]
    scores = shared_judge().score_blocking(texts, labels)
    rewards = with_group_means([found.reward for found in scores], [str(label) for label in labels])
    overall = with_group_means(rewards, [None] * len(rewards))
    return [
        {
            "overall": number(found, "raise") if reward is None else reward,
            "judged": float(found.reward is not None),
        }
        for found, reward in zip(scores, overall, strict=True)
    ]
