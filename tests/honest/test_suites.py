"""Honest test files pass a right solution, however awkward they are, and refuse an empty one."""

from __future__ import annotations

import asyncio

import pytest

from reward_server.domain import TestOutcome, Verdict
from tests.honest.suites import SUITES, TOGETHER, Suite
from tests.support.common import FILE_LIMITS, Judge, is_refused, on_the_servers_loop
from tests.support.sampling import sampled, times

pytestmark = on_the_servers_loop

LEAST = 25
TIMES = {
    "the module is patched": times(20, by_default=4),
    "rows of parameters beside a seeded solution": times(5, by_default=2),
    "equalities of its own, and an error of two kinds": times(12, by_default=2),
}
REPEATED = [suite for suite in TOGETHER if suite.name in TIMES]


async def test_there_are_suites_enough() -> None:
    assert len(SUITES) >= LEAST
    assert len({suite.name for suite in SUITES}) == len(SUITES)


@pytest.mark.parametrize("suite", sampled(SUITES, 4), ids=lambda suite: suite.name)
async def test_a_suite_passes_a_right_solution_and_no_empty_one(
    suite: Suite, judge_of_files: Judge
) -> None:
    right, wrong = await asyncio.gather(
        judge_of_files(suite.solution, suite.tests, limits=FILE_LIMITS, integrity=suite.integrity),
        judge_of_files("pass\n", suite.tests, limits=FILE_LIMITS, integrity=suite.integrity),
    )
    assert right.verdict is Verdict.PASSED, (right.message, right.tests, right.stderr.data)
    assert right.reward == 1.0
    assert right.integrity is suite.integrity
    assert not right.signals
    skipped = [test for test in right.tests if test.outcome is TestOutcome.SKIPPED]
    assert len(skipped) == suite.skipped
    assert len({test.name for test in right.tests}) == len(right.tests)
    assert is_refused(wrong)


@pytest.mark.promise(
    "A right solution passes, whichever assertions its copies make wrong.", "Labels"
)
@pytest.mark.parametrize("suite", REPEATED, ids=lambda suite: suite.name)
async def test_no_secret_turns_a_right_solution_down(suite: Suite, judge_of_files: Judge) -> None:
    assessments = await asyncio.gather(
        *(
            judge_of_files(
                f"{suite.solution}\n# {number}\n",
                suite.tests,
                limits=FILE_LIMITS,
                integrity=suite.integrity,
            )
            for number in range(TIMES[suite.name])
        )
    )
    for judged in assessments:
        assert judged.verdict is Verdict.PASSED, (judged.message, judged.signals)
