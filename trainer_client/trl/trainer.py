"""Puts TRL's trainer together from the settings of `reward-train`."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from trainer_client.errors import ConfigError
from trainer_client.rewards.execution import remote_reward
from trainer_client.trl.checkpoint import trainable_checkpoint
from trainer_client.trl.config import TrainConfig, check_names
from trainer_client.trl.data import Prompt, TrainingTasks, load_tasks

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase
    from trl import GRPOConfig, GRPOTrainer


def grpo_arguments(config: TrainConfig) -> GRPOConfig:
    """Makes TRL's arguments; uses a GPU and bfloat16 where there are any.

    Raises:
        ConfigError: a name or a value is wrong, or TRL is not installed.
    """
    try:
        import torch
        from trl import GRPOConfig
    except ImportError as error:
        raise ConfigError(f"{error}; pip install 'codereward[trainer]'") from error
    check_names(config.training, (field.name for field in dataclasses.fields(GRPOConfig)))
    has_gpu = torch.cuda.is_available()
    defaults = {
        "output_dir": f"runs/{config.data.kind}",
        "logging_steps": 1,
        "report_to": "none",
        "use_cpu": not has_gpu,
        "bf16": not has_gpu or torch.cuda.is_bf16_supported(),
        "model_init_kwargs": {"dtype": config.model.dtype},
    }
    try:
        return GRPOConfig(**{**defaults, **config.training})
    except (TypeError, ValueError) as error:
        raise ConfigError(f"training: {error}") from error


def load_tokenizer(config: TrainConfig) -> PreTrainedTokenizerBase:
    """Loads the model's tokenizer.

    Raises:
        ConfigError: there is no such model.
    """
    from transformers import AutoTokenizer

    path = _model_path(config)
    try:
        tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(path)
    except (OSError, ValueError) as error:
        raise ConfigError(f"model.path: no model in {path}: {error}") from error
    return tokenizer


def tasks_for(config: TrainConfig, tokenizer: PreTrainedTokenizerBase) -> TrainingTasks:
    """Reads the tasks with prompts that suit the model.

    Raises:
        ConfigError: the data is wrong, or does not go with the model.
    """
    has_template = bool(getattr(tokenizer, "chat_template", None))
    chat = has_template if config.data.chat is None else config.data.chat
    if chat and not has_template:
        raise ConfigError("data.chat: the model's tokenizer has no chat template")

    def count_tokens(prompt: Prompt) -> int:
        if isinstance(prompt, str):
            return len(tokenizer(prompt)["input_ids"])
        text = tokenizer.apply_chat_template(prompt, add_generation_prompt=True, tokenize=False)
        return len(tokenizer(text, add_special_tokens=False)["input_ids"])

    return load_tasks(config.data, chat=chat, count_tokens=count_tokens)


def make_trainer(
    config: TrainConfig,
    arguments: GRPOConfig,
    tokenizer: PreTrainedTokenizerBase,
    training_tasks: TrainingTasks,
    console: Console,
) -> GRPOTrainer:
    """Puts TRL's trainer together."""
    from datasets import Dataset
    from transformers import PrinterCallback, ProgressCallback
    from trl import GRPOTrainer

    from trainer_client.trl.progress import StepLines

    reward = remote_reward(
        config.server.target,
        task=training_tasks.templates,
        name=config.reward.name or f"{config.data.kind}_reward",
        defaults=config.reward.defaults,
        failure_budget=config.reward.failure_budget,
        **config.server.options,
    )
    trainer = GRPOTrainer(
        model=_model_path(config),
        args=arguments,
        reward_funcs=reward,
        train_dataset=Dataset.from_list(training_tasks.records),
        processing_class=tokenizer,
        callbacks=[StepLines(reward.__name__, console)],
    )
    for noisy in (PrinterCallback, ProgressCallback):
        trainer.remove_callback(noisy)
    return trainer


def cached_checkpoint(gguf: Path) -> Path:
    """Gives the trainable checkpoint of a GGUF file, from the user's cache where it is there."""
    return trainable_checkpoint(gguf, Path.home() / ".cache" / "codereward")


def _model_path(config: TrainConfig) -> str:
    path = Path(config.model.path)
    if path.suffix != ".gguf":
        return config.model.path
    try:
        return str(cached_checkpoint(path))
    except FileNotFoundError:
        raise ConfigError(f"model.path: there is no file {path}") from None
