"""The reasons why a judge can no longer ask the candidate."""

from __future__ import annotations

import enum
from collections.abc import Callable

from ..frameworks import outcomes
from ..wire import Outcome


class Cause(enum.Enum):
    """The reason why a session ended before the tests did."""

    CLOSED = "closed"
    FORGED = "forged"
    OUTPUT = "output"
    RESULT = "result"
    CALLS = "calls"


LIMITS = (Cause.OUTPUT, Cause.RESULT, Cause.CALLS)


class TaskError(Exception):
    """The tests themselves are broken, independently of the solution."""


class SessionEnded(BaseException):  # tests must not catch it by `except Exception`
    """The session with the candidate has ended."""

    def __init__(self, cause: Cause, message: str) -> None:
        super().__init__(message)
        self.cause = cause


def message_of(
    error: BaseException | None, note: str, place_of: Callable[[BaseException], str]
) -> str:
    """Returns a message about the exception of a test, and its place; see `outcomes`."""
    return outcomes.message_of(error, note, place_of, (AssertionError, SessionEnded))


def outcome_of(error: BaseException | None) -> Outcome:
    """Returns the outcome of a test that raised this error, or none."""
    if isinstance(error, SessionEnded):
        return Outcome.LIMIT if error.cause in LIMITS else Outcome.ERROR
    return outcomes.outcome_of(error)
