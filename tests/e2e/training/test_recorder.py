"""A run's records, of logs as TRL makes them, and that a training goes on without them."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from trainer_client import ConfigError
from trainer_client.run_folder import RunFolder, RunInfo, TaskTally

pytestmark = pytest.mark.training

INFO = RunInfo(
    started="2026-01-02T03:04:05+00:00",
    reward="tests",
    num_generations=4,
    max_steps=6,
    model="tiny",
    data="rows",
)


def recorded(folder: RunFolder, logs: list[dict[str, float | None]]) -> None:
    from trainer_client.trl.monitoring.recorder import Recorder

    recorder = Recorder(folder, INFO, writes=True)
    for step, line in enumerate(logs, start=1):
        recorder.on_log(None, SimpleNamespace(global_step=step), None, logs=line)


def test_a_step_on_older_completions_is_written_and_ends_no_outage(tmp_path):
    judged = {"loss": 0.1, "reward": 0.5, "tests/unjudged": 0.0}
    lost = {"loss": 0.0, "reward": None, "tests/unjudged": 1.0}
    older = {"loss": 0.2, "kl": 0.01, "step_time": 1.0}
    folder = RunFolder(tmp_path)
    recorded(folder, [judged, older, lost, older, judged, older])
    assert [line["step"] for line in folder.metrics()] == [1, 2, 3, 4, 5, 6]
    assert [line.get("kl") for line in folder.metrics()] == [None, 0.01] * 3
    assert [(event.step, event.kind) for event in folder.events()] == [
        (3, "outage"),
        (5, "recovered"),
    ]


def test_evaluations_and_the_summary_are_no_steps(tmp_path):
    folder = RunFolder(tmp_path)
    recorded(folder, [{"held_out/pass@1": 0.5}, {"eval_reward": 0.5}, {"train_loss": 0.1}])
    assert folder.metrics() == []


def test_what_cannot_be_written_is_told_and_ends_nothing(tmp_path: Path, caplog) -> None:
    from transformers import TrainerControl, TrainerState

    from trainer_client.trl.monitoring.recorder import Recorder

    folder = RunFolder(tmp_path / "run")
    recorder = Recorder(folder, INFO, writes=True)
    recorder.start()
    shutil.rmtree(folder.path)
    folder.path.touch()
    logs = {"loss": 0.1, "reward": 0.5, "tests/unjudged": 1.0}
    recorder.on_log(None, TrainerState(global_step=1), TrainerControl(), logs)
    tallies = {"t": TaskTally(samples=1, passed=1)}
    recorder.evaluated(1, tallies, split="held_out", temperature=1.0)
    assert [record.message.partition(":")[0] for record in caplog.records] == ["not written"] * 3
    assert recorder.last_evaluated == 1
    with pytest.raises(ConfigError, match=r"training\.output_dir: .*File exists"):
        recorder.start()


def test_a_resumed_run_keeps_to_its_own_intervals_and_logs_its_last_step(tmp_path: Path) -> None:
    from transformers import TrainerControl, TrainerState

    from trainer_client.trl.monitoring.recorder import Recorder

    recorder = Recorder(RunFolder(tmp_path), INFO, writes=True)
    state = TrainerState(global_step=4, max_steps=6, eval_steps=500, save_steps=500)
    arguments = SimpleNamespace(logging_steps=5, eval_steps=2, save_steps=0.5)
    recorder.on_train_begin(arguments, state, TrainerControl())
    assert (state.logging_steps, state.eval_steps, state.save_steps) == (5, 2, 3)
    control = TrainerControl()
    for step, is_logged in ((5, False), (6, True)):
        state.global_step = step
        recorder.on_step_end(arguments, state, control)
        assert control.should_log is is_logged
