"""Right and wrong solutions of tasks, and attacks on graders, in a form that every peer accepts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import tasks as human_eval
from codereward.v1 import reward_service_pb2 as pb
from reward_server.audit.cheats.cheat import fenced
from reward_server.audit.cheats.choice import cheats_of
from reward_server.audit.other_graders.submissions import Submission, tests_of, whole_solution
from reward_server.audit.tasks import Task, TaskLineError, read_tasks
from reward_server.errors import StartError


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A solution of a task.

    Args:
        task: the task.
        solution: the solution, as a whole module.
        is_right: whether it solves the task.
        name: name of the attack, if it is one.
    """

    task: Task
    solution: str
    is_right: bool
    name: str = ""

    def submission(self, number: int) -> Submission:
        """Returns solution and tests for graders that take a program."""
        solution = f"{self.solution}\n# {number}\n"
        return Submission(name=self.name, solution=solution, tests=tests_of(self.task))

    def request(self, number: int) -> pb.ScoreRequest:
        """Returns the request for a reward server."""
        return self.task.filled(fenced(f"{self.solution}\n# {number}"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A right and a wrong solution of one task."""

    right: Case
    wrong: Case


def read_pairs(data: Path, count: int) -> list[Pair]:
    """Reads tasks that any peer can judge, with a right and a wrong solution of each.

    Args:
        data: rows of HumanEval, or lines that `reward-server audit` reads.
        count: greatest number of tasks, which are spread evenly over the file.

    Raises:
        StartError: the file holds no such task.
    """
    pairs = [pair for task in _read(data) if (pair := _pair(task)) is not None]
    if not pairs:
        raise StartError(
            f"{data} holds no task in Python with function tests or calls, and a reference solution"
        )
    count = min(count, len(pairs))
    return [pairs[number * len(pairs) // count] for number in range(count)]


def attacks(pairs: Sequence[Pair], count: int) -> list[Case]:
    """Returns the audit's generic attacks on graders, for each of the first tasks."""
    return [
        Case(task=pair.right.task, solution=cheat.code, is_right=False, name=cheat.name)
        for pair in pairs[:count]
        for cheat in cheats_of(pair.right.task, with_hacks=True)
        if cheat.kind == "hack_passes"
    ]


def _pair(task: Task) -> Pair | None:
    if not task.reference or not tests_of(task):
        return None
    right = Case(task=task, solution=whole_solution(task), is_right=True)
    # The reference runs, and the content of its results is changed: it costs what a right one does.
    for cheat in cheats_of(task, with_hacks=False):
        if cheat.kind == "shape_passes":
            wrong = Case(task=task, solution=cheat.code, is_right=False)
            return Pair(right=right, wrong=wrong)
    return None


def _read(data: Path) -> list[Task]:
    try:
        with data.open("rb") as lines:
            first = next((line for line in lines if line.strip()), b"")
            if b'"canonical_solution"' in first and "canonical_solution" in json.loads(first):
                rows = human_eval.read_tasks(data)
                return [_task(row, number) for number, row in enumerate(rows)]
            lines.seek(0)
            return list(read_tasks(lines))
    except (OSError, ValueError, TaskLineError) as error:
        raise StartError(f"{data}: {error}") from None


def _task(row: human_eval.Task, number: int) -> Task:
    template = row.request(number)
    template.completion = ""
    return Task(id=f"row {number}", line={}, template=template, shown="", reference=row.solution)
