"""How much of a large table a run takes: a sample, or all of it under REWARD_SERVER_TEST_ALL=1."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TypeVar

import pytest

TAKES_ALL = bool(os.environ.get("REWARD_SERVER_TEST_ALL"))
Row = TypeVar("Row")


def sampled(rows: Sequence[Row], step: int) -> list[Row]:
    """Takes every so-manieth row, the first among them; all where all are asked for."""
    return list(rows if TAKES_ALL else rows[::step])


def each_row(table: Mapping[str, object], step: int = 1) -> pytest.MarkDecorator:
    """Gives a test every so-manieth row of a table as `row`, or all where all are asked for."""
    names = sampled(list(table), step)
    return pytest.mark.parametrize("row", [table[name] for name in names], ids=names)


def times(whole: int, by_default: int) -> int:
    """Returns how often a test tries what is left to chance."""
    return whole if TAKES_ALL else min(whole, by_default)
