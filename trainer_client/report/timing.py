"""The parts of a step's time: waiting for rewards, or generating and training.

TRL's `step_time` includes both; `wait_seconds` is the wall time of a call of the reward function. A
step that trains on older completions makes no call and does not wait.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from trainer_client.report.runs import Run, number
from trainer_client.report.series import Pool, Series, made, pool

Line = Mapping[str, Any]


def step_seconds(run: Run) -> Series:
    """Returns the mean wall time of an optimizer step."""
    return made(((line["step"], number(line["step_time"])) for line in _timed(run)), run.label)


def wait_seconds(run: Run) -> Series:
    """Returns the mean time that an optimizer step waited for rewards."""
    key = f"{run.info.reward}/wait_seconds"
    rate = calls_a_step(run)
    before = 0
    points: list[tuple[float, float | None]] = []
    for line in _timed(run):
        # A line of the log for one step shows whether the step made a call; a line for several
        # steps shows a mean.
        calls = max(rate, 1.0) if line["step"] - before <= 1 else rate
        points.append((line["step"], (number(line.get(key)) or 0.0) * calls))
        before = line["step"]
    return made(points, run.label)


def time_pools(runs: Sequence[Run]) -> tuple[Pool, Pool] | None:
    """Pools step and wait times; returns None if a run lacks one, or shares no step with others."""
    for run in runs:
        key = f"{run.info.reward}/wait_seconds"
        if not _timed(run) or not any(key in line for line in run.metrics):
            return None
    steps = pool([step_seconds(run) for run in runs])
    return (steps, pool([wait_seconds(run) for run in runs])) if len(steps.mean.steps) else None


def wait_share(runs: Sequence[Run]) -> float | None:
    """Returns the share of all steps' time that was spent waiting for rewards."""
    found = time_pools(runs)
    if found is None:
        return None
    steps, waits = ([float(np.nansum(one.values)) for one in pooled.runs] for pooled in found)
    return sum(waits) / sum(steps) if sum(steps) else None


def calls_a_step(run: Run) -> float:
    """Returns the calls of the reward function in an optimizer step, by TRL's settings.

    TRL generates once for `steps_per_generation` batches, and uses each `num_iterations` times.
    """
    training = run.info.settings.get("training")
    given = training if isinstance(training, Mapping) else {}
    accumulated = number(given.get("gradient_accumulation_steps")) or 1.0
    told = run.info.steps_per_generation or number(given.get("steps_per_generation"))
    batches = told or accumulated
    return accumulated / (batches * (number(given.get("num_iterations")) or 1.0))


def _timed(run: Run) -> list[Line]:
    return [line for line in run.metrics if number(line.get("step_time")) is not None]
