"""Rewards for verl: `compute_score` for its reward loop, `compute_scores` for the batch manager.

    reward.custom_reward_function.path=pkg://trainer_client.adapters.verl
    reward.custom_reward_function.name=compute_score

`reward_model.ground_truth` in the data set is the label; see `common.judge`. Environment variables
set the rest; see `common.settings`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trainer_client.adapters.common import missing_rewards
from trainer_client.adapters.common.settings import shared_judge, shared_settings
from trainer_client.rewards.metrics import verdict_name
from trainer_client.score import Score


async def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: object,
    extra_info: Mapping[str, Any] | None = None,
    **kwargs: Any,
) -> dict[str, float | str]:
    """Judges one response; returns its `score`, `acc` (1.0 if it passed) and `verdict`.

    Raises:
        RewardLostError: it was not judged. verl leaves such a response out of the batch.

    Examples:
        >>> import asyncio
        >>> from trainer_client.adapters.verl import compute_score
        >>> label = {"function": {"entry_point": "double", "asserts": ["assert double(3) == 6"]}}
        >>> asyncio.run(compute_score("code", "def double(x): return 2 * x", ground_truth=label))
        {'score': 1.0, 'acc': 1.0, 'verdict': 'PASSED'}
    """
    (found,) = await shared_judge().score([solution_str], [ground_truth])
    return _result(found)


def compute_scores(
    data_sources: Sequence[str],
    solution_strs: Sequence[str],
    ground_truths: Sequence[object],
    extra_infos: Sequence[Mapping[str, Any] | None] | None = None,
    **kwargs: Any,
) -> list[dict[str, float | str]]:
    """Judges a batch, each response as `compute_score` does.

    Raises:
        RewardLostError: one was not judged.
    """
    scores = shared_judge().score_blocking(list(solution_strs), list(ground_truths))
    return [_result(found) for found in scores]


def _result(found: Score) -> dict[str, float | str]:
    return {
        "score": missing_rewards.number(found, shared_settings().unjudged),
        "acc": missing_rewards.passed(found),
        "verdict": verdict_name(found),
    }
