"""What `reward-train` can be told, read from a file and from flags.

[model]     path, dtype
[data]      kind, path, ids, limit, chat, max_prompt_tokens
[reward]    policy, name, failure_budget, cpu_time_seconds
[server]    target, token_file, ca_file, certificate_file, key_file, server_name, ...
[training]  any field of TRL's GRPOConfig
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, FilePath, PositiveFloat, PositiveInt, ValidationError

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.channel import ConnectionOptions, Tls
from trainer_client.errors import ConfigError

# Names that tutorials still use, and what has become of them.
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


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ModelSection(_Section):
    """The model: a folder, a GGUF file, or a name that transformers knows."""

    path: str
    dtype: Literal["float32", "bfloat16", "float16", "auto"] = "float32"


class DataSection(_Section):
    """The tasks: a local HumanEval or MBPP file, as it was published."""

    kind: Literal["humaneval", "mbpp"]
    path: FilePath
    ids: tuple[str, ...] = ()
    limit: PositiveInt | None = None
    chat: bool | None = None
    max_prompt_tokens: PositiveInt | None = None


class RewardSection(_Section):
    """How verdicts become rewards."""

    policy: Literal["all_or_nothing", "fraction"] = "all_or_nothing"
    name: str = ""
    failure_budget: PositiveInt = 10
    cpu_time_seconds: PositiveFloat | None = None

    @property
    def defaults(self) -> pb.ScoreRequest:
        """The fields that every request gets."""
        kind = pb.RewardPolicyKind.Value(f"REWARD_POLICY_KIND_{self.policy.upper()}")
        request = pb.ScoreRequest(reward_policy=pb.RewardPolicy(kind=kind))
        if self.cpu_time_seconds is not None:
            request.limits.cpu_time_seconds = self.cpu_time_seconds
        return request


class ServerSection(_Section):
    """Where the reward servers are; see `trainer_client.Connection`."""

    target: str | tuple[str, ...] = "127.0.0.1:50051"
    token_file: FilePath | None = None
    ca_file: FilePath | None = None
    certificate_file: FilePath | None = None
    key_file: FilePath | None = None
    server_name: str | None = None
    timeout_seconds: PositiveFloat = 600.0
    outage_seconds: PositiveFloat = 60.0
    max_in_flight: PositiveInt = 64

    @property
    def options(self) -> ConnectionOptions:
        """The options of a connection."""
        token = None if self.token_file is None else self.token_file.read_text().strip()
        return ConnectionOptions(
            tls=self._tls(),
            token=token,
            timeout_seconds=self.timeout_seconds,
            outage_seconds=self.outage_seconds,
            max_in_flight=self.max_in_flight,
        )

    def _tls(self) -> Tls | None:
        files = (self.ca_file, self.certificate_file, self.key_file)
        if not any(files):
            return None
        ca, certificate, key = (None if file is None else file.read_bytes() for file in files)
        return Tls(
            root_certificates=ca,
            certificate_chain=certificate,
            private_key=key,
            server_name=self.server_name,
        )


class TrainConfig(_Section):
    """Everything that one run is told."""

    model: ModelSection
    data: DataSection
    reward: RewardSection = RewardSection()
    server: ServerSection = ServerSection()
    training: dict[str, Any] = {}


def load_config(file: Path | None, flags: Mapping[str, Any]) -> TrainConfig:
    """Reads a file and puts flags over it.

    Args:
        file: TOML or YAML, by its suffix; without one the flags have to say everything.
        flags: values by `section.key`.

    Raises:
        ConfigError: a setting is unknown, wrong or missing; the message names each.
    """
    values = {} if file is None else _read(file)
    for path, value in flags.items():
        section, _, key = path.partition(".")
        values.setdefault(section, {})[key] = value
    try:
        return TrainConfig.model_validate(values)
    except ValidationError as error:
        raise ConfigError("\n".join(_problems(error))) from None


def check_names(training: Mapping[str, Any], known: Iterable[str]) -> None:
    """Compares the names in [training] with those of GRPOConfig.

    Raises:
        ConfigError: some are unknown; tells what each is called by now, or might have been.
    """
    fields = set(known)
    gone = [f"training.{name}: {GONE[name]}" for name in training if name in GONE]
    unknown = [
        f"training.{name}: no field of GRPOConfig{_suggestion(name, fields)}"
        for name in training
        if name not in fields and name not in GONE
    ]
    if gone or unknown:
        raise ConfigError("\n".join(gone + unknown))


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


def _problems(error: ValidationError) -> Iterable[str]:
    for problem in error.errors(include_url=False):
        path = [str(part) for part in problem["loc"]]
        if problem["type"] == "extra_forbidden":
            yield f"{'.'.join(path)}: no such setting{_suggestion(path[-1], _siblings(path))}"
        else:
            yield f"{'.'.join(path)}: {problem['msg'][:1].lower()}{problem['msg'][1:]}"


def _siblings(path: list[str]) -> set[str]:
    section = TrainConfig.model_fields.get(path[0])
    if len(path) == 1 or section is None or section.annotation is None:
        return set(TrainConfig.model_fields)
    return set(section.annotation.model_fields)


def _suggestion(name: str, known: set[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]}?" if close else ""
