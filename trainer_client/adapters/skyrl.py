"""Environments for SkyRL, of one turn and of several, judged by a reward server; and a tool group.

    skyrl_gym.register("codereward", entry_point="trainer_client.adapters.skyrl:CodeRewardEnv")
    skyrl_gym.register("codetools", entry_point="trainer_client.adapters.skyrl:CodeToolEnv")

Rows of the data set have one of these names as `env_class`, and `reward_spec.ground_truth`, which
is the label; see `common.judge`. Environment variables set the rest; see `common.settings`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from skyrl_gym.envs.base_text_env import (  # type: ignore[import-not-found]  # SkyRL has it
    BaseTextEnv,
    BaseTextEnvStepOutput,
)
from skyrl_gym.tools.core import ToolGroup, tool  # type: ignore[import-not-found]

from trainer_client.adapters.common import missing_rewards
from trainer_client.adapters.common.responses import without_end
from trainer_client.adapters.common.settings import shared_judge, shared_settings, shared_tool
from trainer_client.errors import CallError, ConfigError, RewardLostError
from trainer_client.rewards.metrics import verdict_name
from trainer_client.score import Score

_CALL = re.compile(r"<tool>\s*<python>(.*?)</python>\s*</tool>", re.DOTALL)
_USUAL_TURNS = 4


class CodeRewardTools(ToolGroup):  # type: ignore[misc]  # untyped there
    """The tool `python`, in place of SkyRL's own, which runs programs unconfined."""

    def __init__(self) -> None:
        super().__init__(name="CodeRewardTools")

    @tool  # type: ignore[untyped-decorator]  # untyped there
    def python(self, code: str) -> str:
        """Runs a Python program in a sandbox, and returns what it prints.

        Raises:
            RewardLostError: it was not run.
        """
        try:
            return shared_tool()(code)
        except CallError as error:
            raise RewardLostError(f"a tool did not work: {error}") from error


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


class CodeToolEnv(CodeRewardEnv):
    """Runs programs of the model, in several turns, and judges the answer.

    A message with `<tool><python>...</python></tool>` runs a program. Any other message is the
    answer, and so is the last one.

    Args:
        env_config: ignored.
        extras: as for `CodeRewardEnv`; `max_turns` is the number of turns, 4 if absent.

    Raises:
        ConfigError: there is no label.
    """

    def __init__(self, env_config: object = None, extras: Mapping[str, Any] | None = None) -> None:
        super().__init__(env_config, extras)
        self.max_turns = (extras or {}).get("max_turns", _USUAL_TURNS)
        self.init_tool_groups([CodeRewardTools()])

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Runs a program, or judges the answer, which ends the episode.

        Raises:
            RewardLostError: the program was not run, or the answer not judged. SkyRL then stops.
        """
        self.turns += 1
        call = _CALL.search(action)
        if call is None or self.turns >= self.max_turns:
            return super().step(action)
        told = self._execute_tool("CodeRewardTools", "python", [call[1]])
        return BaseTextEnvStepOutput(
            observations=[{"role": "user", "content": told}], reward=0.0, done=False, metadata={}
        )
