"""Numbers, settings and figures of runs beside each other."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from tests.support.training_runs import REWARD, Plan, info_of, write_run
from trainer_client.report.charts.comparison import comparison_figures
from trainer_client.report.runs import Run
from trainer_client.run_folder import RunFolder
from trainer_client.view.comparing import (
    compared_numbers,
    compared_settings,
    is_compared_by,
    modes_of,
)
from trainer_client.view.following import FollowedRun


def read(path: Path) -> Run:
    found = FollowedRun(path, path.name)
    found.refresh()
    assert found.run is not None
    return found.run


def test_each_number_stands_beside_that_of_the_other_runs_or_leaves_a_gap(tmp_path):
    write_run(tmp_path / "a", Plan(steps=8))
    write_run(tmp_path / "b", Plan(steps=8, seed=1))
    folder = RunFolder(tmp_path / "c")
    folder.write_info(info_of(Plan()))
    folder.add_metrics(1, 1.0, {"reward": 0.5})
    runs = [read(tmp_path / name) for name in "abc"]
    rows = {row["name"]: row["cells"] for row in compared_numbers(runs)}
    assert [cell["value"] for cell in rows["steps"]] == ["8", "8", "1"]
    assert rows["pass@1, held_out"][2] is None
    assert "pass@1, held_out, against a" not in rows
    gains = {row["name"]: row["cells"] for row in compared_numbers(runs[:2])}
    nothing, gain = gains["pass@1, held_out, against a"]
    assert nothing is None
    assert re.fullmatch(r"[+-]\d+\.\d points", gain["value"])
    assert gain["note"].endswith("over 40 common tasks")


def test_settings_that_differ_are_told_with_what_was_trained(tmp_path):
    for seed in range(2):
        folder = write_run(tmp_path / str(seed), Plan(steps=1, seed=seed))
        settings = {"training": {"beta": 0.1 * seed, "max_steps": 1}}
        folder.write_info(dataclasses.replace(folder.info(), settings=settings))
    runs = [read(tmp_path / str(seed)) for seed in range(2)]
    assert compared_settings(runs) == {"seed": ["0", "1"], "training.beta": ["0.0", "0.1"]}
    assert compared_settings(runs[:1]) == {}


def test_a_figure_has_a_line_for_each_run_that_has_values_and_names_the_others(tmp_path):
    write_run(tmp_path / "a", Plan(steps=4, outage=range(2, 3)))
    other = RunFolder(tmp_path / "b")
    other.write_info(dataclasses.replace(info_of(Plan()), reward="other_reward"))
    for step in range(1, 4):
        line = {"reward": 0.25, "other_reward/verdict/PASSED": 0.5, "other_reward/unjudged": 0.0}
        other.add_metrics(step, 1.0, line)
    charts = {
        one.name: one for one in comparison_figures([read(tmp_path / "a"), read(tmp_path / "b")])
    }
    assert {"reward", "passing", "passed", "signals", "kl", "time", "waiting"} <= charts.keys()
    (axes,) = charts["passed"].figure.axes
    assert [one.get_label() for one in axes.lines if len(one.get_xdata()) > 1] == ["a", "b"]
    assert list(axes.lines[-1].get_ydata()) == [0.5, 0.5, 0.5]
    assert "no value at 1 of 4 steps" in charts["reward"].alt
    assert "Without values: b." in charts["kl"].caption
    assert REWARD not in charts["passed"].alt


@pytest.mark.parametrize(
    ("count", "modes"),
    [
        (1, ["together"]),
        (2, ["together", "compared"]),
        (3, ["compared", "together"]),
        (4, ["compared"]),
    ],
)
def test_runs_are_shown_as_suits_them_and_as_is_wanted_where_that_is_possible(
    tmp_path, count, modes
):
    for seed, (model, rate) in enumerate((("x", 1.0), ("x", 1.0), ("x", 2.0), ("y", 2.0))):
        folder = write_run(tmp_path / str(seed), Plan(steps=1, seed=seed))
        settings = {"training": {"learning_rate": rate, "seed": seed}}
        folder.write_info(dataclasses.replace(folder.info(), model=model, settings=settings))
    runs = [read(tmp_path / str(seed)) for seed in range(count)]
    assert modes_of(runs) == modes
    for mode in ("together", "compared"):
        assert is_compared_by(runs, mode) == ((mode == "compared") == (mode in modes))
    assert is_compared_by(runs, "unknown") == (modes[0] == "compared")
