"""Converts columns from a trainer to rows, and reads the references in them."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, TypeVar, cast

from trainer_client.errors import TaskError
from trainer_client.text import completion_text, well_formed

REFERENCE_COLUMNS = ("references", "reference", "answer")
_Reward = TypeVar("_Reward", bound=Callable[..., list[float | None]])


def apart_from_columns(reward: _Reward) -> _Reward:
    """Prevents a data set's columns from setting a reward function's options of the same name.

    Trainers pass every column as a keyword. For example, the column `target` of a data set would
    set the option `target` of `length_reward`. Such a column is left out, and the option keeps its
    default.
    """
    kinds = inspect.signature(reward).parameters.items()
    options = {name for name, one in kinds if one.kind is inspect.Parameter.KEYWORD_ONLY}

    @functools.wraps(reward)
    def apart(
        prompts: Sequence[Any], completions: Sequence[Any], **given: Any
    ) -> list[float | None]:
        columns = {name for name in options & given.keys() if _is_column(given[name], prompts)}
        kept = {name: value for name, value in given.items() if name not in columns}
        return reward(prompts, completions, **kept)

    return cast("_Reward", apart)


def rows_of(prompts: Sequence[Any], columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Converts columns to rows; a prompt that is text is added as `prompt`."""
    # Besides columns, TRL passes its own objects, such as the trainer's state.
    found = {name: values for name, values in columns.items() if _is_column(values, prompts)}
    return [_row(index, prompt, found) for index, prompt in enumerate(prompts)]


def _is_column(values: Any, prompts: Sequence[Any]) -> bool:
    return isinstance(values, list) and len(values) == len(prompts)


def _row(index: int, prompt: Any, columns: Mapping[str, list[Any]]) -> dict[str, Any]:
    row = {name: values[index] for name, values in columns.items()}
    if isinstance(prompt, str):
        row.setdefault("prompt", prompt)
    return row


def texts_of(completions: Sequence[Any]) -> list[str]:
    """Returns the text of each completion, see `text.completion_text`; "" if it has none."""
    return [completion_text(completion) for completion in completions]


def references_of(reward: str, row: Mapping[str, Any]) -> list[str] | None:
    """Returns the references of a row, any of which is correct, or None if it has none.

    The first of the columns `references`, `reference` and `answer` that is not empty counts. It
    holds a text, a number, or a list of these.

    Raises:
        TaskError: the data set has none of the columns, or a reference is of another type.
    """
    demand_references(reward, row)
    for name in REFERENCE_COLUMNS:
        if found := _texts(reward, name, row.get(name)):
            return found
    return None


def demand_references(reward: str, columns: Mapping[str, Any]) -> None:
    """Checks that a data set has references.

    Raises:
        TaskError: the data set has none of the columns.
    """
    if not any(name in columns for name in REFERENCE_COLUMNS):
        raise TaskError(reward, "answer", "is absent, and so are `reference` and `references`")


def _texts(reward: str, column: str, value: Any) -> list[str]:
    values = value if isinstance(value, list | tuple) else [value]
    found = [_text(reward, column, one) for one in values if not _is_missing(one)]
    return [text for text in found if text]


def _is_missing(value: Any) -> bool:
    # A column of numbers holds NaN in a row that has none.
    return value is None or (isinstance(value, float) and math.isnan(value))


def _text(reward: str, column: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise TaskError(reward, column, f"must be text or a number, not {type(value).__name__}")
    if isinstance(value, float) and math.isfinite(value):
        # Avoids an exponent such as 1e-07, which neither people nor mathematics write.
        return f"{Decimal(repr(float(value))):f}"
    return well_formed(str(value)).strip()
