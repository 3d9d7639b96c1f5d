"""The reward server is away for a while in the middle of `reward-train`."""

from __future__ import annotations

import io
import json
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console

from tests.e2e.support.marks import TRAINERS_WARN
from tests.e2e.support.rows import times_rows
from tests.e2e.support.scripted import Script, body, factor_in, is_right, tables
from trainer_client.grpo import standardized_advantages
from trainer_client.local_server import LocalServer
from trainer_client.report import write_report
from trainer_client.report.charts.figures import all_figures
from trainer_client.report.runs import read_runs
from trainer_client.report.tables import read_tables
from trainer_client.run_folder import RunFolder
from trainer_client.trl.settings.configuration import load_config

pytestmark = [
    pytest.mark.training,
    pytest.mark.usefixtures("trl_noted"),
    *TRAINERS_WARN,
]

GROUP, KILLED_AFTER = 4, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How long the server is away, and how long a call waits for it.

    Args:
        outage_seconds: the client's patience.
        steps: of the training.
        away_steps: steps that end between its death and the start of another; 0 if it comes back
            while a call waits.
        away_seconds: from its death to the start of another, where no step ends meanwhile.
    """

    outage_seconds: float
    steps: int
    away_steps: int = 0
    away_seconds: float = 1.0


def write_config(folder: Path, model: Path, server: LocalServer, plan: Plan) -> Path:
    data = folder / "data.jsonl"
    data.write_text("\n".join(map(json.dumps, times_rows("t"))))
    file = folder / "config.toml"
    file.write_text(
        f"""
        [model]
        path = "{model}"
        [data]
        kind = "humaneval"
        path = "{data}"
        chat = false
        held_out = {{ ids = ["t/3"] }}
        [evaluation]
        samples = 4
        [reward]
        name = "tests"
        failure_budget = 100
        [server]
        target = "{server.target}"
        outage_seconds = {plan.outage_seconds}
        [watch]
        stop_on_collapse = false
        [training]
        output_dir = "{folder / "out"}"
        max_steps = {plan.steps}
        num_generations = {GROUP}
        per_device_train_batch_size = {2 * GROUP}
        max_completion_length = 64
        save_strategy = "no"
        use_cpu = true
        bf16 = false
        report_to = "none"
        """
    )
    return file


def outage_callback(server: LocalServer, plan: Plan):
    """Makes a callback that kills the server, and scripts what the model says."""
    from transformers import TrainerCallback

    class Outage(TrainerCallback):
        def __init__(self) -> None:
            self.return_ = threading.Timer(plan.away_seconds, server.start)

        def on_train_begin(self, args, state, control, model, processing_class, **more):
            def reply(prompt: str, row: int) -> str:
                return f"    return {body(factor_in(prompt), row)}\n"

            model.generate = Script(processing_class, reply)

        def on_step_end(self, args, state, control, **more):
            if state.global_step == KILLED_AFTER:
                server.kill()
                if not plan.away_steps:
                    self.return_.start()
            elif state.global_step == KILLED_AFTER + plan.away_steps:
                server.start()

        def on_train_end(self, args, state, control, **more):
            if not plan.away_steps:
                self.return_.join()

    return Outage()


def train(folder: Path, model: Path, server: LocalServer, plan: Plan) -> RunFolder:
    """Runs `reward-train` in this process, and gives the folder that it left."""
    from trainer_client.trl import run
    from trainer_client.trl.monitoring import watch

    plain = watch.watchers_of
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            watch,
            "watchers_of",
            lambda *_, **more: [*plain(*_, **more), outage_callback(server, plan)],
        )
        config = load_config(write_config(folder, model, server, plan), {})
        run.train(config, Console(file=io.StringIO()))
    return RunFolder(folder / "out")


def check_rows(folder: RunFolder) -> list[float]:
    """Sees that no row has a reward that the server did not give; gives the unjudged shares."""
    shares = []
    for table in tables(folder.path).values():
        rewards = table["tests"]
        rows = zip(table["prompt"], table["completion"], table["tests_verdict"], strict=True)
        for index, (prompt, completion, verdict) in enumerate(rows):
            if verdict == "UNJUDGED":
                assert rewards[index] is None
                assert table["advantage"][index] == 0.0
                assert table["tests_message"][index].startswith("UNAVAILABLE: ")
            else:
                assert rewards[index] == float(is_right(factor_in(prompt), completion))
        shares.append(table["tests_verdict"].count("UNJUDGED") / len(rewards))
        advantages = standardized_advantages(rewards[:GROUP]) + standardized_advantages(
            rewards[GROUP:]
        )
        assert table["advantage"] == pytest.approx(advantages, abs=1e-6)
    return shares


def test_what_an_outage_leaves_unjudged_has_no_reward_and_is_a_gap(server, tiny_model, tmp_path):
    # The patience is longer than the channel waits before it tries to connect again.
    plan = Plan(away_steps=2, outage_seconds=2.5, steps=6)
    folder = train(tmp_path, tiny_model, server, plan)
    shares = check_rows(folder)
    lost = plan.away_steps
    back = KILLED_AFTER + lost
    assert shares[:back] == [0.0] * KILLED_AFTER + [1.0] * lost
    # The step in which the server returns may have some completions that waited too long.
    assert shares[back + 1 :] == [0.0] * (plan.steps - back - 1)

    metrics = folder.metrics()
    assert [line["step"] for line in metrics] == list(range(1, plan.steps + 1))
    assert [line["reward"] is None for line in metrics] == [share == 1.0 for share in shares]
    assert [line["tests/unjudged"] for line in metrics] == shares
    assert {line["grad_norm"] for line in metrics if line["reward"] is None} == {0.0}
    assert [(event.kind, event.step) for event in folder.events()] == [
        ("outage", KILLED_AFTER + 1),
        ("recovered", back + 1),
    ]

    runs = read_runs([folder.path])
    charts = {chart.name: chart for chart in all_figures(runs, read_tables(runs))}
    assert f"no value at {lost} of {plan.steps} steps" in charts["reward"].alt
    assert f"not judged {sum(shares) / plan.steps:.1%}" in charts["verdicts"].alt
    write_report([folder.path], tmp_path / "report.html", pngs=False)
    page = (tmp_path / "report.html").read_text()
    assert f"at {lost} of {plan.steps} steps nothing was judged" in page
    assert "no completion was judged; nothing is learned from it" in page
    assert f"completions are judged again, after {lost} steps" in page
