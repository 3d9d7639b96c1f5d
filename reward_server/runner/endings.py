"""Why a judge can ask the candidate nothing more, or not yet."""

from __future__ import annotations

import enum


class Cause(enum.Enum):
    """Why a session ended before the tests did."""

    CLOSED = "closed"
    FORGED = "forged"
    OUTPUT = "output"
    RESULT = "result"
    CALLS = "calls"


LIMITS = (Cause.OUTPUT, Cause.RESULT, Cause.CALLS)


class SessionEnded(BaseException):  # tests must not catch it by `except Exception`
    """The candidate can be asked nothing any more."""

    def __init__(self, cause: Cause, message: str) -> None:
        super().__init__(message)
        self.cause = cause


class NotLoaded(BaseException):  # as above
    """The tests asked for the solution before it was there."""
