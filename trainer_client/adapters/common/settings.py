"""Environment variables that configure adapters, since a trainer's config has only their name.

CODEREWARD_TARGET            the servers; see `trainer_client.Connection`
CODEREWARD_TASKS             a file of `ScoreRequest`s by `id`, as `tasks.write_templates` writes
CODEREWARD_FORMAT            the data set whose rows are labels; see `trainer_client.tasks`
CODEREWARD_POLICY            all_or_nothing, fraction or weighted
CODEREWARD_COMPILE_BONUS, CODEREWARD_FORMAT_BONUS, CODEREWARD_CPU_TIME_SECONDS
CODEREWARD_TOKEN_FILE, CODEREWARD_CA_FILE, CODEREWARD_CERTIFICATE_FILE, CODEREWARD_KEY_FILE,
CODEREWARD_SERVER_NAME
CODEREWARD_TIMEOUT_SECONDS, CODEREWARD_OUTAGE_SECONDS, CODEREWARD_MAX_IN_FLIGHT
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from pydantic import FilePath, PositiveFloat, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from codereward.spelling import unknown_variables
from trainer_client import tasks
from trainer_client.adapters.common.judge import Judge
from trainer_client.adapters.common.missing_rewards import Choice
from trainer_client.errors import ConfigError, TaskError
from trainer_client.settings import ConnectionSettings, RewardSettings
from trainer_client.tools.python import python_tool

PREFIX = "CODEREWARD_"
_TOOL_CPU_TIME_SECONDS = 10.0


class AdapterSettings(ConnectionSettings, RewardSettings, BaseSettings):
    """The settings of all adapters; an empty variable counts as not set."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, frozen=True, extra="ignore", env_ignore_empty=True
    )

    target: str = "127.0.0.1:50051"
    tasks: FilePath | None = None
    format: str | None = None
    outage_seconds: PositiveFloat = 300.0
    unjudged: Choice = "raise"

    def judge(self) -> Judge:
        """Returns the judge that the settings describe.

        Raises:
            ConfigError: a file cannot be read, or a value is wrong; the message names it.
        """
        with naming_variables():
            templates = None if self.tasks is None else tasks.read_templates(self.tasks)
            return Judge(
                self.target,
                templates=templates,
                task_format=self.format,
                defaults=self.defaults,
                **self.options,
            )


_Settings = TypeVar("_Settings", bound=AdapterSettings)


@contextmanager
def naming_variables() -> Iterator[None]:
    """Names the environment variables in errors about values that come from the settings.

    Raises:
        ConfigError: a file cannot be read, or a value is wrong.
    """
    try:
        yield
    except TaskError as error:
        raise ConfigError(f"{PREFIX}TASKS: {error}") from error
    except (OSError, ValueError) as error:
        raise ConfigError(f"{PREFIX}*: {error}") from error


def read_settings() -> AdapterSettings:
    """Reads the environment; see `settings_of`."""
    return settings_of(AdapterSettings)


def settings_of(kind: type[_Settings]) -> _Settings:
    """Reads the environment.

    Args:
        kind: the settings; each variable that begins as theirs is one of them.

    Raises:
        ConfigError: a variable is wrong or stands for no setting; the message names each.
    """
    if unknown := list(unknown_variables(os.environ, PREFIX, kind.model_fields)):
        raise ConfigError("\n".join(unknown))
    try:
        return kind()
    except ValidationError as error:
        raise ConfigError("\n".join(_problems(error))) from None


def shared_settings() -> AdapterSettings:
    """Returns the settings as they were when this process first read them.

    Raises:
        ConfigError: see `read_settings`.
    """
    with _first_use:
        return _settings()


def shared_judge() -> Judge:
    """Returns the judge that this process shares.

    Raises:
        ConfigError: see `read_settings` and `AdapterSettings.judge`.
    """
    with _first_use:
        return _judge()


def shared_tool() -> Callable[[str], str]:
    """Returns the tool `run_python` that this process shares.

    Raises:
        ConfigError: see `read_settings`; or a file cannot be read.
    """
    with _first_use:
        return _tool()


def forget() -> None:
    """Discards what this process shares, so that the environment is read again."""
    for cached in (_settings, _judge, _tool):
        cached.cache_clear()


# Trainers call from many threads at once, and a cache alone would let each thread create a judge.
_first_use = threading.Lock()


@functools.cache
def _settings() -> AdapterSettings:
    return read_settings()


@functools.cache
def _judge() -> Judge:
    return _settings().judge()


@functools.cache
def _tool() -> Callable[[str], str]:
    settings = _settings()
    seconds = settings.cpu_time_seconds or _TOOL_CPU_TIME_SECONDS
    with naming_variables():
        return python_tool(settings.target, cpu_time_seconds=seconds, **settings.options)


def _problems(error: ValidationError) -> Iterable[str]:
    for problem in error.errors(include_url=False):
        name = PREFIX + ".".join(str(part) for part in problem["loc"]).upper()
        yield f"{name}: {problem['msg'][:1].lower()}{problem['msg'][1:]}"
