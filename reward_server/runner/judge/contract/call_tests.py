"""Tests given as JSON arguments and expected results."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from typing import NamedTuple

from ...channel.signatures import NODES, NOTHING, Signature
from ...requests import CallRequest
from .. import compare
from ..endings import TaskError
from .session import Session

_MAX_SHOWN = 300
MOST_DIGITS = 100_000  # some 0.1 s of the judge's time
_LONG_INTEGER = re.compile(r"\d{4301,}")


class _Case(NamedTuple):
    arguments: list[object]
    expected: object


def _parse(position: int, texts: Sequence[str], result: str | None) -> _Case:
    try:
        arguments, expected = map(_loaded, texts)
    except (ValueError, RecursionError) as error:
        raise TaskError(f"case {position} is not JSON: {error}") from None
    if not isinstance(arguments, list):
        raise TaskError(f"case {position}: the arguments are not an array")
    if expected is None and result in NODES:
        expected = []
    return _Case(arguments, expected)


def _loaded(text: str) -> object:
    """Reads JSON, also with integers that are longer than the interpreter allows by itself.

    The time to read an integer grows with the square of its length, so there is a limit for the
    sum of the squares.
    """
    try:
        return json.loads(text)
    except ValueError:
        lengths = [len(digits) for digits in _LONG_INTEGER.findall(text)]
        if not lengths:
            raise
    if sum(length**2 for length in lengths) > MOST_DIGITS**2:
        raise ValueError(f"its integers are too long: one may have {MOST_DIGITS} digits")
    usual = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(MOST_DIGITS)
    try:
        return json.loads(text)
    finally:
        sys.set_int_max_str_digits(usual)


class CallTests:
    """Calls of one function, each a test.

    Args:
        request: the request.
        session: the session with the solution.

    Raises:
        TaskError: there are no cases, or they are not JSON, or the checker is unknown.
    """

    def __init__(self, request: CallRequest, session: Session) -> None:
        cases = request.cases
        if not cases:
            raise TaskError("there are no cases")
        self._told = Signature(*request.signature).result
        self._cases = [
            _parse(position, texts, self._told) for position, texts in enumerate(cases, 1)
        ]
        self._entry_point = request.entry_point
        self._session = session
        try:
            self._same = compare.checker(**request.checker)
        except ValueError as error:
            raise TaskError(str(error)) from None
        self.names: Sequence[str] = [f"case {position}" for position in range(1, len(cases) + 1)]

    def prepare(self) -> None:
        """Does nothing: each case is independent."""

    def run(self, index: int) -> None:
        """Makes a call and compares its result.

        Raises:
            AssertionError: the result is not the expected one.
        """
        arguments, expected = self._cases[index]
        answer = self._session.ask("case", self._entry_point, arguments)
        observed = self._observed(answer, expected)
        if not self._same(expected, observed):
            raise AssertionError(f"expected {_shown(expected)}, got {_shown(observed)}")

    def where(self, error: BaseException) -> str:
        """Returns "", because a case has no lines."""
        return ""

    def _observed(self, answer: object, expected: object) -> object:
        """Returns the result, or the first argument if a method changed that in place.

        It records if the task's signature did not state which of them counts.
        """
        match answer:
            case [result, bool(is_own), *first] if len(first) <= 1:
                observed, is_told = self._chosen(result, first, expected)
            case _:
                raise self._session.line.forged("a case without a result")
        if is_own or not is_told:
            self._session.lower("signature")
        return observed

    def _chosen(
        self, result: object, first: Sequence[object], expected: object
    ) -> tuple[object, bool]:
        """Returns the value that counts as the result, and whether the task's signature states
        that."""
        if not first or expected is None:
            return result, True
        if self._told == NOTHING:
            is_first = result is None or self._same(expected, first[0])
            return (first[0], True) if is_first else (result, False)
        if self._told is None and result is None:
            return first[0], False
        return result, True


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        return f"a {type(value).__name__} too large to show"
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"
