"""Splits a program's text into tokens, by the patterns in the file of its language.

That is enough to match brackets and to leave out strings and comments. It is no parser. Every
character of the text is in one token.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from reward_server.languages.assertions import Assertions


class Kind(enum.Enum):
    """Kinds of tokens."""

    COMMENT = "comment"
    STRING = "string"
    CHAR = "char"
    NUMBER = "number"
    WORD = "word"
    SPACE = "space"
    OPEN = "open"
    CLOSE = "close"
    MARK = "mark"


@dataclass(frozen=True, slots=True)
class Token:
    """A part of the text, and where it begins."""

    kind: Kind
    text: str
    start: int

    @property
    def end(self) -> int:
        """Where the next token begins."""
        return self.start + len(self.text)

    @property
    def is_blank(self) -> bool:
        """Returns True if a compiler ignores it."""
        return self.kind in (Kind.SPACE, Kind.COMMENT)


Tokens: TypeAlias = Sequence[Token]

PAIRS = {"(": ")", "[": "]", "{": "}"}
_NUMBER = r"(?:0[xXbBoO][0-9a-fA-F_]+|\d[\d_]*(?:\.(?!\.)\d*)?(?:[eE][+-]?\d+)?|\.\d+)[a-zA-Z_\d]*"
_REST = (
    ("number", _NUMBER),
    ("word", r"[^\W\d][\w$]*|\$[\w$]+"),
    ("space", r"\s+"),
    ("open", r"[(\[{]"),
    ("close", r"[)\]}]"),
    ("mark", r"===|!==|<=>|==|!=|~=|/=|<=|>=|&&|\|\||=>|->|::|\?\.|<<|>>|[-+*%&|^]=|(?s:.)"),
)


def tokenize(text: str, language: Assertions) -> list[Token]:
    """Splits a text into tokens."""
    return [
        Token(Kind(found.lastgroup), found[0], found.start())
        for found in _lexer(language).finditer(text)
    ]


@lru_cache(maxsize=64)
def _lexer(language: Assertions) -> re.Pattern[str]:
    kinds = (
        ("comment", "|".join(language.comments)),
        ("string", "|".join(language.strings)),
        ("char", "|".join(language.chars)),
        *_REST,
    )
    return re.compile("|".join(f"(?P<{name}>{rule})" for name, rule in kinds if rule))


@dataclass(frozen=True, slots=True, kw_only=True)
class Brackets:
    """Which brackets match.

    Args:
        partners: for each opening bracket, where its closing bracket is.
        unopened: closing brackets without an opening one, as in tests that end the prompt's class.
        unclosed: opening brackets without a closing one.
    """

    partners: Mapping[int, int]
    unopened: tuple[int, ...]
    unclosed: tuple[int, ...]


def match_brackets(tokens: Tokens) -> Brackets | None:
    """Matches the brackets; returns None if a bracket is closed by another kind."""
    partners: dict[int, int] = {}
    waiting: list[int] = []
    unopened: list[int] = []
    for index, token in enumerate(tokens):
        if token.kind is Kind.OPEN:
            waiting.append(index)
        elif token.kind is Kind.CLOSE:
            if not waiting:
                unopened.append(index)
            elif PAIRS[tokens[waiting[-1]].text] != token.text:
                return None
            else:
                partners[waiting.pop()] = index
    return Brackets(partners=partners, unopened=tuple(unopened), unclosed=tuple(waiting))


def trimmed(tokens: Tokens) -> Tokens:
    """Removes blank tokens at both ends."""
    solid = [index for index, token in enumerate(tokens) if not token.is_blank]
    return tokens[solid[0] : solid[-1] + 1] if solid else ()


def text_of(tokens: Tokens) -> str:
    """Returns the text of tokens, without their comments."""
    return "".join(" " if token.kind is Kind.COMMENT else token.text for token in tokens)


def blanked(tokens: Tokens) -> str:
    """Returns a text of the same length, with its strings and comments blanked."""
    return "".join(map(_blank, ((token.kind, token.text) for token in tokens)))


def _blank(token: tuple[Kind, str]) -> str:
    kind, text = token
    if kind is Kind.COMMENT:
        return re.sub(r"\S", " ", text)
    if kind in (Kind.STRING, Kind.CHAR) and len(text) > 1:
        return f'"{" " * (len(text) - 2)}"'
    return text


def outermost(tokens: Tokens) -> Iterator[tuple[int, Token]]:
    """Yields the tokens outside all brackets of the sequence, without the brackets."""
    depth = 0
    for index, token in enumerate(tokens):
        if token.kind is Kind.OPEN:
            depth += 1
        elif token.kind is Kind.CLOSE:
            depth -= 1
        elif depth == 0 and not token.is_blank:
            yield index, token


def split(tokens: Tokens, separator: str) -> list[Tokens]:
    """Splits tokens at the outermost separators; an empty last part is left out."""
    cuts = [index for index, token in outermost(tokens) if token.text == separator]
    starts = [0, *(cut + 1 for cut in cuts)]
    pieces = [trimmed(tokens[a:b]) for a, b in zip(starts, [*cuts, len(tokens)], strict=True)]
    return pieces if pieces[-1] else pieces[:-1]


def in_brackets(tokens: Tokens) -> bool:
    """Returns True if tokens are one pair of brackets with its content."""
    if not tokens or tokens[0].kind is not Kind.OPEN:
        return False
    brackets = match_brackets(tokens)
    return brackets is not None and brackets.partners.get(0) == len(tokens) - 1
