"""A reward for ms-swift. Your plug-in file imports this module, which registers its name:

    echo 'import trainer_client.adapters.swift' > code_reward_plugin.py
    swift rlhf --rlhf_type grpo --external_plugins code_reward_plugin.py --reward_funcs code_reward

Environment variables set the server and the tasks; see `columns`. Do not name this file itself as
the plug-in: ms-swift would put its folder first on the path, and `swift.py` would hide ms-swift.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from swift.rewards import AsyncORM, orms  # type: ignore[import-not-found]  # ms-swift has it

from trainer_client.adapters.common.columns import shared_reward
from trainer_client.adapters.common.missing_rewards import with_group_means


class CodeReward(AsyncORM):  # type: ignore[misc]  # untyped there
    """Judges a batch of completions.

    ms-swift counts a missing reward as 0, except with `--scale_rewards gdpo`. With all other
    values, a completion that was not judged therefore gets the mean of its group, which makes its
    advantage zero.
    """

    async def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float | None]:
        """Returns a reward for each completion, or None if there is no substitute for it.

        Raises:
            RewardLostError: nothing was judged for too long, or a task can never be judged.
            ConfigError: the environment is wrong.
        """
        rewards = await shared_reward()([None] * len(completions), completions, **columns)
        if getattr(self.args, "scale_rewards", None) == "gdpo":
            return rewards
        return with_group_means(rewards, _prompts(columns))


def _prompts(columns: Mapping[str, Sequence[Any]]) -> list[str]:
    """Returns a prompt for each completion, to identify its group; not all trainers pass an id."""
    pairs = zip(columns["prompt_id"], columns["messages"], strict=True)
    return [key or json.dumps(messages[:-1]) for key, messages in pairs]


orms["code_reward"] = CodeReward
