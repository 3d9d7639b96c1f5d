"""What the server adds by itself costs no solution its verdict, and outlasts no caller."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field, replace

import pytest

from reward_server.domain import (
    Ending,
    Execution,
    Framework,
    Job,
    Limits,
    RewardPolicy,
    Termination,
    TerminationKind,
    TestOutcome,
    UnitJudgement,
    UnitTests,
    Usage,
    Verdict,
)
from reward_server.errors import BudgetSpentError
from reward_server.evaluation.budget import Budget, budget_seconds, together_seconds
from reward_server.evaluation.evaluate import graded_within
from reward_server.evaluation.graders.base import Candidate
from reward_server.evaluation.graders.python_test_files import UnitGrader, plan
from reward_server.grading.verdict import conclude
from reward_server.languages import load_languages
from tests.support.in_process import module, ran

LIMITS = Limits(wall_time_seconds=30.0)
SECONDS = budget_seconds(240.0, LIMITS)
ONE_TEST = """import inspect, unittest
import solution
class TestF(unittest.TestCase):
    def test_f(self):
        inspect.signature(solution.f)
        self.assertEqual(solution.f(21), 210)
"""
RIGHT = module("def f(x):\n    return x * 10\n")


@dataclass(kw_only=True)
class Machine:
    """Runs test files for a right solution, each in so many seconds."""

    seconds: float
    copy_seconds: float | None = None
    jobs: list[Job] = field(default_factory=list)
    spent: float = 0.0

    async def run(self, job: Job) -> Execution:
        assert isinstance(job.work, UnitJudgement)
        seconds = self.seconds
        if job.is_copy and self.copy_seconds is not None:
            seconds = self.copy_seconds
        self.jobs.append(job)
        self.spent += seconds
        return Execution(
            ending=Ending.COMPLETED,
            termination=Termination(kind=TerminationKind.EXITED),
            tests=ran(dict(job.work.tests.files)["test_f.py"], RIGHT),
            usage=Usage(wall_time_seconds=seconds),
        )


async def verdict_of(machine: Machine, remaining: float) -> Verdict:
    tests = UnitTests(framework=Framework.UNITTEST, files=(("test_f.py", ONE_TEST),))
    grader = UnitGrader(tests=tests, plan=await plan(tests, ""), draw=random.Random(1))
    assert grader.cost(RewardPolicy()) >= 22
    candidate = Candidate(
        source="",
        prompt="",
        language=load_languages().find("python"),
        limits=LIMITS,
        policy=RewardPolicy(),
    )
    together = together_seconds(remaining, SECONDS, LIMITS)
    budget = Budget(machine, width=1, seconds=SECONDS, together_seconds=together)
    runs = await graded_within(grader, candidate, budget)
    assert all(test.outcome is not TestOutcome.NOT_RUN for run in runs for test in run.tests)
    return conclude(RewardPolicy(), runs).verdict


@pytest.mark.parametrize("seconds", [0.1, 11.0, 20.0, 29.9])
@pytest.mark.parametrize("remaining", [math.inf, 240.0 + 33 * 30.0 + 30.0])
async def test_an_honest_solution_is_not_refused_for_the_copies_of_a_slow_test(
    seconds: float, remaining: float
) -> None:
    machine = Machine(seconds=seconds)
    assert await verdict_of(machine, remaining) is Verdict.PASSED
    assert [job.is_copy for job in machine.jobs].count(False) == 1


@pytest.mark.promise(
    "A program that sleeps in each case gets its verdict before the deadline.", "Service"
)
@pytest.mark.parametrize("remaining", [300.0, 500.0])
@pytest.mark.parametrize(
    "machine",
    [Machine(seconds=29.9), Machine(seconds=0.1, copy_seconds=29.9), Machine(seconds=15.0)],
    ids=["sleeps always", "sleeps in copies", "sleeps half of its limit"],
)
async def test_a_sleeper_gets_its_verdict_before_the_deadline(
    machine: Machine, remaining: float
) -> None:
    machine = replace(machine, jobs=[], spent=0.0)
    outcome = await verdict_of(machine, remaining)
    assert machine.spent <= remaining
    if machine.copy_seconds or machine.seconds * 22 > remaining:
        assert outcome is Verdict.TIME_LIMIT_EXCEEDED


async def test_copies_take_no_time_from_what_the_tests_need() -> None:
    machine = Machine(seconds=29.9)
    budget = Budget(machine, width=1, seconds=SECONDS)
    tests = UnitTests(framework=Framework.UNITTEST, files=(("test_f.py", ONE_TEST),))
    own = Job(work=UnitJudgement(source="", tests=tests))
    for _ in range(30):
        await budget.run(replace(own, is_copy=True))
    for _ in range(9):
        await budget.run(own)
    with pytest.raises(BudgetSpentError, match="240 s that they share"):
        await budget.run(own)
    await budget.run(replace(own, is_copy=True))


@pytest.mark.parametrize("remaining", [1.0, 100.0, 269.0])
def test_a_short_deadline_leaves_the_budget_as_it_is(remaining: float) -> None:
    assert together_seconds(remaining, SECONDS, LIMITS) == SECONDS
