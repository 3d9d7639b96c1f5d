"""How much of a large table a run takes: a sample, or all of it under REWARD_SERVER_TEST_ALL=1."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

TAKES_ALL = bool(os.environ.get("REWARD_SERVER_TEST_ALL"))
Row = TypeVar("Row")


def sampled(rows: Sequence[Row], step: int) -> list[Row]:
    """Takes every so-manieth row, the first among them; all where all are asked for."""
    return list(rows if TAKES_ALL else rows[::step])


def times(whole: int, by_default: int) -> int:
    """Returns how often a test tries what is left to chance."""
    return whole if TAKES_ALL else min(whole, by_default)
