"""The report of a real training, in the middle of which the reward server dies and comes back."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.e2e.support.marks import TRAINERS_WARN
from tests.e2e.support.rows import times_rows
from trainer_client import remote_reward, tasks
from trainer_client.report import write_report
from trainer_client.report.charts.figures import all_figures
from trainer_client.report.runs import read_runs
from trainer_client.report.samples import samples
from trainer_client.report.series import logged
from trainer_client.report.tables import read_tables
from trainer_client.rewards.metrics import EVERY_COLUMN
from trainer_client.run_folder import RunFolder, RunInfo
from trainer_client.view.following import FollowedRun
from trainer_client.view.index import CompletionIndex

pytestmark = [
    pytest.mark.training,
    *TRAINERS_WARN,
]

GROUP, PROMPTS = 4, 2
ROWS = times_rows("t")
INFO = RunInfo(
    started="2026-01-02T03:04:05+00:00",
    reward="tests",
    num_generations=GROUP,
    max_steps=6,
    model="tiny",
    data="rows",
    settings={"training": {"num_iterations": 2}},
)


class Watched:
    """A run as the live page follows it.

    Args:
        path: the run's folder.
    """

    def __init__(self, path: Path) -> None:
        self._run, self._index = FollowedRun(path, "run"), CompletionIndex(0, path)

    def look(self) -> list[tuple[int, int, str, str]]:
        """Returns step, place, verdict and text of each completion that is written by now."""
        self._run.refresh()
        if self._run.run is not None:
            self._index.refresh(self._run.run, math.inf)
        assert (self._index.broken, self._run.unread_lines) == (0, 0)
        return [(row.step, row.place, row.verdict, row.text or "") for row in self._index.rows()]


@pytest.fixture(scope="module")
def watched(tmp_path_factory, tiny_model) -> tuple[Path, list[int], Watched]:
    """Returns the folder of a training of six steps, two a batch of completions.

    Of the three batches, the second one finds no server. The run is followed while it goes on: the
    second value has the number of completions that were known before each step.
    """
    from trainer_client.local_server import LocalServer

    folder = RunFolder(tmp_path_factory.mktemp("run"))
    folder.write_info(INFO)
    watched, known = Watched(folder.path), list[int]()
    with LocalServer(folder.path / "server.log") as server:
        _trainer(tiny_model, folder, server, lambda: known.append(len(watched.look()))).train()
    return folder.path, known, watched


@pytest.fixture(scope="module")
def run(watched) -> Path:
    """Returns the folder of the training."""
    return watched[0]


def _trainer(model: Path, folder: RunFolder, server, look: Callable[[], None]):
    from datasets import Dataset
    from transformers import AutoTokenizer, TrainerCallback
    from trl import GRPOConfig, GRPOTrainer

    class Recorder(TrainerCallback):
        def on_log(self, args, state, control, logs=None, **more):
            if "train_runtime" not in logs:
                folder.add_metrics(state.global_step, 1.0, logs)

        def on_step_begin(self, args, state, control, **more):
            look()

        def on_step_end(self, args, state, control, **more):
            if state.global_step == 2:
                server.kill()
            if state.global_step == 4:
                server.start()

    records = [
        {"prompt": [{"role": "user", "content": row["prompt"]}], "task_id": row["task_id"]}
        for row in ROWS
    ]
    return GRPOTrainer(
        model=str(model),
        processing_class=AutoTokenizer.from_pretrained(model),
        # Longer than the channel waits before it tries to connect again.
        reward_funcs=remote_reward(
            server.target,
            task=tasks.templates("humaneval", ROWS),
            name=INFO.reward,
            outage_seconds=2.5,
            columns=EVERY_COLUMN,
        ),
        train_dataset=Dataset.from_list(records),
        callbacks=[Recorder()],
        args=GRPOConfig(
            output_dir=str(folder.path),
            max_steps=INFO.max_steps,
            num_generations=GROUP,
            num_iterations=2,
            per_device_train_batch_size=GROUP * PROMPTS,
            max_completion_length=12,
            logging_steps=1,
            log_completions=True,
            save_strategy="no",
            report_to="none",
            use_cpu=True,
            bf16=False,
            disable_tqdm=True,
            seed=1,
        ),
    )


def test_the_outage_of_a_real_training_is_a_gap_in_its_report(run, tmp_path):
    (found,) = runs = read_runs([run])
    reward = logged(found, "reward")
    assert reward.steps.tolist() == [1, 3, 5]
    assert np.isnan(reward.values).tolist() == [False, True, False]
    charts = {chart.name: chart for chart in all_figures(runs, read_tables(runs))}
    assert "no value at 1 of 3 steps" in charts["reward"].alt
    assert "not judged 33.3%" in charts["verdicts"].alt
    assert "Shares of 6 groups" in charts["groups"].alt
    assert "not judged: 33.3%" in charts["groups"].alt
    summary = write_report([run], tmp_path / "report.html", pngs=False)
    assert (summary.steps, summary.completions, summary.shown) == (6, 24, 24)


def test_the_rows_of_a_real_table_are_groups_of_one_prompt_each(run):
    runs = read_runs([run])
    found = samples(runs, read_tables(runs))
    for start in range(0, len(found), GROUP):
        group = found[start : start + GROUP]
        assert len({(sample.step, sample.group, sample.prompt) for sample in group}) == 1
        (prompt,) = group[0].prompt
        assert prompt[0] == "user"
        assert prompt[1].startswith("def times_")
        assert {sample.completion[0][0] for sample in group} == {"assistant"}
    unjudged = [sample for sample in found if sample.step == 3]
    assert {sample.verdict for sample in unjudged} == {"UNJUDGED"}
    assert {sample.rewards["tests"] for sample in unjudged} == {None}
    assert all("UNAVAILABLE" in sample.message for sample in unjudged)


def test_a_real_training_is_followed_step_by_step_to_what_its_folder_holds_at_the_end(watched):
    path, known, live = watched
    # Every second step trains on the completions of the step before it.
    assert known == [0, 8, 8, 16, 16, 24]
    found = live.look()
    assert len(found) == 24
    assert found == Watched(path).look()
    assert {verdict for step, _, verdict, _ in found if step == 3} == {"UNJUDGED"}
