"""Draws lines, areas and marks.

The colours are those of Okabe and Ito, which people with the common colour deficiencies can
distinguish. Areas that were not judged are also hatched. Labels come from runs, so they are drawn
as text and never as formulas.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from trainer_client.report.series import Floats, Pool, Series, smoothed
from trainer_client.run_folder import Event

GREEN, VERMILLION, BLUE, ORANGE = "#009E73", "#D55E00", "#0072B2", "#E69F00"
SKY, PURPLE, YELLOW, BLACK, BROWN = "#56B4E9", "#CC79A7", "#F0E442", "#0A0D12", "#7F6A4F"
GREY = "#C4C8CE"
_INK, _MARK = "#1C2330", "#3B4250"
# Replacements on a dark page; the other colours suit both backgrounds.
_DARK: Mapping[str, str] = {
    "#ffffff": "#161b22",
    _INK.lower(): "#dfe5ec",
    _MARK.lower(): "#c3cad4",
    BLACK.lower(): "#f2f5f8",
    BLUE.lower(): "#3d9be0",
    BROWN.lower(): "#b09a7c",
    "#8a9099": "#7b8491",
    "#e4e7eb": "#2b323c",
    GREY.lower(): "#454d59",
    "#5b6470": "#99a2af",
    "#f1f2f4": "#232a33",
    "#a5abb4": "#6a7380",
    "#00224e": "#33518c",
}
CYCLE = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK, BROWN, YELLOW)
NOT_JUDGED = "not judged"
VERDICT_COLOURS: Mapping[str, str] = {
    "PASSED": GREEN,
    "FAILED": VERMILLION,
    "COMPILE_ERROR": SKY,
    "RUNTIME_ERROR": ORANGE,
    "TIME_LIMIT_EXCEEDED": BLUE,
    "MEMORY_LIMIT_EXCEEDED": PURPLE,
    "OUTPUT_LIMIT_EXCEEDED": YELLOW,
    "SECURITY_VIOLATION": BLACK,
    "INVALID_TASK": BROWN,
}
_STYLE: Mapping[str, Any] = {
    "text.usetex": False,
    "text.parse_math": False,
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "axes.edgecolor": "#8A9099",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E4E7EB",
    "grid.linewidth": 0.8,
    "hatch.linewidth": 0.6,
    "lines.linewidth": 1.8,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "svg.fonttype": "path",
    "svg.hashsalt": "report",
    "savefig.dpi": 160,
    "path.simplify": True,
    "figure.facecolor": "white",
    "axes.facecolor": "white",
}
_MARKERS = "vosD^Pp*X"
_WIDTH, _LONGEST_LABEL, _MOST_LINES = 7.6, 40, 40
# Above this number of points, vectors are larger than pixels.
_MOST_POINTS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chart:
    """A figure of the page.

    Args:
        name: part of its file's name.
        caption: description for readers who see it.
        alt: its key numbers, for readers who do not see it.
        points: approximate number of points that are drawn.
    """

    name: str
    title: str
    caption: str
    alt: str
    figure: Figure
    points: int = 0

    def png(self) -> bytes:
        """Renders the figure as PNG."""
        return self._rendered("png", {"Software": None})

    def data_urls(self) -> tuple[str, str]:
        """Renders the figure for light pages and for dark ones, as URLs that hold it."""
        kind, light, dark = self.images()
        return _data_url(kind, light), _data_url(kind, dark)

    def images(self) -> tuple[str, bytes, bytes]:
        """Renders the figure for light pages and for dark ones; also returns their media type.

        Both are vectors, or both are the same pixels on white if there are so many points that
        pixels take fewer bytes.
        """
        if self.points > _MOST_POINTS:
            return ("image/png", *(self.png(),) * 2)
        svg = self._rendered("svg", {"Date": None, "Creator": None})
        return "image/svg+xml", svg, _darkened(svg)

    def _rendered(self, kind: str, metadata: Mapping[str, None]) -> bytes:
        buffer = io.BytesIO()
        with styled():
            self.figure.savefig(buffer, format=kind, metadata=metadata)
        return buffer.getvalue()


def _data_url(kind: str, content: bytes) -> str:
    # Pages show it in an <img>, where no script of the picture runs.
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def _darkened(svg: bytes) -> bytes:
    """Replaces the colours of a picture by those for a dark background."""

    def exchanged(colour: re.Match[bytes]) -> bytes:
        return _DARK.get(colour[0].decode(), colour[0].decode()).encode()

    return re.sub(rb"#[0-9a-f]{6}\b", exchanged, svg)


def styled() -> AbstractContextManager[None]:
    """Returns a context for making and rendering figures, which ignores the user's own style."""
    context: AbstractContextManager[None] = mpl.rc_context(dict(_STYLE))
    return context


def sheet(heights: Sequence[float]) -> tuple[Figure, list[Axes]]:
    """Returns a figure with panels one above another, each with its height in inches."""
    figure = Figure(figsize=(_WIDTH, sum(heights) + 0.75), layout="constrained")
    grid = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=list(heights))
    return figure, list(grid[:, 0])


def finish(figure: Figure, panels: Sequence[Axes], *, columns: int = 4) -> None:
    """Puts a legend above the panels, and the name of the horizontal axis below."""
    panels[-1].set_xlabel("step")
    panels[-1].xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    entries: dict[str, Any] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    # An axis names a single line, but areas need a legend.
    has_areas = any(axes.collections and not axes.lines for axes in panels)
    if len(entries) > 1 or has_areas:
        handles, labels = list(entries.values()), list(entries)
        figure.legend(handles, labels, loc="outside upper left", ncols=columns)


def label_of(text: str) -> str:
    """Makes a label from a run's text: short, and only of letters that the font has."""
    printable = "".join(letter if " " <= letter <= "~" else "?" for letter in text)
    return printable.lstrip("_")[:_LONGEST_LABEL] or "?"


def line(axes: Axes, series: Series, **style: Any) -> None:
    """Draws a line that breaks where a value is missing; a point between gaps becomes a dot."""
    (drawn,) = axes.plot(series.steps, series.values, **style)
    known = np.isfinite(series.values)
    edges = np.concatenate([[False], known, [False]])
    alone = known & ~edges[:-2] & ~edges[2:]
    if alone.any():
        dots = {key: style[key] for key in ("alpha", "zorder") if key in style}
        axes.plot(
            series.steps[alone], series.values[alone], ".", color=drawn.get_color(), ms=4, **dots
        )


def pool_lines(axes: Axes, pool: Pool, colour: str, label: str, *, smooth: bool = False) -> None:
    """Draws a pool's mean with a band of its spread, and a thin line for each run."""
    window = smoothing_window(pool.mean) if smooth else 1
    if not pool.is_single:
        for run in pool.runs:
            line(axes, run, color=colour, alpha=0.35, linewidth=0.7, zorder=2)
    elif window > 1:
        line(axes, pool.mean, color=colour, alpha=0.4, linewidth=0.7, zorder=2)
    mean = smoothed(pool.mean, window)
    spread = smoothed(Series(steps=mean.steps, values=pool.spread), window)
    band(axes, mean, spread.values, colour)
    line(axes, mean, color=colour, label=label, zorder=3)


def smoothing_window(series: Series) -> int:
    """Returns the number of values in a moving mean: odd, about a twentieth of all."""
    return 2 * (len(series.values) // 40) + 1


def band(axes: Axes, mean: Series, half: Floats, colour: str) -> None:
    """Fills the area within `half` of the mean."""
    low, high = mean.values - half, mean.values + half
    axes.fill_between(mean.steps, low, high, color=colour, alpha=0.18, linewidth=0, zorder=1)


def areas(axes: Axes, steps: Floats, rows: Mapping[str, Floats], colours: Sequence[str]) -> None:
    """Stacks shares in one block for each step, without interpolation; grey areas are hatched."""
    half = half_step(steps)
    edges = np.concatenate([[steps[0] - half], steps, [steps[-1] + half]])
    bottom = np.zeros(len(edges))
    for (label, row), colour in zip(rows.items(), colours, strict=True):
        top = bottom + np.concatenate([row[:1], row, row[-1:]])
        style: dict[str, Any] = {"facecolor": colour}
        if label == NOT_JUDGED:
            style = {"facecolor": GREY, "hatch": "/////", "edgecolor": "#5B6470"}
        axes.fill_between(edges, bottom, top, step="mid", linewidth=0, label=label, **style)
        bottom = top
    axes.margins(x=0, y=0)


def half_step(steps: Floats) -> float:
    """Returns half of the usual distance between two logged steps."""
    return float(np.median(np.diff(steps))) / 2 if len(steps) > 1 else 0.5


def mark_gaps(axes: Axes, pool: Pool) -> None:
    """Hatches the steps at which a run has no value, over the height of the axes."""
    half = half_step(pool.mean.steps)
    label = "nothing judged" if pool.is_single else "nothing judged in a run"
    for first, last in pool.mean.gaps:
        axes.axvspan(
            first - half,
            last + half,
            facecolor="#F1F2F4",
            edgecolor="#A5ABB4",
            hatch="/////",
            linewidth=0,
            label=label,
            zorder=0,
        )


def mark_events(axes: Axes, events: Sequence[Event]) -> None:
    """Marks events at the top of the axes, with a vertical line if there are few of them."""
    kinds = sorted({event.kind for event in events})
    top = axes.get_xaxis_transform()
    for index, kind in enumerate(kinds):
        steps = [event.step for event in events if event.kind == kind]
        style: dict[str, Any] = {"marker": _MARKERS[index % len(_MARKERS)], "linestyle": "none"}
        axes.plot(
            steps,
            [1.0] * len(steps),
            transform=top,
            clip_on=False,
            color=_MARK,
            markersize=5,
            label=label_of(f"event: {kind}"),
            zorder=4,
            **style,
        )
        if len(events) <= _MOST_LINES:
            axes.vlines(steps, 0, 1, transform=top, color=_MARK, linewidth=0.6, alpha=0.5)
