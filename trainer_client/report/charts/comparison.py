"""Figures that compare runs of any kind: in each, one metric with a line for each run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from trainer_client.report.charts.drawing import (
    CYCLE,
    Chart,
    finish,
    label_of,
    line,
    sheet,
    smoothing_window,
    styled,
)
from trainer_client.report.passing import rates_over_steps
from trainer_client.report.runs import Run, number
from trainer_client.report.series import Series, logged, logged_of_judged, made, smoothed, told
from trainer_client.report.timing import step_seconds, wait_seconds
from trainer_client.run_folder import HELD_OUT


@dataclass(frozen=True, slots=True, kw_only=True)
class _Metric:
    """A metric that is compared.

    Args:
        read: returns its values in a run; an empty series if it was not logged.
        is_smoothed: whether lines are means over neighbouring steps.
    """

    name: str
    title: str
    axis: str
    read: Callable[[Run], Series]
    is_smoothed: bool = True


def comparison_figures(runs: Sequence[Run]) -> list[Chart]:
    """Draws each metric that any of the runs has."""
    metrics = [
        _Metric(name="reward", title="Reward", axis="reward", read=_logged("reward")),
        *_passing(runs),
        _Metric(name="passed", title="Completions that passed", axis="share", read=_passed),
        _Metric(
            name="signals", title="Signals of reward hacking", axis="a completion", read=_hacks
        ),
        _Metric(name="kl", title="KL", axis="KL", read=_logged("kl")),
        _Metric(name="entropy", title="Entropy", axis="entropy", read=_logged("entropy")),
        _Metric(
            name="lengths",
            title="Length of completions",
            axis="mean tokens",
            read=_logged("completions/mean_length"),
        ),
        _Metric(
            name="zero",
            title="Groups with zero variance",
            axis="share of groups",
            read=_no_variance,
        ),
        _Metric(name="time", title="Time of a step", axis="seconds", read=step_seconds),
        _Metric(name="waiting", title="Waiting for rewards", axis="seconds a step", read=_waiting),
    ]
    with styled():
        charts = [_chart(runs, metric) for metric in metrics]
    return [chart for chart in charts if chart is not None]


def _chart(runs: Sequence[Run], metric: _Metric) -> Chart | None:
    found = [(run.label, metric.read(run)) for run in runs]
    drawn = [(label, series) for label, series in found if series.has_values]
    if not drawn:
        return None
    figure, (axes,) = sheet([2.6])
    # A run has the same colour in every figure.
    colours = {run.label: CYCLE[index % len(CYCLE)] for index, run in enumerate(runs)}
    for label, series in drawn:
        window = smoothing_window(series) if metric.is_smoothed else 1
        style = {} if metric.is_smoothed else {"marker": "o", "markersize": 4}
        values = smoothed(series, window)
        line(axes, values, color=colours[label], label=label_of(label), **style)
    axes.set_ylabel(metric.axis)
    finish(figure, [axes], columns=3)
    absent = [label for label, series in found if not series.has_values]
    caption = f"Without values: {', '.join(absent)}." if absent else ""
    if metric.is_smoothed and max(smoothing_window(series) for _, series in drawn) > 1:
        caption = f"Lines are means over a twentieth of each run's logged steps. {caption}".strip()
    return Chart(
        name=metric.name,
        title=metric.title,
        caption=caption,
        alt="; ".join(f"{label}: {told(series)}" for label, series in drawn) + ".",
        figure=figure,
        points=sum(len(series.steps) for _, series in drawn),
    )


def _passing(runs: Sequence[Run]) -> list[_Metric]:
    splits = {found.split for run in runs for found in run.evaluations}
    if not splits:
        return []
    split = HELD_OUT if HELD_OUT in splits else min(splits)
    return [
        _Metric(
            name="passing",
            title=f"Evaluation, {split}: pass@1",
            axis="share of tasks",
            read=lambda run: rates_over_steps(run, split, 1),
            is_smoothed=False,
        )
    ]


def _logged(key: str) -> Callable[[Run], Series]:
    return lambda run: logged(run, key)


def _no_variance(run: Run) -> Series:
    return logged_of_judged(run, "frac_reward_zero_std")


def _passed(run: Run) -> Series:
    return logged(run, f"{run.info.reward}/verdict/PASSED")


def _waiting(run: Run) -> Series:
    key = f"{run.info.reward}/wait_seconds"
    return wait_seconds(run) if any(key in line for line in run.metrics) else made([])


def _hacks(run: Run) -> Series:
    """Returns the signals of all kinds together; a step that logs none of them had none."""
    prefix, unjudged = f"{run.info.reward}/signal/", f"{run.info.reward}/unjudged"

    def points() -> Iterator[tuple[float, float | None]]:
        for logs in run.metrics:
            if unjudged in logs:
                kinds = [key for key in logs if key.startswith(prefix)]
                count = sum(number(logs[key]) or 0.0 for key in kinds)
                yield logs["step"], None if logs[unjudged] == 1.0 else count

    return made(points(), run.label)
