from __future__ import annotations

import dataclasses
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.training_runs import Plan, info_of, write_run
from trainer_client import ConfigError
from trainer_client.report import write_report
from trainer_client.report.headline import headline
from trainer_client.report.page import data_block, render_page
from trainer_client.report.runs import differing_settings, read_runs
from trainer_client.report.tables import read_tables
from trainer_client.run_folder import Event, RunFolder

HOSTILE = '</script><script>window.hacked=1</script><img src=x onerror="window.hacked=1">&\u2028'


def page_of(*paths) -> str:
    """Renders a page without figures, which take longest."""
    runs = read_runs(paths)
    return render_page(runs, read_tables(runs), [])[0].decode()


def data_of(page: str) -> dict:
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page)
    return json.loads(found)


def test_one_run_gives_a_page_and_a_picture_a_figure(tmp_path):
    write_run(tmp_path / "run", Plan(outage=range(5, 7)))
    summary = write_report([tmp_path / "run"], tmp_path / "new" / "report.html")
    page = summary.page.read_text("utf-8")
    assert summary.page_bytes == len(page.encode())
    assert (summary.runs, summary.steps, summary.completions, summary.shown) == (1, 12, 96, 96)
    assert len(summary.pngs) == page.count("<figure") == 9
    assert tmp_path / "new" / "report-reward.png" in summary.pngs
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in summary.pngs)
    assert set(re.findall(r'\b(?:src|href)="([a-z/+:]*)', page)) == {"data:image/svg+xml"}


def test_three_seeds_are_shown_as_one_experiment_without_pictures_if_none_are_wanted(tmp_path):
    folders = [tmp_path / f"seed{seed}" for seed in range(3)]
    for seed, folder in enumerate(folders):
        write_run(folder, Plan(seed=seed, steps=4 + seed, outage=range(2, 3)))
    summary = write_report(folders, tmp_path / "report.html", pngs=False)
    assert (summary.runs, summary.steps, summary.pngs) == (3, 6, ())
    assert list(tmp_path.glob("*.png")) == []
    page = summary.page.read_text("utf-8")
    assert "seed 0, seed 1, seed 2" in page
    assert page.count("The band is the standard deviation over 3 runs") == 2


def test_the_numbers_at_the_top_are_before_and_after_with_spread_over_seeds(tmp_path):
    for seed in range(2):
        write_run(tmp_path / str(seed), Plan(seed=seed, steps=8, outage=range(2, 4)))
    found = {
        number.name: number for number in headline(read_runs([tmp_path / "0", tmp_path / "1"]))
    }
    passing = found["pass@1, held_out"]
    assert re.fullmatch(r"\d+\.\d% → \d+\.\d%", passing.value)
    assert re.search(r"gain \+\d+\.\d points \(\+\d+\.\d to \+\d+\.\d\)", passing.note)
    assert re.search(r"after by run \d+\.\d%, \d+\.\d% \(std \d+\.\d%\)", passing.note)
    assert found["not judged"].value == "25.00%"
    assert "4 of 16 steps nothing was judged" in found["not judged"].note
    assert "4 of 16 steps have none" in found["reward"].note


def test_a_run_that_only_evaluated_has_a_page(tmp_path):
    plan = Plan(steps=0)
    write_run(tmp_path, plan)
    page = page_of(tmp_path)
    assert "one evaluation" in page
    assert "There are none: the runs have no tables" in page


def test_runs_that_differ_in_a_setting_are_shown_with_a_warning(tmp_path):
    for seed in range(2):
        write_run(tmp_path / str(seed), Plan(seed=seed, steps=1))
    file = tmp_path / "1" / "run.json"
    file.write_text(file.read_text().replace("1e-05", "0.5"))
    runs = read_runs([tmp_path / "0", tmp_path / "1"])
    assert differing_settings(runs) == {"training.learning_rate": ["1e-05", "0.5"]}
    assert "differ in more than their seed" in page_of(tmp_path / "0", tmp_path / "1")


def test_seeds_that_hold_out_different_tasks_are_told_of(tmp_path):
    for seed in range(2):
        folder = write_run(tmp_path / str(seed), Plan(seed=seed, steps=1))
        settings = {"training": {"seed": seed}, "data": {"held_out": {"tasks": 2, "seed": seed}}}
        folder.write_info(dataclasses.replace(folder.info(), settings=settings))
    runs = read_runs([tmp_path / "0", tmp_path / "1"])
    assert differing_settings(runs) == {"data.held_out.seed": ["0", "1"]}


def test_steps_that_epochs_ask_for_are_no_number(tmp_path):
    folder = write_run(tmp_path, Plan(steps=2))
    folder.write_info(dataclasses.replace(folder.info(), max_steps=-1))
    page = page_of(tmp_path)
    assert "-1" not in re.findall(r"of (-?\d+)( asked for|<)", page)
    assert "asked for" not in page


def test_runs_of_the_same_seed_are_told_apart_by_their_folders(tmp_path):
    for name in ("a", "b"):
        write_run(tmp_path / name, Plan(steps=1))
    assert [run.label for run in read_runs([tmp_path / "a", tmp_path / "b"])] == ["a", "b"]


def test_text_of_a_run_is_never_markup(tmp_path):
    plan = Plan(steps=2, text=lambda task, verdict, attempt: HOSTILE + f" {attempt}")
    folder = write_run(tmp_path, plan)
    folder.add_event(Event(step=1, seconds=1.0, kind=HOSTILE, message=HOSTILE + "\ud800"))
    info = json.loads((tmp_path / "run.json").read_text())
    hostile = {"model": HOSTILE, "settings": {HOSTILE: HOSTILE}, "versions": {HOSTILE: HOSTILE}}
    (tmp_path / "run.json").write_text(json.dumps(info | hostile))
    page = page_of(tmp_path)
    assert "<img" not in page
    assert page.count("<script") == page.count("</script") == 2
    texts = {row[data_of(page)["names"].index("completion")][0][1] for row in data_of(page)["rows"]}
    assert texts == {f"{HOSTILE} {attempt}" for attempt in range(4)}


@given(st.dictionaries(st.text(), st.lists(st.text() | st.none())))
def test_a_block_of_data_has_no_letter_that_html_gives_a_meaning_and_reads_back(value):
    block = data_block(value)
    assert block.isascii()
    assert not set("<>&") & set(block)
    assert json.loads(block) == value


def test_a_prompt_is_told_once_and_names_the_task_where_nothing_else_does(tmp_path):
    write_run(tmp_path, Plan(steps=3, tasks=1, extra_columns=False))
    data = data_of(page_of(tmp_path))
    assert len(data["prompts"]) == 1
    assert {row[data["names"].index("task")] for row in data["rows"]} == {"prompt 1"}


def empty(path):
    RunFolder(path).write_info(info_of(Plan()))
    return [path]


def other_model(path):
    for name in ("a", "b"):
        write_run(path / name, Plan(steps=1))
    file = path / "b" / "run.json"
    file.write_text(file.read_text().replace("SmolLM2", "LargeLM"))
    return [path / "a", path / "b"]


def foreign_lines(path):
    write_run(path, Plan(steps=1))
    (path / "evaluations.jsonl").write_text('{"step": 1}\n')
    return [path]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: [], "runs: name at least one run's folder"),
        (lambda path: [path / "no"], r"no is not the folder of a run: .*run\.json"),
        (lambda path: [path], "is not the folder of a run"),
        (empty, "has no logged step and no evaluation yet"),
        (lambda path: [write_run(path, Plan(steps=1)).path] * 2, "is named twice"),
        (other_model, "not seeds of one experiment: model is '.*SmolLM2.*' and '.*LargeLM"),
        (foreign_lines, "holds lines that are not a run's: KeyError: 'tasks'"),
    ],
)
def test_what_is_no_report_is_refused_with_what_to_mend(tmp_path, make, message):
    with pytest.raises(ConfigError, match=message):
        write_report(make(tmp_path), tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def test_a_page_that_cannot_be_written_is_named(tmp_path):
    folder = RunFolder(tmp_path / "run")
    folder.write_info(info_of(Plan()))
    folder.add_metrics(1, 1.0, {"loss": 0.1})
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"out: .*is a folder; name the HTML file"):
        write_report([folder.path], tmp_path)
    with pytest.raises(ConfigError, match=r"out: .*File exists"):
        write_report([folder.path], tmp_path / "file" / "report.html")
