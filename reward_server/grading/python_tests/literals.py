"""Reads literals in tests: their values and leaves, other values, and what prompts show."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from typing import cast

from reward_server.grading import syntax

_VALUES = (bool, int, float, complex, str, bytes, list, tuple, dict, set, type(None))
_NOTHING = object()


def evaluated(node: ast.AST) -> object:
    """Returns the value of a literal; a special object for other expressions."""
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return _NOTHING


def is_literal(node: ast.AST) -> bool:
    """Returns True if an expression is a literal of plain data."""
    return isinstance(evaluated(node), _VALUES)


def has_repetition(node: ast.AST) -> bool:
    """Returns True if a literal has the same element of a set, or the same key, twice."""
    for part in syntax.walk(node):
        match part:
            case ast.Set(elts=written) | ast.Dict(keys=written):
                values = [evaluated(one) for one in written if one is not None]
                if len(set(values)) < len(values):
                    return True
    return False


def shape_of(value: object) -> object:
    """Returns the lengths of nested lists; they are the same for equal arrays."""
    if isinstance(value, (list, tuple)):
        return [shape_of(one) for one in value]
    if isinstance(value, dict):
        return {key: shape_of(one) for key, one in value.items()}
    return None


def kind_of(value: object) -> str:
    """Returns the name of a value's type; for a list, also those of its elements."""
    if isinstance(value, (list, tuple, set)) and value:
        return f"{type(value).__name__} of {type(next(iter(value))).__name__}"
    return type(value).__name__


def differs(value: object, other: object, *, far: bool) -> bool:
    """Returns True if no answer that equals one value, or is near it, equals the other."""
    if value == other or _counted(value) == _counted(other):
        return False
    if far:
        # Arrays of unequal shapes are broadcast.
        return shape_of(value) == shape_of(other) and any(
            abs(a - b) > 2 + 0.6 * max(abs(a), abs(b))
            for a, b in zip(_numbers(value), _numbers(other), strict=True)
        )
    return True


def _counted(value: object) -> object:
    """Returns a list in a fixed order, since assertCountEqual ignores the order."""
    if isinstance(value, (list, tuple)):
        return Counter(map(repr, value))
    return value


def _numbers(value: object) -> list[complex]:
    if isinstance(value, (bool, int, float, complex)):
        return [value]
    if isinstance(value, (list, tuple)):
        return [number for element in value for number in _numbers(element)]
    if isinstance(value, dict):
        return [number for element in value.values() for number in _numbers(element)]
    return []


def leaves(node: ast.AST) -> list[ast.expr]:
    """Returns the smallest parts of a literal; changing one of them makes another value.

    The leaves of a call are those of its arguments.
    """
    match node:
        case ast.Call(args=arguments, keywords=keywords) if not is_literal(node):
            return [
                leaf
                for part in (*arguments, *(keyword.value for keyword in keywords))
                for leaf in leaves(part)
            ]
        case ast.expr():
            return _leaves_of_literal(node)
    return []


def _leaves_of_literal(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
            parts = list(elements)
        case ast.Dict(keys=keys, values=values):
            parts = [part for part in (*keys, *values) if part is not None]
        case _:
            return [node]
    return [leaf for part in parts for leaf in _leaves_of_literal(part)] or [node]


def with_leaf(node: ast.expr, number: int, leaf: ast.expr) -> ast.expr:
    """Returns a copy of a literal with one leaf exchanged."""
    fresh = copy.deepcopy(node)
    old = leaves(fresh)[number]
    return cast("ast.expr", _Exchange(old, leaf).visit(fresh))


class _Exchange(ast.NodeTransformer):
    """Replaces one node by another."""

    def __init__(self, old: ast.AST, new: ast.expr) -> None:
        self._old = old
        self._new = new

    def visit(self, node: ast.AST) -> ast.AST:
        return self._new if node is self._old else self.generic_visit(node)


def literal(value: object) -> ast.expr:
    """Returns an expression for a value of plain data."""
    if isinstance(value, set) and not value:
        return syntax.parse_expression("set()")
    return syntax.parse_expression(repr(value))
