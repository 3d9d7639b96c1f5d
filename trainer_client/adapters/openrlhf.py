"""Rewards for OpenRLHF, in its process; `serve` implements its HTTP protocol.

    --reward.remote_url .../site-packages/trainer_client/adapters/openrlhf.py

The data set's label column (`--data.label_key`) holds the label; see `common.judge`. Environment
variables set the rest; see `common.settings`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trainer_client import score
from trainer_client.adapters.common import missing_rewards
from trainer_client.adapters.common.judge import Judge
from trainer_client.adapters.common.responses import response_in
from trainer_client.adapters.common.settings import shared_judge, shared_settings
from trainer_client.score import Score


def reward_func(
    queries: Sequence[str], prompts: Sequence[str], labels: Sequence[object], **kwargs: Any
) -> dict[str, Any]:
    """Judges the responses in queries, which begin with their prompts and hold special tokens.

    Returns tensors with one element for each query: `rewards`, `scores`, and `passed` in
    `extra_logs`.

    Raises:
        RewardLostError: one was not judged. OpenRLHF then has no reward for it, and stops.
    """
    import torch

    found = judge_queries(shared_judge(), queries, prompts, labels)
    choice = shared_settings().unjudged
    rewards = torch.tensor([missing_rewards.number(item, choice) for item in found])
    passed = torch.tensor([missing_rewards.passed(item) for item in found])
    return {"rewards": rewards, "scores": rewards, "extra_logs": {"passed": passed}}


def judge_queries(
    judge: Judge, queries: Sequence[str], prompts: Sequence[str], labels: Sequence[object]
) -> list[Score]:
    """Judges the response in each query.

    A query that does not begin with its prompt gets a permanent error.

    Raises:
        ValueError: the prompts or labels are not as many as the queries.
    """
    pairs = zip(queries, prompts, strict=True)
    responses = [response_in(query, prompt) for query, prompt in pairs]
    known = [text for text in responses if text is not None]
    pairs_known = zip(responses, labels, strict=True)
    wanted = [label for text, label in pairs_known if text is not None]
    answers = iter(judge.score_blocking(known, wanted))
    return [_NO_RESPONSE if text is None else next(answers) for text in responses]


_NO_RESPONSE = score.unjudged(
    "", "INVALID_ARGUMENT", "query: does not begin with its prompt", permanent=True
)
