"""Grades reference solutions and wrong ones, and shows the verdicts of each."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.async_client import AsyncRewardClient
from trainer_client.score import Score
from trainer_client.tasks import Row, humaneval

# Bodies that some graders pass, because they end the process quietly before a test reports.
WRONG_BODIES = (
    "    pass\n",
    "    return None\n",
    "    raise SystemExit(0)\n",
    "    import os\n    os._exit(0)\n",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """The scores of one group of solutions."""

    title: str
    scores: tuple[Score, ...]
    seconds: float

    def rewarded(self, reward: float) -> list[Score]:
        """Returns the scores that have the given reward."""
        return [score for score in self.scores if score.reward == reward]


def grade_humaneval(target: str, rows: Sequence[Row], console: Console) -> list[Graded]:
    """Grades each task's reference solution and one wrong solution, and prints a table."""
    right = [
        humaneval(row, row["canonical_solution"], id=f"{row['task_id']} right") for row in rows
    ]
    wrong = [
        humaneval(row, WRONG_BODIES[index % len(WRONG_BODIES)], id=f"{row['task_id']} wrong")
        for index, row in enumerate(rows)
    ]
    groups = {"reference solutions": right, "wrong solutions": wrong}
    graded = asyncio.run(_grade(target, groups, console))
    console.print(_table(graded))
    return graded


async def _grade(
    target: str, groups: dict[str, list[pb.ScoreRequest]], console: Console
) -> list[Graded]:
    columns = (TextColumn("{task.description:<20}"), BarColumn(), MofNCompleteColumn())
    graded = []
    async with AsyncRewardClient(target) as client:
        with Progress(*columns, TimeElapsedColumn(), console=console) as progress:
            for title, requests in groups.items():
                bar = progress.add_task(title, total=len(requests))
                started = time.monotonic()
                scores = await asyncio.gather(
                    *(_grade_one(client, request, progress, bar) for request in requests)
                )
                seconds = time.monotonic() - started
                graded.append(Graded(title=title, scores=tuple(scores), seconds=seconds))
    return graded


async def _grade_one(
    client: AsyncRewardClient, request: pb.ScoreRequest, progress: Progress, bar: TaskID
) -> Score:
    (score,) = await client.score([request])
    progress.advance(bar)
    return score


def _table(graded: Sequence[Graded]) -> Table:
    verdicts = {group.title: Counter(map(_verdict, group.scores)) for group in graded}
    names = sorted({name for counts in verdicts.values() for name in counts})
    table = Table("", "passed", *(name for name in names if name != "PASSED"), "verdicts/s")
    for group in graded:
        counts = [str(verdicts[group.title][name]) for name in names if name != "PASSED"]
        passed = f"{len(group.rewarded(1.0))} of {len(group.scores)}"
        table.add_row(group.title, passed, *counts, f"{len(group.scores) / group.seconds:.0f}")
    return table


def _verdict(score: Score) -> str:
    return "not judged" if score.verdict is None else score.verdict.name
