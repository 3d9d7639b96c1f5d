"""What callers of the other processes feel while one is killed and started again."""

from __future__ import annotations

import pytest

from benchmarks.killed_process import compared

pytestmark = pytest.mark.timeout(120)


async def test_the_others_answer_as_before_while_a_process_is_killed_and_no_verdict_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Executions take so long that a machine with other work does not double the time of a call.
    monkeypatch.setenv("SIMULATED_SECONDS", "0.3")
    windows = await compared(processes=3, rounds=1, seconds=3.0)
    assert all(len(took) > 40 for took in (*windows.calm, *windows.killed))
    assert windows.ratio(0.99) <= 2.0
