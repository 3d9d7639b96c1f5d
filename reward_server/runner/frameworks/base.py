"""Test frameworks: who runs the tests of files, and what it tells as it does.

The same drivers (`select`) run in the judge, against proxies, and beside a solution that
tests have to live with.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from types import TracebackType
from typing import Protocol

from ..wire import Outcome

PYTEST = "pytest"
TEST_FILES = ("test*.py", "*_test.py")
_MAX_SHOWN = 200


class BrokenSuiteError(Exception):
    """The tests could not be collected."""


class Course(Protocol):
    """Who is told how a suite goes."""

    @property
    def heard(self) -> bool:
        """Returns True if what is collected may depend on the solution.

        Then an empty set of parameters, for which pytest skips a test, must not do so.
        """

    def collected(self, names: Sequence[str]) -> bool:
        """Takes the names of all tests in order; tells whether they are to be run."""

    def begin(self, index: int) -> None:
        """Takes note that a test begins."""

    def end(self, index: int, outcome: Outcome, error: BaseException | None, note: str) -> bool:
        """Takes what came of a test; tells whether to go on.

        A test that is told of again, since what comes after it failed, is worse than it was.

        Args:
            index: the test's place among the names.
            outcome: what happened to it.
            error: what it raised, if that is known.
            note: words on the outcome where there is no exception.
        """


def holds_tests(path: str) -> bool:
    """Returns True if a file holds tests, by its name."""
    return any(fnmatch(os.path.basename(path), pattern) for pattern in TEST_FILES)


def unique(names: Sequence[str]) -> list[str]:
    """Returns names of which no two are alike."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = count = seen.get(name, 0) + 1
        found.append(name if count == 1 else f"{name}#{count}")
    return found


def place_of(error: BaseException) -> str:
    """Returns the line of the working folder's files that an exception went through last."""
    place, folder = "", os.path.join(os.getcwd(), "")
    traceback: TracebackType | None = error.__traceback__
    while traceback is not None:
        path = traceback.tb_frame.f_code.co_filename
        if path.startswith(folder):
            place = _shown(path, folder, traceback.tb_lineno)
        traceback = traceback.tb_next
    return place


def _shown(path: str, folder: str, number: int) -> str:
    import linecache  # dear, and only failures need it

    line = linecache.getline(path, number).strip()
    return f"{path.removeprefix(folder)}, line {number}: {line[:_MAX_SHOWN]}"


def forget_modules() -> None:
    """Forgets modules that were imported from the working folder, so that they run again."""
    folder = os.path.join(os.getcwd(), "")
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if isinstance(path, str) and path.startswith(folder):
            del sys.modules[name]
    importlib.invalidate_caches()


def texts_of(blobs: Mapping[str, bytes]) -> dict[str, str]:
    """Returns the texts of a request's files in Python, by path."""
    return {
        blob.removeprefix("test/"): content.decode("utf-8", "replace")
        for blob, content in blobs.items()
        if blob.startswith("test/") and blob.endswith(".py")
    }
