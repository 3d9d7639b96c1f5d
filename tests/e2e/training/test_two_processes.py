"""`reward-train` in two processes, which share groups, a server, evaluations and a folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.support.rows import times_rows
from tests.e2e.support.scripted import tables
from trainer_client.run_folder import RunFolder

pytestmark = pytest.mark.training

PROCESSES, GROUP, SAMPLES = 2, 4, 2
MARK = "TEST_OF_TWO_PROCESSES"


def rows() -> list[dict[str, str]]:
    """Returns tasks that anything which compiles passes, as a random model's text seldom does."""
    passes = """def check(candidate):
    try:
        answer = candidate(3)
    except Exception:
        answer = 0
    assert answer != "no such answer"
"""
    solution = "    return x\n"
    return [{**row, "test": passes, "canonical_solution": solution} for row in times_rows("t")]


@pytest.fixture
def config(tmp_path, tiny_model) -> Path:
    data = tmp_path / "data.jsonl"
    data.write_text("\n".join(map(json.dumps, rows())))
    file = tmp_path / "config.toml"
    # Three held-out tasks, of which two processes cannot have equally many.
    file.write_text(
        f"""
        [model]
        path = "{tiny_model}"
        [data]
        kind = "humaneval"
        path = "{data}"
        chat = false
        held_out = {{ ids = ["t/1", "t/2", "t/3"] }}
        [server]
        arguments = ["--workers", "1"]
        [evaluation]
        samples = {SAMPLES}
        batch_size = {SAMPLES}
        every = 1
        [training]
        output_dir = "{tmp_path / "out"}"
        max_steps = 2
        num_iterations = 2
        num_generations = {GROUP}
        per_device_train_batch_size = 2
        max_completion_length = 4
        save_strategy = "no"
        use_cpu = true
        bf16 = false
        """
    )
    return file


def marked(value: str) -> list[int]:
    """Returns the processes whose environment has the test's mark."""
    wanted = f"{MARK}={value}".encode()
    found = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        try:
            has_mark = wanted in environment.read_bytes().split(b"\0")
        except OSError:  # ended, or somebody else's
            continue
        if has_mark:
            found.append(int(environment.parent.name))
    return found


def launch(config: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += [f"--nproc-per-node={PROCESSES}", "-m", "trainer_client.trl", str(config)]
    environment = {**os.environ, MARK: str(folder), "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as launcher:
        try:
            output, errors = launcher.communicate(timeout=200)
        except BaseException:
            launcher.terminate()  # it ends its processes, which a kill would leave behind
            raise
    return subprocess.CompletedProcess(command, launcher.returncode, output, errors)


@pytest.mark.exhaustive
def test_two_processes_make_one_run(config, tmp_path):
    done = launch(config, tmp_path)
    assert done.returncode == 0, done.stderr[-4000:]
    assert marked(str(tmp_path)) == []

    server, before, first, between, after, end = done.stdout.splitlines()
    assert "reference solutions pass" in server
    assert before.startswith("held out, after 0 steps: pass@1 0.")
    assert first.startswith("step 1/2  ")
    for line in (before, between, after):
        assert line.endswith(", 6 samples judged, 0 not")
    assert end == f"the trained model is in {tmp_path / 'out'}"

    folder = RunFolder(tmp_path / "out")
    log = (folder.path / "server.log").read_text()
    assert log.count(" listens on ") == log.count(" stopped ") == 1, log
    metrics = folder.metrics()
    assert [line["step"] for line in metrics] == [1, 2]
    assert len((folder.path / "metrics.jsonl").read_text().splitlines()) == 2
    assert metrics[0]["humaneval_reward/unjudged"] == 0.0
    assert "humaneval_reward/unjudged" not in metrics[1]
    evaluations = folder.evaluations()
    assert [found.step for found in evaluations] == [0, 1, 2]
    for found in evaluations:
        # Each task was sampled as often as was asked for, whichever process had it.
        assert {task: tally.samples for task, tally in found.tasks.items()} == {
            f"t/{number}": SAMPLES for number in (1, 2, 3)
        }
        assert all(sum(tally.verdicts.values()) == SAMPLES for tally in found.tasks.values())
    # A group of four, two of each process, on which both steps train.
    table, again = tables(folder.path).values()
    assert again == table
    assert set(table["humaneval_reward_task_id"]) == {"t/0"}
    assert len(table["humaneval_reward"]) == len(table["advantage"]) == GROUP
    assert all(reward in (0.0, 1.0) for reward in table["humaneval_reward"])
