"""Shows that axolotl finds the reward functions by name, and that its reward worker calls one of
them."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
from typing import Any

from examples.adapters.common import SAMPLES, reward_server

MODULE = "trainer_client.adapters.axolotl"


def main() -> None:
    """Prints axolotl's result for the samples."""
    with reward_server():
        worked = _worked()
        awaited = asyncio.run(_awaited())
    print(json.dumps({"awaited": awaited, "worker": worked}))  # noqa: T201


async def _awaited() -> Any:
    from axolotl.core.trainers.grpo import GRPOStrategy  # type: ignore[import-not-found]

    reward = GRPOStrategy.get_reward_func(f"{MODULE}.code_reward")
    labels = [sample.label for sample in SAMPLES]
    return await reward(
        prompts=["p"] * len(SAMPLES),
        completions=[[{"role": "assistant", "content": sample.response}] for sample in SAMPLES],
        completion_ids=[[1]] * len(SAMPLES),
        trainer_state=None,
        task_id=labels,
    )


def _worked() -> Any:
    """Scores samples in a worker of axolotl, sent to it as `reward_num_workers: 2` sends them."""
    from axolotl.core.trainers.grpo import GRPOStrategy
    from axolotl.core.trainers.grpo.fast_async_trainer import _persistent_reward_worker  # type: ignore[import-not-found]

    reward = GRPOStrategy.get_reward_func(f"{MODULE}.code_reward_blocking")
    ours, theirs = multiprocessing.Pipe()
    worker = multiprocessing.Process(target=_persistent_reward_worker, args=(theirs,), daemon=True)
    worker.start()
    texts = [sample.response for sample in SAMPLES]
    inputs = [{"prompt": "p", "task_id": sample.label} for sample in SAMPLES]
    count = len(SAMPLES)
    ours.send(([reward], ["p"] * count, texts, [[1]] * count, inputs, ["code_reward_blocking"]))
    (found,) = ours.recv()
    ours.send(None)
    worker.join()
    return found


if __name__ == "__main__":
    main()
