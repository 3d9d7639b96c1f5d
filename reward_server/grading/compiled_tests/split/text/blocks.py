"""Finds the blocks in curly brackets of a text, and those that are open at its end."""

from __future__ import annotations

import re
from dataclasses import dataclass

from reward_server.grading.compiled_tests.tokens import (
    Kind,
    Token,
    Tokens,
    match_brackets,
    tokenize,
    trimmed,
)
from reward_server.languages.assertions import Assertions

_DIRECTIVE = re.compile(r"#(?:\\\r?\n|[^\n])*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement outside of functions: a declaration, or a definition and its block.

    Args:
        head: the words of it, blanks left out, without its block and its last mark.
        block: the content of its block, without blanks; None if it has none.
    """

    head: tuple[str, ...]
    block: tuple[str, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A block that the text leaves open, or the text as a whole.

    Args:
        head: the words in front of it, such as those of a function; empty for the whole text.
        start: where these begin.
        inside: where the block's content begins.
        statements: what is complete in it.
    """

    head: tuple[str, ...]
    start: int
    inside: int
    statements: tuple[Statement, ...]


def open_blocks(text: str, language: Assertions) -> list[Block] | None:
    """Returns the text as a block, and then the blocks that are open at its end, outermost first.

    None if its brackets do not match, or if another bracket than that of a block is open.
    """
    tokens = _code(text, language)
    brackets = match_brackets(tokens)
    if brackets is None or brackets.unopened:
        return None
    if any(tokens[index].text != "{" for index in brackets.unclosed):
        return None
    blocks: list[Block] = []
    head: tuple[str, ...] = ()
    start = inside = 0
    begins = [0, *(index + 1 for index in brackets.unclosed)]
    for first, last in zip(begins, [*brackets.unclosed, len(tokens)], strict=True):
        statements, rest = _statements(tokens[first:last])
        blocks.append(Block(head=head, start=start, inside=inside, statements=statements))
        if last < len(tokens):
            head, inside = _words(rest), tokens[last].end
            start = rest[0].start if rest else tokens[last].start
    return blocks


def unopened(text: str, language: Assertions) -> int:
    """Returns the number of closing brackets without an opening one."""
    brackets = match_brackets(tokenize(text, language))
    return len(brackets.unopened) if brackets else 0


def unclosed(text: str, language: Assertions) -> int:
    """Returns the number of opening brackets without a closing one."""
    brackets = match_brackets(tokenize(text, language))
    return len(brackets.unclosed) if brackets else 0


def _code(text: str, language: Assertions) -> list[Token]:
    """Splits a text into tokens, without the lines of a preprocessor."""
    code: list[Token] = []
    end = 0
    for token in tokenize(text, language):
        if token.start < end:
            continue
        line = _DIRECTIVE.match(text, token.start) if token.kind is Kind.MARK else None
        if line is None:
            code.append(token)
        else:
            end = line.end()
    return code


def _statements(tokens: Tokens) -> tuple[tuple[Statement, ...], Tokens]:
    """Splits the content of a block into statements and an incomplete rest."""
    brackets = match_brackets(tokens)
    partners = brackets.partners if brackets else {}
    found: list[Statement] = []
    start = index = 0
    is_value, is_first = False, True  # the block of an initial value or of a type is no body
    while index < len(tokens):
        token, end = tokens[index], partners.get(index, index)
        if token.text == ";" or (token.text == "{" and not is_value):
            head, block = _words(tokens[start:index]), tokens[index + 1 : end]
            content = _words(block) if token.text == "{" else None
            found.append(Statement(head=head, block=content))
            start, is_value, is_first = end + 1, False, True
        elif not token.is_blank and token.kind is not Kind.OPEN:
            is_value = is_value or token.text == "=" or (is_first and token.text == "typedef")
            is_first = False
        index = end + 1
    return tuple(found), trimmed(tokens[start:])


def _words(tokens: Tokens) -> tuple[str, ...]:
    return tuple(token.text for token in tokens if not token.is_blank)
