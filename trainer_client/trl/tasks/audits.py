"""Reads what `reward-server audit` found about the tasks of a run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from codereward.task_digest import task_digest
from trainer_client.errors import ConfigError
from trainer_client.trl.tasks.data import TaskSource

FORMAT = 1
_SHOWN = 10
_AGAIN = "audit the tasks again: `reward-train tasks`, then `reward-server audit`"


def dropped_by_audit(file: Path, source: TaskSource, console: Console) -> frozenset[str]:
    """Returns the ids of the tasks that an audit drops, and prints why.

    Every task must be in the audit as it is: the digest tells whether tests, prompt or data were
    changed since.

    Raises:
        ConfigError: the file is no audit, or does not know a task.
    """
    known = _read(file)
    unknown = [key for key in source.templates if key not in known]
    if unknown:
        raise ConfigError(f"data.audit: {file} does not know the task {unknown[0]}; {_AGAIN}")
    for key, template in source.templates.items():
        if known[key]["digest"] != task_digest(template):
            raise ConfigError(f"data.audit: the task {key} is not the one of {file}; {_AGAIN}")
    dropped = [key for key in source.templates if not known[key]["kept"]]
    lines = [f"{key}: the audit drops it: {_reasons(known[key])}; left out" for key in dropped]
    more = [f"and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    for line in [*lines[:_SHOWN], *more]:
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    return frozenset(dropped)


def _read(file: Path) -> Mapping[str, Mapping[str, Any]]:
    try:
        read = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"data.audit: {file} cannot be read: {error}") from None
    if not isinstance(read, dict) or read.get("format") != FORMAT:
        raise ConfigError(f"data.audit: {file} is no audit.json of format {FORMAT}")
    try:
        return {str(task["id"]): _checked(task) for task in read["tasks"]}
    except (KeyError, TypeError) as error:
        raise ConfigError(f"data.audit: {file} lacks a field of a task: {error}") from None


def _checked(task: Mapping[str, Any]) -> Mapping[str, Any]:
    """Raises KeyError or TypeError if a field is missing or wrong."""
    if not isinstance(task["kept"], bool) or not isinstance(task["digest"], str):
        raise TypeError("kept or digest has another type")
    list(_kinds(task))
    return task


def _reasons(task: Mapping[str, Any]) -> str:
    return "; ".join(_kinds(task))


def _kinds(task: Mapping[str, Any]) -> Iterator[str]:
    for one in task["findings"]:
        if one["severity"] == "drop":
            yield f"{one['kind']} ({one['reason']})"
