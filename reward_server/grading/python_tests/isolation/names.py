"""Finds to what the names in a test file refer: modules, the solution, or objects of the file."""

from __future__ import annotations

import ast
import builtins
import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence

from reward_server.grading import syntax
from reward_server.grading.python_tests.isolation import process_state
from reward_server.grading.syntax import Function, dotted
from reward_server.recent import Recent

Scope = Function | ast.ClassDef | ast.Module
BUILTINS = frozenset(vars(builtins))
SETTERS = frozenset(("setattr", "delattr", "__setattr__", "__delattr__"))
# Functions that return a module by its name.
_GIVE_BY_NAME = frozenset(("import_module", "__import__", "importorskip"))
_PARTS, _SPACE = re.compile(r"\w+"), re.compile(r"\s")
_FOLLOWED = 4  # the most assignments in a chain that are followed against the order of the text
_LIBRARY = sysconfig.get_path("stdlib")
_KEPT_BYTES, _BYTES_OF_CHARACTER = 4 << 20, 4
_modules = Recent[bool](_KEPT_BYTES)
_OF_NUMPY = frozenset(("", "fft", "lib", "linalg", "ma", "polynomial", "random", "testing"))


class File:
    """The names that one file binds, and where they come from."""

    def __init__(self, tree: ast.Module, paths: Sequence[str], solution_path: str) -> None:
        self.tree = tree
        self.solution_path = solution_path
        path = solution_path.removesuffix(".py").removesuffix("/__init__")
        self.solution_module = path.replace("/", ".")
        self._own_modules = {part.removesuffix(".py") for path in paths for part in path.split("/")}
        self.aliases: set[str] = set()
        self.taken: set[str] = set()
        self.imported: dict[str, str] = {}
        self.origins: dict[str, frozenset[str]] = {}
        self.imported_whole: list[str] = []
        self.modules: set[str] = set()
        self.imported_own: set[str] = set()
        self.wanted: set[str] = set()
        takes_all = False
        for node in syntax.walk(tree):
            match node:
                case ast.Import(names=names):
                    for alias in names:
                        self._import(alias)
                case ast.ImportFrom(names=names):
                    takes_all |= self._import_from(node, names)
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                    if module := self.imported_by(call):
                        self._import(ast.alias(name=module, asname=name))
        self.bound = set(bound_in(syntax.walk(tree)))
        self._follow_names()
        for module in self.imported_whole:
            for name in process_state.public_names(module) - self.bound - set(self.imported):
                self.origins[name] = frozenset((f"{module}.{name}",))
        if takes_all:
            used = {node.id for node in syntax.walk(tree) if isinstance(node, ast.Name)}
            foreign = used - self.bound - set(self.imported) - BUILTINS
            self.taken |= foreign
            self.wanted |= foreign
        for node in syntax.walk(tree):
            if isinstance(node, ast.Attribute) and self.is_solutions(node.value):
                self.wanted |= set() if self.is_solution(dotted(node)) else {node.attr}

    def is_solution(self, name: str) -> bool:
        """Returns True if a dotted name is that of the solution's module, or the end of it."""
        module = self.solution_module
        return bool(name) and (module == name or module.endswith(f".{name}"))

    def is_solutions(self, node: ast.expr) -> bool:
        """Returns True if an expression names the solution's module."""
        return self.is_solution(dotted(node)) or dotted(node) in self.aliases

    def _import(self, alias: ast.alias) -> None:
        name = alias.asname or alias.name.partition(".")[0]
        if self.is_solution(alias.name):
            self.aliases.add(name)
        elif alias.name.partition(".")[0] not in self._own_modules:
            self._note(name, alias.name if alias.asname else name)
            self.modules.add(name)
        else:
            self.imported_own.add(name)

    def _import_from(self, node: ast.ImportFrom, names: Sequence[ast.alias]) -> bool:
        """Adds the names of an import; returns True if it takes all names of the solution."""
        module = node.module or ""
        if self.is_solution(module):
            for alias in names:
                self.taken.add(alias.asname or alias.name)
                self.wanted.add(alias.name)
            self.taken.discard("*")
            self.wanted.discard("*")
            return any(alias.name == "*" for alias in names)
        for alias in names:
            name = alias.asname or alias.name
            if self.is_solution(f"{module}.{alias.name}".lstrip(".")):
                self.aliases.add(name)
            elif not node.level and module.partition(".")[0] not in self._own_modules:
                self._note(name, f"{module}.{alias.name}")
                if _is_module(f"{module}.{alias.name}"):
                    self.modules.add(name)
                self.imported_whole += [module] if name == "*" else []
            else:
                self.imported_own.add(name)
        return False

    def imported_by(self, call: ast.Call) -> str:
        """Returns the name of the module that a call imports; "" if it imports none by a text."""
        names = {*chain_of(call.func)[-1:], self.origin(call.func).rpartition(".")[2]}
        match call.args:
            case [ast.Constant(value=str(module)), *_] if names & _GIVE_BY_NAME:
                return module
        return ""

    def solution_loader(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yields the nodes of the function by which an assignment imports the solution."""
        match node:
            case ast.Assign(targets=[ast.Name()], value=ast.Call() as call):
                if self.is_solution(self.imported_by(call)):
                    yield from syntax.walk(call.func)

    def _note(self, name: str, origin: str) -> None:
        self.imported[name] = origin
        self.origins[name] = self.origins.get(name, frozenset()) | {origin}

    def _follow_names(self) -> None:
        """Follows plain assignments of imported names and of functions that set attributes."""
        given = list(plain_bindings(self.tree))
        for _ in range(_FOLLOWED):
            size = sum(map(len, self.origins.values()))
            for name, value in given:
                origins = frozenset(self.origins_of(value))
                if self.is_solutions(value):
                    self.aliases.add(name)
                if origins and name not in self.imported:
                    self.origins[name] = self.origins.get(name, frozenset()) | origins
                if self.is_module(value):
                    self.modules.add(name)
            if size == sum(map(len, self.origins.values())):
                return

    def origins_of(self, node: ast.expr) -> list[str]:
        """Returns the full names of the imported objects that an expression may stand for."""
        root, dot, rest = dotted(node).partition(".")
        if root in SETTERS and root not in self.bound:
            return [f"builtins.{root}"]
        return [f"{origin}{dot}{rest}" for origin in self.origins.get(root, ())]

    def is_module(self, node: ast.expr) -> bool:
        """Returns True if an expression stands for a module that is no test file."""
        name = dotted(node)
        return name in self.modules or any(map(_is_module, self.origins_of(node)))

    def origin(self, node: ast.expr) -> str:
        """Returns the full name of the imported object that an expression names; "" for others."""
        name = dotted(node)
        root, _, rest = name.partition(".")
        origin = self.imported.get(root, "")
        return f"{origin}.{rest}" if origin and rest else origin

    def is_own(self, node: ast.expr) -> bool:
        """Returns True if an object is the tests' own: neither imported nor of the solution."""
        root = dotted(node).partition(".")[0]
        if root in self.aliases or root in self.taken or root in self.origins:
            return False
        return root in self.bound or root in self._own_modules

    def is_own_target(self, target: str) -> bool:
        """Returns True if a dotted target of a patch is in the tests' own files."""
        return target.partition(".")[0] in self._own_modules and not self.names_solution(target)

    def is_named_by(self, text: str) -> bool:
        """Returns True if a text contains the name of the solution's module as part of a path."""
        name = self.solution_module.rpartition(".")[2]
        return name in text and name in _PARTS.findall(text) and not _SPACE.search(text)

    def names_solution(self, target: str) -> bool:
        """Returns True if a dotted target lies in the solution."""
        parts = target.split(".")
        return any(self.is_solution(".".join(parts[:end])) for end in range(1, len(parts) + 1))


def chain_of(node: ast.expr) -> list[str]:
    """Returns the names in a chain of attributes; if it contains a call, those after the call."""
    match node:
        case ast.Name(id=name):
            return [name]
        case ast.Attribute(value=value, attr=name):
            return [*chain_of(value), name]
    return []


def plain_bindings(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yields the names that plain assignments bind, each with its value."""
    for node in syntax.walk(tree):
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from _paired(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                yield from _paired(target, value)
            case ast.NamedExpr(target=target, value=value):
                yield from _paired(target, value)


def _paired(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    match target, value:
        case ast.Name(id=name), ast.Name() | ast.Attribute():
            yield name, value
        case (
            (ast.Tuple(elts=ones) | ast.List(elts=ones)),
            (ast.Tuple(elts=others) | ast.List(elts=others)),
        ) if len(ones) == len(others):
            for one, other in zip(ones, others, strict=True):
                yield from _paired(one, other)


def _is_module(name: str) -> bool:
    """Returns True if a dotted name is a module of the standard library or of numpy."""
    return _modules.find(name, _BYTES_OF_CHARACTER * len(name), lambda: _looked_up(name))


def _looked_up(name: str) -> bool:
    root, _, rest = name.partition(".")
    if root == "numpy":
        return rest in _OF_NUMPY
    if root not in sys.stdlib_module_names:
        return False
    place = os.path.join(_LIBRARY, *name.split("."))
    return not rest or name == "os.path" or os.path.exists(f"{place}.py") or os.path.isdir(place)


def bound_in(parts: Iterable[ast.AST]) -> Iterator[str]:
    """Yields the names that nodes bind, without imported names."""
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
