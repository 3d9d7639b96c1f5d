"""A program that takes too much gets its own verdict in time, and its neighbour gets the right one.

How the machine looks afterwards is the soak test's concern.
"""

from __future__ import annotations

import asyncio

import pytest

from reward_server.domain import FunctionTests, Limits, StdioCase, StdioTests, Verdict
from tests.honest.abusers import ABUSERS, Abuser
from tests.support.common import Judge, on_the_servers_loop

pytestmark = on_the_servers_loop

DONE = StdioTests(cases=(StdioCase(stdin=b"", expected_stdout=b"done\n"),))
STEADY = FunctionTests(
    entry_point="solve",
    test_code="def check(candidate):\n    for n in range(300):\n        assert candidate(n) == n\n",
)
GRACE_SECONDS = 1.0


@pytest.mark.promise(
    "A program that takes too much gets its verdict within a second of its wall time.",
    "Confinement",
)
@pytest.mark.parametrize("abuser", ABUSERS, ids=lambda abuser: abuser.name)
async def test_a_program_gets_its_own_verdict_in_time_for(
    abuser: Abuser, judge_of_two: Judge
) -> None:
    neighbour = f"def solve(n):\n    return n  # beside {abuser.name}\n"
    abusive, steady = await asyncio.gather(
        judge_of_two(abuser.program, DONE, limits=abuser.limits),
        judge_of_two(neighbour, STEADY, limits=Limits()),
    )
    assert abusive.verdict is abuser.verdict, abusive
    assert abuser.limit is None or abuser.limit in abusive.limits_hit
    assert abusive.usage.wall_time_seconds < abuser.limits.wall_time_seconds + GRACE_SECONDS
    assert steady.verdict is Verdict.PASSED
