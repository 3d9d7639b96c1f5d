"""TRL's trainers over the tiny model, with arguments that keep a step short."""

from __future__ import annotations

from pathlib import Path
from typing import Any

GROUP = 4


def tiny_trainer(model: Path, output: Path, reward, *, trainer: str = "GRPO", **arguments: Any):
    """Makes a trainer with groups of four on eight prompts; steps take two of them unless told."""
    import trl
    from datasets import Dataset
    from transformers import AutoTokenizer

    callbacks = arguments.pop("callbacks", [])
    settings = {
        "output_dir": str(output),
        "num_generations": GROUP,
        "per_device_train_batch_size": 2 * GROUP,
        "max_completion_length": 3,
        "logging_steps": 1,
        "save_strategy": "no",
        "report_to": "none",
        "use_cpu": True,
        "bf16": False,
        "disable_tqdm": True,
        "seed": 1,
    }
    return getattr(trl, f"{trainer}Trainer")(
        model=str(model),
        processing_class=AutoTokenizer.from_pretrained(model),
        reward_funcs=reward,
        train_dataset=Dataset.from_list([{"prompt": f"def f{number}(x):"} for number in range(8)]),
        callbacks=callbacks,
        args=getattr(trl, f"{trainer}Config")(**{**settings, **arguments}),
    )
