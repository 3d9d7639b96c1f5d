"""Which names of a file may come to mean what other names mean.

Statements bind names, store attributes, put things into containers and name things by texts. So
what one statement mentions may be known later by all names that it keeps.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from reward_server.grading.syntax import FUNCTIONS, IMPORTS, Function

_DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
_INNER = (ast.stmt, ast.ExceptHandler, ast.match_case)
_SELVES = frozenset(("self", "cls"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A statement without those inside it, an import, or all that a function or class has.

    Args:
        parts: of its code.
        mentioned: names, those of a function's variables marked as its own.
        kept: names that may come to mean what the mentioned ones mean.
    """

    parts: Sequence[ast.AST]
    mentioned: AbstractSet[str]
    kept: AbstractSet[str]


def units_of(tree: ast.Module) -> Iterator[Unit]:
    """Yields the units of a file."""
    statements = list(_statements(tree))
    outside = {
        name
        for one, function in statements
        if function is None and not isinstance(getattr(one, "value", None), ast.Constant)
        for name in _stored(_parts(one))
    }
    outside |= {name for one, _ in statements if isinstance(one, ast.Global) for name in one.names}
    nameable = outside | {
        name for one, _ in statements if isinstance(one, FUNCTIONS) for name in arguments(one)
    }
    nameable |= {one.name for one, _ in statements if isinstance(one, _DEFINITIONS)}
    own: dict[int, dict[str, str]] = {}
    for statement, function in statements:
        if id(function) not in own:
            own[id(function)] = {name: f"{name} {id(function)}" for name in _variables(function)}
        yield from _units(statement, own[id(function)], outside, nameable)


def _units(
    statement: ast.AST,
    own: Mapping[str, str],
    outside: AbstractSet[str],
    nameable: AbstractSet[str],
) -> Iterator[Unit]:
    parts = list(_parts(statement))
    if isinstance(statement, IMPORTS):
        for one in statement.names:
            bound = one.asname or one.name.partition(".")[0]
            yield Unit(parts=[], mentioned=set(named(one)), kept={bound})
        return
    if isinstance(statement, _DEFINITIONS):
        whole = list(ast.walk(statement))
        mentioned = {name for one in whole for name in named(one)}
        yield Unit(parts=whole, mentioned=mentioned, kept={statement.name, *_fixture(statement)})
    if isinstance(statement, ast.ClassDef):
        return
    names = {one.id for one in parts if isinstance(one, ast.Name)}
    others = {name for one in parts for name in named(one) if not isinstance(one, ast.Name)}
    texts = {name for one in parts if isinstance(one, ast.Constant) for name in _listed(one)}
    attributes = {one.attr for one in parts if isinstance(one, ast.Attribute)}
    kept = {*_stored(parts), *(own.keys() & set(_owners(parts))), *(names & outside)} - _SELVES
    if isinstance(statement, FUNCTIONS):
        kept |= arguments(statement) - _SELVES
    yield Unit(
        parts=parts,
        mentioned=others | {own.get(name, name) for name in names},
        kept={own.get(name, name) for name in kept}
        | set(attributes_stored(parts))
        | (texts & nameable)
        | (attributes & outside),
    )


def named(node: ast.AST) -> Iterator[str]:
    """Yields the names that a part of code mentions, also as a parameter, an import or a text."""
    match node:
        case ast.Name(id=name) | ast.arg(arg=name) | ast.Attribute(attr=name):
            yield name
        case ast.Constant(value=str(name)):
            yield name
        case ast.alias(name=name, asname=other):
            yield other or name.partition(".")[0]
            yield name


def _listed(text: ast.Constant) -> Iterator[str]:
    """Yields the names in a text that is one, or a list of some with commas between them."""
    for part in named(text):
        yield from map(str.strip, part.split(","))


def _fixture(definition: ast.AST) -> Iterator[str]:
    """Yields the name that a decorator gives to what it decorates."""
    for node in getattr(definition, "decorator_list", ()):
        for part in ast.walk(node):
            if isinstance(part, ast.keyword) and part.arg == "name":
                yield from named(part.value)


def arguments(function: Function) -> set[str]:
    """Returns the names of a function's parameters."""
    return {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}


def bound_in(parts: Iterable[ast.AST]) -> Iterator[str]:
    """Yields the names that parts of code bind, but for those that they import."""
    for node in parts:
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name) | ast.MatchMapping(rest=str(name)):
                yield name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.ExceptHandler(name=str(name)):
                yield name


def attributes_stored(parts: Iterable[ast.AST]) -> Iterator[str]:
    """Yields the names of attributes that parts of code set."""
    for node in parts:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def _statements(tree: ast.Module) -> Iterator[tuple[ast.AST, Function | None]]:
    """Yields all statements, with the outermost function that they are in, or are."""
    waiting: list[tuple[ast.AST, Function | None]] = [(tree, None)]
    while waiting:
        node, function = waiting.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, _INNER):
                inside = function or (child if isinstance(child, FUNCTIONS) else None)
                yield child, inside
                waiting.append((child, inside))


def _parts(statement: ast.AST) -> Iterator[ast.AST]:
    """Yields the parts of a statement that are in none inside it."""
    waiting = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [one for one in ast.iter_child_nodes(node) if not isinstance(one, _INNER)]


def _variables(function: Function | None) -> set[str]:
    """Returns the names of a function's own variables, those of functions inside it included."""
    if function is None:
        return set()
    parts = list(ast.walk(function))
    shared = {name for one in parts if isinstance(one, ast.Global) for name in one.names}
    given = {one.arg for one in parts if isinstance(one, ast.arg)}
    return {*_stored(parts), *given} - shared


def _stored(parts: Iterable[ast.AST]) -> Iterator[str]:
    for node in parts:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _owners(parts: Iterable[ast.AST]) -> Iterator[str]:
    """Yields the names whose methods are called, and those of which something is set."""
    for node in parts:
        match node:
            case ast.Call(func=ast.Attribute(value=owner)):
                yield from _root(owner)
            case ast.Attribute(ctx=ast.Store(), value=owner):
                yield from _root(owner)
            case ast.Subscript(ctx=ast.Store(), value=owner):
                yield from _root(owner)


def _root(node: ast.expr) -> Iterator[str]:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id
