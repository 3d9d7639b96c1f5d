"""Finds the names of test files that may refer to something of the solution.

A statement may bind names, store attributes, put objects into containers or name objects by texts.
So an object that a statement mentions may later be known by all names that the statement stores.
"""

from __future__ import annotations

import ast
import unittest
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from reward_server.grading import syntax
from reward_server.grading.python_tests.isolation.names import BUILTINS, File
from reward_server.grading.syntax import FUNCTIONS, IMPORTS, Function, dotted

_DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
_INNER = (ast.stmt, ast.ExceptHandler, ast.match_case)
_SELVES = frozenset(("self", "cls"))
_LEADING = frozenset(("importlib", "runpy", "pkgutil", "__import__", "eval", "exec", "globals"))
_OF_CASES = frozenset(dir(unittest.IsolatedAsyncioTestCase))
FOLDERS = frozenset(("tmp_path", "tmpdir", "tmp_path_factory", "tmpdir_factory"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A statement without the statements inside it, an import, or a whole function or class.

    Args:
        parts: the nodes of its code.
        mentioned: the names in it; names of variables of a function are marked as belonging to it.
        kept: the names that may stand for the objects of the mentioned names afterwards.
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
        whole = list(syntax.walk(statement))
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
    """Yields the names in a node, also as a parameter, an import or a text."""
    match node:
        case ast.Name(id=name) | ast.arg(arg=name) | ast.Attribute(attr=name):
            yield name
        case ast.Constant(value=str(name)):
            yield name
        case ast.alias(name=name, asname=other):
            yield other or name.partition(".")[0]
            yield name


def _listed(text: ast.Constant) -> Iterator[str]:
    """Yields the names in a text that is a name, or a list of names separated by commas."""
    for part in named(text):
        yield from map(str.strip, part.split(","))


def _fixture(definition: ast.AST) -> Iterator[str]:
    """Yields the name that a decorator gives to its function."""
    for node in getattr(definition, "decorator_list", ()):
        for part in syntax.walk(node):
            if isinstance(part, ast.keyword) and part.arg == "name":
                yield from named(part.value)


def arguments(function: Function) -> set[str]:
    """Returns the names of a function's parameters."""
    return {node.arg for node in syntax.walk(function.args) if isinstance(node, ast.arg)}


def attributes_stored(parts: Iterable[ast.AST]) -> Iterator[str]:
    """Yields the names of the attributes that code sets."""
    for node in parts:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def _statements(tree: ast.Module) -> Iterator[tuple[ast.AST, Function | None]]:
    """Yields all statements, each with the outermost function around it, or itself."""
    waiting: list[tuple[ast.AST, Function | None]] = [(tree, None)]
    while waiting:
        node, function = waiting.pop()
        for child in syntax.children(node):
            if isinstance(child, _INNER):
                inside = function or (child if isinstance(child, FUNCTIONS) else None)
                yield child, inside
                waiting.append((child, inside))


def _parts(statement: ast.AST) -> Iterator[ast.AST]:
    """Yields the nodes of a statement, without those of the statements inside it."""
    waiting = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [one for one in syntax.children(node) if not isinstance(one, _INNER)]


def _variables(function: Function | None) -> set[str]:
    """Returns the names of a function's variables, also of the functions inside it."""
    if function is None:
        return set()
    parts = list(syntax.walk(function))
    shared = {name for one in parts if isinstance(one, ast.Global) for name in one.names}
    given = {one.arg for one in parts if isinstance(one, ast.arg)}
    return {*_stored(parts), *given} - shared


def _stored(parts: Iterable[ast.AST]) -> Iterator[str]:
    for node in parts:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _owners(parts: Iterable[ast.AST]) -> Iterator[str]:
    """Yields the names with a called method, an attribute or an element that is set."""
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


class Hearsay:
    """The names in test files that may refer to something of the solution.

    Args:
        files: the files in Python.
        hearing: names that count as referring to it in any case.
    """

    def __init__(self, files: Sequence[File], hearing: frozenset[str]) -> None:
        self.names = set(hearing).union(*(file.aliases | file.taken for file in files))
        self.modules = frozenset[str]().union(*(file.modules | file.aliases for file in files))
        nodes = [node for file in files for node in syntax.walk(file.tree)]
        self.own_classes = {node.name for node in nodes if isinstance(node, ast.ClassDef)}
        self._known = {*BUILTINS, *_OF_CASES, *self.names, *attributes_stored(nodes)}
        for file in files:
            self._known.update(file.bound, file.imported, file.imported_own)
        self._spread(files)
        fixtures = [
            (node.name, arguments(node))
            for node in nodes
            if isinstance(node, FUNCTIONS) and "fixture" in text_of_decorators(node)
        ]
        self.folders = set(FOLDERS)
        for _ in fixtures:
            self.folders |= {name for name, given in fixtures if given & self.folders}

    def _spread(self, files: Sequence[File]) -> None:
        """Adds all names that may stand for an object of a name that was found before."""
        kept_with: dict[str, list[AbstractSet[str]]] = {}
        waiting = list(self.names)
        for file in files:
            for unit in units_of(file.tree):
                kept = unit.kept - set(file.imported)
                if any(self._is_heard(file, part) for part in unit.parts):
                    waiting += kept
                for name in unit.mentioned:
                    kept_with.setdefault(name, []).append(kept)
        while waiting:
            name = waiting.pop()
            self.names.add(name)
            for kept in kept_with.pop(name, ()):
                waiting += kept - self.names

    def hears(self, file: File, node: ast.AST) -> bool:
        """Returns True if code uses the solution."""
        return any(
            self._is_heard(file, part) or not self.names.isdisjoint(named(part))
            for part in syntax.walk(node)
        )

    def _is_heard(self, file: File, node: ast.AST) -> bool:
        """Returns True if a node may be of the solution, because no file explains its name."""
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                origin = file.imported.get(name, name).partition(".")[0]
                is_known = name in self._known or name.startswith("__") or file.imported_whole
                return origin in _LEADING or not is_known
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
                return name not in self._known and not name.startswith("__")
            case ast.Attribute():
                return "." in dotted(node) and file.is_solution(dotted(node))
            case ast.Constant(value=str(text)):
                return file.is_named_by(text)
        return False


def text_of_decorators(function: Function) -> str:
    """Returns the decorators of a function as text."""
    return " ".join(ast.unparse(decorator) for decorator in function.decorator_list)
