"""An environment for NeMo-RL: one turn, judged by a reward server.

    register_env("codereward", "trainer_client.adapters.nemo_rl.CodeRewardActor")
    env: {codereward: {}}

Each row's metadata (`extra_env_info`) has `ground_truth`, which is the label; see `common.judge`.
Environment variables, which NeMo-RL passes to its actors, set the rest; see `common.settings`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ray
import torch
from nemo_rl.environments.interfaces import (  # type: ignore[import-not-found]  # NeMo-RL's own
    EnvironmentInterface,
    EnvironmentReturn,
)

from trainer_client.adapters.common import missing_rewards
from trainer_client.adapters.common.responses import without_end
from trainer_client.adapters.common.settings import shared_judge, shared_settings
from trainer_client.rewards.metrics import verdict_name
from trainer_client.score import Score
from trainer_client.text import completion_text

Message = Mapping[str, Any]
Metadata = dict[str, Any] | None


class CodeRewardEnvironment(EnvironmentInterface):  # type: ignore[misc]  # untyped here
    """Judges the last answer of each conversation.

    Args:
        config: ignored.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        self._config = config

    def step(
        self, message_log_batch: Sequence[Sequence[Message]], metadata: Sequence[Metadata]
    ) -> Any:
        """Judges a batch; returns an `EnvironmentReturn` in which all episodes have ended.

        Raises:
            RewardLostError: one was not judged. NeMo-RL then stops.
        """
        texts = [without_end(completion_text(log)) for log in message_log_batch]
        labels = [(entry or {}).get("ground_truth") for entry in metadata]
        scores = shared_judge().score_blocking(texts, labels)
        choice = shared_settings().unjudged
        rewards = torch.tensor([missing_rewards.number(found, choice) for found in scores])
        return EnvironmentReturn(
            observations=[_observation(found) for found in scores],
            metadata=list(metadata),
            next_stop_strings=[None] * len(scores),
            rewards=rewards,
            terminateds=torch.ones(len(scores), dtype=torch.bool),
            answers=None,
        )

    def global_post_process_and_metrics(self, batch: Any) -> tuple[Any, dict[str, float]]:
        """Adds the mean reward to the metrics; does not change the batch."""
        rewards = batch["rewards"].float()
        return batch, {"mean_reward": rewards.mean().item()}

    def shutdown(self) -> None:
        """Closes the connection."""
        shared_judge().close()


CodeRewardActor = ray.remote(CodeRewardEnvironment)


def _observation(found: Score) -> dict[str, str]:
    return {"role": "environment", "content": verdict_name(found)}
