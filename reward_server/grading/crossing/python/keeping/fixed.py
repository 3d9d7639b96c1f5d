"""Which variables of tests hold nothing that can be changed."""

from __future__ import annotations

import ast

from reward_server.grading.crossing import allowed
from reward_server.grading.crossing.python.kinds import Kinds
from reward_server.grading.crossing.python.scopes import Bound, Kind

Key = tuple[int, str]  # of a variable: its scope, and its name
_FUNCTIONS = frozenset(
    (
        *("len", "str", "repr", "int", "float", "bool", "abs", "hash", "ord", "chr", "range"),
        *("isinstance", "hasattr", "type", "all", "any"),
    )
)
_TIMES = frozenset(("strftime", "isoformat"))
_TEXTS = frozenset(("format", "join"))


class Fixed:
    """Variables, and whether what they hold can be changed.

    Args:
        text: the tests.
    """

    def __init__(self, text: Kinds) -> None:
        self.text = text
        self._looking: set[tuple[Key, bool]] = set()

    def key(self, node: ast.AST) -> Key | None:
        """Returns what identifies a variable of the tests, or an attribute of `self`."""
        match node:
            case ast.Name(id=name) if not self.text.origin(node):
                found = self.text.find(node)
                return (id(found[0]), name) if found else None
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in allowed.FIXTURES:
                return id(self.text.class_of(self.text.scope_of(node))), f"self.{name}"
        return None

    def values(self, node: ast.AST) -> list[Bound]:
        """Returns what a variable is bound to."""
        match node:
            case ast.Name():
                found = self.text.find(node)
                return found[1] if found else []
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in allowed.FIXTURES:
                return self.text.class_of(self.text.scope_of(node)).bound.get(f"self.{name}", [])
        return []

    def is_fixed(self, node: Bound, *, items: bool = False) -> bool:
        """Returns True for a value that nothing can change, or whose items are such values."""
        if isinstance(node, (Kind, str)):
            return node in (Kind.DATA, Kind.RAISED)
        key = self.key(node)
        if key is None:
            return self._has_fixed_items(node) if items else self._is_fixed(node)
        if (key, items) in self._looking:
            return True
        self._looking.add((key, items))
        found = self.values(node)
        is_fixed = bool(found) and all(self.is_fixed(one, items=items) for one in found)
        self._looking.discard((key, items))
        return is_fixed

    def _has_fixed_items(self, node: ast.AST) -> bool:
        match node:
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                return all(map(self.is_fixed, items))
        return self._is_fixed(node)

    def _is_fixed(self, node: ast.AST) -> bool:
        match node:
            case ast.Constant() | ast.Compare() | ast.JoinedStr() | ast.UnaryOp(op=ast.Not()):
                return True
            case ast.UnaryOp(operand=one):
                return self.is_fixed(one)
            case ast.Tuple(elts=items):
                return all(map(self.is_fixed, items))
            case ast.Starred(value=one):
                return self.is_fixed(one, items=True)
            case ast.BinOp(left=left, right=right):
                sides = [self.is_fixed(left), self.is_fixed(right)]
                return all(sides) or (any(sides) and not isinstance(node.op, ast.Mult))
            case ast.Call(func=ast.Attribute(value=ast.Constant(), attr=name)) if name in _TEXTS:
                return True
            case ast.Call(func=ast.Attribute(value=one, attr=name)) if name in _TIMES:
                return self.text.kind(one) is Kind.DATA
            case ast.Call(func=function):
                return self.text.listed(function) in _FUNCTIONS
        return False
