"""Tasks for training: prompts for the model, and apart from them the tests."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codereward.v1 import reward_service_pb2 as pb
from trainer_client import tasks
from trainer_client.errors import ConfigError
from trainer_client.trl.config import DataSection

_ANSWER = "Answer with the whole code in one ```python block."
_QUESTIONS: Mapping[str, Callable[[tasks.Row], str]] = {
    "humaneval": lambda row: (
        f"Complete this Python function. {_ANSWER}\n\n```python\n{row['prompt'].rstrip()}\n```"
    ),
    "mbpp": lambda row: (
        f"{row.get('text') or row['prompt']} {_ANSWER} It has to pass these tests:\n\n"
        "```python\n" + "\n".join(row["test_list"]) + "\n```"
    ),
}
_BARE: Mapping[str, Callable[[tasks.Row], str]] = {
    "humaneval": lambda row: str(row["prompt"]),
    "mbpp": lambda row: f'"""\n{row.get("text") or row["prompt"]}\n{row["test_list"][0]}\n"""\n',
}
_REFERENCES = {"humaneval": "canonical_solution", "mbpp": "code"}

Prompt = str | list[dict[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingTasks:
    """What the trainer sees, and by task id what the server needs.

    Args:
        records: `prompt` and `task_id` of each task, the columns of the data set.
        templates: requests without a completion.
        references: reference solutions.
    """

    records: list[dict[str, Any]]
    templates: Mapping[str, pb.ScoreRequest]
    references: Mapping[str, str]


def load_tasks(
    section: DataSection, *, chat: bool, count_tokens: Callable[[Prompt], int]
) -> TrainingTasks:
    """Reads the data file.

    Args:
        section: which file, and which of its tasks.
        chat: whether prompts are chat messages.
        count_tokens: how long a prompt is for the model.

    Raises:
        ConfigError: the file cannot be read, or nothing of it is left.
        TaskError: a row is wrong.
    """
    rows = _selected(section, read_rows(section.path))
    templates = tasks.templates(section.kind, rows)
    records = [
        {"prompt": _prompt(section.kind, row, chat=chat), "task_id": str(row["task_id"])}
        for row in rows
    ]
    most = section.max_prompt_tokens
    kept = [record for record in records if most is None or count_tokens(record["prompt"]) <= most]
    if not kept:
        raise ConfigError(f"data: no task of {section.path} is left to train on")
    field = _REFERENCES[section.kind]
    references = {str(row["task_id"]): str(row.get(field, "")) for row in rows}
    return TrainingTasks(records=kept, templates=templates, references=references)


def read_rows(file: Path) -> list[tasks.Row]:
    """Reads the rows of a JSON or JSON Lines file, which may be compressed with gzip.

    Raises:
        ConfigError: it is neither.
    """
    try:
        data = file.read_bytes()
        text = (gzip.decompress(data) if file.suffix == ".gz" else data).decode()
        if text.lstrip().startswith("["):
            rows: list[tasks.Row] = json.loads(text)
        else:
            rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise ConfigError(f"data.path: {file} is neither JSON nor JSON Lines: {error}") from error
    if not all(isinstance(row, dict) for row in rows):
        raise ConfigError(f"data.path: {file} holds something else than objects")
    return rows


def _selected(section: DataSection, rows: Iterable[tasks.Row]) -> list[tasks.Row]:
    known = {str(row.get("task_id")): row for row in rows}
    missing = [wanted for wanted in section.ids if wanted not in known]
    if missing:
        raise ConfigError(f"data.ids: {section.path} has no task {', '.join(missing)}")
    chosen = [known[wanted] for wanted in section.ids] if section.ids else list(known.values())
    return chosen[: section.limit]


def _prompt(kind: str, row: tasks.Row, *, chat: bool) -> Prompt:
    if not chat:
        return _BARE[kind](row)
    return [{"role": "user", "content": _QUESTIONS[kind](row)}]
