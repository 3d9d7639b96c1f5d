"""Figures of groups: the completions of one prompt, which are compared with each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import matplotlib as mpl
import numpy as np
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from trainer_client.report.charts.drawing import GREY, NOT_JUDGED, Chart, areas, finish, sheet
from trainer_client.report.runs import Run
from trainer_client.report.tables import Group, Tables

_MOST_BLOCKS = 60
_EXACT = 8
_BINS = 6


def groups_figure(runs: Sequence[Run], tables: Tables) -> Chart | None:
    """Draws the number of completions in a group that passed, over steps."""
    size = runs[0].info.num_generations
    groups = list(tables.groups(size))
    if not tables.has_verdicts:
        return None
    labels = _solved_labels(size)
    figure, told = _stacked(groups, [_solved_bin(group, size) for group in groups], labels)
    return Chart(
        name="groups",
        title=f"Groups of {size} by completions that passed",
        caption="Groups in which none or all passed give no gradient to an all-or-nothing reward. "
        f"Of groups judged in part, the judged ones count in proportion.{_together(groups)}",
        alt=f"Shares of {len(groups)} groups by how many of {size} completions passed: {told}.",
        figure=figure,
    )


def rewards_figure(runs: Sequence[Run], tables: Tables) -> Chart | None:
    """Draws the distribution of the groups' mean rewards, unless rewards are all-or-nothing."""
    groups = list(tables.groups(runs[0].info.num_generations))
    rewards = {reward for group in groups for reward in group.rewards}
    if len(rewards) < 2 or (len(rewards) == 2 and tables.has_verdicts):
        return None
    low, high = min(rewards), max(rewards)
    edges = np.linspace(low, high, _BINS + 1)
    labels = [f"{one:.3g} to {other:.3g}" for one, other in pairwise(edges)]
    bins = [_reward_bin(group, low, high) for group in groups]
    figure, told = _stacked(groups, bins, labels)
    return Chart(
        name="rewards",
        title=f"Groups by mean {runs[0].info.reward}",
        caption="The mean reward of each group's judged completions, from the lowest reward that "
        f"any completion had to the highest.{_together(groups)}",
        alt=f"Shares of {len(groups)} groups by their mean reward: {told}.",
        figure=figure,
    )


def _solved_labels(size: int) -> list[str]:
    if size <= _EXACT:
        return [f"{count} of {size}" for count in range(size + 1)]
    return ["none", "up to 25 %", "up to 50 %", "up to 75 %", "more", "all"]


def _solved_bin(group: Group, size: int) -> int:
    """Returns the index of a group's label, or one past the last if nothing was judged."""
    if not group.judged:
        return len(_solved_labels(size))
    share = group.passed / group.judged
    if size <= _EXACT:
        return min(max(round(share * size), share > 0), size - (share < 1))
    return 5 if share == 1 else math.ceil(4 * share)


def _blocks(steps: Sequence[int]) -> list[list[int]]:
    """Joins consecutive steps, so that the blocks are few enough to be visible."""
    length = math.ceil(len(steps) / _MOST_BLOCKS)
    return [list(steps[start : start + length]) for start in range(0, len(steps), length)]


def _reward_bin(group: Group, low: float, high: float) -> int:
    if not group.rewards:
        return _BINS
    mean = math.fsum(group.rewards) / len(group.rewards)
    return min(int(_BINS * (mean - low) / (high - low)), _BINS - 1)


def _together(groups: Sequence[Group]) -> str:
    length = len(_blocks(sorted({group.step for group in groups}))[0])
    return f" A block is {length} logged steps." if length > 1 else ""


def _stacked(
    groups: Sequence[Group], bins: Sequence[int], names: Sequence[str]
) -> tuple[Figure, str]:
    """Stacks shares of groups by bin over steps; also returns the overall shares in words.

    The bin after the names holds groups in which nothing was judged.
    """
    labels = [*names, NOT_JUDGED]
    blocks = _blocks(sorted({group.step for group in groups}))
    where = {step: index for index, block in enumerate(blocks) for step in block}
    table = np.zeros((len(labels), len(blocks)))
    for group, index in zip(groups, bins, strict=True):
        table[index, where[group.step]] += 1
    # The legend holds every name, but "not judged" only if it occurs.
    count = len(labels) - (not table[-1].any())
    hues = mpl.colormaps["cividis"](np.linspace(0.0, 1.0, len(names)))
    colours = [*(to_hex(hue) for hue in hues), GREY][:count]
    figure, (axes,) = sheet([2.9])
    middles = np.array([(block[0] + block[-1]) / 2 for block in blocks])
    shares = table / table.sum(axis=0)
    areas(axes, middles, dict(zip(labels[:count], shares, strict=False)), colours)
    axes.set_ylabel("share of groups")
    finish(figure, [axes], columns=6 if len(names) > _BINS else 4)
    totals = zip(labels, table.sum(axis=1) / len(groups), strict=True)
    return figure, ", ".join(f"{label}: {total:.1%}" for label, total in totals)
