"""The interface of the judge's tests, which have names and run after the solution was loaded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class TaskError(Exception):
    """The tests themselves are broken, independently of the solution."""


class Suite(Protocol):
    """Tests of one execution."""

    names: Sequence[str]

    @property
    def is_plain(self) -> bool:
        """Returns True if the tests leave nothing behind, with any answers; see `purity`."""

    def prepare(self) -> None:
        """Runs the code before the tests that needs the solution.

        Raises:
            BaseException: it failed, so no test can run.
        """

    def run(self, index: int) -> None:
        """Runs a test to its end.

        Raises:
            AssertionError: the solution is wrong.
            BaseException: the test did not run to its end.
        """

    def where(self, error: BaseException) -> str:
        """Returns the place in the tests from which an exception comes, or ""."""
