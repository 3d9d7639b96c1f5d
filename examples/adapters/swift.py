"""Imports the plug-in with ms-swift, scores a group with it, and computes its advantages."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from examples.adapters.common import SAMPLES, reward_server

PLUGIN = "import trainer_client.adapters.swift\n"


def main() -> None:
    """Prints ms-swift's result for the samples, as one group, with two ways to scale rewards."""
    with reward_server() as folder:
        _import_plugin(folder / "code_reward_plugin.py")
        found = {scale: _scored(scale) for scale in ("group", "gdpo")}
    print(json.dumps(found))  # noqa: T201


def _import_plugin(file: Path) -> None:
    from swift.utils import import_external_file  # type: ignore[import-not-found]

    file.write_text(PLUGIN)
    import_external_file(str(file))


def _scored(scale_rewards: str) -> dict[str, Any]:
    import torch
    from swift.rewards import orms  # type: ignore[import-not-found]  # ms-swift has it
    from swift.rl_core.advantage import compute_advantages  # type: ignore[import-not-found]
    from swift.rl_core.grpo_algorithm import compute_rewards_per_func  # type: ignore[import-not-found]

    reward = orms["code_reward"](args=SimpleNamespace(scale_rewards=scale_rewards))
    rewards = compute_rewards_per_func(_group(), [reward], [None], torch.device("cpu"))
    advantages, _ = compute_advantages(
        rewards, torch.ones(1), num_generations=len(SAMPLES), scale_rewards=scale_rewards
    )
    return {"rewards": rewards[:, 0].tolist(), "advantages": advantages.tolist()}


def _group() -> list[Any]:
    from swift.rl_core.data import GRPOSample  # type: ignore[import-not-found]  # ms-swift has it

    question = {"role": "user", "content": "Write twice(x)."}
    return [
        GRPOSample(
            messages=[question, {"role": "assistant", "content": sample.response}],
            prompt_id="prompt_0",
            extra={"task_id": sample.label},
        )
        for sample in SAMPLES
    ]


if __name__ == "__main__":
    main()
