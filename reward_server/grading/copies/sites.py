"""Finds the places in tests where a change certainly makes an assertion fail."""

from __future__ import annotations

import ast
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from reward_server.grading import syntax
from reward_server.grading.copies.draws import TOLERANCE, can_vary
from reward_server.grading.copies.observed import MOST_CHARACTERS, note_characters
from reward_server.grading.python_tests.assertions import (
    CALLED_WITH,
    EQUALITIES,
    EXCEPTIONS,
    NEAR,
    PLAIN_EQUALITIES,
    RAISES,
    TURNED,
    TYPES,
    is_near,
    is_small,
    may_end_early,
    other_exceptions,
    uses_results,
)
from reward_server.grading.python_tests.literals import (
    evaluated,
    has_repetition,
    is_literal,
    leaves,
)
from reward_server.grading.python_tests.rows import table_of
from reward_server.grading.syntax import (
    DISPLAYS,
    FUNCTIONS,
    Function,
    dotted,
    last_name,
    without_call,
)

_HARMLESS_BLOCKS = frozenset(
    (
        *("subTest", "patch", "object", "dict", "redirect_stdout", "redirect_stderr", "open"),
        *("TemporaryDirectory", "NamedTemporaryFile", "catch_warnings", "context"),
        *("assertLogs", "assertNoLogs", "assertWarns", "warns"),
    )
)
VALUES = frozenset(("value", "object", "far", "ending"))
# These may equal everything, so that no other value certainly differs.
_MATCHERS = frozenset(("ANY", "Any", "Anything", "IsAnything", "anything"))
_SKIPPING = frozenset(("skip", "skipif", "xfail"))


@dataclass(frozen=True, slots=True, order=True)
class Unit:
    """An assertion, with the values that it tests, which can be made to fail without the others.

    Args:
        test: the name of the test, without parameters.
        row: the index of its parameter set; None for all.
        rows: the number of parameter sets, if `row` is one of them.
        assertion: the number of the assertion in the test.
        case: the row of the table of the assertion's loop; None for all.
    """

    test: str
    row: int | None = None
    rows: int = 0
    assertion: int = 0
    case: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """How often an assertion is tried in one run of its test, and with which rows of a table.

    Args:
        tries: how often it is tried.
        stride: how many tries in sequence have the same row of its table.
        cases: how many rows the table has.
    """

    tries: int = 1
    stride: int = 1
    cases: int = 1

    def tries_of(self, case: int | None) -> frozenset[int]:
        """Returns the tries of one row of the table."""
        return frozenset(
            number
            for number in range(self.tries)
            if case is None or number // self.stride % self.cases == case
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bare:
    """The body of a block that expects an exception, without the expectation.

    Attributes:
        statement: the block.
        body: its statements.
        name: the name of the exception, if the test uses it after the block.
    """

    statement: ast.stmt
    body: Sequence[ast.stmt]
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Place:
    """Where a change makes a unit fail, and what kind of change.

    Attributes:
        unit: the unit that fails.
        node: a node of the file's tree.
        kind: "value", "object" (a value that is compared with an object of the solution's class,
            which may have a coarser equality), "far" (a value with a tolerance), "ending" (see
            `endings`; its values occur nowhere else), "type", "class"
            (of exceptions), "turn" (the opposite) or "other" (a value that is replaced at run
            time).
        weight: how many changes are needed to show that every part of it is compared.
        bare: for a class, the body without the expectation, if that can be tried, too.
    """

    unit: Unit
    node: ast.expr | ast.stmt
    kind: str
    weight: int = 1
    bare: Bare | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Found:
    """An assertion that can be made to fail.

    Attributes:
        statement: the statement to wrap.
        shape: how often it is tried.
        places: where it can be changed, one for each unit.
    """

    statement: ast.stmt
    number: int
    shape: Assertion
    places: Sequence[Place]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    """The values of a name: one for each row of a loop's table, or one for all."""

    values: Sequence[ast.expr]
    loop: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scope:
    """The names and loops around a statement.

    Attributes:
        columns: the values of names that are known; None for a test's parameters.
        loops: the number of rounds of each loop around it.
    """

    columns: Mapping[str, _Column | None]
    loops: tuple[int, ...] = ()


_Change = tuple[ast.expr | ast.stmt | str, str]


class Finder:
    """Finds the assertions that can be made wrong.

    Args:
        trees: test files, parsed, by path.
        rows: how many results each test has, as far as that is known.
    """

    def __init__(self, trees: Mapping[str, ast.Module], rows: Mapping[str, int | None]) -> None:
        self._trees = trees
        self._rows = rows
        everything = [node for tree in trees.values() for node in syntax.walk(tree)]
        self._defined = Counter(
            node.name for node in everything if isinstance(node, (*FUNCTIONS, ast.ClassDef))
        )
        self._bases = {
            last_name(base)
            for node in everything
            if isinstance(node, ast.ClassDef)
            for base in node.bases
        }

        self._imported = {
            alias.name
            for node in everything
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }

    def is_imported(self, name: str) -> bool:
        """Returns True if one of the files imports that name."""
        return name in self._imported

    def found(self) -> Iterator[tuple[str, Function, list[Found]]]:
        """Yields each test's path, its function, and its assertions that can be made to fail."""
        for path, tree in self._trees.items():
            objects = frozenset(_names_of_objects(tree))
            for name, function in self._tests(tree):
                test = f"{path}::{name}"
                assertions = _Test(
                    self, tree, function, test, self._rows.get(test), objects
                ).found()
                if assertions:
                    yield path, function, assertions

    def _tests(self, tree: ast.Module) -> Iterator[tuple[str, Function]]:
        for node in tree.body:
            if isinstance(node, FUNCTIONS):
                if self._is_test(node, tree.body):
                    yield node.name, node
            elif isinstance(node, ast.ClassDef) and self._is_plain_class(node):
                for method in node.body:
                    if isinstance(method, FUNCTIONS) and self._is_test(method, node.body):
                        yield f"{node.name}::{method.name}", method

    def _is_plain_class(self, node: ast.ClassDef) -> bool:
        """Returns True if a class neither inherits tests nor is inherited from."""
        bases = [dotted(base) for base in node.bases]
        return (
            self._defined[node.name] == 1
            and node.name not in self._bases
            and all(base.endswith("TestCase") or base == "object" for base in bases)
            and all(_is_harmless_decorator(one) for one in node.decorator_list)
        )

    def _is_test(self, function: Function, siblings: Sequence[ast.stmt]) -> bool:
        alike = [
            one for one in siblings if isinstance(one, FUNCTIONS) and one.name == function.name
        ]
        return (
            function.name.startswith("test")
            and len(alike) == 1
            and all(
                _is_harmless_decorator(one) or dotted(one) == "staticmethod"
                for one in function.decorator_list
            )
        )

    def overrides(self, name: str) -> bool:
        """Returns True if the files define that name."""
        return bool(self._defined[name])


class _Test:
    """Finds the assertions that can be made wrong in one test."""

    def __init__(
        self,
        finder: Finder,
        tree: ast.Module,
        function: Function,
        name: str,
        rows: int | None,
        objects: Collection[str],
    ) -> None:
        self._finder = finder
        self._tree = tree
        self._function = function
        self._name = name
        self._rows = rows
        self._found: list[Found] = []
        self._objects = objects
        self._uses = Counter(
            node.id
            for node in syntax.walk(function)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        )

    def found(self) -> list[Found]:
        """Returns the assertions, numbered in the order of the text."""
        if leaves_early(self._function):
            return []
        self._parameters = dict(self._columns_of_parameters())
        self._of_body(self._function.body, _Scope(columns=dict.fromkeys(self._parameters)))
        return self._found

    def _columns_of_parameters(self) -> Iterator[tuple[str, list[ast.expr]]]:
        """Yields each parameter of the only parametrisation, with its values."""
        sets = [
            one
            for one in self._function.decorator_list
            if isinstance(one, ast.Call) and dotted(one.func).endswith("mark.parametrize")
        ]
        if len(sets) != 1 or len(sets[0].args) < 2:
            return
        if any(keyword.arg not in ("ids",) for keyword in sets[0].keywords):
            return
        names, values = _parameter_names(sets[0].args[0]), self._own_table(sets[0].args[1])
        if not isinstance(values, DISPLAYS) or len(values.elts) != self._rows:
            return
        rows = [_row(element, len(names)) for element in values.elts]
        for place, name in enumerate(names):
            column = [row[place] for row in rows if row is not None]
            if len(column) == len(rows):
                yield name, column

    def _own_table(self, node: ast.expr) -> ast.expr:
        """Returns the table that a name stands for, if nothing else uses it."""
        if isinstance(node, ast.Name) and self._finder.is_imported(node.id):
            return node
        return table_of(node, self._tree, most_uses=1)

    # ------------------------------------------------------------------------- statements

    def _of_body(self, body: Sequence[ast.stmt], scope: _Scope) -> None:
        """Reads assertions that are all tried, since a failed one does not stop the others."""
        scope = _Scope(columns={**self._constants(body), **scope.columns}, loops=scope.loops)
        for statement in body:
            self._of_statement(statement, scope)

    def _constants(self, body: Sequence[ast.stmt]) -> dict[str, _Column | None]:
        """Finds names that are bound to a literal and used once, most likely in an assertion."""
        found: dict[str, _Column | None] = {}
        for statement in body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    stored = sum(
                        isinstance(node, ast.Name) and node.id == name
                        for node in syntax.walk(self._function)
                    )
                    if self._uses[name] == 1 and stored == 2 and is_literal(value):
                        found[name] = _Column(values=[value], loop=None)
        return found

    def _of_statement(self, statement: ast.stmt, scope: _Scope) -> None:
        match statement:
            case ast.Assert(test=test):
                self._take(statement, self._of_condition(statement, test, scope), scope)
            case ast.Expr(value=ast.Call() as call):
                self._take(statement, self._of_call(call, scope), scope)
            case ast.Try(handlers=[], body=body, finalbody=behind):
                self._of_body(body, scope)
                self._of_body(behind, scope)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                self._of_with(statement, items, body, scope)
            case ast.For(target=target, iter=table, body=body, orelse=[]):
                self._of_loop(statement, target, table, body, scope)

    def _of_with(
        self,
        statement: ast.stmt,
        items: Sequence[ast.withitem],
        body: Sequence[ast.stmt],
        scope: _Scope,
    ) -> None:
        calls = [item.context_expr for item in items]
        called = [dotted(call.func) if isinstance(call, ast.Call) else "" for call in calls]
        endings = [name.rpartition(".")[2] for name in called]
        may_change = endings[0] in EXCEPTIONS or (
            endings[0] in RAISES and items[0].optional_vars is None and _is_one_call(body)
        )
        if may_change and len(calls) == 1 and isinstance(calls[0], ast.Call):
            self._take(statement, self._of_raises(calls[0]), scope)
        elif set(endings) <= _HARMLESS_BLOCKS and not may_end_early(statement):
            self._of_body(body, scope)

    def _of_raises(self, call: ast.Call) -> Iterator[_Change]:
        for kind in call.args[:1]:
            if other_exceptions(kind):
                yield kind, "class"

    def _of_loop(
        self,
        statement: ast.stmt,
        target: ast.expr,
        table: ast.expr,
        body: Sequence[ast.stmt],
        scope: _Scope,
    ) -> None:
        if may_end_early(statement):
            return
        if isinstance(table, ast.Name):
            known = scope.columns.get(table.id)
            table = known.values[0] if known is not None else self._own_table(table)
        rounds, columns = _rounds(target, table, len(scope.loops))
        if rounds:
            inner = _Scope(columns={**scope.columns, **columns}, loops=(*scope.loops, rounds))
            self._of_body(body, inner)

    # ------------------------------------------------------------------------- assertions

    def _take(self, statement: ast.stmt, changes: Iterator[_Change], scope: _Scope) -> None:
        """Adds an assertion with one change, if the note of all assertions stays short."""
        change = next(changes, None)
        tries = math.prod(scope.loops)
        if change is None or not self._has_room(tries):
            return
        target, kind = change
        column = scope.columns.get(target) if isinstance(target, str) else None
        shape = Assertion(tries=tries)
        if column is not None and column.loop is not None:
            stride = math.prod(scope.loops[column.loop + 1 :])
            shape = Assertion(tries=tries, stride=stride, cases=len(column.values))
        places = list(self._places(statement, target, kind, column))
        if places:
            number = len(self._found)
            self._found.append(
                Found(statement=statement, number=number, shape=shape, places=places)
            )

    def _has_room(self, tries: int) -> bool:
        counts = [*(found.shape.tries for found in self._found), tries]
        return note_characters(counts) <= MOST_CHARACTERS

    def _bare(self, statement: ast.stmt) -> Bare | None:
        """Returns the body of a block that expects an exception, if it can run without.

        A warning does not end the block: without the expectation its body still passes.
        """
        if _expected_by(statement) not in EXCEPTIONS:
            return None
        match statement:
            case ast.With(items=[ast.withitem(optional_vars=None)], body=body):
                return Bare(statement=statement, body=body)
            case ast.With(items=[ast.withitem(optional_vars=ast.Name(id=name))], body=body):
                seen = sum(
                    isinstance(node, ast.Attribute)
                    and node.attr in ("exception", "value")
                    and dotted(node.value) == name
                    for node in syntax.walk(self._function)
                )
                if seen == self._uses[name]:
                    return Bare(statement=statement, body=body, name=name)
            case ast.Expr(value=ast.Call(args=[_, function, *arguments], keywords=named)):
                call = ast.Call(func=function, args=arguments, keywords=named)
                return Bare(statement=statement, body=[ast.Expr(value=call)])
        return None

    def _places(
        self,
        statement: ast.stmt,
        target: ast.expr | ast.stmt | str,
        kind: str,
        column: _Column | None,
    ) -> Iterator[Place]:
        unit = Unit(self._name, assertion=len(self._found))
        if not isinstance(target, str):
            if kind in VALUES and isinstance(target, ast.expr):
                if _can_vary(target, kind):
                    yield _of_value(unit, target, kind)
            elif kind == "class" and (bare := self._bare(statement)):
                yield Place(unit=unit, node=target, kind=kind, weight=2, bare=bare)
            else:
                yield Place(unit=unit, node=target, kind=kind, weight={"other": 2}.get(kind, 1))
            return
        values = self._parameters[target] if column is None else column.values
        for number, value in enumerate(values):
            if not (is_literal(value) and _can_vary(value, kind)):
                continue
            if column is None:
                unit = Unit(self._name, number, len(values), assertion=len(self._found))
            elif column.loop is not None:
                unit = Unit(self._name, assertion=len(self._found), case=number)
            yield _of_value(unit, value, kind)

    def _of_call(self, call: ast.Call, scope: _Scope) -> Iterator[_Change]:
        owner, _, name = dotted(call.func).rpartition(".")
        if name in CALLED_WITH:
            yield from self._of_mock(call)
            return
        if owner in ("self", "pytest") and not self._finder.overrides(name):
            yield from self._of_own_call(call, name, scope)
        elif name in TURNED and name.startswith("assert_"):
            yield call, "turn"

    def _of_own_call(self, call: ast.Call, name: str, scope: _Scope) -> Iterator[_Change]:
        if name in RAISES:
            yield from self._of_raises(call)
            return
        if name in EQUALITIES or (name in NEAR and is_near(call, TOLERANCE)):
            if name != "assertIs" or not _has_none(call.args):
                yield from self._of_sides(call.args[:2], scope, "far" if name in NEAR else "value")
            if name in PLAIN_EQUALITIES and len(call.args) == 2 and _can_be_other(call):
                yield call, "other"
        elif name == "assertTrue" and len(call.args) == 1:
            yield from self._of_comparison(call.args[0], scope)
        if name in TURNED and uses_results(call):
            yield call, "turn"

    def _of_mock(self, call: ast.Call) -> Iterator[_Change]:
        """Yields the arguments of a mock's call, if some are known; all of them are compared."""
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        if given and all(map(is_literal, given)):
            yield call, "value"

    def _of_condition(
        self, statement: ast.Assert, test: ast.expr, scope: _Scope
    ) -> Iterator[_Change]:
        yield from self._of_comparison(test, scope)
        if uses_results(test):
            yield statement, "turn"

    def _of_comparison(self, test: ast.expr, scope: _Scope) -> Iterator[_Change]:
        match test:
            case ast.Compare(left=left, ops=[ast.Is()], comparators=[right]):
                if not _has_none([left, right]):  # `x is 0` would be noticed
                    yield from self._of_sides([left, right], scope, "value")
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                yield from self._of_sides([left, right], scope, "value")
                if _can_be_other(test):
                    yield test, "other"
            case ast.Compare(
                left=ast.Call(
                    func=ast.Name(id="abs"),
                    args=[ast.BinOp(left=left, op=ast.Sub(), right=right)],
                ),
                ops=[ast.Lt() | ast.LtE()],
                comparators=[bound],
            ) if is_small(bound, TOLERANCE):
                yield from self._of_sides([left, right], scope, "far")
            case ast.Call(func=function, args=[left, right]) if is_near(test, TOLERANCE):
                if last_name(function) in NEAR:
                    yield from self._of_sides([left, right], scope, "far")

    def _of_sides(self, sides: Sequence[ast.expr], scope: _Scope, kind: str) -> Iterator[_Change]:
        """Yields the expected side of a comparison, if it can be changed."""
        expected = [side for side in sides if self._is_expected(side, scope)]
        if len(sides) != 2 or len(expected) != 1:
            return
        side = expected[0]
        (actual,) = (one for one in sides if one is not side)
        if kind == "value" and _is_object(actual, self._objects):
            kind = "object"
        elif kind == "value" and _is_ending(actual):
            kind = "ending"
        if isinstance(side, ast.Call) and not is_literal(side):
            side, kind = side.args[0], "far"
        if not isinstance(side, ast.Name):
            yield side, kind
        elif side.id in TYPES:
            yield side, "type"
        elif self._uses[side.id] == 1:
            yield side.id, kind

    def _is_expected(self, side: ast.expr, scope: _Scope) -> bool:
        if isinstance(side, ast.Call) and last_name(side.func) == "approx":
            plain = all(keyword.arg in ("rel", "abs") for keyword in side.keywords)
            small = all(is_small(keyword.value, TOLERANCE) for keyword in side.keywords)
            return len(side.args) == 1 and plain and small and is_literal(side.args[0])
        if isinstance(side, ast.Name):
            is_type = side.id in TYPES and not self._finder.overrides(side.id)
            return is_type or side.id in scope.columns
        return is_literal(side)


def leaves_early(test: Function) -> bool:
    """Returns True if a test returns or yields, so that it may not reach its end."""
    waiting: list[ast.AST] = list(test.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
            waiting += syntax.children(node)
    return False


def _expected_by(statement: ast.stmt) -> str:
    """Returns the function that a statement calls to expect an exception or a warning."""
    match statement:
        case (
            ast.With(items=[ast.withitem(context_expr=ast.Call(func=function))])
            | ast.Expr(value=ast.Call(func=function))
        ):
            return last_name(function)
    return ""


def _is_one_call(body: Sequence[ast.stmt]) -> bool:
    """Returns True if a block is a single call, so that an early end leaves nothing out."""
    return len(body) == 1 and isinstance(body[0], ast.Expr)


def _of_value(unit: Unit, node: ast.expr, kind: str) -> Place:
    weight = 0 if kind == "ending" else len(leaves(node))
    return Place(unit=unit, node=node, kind=kind, weight=weight)


def _can_be_other(comparison: ast.expr) -> bool:
    """Returns True if a comparison certainly fails when one side becomes another object."""
    names = (last_name(part) for part in syntax.walk(comparison))
    return uses_results(comparison) and _MATCHERS.isdisjoint(names)


def _can_vary(node: ast.AST, kind: str) -> bool:
    """Returns True if an expected value, or all arguments of a call, can be replaced."""
    parts = [node] if is_literal(node) else leaves(node)
    known = all(can_vary(evaluated(part), far=kind == "far") for part in parts)
    return known and not has_repetition(node)


def _names_of_objects(tree: ast.Module) -> Iterator[str]:
    """Yields the names that a file binds to objects of classes."""
    for node in syntax.walk(tree):
        if isinstance(node, ast.Assign) and _is_object(node.value, ()):
            yield from map(dotted, node.targets)


def _is_object(node: ast.expr, names: Collection[str]) -> bool:
    """Returns True if an expression makes an object of a class, by the form of its name."""
    match node:
        case ast.Call(func=function):
            return last_name(function)[:1].isupper()
        case ast.BinOp(left=left, right=right):
            return _is_object(left, names) or _is_object(right, names)
        case ast.UnaryOp(operand=operand):
            return _is_object(operand, names)
    return dotted(node) in names


def _is_ending(actual: ast.expr) -> bool:
    """Returns True for what `endings` compares, which tells whether a value was made wrong."""
    match actual:
        case ast.Call(func=ast.Name(id="int"), args=[ast.Constant(value=str())]):
            return True
    return False


def _has_none(sides: Sequence[ast.expr]) -> bool:
    return any(evaluated(side) is None for side in sides)


def _rounds(target: ast.expr, table: ast.expr, loop: int) -> tuple[int, dict[str, _Column | None]]:
    """Returns the number of rounds of a loop, or 0 if unknown, and the values of its names."""
    if isinstance(table, ast.Call) and dotted(table.func) == "range":
        count = evaluated(table.args[0]) if len(table.args) == 1 else None
        return (count, {}) if isinstance(count, int) and count > 0 else (0, {})
    if not isinstance(table, DISPLAYS):
        return 0, {}
    if any(isinstance(one, ast.Starred) for one in table.elts):
        return 0, {}
    if isinstance(target, ast.Name):
        return len(table.elts), {target.id: _Column(values=table.elts, loop=loop)}
    if not isinstance(target, ast.Tuple):
        return 0, {}
    rows = [_row(element, len(target.elts)) for element in table.elts]
    columns: dict[str, _Column | None] = {
        name.id: _Column(values=[row[place] for row in rows if row is not None], loop=loop)
        for place, name in enumerate(target.elts)
        if isinstance(name, ast.Name) and None not in rows
    }
    return len(table.elts), columns


def _parameter_names(node: ast.expr) -> list[str]:
    value = evaluated(node)
    if isinstance(value, str):
        return [name.strip() for name in value.split(",") if name.strip()]
    return [str(name) for name in value] if isinstance(value, (list, tuple)) else []


def _row(node: ast.expr, count: int) -> list[ast.expr] | None:
    """Returns the values in a row of a table; None if the text does not show them."""
    if isinstance(node, ast.Call) and dotted(node.func).endswith("param"):
        plain = len(node.args) == count and not any(isinstance(a, ast.Starred) for a in node.args)
        marked = any(keyword.arg != "id" for keyword in node.keywords)
        return list(node.args) if plain and not marked else None
    if count == 1:
        return [node]
    if isinstance(node, DISPLAYS) and len(node.elts) == count:
        return None if any(isinstance(one, ast.Starred) for one in node.elts) else list(node.elts)
    return None


def _is_harmless_decorator(node: ast.expr) -> bool:
    """Returns True if a decorator does not hide the failure of a test."""
    parts = dotted(without_call(node)).split(".")
    if _SKIPPING & {*parts}:
        return False
    return "mark" in parts or "patch" in parts
