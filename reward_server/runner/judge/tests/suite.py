"""The interface of the judge's tests, which have names and run after the solution was loaded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..endings import SessionEnded


class TaskError(Exception):
    """The tests themselves are broken, independently of the solution."""


class Talk(Protocol):
    """A session with the solution, as far as those follow it who run tests."""

    @property
    def signals(self) -> dict[str, int]:
        """Returns what happened, by name."""

    @property
    def ended(self) -> SessionEnded | None:
        """Returns why it is over, or None."""

    def finish(self) -> None:
        """Ends a test that came to its end."""


class Suite(Protocol):
    """Tests of one execution."""

    names: Sequence[str]

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
