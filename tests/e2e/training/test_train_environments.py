"""`reward-train` with tools for the model."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.e2e.support.marks import TRAINERS_WARN
from tests.e2e.support.rows import times_rows
from tests.e2e.support.scripted import Script, factor_in, tables
from tests.e2e.support.tool_talk import call_of, tool_results
from trainer_client.report import write_report
from trainer_client.run_folder import RunFolder
from trainer_client.trl import run

pytestmark = [pytest.mark.training, *TRAINERS_WARN]

SESSION_MEMORY = 96 << 20


def solution(factor: int, *, is_right: bool) -> str:
    value = f"{factor} * x" if is_right else "y"
    return f"def times_{factor}(x):\n    print(1)\n    return {value}\n"


def reply_with_submissions(prompt: str, row: int) -> str:
    """Half of the first submissions raise an exception; the second ones are right."""
    factor, results = factor_in(prompt), tool_results(prompt)
    if results and "All tests passed" in results[-1]:
        return "That is all."
    is_right = bool(results) or row % 2 == 0
    return call_of("submit", code=solution(factor, is_right=is_right))


def reply_in_a_session(prompt: str, row: int) -> str:
    factor, results = factor_in(prompt), tool_results(prompt)
    if results:
        return "That is all."
    content = solution(factor, is_right=row % 2 == 0)
    return call_of("write_file", path="solution.py", content=content)


@pytest.fixture
def scripted(monkeypatch, tool_tokenizer):
    """Returns a function that scripts the model of the next training."""

    def script(reply) -> None:
        make = run.make_trainer

        def make_scripted(*arguments):
            trainer = make(*arguments)
            trainer.model.generate = Script(tool_tokenizer, reply)
            return trainer

        monkeypatch.setattr(run, "make_trainer", make_scripted)

    return script


@pytest.fixture
def tool_model(tiny_model, tool_tokenizer, tmp_path) -> Path:
    """Returns the folder of the tiny model with a template for tools."""
    folder = tmp_path / "model"
    folder.mkdir()
    for file in tiny_model.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    tool_tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def config(tmp_path, tool_model, lasting_server):
    """Returns a function that writes a configuration with an environment."""

    def write(*environment: str, model: Path = tool_model) -> Path:
        data = tmp_path / "data.jsonl"
        data.write_text("\n".join(map(json.dumps, times_rows("t"))))
        lines = "\n".join(environment)
        file = tmp_path / "config.toml"
        file.write_text(
            f"""
            [model]
            path = "{model}"
            [data]
            kind = "humaneval"
            path = "{data}"
            failing_references = "keep"
            held_out = {{ ids = ["t/2"] }}
            [environment]
            {lines}
            [server]
            target = "{lasting_server.target}"
            [evaluation]
            samples = 2
            before = false
            [training]
            output_dir = "{tmp_path / "out"}"
            max_steps = 1
            save_strategy = "no"
            num_generations = 4
            per_device_train_batch_size = 4
            max_completion_length = 1000
            """
        )
        return file

    return write


def test_submissions_are_told_about_and_recorded(config, scripted, reward_train, tmp_path):
    scripted(reply_with_submissions)
    done = reward_train(str(config('kind = "code"', 'feedback = "verdict"', "turns = 3")))
    assert done.returncode == 0, done.stderr
    assert "PASSED 100%  2.5 turns  " in done.stdout
    (line,) = RunFolder(tmp_path / "out").metrics()
    name = RunFolder(tmp_path / "out").info().reward
    assert line[f"{name}/turns"] == 2.5
    assert line[f"{name}/submissions"] == 1.5
    assert line[f"{name}/first_submission_passed"] == 0.5
    assert line["tools/call_frequency"] == 1.5
    table = tables(tmp_path / "out")[1]
    turns = Counter(len(messages) for messages in table["completion"])
    assert turns == {3: 2, 5: 2}
    page = write_report([tmp_path / "out"], tmp_path / "report.html", pngs=False).page.read_text()
    assert "call of submit" in page
    assert "Turns and submissions" in page
    (evaluation,) = RunFolder(tmp_path / "out").evaluations()
    assert evaluation.tasks["t/2"].passed == 2


def test_a_session_is_judged_by_its_files(config, scripted, reward_train, tmp_path):
    scripted(reply_in_a_session)
    file = config('kind = "session"', f"memory_bytes = {SESSION_MEMORY}", "idle_seconds = 60")
    done = reward_train(str(file))
    assert done.returncode == 0, done.stderr
    assert "PASSED 50%, RUNTIME_ERROR 50%" in done.stdout


def test_a_dry_run_shows_the_tools_to_a_person(config, scripted, reward_train):
    scripted(reply_with_submissions)
    done = reward_train(str(config('kind = "code"', 'feedback = "verdict"')), "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "<tools>run submit" in done.stdout
    assert "[tool submit]" in done.stdout
    assert "The solution crashed, or raised an exception." in done.stdout


def test_a_model_whose_template_has_no_tools_is_refused(config, reward_train, tiny_model):
    done = reward_train(str(config('kind = "code"', model=tiny_model)))
    assert done.returncode != 0
    assert "does not support tool calling" in done.stderr


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (['kind = "shell"'], "environment.kind"),
        (['kind = "code"', 'feedback = "all"'], "environment.feedback"),
        (['kind = "code"', "submission = 3"], "did you mean submissions"),
    ],
)
def test_a_wrong_setting_is_named(config, reward_train, lines, problem):
    done = reward_train(str(config(*lines)))
    assert done.returncode != 0
    assert problem in done.stderr


def test_tools_need_a_chat(config, reward_train):
    file = config('kind = "code"')
    file.write_text(file.read_text().replace("[data]", "[data]\nchat = false"))
    done = reward_train(str(file))
    assert done.returncode != 0
    assert "environment.kind: tools need chats" in done.stderr
