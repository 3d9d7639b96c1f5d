"""Runs verl's reward loop, as its config would start it, and its batch reward manager."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from examples.adapters.common import END, PROMPT, SAMPLES, reward_server, tokenizer
from examples.adapters.common import Sample as Example
from trainer_client.adapters.verl import compute_scores

CONFIG = """
actor_rollout_ref: {model: {path: TOKENIZER, tokenizer_path: null}}
reward:
  custom_reward_function:
    path: pkg://trainer_client.adapters.verl
    name: compute_score
  reward_manager: {source: register, name: naive}
  reward_model: {enable: false}
"""


def main() -> None:
    """Prints verl's result for each sample."""
    with reward_server() as folder:
        looped = {sample.name: _looped(sample, folder) for sample in SAMPLES}
        batched = _batched(SAMPLES[:2], folder)
    print(json.dumps({"reward loop": looped, "batch": batched}))  # noqa: T201


def _looped(sample: Example, folder: Path) -> object:
    from omegaconf import OmegaConf  # type: ignore[import-not-found]  # verl has it
    from verl.experimental.reward_loop import RewardLoopWorker  # type: ignore[import-not-found]

    tokenizer().save_pretrained(folder / "tokenizer")
    config = OmegaConf.create(CONFIG.replace("TOKENIZER", str(folder / "tokenizer")))

    async def score() -> list[dict[str, Any]]:
        worker = RewardLoopWorker(config)
        found: list[dict[str, Any]] = await worker.compute_score_batch(_data([sample]))
        return found

    try:
        (found,) = asyncio.run(score())
    except Exception as error:  # noqa: BLE001  # verl's agent loop catches it likewise
        return f"{type(error).__name__}: {error}"
    return found


def _batched(samples: Sequence[Example], folder: Path) -> object:
    from verl.workers.reward_manager import get_reward_manager_cls  # type: ignore[import-not-found]

    manager = get_reward_manager_cls("batch")(tokenizer(), 0, compute_scores)
    found = manager(_data(samples), return_dict=True)
    rewards = found["reward_tensor"].sum(dim=-1).tolist()
    extra = {name: list(values) for name, values in found["reward_extra_info"].items()}
    return {"rewards": rewards, **extra}


def _data(samples: Sequence[Example]) -> Any:
    """Returns responses in the form of verl's rollout: tokens, padded on the right."""
    import numpy as np
    import torch
    from verl import DataProto  # type: ignore[import-not-found]

    words = tokenizer()
    words.padding_side = "right"
    prompt = torch.tensor([words(PROMPT)["input_ids"]] * len(samples))
    answers = words(
        [sample.response + END for sample in samples], padding=True, return_tensors="pt"
    )
    tensors = {
        "prompts": prompt,
        "responses": answers["input_ids"],
        "attention_mask": torch.cat([torch.ones_like(prompt), answers["attention_mask"]], dim=1),
    }
    columns: dict[str, list[Any]] = {
        "data_source": ["example"] * len(samples),
        "reward_model": [{"style": "rule", "ground_truth": sample.label} for sample in samples],
        "extra_info": [{} for _ in samples],
    }
    arrays = {name: np.array(values, dtype=object) for name, values in columns.items()}
    return DataProto.from_dict(tensors=tensors, non_tensors=arrays)


if __name__ == "__main__":
    main()
