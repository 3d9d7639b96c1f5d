"""No completion buys itself out of a verdict by breaking what judges it, and each ends in time.

A run takes some of each kind of forged message, and some of the problems that an object pretends to
solve: each breaks a sandbox. REWARD_SERVER_TEST_ALL=1 takes all.
"""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
import pytest_asyncio

from reward_server.domain import Verdict
from tests.attacks.corpus.frames import FORGERIES
from tests.attacks.corpus.sieges import PRETENDED, SIEGES, Siege
from tests.attacks.problems import EQUAL
from tests.support.common import SMALL_LIMITS, Judge, is_refused, on_the_servers_loop
from tests.support.sampling import sampled

pytestmark = on_the_servers_loop

LIMITS = replace(SMALL_LIMITS, cpu_time_seconds=1.0, wall_time_seconds=0.5)
FORGED = [forgery for kind in FORGERIES for forgery in sampled(kind, 5)]
TRIES = 3  # what else the machine does may hold one up
SLEEPER = "import time\ndef solve(x):\n    time.sleep(60)\n"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def sleeper_seconds(judge: Judge) -> float:
    """Returns how long a program takes that does nothing until its time is over."""
    began = time.monotonic()
    assert is_refused(await judge(SLEEPER, EQUAL.tests, limits=LIMITS))
    return time.monotonic() - began


async def _withstood(siege: Siege, judge: Judge, sleeper_seconds: float) -> None:
    for _ in range(TRIES):
        began = time.monotonic()
        assessment = await judge(siege.completion, siege.problem.tests, limits=LIMITS)
        took = time.monotonic() - began
        assert is_refused(assessment), assessment
        if took < 5 * sleeper_seconds:
            break
    else:
        raise AssertionError(f"held the judge up {TRIES} times, the last for {took:.1f} s")
    honest = await judge(EQUAL.solution, EQUAL.tests)
    assert honest.verdict is Verdict.PASSED


@pytest.mark.promise("A program that attacks the judge or forges its messages fails.", "Verdicts")
@pytest.mark.parametrize("siege", sampled([*SIEGES, *PRETENDED], 4), ids=lambda siege: siege.name)
async def test_a_siege_ends_in_a_verdict_against_it(
    siege: Siege, judge: Judge, sleeper_seconds: float
) -> None:
    await _withstood(siege, judge, sleeper_seconds)


@pytest.mark.promise("A program that attacks the judge or forges its messages fails.", "Verdicts")
@pytest.mark.parametrize("forgery", FORGED, ids=lambda forgery: forgery.name)
async def test_a_forged_message_ends_in_a_verdict_against_it(
    forgery: Siege, judge: Judge, sleeper_seconds: float
) -> None:
    await _withstood(forgery, judge, sleeper_seconds)
