"""Finds state that a prompt in JavaScript or TypeScript keeps while it runs.

Each program would have a copy of the state, and a change in one would not show in the other. A
prompt may declare functions, classes without static fields, types, and constants that are a number,
a text or similar. Everything else is state. Refusing too much costs a label, and never a verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from reward_server.grading.compiled_tests.split.text.words import word_set
from reward_server.grading.compiled_tests.tokens import Kind, Token, match_brackets

_PREFIXES = word_set("async export default declare abstract")
_PLAIN = word_set("true false null undefined NaN Infinity")
_TYPES = word_set("interface type enum")


def is_state(declared: Sequence[Token]) -> bool:
    """Returns True if a declaration, or code that follows it, makes a state.

    Args:
        declared: the tokens from the declaration to the next one, without blanks.
    """
    tokens = list(declared)
    while tokens and tokens[0].text in _PREFIXES:
        tokens.pop(0)
    while tokens and tokens[-1].text == ";":
        tokens.pop()
    word = tokens[0].text if tokens else ""
    if word in _TYPES:
        return any(token.text == ";" for token in _outside(tokens))
    if word == "const" and len(tokens) > 3:
        return _is_state_of_constant(tokens)
    if word not in ("function", "class"):
        return True
    return _is_more_than_block(tokens) or (word == "class" and _has_statics(tokens))


def _is_state_of_constant(tokens: Sequence[Token]) -> bool:
    at = next((at for at, one in enumerate(tokens) if one.text == "="), len(tokens) - 1)
    value = tokens[at + 1 :]
    if tokens[1].kind is not Kind.WORD or not value:
        return True
    return not all(map(_is_plain, value)) and _is_more_than_function(value)


def _is_plain(token: Token) -> bool:
    """Returns True if a token can be a part of the computation of a number or a text."""
    if token.kind is Kind.STRING:
        return not token.text.startswith("/") and "${" not in token.text
    if token.kind is Kind.MARK:
        return token.text in ("+", "-", "*", "**", "/")
    return token.kind is Kind.NUMBER or token.text in _PLAIN


def _is_more_than_function(value: Sequence[Token]) -> bool:
    """Returns True unless an expression is one function, and nothing follows it."""
    start = 1 if value[0].text == "async" and len(value) > 1 else 0
    if value[start].text == "function":
        return _is_more_than_block(value)
    brackets = match_brackets(value)
    end = brackets.partners.get(start, start) if brackets else start
    arrow = next((at for at in range(end + 1, len(value)) if value[at].text == "=>"), -1)
    typed = {token.text for token in value[end + 1 : arrow]} if arrow > 0 else {"("}
    if arrow < 0 or typed & {"(", "{", "=", ","} or arrow + 1 >= len(value):
        return True
    body = value[arrow + 1 :]
    if body[0].text == "{":
        return _is_more_than_block(body)
    return any(token.text in (";", ",", "=") for token in _outside(body)) or _goes_on(body)


def _goes_on(body: Sequence[Token]) -> bool:
    """Returns True if a word in an expression could begin a new statement."""
    rest = _outside(body)
    return any(
        one.kind in (Kind.WORD, Kind.CLOSE, Kind.NUMBER, Kind.STRING) and two.kind is Kind.WORD
        for one, two in pairwise(rest)
        if one.text not in ("await", "typeof", "new", "in", "instanceof", "void")
        and two.text not in ("in", "instanceof", "as")
    )


def _is_more_than_block(tokens: Sequence[Token]) -> bool:
    """Returns True if tokens follow the first block of a text, or if it has no block."""
    brackets = match_brackets(tokens)
    partners = brackets.partners if brackets else {}
    at = 0
    while at < len(tokens):
        if tokens[at].text == "{":
            return partners.get(at) != len(tokens) - 1
        at = partners.get(at, at) + 1
    return True


def _has_statics(tokens: Sequence[Token]) -> bool:
    """Returns True if a class has static fields or blocks, or if its head calls something."""
    texts = [token.text for token in tokens]
    if "static" in texts[: texts.index("{")] or "(" in texts[: texts.index("{")]:
        return True
    for at, text in enumerate(texts):
        rest = [
            one for one in texts[at + 1 : at + 5] if one not in ("async", "*", "get", "set", "#")
        ]
        if text == "static" and rest[1:2] != ["("]:
            return True
    return False


def _outside(tokens: Sequence[Token]) -> list[Token]:
    """Returns the tokens outside of brackets, and the outermost brackets."""
    found, depth = [], 0
    for token in tokens:
        depth -= token.kind is Kind.CLOSE
        if depth == 0:
            found.append(token)
        depth += token.kind is Kind.OPEN
    return found
