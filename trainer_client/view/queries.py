"""Chooses completions for a list: filters, a search for text, and an order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainer_client.view.index import Row

PAGE = 25
_MOST_NAMES = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a reader wants to see; "" wants all.

    Args:
        text: a part of the prompt, the completion or the messages, in any case.
        task: a part of the task's id.
        signal: a kind of signal of reward hacking, or "any".
    """

    text: str = ""
    step: str = ""
    verdict: str = ""
    task: str = ""
    signal: str = ""
    order: str = "newest"


# Missing values come last in every order; equal ones keep the order of the index.
_ORDERS: Mapping[str, Callable[[Row], Any]] = {
    "oldest": lambda row: (row.step, row.run, row.place),
    "best": lambda row: (row.reward is None, -(row.reward or 0.0)),
    "worst": lambda row: (row.reward is None, row.reward or 0.0),
    "advantage": lambda row: (row.advantage is None, -abs(row.advantage or 0.0)),
    "longest": lambda row: -row.length,
}


def matching(rows: Sequence[Row], wanted: Wanted) -> list[Row]:
    """Returns the rows that are wanted, in the wanted order."""
    found = list(_filtered(rows, wanted))
    if wanted.order in _ORDERS:
        found.sort(key=_ORDERS[wanted.order])
    return found


def _filtered(rows: Iterable[Row], wanted: Wanted) -> Iterable[Row]:
    if wanted.step:
        rows = (row for row in rows if str(row.step) == wanted.step)
    if wanted.verdict:
        rows = (row for row in rows if row.verdict == wanted.verdict)
    if wanted.task:
        part = wanted.task.lower()
        rows = (row for row in rows if part in row.task.lower())
    if wanted.signal == "any":
        rows = (row for row in rows if row.signals)
    elif wanted.signal:
        rows = (row for row in rows if wanted.signal in row.signals)
    return _with_text(rows, wanted.text.lower()) if wanted.text else rows


def _with_text(rows: Iterable[Row], text: str) -> Iterable[Row]:
    # Rows of a group share their prompt, which is searched once.
    prompt, is_in_prompt = None, False
    for row in rows:
        if row.text is None or row.prompt is None:
            continue
        if row.prompt is not prompt:
            prompt, is_in_prompt = row.prompt, text in row.prompt
        if is_in_prompt or text in row.text:
            yield row


def names_of(rows: Sequence[Row]) -> dict[str, list[tuple[str, int]]]:
    """Returns the verdicts, signals and most frequent tasks of rows, each with its count."""
    verdicts = Counter(row.verdict for row in rows if row.verdict)
    tasks = Counter(row.task for row in rows if row.task)
    signals = Counter(kind for row in rows for kind in row.signals)
    return {
        "verdicts": sorted(verdicts.items()),
        "signals": sorted(signals.items()),
        "tasks": sorted(tasks.most_common(_MOST_NAMES)),
    }
