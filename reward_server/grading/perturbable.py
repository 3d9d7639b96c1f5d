"""Finds what can be made wrong in tests' text: where a change makes a test fail for certain."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from reward_server.grading.assertions import (
    EQUALITIES,
    NEAR,
    RAISES,
    TURNED,
    is_near,
    is_small,
    only_asserts,
    other_exceptions,
    uses_results,
)
from reward_server.grading.python_literals import evaluated, is_literal
from reward_server.grading.suites import dotted

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_HARMLESS_BLOCKS = frozenset(
    (
        *("subTest", "patch", "object", "dict", "redirect_stdout", "redirect_stderr", "open"),
        *("TemporaryDirectory", "NamedTemporaryFile", "catch_warnings", "context"),
    )
)


@dataclass(frozen=True, slots=True, order=True)
class Unit:
    """Something that can be made to fail by itself.

    Args:
        test: name of the test, without parameters.
        row: which of its parameter sets, None for all.
        rows: how many sets there are, where one is meant.
    """

    test: str
    row: int | None = None
    rows: int = 0


@dataclass(frozen=True, slots=True)
class Site:
    """A place whose change makes a unit fail: where in which file, and what kind of change.

    `kind` is "value", "far" (a value with a tolerance), "turn" or "class"; `number` counts the
    nodes of the file's tree.
    """

    path: str
    number: int
    kind: str


class Finder:
    """Finds what can be perturbed."""

    def __init__(
        self,
        trees: Mapping[str, ast.Module],
        nodes: Mapping[str, Sequence[ast.AST]],
        is_told: Callable[[object], bool],
    ) -> None:
        self._trees = trees
        self._numbers = {
            id(node): (path, number) for path in nodes for number, node in enumerate(nodes[path])
        }
        self.is_told = is_told
        self.told: set[str] = set()
        everything = [node for path in nodes for node in nodes[path]]
        self._defined = Counter(
            node.name for node in everything if isinstance(node, (*_FUNCTIONS, ast.ClassDef))
        )
        self._bases = {
            dotted(base).rpartition(".")[2]
            for node in everything
            if isinstance(node, ast.ClassDef)
            for base in node.bases
        }

    def sites(self) -> Iterator[tuple[Unit, Site]]:
        """Gives each unit with a place that makes it fail."""
        for path, tree in self._trees.items():
            for name, function in self._tests(tree):
                test = _Test(self, function)
                found = list(test.sites())
                if not found and test.is_told:
                    self.told.add(f"{path}::{name}")
                for row, rows, site in found:
                    yield Unit(f"{path}::{name}", row, rows), site

    def _tests(self, tree: ast.Module) -> Iterator[tuple[str, _Function]]:
        for node in tree.body:
            if isinstance(node, _FUNCTIONS):
                if self._is_test(node, tree.body):
                    yield node.name, node
            elif isinstance(node, ast.ClassDef) and self._is_plain_class(node):
                for method in node.body:
                    if isinstance(method, _FUNCTIONS) and self._is_test(method, node.body):
                        yield f"{node.name}::{method.name}", method

    def _is_plain_class(self, node: ast.ClassDef) -> bool:
        """Tells whether a class holds tests of its own alone: nobody inherits, or hands down."""
        bases = [dotted(base) for base in node.bases]
        return (
            self._defined[node.name] == 1
            and node.name not in self._bases
            and all(base.endswith("TestCase") or base == "object" for base in bases)
            and all(_is_harmless_decorator(one) for one in node.decorator_list)
        )

    def _is_test(self, function: _Function, siblings: Sequence[ast.stmt]) -> bool:
        alike = [
            one for one in siblings if isinstance(one, _FUNCTIONS) and one.name == function.name
        ]
        return (
            function.name.startswith("test")
            and len(alike) == 1
            and all(_is_harmless_decorator(one) for one in function.decorator_list)
        )

    def overrides(self, name: str) -> bool:
        """Tells whether the files define something of that name."""
        return bool(self._defined[name])

    def site(self, node: ast.AST, kind: str) -> Site:
        """Returns the place of a node."""
        return Site(*self._numbers[id(node)], kind)


class _Test:
    """Finds what can be perturbed in one test.

    Attributes:
        is_told: whether something was left alone since the prompt shows it.
    """

    def __init__(self, finder: Finder, function: _Function) -> None:
        self._finder = finder
        self.is_told = False
        self._function = function
        self._uses = Counter(
            node.id
            for node in ast.walk(function)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        )

    def sites(self) -> Iterator[tuple[int | None, int, Site]]:
        """Gives places, each with the row of parameters that it makes fail, of how many."""
        if any(isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom)) for node in self._inside()):
            return
        rows = dict(self._rows())
        found = list(self._of_body(self._function.body, dict.fromkeys(rows)))
        tables = [(name, kind) for name, kind in found if isinstance(name, str)]
        if tables:
            for name, kind in tables:
                for row, value in enumerate(rows[name]):
                    if self._may_change(value):
                        yield row, len(rows[name]), self._finder.site(value, kind)
            return
        for node, kind in found:
            if isinstance(node, ast.AST):
                yield None, 0, self._finder.site(node, kind)

    def _inside(self) -> Iterator[ast.AST]:
        waiting: list[ast.AST] = list(self._function.body)
        while waiting:
            node = waiting.pop()
            yield node
            if not isinstance(node, (*_FUNCTIONS, ast.Lambda, ast.ClassDef)):
                waiting += ast.iter_child_nodes(node)

    def _rows(self) -> Iterator[tuple[str, list[ast.expr]]]:
        """Gives each parameter of the one set of parameters, with its values."""
        sets = [
            one
            for one in self._function.decorator_list
            if isinstance(one, ast.Call) and dotted(one.func).endswith("mark.parametrize")
        ]
        if len(sets) != 1 or len(sets[0].args) < 2:
            return
        if any(keyword.arg not in ("ids",) for keyword in sets[0].keywords):
            return
        names, values = _parameter_names(sets[0].args[0]), sets[0].args[1]
        if not isinstance(values, (ast.List, ast.Tuple)) or not values.elts:
            return
        rows = [_row(element, len(names)) for element in values.elts]
        for place, name in enumerate(names):
            column = [row[place] for row in rows if row is not None]
            if len(column) == len(rows):
                yield name, column

    def _of_body(
        self, body: Sequence[ast.stmt], known: Mapping[str, list[ast.expr] | None]
    ) -> Iterator[tuple[ast.AST | str, str]]:
        """Gives places in all assertions of a test's own, which are all reached."""
        names = {**self._constants(body), **known}
        for statement in body:
            if isinstance(statement, ast.Try) and not statement.handlers:
                yield from self._of_body(statement.body, names)
                yield from self._of_body(statement.finalbody, names)
            else:
                yield from self._of_statement(statement, names)

    def _of_block(
        self, body: Sequence[ast.stmt], known: Mapping[str, list[ast.expr] | None]
    ) -> Iterator[tuple[ast.AST | str, str]]:
        """Gives places in the assertions at the end of a block, of which none can be left out.

        Args:
            body: statements.
            known: names that stand for values in a table: the values, None for parameters.
        """
        names = {**self._constants(body), **known}
        for statement in reversed(body):
            if isinstance(statement, ast.Pass):
                continue
            found = list(self._of_statement(statement, names))
            yield from found
            if not found and not only_asserts(statement):
                return

    def _constants(self, body: Sequence[ast.stmt]) -> dict[str, list[ast.expr] | None]:
        """Finds names that are given a literal and used once, in an assertion most likely."""
        found: dict[str, list[ast.expr] | None] = {}
        for statement in body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    stored = sum(
                        isinstance(node, ast.Name) and node.id == name
                        for node in ast.walk(self._function)
                    )
                    if self._uses[name] == 1 and stored == 2 and is_literal(value):
                        found[name] = [value]
        return found

    def _of_statement(
        self, statement: ast.stmt, names: Mapping[str, list[ast.expr] | None]
    ) -> Iterator[tuple[ast.AST | str, str]]:
        match statement:
            case ast.Assert(test=test):
                yield from self._of_condition(statement, test, names)
            case ast.Expr(value=ast.Call() as call):
                yield from self._of_call(call, names)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                yield from self._of_with(items, body, names)
            case ast.For(target=target, iter=table, body=body, orelse=[]):
                if not any(
                    isinstance(node, (ast.Break, ast.Continue)) for node in ast.walk(statement)
                ):
                    columns = self._columns(target, table, names)
                    if columns is not None:
                        yield from self._of_block(body, {**names, **columns})

    def _of_with(
        self,
        items: Sequence[ast.withitem],
        body: Sequence[ast.stmt],
        names: Mapping[str, list[ast.expr] | None],
    ) -> Iterator[tuple[ast.AST | str, str]]:
        calls = [item.context_expr for item in items]
        called = [dotted(call.func) if isinstance(call, ast.Call) else "" for call in calls]
        endings = [name.rpartition(".")[2] for name in called]
        if endings[0] in RAISES and isinstance(calls[0], ast.Call):
            yield from self._of_raises(calls[0]) if len(calls) == 1 else ()
        elif all(ending in _HARMLESS_BLOCKS for ending in endings):
            yield from self._of_block(body, names)

    def _of_raises(self, call: ast.Call) -> Iterator[tuple[ast.AST | str, str]]:
        for kind in call.args[:1]:
            if other_exceptions(kind):
                yield kind, "class"

    def _columns(
        self,
        target: ast.expr,
        table: ast.expr,
        names: Mapping[str, list[ast.expr] | None],
    ) -> dict[str, list[ast.expr] | None] | None:
        """Returns the values that a loop gives to its names; None if it may not run at all."""
        if isinstance(table, ast.Name):
            known = names.get(table.id)
            if known is None:
                return None
            table = known[0]
        if isinstance(table, ast.Call) and dotted(table.func) == "range":
            count = evaluated(table.args[0]) if len(table.args) == 1 else None
            return {} if isinstance(count, int) and count > 0 else None
        if not isinstance(table, (ast.List, ast.Tuple)) or not table.elts:
            return None
        if isinstance(target, ast.Name):
            return {target.id: list(table.elts)}
        if not isinstance(target, ast.Tuple):
            return None
        rows = [_row(element, len(target.elts)) for element in table.elts]
        return {
            name.id: [row[place] for row in rows if row is not None]
            for place, name in enumerate(target.elts)
            if isinstance(name, ast.Name) and None not in rows
        }

    def _of_call(
        self, call: ast.Call, names: Mapping[str, list[ast.expr] | None]
    ) -> Iterator[tuple[ast.AST | str, str]]:
        owner, _, name = dotted(call.func).rpartition(".")
        if owner not in ("self", "pytest") or self._finder.overrides(name):
            return
        if name in RAISES:
            yield from self._of_raises(call)
            return
        if name in EQUALITIES or (name in NEAR and is_near(call)):
            kind = "far" if name in NEAR else "value"
            found = list(self._of_sides(call.args[:2], names, kind))
            yield from found
            if found or self._compares_told(call.args[:2]):
                return
        if name in TURNED and uses_results(call):
            yield call, "turn"

    def _of_condition(
        self,
        statement: ast.Assert,
        test: ast.expr,
        names: Mapping[str, list[ast.expr] | None],
    ) -> Iterator[tuple[ast.AST | str, str]]:
        match test:
            case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right]):
                found = list(self._of_sides([left, right], names, "value"))
                yield from found
                if found or self._compares_told([left, right]):
                    return
            case ast.Compare(
                left=ast.Call(
                    func=ast.Name(id="abs"),
                    args=[ast.BinOp(left=left, op=ast.Sub(), right=right)],
                ),
                ops=[ast.Lt() | ast.LtE()],
                comparators=[bound],
            ) if is_small(bound):
                yield from self._of_sides([left, right], names, "far")
                return
            case ast.Call(func=function, args=[left, right]) if is_near(test):
                if dotted(function).rpartition(".")[2] in NEAR:
                    yield from self._of_sides([left, right], names, "far")
                    return
        if uses_results(test):
            yield statement, "turn"

    def _compares_told(self, sides: Sequence[ast.expr]) -> bool:
        """Tells whether one side is a value that the prompt shows."""
        told = any(is_literal(side) and self._finder.is_told(evaluated(side)) for side in sides)
        self.is_told = self.is_told or told
        return told

    def _of_sides(
        self, sides: Sequence[ast.expr], names: Mapping[str, list[ast.expr] | None], kind: str
    ) -> Iterator[tuple[ast.AST | str, str]]:
        """Gives the one expected side of a comparison, if it can be changed."""
        expected = [side for side in sides if self._is_expected(side, names)]
        if len(sides) != 2 or len(expected) != 1:
            return
        side = expected[0]
        if isinstance(side, ast.Call):
            side, kind = side.args[0], "far"
        if evaluated(side) is None:  # `x is 0` would stand out
            return
        if isinstance(side, ast.Name):
            values = names[side.id]
            if self._uses[side.id] != 1:
                return
            if values is None:
                yield side.id, kind
                return
            yield from ((value, kind) for value in values if self._may_change(value))
        elif self._may_change(side):
            yield side, kind

    def _is_expected(self, side: ast.expr, names: Mapping[str, list[ast.expr] | None]) -> bool:
        if isinstance(side, ast.Call) and dotted(side.func).rpartition(".")[2] == "approx":
            plain = all(keyword.arg in ("rel", "abs") for keyword in side.keywords)
            small = all(is_small(keyword.value) for keyword in side.keywords)
            return len(side.args) == 1 and plain and small and is_literal(side.args[0])
        return is_literal(side) or (isinstance(side, ast.Name) and side.id in names)

    def _may_change(self, node: ast.expr) -> bool:
        if not is_literal(node):
            return False
        told = self._finder.is_told(evaluated(node))
        self.is_told = self.is_told or told
        return not told


def _parameter_names(node: ast.expr) -> list[str]:
    value = evaluated(node)
    if isinstance(value, str):
        return [name.strip() for name in value.split(",") if name.strip()]
    return [str(name) for name in value] if isinstance(value, (list, tuple)) else []


def _row(node: ast.expr, count: int) -> list[ast.expr] | None:
    """Returns the values in a row of a table, None if they are not to be seen."""
    if isinstance(node, ast.Call) and dotted(node.func).endswith("param"):
        plain = len(node.args) == count and not any(isinstance(a, ast.Starred) for a in node.args)
        return list(node.args) if plain else None
    if count == 1:
        return [node]
    if isinstance(node, (ast.Tuple, ast.List)) and len(node.elts) == count:
        return None if any(isinstance(one, ast.Starred) for one in node.elts) else list(node.elts)
    return None


def _is_harmless_decorator(node: ast.expr) -> bool:
    """Tells whether a decorator lets a test fail when it fails."""
    name = dotted(node.func if isinstance(node, ast.Call) else node)
    parts = name.split(".")
    return "mark" in parts or "patch" in parts
