from __future__ import annotations

import pytest

from trainer_client import ConfigError
from trainer_client.run_folder import Evaluation, Event, RunFolder, RunInfo, TaskTally

INFO = RunInfo(
    started="2026-01-02T03:04:05+00:00",
    reward="mbpp_reward",
    num_generations=8,
    max_steps=3,
    model="m",
    data="mbpp=m.json",
    settings={"training": {"learning_rate": 1e-5}},
    versions={"trl": "1.16.0"},
)


def evaluation(step: int, passed: int) -> Evaluation:
    tasks = {"1": TaskTally(samples=4, passed=passed, unjudged=1, verdicts={"PASSED": passed})}
    return Evaluation(step=step, seconds=1.0, split="held_out", temperature=1.0, tasks=tasks)


def test_what_was_written_is_read(tmp_path):
    folder = RunFolder(tmp_path / "run")
    event = Event(step=2, seconds=5.0, kind="outage", message="no server")
    folder.write_info(INFO)
    folder.add_metrics(1, 2.0, {"reward": 0.5, "kl": float("nan")})
    folder.add_evaluation(evaluation(0, 1))
    folder.add_event(event)
    assert folder.info() == INFO
    assert folder.metrics() == [{"reward": 0.5, "kl": None, "step": 1, "seconds": 2.0}]
    assert folder.evaluations() == [evaluation(0, 1)]
    assert folder.events() == [event]


def test_a_step_that_was_made_again_after_a_resume_counts_once_as_it_was_last_written(tmp_path):
    folder = RunFolder(tmp_path)
    for step, reward in ((1, 0.1), (2, 0.2), (3, 0.3), (2, 0.9)):
        folder.add_metrics(step, 1.0, {"reward": reward})
    folder.add_evaluation(evaluation(2, 1))
    folder.add_evaluation(evaluation(0, 2))
    folder.add_evaluation(evaluation(2, 3))
    assert [line["reward"] for line in folder.metrics()] == [0.1, 0.9, 0.3]
    assert folder.evaluations() == [evaluation(0, 2), evaluation(2, 3)]


def test_a_line_that_was_being_written_when_the_run_was_killed_is_left_out(tmp_path):
    folder = RunFolder(tmp_path)
    folder.add_metrics(1, 1.0, {"reward": 0.1})
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write('{"step": 2, "rew')
    assert [line["step"] for line in folder.metrics()] == [1]
    folder.add_metrics(2, 2.0, {"reward": 0.2})
    assert [line["step"] for line in folder.metrics()] == [1, 2]


def test_an_empty_run_has_nothing_and_a_folder_that_is_none_says_so(tmp_path):
    folder = RunFolder(tmp_path)
    assert (folder.metrics(), folder.evaluations(), folder.events()) == ([], [], [])
    assert folder.completions == []
    with pytest.raises(ConfigError, match=r"is not the folder of a run: .*run\.json"):
        folder.info()
