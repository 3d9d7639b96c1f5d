"""Finds tasks that a file holds twice."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reward_server.audit.tasks import Task

_SPACE = re.compile(r"\s+")
_LEAST_QUESTION = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """A task that repeats an earlier one.

    Args:
        of: id of the earlier task.
        whole: whether tests and prompt are the same; otherwise only the prompt is.
    """

    of: str
    whole: bool


def repeats(tasks: Sequence[Task]) -> Mapping[str, Repeat]:
    """Returns, by id, the tasks that repeat an earlier one.

    Prompts are compared without regard to white space and letter case. Tests that are shared by
    several prompts are no repetition: the prompts may ask the same thing in other words on purpose.
    """
    found: dict[str, Repeat] = {}
    known: dict[str, dict[str, str]] = defaultdict(dict)  # question, digest, id
    for task in tasks:
        question = _SPACE.sub(" ", task.question).strip().lower()
        alike, digest = known[f"{task.language} {question}"], task.digest
        if digest in alike:
            found[task.id] = Repeat(of=alike[digest], whole=True)
        elif alike and len(question) >= _LEAST_QUESTION:
            found[task.id] = Repeat(of=next(iter(alike.values())), whole=False)
        alike.setdefault(digest, task.id)
    return found
