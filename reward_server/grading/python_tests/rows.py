"""Counts the rows of a parametrised test, by its text."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence

from reward_server.grading import syntax
from reward_server.grading.python_tests.literals import evaluated
from reward_server.grading.syntax import dotted, without_call

_SAME_LENGTH = frozenset(("list", "tuple", "sorted", "reversed", "enumerate"))
_MOST_ROWS = 20_000


def rows_of_marks(marks: Sequence[ast.expr], tree: ast.Module) -> int | None:
    """Returns how often a test with these decorators runs; None if the text does not say."""
    counts = [_rows_of(mark, tree) for mark in marks if "parametrize" in dotted(without_call(mark))]
    known = [count for count in counts if count]  # pytest skips a test without rows
    return math.prod(known) if len(known) == len(counts) else None


def table_of(node: ast.expr, tree: ast.Module, *, most_uses: int = 1000) -> ast.expr:
    """Returns the table to which a name refers, if the module binds it once and never changes it.

    Args:
        node: any expression; one that is no such name is returned as it is.
        tree: the module.
        most_uses: how often the table may be used in it.
    """
    if not isinstance(node, ast.Name):
        return node
    named = [one for one in syntax.walk(tree) if isinstance(one, ast.Name) and one.id == node.id]
    values = [
        statement.value
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        and [dotted(target) for target in statement.targets] == [node.id]
    ]
    read = sum(isinstance(one.ctx, ast.Load) for one in named)
    plain = read == len(named) - 1 == _plain_uses(node.id, tree)
    if len(values) == 1 and plain and read <= most_uses:
        return values[0]
    return node


def _rows_of(mark: ast.expr, tree: ast.Module) -> int | None:
    if not isinstance(mark, ast.Call):
        return None
    given = {keyword.arg: keyword.value for keyword in mark.keywords}
    rows = mark.args[1] if len(mark.args) > 1 else given.get("argvalues")
    if rows is None or None in given:
        return None
    return count_of(rows, tree)


def count_of(node: ast.expr, tree: ast.Module) -> int | None:
    """Returns how many elements an expression has; None if the text does not say."""
    node = table_of(node, tree)
    match node:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            starred = any(isinstance(one, ast.Starred) for one in elements)
            return None if starred else len(elements)
        case ast.Constant(value=str(text)):
            return len(text)
        case ast.Call(func=ast.Name(id="range"), args=arguments, keywords=[]):
            return _length_of_range([evaluated(one) for one in arguments])
        case ast.Call(func=ast.Name(id=name), args=[one]) if name in _SAME_LENGTH:
            return count_of(one, tree)
        case ast.ListComp(generators=[ast.comprehension(iter=source, ifs=[])]):
            return count_of(source, tree)
    return None


def _length_of_range(bounds: Sequence[object]) -> int | None:
    numbers = [bound for bound in bounds if type(bound) is int]
    if len(numbers) != len(bounds) or not 1 <= len(numbers) <= 3 or numbers[2:] == [0]:
        return None
    return min(len(range(*numbers)), _MOST_ROWS + 1)


def _plain_uses(name: str, tree: ast.Module) -> int:
    """Counts the uses of a table that do not change it: as rows of a test, and in loops."""
    found = 0
    for node in syntax.walk(tree):
        places: list[ast.expr] = []
        match node:
            case ast.Call(func=function, args=arguments) if "parametrize" in dotted(function):
                places = [*arguments[1:], *(keyword.value for keyword in node.keywords)]
            case ast.Call(func=ast.Name(id=called), args=arguments) if (
                called in _SAME_LENGTH or called == "len"
            ):
                places = arguments
            case ast.For(iter=source) | ast.comprehension(iter=source):
                places = [source]
        found += sum(isinstance(place, ast.Name) and place.id == name for place in places)
    return found
