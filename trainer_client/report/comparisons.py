"""Finds two compared values in the message of a failed test.

A message counts if one of its lines is of a known form, whose separator stands once outside of
quotes; any other message is shown as it is. Values stay text: nothing of them is evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_LONGEST = 2000
# Each alternative takes what it finds without going back, so that no text makes it slow.
_QUOTED = re.compile(r"'(?:[^'\\]|\\.?)*(?:'|\Z)|\"(?:[^\"\\]|\\.?)*(?:\"|\Z)")
# Where a test failed: what follows is a line of its source, and no value.
_PLACE = re.compile(r"(?:^|: | at )(?:assert \d+|[^\s:]+), line \d+: [^\n]*\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two values that should have been the same, each with its name."""

    names: tuple[str, str]
    values: tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Form:
    """A way to word a comparison: what the values are called, and what stands around them."""

    names: tuple[str, str]
    before: re.Pattern[str]
    separator: str
    after: str = ""


_FORMS: Sequence[_Form] = (
    # JUnit
    _Form(("expected", "actual"), re.compile(r".*?\bexpected: <"), "> but was: <", ">"),
    # calls, standard output
    _Form(("expected", "actual"), re.compile(r"(?:.*?: )?expected "), ", got "),
    # Go's habit
    _Form(("actual", "expected"), re.compile(r"(?:.*?[ :])?got:? "), ", want "),
    # node
    _Form(("actual", "expected"), re.compile(r"(?:[^'\"({]*: )?"), " !== "),
    # pytest, and unittest, which do not say which of the two was expected
    _Form(("left", "right"), re.compile(r"(?:.*?: )?assert "), " == "),
    _Form(("left", "right"), re.compile(r"(?:[^'\"({]*?: )?(?:\w+ differ: )?"), " != "),
)


def comparison(message: str) -> Comparison | None:
    """Returns the values that a message compares, None where it is of no known form."""
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
