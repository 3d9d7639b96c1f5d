"""Finds assertions that reveal to the solution what another assertion expects of it.

`assert found.has(best)` passes a value to the solution, and `assert found.best() == best` then
expects this value. The judge has to accept the answer to the first assertion. One more copy leaves
such parts out, and there the other assertions must still hold.

What this does not find: a value that is revealed outside of an assertion, where it is an input of
the tests. It finds a constant only if it is an argument of a method with the name of a question.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from reward_server.grading import syntax
from reward_server.grading.python_tests.literals import is_literal
from reward_server.grading.syntax import dotted

_Hears = Callable[[ast.expr], bool]
_QUESTIONS = frozenset(
    (
        *("accepts", "check", "compare", "contains", "count", "equals", "exists", "find", "has"),
        *("index", "is", "match", "matches", "same", "search", "validate", "verify"),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """The parts of one assertion that reveal something.

    Args:
        parts: operands of its `and`, or its whole condition.
        is_whole: whether it has no other part.
    """

    parts: tuple[ast.expr, ...]
    is_whole: bool


def tellings_in(statements: Sequence[ast.stmt], hears: _Hears) -> list[Telling | None]:
    """Returns, for each assertion of a test, its parts that reveal what another one expects.

    Args:
        statements: the assertions.
        hears: returns True for an expression in which the solution has a part.
    """
    parts = [list(_parts(statement)) for statement in statements]
    expected = {id(part): set(_expected(part, hears)) for row in parts for part in row}
    return [_telling(row, expected, hears) for row in parts]


def _telling(
    row: Sequence[ast.expr], expected: dict[int, set[str]], hears: _Hears
) -> Telling | None:
    found = [
        part
        for part in row
        if (told := set(_told(part, hears)))
        and any(told & values for number, values in expected.items() if number != id(part))
    ]
    return Telling(parts=tuple(found), is_whole=len(found) == len(row)) if found else None


def _parts(statement: ast.stmt) -> Iterator[ast.expr]:
    match statement:
        case ast.Assert(test=ast.BoolOp(op=ast.And(), values=values)):
            yield from values
        case ast.Assert(test=test):
            yield test
        case ast.Expr(value=value):
            yield value


def _told(part: ast.expr, hears: _Hears) -> Iterator[str]:
    """Yields the texts of the values that are revealed to the solution."""
    for node in syntax.walk(part):
        match node:
            case ast.Call(func=function, args=arguments, keywords=keywords) if hears(function):
                is_question = _first_word(function) in _QUESTIONS
                for value in (*arguments, *(keyword.value for keyword in keywords)):
                    if not hears(value) and (is_question or not is_literal(value)):
                        yield ast.dump(value)
            case ast.Subscript(value=owner, slice=key) if hears(owner):
                if not hears(key) and not is_literal(key):
                    yield ast.dump(key)


def _expected(part: ast.expr, hears: _Hears) -> Iterator[str]:
    """Yields the expressions of a part, except those that are revealed to the solution."""
    if not hears(part):
        return
    waiting: list[ast.AST] = [part]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.expr) and not hears(node):
            yield ast.dump(node)
        if isinstance(node, ast.Call) and hears(node.func):
            waiting.append(node.func)
        elif isinstance(node, ast.Subscript) and hears(node.value):
            waiting.append(node.value)
        else:
            waiting += syntax.children(node)


def _first_word(function: ast.expr) -> str:
    name = function.attr if isinstance(function, ast.Attribute) else dotted(function)
    return name.strip("_").partition("_")[0]
