"""A run goes on from its last whole checkpoint, with the same held-out tasks."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from trainer_client.errors import ConfigError
from trainer_client.trl.checkpoints.resuming import (
    changed_settings,
    check_unfinished,
    last_checkpoint,
)


def checkpoint(folder: Path, step: int, state: str | None) -> Path:
    made = folder / f"checkpoint-{step}"
    made.mkdir()
    if state is not None:
        (made / "trainer_state.json").write_text(state)
    return made


def test_the_last_whole_checkpoint_counts(tmp_path: Path) -> None:
    checkpoint(tmp_path, 9, "{}")
    whole = checkpoint(tmp_path, 10, '{"global_step": 10}')
    checkpoint(tmp_path, 11, '{"global_')
    checkpoint(tmp_path, 12, None)
    (tmp_path / "checkpoint-13").touch()
    (tmp_path / "checkpoint-best").mkdir()
    assert last_checkpoint(tmp_path) == whole


def test_a_folder_without_a_whole_checkpoint_has_none(tmp_path: Path) -> None:
    checkpoint(tmp_path, 1, None)
    assert last_checkpoint(tmp_path) is None
    assert last_checkpoint(tmp_path / "none") is None


BEFORE = {"data": {"kind": "mbpp", "path": "a", "held_out": {"tasks": 3}}, "training": {"seed": 1}}


def test_changed_settings_are_named() -> None:
    after = {"data": {**BEFORE["data"], "path": "b"}, "training": {"max_steps": 9, "seed": 1}}
    assert changed_settings(BEFORE, after) == ["data.path", "training.max_steps"]
    assert changed_settings(BEFORE, BEFORE) == []


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"held_out": {"tasks": 4}}, r"data\.held_out\.tasks: was 3, and is 4"),
        ({"held_out": {"share": 0.5}}, r"data\.held_out\.share: was not set, and is 0\.5"),
        ({"limit": 5}, r"data\.limit: was not set, and is 5"),
        ({"ids": ["x"]}, r"data\.ids: was not set"),
    ],
)
def test_what_was_trained_on_cannot_become_held_out(data: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        changed_settings(BEFORE, {**BEFORE, "data": {**BEFORE["data"], **data}})


@pytest.mark.parametrize(
    ("max_steps", "epochs", "is_finished"),
    [(12, 3.0, True), (11, 3.0, True), (13, 0.1, False), (-1, 3.0, False), (-1, 2.0, True)],
)
def test_a_run_that_has_made_its_steps_is_not_trained_on(
    tmp_path: Path, max_steps: int, epochs: float, is_finished: bool
) -> None:
    made = checkpoint(tmp_path, 12, '{"global_step": 12, "epoch": 2.0}')
    arguments = SimpleNamespace(max_steps=max_steps, num_train_epochs=epochs)
    if not is_finished:
        check_unfinished(made, arguments)
        return
    with pytest.raises(ConfigError, match="made its 12 steps; ask for more with --max-steps"):
        check_unfinished(made, arguments)
