"""The runs of a live page: what the page asks for, as values for JSON."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trainer_client.report.charts.drawing import VERDICT_COLOURS
from trainer_client.report.headline import headline
from trainer_client.report.naming import heading
from trainer_client.report.page import compared
from trainer_client.report.runs import Run
from trainer_client.report.samples import Sample
from trainer_client.view.comparing import (
    compared_numbers,
    compared_settings,
    is_compared_by,
    modes_of,
)
from trainer_client.view.following import FollowedRun, labels_of
from trainer_client.view.index import CompletionIndex, Row
from trainer_client.view.painting import Figure, Painter, Selection, Subject
from trainer_client.view.progress import progress_of
from trainer_client.view.queries import PAGE, Wanted, matching, names_of

# Tables are read for at most this time before the page gets an answer.
_READING_SECONDS = 0.3
# Files are looked at no more often than this, however many pages are open.
_FRESH_SECONDS = 0.5
_MOST_EVENTS = 500
_MOST_TABLES = 4
_LISTED = frozenset(
    {"run", "step", "group", "place", "verdict", "task", "reward", "advantage", "turns", "signals"}
)


class LiveRuns:
    """Runs that grow while they are looked at.

    Args:
        paths: their folders, of which each may appear later.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        labels = labels_of(list(paths))
        self._runs = [FollowedRun(*pair) for pair in zip(paths, labels, strict=True)]
        self._indexes = [CompletionIndex(index, path) for index, path in enumerate(paths)]
        self._painter = Painter(paths, labels)
        self._lock = threading.Lock()
        self._version = self._completions_version = 0
        self._looked_at = 0.0
        self._numbers_lock = threading.Lock()
        self._headline: tuple[object, list[dict[str, Any]]] = (None, [])
        self._rows: dict[Selection, tuple[int, list[Row]]] = {}
        self._last_query: tuple[object, list[Row]] = (None, [])
        self._tables: OrderedDict[tuple[int, int], tuple[int, list[Sample]]] = OrderedDict()

    def close(self) -> None:
        """Ends the drawing process."""
        self._painter.close()

    def state(self, wanted: Selection, mode: str) -> dict[str, Any]:
        """Returns what the page shows of runs.

        Args:
            wanted: numbers of the runs; all runs if none of them exists.
            mode: "together" for seeds of one experiment, "compared" for a line for each run; what
                suits the runs if it is neither.
        """
        with self._lock:
            self._refresh()
            selection = self._valid(wanted)
            runs = [run for index in selection if (run := self._runs[index].run) is not None]
            is_compared = is_compared_by(runs, mode)
            told = [self._told(*pair) for pair in zip(self._runs, self._indexes, strict=True)]
            version, drawn_version = self._version, self._drawn_version
            completions = self._completions(selection)
        # Searches do not wait for these numbers, whose intervals take a while to compute.
        with self._numbers_lock:
            numbers = self._numbers((selection, is_compared), version, runs)
        drawing = self._painter.figures((selection, is_compared), drawn_version)
        return {
            "version": version,
            "heading": heading(runs) if runs else "waiting for a run",
            "selection": selection,
            "runs": told,
            "mode": "compared" if is_compared else "together",
            "modes": modes_of(runs),
            "numbers": [] if is_compared else numbers,
            "comparison": numbers if is_compared else [],
            "settings": compared_settings(runs),
            "verdicts": list(VERDICT_COLOURS),
            "drawing": drawing.number if drawing is not None else 0,
            "figures": [_texts(figure) for figure in drawing.figures] if drawing else [],
            "figures_problem": drawing.problem if drawing else "",
            "completions": completions,
            "events": _events(runs),
            "event_count": sum(len(run.events) for run in runs),
        }

    def picture(
        self, wanted: Selection, mode: str, name: str, *, dark: bool
    ) -> tuple[str, bytes] | None:
        """Returns media type and content of a drawn figure; None if it was not drawn."""
        with self._lock:
            selection, version = self._valid(wanted), self._drawn_version
            is_compared = is_compared_by([self._info(index) for index in selection], mode)
        drawing = self._painter.figures((selection, is_compared), version)
        for figure in drawing.figures if drawing is not None else ():
            if figure.name == name:
                return figure.kind, figure.dark if dark else figure.light
        return None

    def completions(self, wanted: Selection, query: Wanted, first: int) -> dict[str, Any]:
        """Returns a page of the list of completions, from row `first` on."""
        with self._lock:
            selection = self._valid(wanted)
            found = self._found(selection, query)
            first = max(0, min(first, (len(found) - 1) // PAGE * PAGE))
            shown = [self._listed(row) for row in found[first : first + PAGE]]
            return {"first": first, "count": len(found), "rows": shown}

    def names(self, wanted: Selection) -> dict[str, Any]:
        """Returns the names by which completions can be chosen."""
        with self._lock:
            return dict(names_of(self._all_rows(self._valid(wanted))))

    def completion(self, run: int, step: int, place: int) -> dict[str, Any] | None:
        """Returns a completion with its texts; None if there is none."""
        with self._lock:
            samples = self._samples(run, step)
        return _shown(samples[place]) if 0 <= place < len(samples) else None

    def group(self, run: int, step: int, group: int) -> dict[str, Any] | None:
        """Returns the completions of a prompt; None if there is no such group."""
        with self._lock:
            samples = self._samples(run, step)
        found = [_shown(sample) for sample in samples if sample.group == group]
        last = samples[-1].group if samples else 0
        return {"last": last, "label": self._runs[run].label, "rows": found} if found else None

    @property
    def _drawn_version(self) -> int:
        """A number that grows with all that figures show: logs, and the tables of completions."""
        return self._version + self._completions_version

    def _refresh(self) -> None:
        is_reading = any(index.left for index in self._indexes)
        if not is_reading and time.monotonic() - self._looked_at < _FRESH_SECONDS:
            return
        changes = [run.refresh() for run in self._runs]
        self._version += any(changes)
        until = time.monotonic() + _READING_SECONDS
        for followed, index in zip(self._runs, self._indexes, strict=True):
            if followed.run is not None and index.refresh(followed.run, until):
                self._completions_version += 1
        self._looked_at = time.monotonic()

    def _completions(self, selection: Selection) -> dict[str, Any]:
        """Returns how many completions there are, and what is not known of them."""
        indexes = [self._indexes[index] for index in selection]
        return {
            "version": self._completions_version,
            "count": len(self._all_rows(selection)),
            "left": sum(index.left for index in indexes),
            "broken": sum(index.broken for index in indexes),
            "unsearched": sum(index.unsearched for index in indexes),
        }

    def _all_rows(self, selection: Selection) -> list[Row]:
        version, rows = self._rows.get(selection, (-1, []))
        if version != self._completions_version:
            rows = [row for index in selection for row in self._indexes[index].rows()]
            if len(selection) > 1:
                rows.sort(key=lambda row: -row.step)
            self._rows = {selection: (self._completions_version, rows)}
        return rows

    def _found(self, selection: Selection, query: Wanted) -> list[Row]:
        """Returns what a query finds; its last answer is kept, for turning pages."""
        key = (selection, query, self._completions_version)
        if self._last_query[0] != key:
            self._last_query = (key, matching(self._all_rows(selection), query))
        return self._last_query[1]

    def _listed(self, row: Row) -> dict[str, Any]:
        listed = {name: value for name, value in dataclasses.asdict(row).items() if name in _LISTED}
        return listed | {"label": self._runs[row.run].label}

    def _samples(self, index: int, step: int) -> list[Sample]:
        """Reads a table's completions; those that were last read are kept."""
        if not 0 <= index < len(self._runs) or (run := self._runs[index].run) is None:
            return []
        key = (index, step)
        version, samples = self._tables.get(key, (-1, []))
        if version != self._completions_version:
            samples = self._indexes[index].samples(run, step)
            self._tables[key] = (self._completions_version, samples)
            while len(self._tables) > _MOST_TABLES:
                self._tables.popitem(last=False)
        return samples

    def _valid(self, wanted: Selection) -> Selection:
        """Returns the wanted runs that have begun; all that have begun if there is none of them."""
        known = [index for index, one in enumerate(self._runs) if one.run is not None]
        return tuple(index for index in known if index in wanted) or tuple(known)

    def _info(self, index: int) -> Run:
        run = self._runs[index].run
        assert run is not None
        return run

    def _numbers(self, subject: Subject, version: int, runs: Sequence[Run]) -> list[dict[str, Any]]:
        """Returns the numbers at the top; those of the last subject are kept."""
        if self._headline[0] != (subject, version):
            _, is_compared = subject
            if is_compared:
                numbers = compared_numbers(runs)
            else:
                numbers = [dataclasses.asdict(one) for one in headline(runs)] if runs else []
            self._headline = ((subject, version), numbers)
        return self._headline[1]

    def _told(self, followed: FollowedRun, index: CompletionIndex) -> dict[str, Any]:
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
            "progress": dataclasses.asdict(progress_of(run, silent, index.last_batch)),
        }


def _shown(sample: Sample) -> dict[str, Any]:
    """Returns a completion as the script of the page shows it."""
    values = dataclasses.asdict(sample)
    reward = next(iter(sample.rewards.values()), None)
    return values | {"reward": reward, "compared": compared(sample)}


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
