"""The line of a step says how long steps take and how long the others will."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest
from rich.console import Console

from tests.e2e.support.marks import TRAINERS_WARN

pytestmark = [pytest.mark.training, *TRAINERS_WARN]

LOGS = {"reward": 0.5, "reward_std": 0.1, "r/verdict/PASSED": 1.0}


def state(step: int) -> SimpleNamespace:
    return SimpleNamespace(global_step=step, max_steps=400, is_world_process_zero=True)


def test_a_line_has_the_seconds_of_a_step_and_the_time_that_is_left():
    from trainer_client.trl.monitoring.progress import StepLines

    seconds = iter([0.0, 0.0, 100.0, 110.0, 140.0])
    told = io.StringIO()
    lines = StepLines("r", Console(file=told, width=200), clock=lambda: next(seconds))
    lines.on_train_begin(None, state(0), None)
    lines.on_step_begin(None, state(0), None)  # after an evaluation of 100 s
    lines.on_log(None, state(1), None, LOGS)
    lines.on_step_begin(None, state(1), None)
    lines.on_log(None, state(2), None, LOGS)
    first, second = told.getvalue().splitlines()
    assert first.endswith("PASSED 100%  10.0 s a step, 1 h 6 min left")
    assert second.endswith("30.0 s a step, 2 h 12 min left")


def test_a_line_of_agents_has_the_turns_of_an_episode():
    from trainer_client.trl.monitoring.progress import StepLines

    told = io.StringIO()
    lines = StepLines("r", Console(file=told, width=200), clock=lambda: 0.0)
    lines.on_log(None, state(1), None, {**LOGS, "r/turns": 2.5})
    assert "PASSED 100%  2.5 turns  0.0 s a step" in told.getvalue()
