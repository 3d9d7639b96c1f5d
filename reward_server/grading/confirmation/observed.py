"""Writes tests that go on behind a failed assertion and report what became of each.

A test reports by a failure in the end, whose message has a word for each assertion. So it needs
nothing of the judge but what any test needs.
"""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from reward_server.grading.assertions import TURNED, other_exceptions
from reward_server.grading.confirmation.outcomes import PREFIX, Place
from reward_server.grading.confirmation.sites import (
    CLASS,
    FAR,
    PAIR,
    VALUE,
    Assertion,
    Site,
    assertions_of,
    leaves_early,
)
from reward_server.grading.python_literals import differs, evaluated, kind_of, literal, varied

_WORD_CHARACTERS = 900  # of a report, within what a judge keeps of a message
_OFFERED = 8
_TRIES = 20
_REMOTE_EXCEPTIONS = ("ZeroDivisionError", "OverflowError", "AttributeError", "TypeError")


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A test in a text.

    Args:
        test: its name, as results have it.
        owner: the node whose `body` is the test's.
        assertions: what can be made wrong in it.
    """

    test: str
    owner: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef
    assertions: tuple[Assertion, ...]


def body_of(
    test: str,
    owner: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef,
    heard: frozenset[str],
    called: Mapping[str, Sequence[ast.stmt]],
) -> Body | None:
    """Reads a test; None if nothing in it can be made wrong, or if it may end early."""
    bodies = [owner.body, *called.values()]
    if any(map(leaves_early, bodies)):
        return None
    found, characters = list[Assertion](), 0
    for assertion in assertions_of(owner.body, heard, called):
        characters += 3 + assertion.rows
        if characters <= _WORD_CHARACTERS:
            found.append(assertion)
    return Body(test=test, owner=owner, assertions=tuple(found)) if found else None


class ObservedText:
    """One text and the tests in it.

    Args:
        tree: the text, parsed.
        bodies: its tests.
    """

    def __init__(self, tree: ast.Module, bodies: Sequence[Body]) -> None:
        self._tree = tree
        self.bodies = tuple(bodies)
        self._numbers = {id(node): number for number, node in enumerate(ast.walk(tree))}

    @property
    def places(self) -> tuple[Place, ...]:
        """Everything that can be made wrong."""
        return tuple(
            Place(test=body.test, assertion=number, site=site)
            for body in self.bodies
            for number, assertion in enumerate(body.assertions)
            for site in range(len(assertion.sites))
        )

    def written(self, wrong: Collection[Place], draw: random.Random) -> str:
        """Returns the text, in which some places are made wrong and all tests report."""
        fresh = copy.deepcopy(self._tree)
        nodes = list(ast.walk(fresh))
        recorder = f"seen_{draw.getrandbits(32):08x}"
        changes, statements = dict[int, ast.AST](), dict[int, tuple[int, bool]]()
        values = self._values()
        for body in self.bodies:
            for number, assertion in enumerate(body.assertions):
                statement = nodes[self._numbers[id(assertion.statement)]]
                statements[id(statement)] = (number, assertion.rows > 0)
                for place, site in enumerate(assertion.sites):
                    if Place(test=body.test, assertion=number, site=place) in wrong:
                        node = nodes[self._numbers[id(site.node)]]
                        changes[id(node)] = _changed(site, node, values, draw)
        _Writer(changes, statements, recorder).visit(fresh)
        for body in self.bodies:
            owner = fresh if body.owner is self._tree else nodes[self._numbers[id(body.owner)]]
            assert isinstance(owner, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef))
            owner.body = _reporting(owner.body, len(body.assertions), recorder)
        return ast.unparse(ast.fix_missing_locations(fresh)) + "\n"

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
    if isinstance(node, ast.Assert):
        return ast.Assert(test=ast.UnaryOp(op=ast.Not(), operand=node.test), msg=None)
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Attribute)
    node.func.attr = TURNED[node.func.attr]
    return node


def _other(
    value: object, values: Mapping[str, Sequence[object]], draw: random.Random, *, far: bool
) -> object:
    """Returns another value of the same kind, one of another assertion's where there is one."""
    pool = values.get(kind_of(value), ())
    for other in draw.sample(pool, min(_OFFERED, len(pool))):
        if differs(value, other, far=far):
            return other
    for _ in range(_TRIES):
        made = varied(value, draw, far=far)
        if differs(value, made, far=far):
            return made
    return (value, None)


class _Writer(ast.NodeTransformer):
    """Changes nodes, and has assertions tell what became of them instead of ending a test.

    Args:
        changes: new nodes, by the identity of the old ones.
        statements: the number of each assertion, by its identity, and whether its times are told
            apart.
        recorder: the name of the list of words.
    """

    def __init__(
        self,
        changes: Mapping[int, ast.AST],
        statements: Mapping[int, tuple[int, bool]],
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
        number, is_apart = observed
        return ast.Try(
            body=[new],
            handlers=[
                ast.ExceptHandler(
                    type=ast.Name(id="Exception", ctx=ast.Load()),
                    name=None,
                    body=self._noting("f", number, is_apart=is_apart),
                )
            ],
            orelse=self._noting("p", number, is_apart=is_apart),
            finalbody=[],
        )

    def _noting(self, letter: str, number: int, *, is_apart: bool) -> list[ast.stmt]:
        word = f"{self._recorder}[{number}]"
        if is_apart:
            return ast.parse(f"{word} += {letter!r}").body
        return ast.parse(f"{word} = {word}.replace({letter!r}, '') + {letter!r}").body


def _reporting(body: Sequence[ast.stmt], count: int, recorder: str) -> list[ast.stmt]:
    """Returns a test's body that begins with empty words and ends with its report."""
    begin = ast.parse(f"{recorder} = [''] * {count}").body
    end = ast.parse(f"raise AssertionError({PREFIX!r} + ','.join({recorder}))").body
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
