"""Finds the assertions of a test program that can be rewritten."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from reward_server.grading.compiled_tests.branches import Branches
from reward_server.grading.compiled_tests.caught import Caught
from reward_server.grading.compiled_tests.own_functions import OwnFunctions
from reward_server.grading.compiled_tests.parsed_assertions import ParsedAssertion, parse_assertion
from reward_server.grading.compiled_tests.tokens import (
    Kind,
    Tokens,
    blanked,
    match_brackets,
    tokenize,
    trimmed,
)
from reward_server.languages.assertions import Assertions, Form

READ_CHARACTERS = 1 << 18
_WORD = re.compile(r"\w+")
_MEMBER = frozenset((".", "::", "->", "?."))
# Operators that may compute only one of their operands.
_CHOOSING = frozenset(("&&", "||", "?", ":", "and", "or"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """A place in the tests, and the assertions made there.

    Args:
        start: where the text to replace begins.
        end: where it ends.
        covered: where the parsed text ends.
        line: its line in the tests, from 1.
        optional: whether a right solution may not reach it.
        idle: whether no solution can reach it, because its function is never called, or only with
            false.
        in_expression: whether the text to replace is the condition of a statement.
        parsed: the assertions there, one or several in a row.
    """

    start: int
    end: int
    covered: int
    line: int
    optional: bool
    idle: bool = False
    in_expression: bool
    parsed: tuple[ParsedAssertion, ...]


def find_assertions(
    tests: str,
    language: Assertions,
    within: Sequence[tuple[int, int]] | None = None,
    own: Collection[str] = (),
) -> tuple[Assertion, ...]:
    """Finds the assertions of a test program, in the order of its text.

    Args:
        tests: the program.
        language: the language of the program.
        within: beginnings and ends of the parts of the text to read; None for all of it.
        own: names that the tests define themselves; assertions with such a name are not read.
    """
    if len(tests) > READ_CHARACTERS or "\0" in tests:
        return ()
    tokens = tokenize(tests, language)
    brackets = match_brackets(tokens)
    if brackets is None or brackets.unclosed:
        return ()
    code = blanked(tokens)
    ends = {tokens[first].start: tokens[last].end for first, last in brackets.partners.items()}
    functions = OwnFunctions(tests, code, ends)
    found = [
        one
        for one in _Reader(tests, tokens, brackets.partners, language, own).assertions()
        if within is None or any(start <= one.start < end for start, end in within)
    ]
    caught = Caught(functions, ends, language, [one.start for one in found])
    return tuple(
        _marked(one, functions)
        for one in found
        if not caught.has(one.start, code[one.start : one.end] if one.in_expression else "")
    )


def _marked(assertion: Assertion, functions: OwnFunctions) -> Assertion:
    """Returns an assertion marked by the function that it is in."""
    if functions.is_idle(assertion.start):
        return replace(assertion, optional=True, idle=True)
    if functions.is_overloaded(assertion.start):
        return replace(assertion, optional=True)
    return assertion


def opened_for(tests: str, solution: str, language: Assertions) -> str:
    """Removes as many closing braces from a solution's end as the tests add.

    The tests of some data sets begin with the end of the prompt's function or class.
    """
    brackets = match_brackets(tokenize(tests, language))
    wanted = len(brackets.unopened) if brackets else 0
    if not wanted or len(solution) > READ_CHARACTERS:
        return solution
    tokens = tokenize(solution, language)
    own = match_brackets(tokens)
    if own is None or own.unopened or own.unclosed:
        return solution
    closing = [token.start for token in tokens if token.text == "}"][-wanted:]
    for start in reversed(closing):
        solution = f"{solution[:start]} {solution[start + 1 :]}"
    return solution


class _Reader:
    """Finds the assertions in the tokens of a program."""

    def __init__(
        self,
        text: str,
        tokens: Tokens,
        partners: Mapping[int, int],
        language: Assertions,
        own: Collection[str],
    ) -> None:
        self._text = text
        self._tokens = tokens
        self._partners = partners
        self._language = language
        self._index_at = {token.start: index for index, token in enumerate(tokens)}
        self._branches = Branches(tokens)
        self._own = frozenset(own)

    def assertions(self) -> Iterator[Assertion]:
        end, last = 0, ""
        for index, token in enumerate(self._tokens):
            self._branches.pass_by(token)
            if token.is_blank:
                continue
            begins = token.start >= end and token.kind is Kind.WORD
            if begins and last not in _MEMBER and (assertion := self._assertion_at(index)):
                end = assertion.covered
                yield replace(assertion, optional=True) if last in _CHOOSING else assertion
            last = token.text

    def _assertion_at(self, index: int) -> Assertion | None:
        for form in self._language.forms:
            head = form.head.match(self._text, self._tokens[index].start)
            if head is not None and (found := self._read(form, head)):
                return found
        return None

    def _read(self, form: Form, head: re.Match[str]) -> Assertion | None:
        inside = self._inside(form, head)
        call = head[0].rstrip("([{ \t\n")
        if inside is None or not self._own.isdisjoint(_WORD.findall(call)):
            return None
        content, end = inside
        parsed = parse_assertion(form, call, content, self._language)
        followed = self._after(form, head, end)
        if not parsed or followed is None:
            return None
        alone = form.kind == "failure"
        start = content[0].start if alone else head.start()
        return Assertion(
            start=start,
            end=content[-1].end if alone else followed,
            covered=followed,
            line=self._text.count("\n", 0, head.start()) + 1,
            optional=self._branches.around,
            in_expression=alone,
            parsed=parsed,
        )

    def _inside(self, form: Form, head: re.Match[str]) -> tuple[Tokens, int] | None:
        """Returns the tokens in an assertion, and where it ends."""
        last = head.end() - 1
        first = self._index_at.get(last, -1)
        if first in self._partners:
            close = self._partners[first]
            return trimmed(self._tokens[first + 1 : close]), self._tokens[close].end
        begin = self._index_at.get(head.end())
        if begin is None:
            return None
        return self._statement(form, begin)

    def _statement(self, form: Form, begin: int) -> tuple[Tokens, int] | None:
        if form.until == "block":
            return self._header(begin)
        by_line = form.until == "line"
        depth = 0
        for index, token in enumerate(self._tokens[begin:], start=begin):
            depth += (token.kind is Kind.OPEN) - (token.kind is Kind.CLOSE)
            ends = "\n" in token.text if by_line else token.text == ";"
            if depth < 0 or (depth == 0 and ends):
                end = token.start if by_line or depth < 0 else token.end
                return trimmed(self._tokens[begin:index]), end
        return (trimmed(self._tokens[begin:]), len(self._text)) if by_line else None

    def _header(self, begin: int) -> tuple[Tokens, int] | None:
        """Returns the condition before a block, and where the block begins."""
        depth = 0
        for index, token in enumerate(self._tokens[begin:], start=begin):
            if token.text == "{" and depth == 0:
                return trimmed(self._tokens[begin:index]), token.start
            depth += (token.kind is Kind.OPEN) - (token.kind is Kind.CLOSE)
            if depth < 0:
                return None
            if token.text == ";" and depth == 0:
                begin = index + 1
        return None

    def _after(self, form: Form, head: re.Match[str], end: int) -> int | None:
        """Returns the end of the assertion, if it is followed by the text that must follow it."""
        name = head[1] if form.kind == "list" else ""
        following = re.compile(form.after.replace(r"\1", re.escape(name))).match(self._text, end)
        if following is None:
            return None
        if form.kind == "failure":
            return following.end()
        if form.kind != "list":
            ending = form.ends.match(self._text, end)
            return ending.end() if ending else end
        uses = [token for token in self._tokens if token.text == name and name]
        inside = [token for token in uses if head.start() <= token.start < following.end()]
        return following.end() if len(uses) == len(inside) else None
