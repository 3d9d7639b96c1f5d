"""Why tests are SHARED: a rule of the contract, and the line and construct that breaks it."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import NoReturn

from reward_server.domain import Crossing

PAGE = "docs/reference/python-tests.md"  # explains each rule, in this order
RULES = (
    *("syntax", "names", "modules", "attributes", "arguments", "data", "literals"),
    *("handles", "identity", "stores", "raised", "classes", "frameworks"),
)
_SHOWN = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why tests are SHARED.

    Args:
        rule: one of `RULES`.
        line: where, from 1; 0 if it is no line.
        construct: what no row of the table allows.
        crossing: what the judge binds, if the request wants the tests there all the same.
    """

    rule: str
    line: int
    construct: str
    crossing: Crossing = field(default_factory=Crossing)

    def __str__(self) -> str:
        number = RULES.index(self.rule) + 1
        construct = " ".join(self.construct.split())[:_SHOWN]
        return f"line {self.line}: {construct}, by rule {number} ({self.rule}) of {PAGE}"


def crossing_of(found: Crossing | Refusal) -> Crossing:
    """Returns what the judge binds for tests that were read."""
    return replace(found.crossing, is_allowed=False) if isinstance(found, Refusal) else found


class NotAllowedError(Exception):
    """A node stands in no row."""

    def __init__(self, rule: str, node: ast.AST, construct: str) -> None:
        super().__init__(construct)
        self.refusal = Refusal(rule=rule, line=getattr(node, "lineno", 0), construct=construct)


def refuse(rule: str, node: ast.AST, construct: str | ast.AST) -> NoReturn:
    """Raises NotAllowedError.

    Args:
        rule: one of `RULES`.
        node: where.
        construct: what is refused, as a text or as its node.
    """
    text = construct if isinstance(construct, str) else ast.unparse(construct)
    raise NotAllowedError(rule, node, text)
