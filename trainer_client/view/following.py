"""Follows the files of a run that another process writes.

A file is read from where the last reading ended, up to its last whole line. If what was read before
is no longer there, because the file was replaced or cut, it is read again from its beginning.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

from trainer_client.errors import ConfigError
from trainer_client.report.runs import Run
from trainer_client.run_folder import (
    Event,
    RunFolder,
    RunInfo,
    evaluation_of,
    last_evaluations,
    parsed_lines,
    steps_of,
)

Item = TypeVar("Item")
_REMEMBERED_BYTES = 256


class LineFollower:
    """Reads the lines that were appended to a file since the last reading.

    Args:
        file: the file, which need not exist.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._offset = 0
        self._before = b""

    def read(self) -> tuple[bool, list[dict[str, Any]]]:
        """Returns the lines, and True if they replace all lines that were read before."""
        try:
            with self._file.open("rb") as file:
                file.seek(self._offset - len(self._before))
                is_other = file.read(len(self._before)) != self._before
                if is_other:
                    file.seek(0)
                content = file.read()
        except OSError:
            is_other, content = bool(self._offset), b""
        if is_other:
            self._offset, self._before = 0, b""
        whole = content[: content.rfind(b"\n") + 1]
        self._offset += len(whole)
        self._before = (self._before + whole)[-_REMEMBERED_BYTES:]
        return is_other, parsed_lines(whole)


class FollowedRun:
    """A run whose files grow.

    Args:
        path: the run's folder, which need not exist yet.
        label: the name under which the run is shown.
    """

    def __init__(self, path: Path, label: str) -> None:
        self.path, self.label = path, label
        self.folder = RunFolder(path)
        self.problem = ""
        self._info: RunInfo | None = None
        self._info_state: tuple[int, int, int] | None = None
        self._metrics = _Growing(path / "metrics.jsonl", _step)
        self._evaluations = _Growing(path / "evaluations.jsonl", evaluation_of)
        self._events = _Growing(path / "events.jsonl", _event)
        self.run: Run | None = None

    @property
    def unread_lines(self) -> int:
        """Number of whole lines that are not those of a run."""
        return sum(part.unread for part in (self._metrics, self._evaluations, self._events))

    @property
    def written_at(self) -> float:
        """The time at which the run last wrote, in seconds since 1970; 0 if it never did."""
        names = ("run.json", "metrics.jsonl", "evaluations.jsonl", "events.jsonl", "completions")
        return max(_changed_at(self.path / name) for name in names)

    def refresh(self) -> bool:
        """Reads what was written since the last call; returns True if anything was."""
        parts = (self._metrics, self._evaluations, self._events)
        changes = [self._read_info(), *(part.refresh() for part in parts)]
        if self._info is None or not any(changes):
            return any(changes)
        self.run = Run(
            label=self.label,
            folder=self.folder,
            info=self._info,
            metrics=steps_of(self._metrics.items),
            evaluations=last_evaluations(self._evaluations.items),
            events=list(self._events.items),
        )
        return True

    def _read_info(self) -> bool:
        """Reads the description of the run again if its file was replaced."""
        try:
            found = (self.path / "run.json").stat()
        except OSError:
            self.problem = "" if self._info else "no run yet: run.json is absent"
            return False
        state = (found.st_mtime_ns, found.st_size, found.st_ino)
        if state == self._info_state:
            return False
        try:
            self._info, self.problem = self.folder.info(), ""
        except ConfigError as error:
            self.problem = str(error)
            return False
        self._info_state = state
        return True


class _Growing(Generic[Item]):
    """The items of a file, one for each line."""

    def __init__(self, file: Path, parse: Callable[[dict[str, Any]], Item]) -> None:
        self._lines = LineFollower(file)
        self._parse = parse
        self.items: list[Item] = []
        self.unread = 0

    def refresh(self) -> bool:
        is_other, lines = self._lines.read()
        if is_other:
            self.items, self.unread = [], 0
        for line in lines:
            try:
                self.items.append(self._parse(line))
            except (AttributeError, KeyError, TypeError):
                self.unread += 1
        return is_other or bool(lines)


def _step(line: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(line["step"], int):
        raise TypeError("a step is a number")
    return line


def _event(line: dict[str, Any]) -> Event:
    return Event(**line)


def _changed_at(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def labels_of(paths: list[Path]) -> list[str]:
    """Names runs by their folders, and by their whole paths if two folders have the same name."""
    names = [path.resolve().name for path in paths]
    return names if len(set(names)) == len(names) else [str(path) for path in paths]
