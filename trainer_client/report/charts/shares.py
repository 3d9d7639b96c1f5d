"""Figures of shares: of the verdicts, of groups, and of time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from trainer_client.report.charts.drawing import (
    BLUE,
    BROWN,
    CYCLE,
    GREEN,
    NOT_JUDGED,
    ORANGE,
    PURPLE,
    SKY,
    VERDICT_COLOURS,
    Chart,
    areas,
    finish,
    label_of,
    mark_events,
    pool_lines,
    sheet,
)
from trainer_client.report.runs import Run, all_events, number
from trainer_client.report.series import Floats, Pool, Series, made, pool, pooled, told
from trainer_client.report.timing import time_pools, wait_share

_INTEGRITY_COLOURS: Mapping[str, str] = {
    "ISOLATED": GREEN,
    "SHARED_TWINS": SKY,
    "SHARED": ORANGE,
    "UNSPECIFIED": BROWN,
}


def verdict_figure(runs: Sequence[Run]) -> Chart | None:
    """Draws the shares of the verdicts; completions without a verdict are hatched."""
    found = _shares(runs, "verdict")
    if found is None:
        return None
    steps, rows = found
    figure, (axes,) = sheet([2.9])
    spare = iter(CYCLE)
    colours = [VERDICT_COLOURS.get(name) or next(spare) for name in rows]
    areas(axes, steps, {label_of(name): row for name, row in rows.items()}, colours)
    mark_events(axes, all_events(runs))
    axes.set_ylabel("share of completions")
    finish(figure, [axes])
    words = (f"{name} {row.mean():.1%}" for name, row in rows.items())
    return Chart(
        name="verdicts",
        title="Verdicts",
        caption="Shares of the completions of each step. What the server could not judge is "
        "hatched: it has no verdict and no reward.",
        alt=f"Shares of all completions: {', '.join(words)}.",
        figure=figure,
        points=2 * len(steps) * len(rows),
    )


def time_figure(runs: Sequence[Run]) -> Chart | None:
    """Draws the parts of a step's time, and the parts of a completion's own time."""
    found = time_pools(runs)
    if found is None:
        return None
    steps, waits = found
    reward = runs[0].info.reward
    queue, grade = (
        pooled(runs, f"{reward}/{key}", of_judged=True)
        for key in ("queue_seconds", "grade_seconds")
    )
    times = (queue, grade)
    figure, panels = sheet([2.0, 1.3] if any(times) else [2.0])
    waited = np.minimum(waits.mean.values, steps.mean.values)
    rest = np.nan_to_num(steps.mean.values - waited)
    rows = {"generation and training": rest, "waiting for rewards": np.nan_to_num(waited)}
    areas(panels[0], steps.mean.steps, rows, [SKY, ORANGE])
    panels[0].set_ylabel("seconds a step")
    for values, label, colour in zip(times, ("queue", "grade"), (PURPLE, BLUE), strict=True):
        if values is not None:
            pool_lines(panels[1], values, colour, label, smooth=True)
            panels[1].set_ylabel("mean seconds\na completion")
    finish(figure, panels)
    share = wait_share(runs)
    return Chart(
        name="time",
        title="Time of a step",
        caption="Waiting is the wall time of the reward call; queue and grade are means over "
        "judged completions, of which many wait and run at once.",
        alt=f"Waiting for rewards took {share or 0:.1%} of the time of all steps. "
        f"Seconds a step: {told(steps.mean)}.",
        figure=figure,
        points=4 * len(steps.mean.steps),
    )


def hacking_figure(runs: Sequence[Run]) -> Chart | None:
    """Draws signals of reward hacking, and the integrity of the verdicts."""
    reward = runs[0].info.reward
    signals = _signals(runs)
    integrity = _shares(runs, "integrity")
    if not signals and integrity is None:
        return None
    figure, panels = sheet([1.6] * (bool(signals) + (integrity is not None)))
    for (kind, values), colour in zip(signals.items(), CYCLE * 9, strict=False):
        pool_lines(panels[0], values, colour, label_of(kind), smooth=True)
        panels[0].set_ylabel("signals a completion")
    if integrity is not None:
        steps, rows = integrity
        spare = iter(CYCLE)
        colours = [_INTEGRITY_COLOURS.get(name) or next(spare) for name in rows]
        areas(panels[-1], steps, {label_of(name): row for name, row in rows.items()}, colours)
        panels[-1].set_ylabel("share of completions")
    finish(figure, panels)
    words = [f"{kind} a completion: {told(values.mean)}" for kind, values in signals.items()]
    if integrity is not None:
        words += [f"{name} {row.mean():.1%}" for name, row in integrity[1].items()]
    return Chart(
        name="hacking",
        title="Signals of reward hacking, integrity",
        caption="A signal is counted evidence that a completion tried something, caught or not. "
        "Integrity tells who stood between a completion and its verdict: ISOLATED, a judge apart; "
        "SHARED, tests in its process, whose verdict it could have written. Rewards do not depend "
        "on it.",
        alt=f"{reward}: {'; '.join(words)}.",
        figure=figure,
        points=4 * sum(len(values.mean.steps) for values in signals.values()),
    )


def _shares(runs: Sequence[Run], kind: str) -> tuple[Floats, dict[str, Floats]] | None:
    """Returns the steps that every run logged, and the mean share of each name that occurred.

    The remainder was not judged.
    """
    prefix = f"{runs[0].info.reward}/{kind}/"
    keys = {key for run in runs for line in run.metrics for key in line if key.startswith(prefix)}
    if not keys:
        return None
    order = [*VERDICT_COLOURS, *_INTEGRITY_COLOURS]
    names = sorted((key[len(prefix) :] for key in keys), key=lambda name: _place(order, name))
    pools = {name: pool([_share(run, prefix, name) for run in runs]) for name in names}
    rows = {name: found.mean.values for name, found in pools.items() if found.mean.values.any()}
    steps = pools[names[0]].mean.steps
    if not len(steps):
        return None
    rest = 1.0 - sum(rows.values(), np.zeros(len(steps)))
    return steps, rows | {NOT_JUDGED: np.clip(rest, 0.0, 1.0)} if rest.max() > 1e-6 else rows


def _place(order: Sequence[str], name: str) -> tuple[int, str]:
    return (order.index(name) if name in order else len(order), name)


def _share(run: Run, prefix: str, name: str) -> Series:
    """Returns a name's share at the steps that logged any metric of its kind."""
    lines = (line for line in run.metrics if any(key.startswith(prefix) for key in line))
    return made((line["step"], number(line.get(prefix + name)) or 0.0) for line in lines)


def _signals(runs: Sequence[Run]) -> dict[str, Pool]:
    """Pools each kind of signal that occurred in any run."""
    prefix = f"{runs[0].info.reward}/signal/"
    keys = {key for run in runs for line in run.metrics for key in line if key.startswith(prefix)}
    return {key[len(prefix) :]: pool([_signal(run, key) for run in runs]) for key in sorted(keys)}


def _signal(run: Run, key: str) -> Series:
    """Returns a signal's count: 0 before its first occurrence, a gap where nothing was judged."""
    unjudged = f"{run.info.reward}/unjudged"

    def points() -> Iterable[tuple[float, float | None]]:
        for line in run.metrics:
            if unjudged in line:
                is_gap = line[unjudged] == 1.0
                yield line["step"], None if is_gap else number(line.get(key)) or 0.0

    return made(points(), run.label)
