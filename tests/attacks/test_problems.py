"""Every problem is sound: the naive graders tell its solution from a wrong one."""

from __future__ import annotations

import pytest

from reward_server.domain import CallTests, FunctionTests
from tests.attacks.naive import Conclusion, Grader, conclude
from tests.attacks.problems import PROBLEMS, Problem

CHECKED_BY = {
    "measured": Grader.STDIO_TOLERANT,
    "unordered": Grader.STDIO_CONTAINS,
}


def _grader(problem: Problem) -> Grader:
    match problem.tests:
        case FunctionTests():
            return Grader.IN_PROCESS
        case CallTests():
            return Grader.PER_CASE
    return CHECKED_BY.get(problem.name, Grader.STDIO_EXACT)


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_a_problem_tells_its_solution_from_a_wrong_one(problem: Problem) -> None:
    grader = _grader(problem)
    solved = conclude(grader, problem.tests, problem.solution)
    failed = conclude(grader, problem.tests, problem.wrong, prompt=problem.prompt)
    assert (solved, failed) == (Conclusion.AWARDED, Conclusion.REFUSED)
