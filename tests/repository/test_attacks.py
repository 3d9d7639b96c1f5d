"""No attack on a repository task gets a reward, and none is a dud: each beats a naive grader."""

from __future__ import annotations

import asyncio

import pytest

from reward_server.domain import Extraction, Framework, Integrity, RepositoryTests, Submission
from tests.repository.attacks import ATTACKS, Attack
from tests.repository.naive import conclude
from tests.repository.tasks import (
    BASE,
    FAIL_TO_PASS,
    FIXED_CART,
    HIDDEN,
    PASS_TO_PASS,
    archive,
    encoded,
)
from tests.support.common import FILE_LIMITS, Judge, is_refused, on_the_servers_loop
from tests.support.sampling import each_row

pytestmark = on_the_servers_loop

TESTS = RepositoryTests(
    archive=archive(BASE),
    test_files=encoded(HIDDEN),
    fail_to_pass=FAIL_TO_PASS,
    pass_to_pass=PASS_TO_PASS,
    runner=Framework.PYTEST,
)


def _submission(files: tuple[tuple[str, bytes], ...]) -> Submission:
    return Submission(
        completion="",
        extraction=Extraction.NONE,
        files=files,
        is_whole=True,
        tests=TESTS,
        limits=FILE_LIMITS,
    )


@pytest.mark.promise("Our collected attacks on a repository's tests earn nothing.", "Repositories")
@each_row(ATTACKS, step=8)
async def test_an_attack_beats_a_naive_grader_and_earns_nothing_here(
    row: Attack, judge_of_files: Judge
) -> None:
    naive = await asyncio.to_thread(conclude, row)
    assert naive.reward == 1.0
    files = tuple(sorted(naive.files.items()))
    assessment = await judge_of_files.score(_submission(files))
    assert is_refused(assessment), assessment
    assert assessment.integrity is Integrity.SHARED


async def test_the_golden_solution_earns_the_reward_and_the_empty_one_does_not(
    judge_of_files: Judge,
) -> None:
    golden = Attack(files={"shop/cart.py": FIXED_CART})
    for attack, reward in ((golden, 1.0), (Attack(), 0.0)):
        files = tuple(sorted((await asyncio.to_thread(conclude, attack)).files.items()))
        assessment = await judge_of_files.score(_submission(files))
        assert assessment.reward == reward, assessment
