"""Chooses the cheats of a task."""

from __future__ import annotations

from collections.abc import Iterator

from reward_server.audit.cheats.cheat import Cheat
from reward_server.audit.cheats.other_languages import continuations
from reward_server.audit.cheats.programs import program_cheats
from reward_server.audit.cheats.python_functions import python_cheats
from reward_server.audit.tasks import Task


def cheats_of(task: Task, *, with_hacks: bool) -> Iterator[Cheat]:
    """Yields the cheats of a task; the first is an empty answer."""
    if task.kind == "stdio":
        return program_cheats(task, with_hacks=with_hacks)
    if task.is_python:
        return python_cheats(task, with_hacks=with_hacks)
    return continuations(task, with_hacks=with_hacks)
