from __future__ import annotations

import pytest

from trainer_client.report.passing import (
    difference,
    estimate,
    mean_rate,
    seed_means,
    task_rates,
)
from trainer_client.run_folder import Evaluation, TaskTally


def evaluation(**tallies: tuple[int, int]) -> Evaluation:
    tasks = {
        name: TaskTally(samples=samples, passed=passed)
        for name, (samples, passed) in tallies.items()
    }
    return Evaluation(step=0, seconds=0.0, split="held_out", temperature=1.0, tasks=tasks)


def test_a_task_with_too_few_judged_samples_is_left_out_and_is_no_zero():
    found = evaluation(a=(4, 2), b=(1, 1), c=(0, 0))
    assert task_rates(found) == {"a": 0.5, "b": 1.0}
    assert task_rates(found, 2) == {"a": pytest.approx(1 - 1 / 6)}
    assert mean_rate(evaluation(a=(0, 0))) is None


def test_an_interval_is_around_the_mean_of_the_tasks_and_narrows_with_more_of_them():
    few, many = estimate([0.0, 1.0] * 10), estimate([0.0, 1.0] * 200)
    assert few is not None
    assert many is not None
    assert few.value == many.value == 0.5
    assert few.low < many.low < 0.5 < many.high < few.high
    # A normal approximation for 400 tasks is 0.5 +- 1.96 * 0.5 / 20.
    assert many.low == pytest.approx(0.451, abs=0.005)
    assert many.high == pytest.approx(0.549, abs=0.005)
    assert estimate([]) is None


def test_a_gain_is_of_the_tasks_that_were_judged_before_and_after():
    found = difference({"easy": 1.0, "hard": 0.0, "lost": 0.0}, {"easy": 1.0, "hard": 0.5})
    assert found is not None
    assert found.value == 0.25


def test_runs_are_averaged_by_task_over_the_tasks_that_all_of_them_judged():
    found = seed_means([evaluation(a=(4, 4), b=(4, 0)), evaluation(a=(4, 2), b=(0, 0))])
    assert found == {"a": 0.75}
