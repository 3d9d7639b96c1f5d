"""Finds the assertions of a test program that may fail, since the tests catch what they throw.

Such an assertion stays as it is: what it throws leads the tests on, to a second answer that is
right, to another try, or to what must not hold. Where a handler does no more than tell of it, or
fails in its turn, the assertion must hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from reward_server.grading.branches import BRANCHING
from reward_server.grading.own_functions import OwnFunctions
from reward_server.languages.assertions import Assertions

_TRY = re.compile(r"\btry\s*(?:\([^{}]{0,500}\)\s*)?\{")
_HANDLER = re.compile(r"\s*catch\b[^{};]{0,500}\{")
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_THROWS = re.compile(r"\b(?:throw|raise|exit|exitCode|abort|die|fail|quit)\b")
_RETURNS = re.compile(r"\breturn\b\s*[^\s;}]")
_ASSIGNED = re.compile(r"([A-Za-z_$][\w$]*)\s*(?<![=!<>+\-*/%&|^])=(?![=>])")
_DECIDING = (
    r"\b(?:if|throw|while|return|unless|raise|\w*(?:[Aa]ssert|check|exit)\w*)\b[^;\n]{0,500}"
)
_NAME = re.compile(r"(?<![\w$.])[A-Za-z_$][\w$]*")
_CALL = re.compile(r"[\w$]\s*\(")
_LITERALS = frozenset(("true", "false", "null", "undefined"))
_MOST_ROUNDS = 8


class Caught:
    """Knows the parts of a test program whose assertions may fail.

    Args:
        functions: of the tests' own.
        ends: where each opening bracket's closing one ends.
        language: what the tests are written in.
        places: where the assertions are that were found.
    """

    def __init__(
        self,
        functions: OwnFunctions,
        ends: Mapping[int, int],
        language: Assertions,
        places: Sequence[int],
    ) -> None:
        self._functions = functions
        self._code = functions.code
        self._ends = ends
        self._places = places
        self._asserting = {
            one.name for one in functions.helpers if any(at in one.body for at in places)
        }
        self._parts = [*self._unwatched(language), *self._tries()]
        self._follow()

    def has(self, place: int, condition: str) -> bool:
        """Tells whether an assertion may fail.

        Args:
            place: where it is.
            condition: whose truth throws an exception; "" if it is none that does.
        """
        if any(place in part for part in self._parts):
            return True
        return condition != "" and self._is_made(place, condition)

    def _is_made(self, place: int, condition: str) -> bool:
        """Tells whether a function that is handed over throws for what it counts or is given."""
        function = self._functions.handed_to(place)
        if function is None or _CALL.search(condition):
            return False
        names = {*_NAME.findall(condition)} - _LITERALS
        body = self._code[function.body.start : function.body.stop]
        given = {*_NAME.findall(function.head)}
        return bool(names) and all(name in given or _is_counted(name, body) for name in names)

    def _unwatched(self, language: Assertions) -> Iterator[range]:
        heads = list(language.unwatched.finditer(self._code))
        if heads:
            helpers = language.helpers.finditer(self._code)
            heads += [head for head in helpers if head["test"] is None]
        for head in heads:
            end = self._ends.get(head.end() - 1)
            yield range(head.start(), head.end()) if end is None else range(head.end(), end)

    def _tries(self) -> Iterator[range]:
        for found in _TRY.finditer(self._code):
            end = self._ends.get(found.end() - 1, found.end())
            if any(self._goes_on(handler, found.start()) for handler in self._handlers(end)):
                yield range(found.end(), end)

    def _handlers(self, end: int) -> Iterator[range]:
        """Gives the bodies of the handlers that follow."""
        while (head := _HANDLER.match(self._code, end)) is not None:
            end = self._ends.get(head.end() - 1, head.end())
            yield range(head.end(), end)

    def _goes_on(self, handler: range, start: int) -> bool:
        """Tells whether a handler does more than to tell, or to fail."""
        code = self._code[handler.start : handler.stop]
        words = {*_WORD.findall(code)}
        if any(at in handler for at in self._places) or not words.isdisjoint(self._asserting):
            return True
        if _THROWS.search(code):
            return not words.isdisjoint(BRANCHING)
        return bool(_RETURNS.search(code)) or any(
            self._decides(name, start, handler.stop) for name in _ASSIGNED.findall(code)
        )

    def _decides(self, name: str, start: int, end: int) -> bool:
        """Tells whether the tests look at a name elsewhere."""
        looks = re.compile(rf"{_DECIDING}(?<![\w$]){re.escape(name)}(?![\w$])")
        return any(looks.search(one) for one in (self._code[:start], self._code[end:]))

    def _follow(self) -> None:
        """Adds the functions that assert and are called in such a part, but with false."""
        helpers = [one for one in self._functions.helpers if one.name in self._asserting]
        for _ in range(_MOST_ROUNDS):
            called = [
                one
                for one in helpers
                if any(self.has(at, "") for at in self._functions.calls(one.name))
            ]
            if not called:
                return
            self._parts += [one.body for one in called]
            helpers = [one for one in helpers if one not in called]


def _is_counted(name: str, body: str) -> bool:
    """Tells whether a function counts by that name itself."""
    counted = rf"(?<![\w$]){re.escape(name)}(?:\s*\[\w*\])?"
    return bool(re.search(rf"{counted}\s*(?:\+\+|--|[-+]=\s*\d)|(?:\+\+|--){counted}", body))
