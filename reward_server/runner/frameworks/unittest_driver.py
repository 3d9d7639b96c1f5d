"""Runs the tests of `unittest` files."""

from __future__ import annotations

import importlib
import os
import re
import sys
import types
import unittest
from collections.abc import Iterator, Sequence
from types import TracebackType
from unittest.util import strclass

from ..wire import Outcome
from . import base
from .base import BrokenSuiteError, Course

_SKIPPED_PART = "SKIPPED PART"  # outcome of a subtest; every other outcome outranks it
_RANK = (_SKIPPED_PART, Outcome.PASSED, Outcome.SKIPPED, Outcome.FAILED, Outcome.ERROR)
_FIXTURE = re.compile(r"(setUp|tearDown)(?:Class|Module) \((.+)\)")

_ErrorInfo = tuple[type[BaseException], BaseException, TracebackType] | tuple[None, None, None]


def run(files: Sequence[str], course: Course, targets: Sequence[str] = ()) -> None:
    """Collects the tests in files of the working folder and runs them; see `select.driver`.

    Raises:
        BrokenSuiteError: the tests cannot be collected.
    """
    loader = unittest.TestLoader()
    suite = unittest.TestSuite()
    for path in targets or filter(base.holds_tests, files):
        suite.addTest(loader.loadTestsFromModule(_imported(path)))
    if loader.errors:
        raise BrokenSuiteError(str(loader.errors[0]).strip().rpartition("\n")[2])
    tests = list(_flat(suite))
    if course.collected(base.unique([_name(test) for test in tests])):
        result = _Result(tests, course)
        suite.run(result)
        result.settle()


def _imported(path: str) -> types.ModuleType:
    name = path.removesuffix(".py").replace("/", ".")
    try:
        return importlib.import_module(name)
    except BaseException as error:
        place = base.place_of(error)
        where = f" ({place})" if place else ""
        raise BrokenSuiteError(f"{path}: {type(error).__name__}: {error}{where}") from error


def _flat(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from _flat(test)
        else:
            yield test


def _name(test: unittest.TestCase) -> str:
    kind = type(test)
    path = getattr(sys.modules.get(kind.__module__), "__file__", None) or kind.__module__
    method = test.id().rpartition(".")[2]
    return f"{os.path.relpath(path)}::{kind.__qualname__}::{method}"


class _Result(unittest.TestResult):
    """Reports each test's result to a course."""

    def __init__(self, tests: Sequence[unittest.TestCase], course: Course) -> None:
        super().__init__()
        self._tests = tests
        self._course = course
        self._indices = {id(test): index for index, test in enumerate(tests)}
        self._outcomes: dict[int, str] = {}
        self._errors: dict[int, BaseException | None] = {}
        self._notes: dict[int, str] = {}
        self._ended: list[int] = []

    def startTest(self, test: unittest.TestCase) -> None:  # noqa: N802  # unittest calls it so
        super().startTest(test)
        self._course.begin(self._indices[id(test)])

    def stopTest(self, test: unittest.TestCase) -> None:  # noqa: N802  # unittest calls it so
        super().stopTest(test)
        self._tell(self._indices[id(test)])

    def addSuccess(self, test: unittest.TestCase) -> None:  # noqa: N802  # unittest calls it so
        self._record(test, Outcome.PASSED)

    def addFailure(self, test: unittest.TestCase, err: _ErrorInfo) -> None:  # noqa: N802  # unittest calls it so
        self._record(test, Outcome.FAILED, err[1])

    def addError(self, test: unittest.TestCase, err: _ErrorInfo) -> None:  # noqa: N802  # unittest calls it so
        if not self._record(test, Outcome.ERROR, err[1]):
            self._record_fixture(str(test), Outcome.ERROR, err[1], "")

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:  # noqa: N802  # unittest calls it so
        outcome = _SKIPPED_PART if hasattr(test, "test_case") else Outcome.SKIPPED
        if not self._record(test, outcome, note=reason):
            self._record_fixture(str(test), Outcome.SKIPPED, None, reason)

    def addExpectedFailure(self, test: unittest.TestCase, err: _ErrorInfo) -> None:  # noqa: N802  # unittest calls it so
        self._record(test, Outcome.SKIPPED, note="fails, as its author expects")

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:  # noqa: N802  # unittest calls it so
        self._record(test, Outcome.FAILED, note="passes, and its author expects it to fail")

    def addSubTest(  # noqa: N802  # unittest calls it so
        self, test: unittest.TestCase, subtest: unittest.TestCase, err: _ErrorInfo | None
    ) -> None:
        if err is None:
            self._record(test, Outcome.PASSED)
        elif err[0] is not None:
            failed = issubclass(err[0], test.failureException)
            self._record(test, Outcome.FAILED if failed else Outcome.ERROR, err[1])

    def settle(self) -> None:
        """Reports tests that did not run because their class's or module's preparation failed."""
        if not self.shouldStop:
            for index in range(len(self._tests)):
                if index in self._outcomes and index not in self._ended:
                    self._tell(index)

    def _record(
        self,
        test: unittest.TestCase,
        outcome: str,
        error: BaseException | None = None,
        note: str = "",
    ) -> bool:
        """Records the result of a test or a subtest; returns False if the test is unknown."""
        index = self._indices.get(id(getattr(test, "test_case", test)))
        if index is None:
            return False
        self._worsen(index, outcome, error, note)
        return True

    def _worsen(self, index: int, outcome: str, error: BaseException | None, note: str) -> None:
        known = self._outcomes.get(index)
        if known is None or _RANK.index(outcome) > _RANK.index(known):
            self._outcomes[index] = outcome
            self._errors[index], self._notes[index] = error, note

    def _record_fixture(
        self, description: str, outcome: str, error: BaseException | None, note: str
    ) -> None:
        """Records the result of the setup or teardown of a class or module of tests."""
        match = _FIXTURE.match(description)
        if match is None or match[1] == "tearDown":
            if self._ended:
                self._worsen(self._ended[-1], outcome, error, note)
                self._tell(self._ended[-1])
            return
        for index, test in enumerate(self._tests):
            if match[2] in (strclass(type(test)), type(test).__module__):
                self._worsen(index, outcome, error, note)

    def _tell(self, index: int) -> None:
        known = self._outcomes.get(index, Outcome.ERROR)
        outcome = Outcome.SKIPPED if known == _SKIPPED_PART else Outcome(known)
        self._ended.append(index)
        error, note = self._errors.get(index), self._notes.get(index, "")
        if not self._course.end(index, outcome, error, note):
            self.stop()
