"""Tasks for training: prompts for the model, and separate tests for the server."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from codereward.v1 import reward_service_pb2 as pb
from trainer_client import tasks
from trainer_client.errors import ConfigError, TaskError
from trainer_client.trl.settings.sections import REQUESTS, DataSection, HeldOutSection
from trainer_client.trl.tasks.prompts import Prompt, prompt_of, reference_of
from trainer_client.trl.tasks.sources import rows_of


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingTasks:
    """Prompts for the trainer, and requests for the server by task id.

    Args:
        records: one row for each task to train on, with the columns `prompt` and `task_id`.
        held_out: the same of each task to evaluate on.
        templates: requests without a completion, of both.
    """

    records: list[dict[str, Any]]
    held_out: list[dict[str, Any]]
    templates: Mapping[str, pb.ScoreRequest]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSource:
    """The content of a data set, independent of the model.

    Args:
        known: all its rows, by task id.
        rows: the chosen rows.
        templates: requests without a completion, of the chosen rows.
        references: reference solutions of the chosen rows; "" if a row has none.
        unreadable: why rows cannot be read and are left out, each in one line.
    """

    known: Mapping[str, tasks.Row]
    rows: Mapping[str, tasks.Row]
    templates: Mapping[str, pb.ScoreRequest]
    references: Mapping[str, str]
    unreadable: Sequence[str] = ()


def read_tasks(section: DataSection) -> TaskSource:
    """Reads the tasks of a data set.

    Raises:
        ConfigError: the data cannot be read, lacks a task of `section.ids`, or holds no tasks.
        TaskError: a row is wrong.
    """
    errors: list[TaskError] = []
    known = _by_id(section, rows_of(section), errors)
    rows = _selected(section, known)
    templates = _templates(section, rows, errors)
    if errors and section.unreadable_rows == "stop":
        raise errors[0]
    if not templates:
        raise ConfigError(f"data: {section.source} holds no tasks")
    rows = {key: rows[key] for key in templates}
    return TaskSource(
        known=known,
        rows=rows,
        templates=templates,
        references={key: reference_of(section, row) for key, row in rows.items()},
        unreadable=[str(error) for error in errors],
    )


def told_unreadable(source: TaskSource) -> str:
    """Returns a sentence about the rows that are left out; "" if there are none."""
    if not source.unreadable:
        return ""
    count, first = len(source.unreadable), source.unreadable[0]
    return f"data: {count} rows cannot be read and are left out; the first: {first}"


def training_tasks(
    section: DataSection,
    source: TaskSource,
    *,
    chat: bool,
    count_tokens: Callable[[Prompt], int],
    left_out: Collection[str] = (),
) -> TrainingTasks:
    """Makes prompts of the tasks, and holds some out.

    Args:
        section: determines which tasks are chosen and held out.
        source: the content of the data set.
        chat: whether prompts are chat messages.
        count_tokens: returns the length of a prompt for the model.
        left_out: ids of tasks that are neither trained on nor evaluated.

    Raises:
        ConfigError: a row has no prompt, or no task is left.
    """
    if section.examples and not chat:
        raise ConfigError("data.examples: are turns of a chat, and prompts are plain text here")
    records = [
        {"prompt": prompt_of(section, row, chat=chat), "task_id": key}
        for key, row in source.rows.items()
        if key not in left_out
    ]
    most = section.max_prompt_tokens
    kept = [record for record in records if most is None or count_tokens(record["prompt"]) <= most]
    chosen = _held_out(section.held_out, source.known, kept)
    training = [record for record in kept if record["task_id"] not in chosen]
    if not training:
        raise ConfigError(f"data: no task of {section.source} is left to train on")
    held_out = [record for record in kept if record["task_id"] in chosen]
    if chosen and not held_out:
        raise ConfigError(
            "data.held_out.ids: none is left, as prompts are longer than data.max_prompt_tokens "
            "or reference solutions fail"
        )
    return TrainingTasks(records=training, held_out=held_out, templates=source.templates)


def _by_id(
    section: DataSection, rows: Sequence[tasks.Row], errors: list[TaskError]
) -> dict[str, tasks.Row]:
    field = tasks.ID_FIELDS.get(section.kind, "task_id")
    known: dict[str, tasks.Row] = {}
    for number, given in enumerate(rows):
        try:
            row = tasks.renamed(given, section.columns)
        except TaskError as error:
            at = f"number {number}"
            errors.append(TaskError(error.task, error.field, error.problem, row=at))
            continue
        key = tasks.row_id(row, field, number)
        if not key or key in known:
            problem = f"{key!r} is another row's" if key else "is absent"
            raise ConfigError(f"data: {section.source}: {field}: {problem}")
        known[key] = row
    return known


def _selected(section: DataSection, known: Mapping[str, tasks.Row]) -> dict[str, tasks.Row]:
    missing = [wanted for wanted in section.ids if wanted not in known]
    if missing:
        raise ConfigError(f"data.ids: {section.source} has no task {', '.join(missing)}")
    keys = list(section.ids or known)[: section.limit]
    if section.held_out is not None:
        keys += [key for key in section.held_out.ids if key in known and key not in keys]
    return {key: known[key] for key in keys}


def _held_out(
    section: HeldOutSection | None,
    known: Mapping[str, tasks.Row],
    records: Sequence[Mapping[str, Any]],
) -> frozenset[str]:
    """Chooses the tasks that are never trained on; the choice depends on the seed alone."""
    if section is None:
        return frozenset()
    missing = [key for key in section.ids if key not in known]
    if missing:
        raise ConfigError(f"data.held_out.ids: there is no task {', '.join(missing)}")
    if section.ids:
        return frozenset(section.ids)
    keys = sorted(record["task_id"] for record in records)
    count = section.tasks if section.tasks is not None else round(len(keys) * (section.share or 0))
    if not 0 < count < len(keys):
        raise ConfigError(f"data.held_out: holds {count} of {len(keys)} tasks out")
    return frozenset(random.Random(section.seed).sample(keys, count))


def _templates(
    section: DataSection, rows: Mapping[str, tasks.Row], errors: list[TaskError]
) -> Mapping[str, pb.ScoreRequest]:
    if section.kind == REQUESTS:
        return {key: _request(key, row) for key, row in rows.items()}
    make = tasks.named(section.kind)
    found = {}
    for key, row in rows.items():
        try:
            found[key] = make(row)
        except TaskError as error:
            errors.append(TaskError(error.task, error.field, error.problem, row=key))
    return found


def _request(key: str, row: tasks.Row) -> pb.ScoreRequest:
    value = row.get("request")
    if not isinstance(value, Mapping | str | bytes):
        raise ConfigError(f"data: task {key}: request: is absent, or neither an object nor text")
    try:
        return tasks.from_json(value)
    except TaskError as error:
        raise ConfigError(f"data: task {key}: request: {error.field}: {error.problem}") from error
