"""The outcome of a test, and its message, from the exception that it raised."""

from __future__ import annotations

import sys
from collections.abc import Callable

from ..wire import Outcome

_MAX_MESSAGE = 1000


def text_of(error: BaseException) -> str:
    """Returns an exception's message; this may run code of its class, which may fail."""
    try:
        return str(error)[:_MAX_MESSAGE]
    except BaseException:  # noqa: BLE001  # a solution's __str__ may raise anything
        return ""


def message_of(
    error: BaseException | None,
    note: str,
    place_of: Callable[[BaseException], str],
    unnamed: tuple[type[BaseException], ...] = (AssertionError,),
) -> str:
    """Returns a message about the exception of a test, and its place.

    Args:
        error: the exception that it raised, if any.
        note: the result if it raised none.
        place_of: returns the place where an exception was raised.
        unnamed: exceptions whose text suffices without the name of their class.
    """
    if error is None:
        return note[:_MAX_MESSAGE]
    text = text_of(error)
    name = type(error).__name__
    parts = [text if isinstance(error, unnamed) else f"{name}: {text}", place_of(error)]
    return " at ".join(part for part in parts if part)[:_MAX_MESSAGE]


def outcome_of(error: BaseException | None) -> Outcome:
    """Returns the outcome of a test that raised this error, or none."""
    if error is None:
        return Outcome.PASSED
    if isinstance(error, AssertionError):
        return Outcome.FAILED
    return Outcome.SKIPPED if _is_skip(error) else Outcome.ERROR


def _is_skip(error: BaseException) -> bool:
    """Returns True if the test's author skipped it; no exception of the candidate becomes this
    one."""
    unittest = sys.modules.get("unittest")
    return unittest is not None and isinstance(error, unittest.SkipTest)
