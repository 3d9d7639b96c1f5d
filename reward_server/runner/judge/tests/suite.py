"""What the judge runs: tests with names, after the solution was loaded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class TaskError(Exception):
    """The tests themselves are broken, whatever the solution is like."""


class Suite(Protocol):
    """Tests of one execution."""

    names: Sequence[str]

    @property
    def is_plain(self) -> bool:
        """Returns True if the tests leave nothing behind, whatever is answered; see `purity`."""

    def prepare(self) -> None:
        """Does what comes before the tests and needs the solution.

        Raises:
            BaseException: it went wrong; no test can run.
        """

    def run(self, index: int) -> None:
        """Runs a test to its end.

        Raises:
            AssertionError: the solution is wrong.
            BaseException: the test did not come to an end.
        """

    def where(self, error: BaseException) -> str:
        """Returns the place in the tests that an exception comes from, or nothing."""
