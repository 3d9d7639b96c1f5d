"""The interface between test frameworks and their users.

The same drivers (`select`) run in the judge, with handles of the solution, and in the candidate's
process, for tests that must share a process with the solution.
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
    """Receives the progress of a suite."""

    @property
    def heard(self) -> bool:
        """Returns True if the collected tests may depend on the solution.

        Then an empty set of parameters, for which pytest skips a test, must not skip it.
        """

    def collected(self, names: Sequence[str]) -> bool:
        """Receives the names of all tests in order; returns True if they are to run."""

    def begin(self, index: int) -> None:
        """Receives the beginning of a test."""

    def end(self, index: int, outcome: Outcome, error: BaseException | None, note: str) -> bool:
        """Receives the result of a test; returns True to continue.

        If a test is reported again, because a later phase of it failed, the new outcome is worse.

        Args:
            index: the test's place among the names.
            outcome: the test's outcome.
            error: the exception that it raised, if known.
            note: a message about the outcome if there is no exception.
        """


def holds_tests(path: str) -> bool:
    """Returns True if a file holds tests, by its name."""
    return any(fnmatch(os.path.basename(path), pattern) for pattern in TEST_FILES)


def unique(names: Sequence[str]) -> list[str]:
    """Returns the names with numbers added, so that all are different."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = count = seen.get(name, 0) + 1
        found.append(name if count == 1 else f"{name}#{count}")
    return found


def place_of(error: BaseException) -> str:
    """Returns the innermost line of the working folder's files in an exception's traceback."""
    place, folder = "", os.path.join(os.getcwd(), "")
    traceback: TracebackType | None = error.__traceback__
    while traceback is not None:
        path = traceback.tb_frame.f_code.co_filename
        if path.startswith(folder):
            place = _shown(path, folder, traceback.tb_lineno)
        traceback = traceback.tb_next
    return place


def _shown(path: str, folder: str, number: int) -> str:
    import linecache  # slow to import, and only failures need it

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
    """Returns the texts of a request's Python files, by path."""
    return {
        blob.removeprefix("test/"): content.decode("utf-8", "replace")
        for blob, content in blobs.items()
        if blob.startswith("test/") and blob.endswith(".py")
    }
