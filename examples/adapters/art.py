"""Gathers a group of trajectories with ART, one of which cannot be judged."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from examples.adapters.common import SAMPLES, reward_server
from examples.adapters.common import Sample as Example
from trainer_client.adapters.art import judged
from trainer_client.errors import RewardLostError


def main() -> None:
    """Prints ART's result for the samples."""
    with reward_server():
        print(json.dumps(asyncio.run(_gathered())))  # noqa: T201


async def _gathered() -> dict[str, Any]:
    import art  # type: ignore[import-not-found]  # ART has it

    groups = [art.TrajectoryGroup(_rollout(sample) for sample in SAMPLES)]
    (group,) = await art.gather_trajectory_groups(groups, max_exceptions=1)
    try:
        strict = [art.TrajectoryGroup(_rollout(sample) for sample in SAMPLES)]
        await art.gather_trajectory_groups(strict, max_exceptions=0)
        lost = ""
    except RewardLostError as error:
        lost = str(error)
    return {
        "rewards": sorted(trajectory.reward for trajectory in group),
        "passed": sorted(trajectory.metrics["passed"] for trajectory in group),
        "exceptions": [error.message for error in group.exceptions],
        "without max_exceptions": lost,
    }


async def _rollout(sample: Example) -> Any:
    import art

    question = {"role": "user", "content": "Write twice(x)."}
    answer = {"role": "assistant", "content": sample.response}
    return await judged(art.Trajectory(messages_and_choices=[question, answer]), sample.label)


if __name__ == "__main__":
    main()
