"""Scores completions with AReaL's wrapper of reward functions, in its pool of processes."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from examples.adapters.common import END, PROMPT, SAMPLES, reward_server
from examples.adapters.common import Sample as Example
from trainer_client.adapters.areal import reward_fn
from trainer_client.errors import RewardLostError


def main() -> None:
    """Prints AReaL's result for each sample."""
    with reward_server():
        found = asyncio.run(_all())
    print(json.dumps(found))  # noqa: T201


async def _all() -> dict[str, Any]:
    from areal.api.reward_api import AsyncRewardWrapper  # type: ignore[import-not-found]

    wrapper = AsyncRewardWrapper(reward_fn, max_workers=1)
    return {sample.name: await _scored(wrapper, sample) for sample in SAMPLES}


async def _scored(wrapper: Any, sample: Example) -> object:
    try:
        return await wrapper(PROMPT, sample.response + END, [1], [2], label=sample.label)
    except RewardLostError as error:
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    main()
