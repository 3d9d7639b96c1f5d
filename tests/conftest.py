"""What every test shares: its data, and that continuous integration skips nothing."""

from __future__ import annotations

import lzma
import os
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent

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
def data_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Gives a folder with HumanEval, MBPP and HumanEval-X, as `tests/data/README.md` lists them."""
    folder = tmp_path_factory.mktemp("data")
    for packed in (REPOSITORY / "tests" / "data").glob("*.xz"):
        (folder / packed.stem).write_bytes(lzma.decompress(packed.read_bytes()))
    return folder
