"""What callers of the other processes feel while one is killed and started again."""

from __future__ import annotations

import pytest

from benchmarks.killed_process import compared

TRIES = 3  # what else the machine does may hold calls up in one window alone

pytestmark = pytest.mark.timeout(TRIES * 120)


async def test_the_others_answer_as_before_while_a_process_is_killed_and_no_verdict_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Executions take so long that a machine with other work does not double the time of a call.
    monkeypatch.setenv("SIMULATED_SECONDS", "0.3")
    ratios: list[float] = []
    while not ratios or ratios[-1] > 2.0:
        assert len(ratios) < TRIES, ratios
        windows = await compared(processes=3, rounds=1, seconds=3.0)
        assert all(len(took) > 20 for took in (*windows.calm, *windows.killed))
        ratios.append(windows.ratio(0.99))
