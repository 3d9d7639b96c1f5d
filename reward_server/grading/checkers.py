"""Compares the output of a program with the expected output.

Every rule reads both texts in parallel and stops at the first difference. So its cost is bounded by
the expected output, which is trusted, and not by the size of the program's output.

Numbers, in `FLOAT`: tokens that are equal as text are equal. Otherwise both must be decimal numbers
and differ by at most the absolute tolerance, or the relative one times the expected value. An
expected value without a point or an exponent counts as a whole number. Then the relative tolerance
allows a difference of less than one half, so that no other whole number is accepted, even if the
numbers are large. nan and the infinities equal only themselves.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import zip_longest

from reward_server.domain import Checker, CheckerKind

_TOKEN = re.compile(rb"\S+")
_LINE = re.compile(rb"[^\n]*\n?")
_INK = re.compile(rb"\S[^\n]*")
_NUMBER = re.compile(rb"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,6})?")
_WHOLE = re.compile(rb"[+-]?\d+")
_SPECIAL = {
    b"nan": "nan",
    b"inf": "inf",
    b"infinity": "inf",
    b"-inf": "-inf",
    b"-infinity": "-inf",
}
# A double cannot distinguish a number with more digits from its neighbours.
_NUMBER_BYTES = 1024
_QUOTED_BYTES = 60
_BELOW_HALF = math.nextafter(0.5, 0.0)

Same = Callable[[bytes, bytes], bool]


def difference(checker: Checker, expected: bytes, actual: bytes) -> str:
    """Returns "" if the output is right, else a message that says where it first differs.

    Raises:
        ValueError: the checker is a program, which needs an execution.
    """
    if checker.is_program:
        raise ValueError("a checker program is run, not called")
    if expected == actual:
        return ""
    match checker.kind:
        case CheckerKind.TRAILING_WHITESPACE:
            return _first_difference("line", _lines(expected), _lines(actual), bytes.__eq__)
        case CheckerKind.EXACT:
            return _where_bytes_differ(expected, actual)
        case CheckerKind.TOKENS:
            return _first_difference("token", _tokens(expected), _tokens(actual), bytes.__eq__)
        case CheckerKind.FLOAT:
            return _first_difference("token", _tokens(expected), _tokens(actual), _near(checker))
        case CheckerKind.CASE_INSENSITIVE:
            return _first_difference("line", _lines(expected), _lines(actual), _same_but_for_case)
        case _:
            return _unordered_difference(expected, actual)


def _lines(text: bytes) -> Iterator[bytes]:
    """Yields lines without trailing white space, from the first to the last that is not blank."""
    body = text.rstrip()
    blank = len(body) - len(body.lstrip())
    for match in _LINE.finditer(body, body.rfind(b"\n", 0, blank) + 1):
        if match.end() > match.start():
            yield match.group().rstrip()


def _inked_lines(text: bytes) -> Iterator[bytes]:
    """Yields the lines that are not blank, without trailing white space."""
    end = 0
    for match in _INK.finditer(text):
        begin = text.rfind(b"\n", end, match.start()) + 1 or end
        end = match.end()
        yield text[begin:end].rstrip()


def _tokens(text: bytes) -> Iterator[bytes]:
    return (match.group() for match in _TOKEN.finditer(text))


def _first_difference(
    unit: str, expected: Iterator[bytes], actual: Iterator[bytes], same: Same
) -> str:
    for number, (right, given) in enumerate(zip_longest(expected, actual), start=1):
        if right is None:
            return f"{unit} {number}: expected the end, got {_quoted(given)}"
        if given is None:
            return f"{unit} {number}: expected {_quoted(right)}, got the end"
        if not same(right, given):
            return f"{unit} {number}: expected {_quoted(right)}, got {_quoted(given)}"
    return ""


def _where_bytes_differ(expected: bytes, actual: bytes) -> str:
    place = _common_prefix(expected, actual)
    right, given = (text[place : place + _QUOTED_BYTES] for text in (expected, actual))
    return f"byte {place}: expected {_quoted(right)}, got {_quoted(given)}"


def _common_prefix(one: bytes, other: bytes) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _same_but_for_case(expected: bytes, actual: bytes) -> bool:
    return _folded(expected) == _folded(actual)


def _folded(line: bytes) -> str:
    return line.decode("utf-8", "surrogateescape").casefold()


def _unordered_difference(expected: bytes, actual: bytes) -> str:
    """Compares lines in any order, and how often each occurs; blank lines do not count.

    Each line is looked up among the expected ones, so that excess output fails at its first line.
    """
    missing = Counter(_inked_lines(expected))
    for number, line in enumerate(_inked_lines(actual), start=1):
        if not missing[line]:
            return f"non-blank line {number}: {_quoted(line)} is not expected, or not as often"
        missing[line] -= 1
    for line, count in missing.items():
        if count:
            return f"expected {_quoted(line)}, {count} more of it"
    return ""


def _near(checker: Checker) -> Same:
    def same(expected: bytes, actual: bytes) -> bool:
        if expected == actual:
            return True
        right, given = _number(expected), _number(actual)
        if right is None or given is None:
            return False
        if not (math.isfinite(right) and math.isfinite(given)):
            return right == given or (math.isnan(right) and math.isnan(given))
        relative = checker.relative_tolerance * abs(right)
        if isinstance(right, int):
            relative = min(relative, _BELOW_HALF)
        return abs(right - given) <= max(checker.absolute_tolerance, relative)

    return same


def _number(token: bytes) -> int | float | None:
    """Returns a decimal number, whole ones exactly; None if the token is none or too large."""
    if len(token) > _NUMBER_BYTES:
        return None
    special = _SPECIAL.get(token.lower().removeprefix(b"+"))
    if special is not None:
        return float(special)
    if not _NUMBER.fullmatch(token):
        return None
    value = float(token)
    if math.isinf(value):
        return None
    return int(token) if _WHOLE.fullmatch(token) else value


def _quoted(text: bytes) -> str:
    cut = text[:_QUOTED_BYTES].decode("utf-8", "backslashreplace")
    return repr(cut) + ("..." if len(text) > _QUOTED_BYTES else "")
