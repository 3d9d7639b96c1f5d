"""Decides whether a test keeps a call's result and then checks how the call changed an argument.

`k = remove(numbers); assert numbers[:k] == [2, 3]` is LeetCode's most common form. The text
decides. Every later use of the argument must be compared with an expression that contains neither
the argument nor the result. Then no expected value depends on the solution's changes of the
argument.

What this stops: a solution that empties an argument, if the test iterates over it, takes its
length, or computes the expected value from it. Such a test sees no changes, as if it had passed a
copy.

What it does not do: it does not recognize an argument that is not a plain name, or that has several
names.
"""

from __future__ import annotations

import ast
import builtins
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import cast

Position = tuple[int, int, int, int]  # line and column of the beginning and of the end

_Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef
_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COPYING = frozenset(
    (
        *("copy", "deepcopy", "dict", "frozenset", "len", "list", "max", "min", "repr", "set"),
        *("sorted", "str", "sum", "tuple"),
    )
)
_SHOWING = _COPYING | {"Counter"}
_REMEMBERED = 256
_REORDERING = frozenset(("sort", "reverse"))
_EQUALITY = (ast.Eq, ast.NotEq)
_MEMBERSHIP = (ast.In, ast.NotIn)


def position_in(frame: FrameType) -> Position | None:
    """Returns the position of a frame's current call."""
    for number, position in enumerate(frame.f_code.co_positions()):
        if number * 2 == frame.f_lasti:
            line, end_line, column, end_column = position
            if None in position:
                return None
            return cast("Position", (line, column, end_line, end_column))
    return None


@functools.lru_cache(maxsize=_REMEMBERED)
def are_observed(
    source: str,
    position: Position,
    names: tuple[str, ...],
    nested: bool,
    heard: frozenset[str] = frozenset(),
    aliases: frozenset[str] = frozenset(),
) -> bool:
    """Returns True if a test examines arguments after a call, and computes nothing from them.

    Args:
        source: the text of the test.
        position: the position of the call in it.
        names: the names of the mutable arguments.
        nested: whether one of them contains a mutable object.
        heard: names that hold something of the solution, which may hold an argument too.
        aliases: further names that hold an argument, or lead to one.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    path = path_to(tree, position)
    if not path or not isinstance(path[-1], ast.Call):
        return False
    scope = next(node for node in reversed(path) if isinstance(node, _Scope))
    uses = (_Uses(scope, path, name, heard, nested=nested) for name in names)
    others = (_Uses(scope, path, name, heard, nested=nested) for name in aliases)
    return all(one.are_observations() for one in uses) and all(one.are_over() for one in others)


@functools.lru_cache(maxsize=_REMEMBERED)
def raises_by_itself(source: str, line: int) -> bool:
    """Returns True if a block's own statement raises, or computes with built-in functions only.

    A statement inside a condition or a loop of the block depends on earlier results.
    """
    blocks = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.With))
    statements = (statement for block in blocks for statement in block.body)
    at_line = (one for one in statements if one.lineno <= line <= (one.end_lineno or 0))
    innermost = max(at_line, key=_begin, default=None)
    if isinstance(innermost, ast.Raise):
        return True
    if not isinstance(innermost, (ast.Expr, ast.Assign)):
        return False
    names = (node.id for node in ast.walk(innermost.value) if isinstance(node, ast.Name))
    return all(hasattr(builtins, name) for name in names)


def path_to(tree: ast.Module, position: Position) -> list[ast.AST]:
    """Returns the nodes from a tree to the call at a position, outermost first."""
    path: list[ast.AST] = [tree]
    while True:
        inside = next((child for child in _children(path[-1]) if _holds(child, position)), None)
        if inside is None:
            return path if _position_of(path[-1]) == position else []
        path.append(inside)
        if _position_of(inside) == position and isinstance(inside, ast.Call):
            return path


def _children(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.expr, ast.stmt, ast.excepthandler)):
            yield child
        else:
            yield from _children(child)


def _position_of(node: ast.AST) -> Position | None:
    if not isinstance(node, (ast.expr, ast.stmt, ast.excepthandler)):
        return None
    return node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0


def _holds(node: ast.AST, position: Position) -> bool:
    own = _position_of(node)
    return own is not None and own[:2] <= position[:2] and position[2:] <= own[2:]


@dataclass(frozen=True, slots=True)
class _Use:
    """A node that reads a name, and the nodes around it, outermost first."""

    node: ast.Name
    around: tuple[ast.AST, ...]

    @property
    def statement(self) -> ast.stmt:
        """The innermost statement around it."""
        return next(node for node in reversed(self.around) if isinstance(node, ast.stmt))

    def is_in(self, node: ast.expr | None) -> bool:
        """Returns True if the use is a part of an expression."""
        return node is not None and any(part is self.node for part in ast.walk(node))


class _Uses:
    """The uses of one argument in the scope of a call."""

    def __init__(
        self,
        scope: _Scope,
        path: Sequence[ast.AST],
        name: str,
        heard: frozenset[str],
        *,
        nested: bool,
    ) -> None:
        self._scope, self._name, self._nested, self._heard = scope, name, nested, heard
        self._call = path[-1]
        assert isinstance(self._call, ast.Call)
        self._function = ast.dump(self._call.func)
        self._loops = [node for node in path if isinstance(node, (ast.For, ast.While))]
        self._statement = next(node for node in reversed(path) if isinstance(node, ast.stmt))
        self._results = _closure(scope, set(_bound_by(self._statement)) - {name}, self._call)
        self._derived = _closure(scope, {name}, self._call)

    def are_observations(self) -> bool:
        """Returns True if there are uses, and all of them are observations."""
        if _mentioned_inside(self._scope, self._name):
            return False
        uses = [use for name in self._derived for use in _uses(self._scope, name)]
        outside = [use for use in uses if self._call not in use.around]
        later = [use for use in outside if self._is_later(use.node)]
        earlier = [use for use in outside if not self._is_later(use.node)]
        observed = [use for use in later if self._is_observation(use)]
        harmless = [use for use in later if use not in observed and self._is_harmless(use)]
        return (
            bool(observed)
            and len(observed) + len(harmless) == len(later)
            and all(map(self._is_snapshot, earlier))
        )

    def are_over(self) -> bool:
        """Returns True if only the loops around the call use the value later."""
        heads = [loop.iter for loop in self._loops if isinstance(loop, ast.For)]
        uses = [use for use in _uses(self._scope, self._name) if self._call not in use.around]
        return not _mentioned_inside(self._scope, self._name) and not any(
            self._is_later(use.node) and not any(map(use.is_in, heads)) for use in uses
        )

    def _is_later(self, node: ast.expr) -> bool:
        """Returns True if code may run after the call, with the same argument."""
        if _begin(node) > _end(self._call):
            return True
        for loop in self._loops:
            if self._name in _targets(loop) or self._name in _assigned_in(loop):
                return False
            if _end(node) <= _end(loop) and _begin(node) >= _begin(loop):
                return True
        return False

    def _is_observation(self, use: _Use) -> bool:
        statement = use.statement
        if isinstance(statement, ast.Assert):
            return any(self._compares(node, use) for node in ast.walk(statement.test))
        if isinstance(statement, ast.Expr):
            return self._is_asserting(statement.value, use)
        return False

    def _is_asserting(self, node: ast.expr, use: _Use) -> bool:
        if not isinstance(node, ast.Call) or not _called(node).startswith("assert"):
            return False
        if len(node.args) > 1:
            return self._separates(node.args[:2], use)
        return any(
            self._compares(part, use) for argument in node.args for part in ast.walk(argument)
        )

    def _compares(self, node: ast.AST, use: _Use) -> bool:
        match node:
            case ast.Compare(left=left, ops=operators, comparators=others):
                kinds = tuple(map(type, operators))
                is_chain = all(kind is ast.Eq for kind in kinds)
                if is_chain or (len(kinds) == 1 and kinds[0] in (*_EQUALITY, *_MEMBERSHIP)):
                    return self._separates([left, *others], use)
            case ast.UnaryOp(op=ast.Not(), operand=ast.Name() as operand):
                return operand is use.node
        return False

    def _separates(self, sides: Sequence[ast.expr], use: _Use) -> bool:
        """Returns True if one side of a comparison has the use, and another side does not depend on
        the solution."""
        shown = any(_shows(side, use.node) for side in sides)
        return shown and not all(map(self._is_touched, sides))

    def _is_touched(self, side: ast.expr) -> bool:
        """Returns True if a side depends on the solution, except in the choice of an element."""
        touched = self._results | self._derived | self._heard
        return any(
            (isinstance(part, (ast.Name, ast.Attribute)) and ast.unparse(part) in touched)
            or (isinstance(part, ast.Call) and ast.dump(part.func) == self._function)
            for part in _beside_indices(side)
        )

    def _is_harmless(self, use: _Use) -> bool:
        """Returns True if a use cannot influence the values that a later assertion expects."""
        statement = use.statement
        if isinstance(statement, ast.Assert) and use.is_in(statement.msg):
            return True
        calls = [node for node in use.around if isinstance(node, ast.Call)]
        if calls and use.node in calls[-1].args:
            return ast.dump(calls[-1].func) == self._function or _called(calls[-1]) == "print"
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=value, attr=method))):
                return value is use.node and method in _REORDERING
            case ast.Assign(targets=[target]):
                return all(name in self._derived for name in _roots(target))
        return False

    def _is_snapshot(self, use: _Use) -> bool:
        """Returns True if an earlier use makes a copy, which the call cannot change."""
        if isinstance(use.statement, ast.Assert):
            return True
        if isinstance(use.statement, ast.For):
            return not self._nested
        for node in use.around:
            if not isinstance(node, ast.Call) or use.node not in node.args:
                continue
            if ast.dump(node.func) == self._function or _root(node.func) in self._heard:
                return True
            if _called(node) in _COPYING:
                return not self._nested or _called(node) == "deepcopy"
        match use.around[-1]:
            case ast.Subscript(slice=ast.Slice()) | ast.Attribute(attr="copy"):
                return not self._nested
        return False


# ------------------------------------------------------------------------------- small looks


def _begin(node: ast.AST) -> tuple[int, int]:
    return (_position_of(node) or (0, 0, 0, 0))[:2]


def _end(node: ast.AST) -> tuple[int, int]:
    return (_position_of(node) or (0, 0, 0, 0))[2:]


def _called(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _root(node: ast.expr) -> str:
    """Returns the name with which a chain of attributes begins."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _uses(scope: ast.AST, name: str, around: tuple[ast.AST, ...] = ()) -> Iterator[_Use]:
    for child in ast.iter_child_nodes(scope):
        if isinstance(child, ast.Name):
            if child.id == name and isinstance(child.ctx, ast.Load):
                yield _Use(child, (*around, scope))
        else:
            yield from _uses(child, name, (*around, scope))


def _mentioned_inside(scope: ast.AST, name: str) -> bool:
    """Returns True if a function or class inside a scope uses a name."""
    inner = (node for node in ast.walk(scope) if node is not scope and isinstance(node, _INNER))
    return any(
        isinstance(part, ast.Name) and part.id == name for node in inner for part in ast.walk(node)
    )


def _shows(side: ast.expr, node: ast.Name) -> bool:
    """Returns True if a side of a comparison is a name, a part of its value, or a plain function of
    it."""
    match side:
        case ast.Name():
            return side is node
        case ast.Subscript(value=value) | ast.Attribute(value=value):
            return _shows(value, node)
        case ast.Call(func=ast.Name(id=name), args=[value, *_]):
            return name in _SHOWING and _shows(value, node)
        case ast.Call(func=ast.Attribute(value=value)):
            return _shows(value, node)
    return False


def _roots(target: ast.expr) -> Iterator[str]:
    """Yields the names that an assignment binds, or whose objects it changes."""
    match target:
        case ast.Name(id=name):
            yield name
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from _roots(part)
        case ast.Starred(value=value) | ast.Subscript(value=value) | ast.Attribute(value=value):
            yield from _roots(value)


def _bound_by(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.Assign(targets=targets):
            for target in targets:
                yield from _roots(target)
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            yield from _roots(target)
    for node in ast.walk(statement):
        if isinstance(node, ast.NamedExpr):
            yield from _roots(node.target)


def _targets(loop: ast.For | ast.While) -> set[str]:
    return set(_roots(loop.target)) if isinstance(loop, ast.For) else set()


def _assigned_in(loop: ast.For | ast.While) -> set[str]:
    """Returns the names that each iteration of a loop rebinds at its beginning."""
    found: set[str] = set()
    for statement in loop.body:
        if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
            break
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


def _closure(scope: ast.AST, names: set[str], call: ast.AST) -> set[str]:
    """Returns the names, and those whose values are computed from them after a call."""
    found, grown = set(names), True
    statements = [node for node in ast.walk(scope) if isinstance(node, ast.stmt)]
    while grown:
        grown = False
        for statement in statements:
            if _begin(statement) > _end(call) and _reads(statement, found):
                new = set(_bound_by(statement)) - found
                found, grown = found | new, grown or bool(new)
    return found


def _reads(statement: ast.stmt, names: set[str]) -> bool:
    value = getattr(statement, "value", None)
    if value is None:
        return False
    return any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(value))


def _beside_indices(node: ast.AST) -> Iterator[ast.AST]:
    """Yields the nodes of an expression, except those that only choose an element."""
    yield node
    children = [node.value] if isinstance(node, ast.Subscript) else ast.iter_child_nodes(node)
    for child in children:
        yield from _beside_indices(child)
