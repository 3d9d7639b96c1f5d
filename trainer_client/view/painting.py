"""Draws the figures of the report in a process of its own, again and again while runs grow.

Drawing takes seconds of CPU time. In another process, with a low priority, it delays neither the
answers of the page nor the training. After each drawing it rests for several times as long.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from trainer_client.report.charts.comparison import comparison_figures
from trainer_client.report.charts.drawing import Chart
from trainer_client.report.charts.figures import all_figures
from trainer_client.report.tables import read_tables
from trainer_client.view.following import FollowedRun

Selection = tuple[int, ...]
# Runs to draw, and whether each has lines of its own.
Subject = tuple[Selection, bool]
# At most this share of one core is used for drawing, if the figures were drawn before.
_SHARE_OF_CORE = 0.25
_LONGEST_REST_SECONDS = 60.0
_MOST_KEPT = 4
_ENDED = "The process that draws the figures has ended: start reward-train view again."


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A drawn figure: its texts, and its pictures for light and for dark pages."""

    name: str
    title: str
    caption: str
    alt: str
    kind: str
    light: bytes
    dark: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """The figures of some runs.

    Args:
        version: the version of the runs' files that was drawn.
        number: differs between drawings.
        problem: why nothing was drawn; "" if there was no problem.
    """

    version: int
    number: int
    figures: Sequence[Figure]
    problem: str = ""


class Painter:
    """Keeps the figures of the runs that somebody looks at.

    Args:
        paths: folders of the runs.
        labels: their names.
    """

    def __init__(self, paths: Sequence[Path], labels: Sequence[str]) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(
            target=_work_aside,
            args=(theirs, list(paths), list(labels)),
            name="figures",
            daemon=True,
        )
        self._process.start()
        theirs.close()
        self._changed = threading.Condition()
        self._drawn: OrderedDict[Subject, Drawing] = OrderedDict()
        self._wanted: tuple[Subject, int] | None = None
        self._count = 0
        self._is_closed = False
        self._thread = threading.Thread(target=self._draw, name="painter", daemon=True)
        self._thread.start()

    def figures(self, subject: Subject, version: int) -> Drawing | None:
        """Returns the last drawing of runs, and asks for another if it is of an older version."""
        with self._changed:
            found = self._drawn.get(subject)
            if found is None or found.version < version:
                self._wanted = (subject, version)
                self._changed.notify_all()
            return found

    def close(self) -> None:
        """Ends the process."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        self._process.terminate()
        self._process.join()
        self._thread.join()
        self._connection.close()

    def _draw(self) -> None:
        rested_at = 0.0
        while (wanted := self._next(rested_at)) is not None:
            begun = time.monotonic()
            try:
                self._connection.send(wanted[0])
                figures, problem = self._connection.recv()
            except (EOFError, OSError):
                self._keep(*wanted, [], _ENDED)
                return
            took = time.monotonic() - begun
            rested_at = time.monotonic() + min(took / _SHARE_OF_CORE, _LONGEST_REST_SECONDS)
            self._keep(*wanted, figures, problem)

    def _next(self, rested_at: float) -> tuple[Subject, int] | None:
        """Waits for a drawing that is wanted, and rests if its runs were drawn before."""
        with self._changed:
            while not self._is_closed:
                if self._wanted is None:
                    self._changed.wait()
                    continue
                rest = rested_at - time.monotonic()
                if self._wanted[0] not in self._drawn or rest <= 0:
                    wanted, self._wanted = self._wanted, None
                    return wanted
                self._changed.wait(rest)
            return None

    def _keep(
        self, subject: Subject, version: int, figures: Sequence[Figure], problem: str
    ) -> None:
        with self._changed:
            self._count += 1
            self._drawn[subject] = Drawing(
                version=version, number=self._count, figures=figures, problem=problem
            )
            self._drawn.move_to_end(subject)
            while len(self._drawn) > _MOST_KEPT:
                self._drawn.popitem(last=False)


def _work_aside(connection: Connection, paths: Sequence[Path], labels: Sequence[str]) -> None:
    # Ctrl-C reaches all processes of a terminal; the one that started this one ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError):
        os.nice(10)
    work(connection, paths, labels)


def work(connection: Connection, paths: Sequence[Path], labels: Sequence[str]) -> None:
    """Draws the runs that are asked for, until the other end of the connection is closed."""
    runs = [FollowedRun(path, label) for path, label in zip(paths, labels, strict=True)]
    with contextlib.suppress(EOFError, OSError):
        while True:
            subject: Subject = connection.recv()
            connection.send(_attempted(runs, subject))


def _attempted(runs: Sequence[FollowedRun], subject: Subject) -> tuple[list[Figure], str]:
    """Draws figures; returns none and the reason if lines of a run cannot be drawn."""
    selection, is_compared = subject
    try:
        return drawn([runs[index] for index in selection], is_compared=is_compared), ""
    except Exception as error:  # noqa: BLE001 - one bad line must not end the page's figures
        return [], f"{type(error).__name__}: {error}"


def drawn(followed: Sequence[FollowedRun], *, is_compared: bool) -> list[Figure]:
    """Draws the figures of runs as they are now; none if nothing is known of them."""
    for one in followed:
        one.refresh()
    runs = [one.run for one in followed if one.run is not None]
    if not runs:
        return []
    charts = comparison_figures(runs) if is_compared else all_figures(runs, read_tables(runs))
    return [_figure(chart) for chart in charts]


def _figure(chart: Chart) -> Figure:
    kind, light, dark = chart.images()
    return Figure(
        name=chart.name,
        title=chart.title,
        caption=chart.caption,
        alt=chart.alt,
        kind=kind,
        light=light,
        dark=dark,
    )
