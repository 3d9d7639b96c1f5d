"""Reads expected values that are written as literals.

A comparison of the tests may ignore order, repetition, letter case and small differences of
numbers. Two values differ for every such comparison if their sets of literals differ.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from reward_server.grading.compiled_tests.tokens import Kind, Token, Tokens, text_of
from reward_server.languages.assertions import Assertions

_SEPARATORS = frozenset((",", ":", "=>", ";"))
_KEY_MARKS = frozenset((":", "=>"))
_SIGNS = frozenset(("-", "+"))
_DECIMALS = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A literal that can be exchanged: its place in the value's text, and its kind."""

    start: int
    end: int
    kind: str
    negative: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Literal:
    """A value that is written as literals.

    Args:
        text: its text in the program.
        leaves: its literals.
        frame: its brackets and constructors.
    """

    text: str
    leaves: tuple[Leaf, ...]
    frame: frozenset[str]

    @property
    def meaning(self) -> frozenset[tuple[str, str]]:
        """The set of its literals' meanings, as far as they matter to every comparison."""
        return frozenset(meaning_of(self.text[leaf.start : leaf.end], leaf) for leaf in self.leaves)


def read_literal(tokens: Tokens, language: Assertions) -> Literal | None:
    """Reads a value that consists of literals, brackets and constructors only."""
    text = text_of(tokens)
    solid = [token for token in tokens if not token.is_blank]
    if not solid or any(token.kind is Kind.COMMENT for token in tokens):
        return None
    reading = _Reading(text, -tokens[0].start, language)
    for token, following in zip(solid, [*solid[1:], None], strict=True):
        if not reading.takes(token, following):
            return None
    return Literal(
        text=text,
        leaves=tuple(reading.leaves),
        frame=frozenset(reading.frame),
    )


class _Reading:
    """The part of a value that was read."""

    def __init__(self, text: str, shift: int, language: Assertions) -> None:
        self._text = text
        self._shift = shift  # added to a place in the program, gives the place in the text
        self._language = language
        self._last: Token | None = None
        self._constructor_end = 0
        self._brackets: list[bool] = []  # whether each open one is a plain round one
        self.leaves: list[Leaf] = []
        self.frame: set[str] = set()

    def takes(self, token: Token, following: Token | None) -> bool:
        """Reads a token; returns True if it may be part of a literal value."""
        start = token.start + self._shift
        if start < self._constructor_end:
            return True
        fits = self._takes_constructor(token, start) or self._takes_plain(token, start, following)
        self._last = token
        return fits

    def _takes_constructor(self, token: Token, start: int) -> bool:
        found = self._language.containers.match(self._text, start)
        if found is None or not found[0]:
            return False
        self._constructor_end = max(found.end(), start + len(token.text))
        self.frame.add(re.sub(r"\s|<.*>", "", found[0]))
        return True

    def _takes_plain(self, token: Token, start: int, following: Token | None) -> bool:
        is_key = following is not None and following.text in _KEY_MARKS
        match token.kind:
            case Kind.OPEN:
                self._open(token)
            case Kind.CLOSE:
                self._brackets.pop()
            case Kind.MARK if token.text == "," and self._brackets[-1:] == [True]:
                return self._language.tuples
            case Kind.MARK if token.text in _SIGNS:
                return self._starts_value() and following is not None and _is_number(following)
            case Kind.MARK:
                return token.text in _SEPARATORS
            case Kind.WORD if not (is_key or _is_literal_word(token, self._language)):
                return False
            case _ if not is_key:
                self._add_leaf(token, start)
        return True

    def _open(self, token: Token) -> None:
        bare = self._starts_value()
        self._brackets.append(bare and token.text == "(")
        if bare:
            self.frame.add(token.text)

    def _starts_value(self) -> bool:
        last = self._last
        return last is None or last.kind is Kind.OPEN or last.text in _SEPARATORS

    def _add_leaf(self, token: Token, start: int) -> None:
        if kind := _kind(token, self._language):
            negative = self._last is not None and self._last.text == "-"
            end = start + len(token.text)
            self.leaves.append(Leaf(start=start, end=end, kind=kind, negative=negative))


def _is_number(token: Token) -> bool:
    return token.kind is Kind.NUMBER


def _is_literal_word(token: Token, language: Assertions) -> bool:
    return token.text in language.constants or token.text in language.opposites


def _kind(token: Token, language: Assertions) -> str:
    """Returns the kind of a literal token; "" for a token that cannot be exchanged."""
    if token.kind is Kind.NUMBER:
        return "whole" if token.text.replace("_", "").isdigit() else "number"
    if token.kind in (Kind.STRING, Kind.CHAR):
        return "string" if token.kind is Kind.STRING else "char"
    return "truth" if token.text in language.opposites else ""


def meaning_of(text: str, leaf: Leaf) -> tuple[str, str]:
    """Returns the meaning of a literal, as far as it matters to every comparison."""
    if leaf.kind in ("whole", "number"):
        found = re.match(r"\d*\.?\d*(?:[eE][+-]?\d+)?", text.replace("_", ""))
        try:
            value = round(float(found[0] if found else ""), _DECIMALS)
        except (ValueError, OverflowError):
            return "number", text
        return "number", repr(-value if leaf.negative and value else value)
    return leaf.kind, text.casefold().replace(" ", "")
