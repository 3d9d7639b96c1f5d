"""Rewards for axolotl, which takes TRL's functions by dotted name.

    trl:
      reward_funcs: [trainer_client.adapters.axolotl.code_reward]

The environment says where the server and the tasks are; see `columns`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from trainer_client.adapters.common.columns import shared_reward


async def code_reward(
    prompts: Sequence[Any], completions: Sequence[Any], **columns: Any
) -> list[float | None]:
    """Returns a reward for each completion, None where it was not judged.

    Raises:
        RewardLostError: nothing could be judged for too long, or never will be.
        ConfigError: the environment is wrong.
    """
    return await shared_reward()(prompts, completions, **columns)


def code_reward_blocking(
    prompts: Sequence[Any], completions: Sequence[Any], **columns: Any
) -> list[float | None]:
    """Does the same for trainers of axolotl's that await nothing.

    They are those with `reward_num_workers` above 1 or with context parallelism.
    """
    return asyncio.run(code_reward(prompts, completions, **columns))
