from __future__ import annotations

import base64
import dataclasses
import re
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest

from tests.support.training_runs import REWARD, SIGNAL, Plan, info_of, write_run, write_table
from trainer_client.report.charts.drawing import styled
from trainer_client.report.charts.figures import all_figures
from trainer_client.report.charts.lines import reward_figure, turns_figure
from trainer_client.report.charts.shares import time_figure, verdict_figure
from trainer_client.report.headline import headline
from trainer_client.report.runs import Run, read_runs
from trainer_client.report.series import logged_of_judged
from trainer_client.report.tables import read_tables
from trainer_client.report.timing import wait_share
from trainer_client.run_folder import Event, RunFolder

OUTAGE = range(5, 8)


def one_run(path: Path, **plan) -> list[Run]:
    write_run(path, Plan(**plan))
    return read_runs([path])


def logged(path: Path, lines, **info) -> list[Run]:
    folder = RunFolder(path)
    folder.write_info(info_of(Plan(**info)))
    for step, line in lines:
        folder.add_metrics(step, float(step), line)
    return read_runs([path])


def drawn_lines(figure) -> list[tuple[list[float], np.ndarray]]:
    lines = (line for axes in figure.axes for line in axes.lines)
    return [(list(line.get_xdata()), np.asarray(line.get_ydata())) for line in lines]


def test_the_line_of_the_reward_breaks_where_nothing_was_judged_and_is_never_zero(tmp_path):
    chart = reward_figure(one_run(tmp_path, outage=OUTAGE))
    steps, values = drawn_lines(chart.figure)[0]
    assert steps == list(range(1, 13))
    assert [step for step, value in zip(steps, values, strict=True) if np.isnan(value)] == [5, 6, 7]
    assert "no value at 3 of 12 steps" in chart.alt


def test_a_step_that_took_no_completions_is_no_gap(tmp_path):
    lines = [(1, {"reward": 0.5}), (2, {"loss": 0.1}), (3, {"reward": 0.25})]
    steps, values = drawn_lines(reward_figure(logged(tmp_path, lines)).figure)[0]
    assert (steps, values.tolist()) == ([1, 3], [0.5, 0.25])


def test_a_reward_between_two_gaps_is_seen_as_a_dot(tmp_path):
    lines = [(1, {"reward": None}), (2, {"reward": 0.5}), (3, {"reward": None})]
    _, (steps, values) = drawn_lines(reward_figure(logged(tmp_path, lines)).figure)
    assert (steps, values.tolist()) == ([2], [0.5])


def test_what_is_a_mean_over_judged_completions_is_a_gap_where_nothing_was(tmp_path):
    (run,) = one_run(tmp_path, outage=OUTAGE)
    for key in (f"{REWARD}/grade_seconds", "frac_reward_zero_std"):
        assert logged_of_judged(run, key).gaps == [(5, 7)]


def test_verdicts_and_what_was_not_judged_add_up_to_all_completions(tmp_path):
    chart = verdict_figure(one_run(tmp_path, outage=OUTAGE))
    areas = {area.get_label(): area for area in chart.figure.axes[0].collections}
    assert areas["not judged"].get_hatch()
    tops = [area.get_paths()[0].vertices[:, 1].max() for area in areas.values()]
    assert max(tops) == pytest.approx(1.0)
    assert f"not judged {3 / 12:.1%}" in chart.alt


def test_a_single_area_has_its_name_and_a_single_line_has_its_axis(tmp_path):
    line = {"reward": 0.5, f"{REWARD}/verdict/PASSED": 1.0, f"{REWARD}/unjudged": 0.0}
    runs = logged(tmp_path, [(1, line), (2, line)])
    (legend,) = verdict_figure(runs).figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["PASSED"]
    assert reward_figure(runs).figure.legends == []


def test_a_run_that_never_saw_a_signal_counts_none_and_not_nothing(tmp_path):
    folders = [tmp_path / "a", tmp_path / "b"]
    write_run(folders[0], Plan())
    folder = RunFolder(folders[1])
    folder.write_info(info_of(Plan(seed=1)))
    for step in range(1, 13):
        folder.add_metrics(step, 1.0, {"reward": 0.1, f"{REWARD}/unjudged": 0.0})
    runs = read_runs(folders)
    charts = {chart.name: chart for chart in all_figures(runs, read_tables(runs))}
    assert f"{SIGNAL} a completion: 0 at step 1" in charts["hacking"].alt


@pytest.mark.parametrize(
    ("training", "lines", "share"),
    [
        ({}, [(1, 10.0, 2.0), (2, 10.0, 4.0)], 0.3),
        # The second step trains on the first one's completions, and calls no reward.
        ({"num_iterations": 2}, [(1, 10.0, 5.0), (2, 10.0, None)], 0.25),
        # Each line is a mean over ten steps, of which half call.
        ({"num_iterations": 2}, [(10, 10.0, 5.0), (20, 10.0, 5.0)], 0.25),
        ({"gradient_accumulation_steps": 4, "steps_per_generation": 1}, [(1, 10.0, 2.0)], 0.8),
        # What TRL made of it is known: four steps train on one generation.
        (
            {"generation_batch_size": 64, "per_device_train_batch_size": 16},
            [(4, 10.0, 2.0), (8, 10.0, 2.0)],
            0.05,
        ),
    ],
)
def test_waiting_is_told_as_a_share_of_the_time_of_all_steps(tmp_path, training, lines, share):
    folder = RunFolder(tmp_path)
    info = dataclasses.replace(
        info_of(Plan()),
        settings={"training": training},
        steps_per_generation=4 if "generation_batch_size" in training else 0,
    )
    folder.write_info(info)
    for step, seconds, wait in lines:
        waited = {} if wait is None else {f"{REWARD}/wait_seconds": wait}
        folder.add_metrics(step, 1.0, {"step_time": seconds, **waited})
    runs = read_runs([tmp_path])
    assert wait_share(runs) == pytest.approx(share)
    assert f"took {share:.1%} of" in time_figure(runs).alt


def test_figures_of_what_was_not_logged_are_left_out(tmp_path):
    runs = logged(tmp_path, [(1, {"reward": 0.5}), (2, {"reward": 0.5})])
    assert [chart.name for chart in all_figures(runs, read_tables(runs))] == ["reward"]
    assert {number.name for number in headline(runs)} == {"steps", "reward"}


def test_runs_without_a_step_in_common_have_lines_of_their_own_and_no_mean(tmp_path):
    folders = [tmp_path / "a", tmp_path / "b"]
    for step, path in enumerate(folders, 1):
        line = {"reward": 0.5, "step_time": 2.0, f"{REWARD}/wait_seconds": 1.0}
        verdict = {f"{REWARD}/verdict/PASSED": 0.5, f"{REWARD}/unjudged": 0.0}
        logged(path, [(step, line | verdict)], seed=step)
    runs = read_runs(folders)
    (chart,) = all_figures(runs, read_tables(runs))
    assert [list(steps) for steps, _ in drawn_lines(chart.figure) if steps] == [[1], [1], [2], [2]]
    assert chart.alt == "Mean reward over steps: no values."


def test_a_run_in_which_nothing_was_ever_judged_has_an_empty_line_and_others_keep_theirs(tmp_path):
    lost, found = tmp_path / "a", tmp_path / "b"
    logged(lost, [(1, {"reward": None}), (2, {"reward": None})])
    logged(found, [(1, {"reward": 0.5}), (2, {"reward": 0.75})], seed=1)
    chart = reward_figure(read_runs([lost]))
    assert np.isnan(drawn_lines(chart.figure)[0][1]).all()
    assert chart.alt == "Mean reward over steps: no values."
    both = drawn_lines(reward_figure(read_runs([lost, found])).figure)
    assert [values.tolist() for _, values in both if np.isfinite(values).any()] == [[0.5, 0.75]]


def test_every_figure_has_key_numbers_for_those_who_do_not_see_it(tmp_path):
    runs = one_run(tmp_path, outage=OUTAGE)
    charts = all_figures(runs, read_tables(runs))
    assert " ".join(chart.name for chart in charts) == (
        "reward passing verdicts groups spread policy time hacking lengths"
    )
    for chart in charts:
        assert any(letter.isdigit() for letter in chart.alt)
        assert chart.caption.endswith(".")


def test_a_reward_in_parts_and_several_functions_have_figures_of_their_own(tmp_path):
    means = {"reward": 0.5, f"rewards/{REWARD}/mean": 0.4, "rewards/length/mean": 0.1}
    runs = logged(tmp_path, [(1, means), (2, means)], size=2)
    column = f"{REWARD}_verdict"
    rows = [{REWARD: reward, column: "FAILED"} for reward in (0.0, 0.25, 0.5, 0.75)]
    write_table(tmp_path, 1, rows)
    charts = {chart.name: chart for chart in all_figures(runs, read_tables(runs))}
    assert "0.125 to 0.25: 50.0%, 0.25 to 0.375: 0.0%" in charts["rewards"].alt
    assert "length: 0.1 at step 1, 0.1 at step 2" in charts["functions"].alt


def test_names_out_of_a_run_are_drawn_as_text_whatever_they_hold(tmp_path):
    lines = [(1, {"reward": 0.5, f"{REWARD}/unjudged": 0.0, f"{REWARD}/signal/$\\frac{{$ 漢": 1.0})]
    runs = logged(tmp_path, lines)
    RunFolder(tmp_path).add_event(Event(step=1, seconds=1.0, kind="_$x^$\n", message=""))
    runs = read_runs([tmp_path])
    charts = all_figures(runs, read_tables(runs))
    assert {chart.name for chart in charts} == {"reward", "hacking"}
    for chart in charts:
        assert chart.png().startswith(b"\x89PNG")


def test_the_users_own_style_changes_nothing_and_is_left_as_it_was(tmp_path):
    runs = one_run(tmp_path)
    with mpl.rc_context({"font.size": 30, "axes.grid": False}):
        chart = reward_figure_in_style(runs)
        assert chart.figure.axes[0].xaxis.label.get_size() == 9
        assert mpl.rcParams["font.size"] == 30


def reward_figure_in_style(runs):
    with styled():
        return reward_figure(runs)


def test_a_figure_of_very_many_points_is_pixels_and_a_small_one_vectors(tmp_path):
    chart = reward_figure(one_run(tmp_path))
    for url in chart.data_urls():
        kind, _, data = url.partition(",")
        assert kind == "data:image/svg+xml;base64"
        assert ElementTree.fromstring(base64.b64decode(data)).tag.endswith("svg")
    light, dark = dataclasses.replace(chart, points=10**6).data_urls()
    assert light == dark
    assert light.startswith("data:image/png;base64,")


def test_every_colour_of_a_dark_figure_can_be_told_from_its_ground(tmp_path):
    runs = one_run(tmp_path, outage=OUTAGE)
    for chart in all_figures(runs, read_tables(runs)):
        _, dark = chart.data_urls()
        drawn = base64.b64decode(dark.partition(",")[2]).decode()
        colours = set(re.findall(r"(?:stroke|fill): (#[0-9a-f]{6})", drawn))
        assert "#161b22" in colours
        lines = set(re.findall(r'<path [^>]*style="fill: none; stroke: (#[0-9a-f]{6})', drawn))
        faint = [one for one in lines - GRID if contrast(one, "#161b22") < 3]
        assert faint == []


GRID = {"#2b323c"}


def contrast(one: str, other: str) -> float:
    """Returns the ratio of luminances as WCAG defines it."""
    dark, light = sorted(luminance(colour) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_turns_are_drawn_for_agents_alone(tmp_path):
    assert turns_figure(one_run(tmp_path / "answers")) is None
    lines = [
        (1, {f"{REWARD}/turns": 3.0, f"{REWARD}/submissions": 1.0}),
        (2, {f"{REWARD}/turns": 2.0}),
    ]
    chart = turns_figure(logged(tmp_path / "agents", lines))
    assert [axes.get_ylabel() for axes in chart.figure.axes] == [
        "turns\nan episode",
        "submissions\nan episode",
    ]
    assert "3 at step 1, 2 at step 2" in chart.alt
