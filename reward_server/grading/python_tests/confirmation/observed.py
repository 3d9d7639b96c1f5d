"""Writes tests that continue after a failed assertion and report the results of all assertions.

Such a test fails at its end with a message that has a word for each assertion. So the judge needs
no special code for it.
"""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

from reward_server.grading import syntax
from reward_server.grading.python_tests.assertions import TURNED, other_exceptions
from reward_server.grading.python_tests.confirmation import pairs
from reward_server.grading.python_tests.confirmation.helpers import Helpers, Text
from reward_server.grading.python_tests.confirmation.outcomes import LEFT_OUT, PREFIX, Place
from reward_server.grading.python_tests.confirmation.sites import (
    CLASS,
    FAR,
    PAIR,
    UNTOLD,
    VALUE,
    Assertion,
    Site,
    assertions_of,
    leaves_early,
)
from reward_server.grading.python_tests.literals import differs, evaluated, kind_of, literal, varied
from reward_server.grading.syntax import Function

_WORD_CHARACTERS = 900  # the maximum length of a report, which a judge keeps as a message
_OFFERED = 8
_TRIES = 20
_REMOTE_EXCEPTIONS = ("ZeroDivisionError", "OverflowError", "AttributeError", "TypeError")


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A test in a text.

    Args:
        test: its name in the results.
        owner: the node whose `body` is the test's.
        assertions: its assertions that can be made wrong.
    """

    test: str
    owner: ast.Module | Function
    assertions: tuple[Assertion, ...]


def body_of(
    test: str,
    owner: ast.Module | Function,
    heard: frozenset[str],
    called: Mapping[str, Sequence[ast.stmt]],
    text: Text,
) -> Body | None:
    """Reads a test; returns None if nothing in it can be made wrong, or if it may end early."""
    bodies = [owner.body, *called.values()]
    if any(map(leaves_early, bodies)):
        return None
    found, characters = list[Assertion](), 0
    helpers = Helpers(text, owner)
    for assertion in assertions_of(owner.body, heard, called, helpers):
        characters += 3 + assertion.rows
        if characters <= _WORD_CHARACTERS:
            found.append(assertion)
    helpers.place()
    return Body(test=test, owner=owner, assertions=tuple(found)) if found else None


class ObservedText:
    """One text and the tests in it.

    Args:
        tree: the parsed text.
        bodies: its tests.
    """

    def __init__(self, tree: ast.Module, bodies: Sequence[Body]) -> None:
        self._tree = tree
        self.bodies = tuple(bodies)
        self._numbers = {id(node): number for number, node in enumerate(syntax.walk(tree))}

    @property
    def places(self) -> tuple[Place, ...]:
        """All places that can be made wrong."""
        return tuple(
            Place(test=body.test, assertion=number, site=site)
            for body in self.bodies
            for number, assertion in enumerate(body.assertions)
            for site in range(len(assertion.sites))
        )

    @property
    def untold(self) -> frozenset[Place]:
        """The places that ask the solution nothing if they are made wrong."""
        return frozenset(
            Place(test=body.test, assertion=number, site=0)
            for body in self.bodies
            for number, assertion in enumerate(body.assertions)
            if assertion.sites[0].kind == UNTOLD
        )

    @property
    def telling(self) -> frozenset[Place]:
        """The places of assertions that reveal to the solution what another one expects."""
        return frozenset(
            Place(test=body.test, assertion=number, site=LEFT_OUT)
            for body in self.bodies
            for number, assertion in enumerate(body.assertions)
            if assertion.telling is not None
        )

    def written(self, wrong: Collection[Place], draw: random.Random) -> str:
        """Returns the text with some places made wrong, in which all tests report."""
        fresh = copy.deepcopy(self._tree)
        nodes = list(syntax.walk(fresh))
        recorder = f"seen_{draw.getrandbits(32):08x}"
        changes, statements = dict[int, ast.AST](), dict[int, _Observed]()
        values = self._values()
        for body in self.bodies:
            for number, assertion in enumerate(body.assertions):
                statement = nodes[self._numbers[id(assertion.statement)]]
                keys = list(self._kept(assertion, nodes, changes, recorder))
                failed = pairs.letter(recorder, keys)
                statements[id(statement)] = _Observed(number, assertion.rows > 0, failed)
                if Place(test=body.test, assertion=number, site=LEFT_OUT) in wrong:
                    assert assertion.telling is not None
                    told = [nodes[self._numbers[id(one)]] for one in assertion.telling.parts]
                    changes[id(statement)] = _without(statement, told)
                for place, site in enumerate(assertion.sites):
                    if Place(test=body.test, assertion=number, site=place) in wrong:
                        node = nodes[self._numbers[id(site.node)]]
                        changes[id(node)] = _exchanged(site, node, changes, values, draw)
        _Writer(changes, statements, recorder).visit(fresh)
        for body in self.bodies:
            owner = fresh if body.owner is self._tree else nodes[self._numbers[id(body.owner)]]
            assert isinstance(owner, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef))
            owner.body = _reporting(owner.body, body.assertions, recorder)
        return ast.unparse(ast.fix_missing_locations(fresh)) + "\n"

    def _kept(
        self,
        assertion: Assertion,
        nodes: Sequence[ast.AST],
        changes: dict[int, ast.AST],
        recorder: str,
    ) -> Iterator[tuple[int, int, str]]:
        """Makes an assertion remember its operands, and returns the keys of each pair."""
        for pair in assertion.pairs:
            keys = [self._numbers[id(side)] for side in (pair.answer, pair.other)]
            for key in keys:
                operand = nodes[key]
                assert isinstance(operand, ast.expr)
                if id(operand) not in changes:
                    changes[id(operand)] = pairs.kept(recorder, key, operand, pair.kind)
            yield keys[0], keys[1], pair.kind

    def _values(self) -> dict[str, list[object]]:
        """Returns the expected values of all tests, by type."""
        found: dict[str, list[object]] = {}
        for body in self.bodies:
            for assertion in body.assertions:
                for site in assertion.sites:
                    if site.kind in (VALUE, FAR):
                        value = evaluated(site.node)
                        found.setdefault(kind_of(value), []).append(value)
        return found


class _Observed(NamedTuple):
    """How an assertion is observed.

    Args:
        number: its index among the assertions of its test.
        is_apart: whether each of its evaluations is reported.
        failed: the expression of the letter that its word gets when it fails.
    """

    number: int
    is_apart: bool
    failed: str


def _exchanged(
    site: Site,
    node: ast.AST,
    changes: Mapping[int, ast.AST],
    values: Mapping[str, Sequence[object]],
    draw: random.Random,
) -> ast.AST:
    """Returns the replacement of a node; its size is remembered if that of the node was."""
    keeping = changes.get(id(node))
    if not isinstance(keeping, ast.Call):
        return _changed(site, node, values, draw)
    if site.kind == PAIR:
        return _changed(site, keeping, values, draw)
    keeping.args[1] = cast("ast.expr", _changed(site, node, values, draw))
    return keeping


def _changed(
    site: Site, node: ast.AST, values: Mapping[str, Sequence[object]], draw: random.Random
) -> ast.AST:
    if site.kind in (VALUE, FAR):
        return literal(_other(evaluated(site.node), values, draw, far=site.kind == FAR))
    if site.kind == PAIR:
        assert isinstance(node, ast.expr)
        return ast.Tuple(elts=[node, ast.Constant(value=None)], ctx=ast.Load())
    if site.kind == CLASS:
        assert isinstance(node, ast.expr)
        unlike = other_exceptions(node)
        remote = [name for name in _REMOTE_EXCEPTIONS if name in unlike] or list(
            _REMOTE_EXCEPTIONS[:1]
        )
        return ast.Name(id=draw.choice(remote), ctx=ast.Load())
    if site.kind == UNTOLD:
        return _untold(node)
    if isinstance(node, ast.Assert):
        return ast.Assert(test=ast.UnaryOp(op=ast.Not(), operand=node.test), msg=None)
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Attribute)
    node.func.attr = TURNED[node.func.attr]
    return node


def _without(statement: ast.AST, told: Sequence[ast.AST]) -> ast.AST:
    """Returns an assertion without some parts; one that fails if no part is left."""
    match statement:
        case ast.Assert(test=ast.BoolOp(values=values)) if len(told) < len(values):
            rest = [one for one in values if one not in told]
            return ast.Assert(test=ast.BoolOp(op=ast.And(), values=rest))
    return ast.Assert(test=ast.Constant(value=False))


def _untold(node: ast.AST) -> ast.AST:
    """Returns an assertion that evaluates the same operands separately, and fails."""
    if isinstance(node, ast.Assert):
        assert isinstance(node.test, ast.Compare)
        operands = ast.Tuple(elts=[node.test.left, *node.test.comparators], ctx=ast.Load())
        nothing = ast.Constant(value=None)
        return ast.Assert(test=ast.Compare(left=operands, ops=[ast.Is()], comparators=[nothing]))
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Attribute)
    node.func.attr, node.keywords = "assertIsNone", []
    node.args = [ast.Tuple(elts=node.args[:2], ctx=ast.Load())]
    return node


def _other(
    value: object, values: Mapping[str, Sequence[object]], draw: random.Random, *, far: bool
) -> object:
    """Returns another value of the same kind; half of the time another assertion's value."""
    # If all came from other assertions, each would occur twice, and so reveal its origin.
    pool = values.get(kind_of(value), ()) if draw.getrandbits(1) else ()
    for other in draw.sample(pool, min(_OFFERED, len(pool))):
        if differs(value, other, far=far):
            return other
    for _ in range(_TRIES):
        made = varied(value, draw, far=far)
        if differs(value, made, far=far):
            return made
    return (value, None)


class _Writer(ast.NodeTransformer):
    """Changes nodes, and makes assertions report their result instead of ending a test.

    Args:
        changes: new nodes, by the identity of the old ones.
        statements: how each assertion is observed, by the identity of its node.
        recorder: the name of the list of words.
    """

    def __init__(
        self,
        changes: Mapping[int, ast.AST],
        statements: Mapping[int, _Observed],
        recorder: str,
    ) -> None:
        self._changes = changes
        self._statements = statements
        self._recorder = recorder

    def visit(self, node: ast.AST) -> ast.AST:
        observed = self._statements.get(id(node))
        if isinstance(node, ast.Assert) and observed is not None:
            node.msg = None
        self.generic_visit(node)
        new = self._changes.get(id(node), node)
        if observed is None:
            return new
        assert isinstance(new, ast.stmt)
        return ast.Try(
            body=[new],
            handlers=[
                ast.ExceptHandler(
                    type=ast.Name(id="Exception", ctx=ast.Load()),
                    name=None,
                    body=self._noting(observed, observed.failed),
                )
            ],
            orelse=self._noting(observed, "'p'"),
            finalbody=[],
        )

    def _noting(self, observed: _Observed, letter: str) -> list[ast.stmt]:
        """Returns the statement that adds a letter, given as an expression, to a word."""
        word = f"{self._recorder}[{observed.number}]"
        if observed.is_apart:
            return syntax.parse(f"{word} += {letter}").body
        return syntax.parse(f"{word} = {word}.replace({letter}, '') + {letter}").body


def _reporting(
    body: Sequence[ast.stmt], assertions: Sequence[Assertion], recorder: str
) -> list[ast.stmt]:
    """Returns a test's body with empty words at its beginning and its report at its end."""
    begin = syntax.parse(f"{recorder} = [''] * {len(assertions)}").body
    if any(assertion.pairs for assertion in assertions):
        begin += pairs.helpers(recorder)
    end = syntax.parse(f"raise AssertionError({PREFIX!r} + ','.join({recorder}))").body
    imports = 0
    while imports < len(body) and _must_stay_first(body[imports]):
        imports += 1
    return [*body[:imports], *begin, *body[imports:], *end]


def _must_stay_first(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
        case ast.ImportFrom(module="__future__"):
            return True
        case ast.Global() | ast.Nonlocal():
            return True
    return False
