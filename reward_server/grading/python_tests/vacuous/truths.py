"""Says of conditions in tests whether they hold for every answer of a solution."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence

from reward_server.grading.python_tests.literals import evaluated, is_literal
from reward_server.grading.python_tests.vacuous.bindings import Bindings

_UNKNOWN = object()
_COMPARISONS: Mapping[type[ast.cmpop], Callable[..., object]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: lambda one, other: one is other or (type(one) is type(other) and one == other),
    ast.IsNot: lambda one, other: one is not other,
    ast.In: lambda one, other: one in other,
    ast.NotIn: lambda one, other: one not in other,
}
_ARITHMETIC: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
_FOLDED: Mapping[str, Callable[..., object]] = {
    "len": len,
    "abs": abs,
    "bool": bool,
    "sum": sum,
    "sorted": sorted,
}
# unittest's assertions as comparisons of their first two arguments.
_ASSERTED: Mapping[str, type[ast.cmpop]] = {
    "assertEqual": ast.Eq,
    "assertNotEqual": ast.NotEq,
    "assertIs": ast.Is,
    "assertIsNot": ast.IsNot,
    "assertIn": ast.In,
    "assertNotIn": ast.NotIn,
    "assertGreater": ast.Gt,
    "assertGreaterEqual": ast.GtE,
    "assertLess": ast.Lt,
    "assertLessEqual": ast.LtE,
}


class Truths:
    """Conditions of one text.

    Args:
        bindings: its names.
        functions: the names of functions and classes of the solution.
    """

    def __init__(self, bindings: Bindings, functions: frozenset[str]) -> None:
        self._bindings = bindings
        self._functions = functions

    def of(self, node: ast.expr) -> bool | None:
        """Returns whether a condition holds; None if it may depend on an answer."""
        match node:
            case ast.GeneratorExp() | ast.Lambda():
                return True
            case ast.JoinedStr(values=parts) if any(isinstance(p, ast.Constant) for p in parts):
                return True
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
                is_certain = not parts or any(not isinstance(p, ast.Starred) for p in parts)
                return bool(parts) if is_certain else None
            case ast.Dict(keys=keys) if not keys or any(keys):
                return bool(keys)
            case ast.BoolOp(op=kind, values=values):
                return self._of_many(values, ends=isinstance(kind, ast.Or))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                truth = self.of(operand)
                return None if truth is None else not truth
            case ast.NamedExpr(value=value):
                return self.of(value)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                truth = self.of(test)
                return None if truth is None else self.of(body if truth else orelse)
        return self._of_function(node) or self._of_value(node)

    def of_assertion(self, name: str, arguments: Sequence[ast.expr]) -> bool | None:
        """Returns whether an assertion of unittest holds; None if it may depend on an answer."""
        nothing = ast.Constant(value=None)
        match name, arguments:
            case "assertTrue", [one, *_]:
                return self.of(one)
            case "assertFalse", [one, *_]:
                return self.of(ast.UnaryOp(op=ast.Not(), operand=one))
            case "assertIsNotNone", [one, *_]:
                return self.of(one) or self.of(_comparison(one, ast.IsNot, nothing))
            case "assertIsNone", [one, *_]:
                return self.of(_comparison(one, ast.Is, nothing))
            case _, [one, other, *_] if name in _ASSERTED:
                return self.of(_comparison(one, _ASSERTED[name], other))
        return None

    def is_empty(self, node: ast.expr) -> bool:
        """Returns True if a loop over an expression has no rounds."""
        match node:
            case ast.Call(func=ast.Name(id="range"), args=[one], keywords=[]):
                limit = self.value(one)
                return isinstance(limit, int) and limit <= 0
        value = self.value(node)
        return isinstance(value, (list, tuple, dict, set, str)) and not value

    def value(self, node: ast.expr) -> object:
        """Returns the value of an expression that no answer is part of, if it is a simple one."""
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                only = self._bindings.only_value(name)
                return _UNKNOWN if only is None or not is_literal(only) else evaluated(only)
            case ast.Compare(left=left, ops=kinds, comparators=others):
                return self._compared(left, kinds, others)
            case ast.BinOp(left=left, op=kind, right=right) if type(kind) in _ARITHMETIC:
                return self._computed(kind, self.value(left), self.value(right))
            case ast.Call(func=ast.Name(id=name), args=[one], keywords=[]) if name in _FOLDED:
                given = _UNKNOWN if self._bindings.of(name) else self.value(one)
                return _UNKNOWN if given is _UNKNOWN else _tried(_FOLDED[name], given)
        return evaluated(node) if is_literal(node) else _UNKNOWN

    def _of_many(self, values: Sequence[ast.expr], *, ends: bool) -> bool | None:
        """Returns the truth of a disjunction, which True ends, or of a conjunction."""
        truths = [self.of(one) for one in values]
        if ends in truths:
            return ends
        return None if None in truths else not ends

    def _of_function(self, node: ast.expr) -> bool | None:
        """Returns True for conditions that only ask whether a function is there."""
        match node:
            case ast.Name(id=name):
                return True if self._is_function(name) else None
            case ast.Compare(left=ast.Name(id=name), ops=[ast.IsNot()], comparators=[other]):
                is_none = isinstance(other, ast.Constant) and other.value is None
                return True if is_none and self._is_function(name) else None
            case ast.Call(func=ast.Name(id="callable"), args=[ast.Name(id=name)]):
                return True if self._is_function(name) else None
        return None

    def _is_function(self, name: str) -> bool:
        places = self._bindings.of(name)
        is_own = len(places) == 1 and places[0].definition is not None
        return is_own or name in self._functions

    def _of_value(self, node: ast.expr) -> bool | None:
        value = self.value(node)
        return None if value is _UNKNOWN else bool(value)

    def _compared(
        self, left: ast.expr, kinds: Sequence[ast.cmpop], others: Sequence[ast.expr]
    ) -> object:
        values = [self.value(one) for one in (left, *others)]
        if any(value is _UNKNOWN for value in values):
            return _UNKNOWN
        pairs = zip(values[:-1], kinds, values[1:], strict=True)
        found = [_tried(_COMPARISONS[type(kind)], one, other) for one, kind, other in pairs]
        return _UNKNOWN if any(one is _UNKNOWN for one in found) else all(found)

    @staticmethod
    def _computed(kind: ast.operator, left: object, right: object) -> object:
        if isinstance(left, (int, float)) and isinstance(right, (int, float)):
            return _tried(_ARITHMETIC[type(kind)], left, right)
        return _UNKNOWN


def _tried(compute: Callable[..., object], *values: object) -> object:
    try:
        return compute(*values)
    except (TypeError, ValueError, ArithmeticError):
        return _UNKNOWN


def _comparison(left: ast.expr, kind: type[ast.cmpop], right: ast.expr) -> ast.Compare:
    return ast.Compare(left=left, ops=[kind()], comparators=[right])
