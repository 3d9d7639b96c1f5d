"""Every reward function in a real step of TRL's trainer, with weights, for text and for chats."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.e2e.support.marks import TRAINERS_WARN
from tests.e2e.support.rows import times_rows
from trainer_client import tasks
from trainer_client.local_server import LocalServer
from trainer_client.rewards import (
    clipped,
    correctness_reward,
    ensemble,
    exact_answer_reward,
    int_reward,
    length_reward,
    math_reward,
    numeric_tolerance_reward,
    overlong_penalty,
    pattern_reward,
    remote_reward,
    repetition_penalty,
    soft_format_reward,
    strict_format_reward,
    think_answer_format_reward,
    with_options,
    xmlcount_reward,
)
from trainer_client.rewards.metrics import EVERY_COLUMN

pytestmark = [
    pytest.mark.training,
    *TRAINERS_WARN,
]

ROWS = times_rows("t")
GROUP = 2


def every_reward(target: str) -> dict:
    """Returns each reward function with its weight."""
    execution = remote_reward(
        target, task=tasks.templates("humaneval", ROWS), name="tests", policy="fraction"
    )
    symbolic = math_reward(target, name="symbolic")
    return {
        think_answer_format_reward: 0.1,
        strict_format_reward: 0.1,
        soft_format_reward: 0.1,
        clipped(xmlcount_reward, -0.5, 0.5): 0.1,
        pattern_reward(".*[0-9].*", name="digits"): 0.1,
        correctness_reward: 1.0,
        int_reward: 0.1,
        exact_answer_reward: 1.0,
        with_options(numeric_tolerance_reward, name="near", atol=0.1): 1.0,
        with_options(length_reward, target=6): 0.2,
        with_options(overlong_penalty, limit=12, cache=4): 0.2,
        repetition_penalty: 0.2,
        execution: 1.0,
        symbolic: 1.0,
        ensemble([execution, symbolic, int_reward], how="min", name="all_of_them"): 1.0,
    }


def train(model: Path, output: Path, rewards: dict, *, chat: bool):
    from datasets import Dataset
    from transformers import AutoTokenizer
    from trl import GRPOConfig, GRPOTrainer

    def prompt(row):
        return [{"role": "user", "content": row["prompt"]}] if chat else row["prompt"]

    records = [
        {"prompt": prompt(row), "task_id": row["task_id"], "answer": "#### 42"} for row in ROWS
    ]
    trainer = GRPOTrainer(
        model=str(model),
        processing_class=AutoTokenizer.from_pretrained(model),
        reward_funcs=list(rewards),
        train_dataset=Dataset.from_list(records),
        args=GRPOConfig(
            output_dir=str(output),
            max_steps=1,
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
            reward_weights=list(rewards.values()),
            log_completions=True,
        ),
    )
    trainer.train()
    return trainer


@pytest.mark.parametrize("chat", [False, True])
def test_every_reward_is_a_finite_part_of_a_real_step(
    math_server: LocalServer, tiny_model, tmp_path, chat
):
    rewards = every_reward(math_server.target)
    trainer = train(tiny_model, tmp_path, rewards, chat=chat)
    logged = trainer.state.log_history[0]
    means = {reward: logged[f"rewards/{reward.__name__}/mean"] for reward in rewards}
    assert all(math.isfinite(mean) for mean in means.values()), means
    total = sum(weight * means[reward] for reward, weight in rewards.items())
    assert logged["reward"] == pytest.approx(total, abs=1e-4)
    assert logged["tests/unjudged"] == logged["symbolic/unjudged"] == 0.0
    assert logged["tests/integrity/ISOLATED"] == 1.0
    assert logged["symbolic/wait_seconds"] > 0.0


def test_what_a_browser_of_completions_shows_is_beside_them(
    math_server: LocalServer, tiny_model, tmp_path
):
    import pyarrow.parquet as parquet

    rewards = {
        remote_reward(
            math_server.target,
            task=tasks.templates("humaneval", ROWS),
            name="r",
            columns=EVERY_COLUMN,
        ): 1.0
    }
    train(tiny_model, tmp_path, rewards, chat=False)
    (file,) = (tmp_path / "completions").glob("*.parquet")
    table = parquet.read_table(file).to_pydict()
    assert set(table["r_task_id"]) <= {row["task_id"] for row in ROWS}
    assert set(table["r_integrity"]) == {"ISOLATED"}
    assert len(table["r_failing_test"]) == 2 * GROUP


def test_length_rewards_are_trls_own_where_it_has_them():
    from trl.rewards import get_repetition_penalty_reward, get_soft_overlong_punishment

    ids = [[0] * 81, [1, 2, 3, 1, 2, 3, 1], [1], [], list(range(100)), [4] * 101]
    call = {"prompts": ["?"] * len(ids), "completions": [""] * len(ids), "completion_ids": ids}
    assert overlong_penalty(**call, limit=100, cache=20) == (
        get_soft_overlong_punishment(100, 20)(completion_ids=ids)
    )
    assert repetition_penalty(**call, ngram=2, penalty=-0.5) == pytest.approx(
        get_repetition_penalty_reward(2, -0.5)(completion_ids=ids)
    )
