"""Honest but awkward solutions pass."""

from __future__ import annotations

import pytest

from reward_server.domain import Extraction, Integrity, Limits, Verdict
from tests.honest.classes import NAMED
from tests.honest.functions import FUNCTIONS
from tests.honest.objects import OBJECTS
from tests.honest.programs import PROGRAMS
from tests.honest.solution import Solution
from tests.support.common import Judge, on_the_servers_loop

pytestmark = on_the_servers_loop


SHARED_BY_TEXT = ("objects of the tests'",)  # of a class of the tests' own
SOLUTIONS = (*FUNCTIONS, *NAMED, *OBJECTS, *PROGRAMS)


@pytest.mark.promise(
    "Honest solutions pass that use threads, processes, generators, callbacks or changes in place.",
    "Verdicts",
)
@pytest.mark.parametrize("solution", SOLUTIONS, ids=lambda solution: solution.name)
async def test_an_honest_solution_passes_with(solution: Solution, judge_of_two: Judge) -> None:
    is_shared = solution.name in SHARED_BY_TEXT
    label = Integrity.SHARED if is_shared else Integrity.ISOLATED
    assessment = await judge_of_two(
        solution.completion,
        solution.tests,
        prompt=solution.prompt,
        limits=Limits(),
        extraction=Extraction.AUTO,
        integrity=label,
    )
    assert assessment.verdict is Verdict.PASSED, (assessment.message, assessment.stderr.data)
    assert assessment.reward == 1.0
    assert assessment.integrity is label
    assert not assessment.signals
