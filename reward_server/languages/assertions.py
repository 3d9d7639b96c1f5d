r"""How a language asserts: the table [program.assertions], from which test programs are rewritten.

comments, strings, chars   regular expressions of what is one token, whatever stands in it
equals                     operators that compare
comparers                  regular expression of functions `F(actual, expected)` that compare
orders                     the same of functions that give 0 for equal values
methods                    names of methods `actual.F(expected)` that compare
absolutes                  functions that give the absolute value of a number
containers                 regular expression of what may stand in an expected value beside literals
                           and brackets: constructors, conversions
tuples                     whether values in round brackets are a tuple; elsewhere a comma there
                           is an operator
constants                  words that are literals and have no opposite
opposites                  pairs of literals that are each other's opposite
negation                   what negates {predicate}; "!({predicate})" if absent
name                       how a value is named, with {secret}; "{secret}v" if absent
capture                    code that names the value {actual} {name}
observation                code that tells whether {predicate} holds, by writing the line {held} or
                           the line {missed}
separator                  what stands between observations; "; " if absent
statement                  code of {capture} and {observations} that stands for an assertion
expression                 the same where the condition of a statement is replaced, with the value
                           false; absent where the language cannot
named_in_expressions       whether {capture} can stand in an expression
alternatives               elsewhere, what stands there between observations of a value that has a
                           name; absent where only one can stand
immediate                  words of what cannot be computed later, as a predicate of the kinds equal
                           and call does
unwatched                  regular expression of the beginning, up to an opening bracket, of what
                           has assertions that may fail, or not be come to, or else all of it; in
                           text whose strings and comments are blank; none if absent
helpers                    the same of functions; where anything is unwatched, so are those that the
                           group "test" finds nothing for, since others call them
[[program.assertions.forms]]
  head                     regular expression that an assertion begins with; one that ends in an
                           opening bracket is an assertion up to the closing one, any other up to
                           the next semicolon or, with `until = "line"`, to the end of the line
  kind                     "condition", which must hold; "failure", a condition that must not,
                           which alone is replaced; "equal", two values, the second the expected
                           one or, with `expected = 0`, the first, that are compared by
                           `predicate`, with {actual}, {expected}, {call}, what was called, and
                           {rest}, what it was given besides; "call", whose `predicate` has {call}
                           and {arguments}, or the first two of them, {0} and {1}; "list",
                           conditions that must all hold. {method} is what was called, without
                           what stands in front of its name
  after                    regular expression of what must follow; of a list it belongs to the
                           assertion, and \1 in it is the first group of the head
  ends                     regular expression of what belongs to the assertion at its end
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

KINDS = ("condition", "failure", "equal", "call", "list")
_NOTHING = r"(?!)"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Form:
    """A form that assertions have; see above."""

    head: re.Pattern[str]
    kind: str
    until: str = ";"
    expected: int = 1
    predicate: str = ""
    after: str = ""
    ends: re.Pattern[str] = re.compile("")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Assertions:
    """How a language asserts; see above."""

    comments: tuple[str, ...]
    strings: tuple[str, ...]
    chars: tuple[str, ...]
    equals: frozenset[str]
    comparers: re.Pattern[str]
    orders: re.Pattern[str]
    methods: frozenset[str]
    absolutes: frozenset[str]
    containers: re.Pattern[str]
    tuples: bool
    constants: frozenset[str]
    opposites: Mapping[str, str]
    negation: str
    name: str
    capture: str
    observation: str
    separator: str
    statement: str
    expression: str
    named_in_expressions: bool
    alternatives: str
    immediate: frozenset[str]
    unwatched: re.Pattern[str]
    helpers: re.Pattern[str]
    forms: tuple[Form, ...]


def parse_assertions(table: Mapping[str, Any]) -> Assertions:
    """Reads the table [program.assertions].

    Raises:
        ValueError: a form is of an unknown kind, or lacks what its kind needs.
    """
    pairs = table.get("opposites", [["true", "false"]])
    forms = tuple(map(_parse_form, table["forms"]))
    if not table.get("expression") and any(form.kind == "failure" for form in forms):
        raise ValueError("forms of the kind failure need an expression")
    return Assertions(
        comments=tuple(table["comments"]),
        strings=tuple(table["strings"]),
        chars=tuple(table.get("chars", ())),
        equals=frozenset(table.get("equals", ["=="])),
        comparers=re.compile(table.get("comparers", _NOTHING)),
        orders=re.compile(table.get("orders", _NOTHING)),
        methods=frozenset(table.get("methods", ())),
        absolutes=frozenset(table.get("absolutes", ())),
        containers=re.compile(table.get("containers", _NOTHING)),
        tuples=table.get("tuples", False),
        constants=frozenset(table.get("constants", ())),
        opposites={a: b for one, other in pairs for a, b in ((one, other), (other, one))},
        negation=table.get("negation", "!({predicate})"),
        name=table.get("name", "{secret}v"),
        capture=table["capture"],
        observation=table["observation"],
        separator=table.get("separator", "; "),
        statement=table["statement"],
        expression=table.get("expression", ""),
        named_in_expressions=table.get("named_in_expressions", False),
        alternatives=table.get("alternatives", ""),
        immediate=frozenset(table.get("immediate", ())),
        unwatched=re.compile(table.get("unwatched", _NOTHING)),
        helpers=re.compile(table.get("helpers", _NOTHING)),
        forms=forms,
    )


def _parse_form(table: Mapping[str, Any]) -> Form:
    kind = table["kind"]
    if kind not in KINDS:
        raise ValueError(f"{kind!r} is no kind of assertion; there are {', '.join(KINDS)}")
    if (kind in ("equal", "call")) != ("predicate" in table):
        raise ValueError("assertions of the kinds equal and call, and no others, have a predicate")
    return Form(
        head=re.compile(table["head"]),
        kind=kind,
        until=table.get("until", ";"),
        expected=table.get("expected", 1),
        predicate=table.get("predicate", ""),
        after=table.get("after", ""),
        ends=re.compile(table.get("ends", "")),
    )
