"""Logged values over steps.

A step at which a value was logged as null, such as the reward if nothing was judged, is NaN and a
gap. A step at which it was not logged at all, such as one that trains on older completions, is not
part of the series.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trainer_client.report.runs import Run, number

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Series:
    """Values over steps.

    Args:
        steps: strictly increasing, shape (n,).
        values: shape (n,); NaN if there is none.
        label: name of the run.
    """

    steps: Floats
    values: Floats
    label: str = ""

    @property
    def has_values(self) -> bool:
        """Returns True if there is any value."""
        return bool(np.isfinite(self.values).any())

    @property
    def gaps(self) -> list[tuple[float, float]]:
        """The ranges without a value: first and last step of each."""
        found: list[tuple[float, float]] = []
        inside = False
        for step, value in zip(self.steps, self.values, strict=True):
            if np.isnan(value):
                found[-1:] = [(found[-1][0], step)] if inside else [*found[-1:], (step, step)]
            inside = bool(np.isnan(value))
        return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pool:
    """The same series of several runs.

    Args:
        mean: mean over the runs, at the steps that all of them logged. It is NaN if one run has no
            value, because a mean over fewer runs would jump for no other reason.
        spread: sample standard deviation over the runs, shape of `mean`; NaN for a single run.
        runs: the series of each run.
    """

    mean: Series
    spread: Floats
    runs: tuple[Series, ...]

    @property
    def is_single(self) -> bool:
        """Returns True if there is only one run."""
        return len(self.runs) == 1


def made(points: Iterable[tuple[float, float | None]], label: str = "") -> Series:
    """Makes a series from points; None is a gap."""
    rows = [(step, np.nan if value is None else value) for step, value in points]
    table = np.array(rows, dtype=np.float64).reshape(-1, 2)
    return Series(steps=table[:, 0], values=table[:, 1], label=label)


def logged(run: Run, key: str) -> Series:
    """Returns a metric of a run; empty if it was never logged."""
    points = ((line["step"], number(line[key])) for line in run.metrics if key in line)
    return made(points, run.label)


def logged_of_judged(run: Run, key: str) -> Series:
    """Returns a metric about judged completions; steps at which nothing was judged are gaps.

    At such steps it is not logged, or has no meaning, such as the variance of no rewards.
    """
    points: list[tuple[float, float | None]] = []
    for line in run.metrics:
        nothing_judged = "reward" in line and line["reward"] is None
        if key in line or nothing_judged:
            points.append((line["step"], None if nothing_judged else number(line.get(key))))
    return made(points, run.label)


def pool(runs: Sequence[Series]) -> Pool:
    """Combines the same series of several runs."""
    steps = runs[0].steps
    for other in runs[1:]:
        steps = np.intersect1d(steps, other.steps)
    table = np.array([one.values[np.isin(one.steps, steps)] for one in runs])
    spread = table.std(axis=0, ddof=1) if len(runs) > 1 else np.full(len(steps), np.nan)
    return Pool(
        mean=Series(steps=steps, values=table.mean(axis=0)), spread=spread, runs=tuple(runs)
    )


def pooled(runs: Sequence[Run], key: str, *, of_judged: bool = False) -> Pool | None:
    """Pools a metric over runs; returns None if no run ever logged a value."""
    take = logged_of_judged if of_judged else logged
    found = [take(run, key) for run in runs]
    return pool(found) if any(one.has_values for one in found) else None


def smoothed(series: Series, window: int) -> Series:
    """Returns the mean of the values around each, without gaps; a gap remains a gap.

    Args:
        series: the values, which may have gaps.
        window: greatest number of values in a mean, centred; the ends have fewer.
    """
    if not len(series.values):
        return series
    known = np.isfinite(series.values)
    kernel = np.ones(min(window, len(series.values)))
    total = np.convolve(np.where(known, series.values, 0.0), kernel, "same")
    count = np.convolve(known.astype(np.float64), kernel, "same")
    values = np.divide(total, count, out=np.full(len(total), np.nan), where=known)
    return Series(steps=series.steps, values=values, label=series.label)


def told(series: Series, *, percent: bool = False) -> str:
    """Describes a series in words, for readers who do not see its figure."""
    known = np.isfinite(series.values)
    if not known.any():
        return "no values"
    steps, values = series.steps[known], series.values[known]
    low, high = int(values.argmin()), int(values.argmax())

    def text(index: int) -> str:
        return f"{values[index]:.1%}" if percent else f"{values[index]:.3g}"

    words = (
        f"{text(0)} at step {steps[0]:.0f}, {text(-1)} at step {steps[-1]:.0f}, "
        f"lowest {text(low)} at step {steps[low]:.0f}, "
        f"highest {text(high)} at step {steps[high]:.0f}"
    )
    missing = len(known) - int(known.sum())
    return words + (f"; no value at {missing} of {len(known)} steps" if missing else "")
