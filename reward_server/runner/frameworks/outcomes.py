"""What became of a test, by what it raised."""

from __future__ import annotations

import sys
from collections.abc import Callable

from ..values.exceptions import text_of
from ..wire import Outcome

_MAX_MESSAGE = 1000


def message_of(
    error: BaseException | None,
    note: str,
    place_of: Callable[[BaseException], str],
    unnamed: tuple[type[BaseException], ...] = (AssertionError,),
) -> str:
    """Returns words on what a test raised, and where.

    Args:
        error: that it raised, if any.
        note: is returned if it raised nothing.
        place_of: returns where an exception was raised.
        unnamed: exceptions whose text says all without the name of their class.
    """
    if error is None:
        return note[:_MAX_MESSAGE]
    text = text_of(error)
    name = type(error).__name__
    parts = [text if isinstance(error, unnamed) else f"{name}: {text}", place_of(error)]
    return " at ".join(part for part in parts if part)[:_MAX_MESSAGE]


def outcome_of(error: BaseException | None) -> Outcome:
    """Returns the outcome of a test that raised this, or nothing."""
    if error is None:
        return Outcome.PASSED
    if isinstance(error, AssertionError):
        return Outcome.FAILED
    return Outcome.SKIPPED if _is_skip(error) else Outcome.ERROR


def _is_skip(error: BaseException) -> bool:
    """Returns True if a test's author skipped it; the candidate's exceptions never become this."""
    unittest = sys.modules.get("unittest")
    return unittest is not None and isinstance(error, unittest.SkipTest)
