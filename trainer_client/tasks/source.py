"""Parses Python code in one thread at a time, without the warnings that old rows cause.

CPython counts the depth of a syntax tree in one counter for all threads, and may raise SystemError
if two threads create trees at once: https://github.com/python/cpython/issues/106905.
"""

from __future__ import annotations

import ast
import threading
import warnings

_MAKING = threading.Lock()


def parsed(code: str) -> ast.Module:
    """Parses a module.

    Raises:
        ValueError: the code is not Python.
    """
    try:
        with _MAKING, warnings.catch_warnings(action="ignore"):
            return ast.parse(code)
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"is not Python: {error}") from error


def expression(code: str) -> ast.expr:
    """Parses one expression.

    Raises:
        ValueError: the code is not Python, or more than an expression.
    """
    match parsed(code.strip()).body:
        case [ast.Expr(value=value)]:
            return value
    raise ValueError(f"{code[:80]!r} is no expression")
