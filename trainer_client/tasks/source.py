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
    except SyntaxError as error:
        raise ValueError(f"is not Python: {plainly(error.msg)} (line {error.lineno})") from error
    except (RecursionError, MemoryError):
        raise ValueError("is not Python: it is nested too deeply") from None
    except ValueError:
        raise ValueError("is not Python: it holds characters that no program has") from None


def plainly(problem: str) -> str:
    """Returns what is wrong with a text, without Python's advice for long integers."""
    return "an integer has more than 4,300 digits" if "integer string" in problem else problem


def expression(code: str) -> ast.expr:
    """Parses one expression.

    Raises:
        ValueError: the code is not Python, or more than an expression.
    """
    match parsed(code.strip()).body:
        case [ast.Expr(value=value)]:
            return value
    raise ValueError(f"{code[:80]!r} is no expression")
