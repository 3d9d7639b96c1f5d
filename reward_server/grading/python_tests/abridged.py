"""Shortens large literals of numbers in trees of tests, before the rules read these trees.

A test file with a list of 1 MB has 200,000 numbers, and no rule distinguishes the seventeenth
number of a list from the sixteenth. But each rule visits each node, and some do so several times.
"""

from __future__ import annotations

import ast

from reward_server.grading import syntax

_KEPT = 16
_NUMBERS = (int, float, complex)  # bool is an int
_SEQUENCES = (ast.List, ast.Tuple, ast.Set)


def abridge(tree: ast.AST) -> None:
    """Removes numbers, and sequences of them, that follow many elements of a literal, in place.

    All other elements stay, so that the rules find each text, name and call of the literal.
    """
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, _SEQUENCES) and len(node.elts) > _KEPT:
            rest = [one for one in node.elts[_KEPT:] if not _is_numeric(one)]
            node.elts[_KEPT:] = rest
        elif isinstance(node, ast.Dict) and len(node.keys) > _KEPT:
            _abridge_dictionary(node)
        waiting += syntax.children(node)


def _abridge_dictionary(node: ast.Dict) -> None:
    pairs = list(zip(node.keys, node.values, strict=True))
    kept = [
        (key, value)
        for place, (key, value) in enumerate(pairs)
        if place < _KEPT or key is None or not (_is_numeric(key) and _is_numeric(value))
    ]
    node.keys[:] = [key for key, _ in kept]
    node.values[:] = [value for _, value in kept]


def _is_numeric(node: ast.expr) -> bool:
    """Returns True for a number, and for a sequence of nothing but such values."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, ast.UnaryOp):
            one = one.operand
        if type(one) is ast.Constant:
            if not isinstance(one.value, _NUMBERS):
                return False
        elif isinstance(one, _SEQUENCES):
            waiting += one.elts
        else:
            return False
    return True
