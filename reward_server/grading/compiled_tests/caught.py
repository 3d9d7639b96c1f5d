"""Finds the assertions of a test program that may fail, since the tests catch the exception.

Such an assertion is not rewritten, because the tests continue after its exception: they accept a
second right answer, they try again, or they expect the assertion to fail. If the handler of the
exception only reports it, or itself makes the test fail, the assertion must hold.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from reward_server.grading.compiled_tests.branches import BRANCHING
from reward_server.grading.compiled_tests.own_functions import OwnFunctions
from reward_server.languages.assertions import Assertions

_TRY = re.compile(r"\btry\s*(?:\([^{}]{0,500}\)\s*)?\{")
_HANDLER = re.compile(r"\s*catch\b[^{};]{0,500}\{")
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_RETURNS = re.compile(r"\breturn\b\s*[^\s;}]")
_ASSIGNED = re.compile(r"([A-Za-z_$][\w$]*)\s*(?<![=!<>+\-*/%&|^])=(?![=>])")
_FAILS = r"\b(?:throw|raise|exit|exitCode|abort|die|fail)\b"
_NAME = re.compile(r"(?<![\w$.])[A-Za-z_$][\w$]*")
_CALL = re.compile(r"[\w$]\s*\(")
_LITERALS = frozenset(("true", "false", "null", "undefined"))
_MOST_ROUNDS = 8
_MOST_TRIES = 500


class Caught:
    """Knows the parts of a test program whose assertions may fail.

    Args:
        functions: the functions that the tests define.
        ends: for each opening bracket, where its closing bracket ends.
        language: the language of the tests.
        places: where the found assertions are.
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
        self._asserting = {one.name for one in functions.helpers if self._asserts(one.body)}
        self._parts = [*self._unwatched(language), *self._tries()]
        self._follow()

    def has(self, place: int, condition: str) -> bool:
        """Returns True if an assertion may fail.

        Args:
            place: where it is.
            condition: a condition that throws an exception if it is true; "" for other assertions.
        """
        if any(place in part for part in self._parts):
            return True
        return condition != "" and self._is_made(place, condition)

    def _is_made(self, place: int, condition: str) -> bool:
        """Returns True if a condition only concerns values that the tests made.

        The condition is in a function that the tests pass to the solution. It may use the
        function's arguments and variables that the function counts up or down.
        """
        function = None if _CALL.search(condition) else self._functions.handed_to(place)
        if function is None:
            return False
        names = {*_NAME.findall(condition)} - _LITERALS
        body = self._code[function.body.start : function.body.stop]
        given = {*_NAME.findall(function.head)}
        return bool(names) and all(name in given or _is_counted(name, body) for name in names)

    def _asserts(self, part: range) -> bool:
        """Returns True if an assertion is in a part of the tests."""
        at = bisect_left(self._places, part.start)
        return at < len(self._places) and self._places[at] in part

    def _unwatched(self, language: Assertions) -> Iterator[range]:
        heads = list(language.unwatched.finditer(self._code))
        if heads:
            helpers = language.helpers.finditer(self._code)
            heads += [head for head in helpers if head["test"] is None]
        for head in heads:
            end = self._ends.get(head.end() - 1)
            yield range(head.start(), head.end()) if end is None else range(head.end(), end)

    def _tries(self) -> Iterator[range]:
        for found in islice(_TRY.finditer(self._code), _MOST_TRIES):
            end = self._ends.get(found.end() - 1, found.end())
            if any(self._goes_on(handler, found.start()) for handler in self._handlers(end)):
                yield range(found.end(), end)

    def _handlers(self, end: int) -> Iterator[range]:
        """Yields the bodies of the handlers that follow."""
        while (head := _HANDLER.match(self._code, end)) is not None:
            end = self._ends.get(head.end() - 1, head.end())
            yield range(head.end(), end)

    def _goes_on(self, handler: range, start: int) -> bool:
        """Returns True if a handler does more than report or fail."""
        code = self._code[handler.start : handler.stop]
        words = {*_WORD.findall(code)}
        if self._asserts(handler) or not words.isdisjoint(self._asserting):
            return True
        if re.search(_FAILS, code):
            return not words.isdisjoint(BRANCHING)
        names = _ASSIGNED.findall(code)
        if _RETURNS.search(code):
            around = [one for one in self._functions.helpers if start in one.body]
            names += [one.name for one in around[-1:]]
        return any(self._decides(name, range(start, handler.stop)) for name in names)

    def _decides(self, name: str, part: range) -> bool:
        """Returns True if code outside of a part uses a name to decide that the tests fail."""
        asserting = "|".join(map(re.escape, ("return", "throw", *sorted(self._asserting))))
        named = rf"(?<![\w$]){re.escape(name)}(?![\w$])"
        looks = re.compile(
            rf"\b(?:\w*[Aa]ssert\w*|exit\w*|{asserting})\b[^;\n]{{0,500}}{named}"
            rf"|{named}[^;{{}}\n]{{0,200}}(?:\{{[^{{}}]{{0,500}})?{_FAILS}"
        )
        return any(looks.search(one) for one in (self._code[: part.start], self._code[part.stop :]))

    def _follow(self) -> None:
        """Adds the asserting functions that are called in the parts found so far, and so on.

        A call whose argument is the literal `false` does not count.
        """
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
    """Returns True if a function increases or decreases a variable of that name."""
    counted = rf"(?<![\w$]){re.escape(name)}(?:\s*\[\w*\])?"
    return bool(re.search(rf"{counted}\s*(?:\+\+|--|[-+]=\s*\d)|(?:\+\+|--){counted}", body))
