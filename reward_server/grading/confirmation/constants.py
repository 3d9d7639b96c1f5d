"""Whether all that a text of tests expects is written in its assertions.

What a solution does to an argument can then decide nothing about what is expected of it: each
assertion compares something that it only looks at with a constant, asks for a truth, or whether two
names mean one thing. Assertions in conditions, in loops over anything but constants, or of what a
name holds that was computed of more than one thing, are none of these.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from reward_server.grading.suites import dotted

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOKS = frozenset(
    (
        *("bool", "dict", "frozenset", "len", "list", "max", "min", "repr", "set", "sorted"),
        *("str", "sum", "tuple", "type"),
    )
)
_PURE = _LOOKS | {"abs", "bytearray", "bytes", "complex", "float", "int", "range", "round"}
_CHOICES = (ast.If, ast.IfExp, ast.Match, ast.Try, ast.Lambda, ast.ClassDef)
_LEAVING = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom)
_EQUAL = frozenset(("assertEqual", "assertListEqual", "assertDictEqual", "assertIn", "assertIs"))
_TRUTH = frozenset(("assertTrue", "assertFalse", "assertIsNone", "assertIsNotNone"))
_Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp


def expects_constants(tree: ast.Module, heard: frozenset[str]) -> bool:
    """Returns True if no change of an argument decides what tests expect.

    Args:
        tree: the tests' text.
        heard: names by which it knows the solution's functions and classes.
    """
    reading, bodies = _Reading(heard), list(_bodies(tree.body))
    if not _PURE.isdisjoint(_bound_in(tree)):
        return False
    return all(reading.is_fixed(statement) for body in bodies for statement in body)


def _bodies(body: Iterable[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """Gives a text's own statements, and those of its functions and of its classes' methods."""
    own = list(body)
    inner = [one for one in own if isinstance(one, (*_FUNCTIONS, ast.ClassDef))]
    yield [one for one in own if one not in inner]
    for one in inner:
        yield from _bodies(one.body)


def _bound_in(tree: ast.Module) -> Iterator[str]:
    """Gives the names that a text gives a meaning of its own."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name, asname=other):
                yield other or name


class _Reading:
    """Reads statements; see `expects_constants`."""

    def __init__(self, heard: frozenset[str]) -> None:
        self._heard = heard
        self._pure = _PURE - heard

    def is_fixed(self, statement: ast.stmt) -> bool:
        """Returns True if a statement expects nothing but constants."""
        match statement:
            case ast.Assert(test=test):
                return self._holds_constants(test)
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                return self._is_constant(value) or self._is_look(value)
            case ast.AugAssign(value=value):
                return self._is_constant(value)
            case ast.Expr(value=ast.Call() as call) if _method(call).startswith("assert"):
                return self._asserts_constants(call)
            case ast.Return(value=value):
                return value is None or self._is_constant(value) or self._is_look(value)
            case ast.Expr(value=value):
                return not any(isinstance(one, _CHOICES) for one in ast.walk(value))
            case ast.With(body=body):
                return all(map(self.is_fixed, body))
            case ast.For(iter=table, body=body, orelse=[]):
                is_plain = self._is_constant(table) or not _asserts(body)
                return is_plain and not _leaves(body) and all(map(self.is_fixed, body))
            case ast.While(body=body, orelse=[]):
                return not (_asserts(body) or _leaves(body)) and all(map(self.is_fixed, body))
        return isinstance(
            statement, (ast.Import, ast.ImportFrom, ast.Pass, ast.Delete, ast.AnnAssign)
        )

    def _holds_constants(self, test: ast.expr) -> bool:
        match test:
            case ast.BoolOp(op=ast.And(), values=values):
                return all(map(self._holds_constants, values))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._is_look(operand)
            case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot()], comparators=[right]):
                return self._is_look(left) and self._is_look(right)
            case ast.Compare(left=left, comparators=[right]):
                return self._are_compared(left, right)
        return self._is_look(test)

    def _are_compared(self, left: ast.expr, right: ast.expr) -> bool:
        pairs = ((left, right), (right, left))
        return any(self._is_constant(one) and self._is_look(other) for one, other in pairs)

    def _asserts_constants(self, call: ast.Call) -> bool:
        match call:
            case ast.Call(args=[left, right], keywords=[]) if _method(call) in _EQUAL:
                return self._are_compared(left, right)
            case ast.Call(args=[value], keywords=[]) if _method(call) in _TRUTH:
                return self._holds_constants(value)
        return False

    def _is_constant(self, node: ast.expr) -> bool:
        """Returns True if an expression mentions nothing but a few built-in names and its own."""
        names = [one for one in ast.walk(node) if isinstance(one, ast.Name)]
        own = {one.id for one in names if isinstance(one.ctx, ast.Store)}
        return all(one.id in own | self._pure for one in names)

    def _is_look(self, node: ast.expr) -> bool:
        """Returns True if an expression shows things one by one, and computes of no two of them."""
        match node:
            case ast.Constant() | ast.Name():
                return True
            case ast.Attribute(value=value) | ast.UnaryOp(operand=value):
                return self._is_look(value)
            case ast.Subscript(value=value, slice=ast.Slice(lower=low, upper=high, step=step)):
                return all(self._is_look(one) for one in (value, low, high, step) if one)
            case ast.Subscript(value=value, slice=index):
                return self._is_look(value) and self._is_look(index)
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return all(map(self._is_look, parts))
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                return self._is_look_each(node)
            case ast.Call():
                return self._is_look_by_call(node)
        return False

    def _is_look_each(self, node: _Comprehension) -> bool:
        return self._is_look(node.elt) and all(
            not one.ifs and (self._is_constant(one.iter) or self._is_look(one.iter))
            for one in node.generators
        )

    def _is_look_by_call(self, call: ast.Call) -> bool:
        match call:
            case ast.Call(func=ast.Name(id=name)) if name in self._heard:
                return True
            case ast.Call(func=ast.Name(id=name), args=[value], keywords=[]) if (
                name in _LOOKS & self._pure
            ):
                return self._is_look(value)
            case ast.Call(func=ast.Attribute(value=value), keywords=[]):
                return self._is_look(value) and all(map(self._is_constant, call.args))
        return False


def _method(call: ast.Call) -> str:
    return dotted(call.func).rpartition(".")[2]


def _asserts(body: Iterable[ast.stmt]) -> bool:
    return any(
        isinstance(node, ast.Assert)
        or (isinstance(node, ast.Call) and _method(node).startswith("assert"))
        for statement in body
        for node in ast.walk(statement)
    )


def _leaves(body: Iterable[ast.stmt]) -> bool:
    return any(isinstance(node, _LEAVING) for one in body for node in ast.walk(one))
