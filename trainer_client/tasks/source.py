"""Parses Python code: quietly, since old rows are full of warnings, in one thread at a time.

CPython counts how deep it is in the tree that it makes once for all threads, and so may raise
SystemError where two make trees at once: https://github.com/python/cpython/issues/106905.
"""

from __future__ import annotations

import ast
import threading
import warnings

_MAKING = threading.Lock()


def parsed(code: str) -> ast.Module:
    """Parses a module.

    Raises:
        ValueError: it is not Python.
    """
    try:
        with _MAKING, warnings.catch_warnings(action="ignore"):
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
