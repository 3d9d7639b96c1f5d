"""Real GRPO training of an agent: it submits, is told what went wrong, and submits again.

The model is real and its words are scripted, so that all rewards are known beforehand.
"""

from __future__ import annotations

import pickle
from functools import partial
from pathlib import Path
from unittest import mock

import pytest

from tests.e2e.support.marks import TRAINERS_WARN
from tests.e2e.support.scripted import Script, factor_in, tables
from tests.e2e.support.tool_talk import call_of, tool_results
from trainer_client import RemoteReward, remote_reward, tasks
from trainer_client.grpo import split_groups, standardized_advantages
from trainer_client.trl.environments import (
    CodeEnvironment,
    PythonEnvironment,
    SessionEnvironment,
    environment_reward,
    python_tool,
)

pytestmark = [pytest.mark.training, *TRAINERS_WARN]

FACTORS = range(4)
TEMPLATES = {
    f"t/{factor}": tasks.from_json(
        {"stdio": {"cases": [{"stdin_text": "31", "expected_stdout_text": str(31 * factor)}]}}
    )
    for factor in FACTORS
}
GROUP = 4
SHARED_BY_PROCESSES = (
    *("rollout_buffer", "model_version_value", "heartbeat_value", "failed_event"),
    *("exception_info_queue", "metrics_queue"),
)
SESSION = {"memory_bytes": 96 << 20, "processes": 32}


def right(factor: int) -> str:
    return f"print({factor} * int(input()))"


def mistyped(factor: int) -> str:
    return f"print({factor} * int(inptu()))"


def attempt(factor: int, row: int) -> str:
    """Returns the first thought of each completion of a group: only one of four is right."""
    wrong = f"print({factor} - 1 - int(input()))"
    return [right(factor), mistyped(factor), wrong, mistyped(factor)][row % GROUP]


def reply_in_text(prompt: str, row: int) -> str:
    return f"```python\n{attempt(factor_in(prompt), row)}\n```"


def reply_with_tools(prompt: str, row: int) -> str:
    """Submits the first thought, or runs it before, and corrects what an error names."""
    factor, results = factor_in(prompt), tool_results(prompt)
    if results and "NameError" in results[-1]:
        return call_of("submit", code=right(factor))
    if results:
        return "That is all."
    if row % GROUP == GROUP - 1:
        return call_of("run", code=attempt(factor, row), stdin="3")
    return call_of("submit", code=attempt(factor, row))


def reply_in_a_session(prompt: str, row: int) -> str:
    """Writes the first thought, tries it, and corrects what an error names."""
    factor, results = factor_in(prompt), tool_results(prompt)
    if not results:
        return call_of("write_file", path="solution.py", content=attempt(factor, row))
    if results[-1] == "Written." and len(results) == 1:
        return call_of("bash", command="echo 3 | python3 solution.py")
    if "NameError" in results[-1]:
        return call_of("write_file", path="solution.py", content=right(factor))
    return "That is all."


def train(model: Path, tokenizer, output: Path, reward, reply, *, callbacks=(), **more):
    """Trains; returns the trainer."""
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    steps, columns = more.pop("max_steps", 1), more.pop("columns", {})
    rows = [
        {
            "prompt": [{"role": "user", "content": f"times_{factor}"}],
            "task_id": f"t/{factor}",
            **{name: values[factor] for name, values in columns.items()},
        }
        for factor in FACTORS
    ]
    trainer = GRPOTrainer(
        model=str(model),
        processing_class=tokenizer,
        reward_funcs=reward,
        train_dataset=Dataset.from_list(rows),
        callbacks=list(callbacks),
        args=GRPOConfig(
            output_dir=str(output),
            max_steps=steps,
            num_generations=GROUP,
            per_device_train_batch_size=more.pop("batch_size", 2 * GROUP),
            max_completion_length=1500,
            logging_steps=1,
            log_completions=True,
            num_completions_to_print=0,
            save_strategy="no",
            report_to="none",
            use_cpu=True,
            bf16=False,
            disable_tqdm=True,
            seed=1,
        ),
        **more,
    )
    trainer.model.generate = Script(tokenizer, reply)
    trainer.train()
    assert trainer.state.global_step == steps
    return trainer


def rewards_of(output: Path, name: str = "tests", step: int = 1) -> list[float]:
    return tables(output)[step][name]


def test_a_submission_after_an_error_solves_what_the_first_did_not(
    lasting_server, tiny_model, tool_tokenizer, tmp_path
):
    """The same first thoughts pass more often, the more the model is told."""
    target = lasting_server.target
    found = {}
    for feedback in ("none", "stderr"):
        reward = environment_reward(target, task=TEMPLATES, name="tests")
        factory = partial(CodeEnvironment, reward, feedback=feedback)
        output = tmp_path / feedback
        trainer = train(
            tiny_model,
            tool_tokenizer,
            output,
            reward,
            reply_with_tools,
            environment_factory=factory,
        )
        assert trainer.state.log_history[0]["tools/failure_frequency"] == 0.0
        found[feedback] = rewards_of(output)
    plain = remote_reward(target, task=TEMPLATES, name="tests")
    train(tiny_model, tool_tokenizer, tmp_path / "plain", plain, reply_in_text)
    assert rewards_of(tmp_path / "plain") == [1.0, 0.0, 0.0, 0.0] * 2
    assert found["none"] == [1.0, 0.0, 0.0, 1.0] * 2
    assert found["stderr"] == [1.0, 1.0, 0.0, 1.0] * 2
    table = tables(tmp_path / "stderr")[1]
    expected = standardized_advantages([1.0, 1.0, 0.0, 1.0]) * 2
    assert table["advantage"] == pytest.approx(expected, abs=1e-6)
    roles = [[message["role"] for message in turns] for turns in table["completion"]]
    once, twice = ["assistant", "tool", "assistant"], ["assistant", "tool"] * 2 + ["assistant"]
    # After a submission that passed, the model is told that the task is over.
    assert roles == [once, twice, once, twice] * 2


def test_rows_choose_their_environment_and_one_reward_scores_all(
    lasting_server, tiny_model, tool_tokenizer, tmp_path
):
    def reply(prompt: str, row: int) -> str:
        in_code = "<tools>run submit" in prompt
        return (reply_with_tools if in_code else reply_in_a_session)(prompt, row)

    reward = environment_reward(lasting_server.target, task=TEMPLATES, name="tests")
    train(
        tiny_model,
        tool_tokenizer,
        tmp_path,
        reward,
        reply,
        batch_size=len(FACTORS) * GROUP,
        columns={"environment": ["code", "shell", "code", "shell"]},
        environment_factory={
            "code": partial(CodeEnvironment, reward),
            "shell": partial(SessionEnvironment, reward, session=SESSION),
        },
    )
    table = tables(tmp_path)[1]
    factors = [factor_in(str(prompt)) for prompt in table["prompt"][::GROUP]]
    found = dict(zip(factors, split_groups(table["tests"], GROUP), strict=True))
    in_code, in_a_shell = [1.0, 0.0, 0.0, 1.0], [1.0, 1.0, 0.0, 1.0]
    assert found == {0: in_code, 1: in_a_shell, 2: in_code, 3: in_a_shell}


def test_a_tool_of_no_environment_is_offered_and_called(
    lasting_server, tiny_model, tool_tokenizer, tmp_path
):
    def reply(prompt: str, row: int) -> str:
        factor, results = factor_in(prompt), tool_results(prompt)
        if not results:
            return call_of("run_python", code=attempt(factor, row).replace("input()", "3"))
        return f"```python\n{right(factor) if 'NameError' in results[0] else results[0]}\n```"

    target = lasting_server.target
    plain = remote_reward(target, task=TEMPLATES, name="tests")
    train(tiny_model, tool_tokenizer, tmp_path, plain, reply, tools=[python_tool(target)])
    table = tables(tmp_path)[1]
    said = [turns[1]["content"] for turns in table["completion"]]
    assert said[0].isdigit()
    assert "NameError" in said[1]
    assert rewards_of(tmp_path) == [0.0, 1.0, 0.0, 1.0] * 2


def test_an_interpreter_keeps_its_variables_for_an_episode_and_no_longer(
    lasting_server, tiny_model, tool_tokenizer, tmp_path
):
    def reply(prompt: str, row: int) -> str:
        factor, results = factor_in(prompt), tool_results(prompt)
        if not results:
            return call_of("run_python", code=f"'seen' if 'x' in globals() else (x := {row + 10})")
        if len(results) == 1:
            return call_of("run_python", code="x")
        return f"```python\n{right(factor) if results == [str(row + 10)] * 2 else 'no'}\n```"

    reward = environment_reward(lasting_server.target, task=TEMPLATES, name="tests")
    train(
        tiny_model,
        tool_tokenizer,
        tmp_path,
        reward,
        reply,
        max_steps=2,
        environment_factory=partial(PythonEnvironment, reward, session=SESSION),
    )
    for step in (1, 2):
        assert rewards_of(tmp_path, step=step) == [1.0] * 2 * GROUP, tables(tmp_path)[step]


async def test_the_rollout_worker_of_async_grpo_scores_by_a_pickled_reward(
    lasting_server, tool_tokenizer
):
    """As its worker does in a process of its own, without the server of vLLM."""
    from datasets import Dataset
    from trl.experimental.async_grpo.async_rollout_worker import (
        RolloutGroup,
        TrainingSequence,
        _AsyncRolloutLoop,
    )

    reward = RemoteReward(lasting_server.target, task=TEMPLATES, name="tests")
    loop = _AsyncRolloutLoop(
        model_name="none",
        dataset=Dataset.from_list([{"prompt": "p", "task_id": "t/2"}]),
        reward_funcs=[pickle.loads(pickle.dumps(reward))],
        processing_class=tool_tokenizer,
        eos_token_ids=[0],
        **{name: mock.Mock() for name in SHARED_BY_PROCESSES},
    )
    texts = [reply_in_text("times_2", row) for row in range(GROUP)]
    group = RolloutGroup(
        prompts=["p"] * GROUP,
        reward_kwargs={"task_id": ["t/2"] * GROUP},
        completions=texts,
        completions_ids=[[1]] * GROUP,
        completions_sequences=[[TrainingSequence([1], [1], [0.0], "one")]] * GROUP,
        tool_call_counts=[0] * GROUP,
        tool_failure_counts=[0] * GROUP,
        model_version=0,
        group_id=0,
        env_rewards=[None] * GROUP,
        rollout_rewards=[None] * GROUP,
    )
    samples = await loop._score_group(group)
    assert [one.metrics["rewards/tests"] for one in samples] == [1.0, 0.0, 0.0, 0.0]
