"""Parses the assertions of a test program.

An assertion is a condition that must hold or must not hold. Most assertions compare a value that
the solution computes with a literal. This module knows a language only by the table
[program.assertions] in the language's file (`reward_server/languages/assertions.py` describes the
table).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from reward_server.grading.compiled_tests.literals import Literal, read_literal
from reward_server.grading.compiled_tests.tokens import (
    Kind,
    Tokens,
    in_brackets,
    outermost,
    split,
    text_of,
    trimmed,
)
from reward_server.languages.assertions import Assertions, Form

LARGEST_TOLERANCE = 0.02
# Placeholders in a condition for the actual value, the expected value and the random secret of a
# program. Tests whose text contains a placeholder are not rewritten.
ACTUAL, EXPECTED, SECRET = "\0actual\0", "\0expected\0", "\0secret\0"
_LOOSER = frozenset(
    ("&&", "||", "?", ":", "=", "|", "&", "^", ",", ";", "=>", "->", "and", "or", "not", "is", "in")
)
_UNEQUAL = {"!=": ("==",), "!==": ("===",), "~=": ("==",), "/=": ("==",), "ne": ("eq",)}
_PART = re.compile(r"\{(?:0|1|arguments|call|method|secret)\}")
_POSTFIX = frozenset((".", "::", "->", "?.", "!", "<", ">", "$", "@"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedAssertion:
    """A parsed assertion.

    Args:
        condition: code, with placeholders for the actual and the expected value if there are any.
        holds: True if the condition must hold, False if it must not hold.
        actual: the code of the value that is compared.
        expected: the value with which it is compared.
    """

    condition: str
    holds: bool = True
    actual: str = ""
    expected: Literal | None = None

    @property
    def whole(self) -> str:
        """The condition as it was written."""
        expected = "" if self.expected is None else self.expected.text
        return self.with_expected(self.actual, expected)

    def with_expected(self, name: str, text: str) -> str:
        """Returns the condition, with code in place of the actual and the expected value.

        Args:
            name: the name of a variable that holds the actual value, or code that computes it.
            text: the code of an expected value.
        """
        return self.condition.replace(ACTUAL, name).replace(EXPECTED, text)


def parse_assertion(
    form: Form, call: str, content: Tokens, language: Assertions
) -> tuple[ParsedAssertion, ...]:
    """Parses an assertion; returns nothing if it cannot be parsed."""
    if form.kind == "list":
        found = [_condition(piece, True, language) for piece in split(content, ",")]
    elif form.kind == "equal":
        found = [_equality(form, call, split(content, ","), language)]
    elif form.kind == "call":
        found = [_called(form, call, content, language)]
    else:
        pieces = split(content, ",")
        condition = pieces[0] if pieces else ()
        chooses = any(token.text == "?" for _, token in outermost(condition))
        if form.until == ";" and not chooses and len(split(condition, ":")) == 2:
            condition = split(condition, ":")[0]  # assert CONDITION : MESSAGE
        found = [_condition(condition, form.kind == "condition", language)]
    return tuple(one for one in found if one) if all(found) else ()


def _equality(
    form: Form, call: str, values: list[Tokens], language: Assertions
) -> ParsedAssertion | None:
    if len(values) < 2:
        return None
    expected, actual, rest = values[form.expected], values[1 - form.expected], values[2:]
    template = form.predicate.replace("{call}", call).replace("{secret}", SECRET)
    template = template.replace("{method}", _method_of(call))
    template = template.replace("{rest}", "".join(f", {text_of(one)}" for one in rest))
    literal = read_literal(expected, language)
    exact = "{rest}" not in form.predicate or all(map(_tells_apart, rest))
    if literal is None or not exact or not _computes(actual, language):
        both = (*actual, *expected)
        if not _computes(both, language) or _is_immediate(both, language):
            return None
        told = template.replace("{actual}", text_of(actual))
        return ParsedAssertion(condition=told.replace("{expected}", text_of(expected)))
    told = template.replace("{actual}", ACTUAL).replace("{expected}", EXPECTED)
    return ParsedAssertion(condition=told, actual=text_of(actual), expected=literal)


def _method_of(call: str) -> str:
    """Returns the last part of a function's name."""
    return call.rpartition(".")[2]


def _tells_apart(argument: Tokens) -> bool:
    """Returns True if the further argument of a comparison is a message or a small tolerance."""
    return argument[0].kind is Kind.STRING or _is_small(text_of(argument))


def _is_immediate(tokens: Tokens, language: Assertions) -> bool:
    return any(token.text in language.immediate for token in tokens)


def _called(form: Form, call: str, content: Tokens, language: Assertions) -> ParsedAssertion | None:
    if _is_immediate(content, language):
        return None
    values = [text_of(one) for one in split(content, ",")]
    parts = {f"{{{index}}}": value for index, value in enumerate(values[:2])}
    parts |= {"{arguments}": text_of(content), "{call}": call, "{secret}": SECRET}
    parts["{method}"] = _method_of(call)
    wanted = _PART.findall(form.predicate)
    if not values or not {*wanted} <= parts.keys():
        return None
    return ParsedAssertion(condition=_PART.sub(lambda part: parts[part[0]], form.predicate))


def _condition(tokens: Tokens, holds: bool, language: Assertions) -> ParsedAssertion | None:
    tokens = _bare(tokens)
    if not _computes(tokens, language):
        return None
    inner = _negated(tokens)
    if inner is not None:
        return _condition(inner, not holds, language)
    return _comparison(tokens, holds, language) or ParsedAssertion(
        condition=text_of(tokens), holds=holds
    )


def _bare(tokens: Tokens) -> Tokens:
    """Removes enclosing brackets, and a message that is an operand of C's `assert`."""
    while in_brackets(tokens) and tokens[0].text == "(" and len(split(tokens[1:-1], ",")) == 1:
        tokens = trimmed(tokens[1:-1])
    operands = split(tokens, "&&")
    if len(operands) == 2 and [token.kind for token in operands[1]] == [Kind.STRING]:
        return _bare(operands[0])
    return tokens


def _computes(tokens: Tokens, language: Assertions) -> bool:
    """Returns True if a value is more than a literal."""
    words = (token.text for token in tokens if token.kind is Kind.WORD)
    return any(word not in language.constants | language.opposites.keys() for word in words)


def _negated(tokens: Tokens) -> Tokens | None:
    """Returns the operand of a negation; None if the condition is no negation."""
    operators = {token.text for _, token in outermost(tokens) if token.kind is Kind.MARK}
    words = {token.text for _, token in outermost(tokens[1:]) if token.kind is Kind.WORD}
    if tokens[0].text == "!" and operators <= _POSTFIX and not words & _LOOSER:
        return trimmed(tokens[1:])
    if tokens[0].text == "not" and not words & _LOOSER and not operators & {"=="}:
        return trimmed(tokens[1:])
    return None


def _comparison(tokens: Tokens, holds: bool, language: Assertions) -> ParsedAssertion | None:
    """Parses the comparison of an actual with an expected value."""
    marks = [(index, token.text) for index, token in outermost(tokens)]
    if any(text in _LOOSER for _, text in marks):
        return None
    compares = [(i, text) for i, text in marks if text in language.equals or text in _UNEQUAL]
    if len(compares) == 1:
        return _operator(tokens, compares[0], holds, language)
    if not compares and holds:
        return (
            _call(tokens, language.comparers, language)
            or _method(tokens, language)
            or _distance(tokens, language)
        )
    return None


def _operator(
    tokens: Tokens, compares: tuple[int, str], holds: bool, language: Assertions
) -> ParsedAssertion | None:
    index, operator = compares
    if operator in _UNEQUAL:
        operators = [one for one in _UNEQUAL[operator] if one in language.equals]
        if holds or not operators:
            return None
        operator, holds = operators[0], True
    if not holds:
        return None
    left, right = trimmed(tokens[:index]), trimmed(tokens[index + 1 :])
    expected = read_literal(right, language)
    if expected is not None and _computes(left, language):
        inner = _told_by(left, expected.text, language)
        if inner is not None:
            return replace(inner, condition=f"{inner.condition} {operator} {expected.text}")
        return _compared(text_of(left), expected, f"{ACTUAL} {operator} {EXPECTED}")
    expected = read_literal(left, language)
    if expected is not None and _computes(right, language):
        return _compared(text_of(right), expected, f"{EXPECTED} {operator} {ACTUAL}")
    return None


def _told_by(tokens: Tokens, answer: str, language: Assertions) -> ParsedAssertion | None:
    """Parses `compare(actual, expected) == true` and `order(actual, expected) == 0`."""
    if answer == "0":
        return _call(tokens, language.orders, language)
    if answer.lower() != "true":
        return None
    return _call(tokens, language.comparers, language) or _method(tokens, language)


def _compared(actual: str, expected: Literal, condition: str) -> ParsedAssertion:
    return ParsedAssertion(condition=condition, actual=actual, expected=expected)


def _call(tokens: Tokens, names: re.Pattern[str], language: Assertions) -> ParsedAssertion | None:
    """Parses `compare(actual, expected)`, if the language's file lists `compare` as a comparer."""
    opening = next((i for i, token in enumerate(tokens) if token.kind is Kind.OPEN), None)
    if opening is None or not in_brackets(tokens[opening:]):
        return None
    name = text_of(tokens[:opening]).strip()
    values = split(tokens[opening + 1 : -1], ",")
    if names.fullmatch(name) is None or len(values) != 2:
        return None
    for actual, other, told in (
        (values[0], values[1], f"{name}({ACTUAL}, {EXPECTED})"),
        (values[1], values[0], f"{name}({EXPECTED}, {ACTUAL})"),
    ):
        expected = read_literal(other, language)
        if expected is not None and _computes(actual, language):
            return _compared(text_of(actual), expected, told)
    return None


def _method(tokens: Tokens, language: Assertions) -> ParsedAssertion | None:
    """Parses `actual.equals(expected)`."""
    places = [i for i, token in outermost(tokens) if token.text in language.methods]
    if not places or places[-1] < 2 or not in_brackets(trimmed(tokens[places[-1] + 1 :])):
        return None
    name, actual = tokens[places[-1]].text, trimmed(tokens[: places[-1]])
    inside = trimmed(trimmed(tokens[places[-1] + 1 :])[1:-1])
    if actual[-1].text != ".":
        return None
    left = trimmed(actual[:-1])
    expected = read_literal(inside, language)
    if expected is not None and _computes(left, language):
        return _compared(text_of(left), expected, f"{ACTUAL}.{name}({EXPECTED})")
    expected = read_literal(left, language)
    if expected is not None and _computes(inside, language):
        return _compared(text_of(inside), expected, f"{EXPECTED}.{name}({ACTUAL})")
    return None


def _distance(tokens: Tokens, language: Assertions) -> ParsedAssertion | None:
    """Parses `abs(actual - expected) < tolerance`."""
    orders = [(i, token.text) for i, token in outermost(tokens) if token.text in ("<", "<=")]
    if len(orders) != 1:
        return None
    index, order = orders[0]
    left, tolerance = trimmed(tokens[:index]), text_of(tokens[index + 1 :]).strip()
    opening = next((i for i, token in enumerate(left) if token.kind is Kind.OPEN), None)
    if opening is None or not in_brackets(left[opening:]) or not _is_small(tolerance):
        return None
    name = text_of(left[:opening]).strip()
    minus = [i for i, token in outermost(left[opening + 1 : -1]) if token.text == "-"]
    if name not in language.absolutes or not minus:
        return None
    inside = left[opening + 1 : -1]
    actual, other = trimmed(inside[: minus[-1]]), trimmed(inside[minus[-1] + 1 :])
    expected = read_literal(other, language)
    if expected is None or not actual or not _computes(actual, language):
        return None
    told = f"{name}({ACTUAL} - {EXPECTED}) {order} {tolerance}"
    return _compared(text_of(actual), expected, told)


def _is_small(text: str) -> bool:
    try:
        return 0.0 < float(text) <= LARGEST_TOLERANCE
    except ValueError:
        return False
