"""Rows out of what a trainer hands over, and the references that they hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trainer_client.errors import TaskError
from trainer_client.text import completion_text, well_formed

REFERENCE_COLUMNS = ("references", "reference", "answer")


def rows_of(prompts: Sequence[Any], columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Turns columns into rows; a prompt that is text is added as `prompt`."""
    # Beside columns TRL hands over its own things, such as the trainer's state.
    found = {
        name: values
        for name, values in columns.items()
        if isinstance(values, list) and len(values) == len(prompts)
    }
    return [_row(index, prompt, found) for index, prompt in enumerate(prompts)]


def _row(index: int, prompt: Any, columns: Mapping[str, list[Any]]) -> dict[str, Any]:
    row = {name: values[index] for name, values in columns.items()}
    if isinstance(prompt, str):
        row.setdefault("prompt", prompt)
    return row


def texts_of(completions: Sequence[Any]) -> list[str]:
    """Takes the text out of each completion, as `text.completion_text`; "" where it has none."""
    return [completion_text(completion) for completion in completions]


def references_of(reward: str, row: Mapping[str, Any]) -> list[str] | None:
    """Gives the references of a row, any of which is right; None where it has none.

    The first of the columns `references`, `reference` and `answer` that holds something counts: a
    text, a number, or a list of these.

    Raises:
        TaskError: the data set has none of the columns, or a reference is of another type.
    """
    present = [name for name in REFERENCE_COLUMNS if name in row]
    if not present:
        raise TaskError(reward, "answer", "is absent, and so are `reference` and `references`")
    for name in present:
        if found := _texts(reward, name, row[name]):
            return found
    return None


def _texts(reward: str, column: str, value: Any) -> list[str]:
    values = value if isinstance(value, list | tuple) else [value]
    found = [_text(reward, column, one) for one in values if one is not None]
    return [text for text in found if text]


def _text(reward: str, column: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise TaskError(reward, column, f"must be text or a number, not {type(value).__name__}")
    return well_formed(str(value)).strip()
