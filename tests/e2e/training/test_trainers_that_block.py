"""Trainers of TRL that await a reward, and those that do not, with a real server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.support.marks import TRAINERS_WARN
from tests.e2e.support.rows import times_rows
from trainer_client import remote_reward, tasks
from trainer_client.local_server import LocalServer

pytestmark = [pytest.mark.training, *TRAINERS_WARN]

ROWS = times_rows("t")
STEPS = 2
GROUP = 2


def trainer_of(name: str) -> tuple[Any, Any, dict[str, Any]]:
    """Returns a trainer, its configuration and what only this one is told."""
    if name == "OnlineDPO":
        from trl.experimental.online_dpo import OnlineDPOConfig, OnlineDPOTrainer

        return OnlineDPOTrainer, OnlineDPOConfig, {"max_new_tokens": 8}
    import trl

    grouped = {"num_generations": GROUP, "max_completion_length": 8}
    return getattr(trl, f"{name}Trainer"), getattr(trl, f"{name}Config"), grouped


def train(name: str, model: Path, output: Path, reward: Any) -> Any:
    from datasets import Dataset
    from transformers import AutoTokenizer

    trainer_class, config, more = trainer_of(name)
    trainer = trainer_class(
        model=str(model),
        processing_class=AutoTokenizer.from_pretrained(model),
        reward_funcs=reward,
        train_dataset=Dataset.from_list(
            [{"prompt": row["prompt"], "task_id": row["task_id"]} for row in ROWS]
        ),
        args=config(
            output_dir=str(output),
            max_steps=STEPS,
            per_device_train_batch_size=2,
            logging_steps=1,
            save_strategy="no",
            report_to="none",
            use_cpu=True,
            bf16=False,
            disable_tqdm=True,
            seed=1,
            **more,
        ),
    )
    trainer.train()
    return trainer


def reward_of(server: LocalServer, *, blocking: bool) -> Any:
    return remote_reward(
        server.target, task=tasks.templates("humaneval", ROWS), name="tests", blocking=blocking
    )


@pytest.mark.parametrize("blocking", [False, True], ids=["awaited", "blocking"])
@pytest.mark.parametrize("name", ["GRPO", "RLOO"])
def test_a_trainer_that_awaits_takes_both_kinds_of_reward(
    lasting_server, tiny_model, tmp_path, name, blocking
):
    trainer = train(name, tiny_model, tmp_path, reward_of(lasting_server, blocking=blocking))
    steps = [step for step in trainer.state.log_history if "tests/unjudged" in step]
    assert [step["tests/unjudged"] for step in steps] == [0.0] * STEPS


def test_online_dpo_takes_a_blocking_reward(lasting_server, tiny_model, tmp_path):
    blocking = reward_of(lasting_server, blocking=True)
    seen: list[float | None] = []

    def tests(**arguments: Any) -> list[float | None]:
        found = blocking(**arguments)
        seen.extend(found)
        return found

    trainer = train("OnlineDPO", tiny_model, tmp_path, tests)
    assert trainer.state.global_step == STEPS
    assert len(seen) == 2 * 2 * STEPS  # it compares two completions of each prompt
    assert None not in seen


def test_online_dpo_with_an_awaited_reward_ends_with_a_hint(lasting_server, tiny_model, tmp_path):
    reward = reward_of(lasting_server, blocking=False)
    with (
        pytest.warns(RuntimeWarning, match="make it with blocking=True"),
        pytest.raises(TypeError, match="'coroutine' object is not iterable"),
    ):
        train("OnlineDPO", tiny_model, tmp_path, reward)
