"""Rewards for axolotl, which finds TRL's reward functions by dotted name.

    trl:
      reward_funcs: [trainer_client.adapters.axolotl.code_reward]

Environment variables set the server and the tasks; see `columns`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from trainer_client.adapters.common.columns import shared_reward


async def code_reward(
    prompts: Sequence[Any], completions: Sequence[Any], **columns: Any
) -> list[float | None]:
    """Returns a reward for each completion, or None if it was not judged.

    Raises:
        RewardLostError: nothing was judged for too long, or a task can never be judged.
        ConfigError: the environment is wrong.
    """
    return await shared_reward()(prompts, completions, **columns)


def code_reward_blocking(
    prompts: Sequence[Any], completions: Sequence[Any], **columns: Any
) -> list[float | None]:
    """Does the same for axolotl's trainers that call reward functions synchronously.

    They are the trainers with `reward_num_workers` above 1 or with context parallelism.
    """
    return asyncio.run(code_reward(prompts, completions, **columns))
