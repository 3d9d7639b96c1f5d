"""Runs are read while they are written, cut, replaced and resumed."""

from __future__ import annotations

import dataclasses
import json

import pytest

from tests.support.training_runs import Plan, info_of, write_run
from trainer_client.report.runs import Run, read_runs
from trainer_client.run_folder import Event, RunFolder
from trainer_client.view.following import FollowedRun, LineFollower, labels_of


def append(path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def test_a_line_counts_when_its_end_is_written(tmp_path):
    file = tmp_path / "lines"
    follower = LineFollower(file)
    assert follower.read() == (False, [])
    append(file, '{"a": 1}\n{"a"')
    assert follower.read() == (False, [{"a": 1}])
    append(file, ": 2")
    assert follower.read() == (False, [])
    append(file, '}\n{"torn": \n{"a": 3}\n')
    assert follower.read() == (False, [{"a": 2}, {"a": 3}])
    assert follower.read() == (False, [])


@pytest.mark.parametrize("other", ['{"b": 1}\n', '{"b": 1}\n{"b": 2}\n{"b": 3}\n', ""])
def test_a_file_that_was_cut_or_replaced_is_read_from_its_beginning(tmp_path, other):
    file = tmp_path / "lines"
    file.write_text('{"a": 1}\n{"a": 2}\n')
    follower = LineFollower(file)
    follower.read()
    file.write_text(other)
    assert follower.read() == (True, [json.loads(line) for line in other.splitlines()])
    append(file, '{"b": 9}\n')
    assert follower.read() == (False, [{"b": 9}])


def test_a_file_that_was_deleted_has_no_lines(tmp_path):
    file = tmp_path / "lines"
    file.write_text('{"a": 1}\n')
    follower = LineFollower(file)
    follower.read()
    file.unlink()
    assert follower.read() == (True, [])
    assert follower.read() == (False, [])


def test_a_run_that_is_followed_is_the_run_that_is_read_at_once(tmp_path):
    followed = FollowedRun(tmp_path / "run", "run")
    assert not followed.refresh()
    assert followed.problem == "no run yet: run.json is absent"
    write_run(tmp_path / "run", Plan(steps=5))
    assert followed.refresh()
    folder = RunFolder(tmp_path / "run")
    # A resumed run makes steps again, and a killed one leaves half of a line.
    append(tmp_path / "run" / "metrics.jsonl", '{"step": 6, "rew')
    assert not followed.refresh()
    for step in (4, 5, 6):
        folder.add_metrics(step, 100.0 + step, {"reward": 0.75})
        folder.add_event(Event(step=step, seconds=1.0, kind="resumed", message="again"))
        assert followed.refresh()
    (whole,) = read_runs([tmp_path / "run"])
    for field in dataclasses.fields(Run):
        if field.name not in ("label", "folder"):
            assert getattr(followed.run, field.name) == getattr(whole, field.name), field.name
    assert followed.run.last_step == 6
    assert not followed.refresh()


def test_a_run_that_begins_anew_in_the_same_folder_replaces_the_other(tmp_path):
    write_run(tmp_path, Plan(steps=4))
    followed = FollowedRun(tmp_path, "run")
    followed.refresh()
    for file in tmp_path.glob("*.jsonl"):
        file.unlink()
    RunFolder(tmp_path).write_info(info_of(Plan(steps=2, seed=7)))
    RunFolder(tmp_path).add_metrics(1, 1.0, {"reward": 0.5})
    assert followed.refresh()
    assert (followed.run.info.seed, len(followed.run.metrics), followed.run.events) == (7, 1, [])


@pytest.mark.parametrize("line", ['{"step": "no number"}', "[1]", "3", "null", '{"tasks": 1}'])
def test_lines_that_are_not_those_of_a_run_are_counted_and_left_out(tmp_path, line):
    write_run(tmp_path, Plan(steps=2))
    for name in ("metrics", "evaluations", "events"):
        append(tmp_path / f"{name}.jsonl", f"{line}\n")
    followed = FollowedRun(tmp_path, "run")
    followed.refresh()
    assert followed.run.last_step == 2
    assert followed.unread_lines == 3


def test_a_run_whose_description_is_broken_says_so_and_is_read_once_it_is_whole(tmp_path):
    (tmp_path / "run.json").write_text('{"started": ')
    followed = FollowedRun(tmp_path, "run")
    followed.refresh()
    assert "is not the folder of a run" in followed.problem
    write_run(tmp_path, Plan(steps=1))
    assert followed.refresh()
    assert followed.problem == ""


def test_runs_are_named_by_their_folders_if_these_differ(tmp_path):
    assert labels_of([tmp_path / "a" / "x", tmp_path / "b" / "y"]) == ["x", "y"]
    same = [tmp_path / "a" / "x", tmp_path / "b" / "x"]
    assert labels_of(same) == [str(path) for path in same]
