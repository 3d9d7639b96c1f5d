"""The list of a report's figures; a figure is left out if none of its values was logged."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trainer_client.report.charts.drawing import Chart, styled
from trainer_client.report.charts.group_chart import groups_figure, rewards_figure
from trainer_client.report.charts.lines import (
    functions_figure,
    length_figure,
    policy_figure,
    reward_figure,
    spread_figure,
    turns_figure,
)
from trainer_client.report.charts.pass_chart import passing_figure
from trainer_client.report.charts.shares import hacking_figure, time_figure, verdict_figure
from trainer_client.report.runs import Run
from trainer_client.report.tables import Tables


def all_figures(runs: Sequence[Run], tables: Tables) -> list[Chart]:
    """Draws every figure for which the runs have values, in the page's order."""
    makers: list[Callable[[Sequence[Run]], Chart | None]] = [
        reward_figure,
        passing_figure,
        verdict_figure,
        lambda found: groups_figure(found, tables),
        lambda found: rewards_figure(found, tables),
        functions_figure,
        turns_figure,
        spread_figure,
        policy_figure,
        time_figure,
        hacking_figure,
        length_figure,
    ]
    with styled():
        drawn = [make(runs) for make in makers]
    return [chart for chart in drawn if chart is not None]
