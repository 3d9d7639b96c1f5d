"""Tests that are one program with the solution: no more than SHARED is said of them.

Each of these tests is passed by a solution that solves nothing, which neither nonces nor
decoys tell from a right one. `tests.unit.evaluation.test_programs` has further members of the
class.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

import pytest
import pytest_asyncio

from reward_server.app import App, running_app
from reward_server.domain import (
    MEBIBYTE,
    Execution,
    Extraction,
    Framework,
    Integrity,
    Job,
    Limits,
    Network,
    ProgramTests,
    Submission,
    Tests,
    UnitTests,
)
from reward_server.errors import UnsupportedError
from reward_server.evaluation import Evaluation
from reward_server.languages import load_languages
from reward_server.scheduler import Scheduler
from reward_server.settings import Settings
from tests.support.common import on_the_servers_loop
from tests.support.tools import require

pytestmark = on_the_servers_loop
LIMITS = Limits(
    cpu_time_seconds=20.0, wall_time_seconds=60.0, memory_bytes=700 * MEBIBYTE, processes=32
)
LISTS = ((3, 1, 2), (5, 4, 9), (8, 7), (1, 0, 0, 4), (30, 10, 20), (6, 5, 2, 1))
WORDS = ((3, "YES"), (4, "NO"), (7, "YES"), (9, "NO"), (11, "YES"), (12, "NO"), (13, "YES"))
ASSERT = "#undef NDEBUG\n#include <assert.h>\n"
NODE = "const test = require('node:test');\nconst assert = require('node:assert');\n"
NODE += "const { sq } = require('./solution');\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lie:
    """Tests, and a solution that passes them and solves nothing."""

    name: str
    language: str
    tests: Tests
    completion: str = ""
    network: Network = Network.LOOPBACK  # with which nothing runs apart


def vector(values: tuple[int, ...] | list[int]) -> str:
    return f"std::vector<int>({{{', '.join(map(str, values))}}})"


def cpp(name: str, body: str, completion: str = "") -> Lie:
    tests = ProgramTests(test_code=f"{ASSERT}int main() {{ {body} }}\n")
    return Lie(name=name, language="c++", tests=tests, completion=completion)


def javascript(name: str, body: str, completion: str = "") -> Lie:
    tests = ProgramTests(test_code=f"const assert = require('node:assert');\n{body}\n")
    return Lie(name=name, language="javascript", tests=tests, completion=completion)


def node(name: str, body: str) -> Lie:
    files = (("a.test.js", f"{NODE}test('a', (t, done) => {{ {body} }});\n"),)
    tests = UnitTests(framework=Framework.NODE_TEST, files=files)
    return Lie(name=name, language="javascript", tests=tests, network=Network.NONE)


COARSER = (
    cpp(
        "equality is coarser by the order",
        "".join(f"assert(srt({vector(v)}) == {vector(sorted(v))}); " for v in LISTS),
        "#include <vector>\n#include <algorithm>\nusing V = std::vector<int>;\n"
        "struct L { V v; bool operator==(V o) const { V a = v; std::sort(a.begin(), a.end());"
        " std::sort(o.begin(), o.end()); return a == o; } };\nL srt(V v) { return {v}; }",
    ),
    javascript(
        "what writes sorts before",
        "".join(
            f"assert(JSON.stringify(srt({[*v]})) === JSON.stringify({sorted(v)}));\n" for v in LISTS
        ),
        "const _s = JSON.stringify; JSON.stringify = (v) => _s([...v].sort());\n"
        "const srt = (x) => x;",
    ),
)
LIES = (
    *COARSER,
    cpp(
        "words of the domain are all that equals",
        " ".join(f'assert(verdict({number}) == "{word}");' for number, word in WORDS),
    ),
    cpp("the exit status decides", "assert(sq(2) == 4); return sq(20) != 400;"),
    javascript(
        "a rejected promise decides",
        "assert(sq(2) === 4);\n"
        "Promise.resolve(sq(20)).then((v) => v == 400 ? 0 : Promise.reject(new Error('no')));",
    ),
    javascript("a look-up decides", "assert(sq(2) === 4);\n({400: () => 0})[sq(20)]();"),
    node("a caller's line tells", "assert.strictEqual(sq(20), 400); done();"),
    node("nothing is looked into", "assert.equal(sq(2), 4); ({ 400: [] })[sq(20)].length; done();"),
    node("a callback decides", "assert.equal(sq(2), 4); done(sq(20) === 400 ? null : Error());"),
)
of_each = pytest.mark.parametrize("lie", LIES, ids=lambda lie: f"{lie.language}: {lie.name}")


class Idle:
    """Runs nothing."""

    slots = 1

    async def run(self, job: Job) -> Execution:
        raise AssertionError(job)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def app() -> AsyncIterator[App]:
    """Yields a server that has what is installed here."""
    require("g++", "node")
    async with running_app(Settings(port=0, workers=1)) as running:
        yield running


def submission(lie: Lie, required: Integrity) -> Submission:
    return Submission(
        language=lie.language,
        completion=lie.completion,
        extraction=Extraction.NONE,
        tests=lie.tests,
        limits=LIMITS,
        network=lie.network,
        require_integrity=required,
    )


@of_each
async def test_more_than_shared_is_refused_before_anything_runs(lie: Lie) -> None:
    evaluation = Evaluation(Scheduler(Idle()), load_languages(), provenance={})
    for required in (Integrity.SHARED_TWINS, Integrity.ISOLATED):
        with pytest.raises(UnsupportedError, match=f"{required.name} is not .* SHARED is"):
            await evaluation.score(submission(lie, required))


@pytest.mark.parametrize("lie", COARSER, ids=lambda lie: lie.language)
async def test_what_is_paid_is_labelled_shared(lie: Lie, app: App) -> None:
    assessment = await app.evaluation.score(submission(lie, Integrity.SHARED))
    assert assessment.integrity is Integrity.SHARED


async def test_the_same_tests_do_not_pay_it_where_they_run_apart(app: App) -> None:
    apart = replace(COARSER[1], network=Network.NONE)
    assessment = await app.evaluation.score(submission(apart, Integrity.ISOLATED))
    assert (assessment.reward, assessment.integrity) == (0.0, Integrity.ISOLATED)
