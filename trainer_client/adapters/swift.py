"""A reward for ms-swift. A plug-in file of yours imports it, which registers its name:

    echo 'import trainer_client.adapters.swift' > code_reward_plugin.py
    swift rlhf --rlhf_type grpo --external_plugins code_reward_plugin.py --reward_funcs code_reward

The environment says where the server and the tasks are; see `columns`. Do not name this file as the
plug-in: ms-swift would put its folder first on the path, where `swift.py` hides ms-swift.
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

    ms-swift counts a missing reward as 0, but with `--scale_rewards gdpo`. Elsewhere a completion
    that was not judged therefore gets the mean of its group, which makes its advantage zero.
    """

    async def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float | None]:
        """Returns a reward for each completion; None where nothing can stand in for it.

        Raises:
            RewardLostError: nothing could be judged for too long, or never will be.
            ConfigError: the environment is wrong.
        """
        rewards = await shared_reward()([None] * len(completions), completions, **columns)
        if getattr(self.args, "scale_rewards", None) == "gdpo":
            return rewards
        return with_group_means(rewards, _prompts(columns))


def _prompts(columns: Mapping[str, Sequence[Any]]) -> list[str]:
    """Tells groups apart by prompt, of which not every trainer there gives an id."""
    pairs = zip(columns["prompt_id"], columns["messages"], strict=True)
    return [key or json.dumps(messages[:-1]) for key, messages in pairs]


orms["code_reward"] = CodeReward
