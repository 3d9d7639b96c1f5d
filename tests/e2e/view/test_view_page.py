"""The live page in a real browser: it grows while a run goes on, and what runs hold stays text."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.browser import FAINT, Browser, chromium
from tests.support.training_runs import (
    Plan,
    info_of,
    made_rows,
    metrics_of,
    write_run,
    write_table,
)
from trainer_client.run_folder import Event, RunFolder
from trainer_client.view import served_view

SCRIPT = "window.hacked = (window.hacked ?? 0) + 1"
HOSTILE = f'<img src=x onerror="{SCRIPT}"></script><script>{SCRIPT}</script>\u202e{{{{7*7}}}}'


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Yields a browser that loads nothing from elsewhere."""
    with chromium(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture
def quiet(browser: Browser) -> Iterator[Browser]:
    """Yields the browser; no page may have an error or try what is refused."""
    browser.console()
    yield browser
    assert browser.console() == []


@contextmanager
def shown(browser: Browser, url: str) -> Iterator[None]:
    """Shows a page, and leaves it at the end."""
    browser.visit(url)
    try:
        yield
    finally:
        browser.visit("about:blank")


@contextmanager
def viewed(browser: Browser, *runs: Path) -> Iterator[None]:
    """Shows a live page of runs."""
    with served_view(runs) as url, shown(browser, url):
        yield


class Training:
    """A run that a test lets go on step by step.

    Args:
        path: its folder.
        plan: what it is like.
    """

    def __init__(self, path: Path, plan: Plan) -> None:
        self.path, self.plan = path, plan
        self._folder = RunFolder(path)
        self._generator = random.Random(plan.seed)
        self._made = 0

    def start(self) -> None:
        self._folder.write_info(info_of(self.plan))

    def step(self) -> None:
        self._made += 1
        rows = made_rows(self.plan, self._made, self._generator)
        metrics = metrics_of(self.plan, self._made, rows, self._generator)
        self._folder.add_metrics(self._made, 9.0 * self._made, metrics)
        write_table(self.path, self._made, rows)


def test_a_run_is_watched_from_before_its_start_to_its_end_without_a_reload(quiet, tmp_path):
    training = Training(tmp_path / "run", Plan(steps=3))
    with viewed(quiet, tmp_path / "run"):
        quiet.until("document.body.textContent.includes('no run yet')")
        quiet.run("window.loadedOnce = true")
        training.start()
        quiet.until("document.querySelector('h1').textContent.includes('on mbpp, seed 0')")
        training.step()
        quiet.until("document.querySelector('.run').textContent.includes('step 1 of 3')")
        quiet.until("document.querySelector('#figure-reward img')?.naturalWidth > 300")
        first = quiet.run("return document.querySelector('#figure-reward img').src")
        for _ in range(2):
            training.step()
        RunFolder(tmp_path / "run").add_event(
            Event(step=3, seconds=30.0, kind="outage", message=HOSTILE)
        )
        quiet.until("document.querySelector('.run').textContent.includes('step 3 of 3')")
        quiet.until("document.querySelector('.run .state').textContent === 'finished'")
        quiet.until("document.querySelector('#figure-reward img').src !== arguments[0]", first)
        quiet.until("document.querySelector('#events bdi') !== null")
        assert quiet.texts("#events td:last-child") == [HOSTILE.replace("\u202e", "\\u202e")]
        assert quiet.run("return window.loadedOnce && (window.hacked ?? 0)") == 0
        assert quiet.run("return document.querySelectorAll('script').length") == 1


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """Serves a run whose completions at step 2 are hostile; yields its folder and the address."""
    path = tmp_path_factory.mktemp("listed") / "run"
    write_run(path, Plan(steps=40, groups=4))
    rows = made_rows(Plan(steps=40, groups=4), 2, random.Random(0))
    for row in rows:
        row["prompt"][0] = {"role": HOSTILE, "content": HOSTILE}
        row["completion"][0]["content"] = HOSTILE
        for column in ("verdict", "message", "task_id", "failing_test", "integrity"):
            row[f"mbpp_reward_{column}"] = HOSTILE
        row["mbpp_reward_signals"] = f"{HOSTILE} 1"
    write_table(path, 2, rows)
    with served_view([path]) as url:
        yield path, url


@pytest.fixture
def listed(quiet: Browser, served: tuple[Path, str]) -> Iterator[Path]:
    """Shows the run with its list of completions."""
    path, url = served
    with shown(quiet, url):
        until_count(quiet, "1 to 25 of 640 matching, of 640 completions")
        yield path


def until_count(browser: Browser, text: str) -> None:
    browser.until("document.getElementById('count').textContent.includes(arguments[0])", text)


def cleared(browser: Browser) -> None:
    browser.click("#clear")
    until_count(browser, "of 640 matching")


def test_completions_are_searched_filtered_ordered_and_turned(quiet, listed):
    quiet.type("#text", "ATTEMPT 2")
    until_count(quiet, f"of {39 * 4} matching")
    cleared(quiet)
    quiet.choose("#signal", "harness_probe")
    quiet.until("document.querySelector('#list .chip')?.textContent === 'SECURITY_VIOLATION'")
    assert set(quiet.texts("#list .signals")) == {"harness_probe"}
    cleared(quiet)
    quiet.choose("#order", "oldest")
    quiet.until("document.querySelector('#list .step').textContent === 'step 1'")
    quiet.click("#next")
    until_count(quiet, "26 to 50 of 640")
    cleared(quiet)
    quiet.type("#step", "7")
    until_count(quiet, "of 16 matching")
    assert set(quiet.texts("#list .step")) == {"step 7"}
    cleared(quiet)


def test_a_completion_shows_its_diff_and_its_group_side_by_side(quiet, listed):
    quiet.choose("#verdict", "FAILED")
    quiet.until("document.querySelector('#list .chip').textContent === 'FAILED'")
    quiet.click("#list details:nth-child(2) summary")
    inside = "#list details:nth-child(2) .inside"
    quiet.until("document.querySelector(arguments[0]) !== null", inside)
    assert quiet.texts(f"{inside} .compared pre") == ["6", "12"]
    quiet.click(f"{inside} .actions button")
    quiet.until("document.getElementById('group').open")
    assert len(quiet.texts("#group-columns article")) == 4
    titles = {quiet.texts("#group-title")[0]}
    assert "group" in next(iter(titles))
    forward = not quiet.run("return document.getElementById('group-next').disabled")
    quiet.click("#group-next" if forward else "#group-previous")
    quiet.until("document.getElementById('group-title').textContent !== arguments[0]", *titles)
    quiet.click("#group-close")
    quiet.until("!document.getElementById('group').open")
    cleared(quiet)


def test_what_models_wrote_stays_text_in_lists_completions_groups_and_choices(quiet, listed):
    quiet.type("#step", "2")
    until_count(quiet, "of 16 matching")
    quiet.click("#list details:nth-child(1) summary")
    quiet.until("document.querySelector('#list .inside') !== null")
    text = HOSTILE.replace("\u202e", "\\u202e")
    assert quiet.texts("#list .inside > div:nth-of-type(2) pre") == [text]
    assert quiet.texts("#list details:nth-child(1) .chip") == [text]
    quiet.click("#list .actions button")
    quiet.until("document.getElementById('group').open")
    assert quiet.texts("#group-prompt-text pre, #group-columns pre") == [text] * 5
    quiet.click("#group-close")
    assert quiet.run("return window.hacked ?? 0") == 0
    assert quiet.run("return document.querySelectorAll('script, iframe').length") == 1
    assert quiet.run("return [...document.images].every((i) => i.dataset.name)")
    cleared(quiet)


def test_new_completions_appear_by_themselves_until_one_is_being_read(quiet, listed):
    plan = Plan(steps=40, groups=4)
    write_table(listed, 41, made_rows(plan, 41, random.Random(0)))
    until_count(quiet, "of 656 matching")
    quiet.until("document.querySelector('#list .step').textContent === 'step 41'")
    quiet.click("#list details:nth-child(1) summary")
    quiet.until("document.querySelector('#list .inside') !== null")
    write_table(listed, 42, made_rows(plan, 42, random.Random(0)))
    quiet.until("!document.getElementById('fresh').hidden")
    assert quiet.texts("#list .step")[0] == "step 41"
    assert len(quiet.texts("#list .inside")) == 1
    quiet.click("#fresh")
    quiet.until("document.querySelector('#list .step').textContent === 'step 42'")
    for step in (41, 42):
        (listed / "completions" / f"completions_{step:05d}.parquet").unlink()
    until_count(quiet, "of 640 matching")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 360)])
def test_no_text_is_faint_and_no_window_too_narrow(quiet, listed, scheme, width):
    quiet.prefer(scheme)
    quiet.resize(width, 800)
    quiet.choose("#signal", "harness_probe")
    quiet.until("document.querySelector('#list .chip').textContent === 'SECURITY_VIOLATION'")
    quiet.click("#list details summary")
    quiet.until("document.querySelector('#list .inside') !== null")
    assert quiet.run(FAINT) == []
    assert quiet.run("return document.documentElement.scrollWidth") == width
    quiet.click("#list .actions button")
    quiet.until("document.getElementById('group').open")
    assert quiet.run(FAINT) == []
    assert (
        quiet.run("return document.getElementById('group').getBoundingClientRect().right") <= width
    )
    quiet.prefer("light")
    quiet.resize(1400, 900)


def test_a_run_is_read_by_keys_alone(quiet, listed):
    press = (
        "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}))"
    )
    for key in "jjj":
        quiet.run(f"const key = '{key}'; {press}")
    third = "document.querySelector('#list details:nth-child(3)')"
    assert quiet.run(f"return document.activeElement === {third}.firstChild")
    quiet.run(f"const key = 'g'; {press}")
    quiet.until("document.getElementById('group').open")
    quiet.run("document.getElementById('group').close()")
    quiet.run(f"const key = '/'; {press}")
    assert quiet.run("return document.activeElement.id") == "text"
    quiet.type("#text", "jg/")
    until_count(quiet, "0 matching")
    quiet.run("document.activeElement.blur()")
    cleared(quiet)
    quiet.run(f"const key = 'n'; {press}")
    until_count(quiet, "26 to 50 of 640")


def test_runs_are_compared_line_by_line_and_seeds_are_shown_together(browser, tmp_path):
    strange = HOSTILE.replace("/", "|")
    for seed, name in enumerate(("small", "again", strange)):
        folder = write_run(tmp_path / name, Plan(steps=4, seed=seed))
        folder.write_info(dataclasses.replace(folder.info(), model=f"model-{seed // 2}"))
    with served_view([tmp_path / name for name in ("small", "again", strange)]) as url:
        browser.console()
        browser.visit(url)
        browser.until("document.querySelectorAll('#comparison tbody tr').length > 3")
        names = browser.texts("#comparison tbody th")
        assert names[:2] == ["pass@1, held_out", "pass@1, held_out, against small"]
        assert browser.texts("#comparison tbody tr:nth-child(2) b")[1].endswith("points")
        assert browser.texts("#settings th")[4:] == ["model", "seed"]
        browser.until("document.querySelector('#figure-reward img') !== null")
        browser.run("document.querySelector('#figure-reward').scrollIntoView()")
        browser.until("document.querySelector('#figure-reward img').naturalWidth > 300")
        alt = browser.run("return document.querySelector('#figure-reward img').alt")
        assert alt.startswith("small: ")
        assert not browser.run("return document.getElementById('mode').checkVisibility()")
        browser.click("#choose-2")
        browser.until("document.querySelector('h1').textContent.endsWith('seeds 0 and 1')")
        browser.until("document.querySelector('#numbers dt') !== null")
        assert not browser.run("return document.getElementById('comparison').checkVisibility()")
        browser.choose("#mode", "compared")
        browser.until("document.getElementById('comparison').checkVisibility()")
        browser.click("#choose-1")
        browser.until("document.querySelector('h1').textContent.endsWith('seed 0')")
        assert browser.run("return window.hacked ?? 0") == 0
        assert browser.console() == []
    browser.until("document.getElementById('link').textContent.includes('does not grow')")
    browser.visit("about:blank")
    browser.console()
