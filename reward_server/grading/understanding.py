"""Finds the assertions of a test program that can be rewritten."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from reward_server.grading.branches import Branches
from reward_server.grading.claims import Claim, claims_of
from reward_server.grading.tokens import Kind, Tokens, blanked, match_brackets, tokenize, trimmed
from reward_server.languages.assertions import Assertions, Form

READ_CHARACTERS = 1 << 18
_WORD = re.compile(r"\w+")
_MEMBER = frozenset((".", "::", "->", "?."))
# Functions with a name, up to the bracket that opens their bodies.
_HELPER = re.compile(
    r"\b\w+(?:<[^(){};]{0,200}>)?[\s*&]{1,99}(?P<name>[a-z_]\w*)(?:<[^(){};]{0,200}>)?\s?"
    r"\([^(){};]{0,2000}\)\s*(?:(?:->|throws\b|const\b)[^{};]{0,200})?\{"
    r"|\b(?P<lambda>[a-z_]\w*)\s?=\s?(?:async\b\s?)?(?:function\b\s?)?(?:\[[^\]{};]{0,200}\]\s?)?"
    r"(?:\([^(){};]{0,2000}\)|\|[^|{};]{0,2000}\||\w+)\s?(?:(?:->|=>)[^{};]{0,200})?\{"
)
_NO_HELPERS = frozenset(("if", "for", "while", "switch", "catch"))
_DECLARED_USE = re.compile(r"\(\s*void\s*\)\s*\w+\s*;")
_CALL = re.compile(r"\w+\s*\(")
_FALSE = frozenset(("false", "False"))
_MOST_ROUNDS = 8
_MOST_GIVEN = 2000
# Operators of which one operand alone may be computed.
_CHOOSING = frozenset(("&&", "||", "?", ":", "and", "or"))
# What harnesses find functions by: their names, or what stands above them.
_MARK = re.compile(r"@|(?:#|^|\s)\[\s*(?!(?:allow|inline|cfg|must_use)\b)\w")
_FOUND = re.compile(r"(?i)main|test|bench|example|setup|teardown")


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """A place in the tests, and the claims made there.

    Args:
        start: where the text that is replaced begins.
        end: where it ends.
        covered: where the text ends that is understood.
        line: where it is in the tests, from 1.
        optional: whether a right solution may not come to it.
        idle: whether none does: it is in a function that is called nowhere, or with false alone.
        in_expression: whether what is replaced is the condition of a statement.
        claims: what it says.
    """

    start: int
    end: int
    covered: int
    line: int
    optional: bool
    idle: bool = False
    in_expression: bool
    claims: tuple[Claim, ...]


def understand(
    tests: str,
    language: Assertions,
    within: Sequence[tuple[int, int]] | None = None,
    own: Collection[str] = (),
) -> tuple[Assertion, ...]:
    """Finds the assertions of a test program, in the order of its text.

    Args:
        tests: the program.
        language: what it is written in.
        within: parts of the text, from and to; assertions elsewhere are not understood. The whole
            of it if None.
        own: names that the tests give a meaning of their own; no assertion that has one is
            understood.
    """
    if len(tests) > READ_CHARACTERS or "\0" in tests:
        return ()
    tokens = tokenize(tests, language)
    brackets = match_brackets(tokens)
    if brackets is None or brackets.unclosed:
        return ()
    unwatched = tuple(_unwatched(tokens, brackets.partners, language))
    unused = _Unused(tests, tokens, brackets.partners)
    return tuple(
        unused.marked(one)
        for one in _Reader(tests, tokens, brackets.partners, language, own).assertions()
        if within is None or any(start <= one.start < end for start, end in within)
        if not any(start <= one.start < end for start, end in unwatched)
    )


def _unwatched(
    tokens: Tokens, partners: Mapping[int, int], language: Assertions
) -> Iterator[tuple[int, int]]:
    """Gives where begins and ends what has assertions that may fail, or are not come to."""
    ends = {tokens[first].start: tokens[last].end for first, last in partners.items()}
    code = blanked(tokens)
    heads = list(language.unwatched.finditer(code))
    if heads:
        heads += [head for head in language.helpers.finditer(code) if head["test"] is None]
    for head in heads:
        yield head.start(), ends.get(head.end() - 1, head.end())


@dataclass(frozen=True, slots=True)
class _Helper:
    """A function of the tests'.

    Args:
        name: of it.
        place: where its head has that name.
        parameters: the text in front of its body.
        body: where that is.
    """

    name: str
    place: int
    parameters: str
    body: range


class _Unused:
    """Knows the bodies of functions that no right solution need come to."""

    def __init__(self, tests: str, tokens: Tokens, partners: Mapping[int, int]) -> None:
        self._tests = tests
        self._code = blanked(tokens)
        self._ends = {tokens[first].start: tokens[last].end for first, last in partners.items()}
        self._idle, self._overloaded = bytearray(len(tests)), bytearray(len(tests))
        helpers = list(self._helpers())
        heads = {one.place for one in helpers}
        self._uses: dict[str, list[int]] = {one.name: [] for one in helpers}
        blank = [*map(re.Match.span, _DECLARED_USE.finditer(self._code))]
        dead = {at for start, end in blank for at in range(start, end)}
        for word in _WORD.finditer(self._code):
            at = word.start()
            if word[0] not in self._uses or at in heads or at in dead:
                continue
            if not self._is_given_false(at):
                self._uses[word[0]].append(at)
        parameters = Counter(name for name, _ in {(one.name, one.parameters) for one in helpers})
        for one in helpers:
            if parameters[one.name] > 1:
                self._mark(self._overloaded, one.body)
        for _ in range(_MOST_ROUNDS):
            used = []
            for one in helpers:
                if self._is_used(one):
                    used.append(one)
                else:
                    self._mark(self._idle, one.body)
            if len(used) == len(helpers):
                break
            helpers = used

    def marked(self, assertion: Assertion) -> Assertion:
        """Returns an assertion with what is known of the function that it is in."""
        at = assertion.start
        if self._idle[at]:
            return replace(assertion, optional=True, idle=True)
        return replace(assertion, optional=True) if self._overloaded[at] else assertion

    def _helpers(self) -> Iterator[_Helper]:
        """Gives the functions that no harness finds."""
        code = self._code
        for found in _HELPER.finditer(code):
            group = "name" if found["name"] else "lambda"
            name, start = found[group], found.start()
            above = code[max(code.rfind(sign, 0, start) for sign in "{};") + 1 : start]
            if name in _NO_HELPERS or _FOUND.match(name) or _MARK.search(above):
                continue
            body = range(found.end(), self._ends.get(found.end() - 1, found.end()))
            yield _Helper(name, found.start(group), code[found.end(group) : found.end()], body)

    def _is_used(self, helper: _Helper) -> bool:
        """Tells whether a function is named elsewhere than by itself and in idle ones."""
        uses = self._uses[helper.name]
        return any(at not in helper.body and not self._idle[at] for at in uses)

    def _is_given_false(self, at: int) -> bool:
        """Tells whether a name is called with false, as who expects an exception before it does."""
        call = _CALL.match(self._code, at)
        if call is None or call.end() - 1 not in self._ends:
            return False
        end = self._ends[call.end() - 1] - 1
        if end - call.end() > _MOST_GIVEN:
            return False
        given = [one.strip() for one in self._code[call.end() : end].split(",")]
        if given[0] in _FALSE:
            return True
        is_plain = all(one in _FALSE or not _WORD.search(one) for one in given)
        return is_plain and not _FALSE.isdisjoint(given) and "${" not in self._tests[at:end]

    @staticmethod
    def _mark(places: bytearray, body: range) -> None:
        places[body.start : body.stop] = b"\1" * len(body)


def opened_for(tests: str, solution: str, language: Assertions) -> str:
    """Takes as many closing braces from a solution's end as the tests bring along.

    The tests of some data sets begin with what ends the function, or the class, of the prompt.
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
    """Finds the assertions in a program that was cut into tokens."""

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
        self._branches = Branches()
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
        claims = claims_of(form, call, content, self._language)
        followed = self._after(form, head, end)
        if not claims or followed is None:
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
            claims=claims,
        )

    def _inside(self, form: Form, head: re.Match[str]) -> tuple[Tokens, int] | None:
        """Returns what an assertion holds, and where it ends."""
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
        """Returns the condition in front of a block, and where the block begins."""
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
        """Returns where the assertion ends, if what must follow it does."""
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
