"""Every problem is sound: naive graders and the server tell its solution from a wrong one."""

from __future__ import annotations

import asyncio

import pytest

from reward_server.domain import CallTests, FunctionTests, Integrity, Verdict
from tests.attacks.corpus import shared
from tests.attacks.naive import Conclusion, Grader, conclude
from tests.attacks.problems import PROBLEMS, Problem
from tests.support.common import Judge, is_refused, on_the_servers_loop
from tests.support.sampling import sampled

pytestmark = on_the_servers_loop

SHARED = tuple(attack.problem for attack in shared.ATTACKS)
LEAST = Integrity.SHARED  # some use a framework of tests
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


async def _concluded(problem: Problem, completion: str) -> Conclusion:
    return await asyncio.to_thread(conclude, _grader(problem), problem.tests, completion)


@pytest.mark.parametrize(
    "problem", sampled([*PROBLEMS, *SHARED], 2), ids=lambda problem: problem.name
)
async def test_a_problem_tells_its_solution_from_a_wrong_one(
    problem: Problem, judge: Judge
) -> None:
    solved, failed, right, wrong = await asyncio.gather(
        _concluded(problem, problem.solution),
        _concluded(problem, problem.wrong),
        judge(problem.solution, problem.tests, prompt=problem.prompt, integrity=LEAST),
        judge(problem.wrong, problem.tests, prompt=problem.prompt, integrity=LEAST),
    )
    assert (solved, failed) == (Conclusion.AWARDED, Conclusion.REFUSED)
    assert (right.verdict, right.reward) == (Verdict.PASSED, 1.0)
    assert is_refused(wrong)
