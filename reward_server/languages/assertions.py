r"""The assertions of a language: the table [program.assertions], by which tests are rewritten.

An assertion of a test program is replaced by code that writes whether it held; see `rewriting`. The
keys of the table:

comments, strings, chars   regular expressions of comments, strings and characters, each of which is
                           one token
equals                     operators that compare
comparers                  regular expression of functions `F(actual, expected)` that compare
orders                     regular expression of functions that return 0 for equal values
methods                    names of methods `actual.F(expected)` that compare
absolutes                  functions that return the absolute value of a number
containers                 regular expression of the constructors and conversions that an expected
                           value may contain, besides literals and brackets
tuples                     whether values in round brackets are a tuple. If not, a comma there is an
                           operator
constants                  words that are literals and have no opposite
opposites                  pairs of literals that are opposites of each other
negation                   code that negates {predicate}; "!({predicate})" if absent
name                       name for the actual value, with {secret}; "{secret}v" if absent
capture                    code that gives the value {actual} the name {name}
observation                code that writes the line {held} if {predicate} holds, and otherwise the
                           line {missed}
separator                  text between observations; "; " if absent
statement                  code of {capture} and {observations} that replaces an assertion
expression                 code of {capture} and {observations} that replaces the condition of a
                           statement and has the value false; absent if this is impossible
named_in_expressions       whether an `expression` can contain {capture}
alternatives               if not: text between several observations in an `expression`, whose
                           actual value has a name already; absent if only one is possible
immediate                  words of code that cannot be computed later, as in the predicates of the
                           kinds "equal" and "call"
unwatched                  regular expression of the beginning of code whose assertions may fail or
                           may not be reached. If it ends with an opening bracket, the code is what
                           the brackets hold; otherwise it is what the expression finds. Strings and
                           comments are blank in the text; absent if there is no such code
helpers                    regular expression of the beginning of functions. If `unwatched` finds
                           anything, all functions for which the group "test" is empty count as
                           unwatched too, since that code may call them

The keys of each form of assertions, a table [[program.assertions.forms]]:

head                       regular expression of the beginning of an assertion. If it ends with an
                           opening bracket, the assertion ends with the closing one. Otherwise it
                           ends with the next semicolon, or with the line if `until = "line"`
kind                       "condition": must hold.
                           "failure": a condition that must not hold; only the condition is
                           replaced.
                           "equal": two values. The second is the expected one, or the first if
                           `expected = 0`. `predicate` compares them; it has {actual}, {expected},
                           {call} (the function that was called) and {rest} (its further arguments).
                           "call": `predicate` has {call} and {arguments}, or the first two
                           arguments, {0} and {1}.
                           "list": conditions that must all hold.
                           {method} is the last part of the function's name
after                      regular expression of the text that must follow. In it, \1 is the first
                           group of the head. After a list, this text is a part of the assertion
ends                       regular expression of text after the assertion that is a part of it
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
        ValueError: a form has an unknown kind, or lacks a key that its kind needs.
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
