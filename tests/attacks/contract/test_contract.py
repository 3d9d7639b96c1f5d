"""Attacks on the contract, and honest programs that it must not fail, judged by it."""

from __future__ import annotations

from pathlib import Path

import pytest

from reward_server.domain import Assessment, Extraction, Integrity, Verdict
from tests.support.common import FILE_LIMITS, Judge, on_the_servers_loop
from tests.support.contract import Case, as_tests, read_cases

pytestmark = on_the_servers_loop
ATTACKS, HONEST = (
    read_cases(Path(__file__).with_name(f"{one}.txt")) for one in ("attacks", "honest")
)


async def _judged(case: Case, judge_of_files: Judge) -> Assessment:
    return await judge_of_files(
        case.solution,
        as_tests(case),
        limits=FILE_LIMITS,
        prompt=case.prompt,
        extraction=Extraction.NONE,
        integrity=Integrity.UNSPECIFIED,
    )


@pytest.mark.parametrize("case", ATTACKS, ids=lambda case: case.name)
async def test_no_attack_is_rewarded_as_isolated(case: Case, judge_of_files: Judge) -> None:
    found = await _judged(case, judge_of_files)
    assert found.verdict is not Verdict.INVALID_TASK, found.message
    assert found.integrity is Integrity.SHARED or found.reward == 0.0, found


@pytest.mark.parametrize("case", HONEST, ids=lambda case: case.name)
async def test_an_honest_solution_passes_with_its_label(case: Case, judge_of_files: Judge) -> None:
    found = await _judged(case, judge_of_files)
    assert found.verdict is Verdict.PASSED, (found.message, found.signals)
    assert found.integrity is case.label, found.signals
