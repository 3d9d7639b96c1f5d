from __future__ import annotations

import math
from itertools import pairwise

import pytest

from tests.support.training_runs import REWARD, Plan, info_of, write_run, write_table
from trainer_client.report.runs import read_runs
from trainer_client.report.samples import LONGEST, samples
from trainer_client.report.tables import read_tables
from trainer_client.run_folder import RunFolder


def row(verdict: str | None = "PASSED", reward: float = 1.0, **more: object) -> dict[str, object]:
    columns = {"step": 1, "prompt": "p", "completion": "c", REWARD: reward, "advantage": 0.0}
    return columns | ({} if verdict is None else {f"{REWARD}_verdict": verdict}) | more


def run_with(path, rows, *, size: int = 2, metrics=({"reward": 0.5},)):
    folder = RunFolder(path)
    folder.write_info(info_of(Plan(size=size)))
    for step, line in enumerate(metrics, 1):
        folder.add_metrics(step, 1.0, line)
    write_table(path, 1, rows)
    return read_runs([path])


def test_consecutive_rows_are_a_group_and_what_was_not_judged_is_in_none_of_its_counts(tmp_path):
    rows = [row(), row("FAILED", 0.0), row("UNJUDGED", math.nan), row(), row("UNJUDGED", math.nan)]
    tables = read_tables(run_with(tmp_path, [*rows, row("UNJUDGED", math.nan)]))
    found = [(group.passed, group.judged, group.rewards) for group in tables.groups(2)]
    assert found == [(1, 2, (1.0, 0.0)), (1, 1, (1.0,)), (0, 0, ())]


def test_a_broken_task_says_nothing_of_its_completions(tmp_path):
    rows = [row("FAILED", 0.0), row("INVALID_TASK", math.nan)]
    (group,) = read_tables(run_with(tmp_path, rows)).groups(2)
    assert (group.passed, group.judged, group.rewards) == (0, 1, (0.0,))


def test_a_table_without_our_columns_has_rewards_and_no_verdicts(tmp_path):
    runs = run_with(tmp_path, [row(None), row(None, 0.5)])
    tables = read_tables(runs)
    assert not tables.has_verdicts
    assert tables.tables[0].rewards == [1.0, 0.5]
    assert [sample.verdict for sample in samples(runs, tables)] == ["", ""]


def test_a_table_that_a_killed_run_was_writing_is_named_and_left_out(tmp_path):
    runs = run_with(tmp_path, [row(), row()])
    torn = write_table(tmp_path, 2, [row(), row()])
    torn.write_bytes(torn.read_bytes()[:-20])
    tables = read_tables(runs)
    assert [table.step for table in tables.tables] == [1]
    assert tables.broken == [torn]


def test_a_step_that_trains_on_older_completions_does_not_count_them_again(tmp_path):
    runs = run_with(tmp_path, [row(), row()], metrics=({"reward": 0.5}, {"loss": 0.1}))
    write_table(tmp_path, 2, [row(), row()])
    assert [table.step for table in read_tables(runs).tables] == [1]


def test_a_line_that_sums_up_the_training_does_not_hide_the_last_table(tmp_path):
    runs = run_with(tmp_path, [row(), row()], metrics=({"train_runtime": 9.0},))
    assert [table.step for table in read_tables(runs).tables] == [1]


def test_steps_are_in_order_even_beyond_five_digits(tmp_path):
    runs = run_with(tmp_path, [row(), row()])
    for step in (99_999, 100_000):
        write_table(tmp_path, step, [row(), row()])
    assert [table.step for table in read_tables(runs).tables] == [1, 99_999, 100_000]


@pytest.mark.parametrize("most", [8, 40, 96, 1000])
def test_whole_groups_are_shown_of_the_last_step_and_evenly_over_the_others(tmp_path, most):
    write_run(tmp_path, Plan(steps=24, size=4, groups=2))
    runs = read_runs([tmp_path])
    found = samples(runs, read_tables(runs), most)
    assert len(found) == min(most, 24 * 8)
    places = [(sample.step, sample.group) for sample in found]
    assert places == sorted(places)
    assert all(places.count(place) == 4 for place in places)
    assert places[0][0] == 1
    assert places[-1][0] == 24
    gaps = [later - earlier for (earlier, _), (later, _) in pairwise(places)]
    assert max(gaps) <= math.ceil(24 / (most // 4 - 1)) + 1


def test_a_page_does_not_grow_with_the_length_of_completions(tmp_path, monkeypatch):
    monkeypatch.setattr("trainer_client.report.samples.MOST_CHARACTERS", 50_000)
    runs = run_with(tmp_path, [row(completion="x" * 20_000) for _ in range(8)])
    found = samples(runs, read_tables(runs))
    assert len(found) == 4
    assert [len(sample.completion[0][1]) for sample in found] == [LONGEST] * 4
    assert [sample.cut for sample in found] == [20_000 - LONGEST] * 4
    assert found[-1].group == 3


def test_messages_of_chats_tools_and_blocks_are_shown_each_with_its_role(tmp_path):
    messages = [
        {"role": "assistant", "content": None, "tool_calls": "[run]"},
        {"role": "tool", "content": "3", "tool_calls": None},
    ]
    runs = run_with(tmp_path, [row(completion=messages), row(completion=messages)])
    (first, _) = samples(runs, read_tables(runs))
    assert first.completion == (("assistant", "[run]"), ("tool", "3"))
    assert first.prompt == (("", "p"),)


def test_texts_verdicts_and_rewards_of_a_completion_stay_together(tmp_path):
    plan = Plan(steps=2, text=lambda task, verdict, attempt: f"{task} {verdict} {attempt}")
    write_run(tmp_path, plan)
    runs = read_runs([tmp_path])
    found = samples(runs, read_tables(runs))
    assert len(found) == 16
    for sample in found:
        task, verdict, _ = sample.completion[0][1].split()
        assert (sample.task, sample.verdict) == (f"mbpp/{task}", verdict)
        assert f"solve_{task}" in sample.prompt[0][1]
        assert sample.rewards == {REWARD: float(verdict == "PASSED")}
        assert bool(sample.failing_test) == (verdict != "PASSED")
