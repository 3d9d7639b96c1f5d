"""Runs the tests of pytest files, with pytest's own collection, fixtures and reports.

Only pytest's own plug-ins are loaded, and pytest-asyncio if tests or settings name it. No cache is
kept, and nothing above the working folder is read. Assertions are not rewritten, because that takes
longer than most tests, and the message contains the failed line anyway.
"""

from __future__ import annotations

import inspect
import io
import os
import re
import tempfile
import types
from collections.abc import Generator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from importlib.util import find_spec
from pathlib import Path

import pytest
from _pytest.config.findpaths import load_config_dict_from_file

from ..wire import Outcome
from . import base
from .base import BrokenSuiteError, Course

_UNWANTED = (
    *("cacheprovider", "stepwise", "faulthandler", "junitxml", "pastebin"),
    *("doctest", "unraisableexception", "threadexception"),
)
_CONFIGURATIONS = ("pytest.toml", "pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
_ASYNCIO = re.compile(r"\.asyncio\b|pytest_asyncio|asyncio[-_]mode")
_PLUGIN = "pytest_asyncio.plugin"
_SUBJECTS = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")


def run(files: Sequence[str], course: Course, targets: Sequence[str] = ()) -> None:
    """Collects the tests in files of the working folder and runs them; see `select.driver`.

    A repository's option `addopts` does not count, since it may need plug-ins that are missing.

    Raises:
        BrokenSuiteError: the tests cannot be collected.
    """
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    for name in _SUBJECTS:
        os.environ.pop(name, None)
    plugin = _Plugin(course)
    said = io.StringIO()
    with redirect_stderr(said), redirect_stdout(said):
        arguments = [*_for_coroutines(files), *_arguments(targets, strict=course.heard)]
        status = pytest.main(arguments, plugins=[plugin])
    if not plugin.has_run:
        words = [line for line in said.getvalue().splitlines() if line.strip()]
        raise BrokenSuiteError(words[-1] if words else f"pytest gave up: {status!r}")
    if plugin.broken is not None:
        raise BrokenSuiteError(plugin.broken)


def _for_coroutines(files: Sequence[str]) -> list[str]:
    """Returns the options that load pytest-asyncio, if tests or settings name it and it is
    installed."""
    paths = [*files, *_own_configuration()]
    texts = (Path(path).read_text("utf-8", "replace") for path in paths)
    is_named = any(map(_ASYNCIO.search, texts))
    return ["-p", _PLUGIN] if is_named and find_spec("pytest_asyncio") is not None else []


def _own_configuration() -> list[str]:
    """Returns the file of settings: the first with some of pytest, or else the first, if any."""
    found = [name for name in _CONFIGURATIONS if os.path.exists(name)]
    first = next(filter(_has_settings, found), None)
    return found[:1] if first is None else [first]


def _has_settings(name: str) -> bool:
    """Returns True if pytest finds settings of its own in a file, or says that they are wrong."""
    try:
        return load_config_dict_from_file(Path(name)) is not None
    except (pytest.UsageError, pytest.fail.Exception):
        return True


def _arguments(targets: Sequence[str], *, strict: bool) -> list[str]:
    folder = os.getcwd()
    arguments = ["-c", *(_own_configuration() or [os.devnull]), f"--rootdir={folder}"]
    arguments += [f"--confcutdir={folder}", "--assert=plain", "--capture=sys", "--quiet"]
    arguments += ["--tb=no", f"--basetemp={tempfile.mkdtemp(prefix='pytest-')}/base"]
    if strict:
        arguments += ["-o", "empty_parameter_set_mark=fail_at_collect"]
    for name in _UNWANTED:
        arguments += ["-p", f"no:{name}"]
    if targets:
        return [*arguments, "-o", "addopts=", *targets]
    return [*arguments, folder]


class _Plugin:
    """Follows one run.

    Attributes:
        has_run: whether the collection ended.
        broken: the reason if the tests cannot run.
    """

    def __init__(self, course: Course) -> None:
        self._course = course
        self.has_run = False
        self.broken: str | None = None
        self._passed = False
        self._failure: tuple[Outcome, BaseException | None, str] | None = None
        self._skip = ""

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Records a file or test that cannot be collected."""
        if report.failed and self.broken is None:
            lines = [line for line in str(report.longrepr).splitlines() if line.strip()]
            self.broken = f"{report.nodeid}: {lines[-1] if lines else 'cannot be collected'}"

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Runs the collected tests."""
        self.has_run = True
        items = session.items
        if self.broken is None:
            self.broken = _missing_plugin(items) or _missing_fixture(items)
        if self.broken is None and self._course.collected(
            base.unique([item.nodeid for item in items])
        ):
            self._run(items)
        return True

    def _run(self, items: Sequence[pytest.Item]) -> None:
        for index, item in enumerate(items):
            self._passed, self._failure, self._skip = False, None, ""
            following = items[index + 1] if index + 1 < len(items) else None
            self._course.begin(index)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if not self._course.end(index, *self._concluded()):
                return

    def _concluded(self) -> tuple[Outcome, BaseException | None, str]:
        if self._failure is not None:
            return self._failure
        if self._passed:
            return Outcome.PASSED, None, ""
        return Outcome.SKIPPED, None, self._skip

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Records the result of a phase, or of a part, of a test."""
        try:
            report = yield
        except Exception as problem:  # noqa: BLE001  # an exception may fail to be shown
            report = _unshown(item, call, problem)
        error = call.excinfo.value if call.excinfo is not None else None
        if report.when == "call":
            self._passed = report.passed
        if report.failed and self._failure is None:
            wrong = error is None or isinstance(error, (AssertionError, pytest.fail.Exception))
            outcome = Outcome.FAILED if wrong and report.when == "call" else Outcome.ERROR
            note = "" if error is not None else str(report.longrepr)
            self._failure = (outcome, error, note)
        if report.skipped:
            self._skip = str(getattr(report, "wasxfail", "") or error or "")
        return report


def _unshown(
    item: pytest.Item, call: pytest.CallInfo[None], problem: Exception
) -> pytest.TestReport:
    """Returns the report of a test whose exception cannot be shown."""
    text = f"{type(problem).__name__} while an exception was shown"
    when = "call" if call.when == "collect" else call.when
    return pytest.TestReport(item.nodeid, item.location, {}, "failed", text, when)


def _missing_plugin(items: Sequence[pytest.Item]) -> str | None:
    """Returns a message about a test that is a coroutine function and that no plug-in runs."""
    for item in items:
        is_there = item.config.pluginmanager.has_plugin(_PLUGIN)
        if item.get_closest_marker("asyncio"):
            if not is_there:
                return f"{item.nodeid} needs pytest-asyncio, which this sandbox lacks"
        elif _is_coroutine(item) and not _has_way(item):
            return f"{item.nodeid} is a coroutine function, which no plug-in runs here"
    return None


def _is_coroutine(item: pytest.Item) -> bool:
    """Returns True if a test is a coroutine function; handles of the solution are not examined."""
    if type(item) is not pytest.Function:  # a test of unittest or of a plug-in
        return False
    is_own = isinstance(item.function, (types.FunctionType, types.MethodType))
    return is_own and inspect.iscoroutinefunction(item.function)


def _has_way(item: pytest.Item) -> bool:
    """Returns True if a hook of the tests calls test functions."""
    hooks = item.ihook.pytest_pyfunc_call.get_hookimpls()
    return any(one.plugin_name not in ("python", _PLUGIN) for one in hooks)


def _missing_fixture(items: Sequence[pytest.Item]) -> str | None:
    """Returns a message about a fixture that a test requests and that is not defined."""
    for item in items:
        info = getattr(item, "_fixtureinfo", None)
        if info is None:
            continue
        given = {"request", *info.name2fixturedefs, *getattr(item, "funcargs", ())}
        callspec = getattr(item, "callspec", None)
        given |= set(callspec.params) if callspec is not None else set()
        for name in info.names_closure:
            if name not in given:
                return f"{item.nodeid}: fixture {name!r} not found"
    return None
