"""Creates TRL's trainer from the settings of `reward-train`."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainer_client.errors import ConfigError, missing_package
from trainer_client.rewards import RewardFunction, remote_reward
from trainer_client.rewards.metrics import EVERY_COLUMN
from trainer_client.sessions.requests import SessionOptions
from trainer_client.transport.channel import Target
from trainer_client.trl.checkpoints.conversion import (
    ADAPTER,
    merged_checkpoint,
    trainable_checkpoint,
)
from trainer_client.trl.environments import (
    CodeEnvironment,
    EnvironmentReward,
    SessionEnvironment,
    environment_reward,
)
from trainer_client.trl.environments.episode import Environment, tools_of
from trainer_client.trl.environments.submitting import EnvironmentOptions
from trainer_client.trl.settings.configuration import TrainConfig, checked
from trainer_client.trl.settings.sections import EnvironmentSection, FurtherReward
from trainer_client.trl.tasks.data import TaskSource, TrainingTasks, training_tasks
from trainer_client.trl.tasks.prompts import Prompt
from trainer_client.trl.tasks.sources import package_file

if TYPE_CHECKING:
    from peft import LoraConfig
    from transformers import PreTrainedTokenizerBase, TrainerCallback
    from trl import GRPOConfig

    from trainer_client.run_folder import TaskTally
    from trainer_client.trl.grpo_trainer import RewardTrainer


_ENVIRONMENTS: Mapping[str, type[Environment]] = {
    "code": CodeEnvironment,
    "session": SessionEnvironment,
}
# The default of a controlled KL coefficient. With 0, TRL's default, there is no reference model.
_FIRST_KL_COEFFICIENT = 0.04


def output_folder(config: TrainConfig) -> Path:
    """Returns the run's folder; if it is not set, its name comes from the data."""
    return Path(config.training.get("output_dir") or f"runs/{config.data.kind}")


def grpo_arguments(config: TrainConfig) -> GRPOConfig:
    """Returns TRL's arguments; uses a GPU and bfloat16 if they are available.

    Raises:
        ConfigError: a name or a value is wrong, or TRL is not installed.
    """
    try:
        import torch
        from trl import GRPOConfig
    except ImportError as error:
        raise missing_package(error, "trainer") from error
    given = checked("training", config.training, GRPOConfig)
    has_gpu = torch.cuda.is_available()
    defaults = {
        "output_dir": str(output_folder(config)),
        "logging_steps": 1,
        "log_completions": True,
        "num_completions_to_print": 0,
        "report_to": "tensorboard",
        "use_cpu": not has_gpu,
        "bf16": not given.get("fp16") and (not has_gpu or torch.cuda.is_bf16_supported()),
        "model_init_kwargs": _model_options(config),
        **({} if config.watch.target_kl is None else {"beta": _FIRST_KL_COEFFICIENT}),
        **_turns(config),
        **_evaluation_arguments(config),
    }
    if not has_gpu and "activation_checkpointing" not in given:
        defaults["gradient_checkpointing"] = False  # it triples the cost of sampling to save memory
    try:
        return GRPOConfig(**{**defaults, **given})
    except (ImportError, TypeError, ValueError) as error:
        raise ConfigError(f"training: {error}") from error


def lora_config(config: TrainConfig) -> LoraConfig | None:
    """Returns peft's configuration, or None if the whole model is trained.

    Raises:
        ConfigError: a name or a value is wrong, or peft is not installed.
    """
    if config.model.lora is None:
        return None
    try:
        from peft import LoraConfig
    except ImportError as error:
        raise missing_package(error, "trainer") from error
    given = checked("model.lora", config.model.lora, LoraConfig)
    defaults = {"target_modules": "all-linear", "task_type": "CAUSAL_LM"}
    try:
        return LoraConfig(**{**defaults, **given})
    except (TypeError, ValueError) as error:
        raise ConfigError(f"model.lora: {error}") from error


def load_tokenizer(config: TrainConfig) -> PreTrainedTokenizerBase:
    """Loads the model's tokenizer.

    Raises:
        ConfigError: there is no such model.
    """
    from transformers import AutoTokenizer

    path = _model_path(config.model.path)
    try:
        tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(path)
    except (OSError, ValueError) as error:
        raise ConfigError(f"model.path: no model in {path}: {error}") from error
    return tokenizer


def tasks_for(
    config: TrainConfig,
    tokenizer: PreTrainedTokenizerBase,
    source: TaskSource,
    left_out: Collection[str],
) -> TrainingTasks:
    """Returns the tasks with prompts that suit the model, without those to leave out.

    Raises:
        ConfigError: the data is wrong, or does not suit the model.
    """
    has_template = bool(getattr(tokenizer, "chat_template", None))
    chat = has_template if config.data.chat is None else config.data.chat
    if not chat and config.environment.kind != "none":
        raise ConfigError("environment.kind: tools need chats, with a chat template (data.chat)")
    if chat and not has_template:
        raise ConfigError("data.chat: the model's tokenizer has no chat template")

    def count_tokens(prompt: Prompt) -> int:
        return len(_token_ids(config, tokenizer, prompt))

    return training_tasks(
        config.data, source, chat=chat, count_tokens=count_tokens, left_out=left_out
    )


def rendered(config: TrainConfig, tokenizer: PreTrainedTokenizerBase, prompt: Prompt) -> str:
    """Returns the text that the model gets for a prompt, including special tokens."""
    text: str = tokenizer.decode(
        _token_ids(config, tokenizer, prompt), clean_up_tokenization_spaces=False
    )
    return text


def _token_ids(
    config: TrainConfig, tokenizer: PreTrainedTokenizerBase, prompt: Prompt
) -> list[int]:
    """Returns a prompt's tokens as TRL computes them."""
    if isinstance(prompt, str):
        return list(tokenizer(prompt)["input_ids"])
    options = config.training.get("chat_template_kwargs") or {}
    kind = _ENVIRONMENTS.get(config.environment.kind)
    tools = None if kind is None else tools_of(kind)
    text = tokenizer.apply_chat_template(
        prompt, tools=tools, add_generation_prompt=True, tokenize=False, **options
    )
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


def execution_reward(
    config: TrainConfig, target: Target, training_tasks: TrainingTasks
) -> RewardFunction:
    """Creates the reward by execution."""
    make = remote_reward if config.environment.kind == "none" else environment_reward
    return make(
        target,
        task=training_tasks.templates,
        name=config.reward.name or f"{config.data.kind}_reward",
        defaults=config.reward.defaults,
        failure_budget=config.reward.failure_budget,
        columns=EVERY_COLUMN,
        **config.server.options,
    )


def environment_factory(
    section: EnvironmentSection, reward: RewardFunction
) -> Callable[[], Environment] | None:
    """Returns what makes the environments, or None if there are none."""
    if not isinstance(reward, EnvironmentReward):
        return None
    common: EnvironmentOptions = {
        "feedback": section.feedback,
        "submissions": section.submissions,
        "output_characters": section.output_characters,
    }
    if section.kind == "code":
        seconds = section.cpu_time_seconds
        return functools.partial(CodeEnvironment, reward, cpu_time_seconds=seconds, **common)
    session: SessionOptions = {}
    if section.memory_bytes is not None:
        session["memory_bytes"] = section.memory_bytes
    if section.idle_seconds is not None:
        session["idle_seconds"] = section.idle_seconds
    return functools.partial(
        SessionEnvironment,
        reward,
        completion_path=section.completion_path,
        time_limit_seconds=section.time_limit_seconds,
        session=session,
        **common,
    )


def further_rewards(config: TrainConfig) -> list[Callable[..., Any]]:
    """Finds the reward functions besides the one that executes.

    Raises:
        ConfigError: one of them cannot be found or created.
    """
    return [_further(index, further) for index, further in enumerate(config.reward.further)]


def make_trainer(
    config: TrainConfig,
    arguments: GRPOConfig,
    tokenizer: PreTrainedTokenizerBase,
    training_tasks: TrainingTasks,
    reward: RewardFunction,
    evaluated: Callable[[int, dict[str, TaskTally]], None],
    callbacks: Sequence[TrainerCallback],
) -> RewardTrainer:
    """Creates TRL's trainer.

    Raises:
        ConfigError: the model, the rewards and the settings do not suit each other.
    """
    from datasets import Dataset
    from transformers import PrinterCallback, ProgressCallback

    from trainer_client.trl.grpo_trainer import RewardTrainer
    from trainer_client.trl.monitoring.samples import Listener

    listener = Listener()
    further = further_rewards(config)
    if further:
        if arguments.reward_weights is not None:
            raise ConfigError("training.reward_weights: weights stand in [reward] beside functions")
        arguments.reward_weights = [
            config.reward.weight,
            *(one.weight for one in config.reward.further),
        ]
    held_out = training_tasks.held_out
    adapters = lora_config(config)
    try:
        trainer = RewardTrainer(
            listener=listener,
            evaluated=evaluated,
            evaluation_seed=config.evaluation.seed,
            model=_model_path(config.model.path),
            args=arguments,
            reward_funcs=[listener.attached(reward), *further],
            train_dataset=Dataset.from_list(training_tasks.records),
            eval_dataset=Dataset.from_list(held_out) if held_out else None,
            processing_class=tokenizer,
            peft_config=adapters,
            environment_factory=environment_factory(config.environment, reward),
            callbacks=list(callbacks),
        )
    except OSError as error:
        raise ConfigError(f"model.path: {error}") from error
    except (ImportError, ValueError) as error:
        raise ConfigError(f"training: {error}") from error
    for noisy in (PrinterCallback, ProgressCallback):
        trainer.remove_callback(noisy)
    _keep_tensorboard_inside(trainer)
    return trainer


def _keep_tensorboard_inside(trainer: RewardTrainer) -> None:
    """Sets TensorBoard's folder before a first evaluation creates it in the working directory.

    transformers sets it only when training begins.
    """
    from transformers.integrations import TensorBoardCallback

    for callback in trainer.callback_handler.callbacks:
        if isinstance(callback, TensorBoardCallback) and callback.logging_dir is None:
            callback.logging_dir = str(Path(trainer.args.output_dir) / "tensorboard")


def cached_checkpoint(gguf: Path) -> Path:
    """Returns the trainable checkpoint of a GGUF file, from the user's cache if it is there."""
    return trainable_checkpoint(gguf, _cache())


def _cache() -> Path:
    return Path.home() / ".cache" / "codereward"


def _evaluation_arguments(config: TrainConfig) -> dict[str, Any]:
    if config.data.held_out is None:
        return {}
    evaluation = config.evaluation
    groups = max(1, evaluation.batch_size // evaluation.samples)
    return {
        "eval_strategy": "steps" if evaluation.every else "no",
        "eval_steps": evaluation.every or None,
        "num_generations_eval": evaluation.samples,
        "per_device_eval_batch_size": groups * evaluation.samples,
    }


def _turns(config: TrainConfig) -> dict[str, Any]:
    if config.environment.kind == "none":
        return {}
    return {"max_tool_calling_iterations": config.environment.turns}


def _model_options(config: TrainConfig) -> dict[str, Any]:
    options = {"dtype": config.model.dtype}
    attention = config.model.attn_implementation
    return options if attention is None else {**options, "attn_implementation": attention}


@functools.cache  # for tokenizer and model; computing the digest reads a large file
def _model_path(named: str) -> str:
    """Returns the folder or the name of the model; converts GGUF files and adapters first."""
    if (Path(named) / ADAPTER).is_file():
        return str(_merged(Path(named)))
    if not named.endswith(".gguf"):
        return named
    try:
        path = Path(named)
        file = path if path.is_file() else package_file(named)
    except ConfigError:
        raise ConfigError(f"model.path: there is no file {named}") from None
    return str(cached_checkpoint(file))


def _merged(adapter: Path) -> Path:
    try:
        return merged_checkpoint(adapter, _cache())
    except ImportError as error:
        raise missing_package(error, "trainer") from error
    except (OSError, ValueError) as error:
        raise ConfigError(f"model.path: the adapter in {adapter}: {error}") from error


def _further(index: int, section: FurtherReward) -> Callable[..., Any]:
    where = f"reward.further[{index}].function: {section.function}"
    module, _, name = section.function.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), name)
        reward = found if section.options is None else found(**section.options)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise ConfigError(f"{where}: {error}") from error
    if not callable(reward) or "completions" not in inspect.signature(reward).parameters:
        raise ConfigError(f"{where}: is no reward function")
    return reward  # type: ignore[no-any-return]  # its result has no static type
