"""A language that does not do what its probe programs say is found out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from reward_server.domain import (
    CapturedStream,
    Commands,
    Ending,
    Execution,
    Job,
    LimitKind,
    Limits,
    Program,
    Termination,
    TerminationKind,
)
from reward_server.errors import SandboxError
from reward_server.evaluation.language_check import try_language
from reward_server.languages import load_languages

CPP, PYTHON = (load_languages().find(name) for name in ("c++", "python"))
DONE = Execution(ending=Ending.COMPLETED, termination=Termination(kind=TerminationKind.EXITED))
SAID_42 = replace(DONE, stdout=CapturedStream(data=b"42\n", size_bytes=3))
EXITED_3 = replace(DONE, termination=Termination(kind=TerminationKind.EXITED, value=3))
ABORTED = replace(
    DONE, ending=Ending.CRASHED, termination=Termination(kind=TerminationKind.SIGNALED, value=6)
)
ENDLESS = replace(DONE, ending=Ending.LIMIT, limits_hit=(LimitKind.CPU_TIME,))
WAITING = replace(DONE, ending=Ending.LIMIT, limits_hit=(LimitKind.WALL_TIME,))
REFUSED = replace(DONE, ending=Ending.COMPILE_ERROR)


class Machine:
    """Compiles all but what is refused; runs a program as its name says."""

    def __init__(self, runs: Mapping[str, Execution], refused: Execution) -> None:
        self._runs = runs
        self._refused = refused

    async def run(self, job: Job) -> Execution:
        work = job.work
        if isinstance(work, Program):
            return self._answer(work.source, PYTHON.name)
        assert isinstance(work, Commands)
        if work.keep:
            source = next(iter(work.files.values())).decode()
            answer = self._refused if source == CPP.probe.refused else DONE
            return replace(answer, product=source.encode())
        return self._answer(work.product.decode(), CPP.name)

    def _answer(self, source: str, name: str) -> Execution:
        probe = load_languages().find(name).probe
        if source == probe.refused:
            return self._refused
        kinds = {probe.works: "works", probe.fails: "fails", probe.endless: "endless"}
        return self._runs[kinds[source]]


RIGHT = {"works": SAID_42, "fails": EXITED_3, "endless": ENDLESS}


@pytest.mark.parametrize("fails", [EXITED_3, ABORTED])
async def test_a_language_that_works_has_no_problems(fails: Execution) -> None:
    runs = {**RIGHT, "fails": fails}
    assert await try_language(CPP, Machine(runs, EXITED_3), Limits()) == ()
    assert await try_language(PYTHON, Machine(runs, REFUSED), Limits()) == ()


@pytest.mark.parametrize(
    ("runs", "refused", "problem"),
    [
        ({"fails": DONE}, EXITED_3, "a program that fails"),
        ({"fails": ENDLESS}, EXITED_3, "a program that fails"),
        ({"endless": DONE}, EXITED_3, "an endless program"),
        ({"endless": WAITING}, EXITED_3, "an endless program"),
        ({}, DONE, "a program that is refused"),
    ],
)
async def test_what_is_judged_wrongly_is_named(
    runs: Mapping[str, Execution], refused: Execution, problem: str
) -> None:
    problems = await try_language(CPP, Machine({**RIGHT, **runs}, refused), Limits())
    assert problems == (f"{problem} is not judged so",)


async def test_a_language_that_runs_nothing_is_an_error() -> None:
    with pytest.raises(SandboxError, match="does not work here"):
        await try_language(CPP, Machine({**RIGHT, "works": DONE}, EXITED_3), Limits())
