"""Honest but awkward programs pass, and answers to problems with JSON arguments."""

from __future__ import annotations

import pytest

from reward_server.domain import Extraction, Integrity, Limits, Verdict
from tests.honest.calls import CALLS
from tests.honest.programs import PROGRAMS
from tests.honest.solution import Solution
from tests.support.common import Judge, on_the_servers_loop

pytestmark = on_the_servers_loop


@pytest.mark.promise(
    "Honest solutions pass that use threads, processes, generators, callbacks or changes in place.",
    "Verdicts",
)
@pytest.mark.parametrize("solution", [*PROGRAMS, *CALLS], ids=lambda solution: solution.name)
async def test_an_honest_solution_passes_with(solution: Solution, judge_of_two: Judge) -> None:
    assessment = await judge_of_two(
        solution.completion,
        solution.tests,
        prompt=solution.prompt,
        limits=Limits(),
        extraction=Extraction.AUTO,
    )
    assert assessment.verdict is Verdict.PASSED, (assessment.message, assessment.stderr.data)
    assert assessment.reward == 1.0
    assert assessment.integrity is Integrity.ISOLATED
    assert not assessment.signals
