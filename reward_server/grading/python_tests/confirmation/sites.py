"""Finds the assertions in a test's body and how each of them can be made wrong.

A change is chosen so that no honest solution passes both the true and the wrong assertion: another
literal, an expected value inside a pair, an unrelated exception class, or the negated condition. A
wrong assertion evaluates the same expressions as the true one, so that the rest of the test finds
the same state.
"""

from __future__ import annotations

import ast
import operator
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from reward_server.grading import syntax
from reward_server.grading.python_tests.assertions import (
    EQUALITIES,
    NEAR,
    RAISES,
    TURNED,
    is_near,
    is_small,
    may_end_early,
)
from reward_server.grading.python_tests.confirmation.helpers import Helpers, heard_parameters
from reward_server.grading.python_tests.confirmation.pairs import (
    Pair,
    is_empty,
    pairs_in,
    values_of,
)
from reward_server.grading.python_tests.confirmation.tellings import Telling, tellings_in
from reward_server.grading.python_tests.literals import evaluated, is_literal
from reward_server.grading.syntax import DISPLAYS, FUNCTIONS, NAMES, dotted, last_name

_NESTED = (*FUNCTIONS, ast.ClassDef, ast.Lambda)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
# Comparisons of two structures built from lists, which data sets define in the prompt.
_STRUCTURE_COMPARISONS = frozenset(("is_same_list", "is_same_tree"))
_KEEPING_SIZE = frozenset(("enumerate", "list", "reversed", "sorted", "tuple"))
_VIEWS = frozenset(("items", "keys", "values"))
VALUE, FAR, PAIR, TURN, CLASS = "value", "far", "pair", "turn", "class"
UNTOLD = "untold"  # the solution is not asked, so nothing is revealed to it


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A way to make an assertion wrong.

    Args:
        node: the node to change.
        kind: how to change it.
        row: the round of the assertion's loop that becomes wrong; None for all.
    """

    node: ast.AST
    kind: str
    row: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """An assertion in the body of a test.

    Args:
        statement: the statement.
        sites: the ways to make it wrong, one for each row, or a single one.
        rows: how often it is evaluated, if each time has a site; otherwise 0.
        is_sure: whether a passing test certainly evaluates it.
        pairs: its operands that an empty answer would make vacuous.
        telling: its parts that reveal to the solution what another assertion expects.
    """

    statement: ast.stmt
    sites: tuple[Site, ...]
    rows: int = 0
    is_sure: bool = True
    pairs: tuple[Pair, ...] = ()
    telling: Telling | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """The loops and conditions around a statement.

    Args:
        columns: the names that a loop over a table binds, with their values.
        rows: the number of rows of that table; 0 without one.
        is_looped: whether it may be evaluated more than once for another reason.
        is_sure: whether it is certainly evaluated.
    """

    columns: Mapping[str, Sequence[ast.expr]]
    rows: int = 0
    is_looped: bool = False
    is_sure: bool = True


_TOP = _Place(columns={})


def assertions_of(
    body: Sequence[ast.stmt],
    heard: frozenset[str],
    called: Mapping[str, Sequence[ast.stmt]],
    helpers: Helpers,
) -> list[Assertion]:
    """Finds the assertions of a test, and of the functions that it calls.

    Args:
        body: the test's statements.
        heard: the names of the solution.
        called: the bodies of functions without parameters that a statement may call.
        helpers: other functions that the body may call.
    """
    read = _Body(body, heard, called, helpers)
    found = list(read.assertions(body, _TOP))
    tellings = tellings_in([one.statement for one in found], read.hears)
    return [replace(one, telling=told) for one, told in zip(found, tellings, strict=True)]


def leaves_early(body: Sequence[ast.stmt]) -> bool:
    """Returns True if a test's body has a `return` or `yield`, so that it may not reach its end.

    A `return` at the top level of a module is invalid, and is found, too.
    """
    leaving = (ast.Return, ast.Yield, ast.YieldFrom)
    return any(isinstance(node, leaving) for node in _own_nodes(body))


def _own_nodes(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _NESTED):
            waiting += syntax.children(node)


class _Body:
    """The body of one test.

    Args:
        body, heard, called, helpers: see `assertions_of`.
        parameters: the parameters of the function, if it is no test.
        within: the functions that the test calls and that were read, by name.
    """

    def __init__(
        self,
        body: Sequence[ast.stmt],
        heard: frozenset[str],
        called: Mapping[str, Sequence[ast.stmt]],
        helpers: Helpers,
        parameters: frozenset[str] = frozenset(),
        within: dict[str, _Body] | None = None,
    ) -> None:
        self._body = body
        self._called = dict(called)
        self._helpers = helpers
        self._parameters = parameters
        self._within = {} if within is None else within
        self._pairs: tuple[Pair, ...] | None = None
        self._is_read = False
        self._calls = dict[str, list[ast.Call]]()
        for call in (node for one in body for node in syntax.walk(one)):
            if isinstance(call, ast.Call) and (name := helpers.named_by(call)):
                self._calls.setdefault(name, []).append(call)
        self._given = heard
        self._heard = _tainted(body, heard)
        names = [node for one in body for node in syntax.walk(one) if isinstance(node, ast.Name)]
        self._uses = Counter(node.id for node in names if isinstance(node.ctx, ast.Load))
        self._stores = Counter(node.id for node in names if not isinstance(node.ctx, ast.Load))
        self._bound = dict(self._find_bound(body))
        self._constants = {
            name: value for name, value in self._bound.items() if self._uses[name] == 1
        }

    def _find_bound(self, body: Sequence[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
        """Yields names that are bound once, with their values."""
        for node in _own_nodes(body):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    if self._stores[name] == 1:
                        yield name, value

    def assertions(self, body: Sequence[ast.stmt], place: _Place) -> Iterator[Assertion]:
        """Yields the assertions in statements, in their order."""
        for statement in body:
            yield from self._in_statement(statement, place)

    def _in_statement(self, statement: ast.stmt, place: _Place) -> Iterator[Assertion]:
        match statement:
            case ast.Assert(test=test):
                yield from self._made(statement, self._of_condition(statement, test), place)
            case ast.Expr(value=ast.Call(func=ast.Name(id=name), args=[], keywords=[])) if (
                name in self._called
            ):
                yield from self.assertions(self._called.pop(name), place)
            case ast.Expr(value=ast.Call() as call) if self._helpers.named_by(call):
                yield from self._within_helper(call)._observed()
            case ast.Expr(value=ast.Call() as call):
                yield from self._made(statement, self._of_call(call), place)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                yield from self._in_block(statement, items, body, place)
            case ast.For(target=target, iter=table, body=body, orelse=[]):
                yield from self.assertions(body, self._in_loop(statement, target, table, place))
            case ast.If() | ast.While() | ast.For() | ast.AsyncFor():
                inside = _Place(columns={}, is_looped=True, is_sure=False)
                yield from self.assertions([*statement.body, *statement.orelse], inside)
            case ast.Try(body=body, handlers=[], orelse=orelse, finalbody=finalbody):
                yield from self.assertions([*body, *orelse, *finalbody], place)

    def _made(
        self, statement: ast.stmt, found: tuple[ast.AST, str] | None, place: _Place
    ) -> Iterator[Assertion]:
        if found is None or not self._asks(statement):
            return
        node, kind = found
        if kind == CLASS and isinstance(node, ast.Name) and node.id in self._parameters:
            return
        pairs = () if kind == CLASS else self._pairs_of(statement)
        if isinstance(node, ast.Name) and node.id in place.columns:
            values = place.columns[node.id]
            if not place.is_looped and all(map(is_literal, values)):
                sites = [
                    Site(
                        node=value,
                        kind=PAIR if pairs and is_empty(evaluated(value)) else kind,
                        row=row,
                    )
                    for row, value in enumerate(values)
                ]
                yield Assertion(
                    statement=statement,
                    sites=tuple(sites),
                    rows=place.rows,
                    is_sure=place.is_sure,
                    pairs=pairs,
                )
                return
        if isinstance(node, ast.Name) and kind in (VALUE, FAR):
            node = self._constants.get(node.id, node)
        is_vague = bool(pairs) and is_empty(evaluated(node))  # an empty array equals any number
        if kind in (VALUE, FAR) and (is_vague or not is_literal_value(node)):
            node, kind = found[0], PAIR
        yield Assertion(
            statement=statement,
            sites=(Site(node=node, kind=kind),),
            is_sure=place.is_sure,
            pairs=pairs,
        )

    def _asks(self, statement: ast.stmt) -> bool:
        """Returns True if an assertion is about more than constants."""
        return any(isinstance(part, NAMES) for part in syntax.walk(statement))

    # ------------------------------------------------------------------------------ helpers

    def _within_helper(self, call: ast.Call) -> _Body:
        """Returns the body of a called function, with the parameters that any call fills."""
        name, function = self._helpers.copied_for(call)
        if name not in self._within:
            parameters = {one.arg for one in syntax.walk(function.args) if isinstance(one, ast.arg)}
            heard = heard_parameters(function, self._calls[name], self.hears)
            self._within[name] = _Body(
                function.body,
                (self._given - parameters) | heard,
                {},
                self._helpers,
                frozenset(parameters),
                self._within,
            )
        return self._within[name]

    def _observed(self) -> Iterator[Assertion]:
        """Yields the assertions of a function that a test calls, only once."""
        if not self._is_read:
            self._is_read = True
            inside = _Place(columns={}, is_looped=True, is_sure=False)
            yield from self.assertions(self._body, inside)

    def _pairs_of(self, node: ast.stmt) -> tuple[Pair, ...]:
        """Returns the pairs of a statement, of its names' values and of the functions it calls."""
        found = [*pairs_in(node, self.hears, self._bound)]
        for part in (node, *values_of(node, self._bound)):
            for call in syntax.walk(part):
                if isinstance(call, ast.Call) and self._helpers.named_by(call):
                    found += self._within_helper(call)._pairs_within()
        return tuple(dict.fromkeys(found))

    def _pairs_within(self) -> tuple[Pair, ...]:
        """Returns the pairs of a function that an assertion calls; see `pairs_in`."""
        if self._pairs is None:
            self._pairs = ()  # for a function that calls itself
            found = [pair for one in self._body for pair in self._pairs_of(one)]
            self._pairs = tuple(
                pair for pair in found if not _names_in(pair.answer) & _names_in(pair.other)
            )
        return self._pairs

    # ------------------------------------------------------------------------------- blocks

    def _in_block(
        self,
        statement: ast.stmt,
        items: Sequence[ast.withitem],
        body: Sequence[ast.stmt],
        place: _Place,
    ) -> Iterator[Assertion]:
        first = items[0].context_expr
        if isinstance(first, ast.Call) and last_name(first.func) in RAISES:
            # A name that is bound by `as` is used afterwards.
            if len(items) == 1 and items[0].optional_vars is None:
                yield from self._made(statement, _of_raises(first), place)
            return
        if not any(_suppresses(item.context_expr) for item in items):
            is_sure = place.is_sure and not may_end_early(statement)
            yield from self.assertions(body, replace(place, is_sure=is_sure))

    def _in_loop(
        self, statement: ast.For, target: ast.expr, table: ast.expr, place: _Place
    ) -> _Place:
        if isinstance(table, ast.Name):
            table = self._constants.get(table.id, table)
        elements = table.elts if isinstance(table, DISPLAYS) else []
        if may_end_early(statement):
            return _Place(columns={}, is_looped=True, is_sure=False)
        is_nested = place.is_looped or place.rows > 0
        if not elements or any(isinstance(one, ast.Starred) for one in elements):
            return _Place(columns={}, is_looped=True, is_sure=place.is_sure and self._runs(table))
        columns = {
            name: values
            for name, values in _columns(target, elements)
            if self._uses[name] == 1 and self._stores[name] == 1
        }
        return _Place(
            columns=columns, rows=len(elements), is_looped=is_nested, is_sure=place.is_sure
        )

    def _runs(self, table: ast.expr) -> bool:
        """Returns True for a loop over the tests' own data that certainly runs at least once."""
        match table:
            case ast.Name(id=name) if name in self._bound:
                return is_literal(self._bound[name]) and bool(evaluated(self._bound[name]))
            case ast.Call(func=ast.Name(id="range"), args=[count]):
                value = evaluated(count)
                return isinstance(value, int) and value > 0
            case ast.Call(func=ast.Name(id="zip"), args=[_, *_] as sides):
                runs = [self._runs(side) for side in sides]
                answers = map(self.hears, sides)
                return any(runs) and all(map(operator.or_, runs, answers))
            case ast.Call(func=ast.Name(id=name), args=[inner, *_]) if name in _KEEPING_SIZE:
                return self._runs(inner)
            case ast.Call(func=ast.Attribute(value=inner, attr=name), args=[]) if name in _VIEWS:
                return self._runs(inner)
        return is_literal(table) and bool(evaluated(table))

    # --------------------------------------------------------------------------- assertions

    def _of_condition(self, statement: ast.Assert, test: ast.expr) -> tuple[ast.AST, str] | None:
        match test:
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                return self._of_sides(left, right, VALUE)
            case ast.Compare(left=left, ops=[ast.Is()], comparators=[right]):
                if isinstance(evaluated(right), bool):
                    return right, VALUE
            case ast.Compare(
                left=ast.Call(
                    func=ast.Name(id="abs"),
                    args=[ast.BinOp(left=left, op=ast.Sub(), right=right)],
                ),
                ops=[ast.Lt() | ast.LtE()],
                comparators=[bound],
            ) if is_small(bound):
                return self._of_near(left, right) or (statement, TURN)
            case ast.Compare(ops=[ast.In()], comparators=[container]) if self.hears(container):
                return statement, UNTOLD
            case ast.Call(func=function, args=[left, right, *_]):
                if last_name(function) in NEAR and is_near(test):
                    return self._of_near(left, right) or (statement, TURN)
                if last_name(function) in _STRUCTURE_COMPARISONS:
                    return _list_in(right) or _list_in(left) or (statement, TURN)
        return statement, TURN

    def _of_call(self, call: ast.Call) -> tuple[ast.AST, str] | None:
        owner, _, name = dotted(call.func).rpartition(".")
        if owner.endswith("testing") and name.startswith("assert_") and len(call.args) >= 2:
            return self._of_sides(call.args[0], call.args[1], FAR if "equal" not in name else VALUE)
        if owner not in ("self", "pytest"):
            return None
        if name in RAISES:
            return _of_raises(call)
        if any(isinstance(argument, ast.Starred) for argument in call.args[:2]):
            return None
        if name in EQUALITIES and name != "assertIs" and len(call.args) >= 2:
            return self._of_sides(call.args[0], call.args[1], VALUE)
        if name in NEAR and len(call.args) >= 2 and is_near(call):
            return self._of_near(call.args[0], call.args[1]) or (call, TURN)
        if name == "assertIn" and len(call.args) >= 2 and self.hears(call.args[1]):
            return call, UNTOLD
        return (call, TURN) if name in TURNED else None

    def _of_sides(self, left: ast.expr, right: ast.expr, kind: str) -> tuple[ast.AST, str]:
        """Chooses the side of an equality that does not come from the solution."""
        sides = sorted((right, left), key=self.hears)
        for side in sides:
            if is_literal_value(side) or self._is_bound_to_literals(side):
                return side, kind
        return sides[0], PAIR

    def _of_near(self, left: ast.expr, right: ast.expr) -> tuple[ast.AST, str] | None:
        literals = [side for side in (left, right) if is_literal_value(side)]
        return (literals[0], FAR) if len(literals) == 1 else None

    def _is_bound_to_literals(self, side: ast.expr) -> bool:
        """Returns True for a name that may stand for a constant or a column of a table."""
        return isinstance(side, ast.Name) and self._uses[side.id] == 1 and not self.hears(side)

    def hears(self, node: ast.expr) -> bool:
        """Returns True if the solution has a part in an expression."""
        return bool(_names_in(node) & self._heard)


def _tainted(body: Sequence[ast.stmt], heard: frozenset[str]) -> frozenset[str]:
    """Returns the names that hold something of the solution through assignments."""
    size, names = -1, set(heard)
    while len(names) > size:
        size = len(names)
        for target, value in _assigned(body):
            if names & _names_in(value):
                names |= _names_in(target)
    return frozenset(names)


def _assigned(body: Sequence[ast.stmt]) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yields targets with their values, element by element if both sides are rows."""
    for node in _own_nodes(body):
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(
                targets
            ) == len(values) and not any(
                isinstance(one, ast.Starred) for one in (*targets, *values)
            ):
                yield from zip(targets, values, strict=True)
            case ast.Assign(targets=targets, value=value):
                yield from ((target, value) for target in targets)


def _names_in(node: ast.AST) -> set[str]:
    return {part.id for part in syntax.walk(node) if isinstance(part, ast.Name)}


def is_literal_value(node: ast.AST) -> bool:
    """Returns True for a literal that has other values of its kind, unlike None."""
    return isinstance(node, ast.expr) and is_literal(node) and evaluated(node) is not None


def _of_raises(call: ast.Call) -> tuple[ast.AST, str] | None:
    if not call.args:
        return None
    kinds = call.args[0]
    return (kinds, CLASS) if isinstance(kinds, NAMES) else None


def _list_in(side: ast.expr) -> tuple[ast.AST, str] | None:
    """Returns the list from which a structure is built, if it is a literal."""
    match side:
        case ast.Call(args=[ast.List() as elements], keywords=[]) if is_literal(elements):
            return elements, VALUE
    return None


def _suppresses(manager: ast.expr) -> bool:
    """Returns True for a block that may hide a failed assertion."""
    name = last_name(manager.func) if isinstance(manager, ast.Call) else dotted(manager)
    return "suppress" in name.lower() or "raises" in name.lower() or "warns" in name.lower()


def _columns(
    target: ast.expr, elements: Sequence[ast.expr]
) -> Iterator[tuple[str, Sequence[ast.expr]]]:
    if isinstance(target, ast.Name):
        yield target.id, elements
    if not isinstance(target, DISPLAYS):
        return
    rows = [one.elts for one in elements if isinstance(one, DISPLAYS)]
    if len(rows) != len(elements) or any(len(row) != len(target.elts) for row in rows):
        return
    for place, name in enumerate(target.elts):
        if isinstance(name, ast.Name):
            yield name.id, [row[place] for row in rows]
