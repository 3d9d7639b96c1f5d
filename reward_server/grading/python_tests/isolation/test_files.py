"""What the text of test files takes from the solution, and whether it can be kept apart from it.

Tests run in a judge of their own unless their text needs the solution itself: where it patches the
module or what the module may use, captures output, warnings or logs, shares files, subclasses or
inspects. The tests' own text decides, and never the solution's.

Most rules look at *hearing* code: what mentions the solution, or a name that may mean something of
it (see `hearsay`) or that no file explains, and the functions that such code names. What a test
does with things of its own needs nothing. The rules for changes of what the solution may use,
`_Rules.of_surroundings`, look at all that runs as it is used: modules, preparations, hooks, and the
functions that these name. The rules are of the text alone, so they err: where in doubt, tests live
with the solution, since a right solution that fails for want of it is worse than a weaker label.
"""

from __future__ import annotations

import ast
import builtins
import functools
import os
import re
import sys
import sysconfig
import unittest
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from reward_server.grading import syntax
from reward_server.grading.python_tests.collection import sets_filter, settings_of_process
from reward_server.grading.python_tests.isolation import policy, process_state
from reward_server.grading.python_tests.isolation.hearsay import (
    arguments,
    attributes_stored,
    bound_in,
    named,
    units_of,
)
from reward_server.grading.python_tests.isolation.kinds import Kinds
from reward_server.grading.python_tests.isolation.policy import Part, When
from reward_server.grading.syntax import FUNCTIONS, NAMES, Function, dotted, last_name

_BUILTINS = frozenset(vars(builtins))
_Scope = Function | ast.ClassDef | ast.Module
_USING, _AROUND = policy.by_name(policy.USING), policy.by_name(policy.AROUND)

# Libraries whose objects a judge can hand over or take, or that have to do with tests alone.
_HARMLESS_LIBRARIES = frozenset(("numpy", "pytest", "pytest_asyncio", "hypothesis"))
_FOLDERS = frozenset(("tmp_path", "tmpdir", "tmp_path_factory", "tmpdir_factory"))
_READINGS = frozenset(
    ("read_text", "read_bytes", "read", "readlines", "exists", "stat", "load", "loads", "open")
)
_MONKEYPATCH = frozenset(
    (
        *("setattr", "delattr", "setitem", "delitem", "setenv", "delenv", "chdir"),
        *("syspath_prepend",),
    )
)
_OF_PROCESS = frozenset(("setenv", "delenv", "chdir", "syspath_prepend"))
_SETTERS = frozenset(("setattr", "delattr", "__setattr__", "__delattr__"))
# What gives a module, or what else is no test's own, to whoever knows its name.
_GIVERS = frozenset(("getattr", "globals", "locals", "vars", "__import__", "importorskip"))
_LOOKS = frozenset(("hasattr", "getattr", "dir", *_SETTERS))
# What gives a module by the text of its name, and what leads to one, or its names, by any text.
_GIVE_BY_NAME = frozenset(("import_module", "__import__", "importorskip"))
_LEADING = frozenset(("importlib", "runpy", "pkgutil", "__import__", "eval", "exec", "globals"))
_PARTS, _SPACE = re.compile(r"\w+"), re.compile(r"\s")
_OF_CASES = frozenset(dir(unittest.IsolatedAsyncioTestCase))
# What is of tests alone: whoever changes it changes nothing for the solution.
_FRAMEWORKS = frozenset(("unittest", "pytest", "hypothesis"))
_ACTS = frozenset(("exec", "__import__", "seed"))
_FOLLOWED = 4  # assignments, one after another, against the order of the text
_LIBRARY = sysconfig.get_path("stdlib")
_OF_NUMPY = frozenset(("", "fft", "lib", "linalg", "ma", "polynomial", "random", "testing"))
# Special names by which what stands for a thing of the solution's has what that thing has.
_SHOWN = frozenset(
    (
        *("__call__", "__len__", "__getitem__", "__setitem__", "__delitem__", "__contains__"),
        *("__iter__", "__next__", "__reversed__", "__enter__", "__exit__", "__await__"),
        *("__aiter__", "__anext__", "__aenter__", "__aexit__", "__hash__", "__eq__", "__name__"),
        *("__qualname__", "__doc__", "__dict__", "__init__", "__str__", "__repr__"),
    )
)
_QUEUES = frozenset(("Queue", "LifoQueue", "PriorityQueue", "SimpleQueue"))
_DESCRIPTORS = frozenset(("property", "staticmethod", "classmethod"))
_CONTAINERS = (ast.List, ast.Dict, ast.Set)
_PLAIN_CLASSES = frozenset(
    ("builtins", "collections", "datetime", "decimal", "fractions", "numbers", "numpy", "typing")
)
# Abstract classes whose instances are told by what they derive from, and not by their methods.
_REGISTERED = re.compile(
    r"(?:collections\.abc|typing)\.(?:Mutable)?"
    r"(?:Mapping|Sequence|AbstractSet|ByteString|\w+View)|collections\.abc\.(?:Mutable)?Set"
)
_PREPARATIONS = frozenset(
    (
        *("setUp", "tearDown", "setUpClass", "tearDownClass", "asyncSetUp", "asyncTearDown"),
        *("setup_method", "teardown_method", "setup_class", "teardown_class", "setup_function"),
        *("setUpModule", "setup_module", "runTest", "tearDownModule", "teardown_module"),
        *("teardown_function", "load_tests"),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What the text of test files says.

    Args:
        wanted: names that the tests take from the solution, as far as they are known.
        reasons: why they have to live with the solution; none if they need not.
    """

    wanted: frozenset[str]
    reasons: tuple[str, ...]


def parse_files(files: Iterable[tuple[str, str]]) -> dict[str, ast.Module]:
    """Parses test files; those that are no Python, or not to be parsed, are left out."""
    trees = {}
    for path, text in files:
        if path.endswith(".py"):
            try:
                trees[path] = syntax.parse(text)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
    return trees


def read_suite(
    trees: Mapping[str, ast.Module],
    texts: Sequence[tuple[str, str]],
    solution_path: str,
    heard_by: frozenset[str] = frozenset(),
) -> Reading:
    """Reads test files.

    Args:
        trees: those in Python, parsed, by path.
        texts: all files, with their text.
        solution_path: where tests find the solution.
        heard_by: names of functions that hear of the solution, whatever they name themselves.
    """
    paths = [path for path, _ in texts]
    files = [_File(tree, paths, solution_path) for tree in trees.values()]
    hearsay = _Hearsay(files, heard_by)
    rules = [_Rules(file, hearsay, paths) for file in files]
    reasons = [reason for one in rules for reason in one.reasons()]
    if any(one.hearing for one in rules):
        prepares = [(one, scope) for one in rules for scope in one.preparing()]
        hears = [(one, scope) for one in rules for scope in one.hearing]
        hearing = list(_reached(rules, [*hears, *prepares]))
        reasons += [reason for one, scope in hearing for reason in one.of_scope(scope)]
        around = [(one, scope) for one in rules for scope in one.around()]
        scopes = list(_reached(rules, [*hearing, *around]))
        reasons += [reason for one, scope in scopes for reason in one.of_surroundings(scope)]
        reached = [(one, part) for one, scope in scopes for part in _own_parts(scope)]
        known = {id(part) for one, node in reached for part in one.file.solution_loader(node)}
        reasons += process_state.reasons(
            (part, one.file.origins) for one, part in reached if id(part) not in known
        )
        reasons += ["shares files" for one, part in reached if one.shares_file(part)]
        reasons += [reason for path, text in texts for reason in settings_of_process(path, text)]
    wanted = frozenset[str]().union(*(file.wanted for file in files))
    return Reading(wanted=wanted, reasons=tuple(dict.fromkeys(reasons)))


class _File:
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
        for node in ast.walk(tree):
            match node:
                case ast.Import(names=names):
                    for alias in names:
                        self._import(alias)
                case ast.ImportFrom(names=names):
                    takes_all |= self._import_from(node, names)
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                    if module := self.imported_by(call):
                        self._import(ast.alias(name=module, asname=name))
        self.bound = set(bound_in(ast.walk(tree)))
        self._follow_names()
        for module in self.imported_whole:
            for name in process_state.public_names(module) - self.bound - set(self.imported):
                self.origins[name] = frozenset((f"{module}.{name}",))
        if takes_all:
            used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
            foreign = used - self.bound - set(self.imported) - _BUILTINS
            self.taken |= foreign
            self.wanted |= foreign
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and self.is_solutions(node.value):
                self.wanted |= set() if self.is_solution(dotted(node)) else {node.attr}

    def is_solution(self, name: str) -> bool:
        """Returns True if a dotted name is that of the solution's module, or ends as it does."""
        module = self.solution_module
        return bool(name) and (module == name or module.endswith(f".{name}"))

    def is_solutions(self, node: ast.expr) -> bool:
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
        """Takes note of an import; tells whether it takes all that the solution has."""
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
        """Returns the name of the module that a call imports; "" if it is none, or not told."""
        names = {*_chain(call.func)[-1:], self.origin(call.func).rpartition(".")[2]}
        match call.args:
            case [ast.Constant(value=str(module)), *_] if names & _GIVE_BY_NAME:
                return module
        return ""

    def solution_loader(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yields the parts of what a statement calls to import the solution under a name."""
        match node:
            case ast.Assign(targets=[ast.Name()], value=ast.Call() as call):
                if self.is_solution(self.imported_by(call)):
                    yield from ast.walk(call.func)

    def _note(self, name: str, origin: str) -> None:
        self.imported[name] = origin
        self.origins[name] = self.origins.get(name, frozenset()) | {origin}

    def _follow_names(self) -> None:
        """Has names that stand for what was imported, or for what sets attributes, mean it."""
        given = list(_plain_bindings(self.tree))
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
        """Returns the full names of what an expression may name, if they are none of the tests'."""
        root, dot, rest = dotted(node).partition(".")
        if root in _SETTERS and root not in self.bound:
            return [f"builtins.{root}"]
        return [f"{origin}{dot}{rest}" for origin in self.origins.get(root, ())]

    def is_module(self, node: ast.expr) -> bool:
        """Returns True if an expression names a module that is none of the tests'."""
        name = dotted(node)
        return name in self.modules or any(map(_is_module, self.origins_of(node)))

    def origin(self, node: ast.expr) -> str:
        """Returns the full name of what an expression names, if an import gave it."""
        name = dotted(node)
        root, _, rest = name.partition(".")
        origin = self.imported.get(root, "")
        return f"{origin}.{rest}" if origin and rest else origin

    def is_own(self, node: ast.expr) -> bool:
        """Returns True if the tests made something: it is neither imported nor the solution's."""
        root = dotted(node).partition(".")[0]
        if root in self.aliases or root in self.taken or root in self.origins:
            return False
        return root in self.bound or root in self._own_modules

    def is_own_target(self, target: str) -> bool:
        """Returns True if a dotted target of a patch lies in the tests' own files."""
        return target.partition(".")[0] in self._own_modules and not self.names_solution(target)

    def is_named_by(self, text: str) -> bool:
        """Returns True if a text has the name of the solution's module as a part of a path."""
        name = self.solution_module.rpartition(".")[2]
        return name in text and name in _PARTS.findall(text) and not _SPACE.search(text)

    def names_solution(self, target: str) -> bool:
        """Returns True if a dotted target lies in the solution."""
        parts = target.split(".")
        return any(self.is_solution(".".join(parts[:end])) for end in range(1, len(parts) + 1))


class _Hearsay:
    """Which names lead to the solution, whatever they are names of.

    Args:
        files: those in Python.
        hearing: names that do in any case.
    """

    def __init__(self, files: Sequence[_File], hearing: frozenset[str]) -> None:
        self.names = set(hearing).union(*(file.aliases | file.taken for file in files))
        self.modules = frozenset[str]().union(*(file.modules | file.aliases for file in files))
        nodes = [node for file in files for node in ast.walk(file.tree)]
        self.own_classes = {node.name for node in nodes if isinstance(node, ast.ClassDef)}
        self._known = {*_BUILTINS, *_OF_CASES, *self.names, *attributes_stored(nodes)}
        for file in files:
            self._known.update(file.bound, file.imported, file.imported_own)
        self._spread(files)
        fixtures = [
            (node.name, arguments(node))
            for node in nodes
            if isinstance(node, FUNCTIONS) and "fixture" in _text_of_decorators(node)
        ]
        self.folders = set(_FOLDERS)
        for _ in fixtures:
            self.folders |= {name for name, given in fixtures if given & self.folders}

    def _spread(self, files: Sequence[_File]) -> None:
        """Has all names heard that may come to mean what a heard name means."""
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

    def hears(self, file: _File, node: ast.AST) -> bool:
        """Returns True if code uses the solution."""
        return any(
            self._is_heard(file, part) or not self.names.isdisjoint(named(part))
            for part in ast.walk(node)
        )

    def _is_heard(self, file: _File, node: ast.AST) -> bool:
        """Returns True if a part of code is heard by itself, as a name is that no file explains."""
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


class _Rules:
    """What hearing code of one file does that needs the solution itself."""

    def __init__(self, file: _File, hearsay: _Hearsay, paths: Sequence[str]) -> None:
        self.file = file
        self._hearsay = hearsay
        self._data = {os.path.basename(path) for path in paths}
        self.hearing = [scope for scope in self._scopes() if self._is_hearing(scope)]
        self._coroutine_functions = {
            node.name
            for node in ast.walk(file.tree)
            if isinstance(node, ast.AsyncFunctionDef) and "fixture" not in _text_of_decorators(node)
        }
        self._own_folders = {"__file__", *_FOLDERS}
        for node in file.tree.body:
            if isinstance(node, ast.Assign) and _uses_any(node.value, self._own_folders):
                self._own_folders |= set(_names_at_top(node, file.tree))

    def reasons(self) -> Iterator[str]:
        """Yields the reasons, outermost first."""
        yield from self._of_classes()
        for node in ast.walk(self.file.tree):
            if isinstance(node, ast.Call):
                yield from self._of_solution_targets(node)
            elif isinstance(node, ast.Constant):
                yield from self._of_solution_file(node)

    def of_scope(self, scope: _Scope) -> Iterator[str]:
        """Yields reasons in hearing code."""
        yield from Kinds(self.file, self._hears, list(_own_parts(scope))).reasons()
        raised = set[int]()
        for part in _own_parts(scope):
            if isinstance(part, ast.Raise):
                raised.update(map(id, ast.walk(part)))
            elif id(part) not in raised:
                yield from self._of(part, scope)

    def _scopes(self) -> Iterator[_Scope]:
        for node in ast.walk(self.file.tree):
            if isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Module)):
                yield node

    def preparing(self) -> Iterator[_Scope]:
        """Returns what runs before or behind tests without being named."""
        return (one for one in self._scopes() if isinstance(one, FUNCTIONS) and _prepares(one))

    def around(self) -> Iterator[_Scope]:
        """Yields what runs in any case."""
        for scope in self._scopes():
            if not isinstance(scope, FUNCTIONS) or scope.name.startswith("__"):
                yield scope

    def _is_hearing(self, scope: _Scope) -> bool:
        return getattr(scope, "name", "") in self._hearsay.names or self._hears(scope)

    def _hears(self, node: ast.AST) -> bool:
        return self._hearsay.hears(self.file, node)

    def of_surroundings(self, scope: _Scope) -> Iterator[str]:
        """Yields reasons in code that runs as the solution is used, whether it hears it or not."""
        looked_at = set[int]()
        for node in _own_parts(scope):
            looked_at.update(map(id, _only_looked_at(node, scope)))
            match node:
                case ast.Call():
                    yield from self._of_change(node, scope)
                    yield from self._of_queues(node)
                case ast.Attribute(ctx=ast.Load()) | ast.Name(ctx=ast.Load()):
                    yield from self._of_library(node)
                    yield from self._around_by_policy(node)
                    yield from self._of_waits(node, Part.MEANT)
                    if id(node) not in looked_at:
                        yield from self._of_value(node)
                case ast.While():
                    for part in ast.walk(node):
                        yield from self._of_waits(part, Part.MEANT_IN_LOOP)
                case ast.Attribute(value=owner) if not self._is_own(owner, node.attr):
                    yield f"changes {dotted(node) or node.attr}"
                case ast.Subscript(ctx=ast.Store() | ast.Del(), value=owner) if not self._is_own(
                    owner
                ):
                    yield f"changes {dotted(_innermost(owner)) or 'what a call gives'}"

    def _of_change(self, call: ast.Call, scope: _Scope) -> Iterator[str]:
        """Looks at what changes something, by whatever name."""
        chains = [_chain(call.func), *(one.split(".") for one in self.file.origins_of(call.func))]
        names = {chain[-1] for chain in chains if chain}
        if (any("patch" in chain for chain in chains) and not self._patches_own(call)) or (
            _is_monkeypatch(call) and not self._patches_own(call, scope)
        ):
            yield "patches what the solution may use"
        elif (setters := names & _SETTERS) and not _is_monkeypatch(call):
            is_whole = len(call.args) > 1 + any(name.endswith("setattr__") for name in setters)
            changed = call.args[0] if is_whole or isinstance(call.func, ast.Name) else call.func
            if not self._is_own(changed) or dotted(changed) in self.file.taken:
                yield f"calls {min(setters)}()"
        elif acts := names & _ACTS:
            yield f"calls {min(acts)}()"
        elif sets_filter(call):
            yield "makes warnings errors"

    def _of_value(self, node: ast.Attribute | ast.Name) -> Iterator[str]:
        """Looks at what is handed over, or kept under a name that is not followed."""
        is_named = dotted(node) in self.file.aliases or isinstance(node, ast.Attribute)
        if (is_named and self.file.is_solutions(node)) or self.file.is_module(node):
            yield f"hands over the module {dotted(node)}"
        elif any(map(_is_changer, self.file.origins_of(node))):
            yield f"hands over {dotted(node)}"

    def _is_own(self, node: ast.expr, attribute: str = "") -> bool:
        """Returns True if something that is changed is surely of the tests' making, or of a call's.

        Args:
            node: the thing.
            attribute: of it that is changed, if it is one.
        """
        inner = _innermost(node)
        origins = self.file.origins_of(inner)
        if any(one.partition(".")[0] in _FRAMEWORKS for one in origins):
            return True
        if self._leads_out(_chain(node)[1:]):
            return False
        if isinstance(inner, ast.Name):
            return self._is_own_name(inner.id)
        if isinstance(inner, ast.Call):
            given = _chain(inner.func)[-1:]
            return not (given and given[0] in _GIVERS and (attribute or inner is not node))
        return True

    def _is_own_name(self, name: str) -> bool:
        file = self.file
        if name in file.aliases or name in file.origins:
            return False
        is_another_files = name in file.imported_own and name not in self._hearsay.modules
        return is_another_files or name in file.taken or name in file.bound

    def _leads_out(self, names: Sequence[str]) -> bool:
        """Returns True if attributes lead to a module that one of the files imports."""
        return not self._hearsay.modules.isdisjoint(names)

    def _of_classes(self) -> Iterator[str]:
        for node in ast.walk(self.file.tree):
            if isinstance(node, ast.ClassDef):
                for base in node.bases:
                    is_own = last_name(base) in self._hearsay.own_classes
                    if self._hears(base) and not is_own:
                        yield f"{node.name} is a subclass of the solution's"

    def _of_solution_targets(self, call: ast.Call) -> Iterator[str]:
        for argument in call.args[:1]:
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                target = argument.value
                patches = "patch" in _chain(call.func) or _is_monkeypatch(call)
                if patches and self.file.names_solution(target):
                    yield f"patches {target}"

    def _of_solution_file(self, constant: ast.Constant) -> Iterator[str]:
        path = self.file.solution_path
        if constant.value in (path, os.path.basename(path)):
            yield f"names the file {path}"

    def _of(self, node: ast.AST, scope: _Scope) -> Iterator[str]:
        match node:
            case ast.Call():
                yield from self._of_call(node, scope)
            case ast.Name(id=name) if self.file.imported.get(name, "").startswith("dataclasses"):
                yield "uses dataclasses"
            case ast.With() | ast.AsyncWith():
                yield from self._of_block(node)
            case ast.Assign(value=ast.Call(func=maker)) if self._is_descriptor(maker, scope):
                yield "has a class with something of the solution's"
            case ast.MatchClass(cls=kind) if self._hears(kind):
                yield "matches a class of the solution's"
            case ast.TryStar():
                yield "expects groups of exceptions"
            case ast.Compare():
                yield from self._of_comparison(node)
            case _:
                yield from self._by_policy(node, scope)

    def _by_policy(self, node: ast.AST, scope: _Scope) -> Iterator[str]:
        """Yields what the policy says of a part of hearing code, by its name."""
        for part, name in _names_of(node):
            row = _USING.get((part, name))
            if row is not None and self._holds(row.when, node, scope):
                yield row.reason.format(name)

    def _holds(self, when: When, node: ast.AST, scope: ast.AST) -> bool:
        match when:
            case When.HEARS:
                return self._hears(node)
            case When.TAKES:
                return any(map(self._hears, getattr(node, "args", ())))
            case When.SILENT:
                return not _prints(scope)
        return True

    def _of_call(self, call: ast.Call, scope: _Scope) -> Iterator[str]:
        chain = _chain(call.func)
        name = chain[-1] if chain else ""
        if self._hears(call.func) and any(map(self._is_coroutine_function, call.args)):
            yield "hands over a coroutine function"
        if reasons := list(self._by_policy(call, scope)):
            yield from reasons
        elif name in ("isinstance", "assertIsInstance", "assertNotIsInstance"):
            yield from self._of_kinds(call.args[1:2])
        elif name in ("hasattr", "getattr") and (asked := _special(call)):
            yield f"asks for {asked}"
        elif self._hears(call.func) and isinstance(scope, FUNCTIONS):
            yield from self._of_shared_folders(call, scope)

    def _around_by_policy(self, node: ast.Name | ast.Attribute) -> Iterator[str]:
        """Yields what the policy says of any code, by a name and by the import that gave it."""
        origin = self.file.origin(node)
        attribute = node.attr if isinstance(node, ast.Attribute) else ""
        for part, name in (
            (Part.IMPORTED, origin),
            (Part.ATTRIBUTE, attribute),
            (Part.IMPORTED_LAST, origin.rpartition(".")[2]),
        ):
            row = _AROUND.get((part, name))
            if row is not None:
                yield row.reason.format(name)
                return

    def _of_waits(self, node: ast.AST, part: Part) -> Iterator[str]:
        """Looks for what waits, meanwhile the solution may work in threads, timers and tasks."""
        if isinstance(node, NAMES):
            for origin in sorted({*self.file.origins_of(node)}):
                if row := _AROUND.get((part, origin)):
                    yield row.reason.format(origin)

    def _of_queues(self, call: ast.Call) -> Iterator[str]:
        """Looks for what waits for another thread's doing with a queue."""
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        is_timed = any(one.arg == "timeout" for one in call.keywords)
        takes = name in ("get", "join") and not call.args
        if takes or (is_timed and name in ("get", "join", "put")):
            known = frozenset[str]().union(*self.file.origins.values())
            if known & {"queue", *(f"queue.{one}" for one in _QUEUES)}:
                yield f"waits by {name}() of a queue, while the solution may work"

    def _is_coroutine_function(self, node: ast.expr) -> bool:
        return dotted(node) in self._coroutine_functions

    def _is_descriptor(self, maker: ast.expr, scope: _Scope) -> bool:
        """Returns True if a class that is no test case has something of the solution's making."""
        if not isinstance(scope, ast.ClassDef) or scope.name.startswith("Test"):
            return False
        is_case = any(dotted(base).endswith("TestCase") for base in scope.bases)
        return not is_case and self._hears(maker)

    def _patches_own(self, call: ast.Call, scope: _Scope | None = None) -> bool:
        """Returns True if a patch is of the tests' own things, or of what this test itself uses."""
        if not call.args:
            return False
        target = call.args[0]
        if _chain(call.func)[-1] in _OF_PROCESS:
            return False
        if isinstance(target, ast.Constant) and isinstance(target.value, str):
            is_within = self._leads_out(target.value.split(".")[1:-1])
            return self.file.is_own_target(target.value) and not is_within
        if self._is_own(target) and not self._hears(target):
            return True
        return scope is not None and self._uses_attribute(scope, call)

    def _uses_attribute(self, scope: _Scope, call: ast.Call) -> bool:
        """Returns True if code uses the attribute that a patch replaces."""
        if len(call.args) < 2 or self._hears(call.args[0]):
            return False
        target, name = dotted(call.args[0]), call.args[1]
        if not target or not isinstance(name, ast.Constant):
            return False
        return any(dotted(node) == f"{target}.{name.value!s}" for node in ast.walk(scope))

    def _of_library(self, node: ast.Name | ast.Attribute) -> Iterator[str]:
        if not isinstance(node, ast.Name):
            return
        root = self.file.imported.get(node.id, "").partition(".")[0]
        if root and root not in sys.stdlib_module_names and root not in _HARMLESS_LIBRARIES:
            yield f"uses {root}, whose objects cannot be handed over"

    def _of_block(self, block: ast.With | ast.AsyncWith) -> Iterator[str]:
        for item in block.items:
            call = item.context_expr
            name = _chain(call.func)[-1:] if isinstance(call, ast.Call) else []
            if isinstance(call, ast.Call) and self._hears(call.func):
                yield from self._of_manager(call)
            row = _USING.get((Part.MANAGER, name[0])) if name else None
            if row and self._holds(row.when, block, block) and any(map(self._hears, block.body)):
                yield row.reason.format(name[0])

    def _of_manager(self, call: ast.Call) -> Iterator[str]:
        """Looks whether the solution changes a container before and behind a block."""
        given = {node.id for node in call.args if isinstance(node, ast.Name)}
        for node in ast.walk(self.file.tree):
            is_container = isinstance(node, ast.Assign) and isinstance(node.value, _CONTAINERS)
            if is_container and given & {name.id for name in _bound_by(node)}:
                yield "hands a container to a manager of the solution's"

    def _of_kinds(self, kinds: Sequence[ast.expr]) -> Iterator[str]:
        for kind in kinds:
            for part in kind.elts if isinstance(kind, ast.Tuple) else [kind]:
                root = self.file.origin(part).partition(".")[0]
                if dotted(part) in _DESCRIPTORS:
                    yield f"asks for instances of {dotted(part)}"
                is_told = root in _PLAIN_CLASSES and not _REGISTERED.fullmatch(
                    self.file.origin(part)
                )
                if root and not is_told:
                    yield f"asks for instances of {dotted(part)}"

    def _of_comparison(self, comparison: ast.Compare) -> Iterator[str]:
        sides = [comparison.left, *comparison.comparators]
        asks = any(isinstance(side, ast.Call) and dotted(side.func) == "type" for side in sides)
        if asks and any(self._hears(side) for side in sides if dotted(side)):
            yield "compares with a class of the solution's"
        if any(isinstance(one, (ast.Is, ast.IsNot)) for one in comparison.ops):
            yield from self._of_identity(sides, asks=asks)

    def _of_identity(self, sides: Sequence[ast.expr], *, asks: bool) -> Iterator[str]:
        if not asks and any(self._is_class(side) for side in sides):
            yield "compares with a class of the solution's"
        calls = any(isinstance(side, ast.Call) and self._hears(side.func) for side in sides)
        if calls and any(isinstance(side, ast.Subscript) for side in sides):
            yield "asks whether a result is an element"

    def _is_class(self, node: ast.expr) -> bool:
        """Returns True for a name of the solution's as classes have it."""
        name = last_name(node)
        is_class = name[:1].isupper() and (len(name) == 1 or not name.isupper())
        return is_class and self._hears(node)

    def shares_file(self, node: ast.AST) -> bool:
        """Returns True for what opens a file, or names one, that is none of the tests' own."""
        return isinstance(node, ast.Call) and self._opens(node) and not self._reads_own_data(node)

    def _opens(self, call: ast.Call) -> bool:
        origin = self.file.origin(call.func)
        is_path = origin.startswith("pathlib.Path")
        return is_path or _chain(call.func)[-1:] in (["open"], ["Path"])

    def _reads_own_data(self, call: ast.Call) -> bool:
        if len(call.args) > 1 and dotted(call.func) == "open":
            mode = call.args[1]
            if isinstance(mode, ast.Constant) and set(str(mode.value)) & set("wax+"):
                return False
        for node in ast.walk(call):
            if isinstance(node, ast.Name) and node.id in self._own_folders:
                return True
            if isinstance(node, ast.Constant) and os.path.basename(str(node.value)) in self._data:
                return True
        return False

    def _of_shared_folders(self, call: ast.Call, function: Function) -> Iterator[str]:
        """Looks whether a path that only the tests can see is handed to the solution."""
        paths = arguments(function) & self._hearsay.folders
        if not paths:
            return
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and _mentions(node.value, paths):
                paths |= {name.id for target in node.targets for name in _stored(target)}
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        if any(_mentions(argument, paths) for argument in given):
            yield "hands over a path of its own files"


def _reached(
    rules: Sequence[_Rules], first: Iterable[tuple[_Rules, _Scope]]
) -> Iterator[tuple[_Rules, _Scope]]:
    """Yields scopes, and the functions that one of them names, with the rules of their files."""
    by_name: dict[str, list[tuple[_Rules, _Scope]]] = {}
    for one in rules:
        for node in ast.walk(one.file.tree):
            if isinstance(node, FUNCTIONS):
                by_name.setdefault(node.name, []).append((one, node))
    waiting, seen = list(first), set[int]()
    while waiting:
        one, scope = waiting.pop()
        if id(scope) not in seen:
            seen.add(id(scope))
            yield one, scope
            for part in _own_parts(scope):
                for name in named(part):
                    waiting += by_name.pop(name, ())


def _prepares(function: Function) -> bool:
    """Returns True for preparations, hooks and fixtures for all tests."""
    name = function.name
    is_known = name in _PREPARATIONS or name.startswith("pytest_")
    return is_known or "autouse" in _text_of_decorators(function)


# ------------------------------------------------------------------------------- small looks


def _chain(node: ast.expr) -> list[str]:
    """Returns the names on the way to what is called, also behind calls."""
    match node:
        case ast.Name(id=name):
            return [name]
        case ast.Attribute(value=value, attr=name):
            return [*_chain(value), name]
    return []


def _names_of(node: ast.AST) -> Iterator[tuple[Part, str]]:
    """Yields the names of a part of code, with what they are there."""
    match node:
        case ast.Call(func=function):
            yield from ((Part.CALLED, name) for name in _chain(function)[-1:])
            if isinstance(function, ast.Attribute):
                yield Part.METHOD, function.attr
        case ast.Attribute(attr=name):
            yield Part.ATTRIBUTE, name
            yield Part.MENTION, name
        case ast.Name(id=name):
            yield Part.MENTION, name
        case ast.arg(arg=name):
            yield Part.PARAMETER, name


def _own_parts(scope: _Scope) -> Iterator[ast.AST]:
    """Yields what is in a scope and not in a function or class inside it, but for their heads."""
    waiting: list[ast.AST] = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop(0)
        yield node
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            if isinstance(scope, FUNCTIONS):
                waiting += ast.iter_child_nodes(node)
            continue
        waiting += ast.iter_child_nodes(node)


def _names_at_top(node: ast.Assign | ast.AnnAssign, tree: ast.Module) -> Iterator[str]:
    if node in tree.body:
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            yield from (name.id for name in _stored(target))


def _bound_by(node: ast.AST) -> Iterator[ast.Name]:
    for target in getattr(node, "targets", ()):
        yield from _stored(target)


def _stored(target: ast.expr) -> Iterator[ast.Name]:
    return (part for part in ast.walk(target) if isinstance(part, ast.Name))


def _is_monkeypatch(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in _MONKEYPATCH


def _is_changer(origin: str) -> bool:
    """Returns True if a full name is of what changes whatever it is given."""
    is_patch = "patch" in origin.split(".") and not origin.endswith(".stopall")
    return is_patch or origin.rpartition(".")[2] in _SETTERS


def _innermost(node: ast.expr) -> ast.expr:
    """Returns what attributes and elements are taken of."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.NamedExpr)):
        node = node.value
    return node


def _only_looked_at(node: ast.AST, scope: _Scope) -> Iterable[ast.AST]:
    """Returns parts of an expression or statement by which nothing else gets to have them."""
    match node:
        case ast.Attribute(value=part) | ast.If(test=part) | ast.While(test=part):
            return [part]
        case ast.IfExp(test=part) | ast.Assert(test=part) | ast.UnaryOp(operand=part):
            return [part]
        case ast.Expr(value=part):
            return [part]
        case ast.Compare(left=left, comparators=others):
            return [left, *others]
        case ast.Call(func=function, args=arguments):
            name = _chain(function)[-1:]
            is_look = (name and name[0] in _LOOKS | _MONKEYPATCH) or "patch" in _chain(function)
            return [function, *(arguments[:1] if is_look else ())]
        case ast.Assign() | ast.AnnAssign() if not isinstance(scope, ast.ClassDef):
            return [value for _, value in _plain_bindings(node)]
    return ()


def _plain_bindings(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yields names that a plain assignment binds, each with what it means then."""
    for node in ast.walk(tree):
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


@functools.cache
def _is_module(name: str) -> bool:
    """Returns True if a dotted name is that of a module of the standard library's, or numpy's."""
    root, _, rest = name.partition(".")
    if root == "numpy":
        return rest in _OF_NUMPY
    if root not in sys.stdlib_module_names:
        return False
    place = os.path.join(_LIBRARY, *name.split("."))
    return not rest or name == "os.path" or os.path.exists(f"{place}.py") or os.path.isdir(place)


def _text_of_decorators(function: Function) -> str:
    return " ".join(ast.unparse(decorator) for decorator in function.decorator_list)


def _special(call: ast.Call) -> str:
    """Returns the special name that `hasattr` asks for; "" where none is, or one that is shown."""
    match call.args:
        case [_, ast.Constant(value=str(name)), *_] if name.startswith("__"):
            return "" if name in _SHOWN else name
    return ""


def _prints(node: ast.AST) -> bool:
    """Returns True if code prints by itself."""
    return any(
        isinstance(part, ast.Call) and _chain(part.func)[-1:] in (["print"], ["write"])
        for part in ast.walk(node)
    )


def _uses_any(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(node))


def _mentions(node: ast.AST, names: set[str]) -> bool:
    """Returns True if an expression holds one of these paths, and not only what is read from it."""
    if isinstance(node, ast.Call) and _chain(node.func)[-1:] and _chain(node.func)[-1] in _READINGS:
        return False
    if isinstance(node, ast.Name) and node.id in names:
        return True
    return any(_mentions(child, names) for child in ast.iter_child_nodes(node))
