"""The state, the speed and the remaining time of a run."""

from __future__ import annotations

import dataclasses

import pytest

from tests.support.training_runs import REWARD, Plan, info_of
from trainer_client.run_folder import RunFolder
from trainer_client.view.following import FollowedRun
from trainer_client.view.progress import Progress, progress_of


def progress(path, lines, silent=1.0, batch=0, **info) -> Progress:
    folder = RunFolder(path)
    folder.write_info(dataclasses.replace(info_of(Plan()), **info))
    for step, seconds, line in lines:
        folder.add_metrics(step, seconds, line)
    followed = FollowedRun(path, "run")
    followed.refresh()
    assert followed.run is not None
    return progress_of(followed.run, silent, batch)


def test_the_time_left_is_that_of_the_last_steps_with_what_happens_between_them(tmp_path):
    # Ten slow steps at the start do not count once twenty others were made.
    lines = [(step, 100.0 * step, {}) for step in range(1, 11)]
    lines += [(10 + step, 1000.0 + 5.0 * step, {"num_tokens": 50 * step}) for step in range(1, 31)]
    found = progress(tmp_path, lines, max_steps=100)
    assert (found.state, found.step, found.share) == ("running", 40, 0.4)
    assert found.step_seconds == pytest.approx(5.0)
    assert found.left_seconds == pytest.approx(60 * 5.0)
    assert found.tokens_a_second == pytest.approx(10.0)


def test_a_run_that_is_limited_by_epochs_is_measured_by_them(tmp_path):
    lines = [(1, 10.0, {"epoch": 0.25}), (2, 20.0, {"epoch": 0.5})]
    settings = {"training": {"num_train_epochs": 2}}
    found = progress(tmp_path, lines, max_steps=-1, settings=settings)
    assert (found.max_steps, found.share) == (0, 0.25)
    assert found.left_seconds == pytest.approx(6 * 10.0)


def test_a_run_is_silent_after_many_steps_time_and_finished_at_its_last_step(tmp_path):
    lines = [(1, 60.0, {}), (2, 120.0, {})]
    assert progress(tmp_path, lines, 300.0, max_steps=3).state == "running"
    assert progress(tmp_path, lines, 700.0, max_steps=3).state == "silent"
    assert progress(tmp_path, lines, 700.0, max_steps=2).state == "finished"


def test_a_run_without_a_step_has_neither_speed_nor_end(tmp_path):
    found = progress(tmp_path, [])
    assert (found.step, found.share, found.step_seconds, found.left_seconds) == (0, 0.0, None, None)
    assert found.parts == {}


def test_all_of_the_time_is_told_in_parts(tmp_path):
    key = f"{REWARD}/wait_seconds"
    lines = [(1, 30.0, {"step_time": 10.0, key: 4.0}), (2, 40.0, {"step_time": 10.0, key: 2.0})]
    parts = progress(tmp_path, lines).parts
    assert list(parts.values()) == pytest.approx([6.0, 14.0, 20.0])


def test_completions_are_counted_by_what_one_step_generates(tmp_path):
    lines = [(1, 10.0, {}), (2, 20.0, {})]
    # A generation of 64 completions is trained on in four steps.
    settings = {"training": {"num_iterations": 4}}
    found = progress(tmp_path, lines, batch=64, settings=settings)
    assert found.completions_a_second == pytest.approx(64 / 4 / 10.0)
    assert progress(tmp_path, lines).completions_a_second is None
