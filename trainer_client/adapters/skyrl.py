"""An environment for SkyRL: one turn, judged by a reward server.

    skyrl_gym.register("codereward", entry_point="trainer_client.adapters.skyrl:CodeRewardEnv")

Rows of the data set have `env_class: codereward` and `reward_spec.ground_truth`, which is the
label; see `common.judge`. Environment variables set the rest; see `common.settings`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skyrl_gym.envs.base_text_env import (  # type: ignore[import-not-found]  # SkyRL has it
    BaseTextEnv,
    BaseTextEnvStepOutput,
)

from trainer_client.adapters.common import missing_rewards
from trainer_client.adapters.common.responses import without_end
from trainer_client.adapters.common.settings import shared_judge, shared_settings
from trainer_client.errors import ConfigError
from trainer_client.rewards.metrics import verdict_name
from trainer_client.score import Score


class CodeRewardEnv(BaseTextEnv):  # type: ignore[misc]  # untyped there
    """Judges the model's answer to the prompt.

    Args:
        env_config: ignored.
        extras: the row's further columns; `reward_spec.ground_truth` is the label.

    Raises:
        ConfigError: there is no label.
    """

    def __init__(self, env_config: object = None, extras: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        specification = (extras or {}).get("reward_spec") or {}
        if "ground_truth" not in specification:
            raise ConfigError("reward_spec.ground_truth: is absent")
        self._label = specification["ground_truth"]
        self._found: Score | None = None

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Judges the model's answer, which ends the episode.

        Raises:
            RewardLostError: it was not judged. SkyRL then stops.
        """
        (found,) = shared_judge().score_blocking([without_end(action)], [self._label])
        self._found = found
        return BaseTextEnvStepOutput(
            observations=[],
            reward=missing_rewards.number(found, shared_settings().unjudged),
            done=True,
            metadata={"verdict": verdict_name(found), "message": found.message},
        )

    def get_metrics(self) -> dict[str, Any]:
        """Returns the metric `passed`, or none if the answer was not judged."""
        if self._found is None or not self._found.judged:
            return {}
        return {"passed": missing_rewards.passed(self._found)}
