"""Runs test files in this process, as the runner does beside a solution: for unit tests alone."""

from __future__ import annotations

import sys
import types
import unittest
from collections.abc import Iterator
from unittest import mock

from reward_server.domain import TestOutcome, TestResult
from reward_server.runner.candidate.shared_test_files import noted

PATH = "test_f.py"


def module(source: str) -> types.ModuleType:
    """Returns a solution's module."""
    made = types.ModuleType("solution")
    exec(compile(source, "solution.py", "exec"), vars(made))
    return made


def ran(text: str, solution: types.ModuleType) -> tuple[TestResult, ...]:
    """Runs a file's test cases and returns what is told of them."""
    namespace: dict[str, object] = {"__name__": "test_f"}
    with mock.patch.dict(sys.modules, solution=solution):
        exec(compile(text, PATH, "exec"), namespace)
        return tuple(
            _ran(kind(name), f"{PATH}::{kind.__name__}::{name}")
            for kind in [*namespace.values()]
            if isinstance(kind, type) and issubclass(kind, unittest.TestCase)
            for name in unittest.TestLoader().getTestCaseNames(kind)
        )


def _ran(case: unittest.TestCase, name: str) -> TestResult:
    result = _Keeping()
    case.run(result)
    outcome = TestOutcome.PASSED if result.wasSuccessful() else TestOutcome.FAILED
    if result.skipped:
        outcome = TestOutcome.SKIPPED
    return TestResult(name=name, outcome=outcome, message=noted(result.error))


class _Keeping(unittest.TestResult):
    """Keeps the exception that a test ends with."""

    error: BaseException | None = None

    def addFailure(self, test: unittest.TestCase, err: object) -> None:  # noqa: N802  # unittest calls it so
        super().addFailure(test, err)  # type: ignore[arg-type]  # handed on
        self._keep(err)

    def addError(self, test: unittest.TestCase, err: object) -> None:  # noqa: N802  # unittest calls it so
        super().addError(test, err)  # type: ignore[arg-type]  # handed on
        self._keep(err)

    def _keep(self, err: object) -> None:
        assert isinstance(err, tuple)
        self.error = next(_exceptions(err))


def _exceptions(parts: tuple[object, ...]) -> Iterator[BaseException]:
    return (part for part in parts if isinstance(part, BaseException))
