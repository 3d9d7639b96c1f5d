"""A run's records, and that a training goes on without them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from trainer_client import ConfigError
from trainer_client.trl.run_folder import RunFolder, RunInfo, TaskTally

pytestmark = pytest.mark.training

INFO = RunInfo(
    started="2026-01-02T03:04:05+00:00",
    reward="r",
    num_generations=2,
    max_steps=3,
    model="m",
    data="d",
)


def test_what_cannot_be_written_is_told_and_ends_nothing(tmp_path: Path, caplog) -> None:
    from transformers import TrainerControl, TrainerState

    from trainer_client.trl.recorder import Recorder

    folder = RunFolder(tmp_path / "run")
    recorder = Recorder(folder, INFO, writes=True)
    recorder.start()
    shutil.rmtree(folder.path)
    folder.path.touch()
    logs = {"reward": 0.5, "r/unjudged": 1.0}
    recorder.on_log(None, TrainerState(global_step=1), TrainerControl(), logs)
    tallies = {"t": TaskTally(samples=1, passed=1)}
    recorder.evaluated(1, tallies, split="held_out", temperature=1.0)
    assert [record.message.partition(":")[0] for record in caplog.records] == ["not written"] * 3
    assert recorder.last_evaluated == 1
    with pytest.raises(ConfigError, match=r"training\.output_dir: .*File exists"):
        recorder.start()
