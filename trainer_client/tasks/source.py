"""Parses the Python code in rows, quietly: old code is full of harmless warnings."""

from __future__ import annotations

import ast
import warnings


def parsed(code: str) -> ast.Module:
    """Parses a module.

    Raises:
        ValueError: it is not Python.
    """
    try:
        with warnings.catch_warnings(action="ignore"):
            return ast.parse(code)
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"is not Python: {error}") from error


def expression(code: str) -> ast.expr:
    """Parses one expression.

    Raises:
        ValueError: it is not Python, or more than an expression.
    """
    match parsed(code.strip()).body:
        case [ast.Expr(value=value)]:
            return value
    raise ValueError(f"{code[:80]!r} is no expression")
