"""Finds the functions that a test program defines, and how it uses them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

_WORD = re.compile(r"\w+")
# Named functions, up to the bracket that opens the body.
_HELPER = re.compile(
    r"\b\w+(?:<[^(){};]{0,200}>)?[\s*&]{1,99}(?P<name>[a-z_]\w*)(?:<[^(){};]{0,200}>)?\s?"
    r"\([^(){};]{0,2000}\)\s*(?:(?:->|throws\b|const\b)[^{};]{0,200})?\{"
    r"|\b(?P<lambda>[a-z_]\w*)\s?=\s?(?:async\b\s?)?(?:function\b\s?)?(?:\[[^\]{};]{0,200}\]\s?)?"
    r"(?:\([^(){};]{0,2000}\)|\|[^|{};]{0,2000}\||\w+)\s?"
    r"(?:use\s?\([^(){};]{0,200}\)\s?)?(?:(?:->|=>)[^{};]{0,200})?\{"
)
_NO_HELPERS = frozenset(("if", "for", "while", "switch", "catch"))
_DECLARED_USE = re.compile(r"\(\s*void\s*\)\s*\w+\s*;")
_CALL = re.compile(r"\w+\s*\(")
_FALSE = frozenset(("false", "False"))
_MOST_ROUNDS = 8
_MOST_GIVEN = 2000
# How harnesses find test functions: by their names, or by a mark above them.
_MARK = re.compile(r"@|(?:#|^|\s)\[\s*(?!(?:allow|inline|cfg|must_use)\b)\w")
_FOUND = re.compile(r"(?i)main|test|bench|example|setup|teardown")
# Functions without a name, as arguments of calls.
_HANDED = re.compile(
    r"(?:\w\s*\(|,)\s*(?:async\b\s*)?(?:(?:function|func|fn)\b\s*)?"
    r"(?P<parameters>\([^(){};]{0,2000}\)|\w+)\s*(?:use\s*\([^(){};]{0,200}\)\s*)?"
    r"(?:(?:->|=>)\s*)?\{"
)


@dataclass(frozen=True, slots=True)
class Helper:
    """A function of the tests.

    Args:
        name: its name.
        place: position of the name in the function's head.
        head: the text between its name and its body.
        body: where its body is.
    """

    name: str
    place: int
    head: str
    body: range


class OwnFunctions:
    """The functions that a test program defines and that no harness finds.

    Attributes:
        code: the program, without the text in its strings and comments.
        helpers: the functions.

    Args:
        tests: the program.
        code: see above.
        ends: for each opening bracket, where its closing bracket ends.
    """

    def __init__(self, tests: str, code: str, ends: Mapping[int, int]) -> None:
        self.code = code
        self._tests = tests
        self._ends = ends
        self._idle, self._overloaded = bytearray(len(tests)), bytearray(len(tests))
        self.helpers = tuple(self._helpers())
        self._uses = self._used()
        parameters = Counter(name for name, _ in {(one.name, one.head) for one in self.helpers})
        for one in self.helpers:
            if parameters[one.name] > 1:
                self._mark(self._overloaded, one.body)
        self._find_idle()

    def is_idle(self, place: int) -> bool:
        """Returns True if a place is in a function that is never called, or only with false."""
        return bool(self._idle[place])

    def is_overloaded(self, place: int) -> bool:
        """Returns True if a place is in one of several functions with the same name."""
        return bool(self._overloaded[place])

    def calls(self, name: str) -> Iterator[int]:
        """Yields the places where a function is called with an argument other than false."""
        for at in self._uses[name]:
            call = _CALL.match(self.code, at)
            if call is not None and not self.code.startswith(")", call.end()):
                yield at

    def handed_to(self, place: int) -> Helper | None:
        """Returns the function around a place, if it is passed on and never called by name."""
        before = bisect_right(self._bodies, place, key=lambda one: one.body.start)
        around = (one for one in reversed(self._bodies[:before]) if place in one.body)
        last = next(around, None)
        if last is None or last.name == "":
            return last
        called = any(_CALL.match(self.code, at) for at in self._uses[last.name])
        return None if called or not self._uses[last.name] else last

    @cached_property
    def _bodies(self) -> list[Helper]:
        """The named functions and the unnamed arguments of calls, in the order of their bodies."""
        handed = (
            Helper("", found.start(), found["parameters"], self._body(found.end()))
            for found in _HANDED.finditer(self.code)
        )
        return sorted((*self.helpers, *handed), key=lambda one: one.body.start)

    def _helpers(self) -> Iterator[Helper]:
        code = self.code
        for found in _HELPER.finditer(code):
            group = "name" if found["name"] else "lambda"
            name, start = found[group], found.start()
            above = code[max(code.rfind(sign, 0, start) for sign in "{};") + 1 : start]
            if name in _NO_HELPERS or _FOUND.match(name) or _MARK.search(above):
                continue
            head = code[found.end(group) : found.end()]
            yield Helper(name, found.start(group), head, self._body(found.end()))

    def _body(self, start: int) -> range:
        return range(start, self._ends.get(start - 1, start))

    def _used(self) -> dict[str, list[int]]:
        """Returns the places of functions' names outside their heads and calls with false."""
        uses: dict[str, list[int]] = {one.name: [] for one in self.helpers}
        left_out = {one.place for one in self.helpers}
        for found in _DECLARED_USE.finditer(self.code):
            left_out.update(range(*found.span()))
        for word in _WORD.finditer(self.code):
            at = word.start()
            if word[0] in uses and at not in left_out and not self._is_given_false(at):
                uses[word[0]].append(at)
        return uses

    def _is_given_false(self, at: int) -> bool:
        """Returns True if a name is called with false, as after an expected exception."""
        call = _CALL.match(self.code, at)
        if call is None or call.end() - 1 not in self._ends:
            return False
        end = self._ends[call.end() - 1] - 1
        if end - call.end() > _MOST_GIVEN:
            return False
        given = [one.strip() for one in self.code[call.end() : end].split(",")]
        if given[0] in _FALSE:
            return True
        is_plain = all(one in _FALSE or not _WORD.search(one) for one in given)
        return is_plain and not _FALSE.isdisjoint(given) and "${" not in self._tests[at:end]

    def _find_idle(self) -> None:
        helpers = list(self.helpers)
        for _ in range(_MOST_ROUNDS):
            used = [one for one in helpers if self._is_used(one)]
            if len(used) == len(helpers):
                return
            helpers = used

    def _is_used(self, helper: Helper) -> bool:
        """Returns True if a function is named outside itself and outside idle functions."""
        uses = self._uses[helper.name]
        if any(at not in helper.body and not self._idle[at] for at in uses):
            return True
        self._mark(self._idle, helper.body)
        return False

    @staticmethod
    def _mark(places: bytearray, body: range) -> None:
        places[body.start : body.stop] = b"\1" * len(body)
