"""The settings of `reward-train`, read from a file and from flags.

[model]       path, dtype, attn_implementation; [model.lora] any field of peft's LoraConfig
[data]        kind, one of path, package and hub, ids, limit, question, ...; [data.held_out]
[reward]      policy, bonuses, failure_budget, ...; [[reward.further]] other reward functions
[environment] kind, feedback, submissions, turns, ...: tools for several turns
[server]      target, or none to start a server; token_file, ca_file, ...
[evaluation]  samples, batch_size, every, before, after
[watch]       target_kl, stop_on_collapse, warn_of_hacking
[training]    any field of TRL's GRPOConfig

`sections` describes each section.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel, Field, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from codereward.spelling import did_you_mean
from trainer_client.errors import ConfigError
from trainer_client.trl.settings.sections import (
    DataSection,
    EnvironmentSection,
    EvaluationSection,
    ModelSection,
    RewardSection,
    Section,
    ServerSection,
    WatchSection,
)

# The sources of tasks; exactly one is set.
_SOURCES = ("data.path", "data.package", "data.hub")

# Names that tutorials still use, and their replacements.
GONE = {
    "dtype": "belongs into [model]",
    "evaluation_strategy": "is eval_strategy",
    "logging_dir": "is gone; the environment variable TENSORBOARD_LOGGING_DIR remains",
    "max_length": "is max_completion_length",
    "max_prompt_length": "is gone; set max_prompt_tokens in [data] to leave long prompts out",
    "model": "belongs into [model] as path",
    "model_init_kwargs": "is set by [model]",
    "no_cuda": "is use_cpu",
    "num_generation": "is num_generations",
    "overwrite_output_dir": "is gone; an existing output_dir is written into",
    "tokenizer": "is gone; the tokenizer comes with [model] path",
    "torch_dtype": "is dtype, and belongs into [model]",
    "vllm_device": "is gone; see vllm_mode",
    "vllm_guided_decoding_regex": "is vllm_structured_outputs_regex",
    "vllm_max_model_len": "is vllm_max_model_length",
    "wandb_log_unique_prompts": "is log_unique_prompts",
    "warmup_ratio": "is warmup_steps, where a number below 1 is a ratio",
}


class TrainConfig(Section):
    """All settings of one run."""

    model: ModelSection
    data: DataSection
    reward: RewardSection = RewardSection()
    environment: EnvironmentSection = EnvironmentSection()
    server: ServerSection = ServerSection()
    evaluation: EvaluationSection = EvaluationSection()
    watch: WatchSection = WatchSection()
    training: dict[str, Any] = Field(default_factory=dict)


def load_config(file: Path | None, flags: Mapping[str, Any]) -> TrainConfig:
    """Reads a file, and overrides its settings with flags.

    Args:
        file: TOML or YAML, by its suffix; without a file, flags must set everything.
        flags: values by `section.key`, or `section.part.key`.

    Raises:
        ConfigError: a setting is unknown, wrong or missing; the message names each.
    """
    values = {} if file is None else _read(file)
    if not flags.keys().isdisjoint(_SOURCES):
        # A source from flags replaces the file's source, also one of another kind.
        for path in _SOURCES:
            _put(values, path.split("."), None)
    for path, value in flags.items():
        _put(values, path.split("."), value)
    try:
        return TrainConfig.model_validate(values)
    except ValidationError as error:
        raise ConfigError("\n".join(_problems(error))) from None


def checked(section: str, given: Mapping[str, Any], config: type) -> dict[str, Any]:
    """Compares a section with the fields of the configuration class that it sets.

    Returns the values, with numbers as numbers: YAML reads 1e-5, which has no point, as text.

    Raises:
        ConfigError: names are unknown; the message suggests the present names. Or a number, or
            true or false, is something else.
    """
    check_names(
        section, given, {field.name for field in dataclasses.fields(config)}, config.__name__
    )
    hints = get_type_hints(config)
    return {name: _typed(f"{section}.{name}", value, hints[name]) for name, value in given.items()}


def check_names(section: str, given: Iterable[str], fields: Collection[str], owner: str) -> None:
    """Compares the names of a section with those of the configuration class that it sets.

    Args:
        section: name of the section.
        given: the names in it.
        fields: the names that are known.
        owner: name of the configuration class.

    Raises:
        ConfigError: names are unknown; the message suggests the present names.
    """
    gone = GONE if section == "training" else {}
    problems = [
        f"{section}.{name}: {gone[name]}"
        if name in gone
        else f"{section}.{name}: no field of {owner}{did_you_mean(name, fields)}"
        for name in given
        if name in gone or name not in fields
    ]
    if problems:
        raise ConfigError("\n".join(problems))


def _typed(name: str, value: Any, hint: Any) -> Any:
    kinds = set(get_args(hint) or (hint,)) - {type(None)}
    fits = value is None or (isinstance(value, int) and bool not in kinds)
    if fits or not kinds <= {bool, int, float}:
        return value
    try:
        return TypeAdapter(hint).validate_python(value)
    except ValidationError as error:
        raise ConfigError("\n".join(_problems(error, [name]))) from None


def _put(values: dict[str, Any], path: Sequence[str], value: Any) -> None:
    *sections, key = path
    for section in sections:
        inner = values.get(section)
        values[section] = values = dict(inner) if isinstance(inner, dict) else {}
    values[key] = value


def _read(file: Path) -> dict[str, Any]:
    try:
        text = file.read_text("utf-8")
        values = _parsed_yaml(text) if file.suffix in {".yaml", ".yml"} else tomllib.loads(text)
    except OSError as error:
        raise ConfigError(f"cannot read {file}: {error.strerror}") from None
    except ValueError as error:
        raise ConfigError(f"{file}: {error}") from None
    if not isinstance(values, dict) or not all(isinstance(part, dict) for part in values.values()):
        raise ConfigError(f"{file}: must hold sections such as [model] and [data]")
    return values


def _parsed_yaml(text: str) -> Any:
    import yaml  # type: ignore[import-untyped]  # ships no types

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"is not YAML: {error}") from error


def _problems(error: ValidationError, place: Sequence[str] = ()) -> Iterable[str]:
    for problem in error.errors(include_url=False):
        path = [*place, *(str(part) for part in problem["loc"])]
        if problem["type"] == "extra_forbidden":
            yield f"{'.'.join(path)}: no such setting{did_you_mean(path[-1], _siblings(path))}"
        else:
            yield f"{'.'.join(path)}: {problem['msg'][:1].lower()}{problem['msg'][1:]}"


def _siblings(path: list[str]) -> set[str]:
    """Returns the names that are known at the place of an unknown one."""
    section: type[BaseModel] = TrainConfig
    for name in path[:-1]:
        field = section.model_fields.get(name)
        inner = [part for part in _types(field) if issubclass(part, BaseModel)]
        section = inner[0] if inner else section
    return set(section.model_fields)


def _types(field: FieldInfo | None) -> Iterable[type]:
    """Returns the classes in a field's annotation, such as those of `Section | None`."""
    annotation = None if field is None else field.annotation
    parts = [annotation, *get_args(annotation)]
    return (part for part in parts if isinstance(part, type))
