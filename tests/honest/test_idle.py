"""Tests that no answer can fail are refused before a completion is read, and only these."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reward_server.domain import (
    Framework,
    FunctionTests,
    Integrity,
    Placement,
    RewardPolicy,
    RewardPolicyKind,
    Submission,
    Tests,
    UnitTests,
    Verdict,
)
from tests.support.common import SMALL_LIMITS, Judge, on_the_servers_loop

pytestmark = on_the_servers_loop

IDLE: tuple[Tests, ...] = (
    FunctionTests(entry_point="f", asserts=("assert (f(1) == 1, 'one')",)),
    FunctionTests(entry_point="f", test_code="def check(candidate):\n    candidate(1) == 1\n"),
    FunctionTests(asserts=("assert f(1) == 1", "assert 'f(2) is 2'")),
    UnitTests(framework=Framework.UNITTEST, files=(("test_a.py", "from solution import f\n"),)),
    UnitTests(
        framework=Framework.UNITTEST,
        files=(
            (
                "test_a.py",
                "import unittest\nfrom solution import f\nclass TestF(unittest.TestCase):\n"
                "    @unittest.skip('later')\n    def test_f(self):\n"
                "        self.assertEqual(f(1), 1)\n",
            ),
        ),
    ),
)
COMPLETIONS = ("def f(x):\n    return x\n", "def f(x):\n    return 5\n", "pass\n", "def f(:", "")


@pytest.mark.parametrize("tests", IDLE, ids=range(len(IDLE)))
async def test_all_completions_of_a_task_that_cannot_fail_get_one_answer(
    tests: Tests, judge: Judge
) -> None:
    least = Integrity.UNSPECIFIED
    answers = [await judge(one, tests, integrity=least) for one in COMPLETIONS]
    assert {one.verdict for one in answers} == {Verdict.INVALID_TASK}
    assert {one.reward for one in answers} == {None}
    assert {one.usage.executions for one in answers} == {0}
    assert len({one.message for one in answers}) == 1


@pytest.mark.parametrize(
    ("entry", "passes"),
    [
        ("f(1) == 1", True),
        ("f(2) == 2 and f(3) == 4", False),
        ("not f(0)", True),
        ("f(0)", False),
        ("isinstance(f(1), str)", False),
        ("f(1) in (1, 2), 'one of two'", None),
    ],
)
async def test_a_bare_expression_in_a_list_of_assertions_decides(
    entry: str, passes: bool | None, judge: Judge
) -> None:
    tests = FunctionTests(entry_point="f", asserts=(entry, "assert f(5) == 5"))
    answer = await judge("def f(x):\n    return x\n", tests)
    expected = {True: Verdict.PASSED, False: Verdict.FAILED, None: Verdict.INVALID_TASK}
    assert answer.verdict is expected[passes], answer.message


async def test_a_bare_expression_decides_beside_the_solution_and_for_a_part_of_the_reward(
    judge: Judge,
) -> None:
    tests = FunctionTests(entry_point="f", asserts=("f(1) == 1", "f(2) == 3"))
    part = await judge(
        "def f(x):\n    return x\n",
        tests,
        policy=RewardPolicy(kind=RewardPolicyKind.FRACTION),
    )
    assert part.reward == 0.5
    beside = replace(tests, placement=Placement.BESIDE)
    submission = Submission(
        completion="def f(x):\n    return x\n",
        tests=beside,
        limits=SMALL_LIMITS,
        require_integrity=Integrity.SHARED,
    )
    assert (await judge.score(submission)).verdict is Verdict.FAILED
