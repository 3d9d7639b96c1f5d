"""What every test shares: its data, and that continuous integration skips nothing."""

from __future__ import annotations

import gc
import importlib
import lzma
import os
import signal
from collections.abc import Generator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, settings

from tests.support.sampling import TAKES_ALL, times

REPOSITORY = Path(__file__).resolve().parent.parent

# All that needs an engine, trainings, and then folders of `tests` whose files take long. What
# measures answers under load (`scale`) comes when the engine's containers are gone.
LONGEST_FIRST = (
    *("engine", "training", "e2e", "attacks", "split", "honest", "scale", "conformance"),
    *("rpc", "sessions", "languages", "repository", "interactive", "project", "client"),
)

# `make check` takes the tests of these folders, but none that needs an engine or a trainer.
QUICK_FOLDERS = ("unit", "client")

# How long an example takes says how busy the machine is.
settings.register_profile(
    "any machine",
    deadline=None,
    max_examples=times(100, by_default=30),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("any machine")

# A shell starts what runs in its background with the signal ignored, as do all programs below it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = (
    *("tests.support.common", "tests.support.engine"),
    *("tests.support.internal_errors", "tests.support.tools"),
)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keeps searches for garbage away from thousands of tests, which stay to the end."""
    gc.disable()
    found = yield
    gc.freeze()
    gc.enable()
    return found


@pytest.hookimpl(wrapper=True, tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None]:
    """Marks what needs a Docker Engine and what is quick, and groups tests for the processes.

    Tests with an engine look at all of its containers, and break it: they are one group, so that
    none of them runs beside another. So are trainings, whose packages take seconds to import. Of
    the others each file is a group, whose tests share servers. What takes longest comes first, so
    that all processes end at about the same time.
    """
    for item in items:
        if {"engine", "dead_engine"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.engine)
        if _is_quick(item):
            item.add_marker(pytest.mark.quick)
        item.add_marker(pytest.mark.xdist_group(_group(item)))
    yield
    if config.getoption("loadgroup", False) and not all("@" in item.nodeid for item in items):
        raise pytest.UsageError("this version of pytest-xdist does not group tests")
    if not TAKES_ALL:
        _leave_out_the_exhaustive(config, items)
    items.sort(key=_place)


def _is_quick(item: pytest.Item) -> bool:
    if item.get_closest_marker("engine") or item.get_closest_marker("training"):
        return False
    return _folder(item) in QUICK_FOLDERS


def _leave_out_the_exhaustive(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if item.get_closest_marker("exhaustive")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("exhaustive")]


def _folder(item: pytest.Item) -> str:
    return item.path.relative_to(REPOSITORY / "tests").parts[0]


def _group(item: pytest.Item) -> str:
    for mark in ("engine", "training"):
        if item.get_closest_marker(mark):
            return mark
    return item.path.relative_to(REPOSITORY / "tests").as_posix()


def _place(item: pytest.Item) -> tuple[int, str]:
    """Returns what a test is sorted by: files of a folder stay together, as they share servers."""
    folder = _group(item).partition("/")[0]
    place = LONGEST_FIRST.index(folder) if folder in LONGEST_FIRST else len(LONGEST_FIRST)
    return place, str(item.path.parent)


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
def jsonschema() -> ModuleType:
    """Returns the package, whose import takes seconds: it compiles a grammar for each format."""
    return importlib.import_module("jsonschema")


@pytest.fixture(scope="session")
def repository() -> Path:
    """Returns the root of the checkout."""
    return REPOSITORY


@pytest.fixture(scope="session")
def data_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder with the data sets that `tests/data/README.md` lists."""
    folder = tmp_path_factory.mktemp("data")
    for packed in (REPOSITORY / "tests" / "data").glob("*.xz"):
        (folder / packed.stem).write_bytes(lzma.decompress(packed.read_bytes()))
    return folder
