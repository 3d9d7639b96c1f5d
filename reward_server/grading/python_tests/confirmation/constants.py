"""Decides whether all expected values of tests are written in their assertions.

If they are, the solution cannot decide what is expected by changing an argument. This is the case
if each assertion does one of three things. It compares something that it only reads with a
constant, it asks for a truth value, or it asks whether two names stand for the same object. It is
not the case if an assertion is in a condition, is in a loop over anything but constants, or is
about a name whose value was computed from more than one object. If an assertion compares a name
with a constant, the name counts as this constant in the neighbouring assertions.

If the solution empties an argument, every condition on each of its elements and on their order
holds. Such conditions do not concern answers, so the change does not decide what is expected of
answers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from reward_server.grading import syntax
from reward_server.grading.python_tests.literals import evaluated, is_literal
from reward_server.grading.syntax import FUNCTIONS, dotted, last_name

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
_WHOLE = _EQUAL - {"assertIn"}
_TRUTH = frozenset(("assertTrue", "assertFalse", "assertIsNone", "assertIsNotNone"))
_SEARCHES = frozenset(("index", "remove", "rindex"))  # these raise if they find nothing
_Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp


def expects_constants(
    tree: ast.Module,
    heard: frozenset[str],
    foreign: frozenset[str] = frozenset(),
    *,
    or_arguments: bool = False,
) -> bool:
    """Returns True if no change of an argument can change the answers that tests expect.

    Args:
        tree: the tests' text.
        heard: the names of the solution's functions and classes in it.
        foreign: other names that the tests do not define, also those of the prompt.
        or_arguments: whether assertions may also be about arguments only, although a change can
            decide these.
    """
    bodies = list(_bodies(tree.body))
    if not _PURE.isdisjoint(_bound_in(tree)):
        return False
    reading = _Reading(heard, foreign, tree if or_arguments else None, _steps(tree))
    return all(map(reading.are_fixed, bodies))


def _bodies(body: Iterable[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """Yields the statements of a text, of its functions, and of the methods of its classes."""
    own = list(body)
    inner = [one for one in own if isinstance(one, (*FUNCTIONS, ast.ClassDef))]
    yield [one for one in own if one not in inner]
    for one in inner:
        yield from _bodies(one.body)


def _bound_in(tree: ast.Module) -> Iterator[str]:
    """Yields the names that a text binds."""
    for node in syntax.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name, asname=other):
                yield other or name


def _steps(tree: ast.Module) -> frozenset[str]:
    """Returns the names that only loops bind, to constants that cannot change."""
    loops = [one for one in syntax.walk(tree) if isinstance(one, (ast.For, ast.comprehension))]
    found = [
        one.target.id
        for one in loops
        if isinstance(one.target, ast.Name) and _gives_unchanging(one.iter)
    ]
    bound = list(_bound_in(tree))
    return frozenset(name for name in found if bound.count(name) == found.count(name))


def _gives_unchanging(table: ast.expr) -> bool:
    match table:
        case ast.Call(func=ast.Name(id="range"), args=arguments, keywords=[]):
            return all(isinstance(one, ast.Constant) for one in arguments)
        case ast.List(elts=rows) | ast.Tuple(elts=rows) if is_literal(table):
            return all(_is_unchanging(evaluated(one)) for one in rows)
    return isinstance(table, ast.Constant)


def _is_unchanging(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_unchanging, value))
    return value is None or isinstance(value, (bool, int, float, complex, str, bytes))


def _answers_in(tree: ast.Module, heard: frozenset[str]) -> frozenset[str]:
    """Returns the names that may hold something of the solution, or that it defines.

    An argument of a function of the tests may be an answer, and so may its result.
    """
    bound, size = frozenset(_bound_in(tree)), -1
    names = {*heard, *(one.arg for one in syntax.walk(tree) if isinstance(one, ast.arg))} - {"self"}
    while len(names) > size:
        size = len(names)
        for node in syntax.walk(tree):
            for value, targets in _given_in(node, heard):
                if not names.isdisjoint(_names_of(value)):
                    names |= bound.intersection(targets)
    return frozenset(names)


def _given_in(node: ast.AST, heard: frozenset[str]) -> Iterator[tuple[ast.AST, Iterable[str]]]:
    """Yields the values that a binding or a call may store, with the names of the targets."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield value, [name for target in targets for name in _names_of(target)]
        case (
            ast.AnnAssign(target=target, value=ast.expr() as value)
            | ast.AugAssign(target=target, value=value)
            | ast.NamedExpr(target=target, value=value)
            | ast.For(target=target, iter=value)
            | ast.comprehension(target=target, iter=value)
            | ast.withitem(optional_vars=ast.expr() as target, context_expr=value)
        ):
            yield value, _names_of(target)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield from ((statement, [name]) for statement in node.body)
        case ast.Call(func=function) if dotted(function) not in heard:
            for given in (*node.args, *(one.value for one in node.keywords)):
                yield given, _names_of(node)


def _names_of(node: ast.AST) -> Iterator[str]:
    """Yields the names and attributes in a node, except those in positions."""
    for part in _outside_positions(node):
        match part:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield name


class _Reading:
    """Reads statements.

    Args:
        heard, foreign: see `expects_constants`.
        tree: the text if assertions may be about arguments only.
        steps: the names that stand for constants.
    """

    def __init__(
        self,
        heard: frozenset[str],
        foreign: frozenset[str],
        tree: ast.Module | None,
        steps: frozenset[str],
    ) -> None:
        self._heard, self._foreign = heard, foreign - heard
        self._pure = _PURE - heard
        self._steps, self._known = steps, frozenset[str]()
        self._answers = None if tree is None else _answers_in(tree, heard | foreign)

    def are_fixed(self, body: Sequence[ast.stmt]) -> bool:
        """Returns True if statements in sequence expect constants only."""
        before = self._known
        for run in _runs(body, self._pure):
            self._known = before | {name for one in run for name in self._compared_in(one)}
            if not all(map(self.is_fixed, run)):
                return False
        self._known = before
        return True

    def _compared_in(self, statement: ast.stmt) -> Iterator[str]:
        """Yields the names that an assertion compares with a constant."""
        match statement:
            case ast.Assert(test=ast.BoolOp(op=ast.And(), values=parts)):
                pass
            case ast.Assert(test=test):
                parts = [test]
            case ast.Expr(value=call):
                parts = [call]
            case _:
                return
        for part in parts:
            match part:
                case (
                    ast.Compare(left=ast.Name(id=name), ops=[ast.Eq()], comparators=[value])
                    | ast.Call(args=[ast.Name(id=name), value], keywords=[])
                ) if self._is_constant(value) and _is_equality(part):
                    yield name

    def is_fixed(self, statement: ast.stmt) -> bool:
        """Returns True if a statement expects constants only."""
        match statement:
            case ast.Assert(test=test):
                return self._holds_constants(test) or self._is_of_arguments(test)
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                return self._is_constant(value) or self._is_look(value)
            case ast.AugAssign(value=value):
                return self._is_constant(value)
            case ast.Expr(value=ast.Call() as call) if _method(call).startswith("assert"):
                return self._asserts_constants(call) or self._is_of_arguments(call)
            case ast.Return(value=value):
                return value is None or self._is_constant(value) or self._is_look(value)
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name), args=parts)) if (
                name in _SEARCHES
            ):
                return all(map(self._is_constant, parts))
            case ast.Expr(value=value):
                return not any(isinstance(one, _CHOICES) for one in syntax.walk(value))
            case ast.With(body=body):
                return self.are_fixed(body)
            case ast.For(iter=table, body=body, orelse=[]):
                is_plain = self._is_constant(table) or not _asserts(body)
                is_run = is_plain or self._is_of_arguments(table)
                return is_run and not _leaves(body) and self.are_fixed(body)
            case ast.While(body=body, orelse=[]):
                return not (_asserts(body) or _leaves(body)) and self.are_fixed(body)
        return isinstance(
            statement, (ast.Import, ast.ImportFrom, ast.Pass, ast.Delete, ast.AnnAssign)
        )

    def _holds_constants(self, test: ast.expr) -> bool:
        match test:
            case ast.BoolOp(op=ast.And(), values=values):
                return all(
                    self._holds_constants(one) or self._is_of_arguments(one) for one in values
                )
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

    def _is_of_arguments(self, node: ast.expr) -> bool:
        """Returns True if an expression uses no answers, except in positions."""
        if self._answers is None:
            return False
        return self._answers.isdisjoint(_names_of(node))

    def _asserts_constants(self, call: ast.Call) -> bool:
        match call:
            case ast.Call(args=[left, right], keywords=[]) if _method(call) in _EQUAL:
                return self._are_compared(left, right)
            case ast.Call(args=[value], keywords=[]) if _method(call) in _TRUTH:
                return self._holds_constants(value)
        return False

    def _is_constant(self, node: ast.expr) -> bool:
        """Returns True if an expression uses only a few built-in names and names that it binds."""
        names = [one for one in syntax.walk(node) if isinstance(one, ast.Name)]
        own = {one.id for one in names if isinstance(one.ctx, ast.Store)}
        known = own | self._pure | self._steps | self._known
        return all(one.id in known for one in names)

    def _is_look(self, node: ast.expr) -> bool:
        """Returns True if an expression reads objects separately, and combines no two of them."""
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
            case ast.Call(func=ast.Name(id=name), args=parts, keywords=[]) if name in self._foreign:
                changing = [one for one in parts if not self._is_constant(one)]
                return len(changing) <= 1 and all(map(self._is_look, changing))
            case ast.Call(func=ast.Name(id=name), args=[value], keywords=[]) if (
                name in _LOOKS & self._pure
            ):
                return self._is_look(value)
            case ast.Call(func=ast.Attribute(value=value), keywords=[]):
                return self._is_look(value) and all(map(self._is_constant, call.args))
        return False


def _runs(body: Sequence[ast.stmt], pure: frozenset[str]) -> Iterator[Sequence[ast.stmt]]:
    """Divides statements where something may change; assertions without calls stay together."""
    run = list[ast.stmt]()
    for statement in body:
        if not _only_looks(statement, pure):
            yield run
            yield [statement]
            run = []
        else:
            run.append(statement)
    yield run


def _only_looks(statement: ast.stmt, pure: frozenset[str]) -> bool:
    asserting = statement.value if isinstance(statement, ast.Expr) else None
    calls = (one for one in syntax.walk(statement) if isinstance(one, ast.Call))
    is_assertion = isinstance(statement, ast.Assert) or (
        isinstance(asserting, ast.Call) and _method(asserting).startswith("assert")
    )
    return is_assertion and all(one is asserting or dotted(one.func) in pure for one in calls)


def _outside_positions(node: ast.AST) -> Iterator[ast.AST]:
    """Yields the parts of an expression, except those that only select elements."""
    yield node
    match node:
        case ast.Subscript(value=value):
            yield from _outside_positions(value)
        case ast.Call(func=ast.Name(id="range")):
            return
        case _:
            for child in syntax.children(node):
                yield from _outside_positions(child)


def _is_equality(part: ast.expr) -> bool:
    return not isinstance(part, ast.Call) or _method(part) in _WHOLE


def _method(call: ast.Call) -> str:
    return last_name(call.func)


def _asserts(body: Iterable[ast.stmt]) -> bool:
    return any(
        isinstance(node, ast.Assert)
        or (isinstance(node, ast.Call) and _method(node).startswith("assert"))
        for statement in body
        for node in syntax.walk(statement)
    )


def _leaves(body: Iterable[ast.stmt]) -> bool:
    return any(isinstance(node, _LEAVING) for one in body for node in syntax.walk(one))
