"""Shortens large literals of numbers in trees of tests, before the rules read these trees.

A test file with a list of 1 MB has 200,000 numbers, and no rule distinguishes the seventeenth
number of a list from the sixteenth. But each rule visits each node, and some do so several times.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from reward_server.grading import syntax
from reward_server.grading.python_tests.isolation.kinds import bindings

_KEPT = 16
_DEEPEST = 4  # levels of sequences in an element; deeper ones stay, as each level is read again
_NUMBERS = (int, float, complex)  # bool is an int
_SEQUENCES = (ast.List, ast.Tuple, ast.Set)


def abridge(tree: ast.AST) -> None:
    """Removes numbers, and sequences of them, that follow many elements of a literal, in place.

    All other elements stay, so that the rules find each text, name and call of the literal. If some
    of the later elements are numbers, the first of these stays, too. A literal whose elements are
    bound to a name each stays whole, as the rules find the value of a name by its place.
    """
    waiting, whole = [tree], set[int]()
    while waiting:
        node = waiting.pop()
        for target, value in bindings(node):
            whole.update(_unpacked(target, value))
        if isinstance(node, _SEQUENCES):
            if len(node.elts) > _KEPT and id(node) not in whole:
                rest = node.elts[_KEPT:]
                node.elts[_KEPT:] = [
                    one for one, stays in zip(rest, _stay(rest), strict=True) if stays
                ]
        elif isinstance(node, ast.Dict) and len(node.keys) > _KEPT:
            _abridge_dictionary(node)
        waiting += syntax.children(node)


def _unpacked(target: ast.expr, value: ast.expr) -> Iterator[int]:
    """Yields the ids of the literals whose elements a target binds to one name each."""
    waiting = [(target, value)]
    while waiting:
        one, other = waiting.pop()
        match one, other:
            case (
                (ast.Tuple(elts=names) | ast.List(elts=names)),
                (ast.Tuple(elts=values) | ast.List(elts=values)),
            ) if len(names) == len(values):
                yield id(other)
                waiting += zip(names, values, strict=True)


def _abridge_dictionary(node: ast.Dict) -> None:
    pairs = list(zip(node.keys, node.values, strict=True))
    rest = pairs[_KEPT:]
    stay = _stay([None if key is None else _pair(key, value) for key, value in rest])
    kept = [*pairs[:_KEPT], *(one for one, stays in zip(rest, stay, strict=True) if stays)]
    node.keys[:] = [key for key, _ in kept]
    node.values[:] = [value for _, value in kept]


def _pair(key: ast.expr, value: ast.expr) -> ast.Tuple:
    return ast.Tuple(elts=[key, value], ctx=ast.Load())


def _stay(elements: Iterable[ast.expr | None]) -> Iterator[bool]:
    """Yields for each element whether it stays: it is not numeric, or the first that is."""
    is_first = True
    for one in elements:
        is_numeric = one is not None and _is_numeric(one)
        yield is_first or not is_numeric
        is_first = is_first and not is_numeric


def _is_numeric(node: ast.expr, depth: int = 0) -> bool:
    """Returns True for a number, and for a sequence of nothing but such values."""
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    if type(node) is ast.Constant:
        return isinstance(node.value, _NUMBERS)
    if not isinstance(node, _SEQUENCES) or depth == _DEEPEST:
        return False
    return all(_is_numeric(one, depth + 1) for one in node.elts)
