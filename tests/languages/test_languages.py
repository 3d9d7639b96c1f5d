"""Ten problems in every language: right, wrong, crashing and endless solutions, judged rightly.

A run takes a sample: of each language a solution of one kind, of half of them the right one, over
different problems, so that the languages together meet them all; every fourth one refuses what is
no program. REWARD_SERVER_TEST_ALL=1 takes every one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import pytest

from reward_server.app import App
from reward_server.domain import (
    Assessment,
    Extraction,
    Limits,
    ProgramTests,
    StdioCase,
    StdioTests,
    Submission,
    Tests,
    Verdict,
)
from reward_server.languages import Language, load_languages
from tests.support.sampling import TAKES_ALL, sampled

from .problems import PROBLEMS, SOLUTIONS, Problem, Solution, read_solutions

pytestmark = pytest.mark.asyncio(loop_scope="session")

ENDLESS_CPU_SECONDS = 1.0
KINDS = ("right", "wrong", "crashing", "endless")
# A test program tells by its exit alone that a check failed, in most languages' forms.
VERDICTS = {
    "right": {Verdict.PASSED},
    "wrong": {Verdict.FAILED},
    "crashing": {Verdict.RUNTIME_ERROR},
    "endless": {Verdict.TIME_LIMIT_EXCEEDED},
}
PROGRAM_VERDICTS = VERDICTS | {
    "wrong": {Verdict.FAILED, Verdict.RUNTIME_ERROR},
    "crashing": {Verdict.FAILED, Verdict.RUNTIME_ERROR},
}
LANGUAGES = tuple(one for one in load_languages().all if one.toolchain is not None)
FILES = {load_languages().find(path.stem).name: path for path in SOLUTIONS.iterdir()}
SOLVED = tuple(one for one in LANGUAGES if one.name in FILES)


class Attempt(NamedTuple):
    """One kind of solution of one problem."""

    problem: Problem
    solution: Solution
    kind: str

    @property
    def tests(self) -> Tests:
        """What judges it."""
        if self.solution.tests is not None:
            return ProgramTests(test_code=self.solution.tests)
        return StdioTests(
            cases=tuple(
                StdioCase(stdin=case.stdin.encode(), expected_stdout=case.stdout.encode())
                for case in self.problem.cases
            )
        )

    @property
    def verdicts(self) -> set[Verdict]:
        """Which verdicts are right."""
        return (VERDICTS if self.solution.tests is None else PROGRAM_VERDICTS)[self.kind]


def sampled_kinds(language: Language) -> set[str]:
    """Names the kind of solutions that a run takes of a language; of most the right one."""
    kinds = ("right", "wrong", "right", "crashing", "right", "endless")
    return {kinds[SOLVED.index(language) % len(kinds)]}


def attempts(language: Language) -> Iterator[Attempt]:
    """Yields what a run takes of a language."""
    solutions = read_solutions(FILES[language.name], language.comment)
    turn, kinds = SOLVED.index(language), sampled_kinds(language)
    for number, problem in enumerate(PROBLEMS):
        for kind_number, kind in enumerate(KINDS):
            is_sampled = kind in kinds and (number - turn) % len(PROBLEMS) == 3 * kind_number
            if is_sampled or TAKES_ALL:
                yield Attempt(problem, solutions[problem.name], kind)


async def judge(
    app: App, language: Language, text: str, tests: Tests, cpu_seconds: float = 10.0
) -> Assessment:
    limits = replace(language.default_limits(Limits()), cpu_time_seconds=cpu_seconds)
    return await app.evaluation.score(
        Submission(
            completion=text,
            language=language.name,
            tests=tests,
            limits=limits,
            extraction=Extraction.NONE,
        )
    )


async def complaint(app: App, language: Language, attempt: Attempt) -> str:
    """Judges an attempt; tells what is wrong with the verdict, or nothing."""
    seconds = ENDLESS_CPU_SECONDS if attempt.kind == "endless" else 10.0
    text = getattr(attempt.solution, attempt.kind)
    said = await judge(app, language, text, attempt.tests, seconds)
    if said.verdict in attempt.verdicts and (said.reward == 1.0) == (attempt.kind == "right"):
        return ""
    return f"{attempt.problem.name}, {attempt.kind}: {said.verdict.name} {said.message}"


@pytest.mark.promise(
    "Right, wrong, crashing and endless solutions are judged rightly in each language.", "Languages"
)
@pytest.mark.parametrize("language", SOLVED, ids=lambda language: language.name)
async def test_solutions_are_judged_rightly(language: Language, app: App) -> None:
    chosen = tuple(attempts(language))
    assert {one.kind for one in chosen} >= sampled_kinds(language)
    answers = await asyncio.gather(*(complaint(app, language, one) for one in chosen))
    assert list(filter(None, answers)) == []


@pytest.mark.parametrize("language", sampled(LANGUAGES, 4), ids=lambda language: language.name)
async def test_a_program_that_is_none_is_refused(language: Language, app: App) -> None:
    assert language.toolchain is not None
    tests = StdioTests(cases=(StdioCase(stdin=b"20 22\n", expected_stdout=b"42\n"),))
    said = await judge(app, language, language.probe.refused, tests)
    is_checked = bool(language.toolchain.program.compile)
    assert said.verdict is (Verdict.COMPILE_ERROR if is_checked else Verdict.RUNTIME_ERROR)


async def test_every_language_is_offered(app: App) -> None:
    assert {one.name for one in app.facts.languages} == {one.name for one in load_languages().all}


@pytest.mark.parametrize("header", sampled(["bits/stdc++.h", "iostream", "string", "vector"], 2))
async def test_headers_of_the_cpp_library_were_read_beforehand(header: str, app: App) -> None:
    source = f"#include <{header}>\n#include <cstdio>\nint main() {{ std::puts(__VERSION__); }}"
    tests = StdioTests(cases=(StdioCase(stdin=b"", expected_stdout=b"12.2.0\n"),))
    languages = [load_languages().find(name) for name in ("c++17", "c++14")]
    ratios: list[float] = []
    while not ratios or ratios[-1] >= 0.8:
        assert len(ratios) < 3, ratios  # what else the machine does may cost one CPU time
        text = f"{source}\n// {len(ratios)}"
        read, unread = [await judge(app, language, text, tests) for language in languages]
        assert read.verdict is unread.verdict is Verdict.PASSED
        ratios.append(read.usage.cpu_time_seconds / unread.usage.cpu_time_seconds)


@pytest.mark.parametrize("name", ["javascript", "typescript"])
async def test_what_asserts_cannot_be_replaced_by_the_solution(name: str, app: App) -> None:
    language = load_languages().find(name)
    tests = ProgramTests(
        test_code="const a = require('assert');\n"
        "for (const [x, want] of [[1, 2], [2, 3]]) a.strictEqual(f(x), want);\n"
    )
    right = "function f(x) { return x + 1; }"
    cheat = "require('assert').strictEqual = () => {}; function f(x) { return 0; }"
    assert (await judge(app, language, right, tests)).verdict is Verdict.PASSED
    assert (await judge(app, language, cheat, tests)).verdict is Verdict.FAILED
