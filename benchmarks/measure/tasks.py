"""Rows of HumanEval as requests, all of them different."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from codereward.v1 import reward_service_pb2 as pb
from reward_server.errors import StartError

_FIELDS = ("prompt", "canonical_solution", "test", "entry_point")


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A problem with its reference solution."""

    prompt: str
    solution: str
    test: str
    entry_point: str

    @property
    def program(self) -> str:
        """Solution and tests as one program."""
        return f"{self.prompt}{self.solution}\n{self.test}\ncheck({self.entry_point})\n"

    def request(self, number: int) -> pb.ScoreRequest:
        """Returns a request that differs from those of other numbers, to prevent shared answers."""
        return pb.ScoreRequest(
            prompt=self.prompt,
            completion=f"{self.solution}\n# {number}\n",
            function=pb.FunctionTests(entry_point=self.entry_point, test_code=self.test),
        )


def read_tasks(data: Path) -> list[Task]:
    """Reads a file of HumanEval rows.

    Raises:
        StartError: the file is empty, or holds other rows.
    """
    try:
        rows = [json.loads(line) for line in data.read_text("utf-8").splitlines() if line.strip()]
        tasks = [_task(*(str(row[name]) for name in _FIELDS)) for row in rows]
    except (OSError, ValueError, KeyError, TypeError) as error:
        needed = ", ".join(_FIELDS)
        raise StartError(f"{data} is no HumanEval.jsonl, with {needed}: {error!r}") from None
    if not tasks:
        raise StartError(f"{data} holds no tasks")
    return tasks


def requests(tasks: Sequence[Task]) -> Iterator[bytes]:
    """Yields an endless sequence of encoded requests, all different."""
    for number, task in enumerate(itertools.cycle(tasks)):
        yield task.request(number).SerializeToString()


def batches(tasks: Sequence[Task], first: int, size: int) -> list[bytes]:
    """Returns one pass over the tasks as encoded batches.

    Args:
        tasks: what is judged.
        first: the number of the first request. Requests with different numbers differ.
        size: the most requests of one batch.
    """
    numbered = [task.request(number) for number, task in enumerate(tasks, first)]
    parts = (numbered[begin : begin + size] for begin in range(0, len(numbered), size))
    return [pb.ScoreBatchRequest(requests=part).SerializeToString() for part in parts]


def _task(prompt: str, solution: str, test: str, entry_point: str) -> Task:
    return Task(prompt=prompt, solution=solution, test=test, entry_point=entry_point)
