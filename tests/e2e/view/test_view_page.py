"""The live page in a real browser: it grows while a run goes on, and what runs hold stays text."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.browser import Browser, chromium
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

pytestmark = pytest.mark.timeout(180)

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
def viewed(browser: Browser, *runs: Path) -> Iterator[None]:
    """Shows a live page of runs, and leaves it before it is no longer served."""
    with served_view(runs) as url:
        browser.visit(url)
        try:
            yield
        finally:
            browser.visit("about:blank")


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


def test_several_runs_are_chosen_by_their_boxes(quiet, tmp_path):
    for seed in range(2):
        write_run(tmp_path / str(seed), Plan(steps=2, seed=seed))
    with viewed(quiet, tmp_path / "0", tmp_path / "1"):
        quiet.until("document.querySelector('h1').textContent.endsWith('seeds 0 and 1')")
        quiet.click("#choose-1")
        quiet.until("document.querySelector('h1').textContent.endsWith('seed 0')")
        quiet.click("#choose-1")
        quiet.until("document.querySelector('h1').textContent.endsWith('seeds 0 and 1')")


def test_the_page_says_when_nobody_answers_it(browser, tmp_path):
    write_run(tmp_path / "run", Plan(steps=1))
    with served_view([tmp_path / "run"]) as url:
        browser.visit(url)
        browser.until("document.querySelector('.run') !== null")
    browser.until("document.getElementById('link').textContent.includes('does not grow')")
    browser.visit("about:blank")
    browser.console()
