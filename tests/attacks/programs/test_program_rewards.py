"""Solutions that fool a grader by exit status get no reward for test programs.

Those in JavaScript are judged in the local sandbox, by `test_split_programs`.
A run takes some of the attacks; REWARD_SERVER_TEST_ALL=1 takes all.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

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
from tests.attacks.exit_status import awarded_by_exit_status
from tests.attacks.programs.program_attacks import (
    CPP_BORROWED,
    CPP_BORROWING_TESTS,
    PROGRAM_ATTACKS,
    SOLUTIONS,
    TESTS,
    ProgramAttack,
)
from tests.support.common import is_refused, on_the_servers_loop
from tests.support.sampling import sampled

pytestmark = on_the_servers_loop
INTEGRITY = {
    "c++": Integrity.SHARED,
    "java": Integrity.SHARED,
    "javascript": Integrity.ISOLATED,
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def app(program_images: tuple[str, ...]) -> AsyncIterator[App]:
    """Yields a server with the compilers."""
    settings = Settings(port=0, workers=2, backend="docker", images=program_images)
    async with running_app(settings) as running:
        yield running


async def _judged(
    app: App, language: str, completion: str, test_code: str | None = None
) -> Assessment:
    return await app.evaluation.score(
        Submission(
            language=language,
            completion=completion,
            extraction=Extraction.NONE,
            tests=ProgramTests(test_code=test_code or TESTS[language]),
        )
    )


@pytest.mark.parametrize("language", TESTS)
async def test_the_problem_is_solved_by_a_solution_alone(app: App, language: str) -> None:
    assessment = await _judged(app, language, SOLUTIONS[language])
    assert assessment.verdict is Verdict.PASSED, assessment.message
    assert assessment.reward == 1.0
    assert assessment.integrity is INTEGRITY[language]
    assert len(assessment.tests) == 6
    assert not assessment.signals
    assert await awarded_by_exit_status(app, language, SOLUTIONS[language])


@pytest.mark.parametrize("language", sampled(["c++11", "c++14", "c++20"], 2))
async def test_a_value_lives_while_it_is_compared(app: App, language: str) -> None:
    assessment = await _judged(app, language, CPP_BORROWED, CPP_BORROWING_TESTS)
    outcomes = [test.outcome.name for test in assessment.tests]
    assert outcomes == ["PASSED"] * 3 + ["SKIPPED"] + ["PASSED"] * 2, assessment.message
    assert assessment.reward == 1.0


ATTACKS = [attack for attack in PROGRAM_ATTACKS if attack.language != "javascript"]


@pytest.mark.promise("Our collected attacks, which beat naive graders, earn nothing.", "Verdicts")
@pytest.mark.parametrize(
    "attack", sampled(ATTACKS, 12), ids=lambda one: f"{one.language} {one.name}"
)
async def test_an_attack_that_beats_the_exit_status_gets_no_reward(
    app: App, attack: ProgramAttack
) -> None:
    assessment = await _judged(app, attack.language, attack.completion)
    assert is_refused(assessment), assessment
    assert assessment.integrity is INTEGRITY[attack.language]
    if attack.signal:
        assert assessment.signals.get(attack.signal), assessment


# It is said of the attacks alone: a run takes some of them.
@pytest.mark.parametrize(
    "attack", sampled(ATTACKS, 24), ids=lambda one: f"{one.language} {one.name}"
)
async def test_an_attack_beats_the_exit_status(app: App, attack: ProgramAttack) -> None:
    assert await awarded_by_exit_status(app, attack.language, attack.completion)
