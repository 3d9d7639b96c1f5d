"""Mixed executions and faults meanwhile, and then nothing left; see `soak`.

A run makes 75 executions; REWARD_SERVER_TEST_ALL=1 makes two thousand.
"""

from __future__ import annotations

import pytest

from tests.scale.soak import FAULTS, OF_PROCESSES, soak
from tests.support.sampling import times

EXECUTIONS = times(2_000, by_default=75)
SERVERS = 3
SESSIONS = times(10, by_default=5)
FAULTS_IN_ALL = times(20, by_default=6)


@pytest.mark.promise(
    "After many executions with faults, no process, mount, control group or file is left.",
    "Confinement",
)
async def test_after_many_executions_and_some_faults_nothing_is_left() -> None:
    seen = await soak(
        executions=EXECUTIONS, servers=SERVERS, faults=FAULTS_IN_ALL, sessions=SESSIONS
    )
    assert seen.wrong == []
    assert seen.sessions["wrong"] == 0
    assert seen.sessions["right"] > 0
    assert set(seen.refused) <= {"UNAVAILABLE"}
    assert seen.faults.total() >= FAULTS_IN_ALL / 2
    assert set(seen.faults) <= set(FAULTS)
    assert seen.faults[OF_PROCESSES] > 0
    # Connections of this test's own, and containers that are being replaced, come and go.
    assert seen.descriptors[-1] <= min(seen.descriptors) + 32
