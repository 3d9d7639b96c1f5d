"""Writes a configuration to start from: every setting with its meaning and default.

The meanings are those in the docstrings of `sections`. The JSON schema lets an editor complete and
check the file, if it reads the first line's `#:schema`.
"""

from __future__ import annotations

import inspect
import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python

from trainer_client.errors import ConfigError
from trainer_client.trl.settings.configuration import TrainConfig

_WIDTH = 100
_ARGUMENT = re.compile(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)
# The settings of [training] that most runs set, with values for a first run.
_TRAINING = {
    "output_dir": ("runs/first", "the folder of the run"),
    "max_steps": (100, "optimizer steps"),
    "num_generations": (8, "completions of each task in a group"),
    "per_device_train_batch_size": (8, "completions of a step on each device"),
    "max_completion_length": (512, "tokens of a completion, at most"),
    "learning_rate": (1e-5, "of the optimizer; 1e-4 and more only with [model.lora]"),
    "temperature": (1.0, "of the sampling"),
    "beta": (0.0, "weight of the KL divergence from the original model"),
    "seed": (0, "of the whole run"),
}


def write_template(file: Path, given: Mapping[str, Any]) -> Path:
    """Writes a configuration, and its JSON schema beside it; returns the schema's path.

    Args:
        file: a TOML file that does not exist.
        given: values by `section.key`, which stand in the file as they are.

    Raises:
        ConfigError: one of the files exists or cannot be written, or the suffix is not `.toml`.
    """
    if file.suffix != ".toml":
        raise ConfigError(f"{file}: the name of a configuration ends in .toml")
    schema = file.with_suffix(".schema.json")
    contents = {
        schema: json.dumps(described_schema(), indent=2) + "\n",
        file: template(given, schema.name),
    }
    for path in contents:
        if path.exists():
            raise ConfigError(f"{path}: exists already")
    for path, text in contents.items():
        try:
            path.write_text(text, "utf-8")
        except OSError as error:
            raise ConfigError(f"{path}: {error.strerror}") from error
    return schema


def template(given: Mapping[str, Any], schema: str) -> str:
    """Returns the text of a configuration; settings with a default are commented out."""
    return "\n".join(_lines(given, schema)) + "\n"


def described_schema() -> dict[str, Any]:
    """Returns the JSON schema of a configuration, with the meaning of each setting."""
    schema = TrainConfig.model_json_schema()
    for name, model in _sections(TrainConfig):
        properties = schema["$defs"][model.__name__]["properties"]
        for key, meaning in meanings(model).items():
            if key in properties:
                properties[key].setdefault("description", meaning)
        schema["$defs"][model.__name__]["description"] = _purpose(model)
        schema["properties"].get(name, {}).setdefault("description", _purpose(model))
    return schema


def meanings(model: type[BaseModel]) -> dict[str, str]:
    """Returns the meaning of each setting, from the docstrings of a section and of its bases."""
    found: dict[str, str] = {}
    for part in reversed(model.__mro__):
        _, _, arguments = (inspect.getdoc(part) or "").partition("\nArgs:\n")
        for match in _ARGUMENT.finditer(arguments):
            found[match[1]] = " ".join(match[2].split())
    return found


def _purpose(model: type[BaseModel]) -> str:
    return (inspect.getdoc(model) or "").partition("\n")[0]


def _sections(model: type[BaseModel], path: str = "") -> Iterator[tuple[str, type[BaseModel]]]:
    """Yields each section and each section within it, by its path."""
    for name, field in model.model_fields.items():
        for part in _models(field.annotation):
            here = f"{path}.{name}".removeprefix(".")
            yield here, part
            yield from _sections(part, here)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def _lines(given: Mapping[str, Any], schema: str) -> Iterator[str]:
    yield f"#:schema ./{schema}"
    yield from _comment(
        "A configuration of reward-train. A setting behind # has the value that it would have "
        "without the line, or an example. Remove the # to change it."
    )
    for name, field in TrainConfig.model_fields.items():
        if name == "training":
            continue
        for model in _models(field.annotation):
            yield from ("", *_comment(_purpose(model)), f"[{name}]")
            yield from _settings(name, model, given)
    yield ""
    yield from _comment("The training. This section takes any field of TRL's GRPOConfig.")
    yield "[training]"
    for key, (value, meaning) in _TRAINING.items():
        yield from _comment(f"{key}: {meaning}")
        yield f"{key} = {_toml(given.get(f'training.{key}', value))}"


def _settings(section: str, model: type[BaseModel], given: Mapping[str, Any]) -> Iterator[str]:
    known = meanings(model)
    for key, field in model.model_fields.items():
        yield from _comment(f"{key}: {known.get(key, '')}{_choices(field.annotation)}")
        value = given.get(f"{section}.{key}")
        if value is not None:
            yield f"{key} = {_toml(value)}"
        elif field.is_required():
            yield f"{key} = {_toml(f'TODO: {key}')}"
        else:
            yield f"# {key} = {_example(field)}"


def _choices(annotation: Any) -> str:
    """Returns the texts that a setting may have, if they are named."""
    texts = [one for one in get_args(annotation) if isinstance(one, str)]
    for part in get_args(annotation):
        texts += [one for one in get_args(part) if isinstance(one, str)]
    return f" One of {', '.join(texts)}." if texts else ""


def _example(field: FieldInfo) -> str:
    default = field.get_default(call_default_factory=True)
    nested = list(_models(field.annotation))
    if nested and not default:
        known = meanings(nested[0])
        return f"{{ {', '.join(f'{key} = ...' for key in known)} }}"
    if default is None:
        return "..."
    return _toml(to_jsonable_python(default))


def _toml(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value)


def _comment(text: str) -> Iterator[str]:
    yield from textwrap.wrap(text, _WIDTH, initial_indent="# ", subsequent_indent="#   ")
