"""Sends solutions, and answers that solve nothing, to a grader of another project over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from reward_server.audit.cheats.choice import cheats_of
from reward_server.audit.other_graders.results import GraderResult
from reward_server.audit.other_graders.submissions import (
    Submission,
    is_field_rewarded,
    is_run_rewarded,
    parts,
    run_code,
    tests_of,
    whole_solution,
)
from reward_server.audit.tasks import Task
from reward_server.cli.audits.posting import FAILURES, post
from reward_server.errors import SettingsError

_TIMEOUT_SECONDS = 60.0
_AT_ONCE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Grader:
    """A grader of another project.

    Args:
        url: the address that takes a submission.
        field: path of the field of the answer that holds the reward; "" for the answer of
            `/run_code` of SandboxFusion.
        tasks: greatest number of tasks that it is tried on.
    """

    url: str
    field: str = ""
    tasks: int = 20

    def __post_init__(self) -> None:
        split = urlsplit(self.url)
        if split.scheme not in ("http", "https") or not split.hostname:
            raise SettingsError(f"--grader {self.url}: must be an address that begins with http")

    @property
    def shown(self) -> str:
        """The address without credentials and query."""
        split = urlsplit(self.url)
        place = f"{split.hostname}:{split.port}" if split.port else str(split.hostname)
        return urlunsplit((split.scheme, place, split.path, "", ""))


async def try_grader(
    grader: Grader, tasks: Sequence[Task], advance: Callable[[], None]
) -> GraderResult:
    """Tries a grader with the tasks that can be sent as one program.

    A task counts only if its reference solution is rewarded: otherwise the grader might refuse
    everything, and a refusal would say nothing.
    """
    chosen = [task for task in tasks if task.reference and tests_of(task)][: grader.tasks]
    result = GraderResult(url=grader.shown, tasks=len(chosen))
    places = asyncio.Semaphore(_AT_ONCE)

    async def is_rewarded(one: Submission) -> bool | None:
        async with places:
            try:
                return await asyncio.to_thread(_ask, grader, one)
            except FAILURES as error:
                result.unanswered += 1
                result.problem = result.problem or str(error)[:200]
                return None

    async def try_task(task: Task) -> None:
        reference, *others = _submissions(task)
        if await is_rewarded(reference):
            result.references += 1
            for one, paid in zip(
                others, await asyncio.gather(*map(is_rewarded, others)), strict=True
            ):
                if paid is not None:
                    result.count(one.name, is_paid=paid)
        advance()

    await asyncio.gather(*map(try_task, chosen))
    return result


def _submissions(task: Task) -> Iterator[Submission]:
    """Yields the reference solution, and then the answers that solve nothing."""
    tests = tests_of(task)
    yield Submission(name="", solution=whole_solution(task), tests=tests)
    for cheat in cheats_of(task, with_hacks=True):
        # Constants differ from task to task; as a weakness of the grader they are one.
        name = "a constant" if cheat.kind == "constant_passes" else cheat.name
        yield Submission(name=name, solution=cheat.code, tests=tests)


def _ask(grader: Grader, one: Submission) -> bool:
    body = parts(one) if grader.field else run_code(one)
    told: Any = json.loads(post(grader.url, body, _TIMEOUT_SECONDS))
    return is_field_rewarded(told, grader.field) if grader.field else is_run_rewarded(told)
