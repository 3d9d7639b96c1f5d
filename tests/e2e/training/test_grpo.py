"""Real GRPO training with a real reward server, which dies and comes back on the way."""

from __future__ import annotations

import asyncio
import math
import os
import signal
from pathlib import Path

import pytest

from tests.e2e.support.marks import TRAINERS_WARN
from tests.e2e.support.rows import times_rows
from trainer_client import remote_reward, tasks
from trainer_client.local_server import LocalServer

pytestmark = [
    pytest.mark.training,
    *TRAINERS_WARN,
]

ROWS = times_rows("t")
GROUP = 4


def make_trainer(model: Path, output: Path, reward, *, steps: int, chat: bool = False, **more):
    from datasets import Dataset
    from transformers import AutoTokenizer
    from trl import GRPOConfig, GRPOTrainer

    def prompt(row):
        return [{"role": "user", "content": row["prompt"]}] if chat else row["prompt"]

    return GRPOTrainer(
        model=str(model),
        processing_class=AutoTokenizer.from_pretrained(model),
        reward_funcs=reward,
        train_dataset=Dataset.from_list(
            [{"prompt": prompt(row), "task_id": row["task_id"]} for row in ROWS]
        ),
        args=GRPOConfig(
            output_dir=str(output),
            max_steps=steps,
            num_generations=GROUP,
            per_device_train_batch_size=2 * GROUP,
            max_completion_length=12,
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


def steps_of(trainer, key: str) -> list[float | None]:
    return [entry.get(key) for entry in trainer.state.log_history if "reward" in entry]


def is_none(value: float | None) -> bool:
    return value is None or math.isnan(value)


def reward_of(server: LocalServer, **options):
    return remote_reward(
        server.target, task=tasks.templates("humaneval", ROWS), name="tests", **options
    )


@pytest.mark.parametrize("chat", [False, True])
def test_training_runs_on_the_servers_verdicts(lasting_server, tiny_model, tmp_path, chat):
    trainer = make_trainer(tiny_model, tmp_path, reward_of(lasting_server), steps=2, chat=chat)
    trainer.train()
    assert trainer.state.global_step == 2
    assert steps_of(trainer, "tests/unjudged") == [0.0, 0.0]
    assert all(0.0 <= reward <= 1.0 for reward in steps_of(trainer, "rewards/tests/mean"))
    shares = [key for key in trainer.state.log_history[0] if key.startswith("tests/verdict/")]
    assert sum(trainer.state.log_history[0][key] for key in shares) == pytest.approx(1.0)


@pytest.mark.promise("Training goes on through the server's death and return.", "Client")
def test_training_goes_on_through_the_servers_death_and_return(server, tiny_model, tmp_path):
    from transformers import TrainerCallback

    class Outage(TrainerCallback):
        def on_step_end(self, args, state, control, **more):
            if state.global_step == 2:
                server.kill()
            if state.global_step == 4:
                server.start()

    # Longer than the channel waits before it tries to connect again.
    reward = reward_of(server, outage_seconds=2.5)
    trainer = make_trainer(tiny_model, tmp_path, reward, steps=6)
    trainer.add_callback(Outage())
    trainer.train()
    assert trainer.state.global_step == 6
    assert steps_of(trainer, "tests/unjudged") == [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]
    without_reward = [is_none(value) for value in steps_of(trainer, "reward")]
    assert without_reward == [False, False, True, True, False, False]
    assert steps_of(trainer, "grad_norm")[2:4] == [0.0, 0.0]


def test_a_batch_under_way_survives_a_kill_and_a_restart(server, tiny_model, tmp_path):
    """The server is frozen before the batch, killed under it, and started again."""
    inner = reward_of(server, outage_seconds=60.0)
    rewards: list[list[float | None]] = []

    async def reward(prompts, completions, **columns):
        if len(rewards) != 1:
            rewards.append(await inner(prompts, completions, **columns))
            return rewards[-1]
        os.kill(server.pid, signal.SIGSTOP)
        batch = asyncio.create_task(inner(prompts, completions, **columns))
        await asyncio.sleep(0.2)  # the requests reach the frozen server, which cannot tell so
        assert not batch.done()
        await asyncio.to_thread(server.kill)
        await asyncio.to_thread(server.start)
        rewards.append(await batch)
        return rewards[-1]

    trainer = make_trainer(tiny_model, tmp_path, reward, steps=3)
    trainer.train()
    assert len(rewards) == 3
    assert all(value is not None for batch in rewards for value in batch)


def test_a_batch_under_way_is_given_up_when_the_server_stays_away(server, tiny_model, tmp_path):
    inner = reward_of(server, outage_seconds=0.5)
    rewards: list[list[float | None]] = []

    async def reward(prompts, completions, **columns):
        os.kill(server.pid, signal.SIGSTOP)
        batch = asyncio.create_task(inner(prompts, completions, **columns))
        await asyncio.sleep(0.2)  # as above
        await asyncio.to_thread(server.kill)
        rewards.append(await batch)
        return rewards[-1]

    trainer = make_trainer(tiny_model, tmp_path, reward, steps=1)
    trainer.train()
    assert rewards == [[None] * 2 * GROUP]
    assert trainer.state.global_step == 1


def test_a_lost_server_ends_training_loudly_in_the_end(server, tiny_model, tmp_path):
    from trainer_client import RewardLostError

    server.kill()
    reward = reward_of(server, outage_seconds=0.1, failure_budget=2)
    trainer = make_trainer(tiny_model, tmp_path, reward, steps=9)
    with pytest.raises(RewardLostError, match="2 calls without a reward: UNAVAILABLE"):
        trainer.train()
    assert trainer.state.global_step == 1


def test_one_reward_function_serves_two_trainers(lasting_server, tiny_model, tmp_path):
    reward = reward_of(lasting_server)
    for run in ("first", "second"):
        trainer = make_trainer(tiny_model, tmp_path / run, reward, steps=1)
        trainer.train()
        assert steps_of(trainer, "tests/unjudged") == [0.0]


def test_verdicts_are_kept_beside_the_completions(lasting_server, tiny_model, tmp_path):
    import pyarrow.parquet as parquet

    trainer = make_trainer(
        tiny_model, tmp_path, reward_of(lasting_server), steps=1, log_completions=True
    )
    trainer.train()
    (file,) = (tmp_path / "completions").glob("*.parquet")
    table = parquet.read_table(file).to_pydict()
    assert len(table["tests_verdict"]) == 2 * GROUP
    assert "UNJUDGED" not in table["tests_verdict"]
