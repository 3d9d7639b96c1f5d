"""`reward-train` and the demo as a person runs them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

from codereward.task_digest import task_digest
from tests.e2e.support.marks import TRAINERS_WARN
from trainer_client.run_folder import RunFolder
from trainer_client.trl.settings.configuration import load_config
from trainer_client.trl.tasks.data import read_tasks

pytestmark = [pytest.mark.training, *TRAINERS_WARN]


def row(name: str) -> dict[str, str]:
    return {
        "task_id": name,
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
    data.write_text("\n".join(json.dumps(row(name)) for name in ("t/1", "t/2")))
    file = tmp_path / "config.toml"
    file.write_text(
        f"""
        [model]
        path = "{tiny_model}"
        [data]
        kind = "humaneval"
        path = "{data}"
        chat = false
        held_out = {{ ids = ["t/2"] }}
        [server]
        target = "{lasting_server.target}"
        outage_seconds = 1
        [evaluation]
        samples = 2
        [training]
        output_dir = "{tmp_path / "out"}"
        max_steps = 2
        save_steps = 1
        num_generations = 4
        per_device_train_batch_size = 4
        max_completion_length = 8
        use_cpu = true
        bf16 = false
        """
    )
    return file


def tensorboard_tags(folder: Path) -> dict[str, list[str]]:
    """Returns the names that TensorBoard finds in a folder, by kind."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder))
    events.Reload()
    found: dict[str, list[str]] = events.Tags()
    return found


def test_it_trains_evaluates_and_goes_on_where_it_stopped(config, reward_train, tmp_path):
    done = command("reward-train", str(config), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    server, before, first, second, after, end = done.stdout.splitlines()
    assert "2 of 2 reference solutions pass" in server
    assert before == (
        "held out, after 0 steps: pass@1 0.000, 0 of 1 tasks solved, 2 samples judged, 0 not"
    )
    assert first.startswith("step 1/2  reward 0.000  reward_std 0.000  ")
    assert "100%" in first
    assert second.startswith("step 2/2  ")
    assert after.startswith("held out, after 2 steps: ")
    assert end == f"the trained model is in {tmp_path / 'out'}"
    assert (tmp_path / "out" / "model.safetensors").is_file()

    folder = RunFolder(tmp_path / "out")
    info = folder.info()
    assert (info.reward, info.num_generations, info.max_steps) == ("humaneval_reward", 4, 2)
    assert info.versions["trl"]
    assert [line["step"] for line in folder.metrics()] == [1, 2]
    assert [found.step for found in folder.evaluations()] == [0, 2]
    assert folder.evaluations()[0].tasks["t/2"].samples == 2
    assert [file.stem for file in folder.completions] == ["completions_00001", "completions_00002"]
    table = parquet.read_table(folder.completions[1]).to_pydict()
    assert table["prompt"] == ["def twice(x):\n"] * 4
    tags = tensorboard_tags(tmp_path / "out" / "tensorboard")
    assert {"histograms/humaneval_reward", "histograms/advantage"} == set(tags["histograms"])
    assert {f"completions/{place}/text_summary" for place in range(1, 5)} <= set(tags["tensors"])
    assert not (tmp_path / "runs").exists()
    state = json.loads((tmp_path / "out" / "checkpoint-2" / "trainer_state.json").read_text())
    assert next(line["step"] for line in state["log_history"] if "held_out/pass@1" in line) == 0

    again = reward_train(str(config))
    assert again.returncode == 2
    assert f"training.output_dir: {tmp_path / 'out'} holds a run" in again.stderr

    (tmp_path / "out" / "checkpoint-9").mkdir()  # as a run leaves it that was killed meanwhile
    more = reward_train(str(config), "--resume", "--max-steps", "3")
    assert more.returncode == 0, more.stderr
    assert [line["step"] for line in folder.metrics()] == [1, 2, 3]
    assert [found.step for found in folder.evaluations()] == [0, 2, 3]
    assert [(event.kind, event.message) for event in folder.events()] == [
        ("resumed", "from the checkpoint of 2, with other settings: training.max_steps")
    ]

    page = tmp_path / "out" / "report.html"
    told = reward_train("report", str(folder.path))
    assert told.returncode == 0, told.stderr
    assert told.stdout == f"{page}: 1 runs, 3 steps, 12 of 12 completions\n"
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert list(page.parent.glob("report-*.png"))


def test_a_dry_run_shows_a_group_with_a_server_of_its_own_and_leaves_nothing(
    config, reward_train, tmp_path
):
    text = config.read_text()
    start = text.index("target =")
    config.write_text(text[:start] + text[text.index("\n", start) :])
    done = reward_train(str(config), "--dry-run")
    assert done.returncode == 0, done.stderr
    server, rule, prompt, *rest = done.stdout.splitlines()
    assert "reward server" in server
    assert "the prompt, as the model sees it" in rule
    assert prompt == "def twice(x):"
    headings = [line for line in rest if ", reward 0.000, advantage +0.000" in line]
    assert [heading.split("completion ")[1][0] for heading in headings] == ["1", "2", "3", "4"]
    assert not (tmp_path / "out").exists()


def test_a_run_leaves_out_what_an_audit_drops(config, reward_train, tmp_path):
    source = read_tasks(load_config(config, {}).data)
    leak = {"kind": "leak", "severity": "drop", "reason": "shown"}
    tasks = [
        {"id": key, "digest": task_digest(one), "kept": key != "t/1", "findings": [leak]}
        for key, one in source.templates.items()
    ]
    (tmp_path / "audit.json").write_text(json.dumps({"format": 1, "tasks": tasks}))
    done = reward_train(str(config), "--set", f"data.audit={tmp_path / 'audit.json'}")
    assert "t/1: the audit drops it: leak (shown); left out" in done.stdout
    assert done.returncode == 2
    assert "no task of" in done.stderr


def test_a_dry_run_shows_a_whole_group_however_large_where_nothing_is_held_out(
    config, reward_train
):
    text = config.read_text()
    config.write_text(text.replace('held_out = { ids = ["t/2"] }', "").replace("= 4", "= 12"))
    done = reward_train(str(config), "--dry-run")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("advantage +0.000") == 12


def test_a_command_that_is_told_to_end_leaves_no_scratch_folder(config, tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(100)
        target = f"127.0.0.1:{silent.getsockname()[1]}"
        program = [str(Path(sys.executable).with_name("reward-train")), str(config), "--dry-run"]
        environment = {**os.environ, "TMPDIR": str(scratch)}
        with subprocess.Popen([*program, "--target", target], env=environment) as running:
            connection, _ = silent.accept()
            assert list(scratch.glob("tmp*"))
            running.terminate()
            assert running.wait(30) == 128 + signal.SIGTERM
            connection.close()
    assert not list(scratch.glob("tmp*"))


@pytest.mark.exhaustive
def test_a_training_goes_on_when_nobody_reads_what_it_says(config, tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    program = [str(Path(sys.executable).with_name("reward-train")), str(config)]
    done = subprocess.run(program, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=150)
    os.close(writing)
    assert done.returncode == 0, done.stderr
    assert [line["step"] for line in RunFolder(tmp_path / "out").metrics()] == [1, 2]


def test_a_model_is_evaluated_without_training(config, reward_train, tmp_path):
    done = reward_train("evaluate", str(config))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1].startswith("held out, after 0 steps: pass@1 0.000, ")
    folder = RunFolder(tmp_path / "out")
    assert [found.step for found in folder.evaluations()] == [0]
    assert not (tmp_path / "out" / "model.safetensors").exists()


def test_the_best_adapter_is_kept_and_evaluated_as_the_model_that_it_makes(
    config, reward_train, tmp_path, monkeypatch
):
    monkeypatch.setenv("HOME", str(tmp_path))  # what is merged is kept in its .cache
    settings = {
        "model.lora.r": 2,
        "evaluation.every": 1,
        "training.load_best_model_at_end": True,
        "training.metric_for_best_model": "held_out/pass@1",
    }
    flags = [f"--set={name}={json.dumps(value)}" for name, value in settings.items()]
    done = reward_train(str(config), *flags)
    assert done.returncode == 0, done.stderr
    state = json.loads((tmp_path / "out" / "checkpoint-2" / "trainer_state.json").read_text())
    assert state["best_metric"] == 0.0
    adapter = ("--model", str(tmp_path / "out"), "--output-dir", str(tmp_path / "evaluated"))
    told = reward_train("evaluate", str(config), *adapter)
    assert told.returncode == 0, told.stderr
    assert [found.step for found in RunFolder(tmp_path / "evaluated").evaluations()] == [0]


def test_half_precision_of_one_kind_is_not_taken_for_both(config, tmp_path):
    from trainer_client.trl.settings.configuration import load_config
    from trainer_client.trl.trainer import grpo_arguments

    training = {"fp16": True, "use_cpu": True, "output_dir": str(tmp_path)}
    arguments = grpo_arguments(load_config(config, {"training": training}))
    assert (arguments.fp16, arguments.bf16) == (True, False)


def test_a_prompt_is_shown_with_the_tokens_and_options_that_trl_gives_it(config, tiny_model):
    from tokenizers.processors import TemplateProcessing

    from trainer_client.trl.settings.configuration import load_config
    from trainer_client.trl.trainer import load_tokenizer, rendered

    flags = {"training.chat_template_kwargs": {"mood": "curt"}}
    read = load_config(config, flags)
    tokenizer = load_tokenizer(read)
    tokenizer.chat_template = "{{ mood }}: {{ messages[0]['content'] }}"
    assert rendered(read, tokenizer, [{"role": "user", "content": "x  y"}]) == "curt: x  y"
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="<eos> $A", special_tokens=[("<eos>", tokenizer.eos_token_id)]
    )
    assert rendered(read, tokenizer, "def f") == "<eos>def f"


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--set", "training.max_prompt_length=5"], 2, "training.max_prompt_length: is gone"),
        (["--set", "training.num_generations=3"], 2, "training: "),
        (["--set", "training.model_init_kwargs={}"], 2, "training.model_init_kwargs: is set by"),
        (
            ["--set", "training.gradient_accumulation_steps=2"],
            2,
            "data: one generation takes 2 tasks (training.generation_batch_size, 8 completions",
        ),
        (
            [
                *("--set", "training.reward_weights=[1, 2]"),
                *("--set", 'reward.further=[{function="trl.rewards.think_format_reward"}]'),
            ],
            2,
            "training.reward_weights: weights stand in [reward]",
        ),
        (["--set", "nonsense"], 2, "--set nonsense: must be SECTION.KEY=VALUE"),
        (["--data", "humaneval"], 2, "--data humaneval: must be KIND=PATH, such as mbpp=FILE"),
        (["--set", "model.lora.rank=4"], 2, "model.lora.rank: no field of LoraConfig"),
        (["--set", "watch.target_kl=0.1", "--set", "training.beta=0"], 2, "training.beta: is 0"),
        (["--resume"], 2, "--resume: there is no whole checkpoint in "),
        (["--model", "/no/such/model"], 2, "model.path: no model in /no/such/model"),
        (["--model", "/no/such.gguf"], 2, "model.path: there is no file /no/such.gguf"),
        (["--target", "127.0.0.1:1"], 1, "UNAVAILABLE: "),
        (["--target", "a,b"], 2, "server.target: target 'a' names no port"),
        (["--output-dir", "/dev/null"], 2, "training.output_dir: [Errno 17] File exists"),
    ],
)
def test_what_cannot_work_is_said_in_a_line_and_a_status(
    config, reward_train, arguments, status, message
):
    done = reward_train(str(config), *arguments)
    assert done.returncode == status
    assert f"error: {message}" in done.stderr


@pytest.mark.promise(
    "All 164 reference solutions of HumanEval pass, and none passes without its body.", "Verdicts"
)
@pytest.mark.exhaustive
def test_the_demo_grades_all_of_humaneval_both_ways(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "examples.demo", "--fast"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=150,
        env={**os.environ, "COLUMNS": "120"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "164 of 164" in done.stdout
    assert "0 of 164" in done.stdout
