"""Completions are found while tables are written, rewritten and removed."""

from __future__ import annotations

import math
import random
import time

import pytest

from tests.support.training_runs import REWARD, SIGNAL, Plan, made_rows, write_run, write_table
from trainer_client.report.samples import signal_kinds
from trainer_client.run_folder import RunFolder
from trainer_client.view.following import FollowedRun
from trainer_client.view.index import CompletionIndex, Row
from trainer_client.view.queries import Wanted, matching, names_of


def followed(path) -> FollowedRun:
    found = FollowedRun(path, "run")
    found.refresh()
    return found


def refreshed(index: CompletionIndex, path, until: float = math.inf) -> bool:
    run = followed(path).run
    assert run is not None
    return index.refresh(run, until)


def test_new_tables_are_read_once_and_one_that_was_written_again_is_read_again(tmp_path):
    plan = Plan(steps=3)
    write_run(tmp_path, plan)
    index = CompletionIndex(0, tmp_path)
    assert refreshed(index, tmp_path)
    assert [row.step for row in index.rows()] == [3] * 8 + [2] * 8 + [1] * 8
    assert not refreshed(index, tmp_path)
    other = Plan(steps=3, text=lambda task, verdict, attempt: "SOMETHING else")
    write_table(tmp_path, 2, made_rows(other, 2, random.Random(1)))
    write_table(tmp_path, 4, made_rows(plan, 4, random.Random(1)))
    assert refreshed(index, tmp_path)
    assert len(index.rows()) == 32
    assert {row.step for row in matching(index.rows(), Wanted(text="something ELSE"))} == {2}
    (tmp_path / "completions" / "completions_00004.parquet").unlink()
    assert refreshed(index, tmp_path)
    assert len(index.rows()) == 24


def test_a_table_that_is_being_written_is_counted_and_read_once_it_is_whole(tmp_path):
    write_run(tmp_path, Plan(steps=2))
    file = tmp_path / "completions" / "completions_00002.parquet"
    whole = file.read_bytes()
    file.write_bytes(whole[:-40])
    index = CompletionIndex(0, tmp_path)
    refreshed(index, tmp_path)
    assert (len(index.rows()), index.broken, index.left) == (8, 1, 0)
    assert not refreshed(index, tmp_path)
    file.write_bytes(whole)
    assert refreshed(index, tmp_path)
    assert (len(index.rows()), index.broken) == (16, 0)


def test_a_step_that_trained_on_older_completions_lists_none(tmp_path):
    write_run(tmp_path, Plan(steps=2))
    index = CompletionIndex(0, tmp_path)
    refreshed(index, tmp_path)
    RunFolder(tmp_path).add_metrics(2, 99.0, {"loss": 0.1})
    assert refreshed(index, tmp_path)
    assert {row.step for row in index.rows()} == {1}


def test_many_tables_are_read_in_parts_the_newest_first(tmp_path):
    write_run(tmp_path, Plan(steps=5))
    index = CompletionIndex(0, tmp_path)
    past = time.monotonic() - 1.0
    assert refreshed(index, tmp_path, past)
    assert ({row.step for row in index.rows()}, index.left) == ({5}, 4)
    while index.left:
        assert refreshed(index, tmp_path, past)
    assert len(index.rows()) == 40


def test_above_the_limit_the_oldest_texts_are_forgotten_and_that_is_counted(tmp_path):
    write_run(tmp_path, Plan(steps=4))
    whole = CompletionIndex(0, tmp_path)
    refreshed(whole, tmp_path)
    assert whole.unsearched == 0
    texts = [row.text for row in whole.rows()]
    index = CompletionIndex(0, tmp_path, most_characters=sum(map(len, texts)) // 2)
    refreshed(index, tmp_path)
    assert 0 < index.unsearched < 32
    found = matching(index.rows(), Wanted(text="solve_"))
    assert len(found) == 32 - index.unsearched
    assert max(row.step for row in found) == 4
    assert len(matching(index.rows(), Wanted())) == 32


def made(place: int, **values) -> Row:
    base = {
        "run": 0,
        "step": 1,
        "group": 0,
        "place": place,
        "verdict": "FAILED",
        "task": "t/1",
        "reward": 0.0,
        "advantage": 0.0,
        "length": 10,
        "turns": 1,
        "integrity": "",
        "signals": (),
        "prompt": "prompt",
        "text": "text",
    }
    return Row(**(base | values))


ROWS = [
    made(0, step=2, verdict="PASSED", reward=1.0, advantage=0.5, text="größe ẞ"),
    made(1, step=2, reward=None, advantage=None, signals=(SIGNAL, "exit_hook"), length=99),
    made(2, task="T/12", reward=0.25, advantage=-0.9, prompt="other"),
]


@pytest.mark.parametrize(
    ("wanted", "places"),
    [
        (Wanted(), [0, 1, 2]),
        (Wanted(step="2"), [0, 1]),
        (Wanted(step="x"), []),
        (Wanted(verdict="PASSED"), [0]),
        (Wanted(task="t/1"), [0, 1, 2]),
        (Wanted(task="t/12"), [2]),
        (Wanted(signal="any"), [1]),
        (Wanted(signal="exit_hook"), [1]),
        (Wanted(signal="exit"), []),
        (Wanted(text="GRÖSSE"), []),
        (Wanted(text="GRÖßE"), [0]),
        (Wanted(text="prompt"), [0, 1]),
        (Wanted(text=".*"), []),
        (Wanted(order="oldest"), [2, 0, 1]),
        (Wanted(order="best"), [0, 2, 1]),
        (Wanted(order="worst"), [2, 0, 1]),
        (Wanted(order="advantage"), [2, 0, 1]),
        (Wanted(order="longest"), [1, 0, 2]),
        (Wanted(order="unknown", step="2", text="text"), [1]),
    ],
)
def test_filters_search_and_order_choose_completions_and_none_counts_as_zero(wanted, places):
    assert [row.place for row in matching(ROWS, wanted)] == places


def test_names_are_counted(tmp_path):
    found = names_of(ROWS)
    assert found["verdicts"] == [("FAILED", 2), ("PASSED", 1)]
    assert found["signals"] == [("exit_hook", 1), (SIGNAL, 1)]
    assert found["tasks"] == [("T/12", 1), ("t/1", 2)]


def test_signals_are_read_from_their_column(tmp_path):
    assert signal_kinds("exit_hook 1, harness_probe 12") == ["exit_hook", "harness_probe"]
    assert signal_kinds("") == []
    write_run(tmp_path, Plan(steps=30, groups=4))
    index = CompletionIndex(0, tmp_path)
    refreshed(index, tmp_path)
    raised = matching(index.rows(), Wanted(signal=SIGNAL))
    assert {row.verdict for row in raised} == {"SECURITY_VIOLATION"}
    run = followed(tmp_path).run
    assert run is not None
    sample = index.samples(run, raised[0].step)[raised[0].place]
    assert (sample.verdict, sample.signals) == ("SECURITY_VIOLATION", f"{SIGNAL} 1")
    assert list(sample.rewards) == [REWARD]
