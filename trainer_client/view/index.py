"""An index of a run's completions, which grows with the run and is searched in memory.

A table is read once, and again if its file changes: TRL writes it in place, and a resumed run
writes some tables again. The index keeps what lists show and what is searched. Lower-case texts are
kept of the newest completions, up to a limit of characters; older completions are found by
everything but their text. To open a completion, its table is read again.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pyarrow as pa

from trainer_client.report.runs import Run
from trainer_client.report.samples import Sample, samples_of, signal_kinds

MOST_CHARACTERS = 400_000_000
_NAME = re.compile(r"completions_(\d+)\.parquet")
FileState = tuple[int, int, int]


@dataclass(slots=True, kw_only=True)
class Row:
    """A completion in lists.

    Args:
        place: its row in its table, from 0.
        length: characters of the completion.
        prompt: the prompt in lower case; None if it is no longer kept.
        text: completion, messages and task in lower case; None if it is no longer kept.
    """

    run: int
    step: int
    group: int
    place: int
    verdict: str
    task: str
    reward: float | None
    advantage: float | None
    length: int
    turns: int
    integrity: str
    signals: tuple[str, ...]
    prompt: str | None
    text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    file: Path
    state: FileState
    rows: list[Row]
    characters: int


class CompletionIndex:
    """The completions of a run.

    Args:
        index: the run's number on the page.
        folder: the run's folder.
        most_characters: limit of the texts that are kept.
    """

    def __init__(self, index: int, folder: Path, most_characters: int = MOST_CHARACTERS) -> None:
        self._index, self._folder = index, folder / "completions"
        self._most = most_characters
        self._tables: dict[int, _Table] = {}
        self._broken: dict[int, FileState] = {}
        self._repeats: frozenset[int] = frozenset()
        self.left = 0
        self.unsearched = 0

    @property
    def broken(self) -> int:
        """Number of tables that cannot be read, such as one that is being written."""
        return len(self._broken)

    def refresh(self, run: Run, until: float) -> bool:
        """Reads new tables, the newest first; returns True if the index changed.

        Args:
            run: the run as it is now.
            until: time of the monotonic clock after which no further table is begun.
        """
        repeats = repeated_steps(run)
        found = dict(self._files())
        gone = self._tables.keys() - found.keys()
        for step in gone:
            del self._tables[step]
        self._broken = {step: state for step, state in self._broken.items() if step in found}
        unread = [step for step in found if self._state(step) != found[step][1]]
        changed = bool(gone) or repeats != self._repeats
        self._repeats = repeats
        for count, step in enumerate(sorted(unread, reverse=True)):
            if count and time.monotonic() > until:
                break
            unread.remove(step)
            changed |= self._read(run, step, *found[step])
        self.left = len(unread)
        if changed:
            self._keep_texts()
        return changed

    @property
    def last_batch(self) -> int:
        """Number of completions of the last step that was read; 0 if there is none."""
        steps = self._tables.keys() - self._repeats
        return len(self._tables[max(steps)].rows) if steps else 0

    def rows(self) -> list[Row]:
        """Returns all completions, the newest step first; those of a step in their order."""
        steps = sorted(self._tables.keys() - self._repeats, reverse=True)
        return [row for step in steps for row in self._tables[step].rows]

    def samples(self, run: Run, step: int) -> list[Sample]:
        """Reads the completions of a step with their texts; none if there is no such table."""
        table = self._tables.get(step)
        return [] if table is None else samples_of(run, self._index, step, table.file)

    def _files(self) -> Iterator[tuple[int, tuple[Path, FileState]]]:
        try:
            entries = list(os.scandir(self._folder))
        except OSError:
            return
        for entry in entries:
            name = _NAME.fullmatch(entry.name)
            if name is not None:
                found = entry.stat()
                state = (found.st_mtime_ns, found.st_size, found.st_ino)
                yield int(name[1]), (Path(entry.path), state)

    def _state(self, step: int) -> FileState | None:
        """Returns the state in which a table was last read or could not be read."""
        table = self._tables.get(step)
        return self._broken.get(step, table.state if table is not None else None)

    def _read(self, run: Run, step: int, file: Path, state: FileState) -> bool:
        try:
            samples = samples_of(run, self._index, step, file)
        except (pa.ArrowException, OSError):
            self._broken[step] = state
            return False
        self._broken.pop(step, None)
        rows = [_row(sample, place) for place, sample in enumerate(samples)]
        for before, row in pairwise(rows):
            if row.prompt == before.prompt:
                row.prompt = before.prompt
        characters = sum(len(row.text or "") for row in rows)
        characters += sum(len(text) for text in {row.prompt or "" for row in rows})
        self._tables[step] = _Table(file=file, state=state, rows=rows, characters=characters)
        return True

    def _keep_texts(self) -> None:
        """Forgets the texts of the oldest tables above the limit."""
        kept = 0
        self.unsearched = 0
        for step in sorted(self._tables, reverse=True):
            table = self._tables[step]
            kept += table.characters
            if kept <= self._most:
                continue
            self.unsearched += len(table.rows)
            for row in table.rows:
                row.prompt = row.text = None


def repeated_steps(run: Run) -> frozenset[int]:
    """Returns the steps that trained on older completions, whose tables repeat others."""
    return frozenset(
        line["step"] for line in run.metrics if "loss" in line and "reward" not in line
    )


def _row(sample: Sample, place: int) -> Row:
    told = (sample.message, sample.failing_test, sample.task, sample.signals)
    texts = [text for _, text in sample.completion]
    return Row(
        run=sample.run,
        step=sample.step,
        group=sample.group,
        place=place,
        verdict=sys.intern(sample.verdict),
        task=sys.intern(sample.task),
        reward=next(iter(sample.rewards.values()), None),
        advantage=sample.advantage,
        length=sum(len(text) for text in texts) + sample.cut,
        turns=sample.turns,
        integrity=sys.intern(sample.integrity),
        signals=tuple(signal_kinds(sample.signals)),
        prompt="\n".join(text for _, text in sample.prompt).lower(),
        text="\n".join([*texts, *told]).lower(),
    )
