"""Creates SkyRL's environment as SkyRL's generator does, and takes one step in it."""

from __future__ import annotations

import json
from typing import Any

from examples.adapters.common import END, PROMPT, SAMPLES, reward_server
from examples.adapters.common import Sample as Example
from trainer_client.errors import RewardLostError


def main() -> None:
    """Prints SkyRL's result for each sample."""
    import skyrl_gym  # type: ignore[import-not-found]  # SkyRL has it

    skyrl_gym.register("codereward", entry_point="trainer_client.adapters.skyrl:CodeRewardEnv")
    with reward_server():
        print(json.dumps({sample.name: _stepped(sample) for sample in SAMPLES}))  # noqa: T201


def _stepped(sample: Example) -> Any:
    import skyrl_gym

    extras = {"reward_spec": {"method": "rule", "ground_truth": sample.label}, "max_turns": 1}
    env = skyrl_gym.make("codereward", env_config={}, extras=extras)
    env.init([{"role": "user", "content": PROMPT}])
    try:
        output = env.step(sample.response + END)
    except RewardLostError as error:
        return f"{type(error).__name__}: {error}"
    metrics = env.aggregate_metrics([env.get_metrics()])
    env.close()
    return {**output, "metrics": metrics}


if __name__ == "__main__":
    main()
