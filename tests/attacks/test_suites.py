"""No attack on test files gets a reward, in a judge of its own or beside twins.

A run takes every second attack; REWARD_SERVER_TEST_ALL=1 takes all.
"""

from __future__ import annotations

import asyncio

import pytest

from reward_server.domain import Framework, Integrity, Verdict
from tests.attacks.corpus.suites import (
    ATTACKS,
    ISOLATED_ALONE,
    PYTEST,
    RAISING,
    REVERSED,
    SKIPPING,
    SOLUTION,
    STARRED,
    UNITTEST,
    SuiteAttack,
)
from tests.attacks.naive import Conclusion, conclude
from tests.support.common import FILE_LIMITS, Judge, is_refused, on_the_servers_loop
from tests.support.sampling import sampled

pytestmark = on_the_servers_loop

LEAST = 40
EVERY = (*ATTACKS, *ISOLATED_ALONE)
PROBLEMS = (UNITTEST, REVERSED, STARRED, PYTEST, SKIPPING, RAISING)


async def test_there_are_attacks_enough_and_none_is_like_another() -> None:
    assert len(ATTACKS) >= LEAST
    assert len({attack.name for attack in EVERY}) == len(EVERY)
    assert {attack.tests.framework for attack in ATTACKS} == {Framework.PYTEST, Framework.UNITTEST}


@pytest.mark.parametrize("tests", PROBLEMS, ids=lambda tests: str(PROBLEMS.index(tests)))
async def test_a_solution_passes_what_is_attacked(tests: object, judge_of_files: Judge) -> None:
    attack = SuiteAttack(name="", tests=tests, completion=SOLUTION)  # type: ignore[arg-type]
    solution = SOLUTION.replace("return secret(x)", "return secret(int(x))")
    isolated = await judge_of_files(solution, attack.tests, limits=FILE_LIMITS)
    shared = await judge_of_files(
        solution, attack.shared_tests, limits=FILE_LIMITS, integrity=Integrity.SHARED
    )
    assert (isolated.verdict, isolated.integrity) == (Verdict.PASSED, Integrity.ISOLATED)
    assert (shared.verdict, shared.integrity) == (Verdict.PASSED, Integrity.SHARED)
    naive = await asyncio.to_thread(conclude, attack.beats, attack.tests, solution)
    wrong = await asyncio.to_thread(
        conclude, attack.beats, attack.tests, "def solve(x):\n    return 0\n"
    )
    assert (naive, wrong) == (Conclusion.AWARDED, Conclusion.REFUSED)


@pytest.mark.promise("Our collected attacks, which beat naive graders, earn nothing.", "Verdicts")
@pytest.mark.parametrize("attack", sampled(EVERY, 4), ids=lambda attack: attack.name)
async def test_an_attack_that_beats_a_naive_run_of_test_files_gets_no_reward(
    attack: SuiteAttack, judge_of_files: Judge
) -> None:
    assessment = await judge_of_files(attack.completion, attack.tests, limits=FILE_LIMITS)
    assert is_refused(assessment), assessment
    has_lowered = any(name.startswith("lowered_") for name in assessment.signals)
    assert assessment.integrity is (Integrity.SHARED if has_lowered else Integrity.ISOLATED)


# It is said of the attacks alone: a run takes some of them.
@pytest.mark.parametrize("attack", sampled(EVERY, 5), ids=lambda attack: attack.name)
async def test_an_attack_beats_a_naive_run_of_test_files(attack: SuiteAttack) -> None:
    shown = await asyncio.to_thread(conclude, attack.beats, attack.tests, attack.completion)
    assert shown is Conclusion.AWARDED


@pytest.mark.parametrize("attack", sampled(ATTACKS, 4), ids=lambda attack: attack.name)
async def test_an_attack_beside_the_tests_betrays_itself(
    attack: SuiteAttack, judge_of_files: Judge
) -> None:
    assessment = await judge_of_files(
        attack.completion,
        attack.shared_tests,
        limits=FILE_LIMITS,
        integrity=Integrity.SHARED,
    )
    assert is_refused(assessment), assessment
    assert assessment.integrity is Integrity.SHARED
    assert bool(assessment.signals.get("twin_passed")) is attack.betrayed, assessment
