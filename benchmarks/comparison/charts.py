"""Draws values with their spread as SVG: a row for each peer, a mark for each series."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET  # only writes: nothing is parsed
from collections.abc import Sequence
from dataclasses import dataclass

from reward_server.audit.output.elements import add_text

_WIDTH, _LEFT, _RIGHT, _TOP, _BOTTOM = 760, 200, 80, 10, 40
_STEP, _GAP = 17, 12
_LONGEST = 26
_MOST_TICKS = 12
_MARKS = (
    "M-5 0A5 5 0 1 0 5 0A5 5 0 1 0 -5 0Z",
    "M-4.5 -4.5H4.5V4.5H-4.5Z",
    "M0 -6L6 0L0 6L-6 0Z",
    "M-5 4.5L0 -5.5L5 4.5Z",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A value of a row.

    Args:
        series: index of its series.
        value: the value.
        least: least value of the spread.
        most: greatest value of the spread.
        text: the value as it is written beside the mark.
    """

    series: int
    value: float
    least: float
    most: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The marks of a peer; `is_own` if it is the server of this command."""

    label: str
    marks: Sequence[Mark]
    is_own: bool = False


def add_chart(
    parent: ET.Element, title: str, unit: str, series: Sequence[str], rows: Sequence[Row]
) -> None:
    """Adds a figure: its axis is logarithmic if the values differ by more than a factor of eight.

    Args:
        parent: the node that gets the figure.
        title: what is shown.
        unit: name of the axis.
        series: names of the series.
        rows: rows with at least one mark in all.
    """
    marks = [mark for row in rows for mark in row.marks]
    figure = ET.SubElement(parent, "figure")
    add_text(figure, "figcaption", title)
    if not marks:
        add_text(figure, "p", "Nothing was measured.")
        return
    if len(series) > 1:
        _add_legend(figure, series)
    axis = _Axis(min(mark.least for mark in marks), max(mark.most for mark in marks))
    heights = [_GAP + _STEP * max(len(row.marks), 1) for row in rows]
    bottom = _TOP + sum(heights)
    told = "; ".join(
        f"{row.label}: {', '.join(mark.text for mark in row.marks) or 'not known'}" for row in rows
    )
    box = ET.SubElement(figure, "div", {"class": "scroll"})
    size = f"0 0 {_WIDTH} {bottom + _BOTTOM}"
    picture = ET.SubElement(
        box, "svg", {"viewBox": size, "role": "img", "aria-label": f"{title}, {unit}. {told}"}
    )
    for value in axis.ticks():
        _line(picture, "grid", axis.at(value), _TOP, axis.at(value), bottom)
        _label(picture, "tick", axis.at(value), bottom + 16, f"{value:g}")
    _label(picture, "unit", (_LEFT + _WIDTH - _RIGHT) / 2, bottom + 35, unit)
    top = _TOP
    for row, height in zip(rows, heights, strict=True):
        _add_row(picture, row, top, height, axis)
        top += height


class _Axis:
    """Places values between the edges of the picture."""

    def __init__(self, least: float, most: float) -> None:
        self._is_log = least > 0 and most > 8 * least
        self._least = least if self._is_log else min(0.0, least)
        self._most = most if most > self._least else self._least + 1
        if self._is_log:
            self._least, self._most = self._least / 1.2, self._most * 1.2

    def at(self, value: float) -> float:
        """Returns the place of a value."""
        low, high, here = (self._scaled(one) for one in (self._least, self._most, value))
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (here - low) / (high - low)

    def ticks(self) -> list[float]:
        """Returns round values within the axis."""
        if not self._is_log:
            step = 10 ** math.floor(math.log10(self._most - self._least))
            step = step / 5 if (self._most - self._least) / step < 2 else step
            step = step * 2 if (self._most - self._least) / step > 6 else step
            return [step * number for number in range(int(self._most / step) + 1)]
        low, high = math.floor(math.log10(self._least)), math.ceil(math.log10(self._most))
        steps = (1, 2, 5) if 3 * (high - low) <= _MOST_TICKS else (1,)
        values = [factor * 10.0**power for power in range(low, high + 1) for factor in steps]
        return [value for value in values if self._least <= value <= self._most]

    def _scaled(self, value: float) -> float:
        return math.log10(value) if self._is_log else value


def _add_row(picture: ET.Element, row: Row, top: float, height: float, axis: _Axis) -> None:
    middle = top + height / 2
    cut = row.label if len(row.label) <= _LONGEST else f"{row.label[: _LONGEST - 1]}…"
    name = _label(picture, "own" if row.is_own else "name", _LEFT - 12, middle + 4, cut)
    if cut != row.label:
        add_text(name, "title", row.label)
    if not row.marks:
        _label(picture, "value", _LEFT + 6, middle + 4, "not known")
    for place, mark in enumerate(row.marks):
        y = top + _GAP / 2 + _STEP * (place + 0.5)
        kind = f"s{mark.series % len(_MARKS)}"
        _line(picture, f"whisker {kind}", axis.at(mark.least), y, axis.at(mark.most), y)
        shift = f"translate({axis.at(mark.value):.1f} {y:.1f})"
        shape = _MARKS[mark.series % len(_MARKS)]
        ET.SubElement(picture, "path", {"class": kind, "d": shape, "transform": shift})
        _label(picture, "value", axis.at(max(mark.most, mark.value)) + 9, y + 4, mark.text)


def _add_legend(figure: ET.Element, series: Sequence[str]) -> None:
    box = ET.SubElement(figure, "p", {"class": "legend"})
    for number, name in enumerate(series):
        item = ET.SubElement(box, "span")
        picture = ET.SubElement(item, "svg", {"viewBox": "-7 -7 14 14", "aria-hidden": "true"})
        kind = number % len(_MARKS)
        ET.SubElement(picture, "path", {"class": f"s{kind}", "d": _MARKS[kind]})
        add_text(item, "span", name)


def _line(parent: ET.Element, kind: str, x1: float, y1: float, x2: float, y2: float) -> None:
    places = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
    written = {name: f"{value:.1f}" for name, value in places.items()}
    ET.SubElement(parent, "line", {"class": kind, **written})


def _label(parent: ET.Element, kind: str, x: float, y: float, text: str) -> ET.Element:
    return add_text(parent, "text", text, **{"class": kind, "x": f"{x:.1f}", "y": f"{y:.1f}"})
