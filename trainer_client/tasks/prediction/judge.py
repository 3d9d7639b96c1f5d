"""Judges a predicted value. The server runs this module's text as an interactor.

The answer is the file of the third argument: a literal, a call of `f` with literals, or an
assertion that compares the two, also between [ANSWER] and [/ANSWER].
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable
from typing import Any, NoReturn

_MARKED = re.compile(r"\[ANSWER\](.*?)(?:\[/ANSWER\]|\Z)", re.DOTALL)
_FUNCTION = "f"


def judge_output(code: str, wanted: str) -> NoReturn:
    """Accepts a literal that equals the expected output."""
    _end(lambda: bool(ast.literal_eval(wanted) == ast.literal_eval(_side(_answer(), 1))))


def judge_input(code: str, wanted: str) -> NoReturn:
    """Accepts a call with literals, with which the row's function returns the expected output."""
    _end(lambda: bool(ast.literal_eval(wanted) == _called(code, _side(_answer(), 0))))


def _end(accepts: Callable[[], bool]) -> NoReturn:
    sys.stdin.readline()  # from here on, each failure is the answer's
    try:
        is_right = accepts()
    except Exception as error:  # noqa: BLE001  # the row's function may raise anything
        sys.exit(f"the answer is no literal, or has no result: {type(error).__name__}: {error}")
    sys.exit(0 if is_right else "the answer is wrong")


def _answer() -> ast.AST:
    with open(sys.argv[3], encoding="utf-8") as file:
        text = file.read()
    marked = _MARKED.findall(text)
    text = (marked[-1] if marked else text).strip().strip("`").strip()
    try:
        body = _parsed(text).body
    except SyntaxError:
        body = _parsed(text.partition("\n")[0]).body
    answers = [one for one in body if isinstance(one, ast.Assert | ast.Expr)]
    if not answers:
        raise ValueError("it is no expression")
    last = answers[-1]
    return last.test if isinstance(last, ast.Assert) else last.value


def _parsed(text: str) -> Any:
    return compile(text, "answer", "exec", ast.PyCF_ONLY_AST)


def _side(node: ast.AST, side: int) -> Any:
    """Returns the left (0) or the right (1) side of a comparison, or else the whole."""
    if isinstance(node, ast.Compare) and [type(one) for one in node.ops] == [ast.Eq]:
        return (node.left, node.comparators[0])[side]
    return node


def _called(code: str, call: Any) -> Any:
    if not isinstance(call, ast.Call) or ast.unparse(call.func) != _FUNCTION:
        raise ValueError(f"it is no call of {_FUNCTION}")
    values = [ast.literal_eval(one) for one in call.args]
    named = {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}
    names: dict[str, Any] = {}
    exec(code, names)
    return names[_FUNCTION](*values, **named)
