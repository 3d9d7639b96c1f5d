"""Runs `baseline` in several processes, one for each slot of the server, so that both measurements
use the same number of cores."""

from __future__ import annotations

import ast
import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path

from benchmarks.measure import baseline
from reward_server.errors import StartError

_LINE_LIMIT = 1 << 20


class Bare:
    """Processes that each judge a share of the programs, in passes."""

    def __init__(self, processes: Sequence[Process]) -> None:
        self._processes = processes

    async def one_pass(self) -> float:
        """Judges every program once; returns the total CPU seconds.

        Raises:
            StartError: a program failed, so its time cannot be compared.
        """
        answers = await asyncio.gather(*map(_ask, self._processes))
        failures = sum(answer["failures"] for answer in answers)
        if failures:
            raise StartError(f"{failures:.0f} reference solutions fail in a bare interpreter")
        return sum(answer["own_cpu_seconds"] + answer["child_cpu_seconds"] for answer in answers)


@asynccontextmanager
async def bare_interpreters(
    programs: Sequence[str], count: int, modules: Sequence[str] = ()
) -> AsyncIterator[Bare]:
    """Starts interpreters that import the given modules, and ends them when the block ends.

    Args:
        programs: the programs, which the interpreters share.
        count: the number of interpreters.
        modules: the names of the modules.
    """
    processes = [await _start(programs[share::count], modules) for share in range(count)]
    try:
        yield Bare(processes)
    finally:
        for process in processes:
            assert process.stdin is not None
            process.stdin.close()
            await process.wait()


def preloaded() -> tuple[str, ...]:
    """Returns the names of the modules that a sandbox's interpreter preloads.

    They are read from the source of the runner.

    Raises:
        StartError: the source has no such list.
    """
    text = files("reward_server.runner.supervisor").joinpath("preloading.py").read_text("utf-8")
    for statement in ast.parse(text).body:  # noqa: TID251  # no thread parses here
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "PRELOADED":
            modules: tuple[str, ...] = ast.literal_eval(statement.value)
            return modules
    raise StartError("the runner's list of modules is not where it was")


async def _start(programs: Sequence[str], modules: Sequence[str]) -> Process:
    # These are the flags of the zygote, so both start in the same way.
    command = (sys.executable, "-I", "-S", str(Path(baseline.__file__)))
    process = await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=PIPE, limit=_LINE_LIMIT
    )
    await _send(process, json.dumps({"modules": modules, "programs": programs}))
    return process


async def _ask(process: Process) -> dict[str, float]:
    await _send(process, "pass")
    assert process.stdout is not None
    answer: dict[str, float] = json.loads(await process.stdout.readline())
    return answer


async def _send(process: Process, line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(line.encode() + b"\n")
    await process.stdin.drain()
