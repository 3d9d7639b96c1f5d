"""Sets the numbers and the settings of runs beside each other."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from trainer_client.report.headline import Number, headline
from trainer_client.report.passing import difference, evaluations_of, main_split, task_rates
from trainer_client.report.runs import Run, differing_settings, one_experiment

_NAMES = ("model", "data", "reward", "num_generations", "seed")


def modes_of(runs: Sequence[Run]) -> list[str]:
    """Returns the ways to show runs, "together" or "compared", the one that suits them first."""
    if len(runs) < 2:
        return ["together"]
    if not one_experiment([run.info for run in runs]):
        return ["compared"]
    return ["compared", "together"] if differing_settings(runs) else ["together", "compared"]


def is_compared_by(runs: Sequence[Run], mode: str) -> bool:
    """Returns True if runs are compared: if the mode says so, or nothing else is possible."""
    modes = modes_of(runs)
    return (mode if mode in modes else modes[0]) == "compared"


def compared_numbers(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Returns each number of the runs' headlines, and the gain of each run over the first.

    A run that lacks a number has None in its place.
    """
    each = [{number.name: number for number in headline([run])} for run in runs]
    names = dict.fromkeys(name for numbers in each for name in numbers)
    rows = [_row(name, [numbers.get(name) for numbers in each]) for name in names]
    split = main_split(runs)
    if split is not None and len(runs) > 1:
        gains = [None, *(_gain(runs[0], run, split) for run in runs[1:])]
        rows.insert(1, _row(f"pass@1, {split}, against {runs[0].label}", gains))
    return rows


def compared_settings(runs: Sequence[Run]) -> dict[str, list[str]]:
    """Returns what the runs were started with, where they differ: each run's value, in order."""
    infos = [dataclasses.asdict(run.info) for run in runs]
    told = {name: [str(info[name]) for info in infos] for name in _NAMES}
    return {
        name: values
        for name, values in (told | differing_settings(runs)).items()
        if len(set(values)) > 1
    }


def _row(name: str, numbers: Sequence[Number | None]) -> dict[str, Any]:
    cells = [None if one is None else {"value": one.value, "note": one.note} for one in numbers]
    return {"name": name, "cells": cells}


def _gain(first: Run, other: Run, split: str) -> Number | None:
    """Compares the last evaluations on the tasks that both runs judged, each with itself."""
    before, after = (task_rates(evaluations_of(run, split)[-1]) for run in (first, other))
    found = difference(before, after)
    if found is None:
        return None
    low, high = 100 * found.low, 100 * found.high
    tasks = len(before.keys() & after.keys())
    note = f"95 % interval {low:+.1f} to {high:+.1f}, over {tasks} common tasks"
    return Number(name="", value=f"{100 * found.value:+.1f} points", note=note)
