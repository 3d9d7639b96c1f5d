"""The share of tasks that the model solves, with confidence intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from trainer_client.grpo import mean_pass_at_k, pass_at_k
from trainer_client.report.runs import Run
from trainer_client.report.series import Series, made
from trainer_client.run_folder import HELD_OUT, Evaluation

_RESAMPLES = 2000
_LEVEL = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean over tasks with its interval of 95 %."""

    value: float
    low: float
    high: float


def task_rates(evaluation: Evaluation, k: int = 1) -> dict[str, float]:
    """Returns pass@k by task, without tasks that have too few judged samples."""
    found = {
        name: pass_at_k(tally.samples, tally.passed, k) for name, tally in evaluation.tasks.items()
    }
    return {name: rate for name, rate in found.items() if rate is not None}


def mean_rate(evaluation: Evaluation, k: int = 1) -> float | None:
    """Returns the mean of pass@k over tasks, or None if no task has enough judged samples."""
    return mean_pass_at_k(((task.samples, task.passed) for task in evaluation.tasks.values()), k)


def estimate(values: Sequence[float]) -> Estimate | None:
    """Returns the mean of one value for each task, with a percentile bootstrap over the tasks.

    The bootstrap draws tasks and not samples: the samples of a task are alike, and the interval
    should hold for other tasks. Returns None if there are no values.
    """
    if not values:
        return None
    table = np.array(values)
    drawn = np.random.default_rng(0).integers(len(table), size=(_RESAMPLES, len(table)))
    tail = 50 * (1 - _LEVEL)
    low, high = np.percentile(table[drawn].mean(axis=1), [tail, 100 - tail])
    return Estimate(value=float(table.mean()), low=float(low), high=float(high))


def seed_means(evaluations: Sequence[Evaluation]) -> dict[str, float]:
    """Returns pass@1 by task, as a mean over the runs, for tasks that every run has."""
    found = [task_rates(evaluation) for evaluation in evaluations]
    common = set(found[0]).intersection(*found[1:]) if found else set()
    return {name: sum(rates[name] for rates in found) / len(found) for name in sorted(common)}


def difference(before: Mapping[str, float], after: Mapping[str, float]) -> Estimate | None:
    """Returns the mean gain over the common tasks; each task is compared with itself."""
    return estimate([after[name] - before[name] for name in sorted(before) if name in after])


def main_split(runs: Sequence[Run]) -> str | None:
    """Returns the main split of a report: the held-out one, else the first one of all runs."""
    splits = [{found.split for found in run.evaluations} for run in runs]
    common = set.intersection(*splits)
    return HELD_OUT if HELD_OUT in common else min(common, default=None)


def evaluations_of(run: Run, split: str) -> list[Evaluation]:
    """Returns the evaluations of a split by step, if they have the temperature of the last one."""
    found = [one for one in run.evaluations if one.split == split]
    return [one for one in found if one.temperature == found[-1].temperature]


def largest_k(runs: Sequence[Run], split: str) -> int:
    """Returns the largest power of two for which a task has samples, if all were judged."""
    drawn = [
        tally.samples + tally.unjudged
        for run in runs
        for evaluation in evaluations_of(run, split)
        for tally in evaluation.tasks.values()
    ]
    return 1 << (max(min(drawn, default=1), 1).bit_length() - 1)


def rates_over_steps(run: Run, split: str, k: int) -> Series:
    """Returns pass@k over steps, with a gap where too few samples were judged."""
    found = evaluations_of(run, split)
    return made(((one.step, mean_rate(one, k)) for one in found), run.label)
