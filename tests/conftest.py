"""What every test shares: where the data is, and that continuous integration skips nothing."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
DATA_VARIABLE = "REWARD_SERVER_TEST_DATA"

pytest_plugins = ("tests.docker", "tests.support")


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Keeps together, where several processes share the suite, what must not meet.

    Tests of one engine's containers look at all of them; others share what their module starts.
    """
    for item in items:
        used = set(getattr(item, "fixturenames", ()))
        group = "engine" if used & {"engine", "dead_engine"} else str(item.path)
        item.add_marker(pytest.mark.xdist_group(group))


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
