"""Finds two compared values in the message of a failed test.

A message is parsed if one of its lines has a known form. The separator of this form must occur
exactly once outside of quotes. Any other message is shown unchanged. Values stay text, and nothing
evaluates them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_LONGEST = 2000
# Each alternative matches without backtracking, so that no text makes it slow.
_QUOTED = re.compile(r"'(?:[^'\\]|\\.?)*(?:'|\Z)|\"(?:[^\"\\]|\\.?)*(?:\"|\Z)")
# The place of a failed test: the rest of the line is source code, and no value.
_PLACE = re.compile(r"(?:^|: | at )(?:assert \d+|[^\s:]+), line \d+: [^\n]*\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two values that should have been equal, each with its name."""

    names: tuple[str, str]
    values: tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Form:
    """A form of message: the names of the values, and the text around them."""

    names: tuple[str, str]
    before: re.Pattern[str]
    separator: str
    after: str = ""


_FORMS: Sequence[_Form] = (
    # JUnit
    _Form(("expected", "actual"), re.compile(r".*?\bexpected: <"), "> but was: <", ">"),
    # calls and standard output
    _Form(("expected", "actual"), re.compile(r"(?:.*?: )?expected "), ", got "),
    # the usual form in Go
    _Form(("actual", "expected"), re.compile(r"(?:.*?[ :])?got:? "), ", want "),
    # Node
    _Form(("actual", "expected"), re.compile(r"(?:[^'\"({]*: )?"), " !== "),
    # pytest and unittest, which do not show which value was expected
    _Form(("left", "right"), re.compile(r"(?:.*?: )?assert "), " == "),
    _Form(("left", "right"), re.compile(r"(?:[^'\"({]*?: )?(?:\w+ differ: )?"), " != "),
)


def comparison(message: str) -> Comparison | None:
    """Returns the values that a message compares, or None if it has no known form."""
    lines = _PLACE.sub("", message[:_LONGEST]).split("\n")
    found = (_compared(line, form) for line in lines for form in _FORMS)
    return next((one for one in found if one is not None), None)


def _compared(line: str, form: _Form) -> Comparison | None:
    if form.separator not in line:
        return None
    unquoted = _QUOTED.sub(lambda quoted: "\0" * len(quoted[0]), line)
    left, separator, _ = unquoted.partition(form.separator)
    begin = form.before.match(line[: len(left)])
    if begin is None or unquoted.count(form.separator) != 1:
        return None
    right = line[len(left) + len(separator) :]
    if form.after:
        right = right.rpartition(form.after)[0]
    return Comparison(names=form.names, values=(line[begin.end() : len(left)], right))
