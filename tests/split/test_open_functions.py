"""Go and Rust test programs taken apart: honest solutions pass, attacks get nothing.

A run takes every third problem, and every sixth attack of each kind. REWARD_SERVER_TEST_ALL=1 takes
all.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from functools import cache

import pytest
import pytest_asyncio

from reward_server.app import App, running_app
from reward_server.domain import (
    Assessment,
    Extraction,
    Integrity,
    ProgramTests,
    Submission,
    Verdict,
)
from reward_server.settings import Settings
from tests.split import go_programs, rust_programs
from tests.split.programs import Corpus, Workshop, judged, refusal_of, workshop
from tests.support.common import SMALL_LIMITS, is_refused, on_the_servers_loop
from tests.support.sampling import sampled
from tests.support.tools import needs, offered

LIMITS = replace(SMALL_LIMITS, processes=64, cpu_time_seconds=3.0, wall_time_seconds=15.0)
CORPORA = (go_programs.CORPUS, rust_programs.CORPUS)


def rows(choose: Callable[[Corpus], Iterator[tuple[str, object]]]) -> list[object]:
    """Makes a table of corpora with what is chosen of each, under its name."""
    return [
        pytest.param(
            corpus,
            row,
            id=f"{corpus.language}-{name}",
            marks=needs(corpus.compiler),
        )
        for corpus in CORPORA
        for name, row in choose(corpus)
    ]


def attacks(corpus: Corpus) -> Iterator[tuple[str, str]]:
    for kind, members in corpus.attacks.items():
        for name, completion in sampled(list(members.items()), step=40):
            yield f"{kind} {name}", completion


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def app() -> AsyncIterator[App]:
    """Yields a server that has what is installed here."""
    async with running_app(Settings(port=0, workers=2, languages=offered("go", "rust"))) as running:
        yield running


@pytest.fixture(scope="module")
def shop_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Workshop]:
    return cache(lambda name: workshop(name, name, tmp_path_factory.mktemp(name)))


async def verdict(
    app: App, corpus: Corpus, prompt: str, completion: str, tests: str, **rest: object
) -> Assessment:
    submission = Submission(
        language=corpus.language,
        prompt=prompt,
        completion=completion,
        extraction=Extraction.NONE,
        tests=ProgramTests(test_code=tests),
        limits=LIMITS,
    )
    return await app.evaluation.score(replace(submission, **rest))  # type: ignore[arg-type]  # by name


@pytest.mark.promise("Honest solutions pass tests that run apart.", "Languages")
@on_the_servers_loop
@pytest.mark.parametrize(
    ("corpus", "problem"), rows(lambda one: iter(sampled(list(one.problems.items()), step=6)))
)
async def test_a_problem_is_solved_apart_and_not_without_a_body(
    app: App, corpus: Corpus, problem: tuple[str, str, str, str]
) -> None:
    prompt, body, empty, tests = problem
    right = await verdict(app, corpus, prompt, body, tests, require_integrity=Integrity.ISOLATED)
    assert right.verdict is Verdict.PASSED, right
    assert right.integrity is Integrity.ISOLATED
    wrong = await verdict(app, corpus, prompt, empty, tests)
    assert is_refused(wrong), wrong
    assert wrong.integrity is Integrity.ISOLATED
    assert wrong.usage.executions == 2  # nothing of the tests is compiled again


@pytest.mark.promise("Request and tests decide the label; no completion does.", "Labels")
@on_the_servers_loop
@pytest.mark.parametrize(
    ("corpus", "found"), rows(lambda one: iter([("whole", (one.whole, one.wrong))]))
)
async def test_without_a_prompt_no_signature_of_a_solution_decides_the_label(
    app: App, corpus: Corpus, found: tuple[str, str]
) -> None:
    right = await verdict(app, corpus, "", found[0], corpus.tests)
    assert (right.verdict, right.integrity) == (Verdict.PASSED, Integrity.SHARED), right
    for completion in (found[1], *corpus.signatures):
        wrong = await verdict(app, corpus, "", completion, corpus.tests)
        assert is_refused(wrong), wrong
        assert wrong.integrity is Integrity.SHARED


@on_the_servers_loop
@pytest.mark.parametrize(("corpus", "parts"), rows(lambda one: iter([("state", one.stateful)])))
async def test_what_cannot_be_taken_apart_is_judged_as_one_program(
    app: App, corpus: Corpus, parts: tuple[str, str]
) -> None:
    right = await verdict(app, corpus, *parts, corpus.tests)
    assert right.verdict is Verdict.PASSED, right
    assert right.integrity is Integrity.SHARED


@pytest.mark.promise("Attacks on tests that run apart earn nothing.", "Languages")
@on_the_servers_loop
@pytest.mark.parametrize(("corpus", "completion"), rows(attacks))
async def test_an_attack_gets_no_reward(app: App, corpus: Corpus, completion: str) -> None:
    assessment = await verdict(app, corpus, corpus.prompt, completion, corpus.tests)
    assert is_refused(assessment), assessment
    assert assessment.integrity is Integrity.ISOLATED


@on_the_servers_loop
@pytest.mark.parametrize(("corpus", "numbers"), rows(lambda one: iter([("", one.numbers)])))
async def test_no_number_but_the_right_one_passes(
    app: App, corpus: Corpus, numbers: tuple[str, str, tuple[str, ...]]
) -> None:
    tests, right, wrong = numbers
    prompt = right[: right.index("{") + 1] + "\n"
    said = await verdict(app, corpus, prompt, right, tests, require_integrity=Integrity.ISOLATED)
    assert said.verdict is Verdict.PASSED, said
    for completion in wrong:
        assessment = await verdict(app, corpus, prompt, completion, tests)
        assert is_refused(assessment), assessment


@pytest.mark.parametrize(
    ("corpus", "parts"), rows(lambda one: iter(sampled(list(one.values.items()), step=4)))
)
def test_values_stay_what_they_are(
    shop_of: Callable[[str], Workshop], corpus: Corpus, parts: tuple[str, str, str]
) -> None:
    prompt, body, checks = parts
    tests, shop = corpus.main(checks), shop_of(corpus.language)
    assert refusal_of(corpus.language, prompt, tests) == ""
    split = shop.taken_apart(prompt, tests)
    assert split is not None
    whole = body if re.search(r"\bfu?nc? f\b", body) else prompt + body
    outcome = judged(shop.tests_program(split, tests), shop.compiled(split.serving(whole)))
    assert outcome.passed, outcome
