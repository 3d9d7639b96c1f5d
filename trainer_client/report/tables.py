"""TRL's tables of completions, without their texts: verdicts, rewards and groups.

A table has one row for each completion, gathered over processes in the order of their ranks. As in
TRL's own arithmetic, `num_generations` consecutive rows are a group, even if ranks share one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from trainer_client.report.runs import Run, number
from trainer_client.rewards.metrics import NO_RESULT

_NAME = re.compile(r"completions_(\d+)\.parquet")
PASSED = "PASSED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The completions of one prompt at one step.

    Args:
        passed: number of completions that passed.
        judged: number of completions with a verdict about the completion, and not about the task.
        rewards: rewards of the executing reward function, without missing ones.
    """

    step: int
    passed: int
    judged: int
    rewards: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One step's completions.

    Args:
        run: index of its run.
        verdicts: verdict of each row; None if the table has none.
        rewards: rewards of the executing reward function; None for a row that was not judged.
    """

    run: int
    step: int
    file: Path
    verdicts: Sequence[str | None]
    rewards: Sequence[float | None]

    @property
    def rows(self) -> int:
        """Number of completions."""
        return len(self.verdicts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """All tables of all runs, ordered by step and then by run.

    Args:
        broken: files that cannot be read, such as the one that a killed run was writing.
    """

    tables: Sequence[Table]
    broken: Sequence[Path]

    @property
    def has_verdicts(self) -> bool:
        """Returns True if any table has verdicts."""
        return any(found is not None for table in self.tables for found in table.verdicts)

    def groups(self, size: int) -> Iterator[Group]:
        """Splits the tables into groups of a given size."""
        for table in self.tables:
            yield from _groups(table, size)


def read_tables(runs: Sequence[Run]) -> Tables:
    """Reads every table of the runs, without texts.

    A step that trains on older completions writes their table again; it counts once.
    """
    tables: list[Table] = []
    broken: list[Path] = []
    for index, run in enumerate(runs):
        repeats = {line["step"] for line in run.metrics if "loss" in line and "reward" not in line}
        for step, file in _files(run.folder.completions):
            if step in repeats:
                continue
            try:
                tables.append(_read(index, step, file, run.info.reward))
            except (pa.ArrowException, OSError):
                broken.append(file)
    tables.sort(key=lambda table: (table.step, table.run))
    return Tables(tables=tables, broken=broken)


def read_rows(file: Path, columns: Iterable[str] | None = None) -> list[dict[str, object]]:
    """Reads a table's rows, with those of the named columns that the table has.

    Raises:
        pyarrow.ArrowException: the file is no Parquet file.
    """
    with pq.ParquetFile(file) as table:
        names = table.schema_arrow.names
        wanted = [name for name in names if columns is None or name in set(columns)]
        # Without a column, Arrow loses the number of rows.
        rows: list[dict[str, object]] = table.read(wanted or names[:1]).to_pylist()
    return rows


def finite(value: object) -> float | None:
    """Returns a reward of a table, or None if it is NaN or null there."""
    found = number(value)
    return found if found is not None and math.isfinite(found) else None


def _files(files: Iterable[Path]) -> Iterator[tuple[int, Path]]:
    for file in files:
        found = _NAME.fullmatch(file.name)
        if found is not None:
            yield int(found[1]), file


def _read(run: int, step: int, file: Path, reward: str) -> Table:
    verdict = f"{reward}_verdict"
    rows = read_rows(file, (reward, verdict))
    verdicts = [row.get(verdict) for row in rows]
    return Table(
        run=run,
        step=step,
        file=file,
        verdicts=[str(found) if found is not None else None for found in verdicts],
        rewards=[finite(row.get(reward)) for row in rows],
    )


def _groups(table: Table, size: int) -> Iterator[Group]:
    for start in range(0, table.rows, size):
        verdicts = table.verdicts[start : start + size]
        rewards = table.rewards[start : start + size]
        judged = [verdict for verdict in verdicts if verdict and verdict not in NO_RESULT]
        yield Group(
            step=table.step,
            passed=judged.count(PASSED),
            judged=len(judged),
            rewards=tuple(reward for reward in rewards if reward is not None),
        )
