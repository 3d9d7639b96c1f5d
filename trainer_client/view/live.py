"""The runs of a live page: what the page asks for, as values for JSON."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trainer_client.report.charts.drawing import VERDICT_COLOURS
from trainer_client.report.headline import headline
from trainer_client.report.naming import heading
from trainer_client.report.runs import Run, one_experiment
from trainer_client.view.following import FollowedRun, labels_of
from trainer_client.view.painting import Figure, Painter, Selection
from trainer_client.view.progress import progress_of

# Files are looked at no more often than this, however many pages are open.
_FRESH_SECONDS = 0.5
_MOST_EVENTS = 500


class LiveRuns:
    """Runs that grow while they are looked at.

    Args:
        paths: their folders, of which each may appear later.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        labels = labels_of(list(paths))
        self._runs = [FollowedRun(*pair) for pair in zip(paths, labels, strict=True)]
        self._painter = Painter(paths, labels)
        self._lock = threading.Lock()
        self._version = 0
        self._looked_at = 0.0
        self._headlines: dict[Selection, tuple[int, list[dict[str, str]]]] = {}

    def close(self) -> None:
        """Ends the drawing process."""
        self._painter.close()

    def state(self, wanted: Selection) -> dict[str, Any]:
        """Returns what the page shows of the wanted runs; all that belong together if none."""
        with self._lock:
            self._refresh()
            selection = self._valid(wanted)
            runs = [run for index in selection if (run := self._runs[index].run) is not None]
            numbers = self._numbers(selection, runs)
            told = [self._told(one) for one in self._runs]
            version = self._version
        drawing = self._painter.figures(selection, version)
        return {
            "version": version,
            "heading": heading(runs) if runs else "waiting for a run",
            "selection": selection,
            "runs": told,
            "numbers": numbers,
            "verdicts": list(VERDICT_COLOURS),
            "drawing": drawing.number if drawing is not None else 0,
            "figures": [_texts(figure) for figure in drawing.figures] if drawing else [],
            "figures_problem": drawing.problem if drawing else "",
            "events": _events(runs),
            "event_count": sum(len(run.events) for run in runs),
        }

    def picture(self, wanted: Selection, name: str, *, dark: bool) -> tuple[str, bytes] | None:
        """Returns media type and content of a drawn figure; None if it was not drawn."""
        with self._lock:
            selection, version = self._valid(wanted), self._version
        drawing = self._painter.figures(selection, version)
        for figure in drawing.figures if drawing is not None else ():
            if figure.name == name:
                return figure.kind, figure.dark if dark else figure.light
        return None

    def _refresh(self) -> None:
        if time.monotonic() - self._looked_at < _FRESH_SECONDS:
            return
        changes = [run.refresh() for run in self._runs]
        self._version += any(changes)
        self._looked_at = time.monotonic()

    def _valid(self, wanted: Selection) -> Selection:
        """Returns the wanted runs that exist; else the first run and those of its experiment."""
        known = [index for index, one in enumerate(self._runs) if one.run is not None]
        chosen = [index for index in known if index in wanted] or known
        first = self._info(chosen[0]) if chosen else None
        return tuple(
            index
            for index in chosen
            if first is not None and one_experiment([first.info, self._info(index).info])
        )

    def _info(self, index: int) -> Run:
        run = self._runs[index].run
        assert run is not None
        return run

    def _numbers(self, selection: Selection, runs: Sequence[Run]) -> list[dict[str, str]]:
        """Returns the numbers at the top; their intervals take a while to compute."""
        version, numbers = self._headlines.get(selection, (-1, []))
        if version != self._version and runs:
            numbers = [dataclasses.asdict(one) for one in headline(runs)]
            self._headlines[selection] = (self._version, numbers)
        return numbers

    def _told(self, followed: FollowedRun) -> dict[str, Any]:
        run = followed.run
        described: dict[str, Any] = {
            "label": followed.label,
            "folder": str(followed.path),
            "problem": followed.problem,
            "unread_lines": followed.unread_lines,
        }
        if run is None:
            return described
        silent = max(time.time() - followed.written_at, 0.0)
        return described | {
            "model": run.info.model,
            "data": run.info.data,
            "reward": run.info.reward,
            "size": run.info.num_generations,
            "started": run.info.started,
            "seed": run.info.seed,
            "seconds": run.seconds,
            "progress": dataclasses.asdict(progress_of(run, silent)),
        }


def _texts(figure: Figure) -> dict[str, str]:
    return {
        "name": figure.name,
        "title": figure.title,
        "caption": figure.caption,
        "alt": figure.alt,
    }


def _events(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Returns the last events of all runs, the newest first."""
    found = [
        {"run": run.label, **dataclasses.asdict(event)} for run in runs for event in run.events
    ]
    return sorted(found, key=lambda event: event["step"], reverse=True)[:_MOST_EVENTS]
