"""Parses Python that was written by others: a text that is no Python is None, not an error."""

from __future__ import annotations

import ast
import re
import warnings

from reward_server.grading import syntax

_FENCE = re.compile(r"^```[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


def parsed(text: str) -> ast.Module | None:
    """Returns the syntax tree of a module, or None."""
    with warnings.catch_warnings(action="ignore"):
        try:
            return syntax.parse(text)
        except _UNREADABLE:
            return None


def expression(text: str) -> ast.expr | None:
    """Returns the syntax tree of one expression, or None."""
    with warnings.catch_warnings(action="ignore"):
        try:
            return syntax.parse_expression(text.strip())
        except _UNREADABLE:
            return None


def literal(node: ast.AST | None) -> tuple[object] | None:
    """Returns the value of a literal as a tuple of one, or None if the node is no literal.

    A number too long to be written is none either.
    """
    if not isinstance(node, ast.expr):
        return None
    try:
        value = ast.literal_eval(node)
        repr(value)
        return (value,)
    except (*_UNREADABLE, TypeError):
        return None


def unparsed(node: ast.AST) -> str:
    """Returns the source text of a tree; "" if it is too deep to be written."""
    try:
        return ast.unparse(node)
    except RecursionError:
        return ""


def fenced(text: str) -> str:
    """Returns the content of the first code fence, or the text itself."""
    found = _FENCE.search(text)
    return found[1] if found else text
