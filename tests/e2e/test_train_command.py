"""`reward-train` and the demo as a person runs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.training, pytest.mark.timeout(180)]

ROW = {
    "task_id": "t/1",
    "prompt": "def twice(x):\n",
    "test": "def check(candidate):\n    assert candidate(1) == 2\n",
    "entry_point": "twice",
    "canonical_solution": "    return 2 * x\n",
}


def command(name: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    program = str(Path(sys.executable).with_name(name))
    return subprocess.run(
        [program, *arguments], capture_output=True, text=True, cwd=folder, timeout=150
    )


@pytest.fixture
def config(tmp_path, tiny_model, lasting_server) -> Path:
    data = tmp_path / "data.jsonl"
    data.write_text(json.dumps(ROW))
    file = tmp_path / "config.toml"
    file.write_text(
        f"""
        [model]
        path = "{tiny_model}"
        [data]
        kind = "humaneval"
        path = "{data}"
        chat = false
        [server]
        target = "{lasting_server.target}"
        outage_seconds = 1
        [training]
        output_dir = "{tmp_path / "out"}"
        max_steps = 2
        num_generations = 4
        per_device_train_batch_size = 4
        max_completion_length = 8
        use_cpu = true
        bf16 = false
        """
    )
    return file


def test_it_trains_and_prints_a_line_a_step(config, tmp_path):
    done = command("reward-train", str(config), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "the reference solution of t/1: PASSED" in lines[0]
    assert lines[1].startswith("step 1/2  reward 0.000  reward_std 0.000  ")
    assert lines[2].startswith("step 2/2  ")
    assert "100%" in lines[1]
    assert (tmp_path / "out" / "model.safetensors").is_file()


def test_a_dry_run_tries_everything_and_trains_nothing(config, tmp_path):
    done = command("reward-train", str(config), "--dry-run", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1 tasks; the first prompt:\ndef twice(x):" in done.stdout
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--set", "training.max_prompt_length=5"], 2, "training.max_prompt_length: is gone"),
        (["--set", "training.num_generations=3"], 2, "training: "),
        (["--set", "nonsense"], 2, "--set nonsense: must be SECTION.KEY=VALUE"),
        (["--data", "humaneval"], 2, "--data humaneval: must be humaneval=PATH or mbpp=PATH"),
        (["--model", "/no/such/model"], 2, "model.path: no model in /no/such/model"),
        (["--model", "/no/such.gguf"], 2, "model.path: there is no file /no/such.gguf"),
        (["--target", "127.0.0.1:1"], 1, "UNAVAILABLE: "),
    ],
)
def test_what_cannot_work_is_said_in_a_line_and_a_status(
    config, tmp_path, arguments, status, message
):
    done = command("reward-train", str(config), *arguments, folder=tmp_path)
    assert done.returncode == status
    assert f"error: {message}" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_demo_grades_all_of_humaneval_both_ways(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "trainer_client.examples.demo", "--fast"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=150,
        env={**os.environ, "COLUMNS": "120"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "164 of 164" in done.stdout
    assert "0 of 164" in done.stdout
