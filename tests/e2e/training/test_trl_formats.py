"""TRL's formats of prompts and completions, its group sizes and its ways to cut a batch.

The model is real and its words are scripted, so that right and wrong answers are known beforehand.
`test_previous_trl` runs all of this again with TRL's previous minor version.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.support.marks import TRAINERS_WARN
from tests.e2e.support.rows import times_rows
from tests.e2e.support.scripted import Script, answer, body, factor_in, is_right, sent, tables
from tests.e2e.support.tool_talk import call_of, tool_results
from trainer_client import remote_reward, tasks
from trainer_client.grpo import split_groups, standardized_advantages
from trainer_client.local_server import LocalServer, free_port
from trainer_client.rewards.metrics import EVERY_COLUMN

pytestmark = [
    pytest.mark.training,
    pytest.mark.usefixtures("trl_noted"),
    *TRAINERS_WARN,
]

ROWS = times_rows("t")


@pytest.fixture(scope="module")
def metrics_port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def counting_server(tmp_path_factory, metrics_port):
    """Yields a reward server that tells how much it judged."""
    log = tmp_path_factory.mktemp("counting-server") / "server.log"
    with LocalServer(log, ["--set", f"metrics_port={metrics_port}"]) as running:
        yield running


def counted(server: LocalServer, calls: list[list[float | None]]):
    """Makes the reward under test; its calls are noted."""
    inner = remote_reward(
        server.target, task=tasks.templates("humaneval", ROWS), name="tests", columns=EVERY_COLUMN
    )

    async def reward(prompts, completions, **columns):
        calls.append(await inner(prompts, completions, **columns))
        return calls[-1]

    reward.__name__ = inner.__name__
    return reward


def make_trainer(model: Path, output: Path, reward, *, chat: bool, **settings):
    from datasets import Dataset
    from transformers import AutoTokenizer
    from trl import GRPOConfig, GRPOTrainer

    def prompt(row):
        return [{"role": "user", "content": row["prompt"]}] if chat else row["prompt"]

    more = {key: settings.pop(key) for key in ("tools", "environment_factory") if key in settings}
    tokenizer = more["processing_class"] = settings.pop(
        "processing_class", None
    ) or AutoTokenizer.from_pretrained(model)
    reply = settings.pop("reply")
    trainer = GRPOTrainer(
        model=str(model),
        reward_funcs=reward,
        train_dataset=Dataset.from_list(
            [{"prompt": prompt(row), "task_id": row["task_id"]} for row in ROWS]
        ),
        args=GRPOConfig(
            output_dir=str(output),
            logging_steps=1,
            log_completions=True,
            num_completions_to_print=0,
            save_strategy="no",
            report_to="none",
            use_cpu=True,
            bf16=False,
            disable_tqdm=True,
            seed=1,
            **settings,
        ),
        **more,
    )
    trainer.model.generate = Script(tokenizer, reply)
    return trainer


def reply_in_text(prompt: str, row: int) -> str:
    return f"    return {body(factor_in(prompt), row)}\n"


def reply_in_chat(prompt: str, row: int) -> str:
    factor = factor_in(prompt)
    return answer(factor, body(factor, row))


@pytest.mark.parametrize("chat", [False, True])
@pytest.mark.parametrize(
    ("group", "settings", "call_steps", "call_size"),
    [
        # Of 4 batches a generation, each used twice, 2 make an optimizer step.
        (
            2,
            {
                "per_device_train_batch_size": 2,
                "gradient_accumulation_steps": 2,
                "steps_per_generation": 4,
                "num_iterations": 2,
                "max_steps": 5,
            },
            [1, 5],
            8,
        ),
        (
            64,
            {
                "per_device_train_batch_size": 32,
                "gradient_accumulation_steps": 4,
                "max_steps": 1,
            },
            [1],
            128,
        ),
    ],
    ids=["2", "64"],
)
def test_each_row_has_the_reward_of_its_own_completion(
    counting_server,
    metrics_port,
    tiny_model,
    tmp_path,
    chat,
    group,
    settings,
    call_steps,
    call_size,
):
    calls: list[list[float | None]] = []
    before = sent(counting_server, metrics_port)
    trainer = make_trainer(
        tiny_model,
        tmp_path,
        counted(counting_server, calls),
        chat=chat,
        reply=reply_in_chat if chat else reply_in_text,
        num_generations=group,
        max_completion_length=64,
        **settings,
    )
    trainer.train()
    assert trainer.state.global_step == settings["max_steps"]
    assert [len(rewards) for rewards in calls] == [call_size] * len(call_steps)

    by_step = tables(tmp_path)
    assert sorted(by_step) == list(range(1, settings["max_steps"] + 1))
    found = [by_step[step] for step in call_steps]
    assert [table["tests"] for table in found] == calls
    distinct = 0
    for table in found:
        ids, texts = table["tests_task_id"], [str(text) for text in table["completion"]]
        factors = [factor_in(str(prompt)) for prompt in table["prompt"]]
        assert ids == [f"t/{factor}" for factor in factors]
        texts = [text.replace("\\n", "\n") for text in texts]
        right = [is_right(*row) for row in zip(factors, texts, strict=True)]
        assert set(right) == {True, False}
        assert table["tests"] == [float(one) for one in right]
        assert table["tests_verdict"] == ["PASSED" if one else "FAILED" for one in right]
        advantages = [
            advantage
            for rewards in split_groups(table["tests"], group)
            for advantage in standardized_advantages(rewards)
        ]
        assert table["advantage"] == pytest.approx(advantages, abs=1e-6)
        distinct += len(set(zip(ids, texts, strict=True)))
    # By the server's own count: equal completions of a call were sent once.
    assert sent(counting_server, metrics_port) - before == distinct
    assert distinct == {2: 16, 64: 8}[group]


def formula(factor: int, row: int) -> str:
    """Tells how to multiply.

    Args:
        factor: by what.
        row: which way.

    Returns:
        An expression.
    """
    return body(factor, row)


class Formulas:
    """An environment with the tool above."""

    def reset(self, **row) -> None:
        self._task = row["task_id"]

    def formula(self, factor: int, row: int) -> str:
        """Tells how to multiply.

        Args:
            factor: by what.
            row: which way.

        Returns:
            An expression.
        """
        assert self._task == f"t/{factor}"
        return body(factor, row)


def reply_with_tools(prompt: str, row: int) -> str:
    """Asks the tool and answers what it says; where the tool says None, asks once more.

    What is said beside the first call is the opposite of what the last answer comes to.
    """
    factor = factor_in(prompt)
    results = tool_results(prompt)
    if not results:
        misleading = answer(factor, body(factor, row + 2 if row % 4 == 3 else row + 1))
        return misleading + call_of("formula", factor=factor, row=row)
    if results == ["None"]:
        return call_of("formula", factor=factor, row=3)
    return answer(factor, results[-1])


@pytest.mark.parametrize(
    "tools",
    [{"tools": [formula]}, {"environment_factory": Formulas}],
    ids=lambda one: next(iter(one)),
)
def test_of_several_turns_with_tools_the_last_answer_is_judged(
    lasting_server, tiny_model, tool_tokenizer, tmp_path, tools
):
    calls: list[list[float | None]] = []
    trainer = make_trainer(
        tiny_model,
        tmp_path,
        counted(lasting_server, calls),
        chat=True,
        reply=reply_with_tools,
        processing_class=tool_tokenizer,
        num_generations=4,
        per_device_train_batch_size=8,
        max_steps=1,
        max_completion_length=400,
        **tools,
    )
    trainer.train()
    table = tables(tmp_path)[1]
    asked = [[message["role"] for message in turns] for turns in table["completion"]]
    once, twice = ["assistant", "tool", "assistant"], ["assistant", "tool"] * 2 + ["assistant"]
    assert asked == [once, once, twice, once] * 2
    assert table["tests_verdict"] == ["PASSED", "FAILED", "PASSED", "PASSED"] * 2
    assert [table["tests"]] == calls == [[1.0, 0.0, 1.0, 1.0] * 2]
    assert table["advantage"] == pytest.approx(
        standardized_advantages([1.0, 0.0, 1.0, 1.0]) * 2, abs=1e-6
    )
    logged = trainer.state.log_history[0]
    assert (logged["tools/call_frequency"], logged["tools/failure_frequency"]) == (1.25, 0.0)
