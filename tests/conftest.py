"""What every test shares: where the data is, and that continuous integration skips nothing."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
DATA_VARIABLE = "REWARD_SERVER_TEST_DATA"

pytest_plugins = ("tests.docker", "tests.support")


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Marks what needs a Docker Engine.

    Such tests look at all of its containers, and break it: nothing else may run beside them.
    """
    for item in items:
        if {"engine", "dead_engine"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.engine)


def _fail_if_skipped(report: pytest.TestReport | pytest.CollectReport) -> None:
    if os.environ.get("CI") and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"skipped, and CI is set, where nothing may be: {report.longrepr}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fails a test that was skipped, or expected to fail, where CI is set."""
    report = yield
    _fail_if_skipped(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Fails a module that was skipped as a whole where CI is set."""
    report = yield
    _fail_if_skipped(report)
    return report


@pytest.fixture(scope="session")
def repository() -> Path:
    """Gives the root of the checkout."""
    return REPOSITORY


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Gives the folder with HumanEval and MBPP; skips, saying what to set, where it is absent."""
    folder = Path(os.environ.get(DATA_VARIABLE) or REPOSITORY.parent / "shared" / "data")
    if not (folder / "HumanEval.jsonl").is_file():
        pytest.skip(f"no HumanEval.jsonl in {folder}: set {DATA_VARIABLE} to a folder that has it")
    return folder
