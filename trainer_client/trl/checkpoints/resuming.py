"""Finds the checkpoint of a resumed run, and decides which settings may differ from before."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainer_client.errors import ConfigError
from trainer_client.run_folder import flat_settings

if TYPE_CHECKING:
    from trl import GRPOConfig

_NAME = re.compile(r"checkpoint-([0-9]+)")
# Settings that determine which tasks are held out.
_CHOICE = ("kind", "ids", "limit", "held_out", "max_prompt_tokens")


def last_checkpoint(folder: Path) -> Path | None:
    """Returns the last complete checkpoint; a killed run may leave an incomplete one."""
    found = {
        int(name[1]): path
        for path in (folder.iterdir() if folder.is_dir() else ())
        if (name := _NAME.fullmatch(path.name)) and _is_whole(path)
    }
    return found[max(found)] if found else None


def check_unfinished(checkpoint: Path, arguments: GRPOConfig) -> None:
    """Compares the progress of a run with its requested length.

    Raises:
        ConfigError: nothing is left to train.
    """
    state = json.loads((checkpoint / "trainer_state.json").read_bytes())
    made, epochs = state["global_step"], state["epoch"]
    if arguments.max_steps > 0:
        is_finished = made >= arguments.max_steps
    else:
        is_finished = epochs >= arguments.num_train_epochs
    if is_finished:
        raise ConfigError(
            f"--resume: the run has made its {made} steps; ask for more with --max-steps"
        )


def changed_settings(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Returns the names of settings that a resumed run has changed.

    Raises:
        ConfigError: tasks that were trained on might now be held out.
    """
    old, new = dict(flat_settings(before)), dict(flat_settings(after))
    changed = sorted(name for name in old.keys() | new if old.get(name) != new.get(name))
    for name in changed:
        section, _, key = name.partition(".")
        if section == "data" and key.partition(".")[0] in _CHOICE:
            problem = f"was {old.get(name, 'not set')}, and is {new.get(name, 'not set')}"
            raise ConfigError(f"{name}: {problem}; a resumed run keeps its held-out tasks")
    return changed


def _is_whole(checkpoint: Path) -> bool:
    # transformers writes this file last.
    try:
        return isinstance(json.loads((checkpoint / "trainer_state.json").read_bytes()), dict)
    except (OSError, ValueError):
        return False
