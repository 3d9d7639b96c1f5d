"""Writes completions as text, and histograms of rewards, for TensorBoard.

TensorBoard reads text as Markdown. Every line of a completion is indented, so that it is code and
nothing in it has a meaning.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from trainer_client.text import message_text, role_of, well_formed

MOST_COMPLETIONS = 8
LONGEST = 4000


class Writer(Protocol):
    """The methods of torch's `SummaryWriter` that are used."""

    def add_text(self, tag: str, text_string: str, global_step: int) -> None:
        """Writes a text."""

    def add_histogram(self, tag: str, values: Any, global_step: int) -> None:
        """Writes a histogram of an array."""


def write_samples(writer: Writer, step: int, table: Mapping[str, Any], size: int) -> None:
    """Writes the first group of a step as texts, and histograms of all rewards and advantages.

    Args:
        writer: where to write.
        step: the optimizer step.
        table: the columns of TRL's table of completions: `prompt`, `completion`, `advantages`, and
            `rewards` and `extra` by name.
        size: number of completions in a group.
    """
    columns = {**table["rewards"], "advantage": table["advantages"], **table["extra"]}
    completions = list(table["completion"])
    facts = {name: list(values) for name, values in columns.items()}
    for place in range(min(size, len(completions), MOST_COMPLETIONS)):
        told = [f"{name}: {values[place]}" for name, values in facts.items()]
        parts = [_text(table["prompt"][place]), *told, _text(completions[place])]
        writer.add_text(f"completions/{place + 1}", as_code("\n\n".join(parts)), step)
    for name, values in {**table["rewards"], "advantage": table["advantages"]}.items():
        _add_histogram(writer, f"histograms/{name}", values, step)


def as_code(text: str) -> str:
    """Returns Markdown that shows a text as code, letter by letter."""
    return "\n".join(f"    {line}" for line in well_formed(text).splitlines())


def _add_histogram(writer: Writer, tag: str, values: Iterable[float | None], step: int) -> None:
    """Writes the values that there are; a completion that was not judged has none."""
    import numpy as np

    known = [value for value in values if value is not None and math.isfinite(value)]
    if known:
        writer.add_histogram(tag, np.array(known), step)


def _text(value: object) -> str:
    """Returns a text or messages for people, up to the greatest length shown."""
    return _whole_text(value)[:LONGEST]


def _whole_text(value: object) -> str:
    if isinstance(value, str):
        return value
    if not isinstance(value, Sequence):
        return str(value)
    messages = [one if isinstance(one, Mapping) else {"content": one} for one in value]
    return "\n\n".join(f"{role_of(one)}:\n{message_text(one)}" for one in messages)
