"""No completion buys itself out of a verdict by breaking what judges it, and each ends in time."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from reward_server.domain import Verdict
from tests.attacks.corpus.frames import FORGERIES
from tests.attacks.corpus.sieges import SIEGES, Siege
from tests.attacks.problems import EQUAL
from tests.support import SMALL_LIMITS, Judge, is_refused, on_the_servers_loop

pytestmark = on_the_servers_loop

LIMITS = replace(SMALL_LIMITS, cpu_time_seconds=1.0, wall_time_seconds=0.5)
GRACE_SECONDS = 1.0
MACHINERY_SECONDS = 1.0  # start, report and a machine that does other things besides


async def _withstood(siege: Siege, judge: Judge) -> None:
    began = time.monotonic()
    assessment = await judge(siege.completion, siege.problem.tests, limits=LIMITS)
    took = time.monotonic() - began
    assert is_refused(assessment), assessment
    assert took < LIMITS.wall_time_seconds + GRACE_SECONDS + MACHINERY_SECONDS
    honest = await judge(EQUAL.solution, EQUAL.tests)
    assert honest.verdict is Verdict.PASSED


@pytest.mark.parametrize("siege", SIEGES, ids=lambda siege: siege.name)
async def test_a_siege_ends_in_a_verdict_against_it(siege: Siege, judge: Judge) -> None:
    await _withstood(siege, judge)


@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda forgery: forgery.name)
async def test_a_forged_message_ends_in_a_verdict_against_it(forgery: Siege, judge: Judge) -> None:
    await _withstood(forgery, judge)
