"""The figure of evaluations: the share of tasks that the model solves, over steps."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from trainer_client.report.charts.drawing import (
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    VERMILLION,
    Chart,
    finish,
    label_of,
    line,
    mark_events,
    mark_gaps,
    pool_lines,
    sheet,
)
from trainer_client.report.charts.lines import spread_words
from trainer_client.report.passing import (
    estimate,
    evaluations_of,
    largest_k,
    main_split,
    rates_over_steps,
    task_rates,
)
from trainer_client.report.runs import Run, all_events
from trainer_client.report.series import Pool, made, pool, told


def passing_figure(runs: Sequence[Run]) -> Chart | None:
    """Draws pass@1 and pass@k of the evaluated splits over steps."""
    split = main_split(runs)
    if split is None:
        return None
    k = largest_k(runs, split)
    first = pool([rates_over_steps(run, split, 1) for run in runs])
    figure, (axes,) = sheet([2.9])
    for count, colour in ((1, GREEN), (k, PURPLE))[: 1 if k == 1 else 2]:
        rates = pool([rates_over_steps(run, split, count) for run in runs])
        pool_lines(axes, rates, colour, f"pass@{count}, {label_of(split)}")
        axes.plot(rates.mean.steps, rates.mean.values, "o", color=colour, ms=4, zorder=3)
    if first.is_single:
        _interval(axes, runs[0], split)
    for other, colour in zip(_other_splits(runs, split), (BLUE, ORANGE, VERMILLION), strict=False):
        rates = pool([rates_over_steps(run, other, 1) for run in runs])
        line(axes, rates.mean, color=colour, linestyle="--", label=f"pass@1, {label_of(other)}")
    mark_gaps(axes, first)
    mark_events(axes, all_events(runs))
    axes.set_ylabel("share of tasks")
    axes.set_ylim(bottom=0)
    finish(figure, [axes])
    return Chart(
        name="passing",
        title=f"Evaluation, {split}: pass@1" + (f" and pass@{k}" if k > 1 else ""),
        caption=_caption(runs, split, k, first),
        alt=f"Mean pass@1 over the tasks of {split}: {told(first.mean, percent=True)}.",
        figure=figure,
    )


def _interval(axes: Axes, run: Run, split: str) -> None:
    """Fills the interval of pass@1 of a single run, with a gap where nothing was judged."""
    found = [
        (one.step, estimate(list(task_rates(one).values()))) for one in evaluations_of(run, split)
    ]
    low = made((step, one.low if one else None) for step, one in found)
    high = made((step, one.high if one else None) for step, one in found)
    axes.fill_between(low.steps, low.values, high.values, color=GREEN, alpha=0.18, linewidth=0)


def _other_splits(runs: Sequence[Run], split: str) -> list[str]:
    """Returns the other splits that every run evaluated."""
    splits = [{found.split for found in run.evaluations} for run in runs]
    return sorted(set.intersection(*splits) - {split})


def _caption(runs: Sequence[Run], split: str, k: int, rates: Pool) -> str:
    evaluations = [one for run in runs for one in evaluations_of(run, split)]
    tasks = max(len(one.tasks) for one in evaluations)
    spread = spread_words(rates, "The band is pass@1's 95 % interval, a bootstrap over tasks.")
    few = sum(len(one.tasks) - len(task_rates(one, k)) for one in evaluations)
    left_out = (
        f" {few} of {sum(len(one.tasks) for one in evaluations)} evaluations of a task had fewer "
        f"than {k} judged samples, and are left out."
        if few
        else ""
    )
    temperature = evaluations[-1].temperature
    sampling = f"temperature {temperature:g}" if temperature else "greedy"
    estimator = " pass@k is estimated without bias (Chen et al. 2021)." if k > 1 else ""
    return f"Mean over {tasks} tasks, {sampling}. {spread}{estimator}{left_out}"
