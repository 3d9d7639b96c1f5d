"""Decides by the text of test files whether they can run apart from the solution.

Tests run in a separate judge unless their text needs the solution itself: it patches the module or
something that the module may use, captures output, warnings or logs, shares files, or derives from
or inspects the solution's classes. Only the text of the tests decides, and never the solution.

Most rules apply to *hearing* code. This is code that mentions the solution, a name that may refer
to something of it (see `hearsay`), or a name that no file explains. The functions that such code
names are hearing code, too. Other code uses only objects of the tests. The rules for changes of
something that the solution may use (`surroundings`) also apply to other code: modules,
preparations, hooks, and the functions that these name. `policy` lists names that decide by
themselves.

Rules that only read the text make mistakes. In doubt, tests run in the solution's process, since a
weaker label is better than a right solution that fails.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from reward_server.grading import syntax
from reward_server.grading.python_tests.collection import settings_of_process
from reward_server.grading.python_tests.isolation import own_classes, policy, process_state
from reward_server.grading.python_tests.isolation.hearsay import (
    FOLDERS,
    Hearsay,
    arguments,
    named,
    text_of_decorators,
)
from reward_server.grading.python_tests.isolation.kinds import Kinds
from reward_server.grading.python_tests.isolation.names import File, Scope, chain_of
from reward_server.grading.python_tests.isolation.policy import Part, When
from reward_server.grading.python_tests.isolation.surroundings import (
    Surroundings,
    is_monkeypatch,
    own_parts,
)
from reward_server.grading.syntax import FUNCTIONS, Function, dotted, last_name

_USING = policy.by_name(policy.USING)

_READINGS = frozenset(
    ("read_text", "read_bytes", "read", "readlines", "exists", "stat", "load", "loads", "open")
)
# Special names that a proxy has if the solution's object has them.
_SHOWN = frozenset(
    (
        *("__call__", "__len__", "__getitem__", "__setitem__", "__delitem__", "__contains__"),
        *("__iter__", "__next__", "__reversed__", "__enter__", "__exit__", "__await__"),
        *("__aiter__", "__anext__", "__aenter__", "__aexit__", "__hash__", "__eq__", "__name__"),
        *("__qualname__", "__doc__", "__dict__", "__init__", "__str__", "__repr__"),
    )
)
_DESCRIPTORS = frozenset(("property", "staticmethod", "classmethod"))
_CONTAINERS = (ast.List, ast.Dict, ast.Set)
_PLAIN_CLASSES = frozenset(
    ("builtins", "collections", "datetime", "decimal", "fractions", "numbers", "numpy", "typing")
)
# Abstract classes whose instances are recognised by their base classes, not by their methods.
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
        wanted: the names that the tests take from the solution, as far as they are known.
        reasons: why they need the solution's process; none if they do not.
    """

    wanted: frozenset[str]
    reasons: tuple[str, ...]


def parse_files(files: Iterable[tuple[str, str]]) -> dict[str, ast.Module]:
    """Parses test files; files that are not Python, or cannot be parsed, are left out."""
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
        trees: the parsed files in Python, by path.
        texts: all files, with their text.
        solution_path: the path of the solution for the tests.
        heard_by: the names of functions that count as hearing code in any case.
    """
    paths = [path for path, _ in texts]
    files = [File(tree, paths, solution_path) for tree in trees.values()]
    hearsay = Hearsay(files, heard_by)
    rules = [_Rules(file, hearsay, paths) for file in files]
    reasons = [reason for one in rules for reason in one.reasons()]
    if any(one.hearing for one in rules):
        prepares = [(one, scope) for one in rules for scope in one.preparing()]
        hears = [(one, scope) for one in rules for scope in one.hearing]
        hearing = list(_reached(rules, [*hears, *prepares]))
        reasons += [reason for one, scope in hearing for reason in one.of_scope(scope)]
        around = [(one, scope) for one in rules for scope in one.around()]
        scopes = list(_reached(rules, [*hearing, *around]))
        reasons += [reason for one, scope in scopes for reason in one.surroundings.reasons(scope)]
        reached = [(one, part) for one, scope in scopes for part in own_parts(scope)]
        known = {id(part) for one, node in reached for part in one.file.solution_loader(node)}
        reasons += process_state.reasons(
            (part, one.file.origins) for one, part in reached if id(part) not in known
        )
        reasons += own_classes.reasons([(file, partial(hearsay.hears, file)) for file in files])
        reasons += ["shares files" for one, part in reached if one.shares_file(part)]
        reasons += [reason for path, text in texts for reason in settings_of_process(path, text)]
    wanted = frozenset[str]().union(*(file.wanted for file in files))
    return Reading(wanted=wanted, reasons=tuple(dict.fromkeys(reasons)))


class _Rules:
    """The rules for hearing code, applied to one file."""

    def __init__(self, file: File, hearsay: Hearsay, paths: Sequence[str]) -> None:
        self.file = file
        self.surroundings = Surroundings(file, hearsay)
        self._hearsay = hearsay
        self._data = {os.path.basename(path) for path in paths}
        self.hearing = [scope for scope in self._scopes() if self._is_hearing(scope)]
        self._coroutine_functions = {
            node.name
            for node in syntax.walk(file.tree)
            if isinstance(node, ast.AsyncFunctionDef) and "fixture" not in text_of_decorators(node)
        }
        self._own_folders = {"__file__", *FOLDERS}
        for node in file.tree.body:
            if isinstance(node, ast.Assign) and _uses_any(node.value, self._own_folders):
                self._own_folders |= set(_names_at_top(node, file.tree))

    def reasons(self) -> Iterator[str]:
        """Yields the reasons, outermost first."""
        yield from self._of_classes()
        for node in syntax.walk(self.file.tree):
            if isinstance(node, ast.Call):
                yield from self._of_solution_targets(node)
            elif isinstance(node, ast.Constant):
                yield from self._of_solution_file(node)

    def of_scope(self, scope: Scope) -> Iterator[str]:
        """Yields the reasons in a scope of hearing code."""
        yield from Kinds(self.file, self._hears, list(own_parts(scope))).reasons()
        raised = set[int]()
        for part in own_parts(scope):
            if isinstance(part, ast.Raise):
                raised.update(map(id, syntax.walk(part)))
            elif id(part) not in raised:
                yield from self._of(part, scope)

    def _scopes(self) -> Iterator[Scope]:
        for node in syntax.walk(self.file.tree):
            if isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Module)):
                yield node

    def preparing(self) -> Iterator[Scope]:
        """Returns the functions that run before or after tests without being named."""
        return (one for one in self._scopes() if isinstance(one, FUNCTIONS) and _prepares(one))

    def around(self) -> Iterator[Scope]:
        """Yields the scopes that run in any case."""
        for scope in self._scopes():
            if not isinstance(scope, FUNCTIONS) or scope.name.startswith("__"):
                yield scope

    def _is_hearing(self, scope: Scope) -> bool:
        return getattr(scope, "name", "") in self._hearsay.names or self._hears(scope)

    def _hears(self, node: ast.AST) -> bool:
        return self._hearsay.hears(self.file, node)

    def _of_classes(self) -> Iterator[str]:
        for node in syntax.walk(self.file.tree):
            if isinstance(node, ast.ClassDef):
                for base in node.bases:
                    is_own = last_name(base) in self._hearsay.own_classes
                    if self._hears(base) and not is_own:
                        yield f"{node.name} is a subclass of the solution's"

    def _of_solution_targets(self, call: ast.Call) -> Iterator[str]:
        for argument in call.args[:1]:
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                target = argument.value
                patches = "patch" in chain_of(call.func) or is_monkeypatch(call)
                if patches and self.file.names_solution(target):
                    yield f"patches {target}"

    def _of_solution_file(self, constant: ast.Constant) -> Iterator[str]:
        path = self.file.solution_path
        if constant.value in (path, os.path.basename(path)):
            yield f"names the file {path}"

    def _of(self, node: ast.AST, scope: Scope) -> Iterator[str]:
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

    def _by_policy(self, node: ast.AST, scope: Scope) -> Iterator[str]:
        """Yields the reasons of the policy's rows for a node of hearing code."""
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

    def _of_call(self, call: ast.Call, scope: Scope) -> Iterator[str]:
        chain = chain_of(call.func)
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

    def _is_coroutine_function(self, node: ast.expr) -> bool:
        return dotted(node) in self._coroutine_functions

    def _is_descriptor(self, maker: ast.expr, scope: Scope) -> bool:
        """Returns True if a class that is no test case has an attribute made by the solution."""
        if not isinstance(scope, ast.ClassDef) or scope.name.startswith("Test"):
            return False
        is_case = any(dotted(base).endswith("TestCase") for base in scope.bases)
        return not is_case and self._hears(maker)

    def _of_block(self, block: ast.With | ast.AsyncWith) -> Iterator[str]:
        for item in block.items:
            call = item.context_expr
            name = chain_of(call.func)[-1:] if isinstance(call, ast.Call) else []
            if isinstance(call, ast.Call) and self._hears(call.func):
                yield from self._of_manager(call)
            row = _USING.get((Part.MANAGER, name[0])) if name else None
            if row and self._holds(row.when, block, block) and any(map(self._hears, block.body)):
                yield row.reason.format(name[0])

    def _of_manager(self, call: ast.Call) -> Iterator[str]:
        """Yields a reason if a manager of the solution gets a container that it may change."""
        given = {node.id for node in call.args if isinstance(node, ast.Name)}
        for node in syntax.walk(self.file.tree):
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
        """Returns True for a name of the solution with the form of a class name."""
        name = last_name(node)
        is_class = name[:1].isupper() and (len(name) == 1 or not name.isupper())
        return is_class and self._hears(node)

    def shares_file(self, node: ast.AST) -> bool:
        """Returns True for a call that opens or names a file that is not the tests' own."""
        return isinstance(node, ast.Call) and self._opens(node) and not self._reads_own_data(node)

    def _opens(self, call: ast.Call) -> bool:
        origin = self.file.origin(call.func)
        is_path = origin.startswith("pathlib.Path")
        return is_path or chain_of(call.func)[-1:] in (["open"], ["Path"])

    def _reads_own_data(self, call: ast.Call) -> bool:
        if len(call.args) > 1 and dotted(call.func) == "open":
            mode = call.args[1]
            if isinstance(mode, ast.Constant) and set(str(mode.value)) & set("wax+"):
                return False
        for node in syntax.walk(call):
            if isinstance(node, ast.Name) and node.id in self._own_folders:
                return True
            if isinstance(node, ast.Constant) and os.path.basename(str(node.value)) in self._data:
                return True
        return False

    def _of_shared_folders(self, call: ast.Call, function: Function) -> Iterator[str]:
        """Yields a reason if the solution gets a path that only the tests can see."""
        paths = arguments(function) & self._hearsay.folders
        if not paths:
            return
        for node in syntax.walk(function):
            if isinstance(node, ast.Assign) and _mentions(node.value, paths):
                paths |= {name.id for target in node.targets for name in _stored(target)}
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        if any(_mentions(argument, paths) for argument in given):
            yield "hands over a path of its own files"


def _reached(
    rules: Sequence[_Rules], first: Iterable[tuple[_Rules, Scope]]
) -> Iterator[tuple[_Rules, Scope]]:
    """Yields scopes, and all functions that they name, with the rules of their files."""
    by_name: dict[str, list[tuple[_Rules, Scope]]] = {}
    for one in rules:
        for node in syntax.walk(one.file.tree):
            if isinstance(node, FUNCTIONS):
                by_name.setdefault(node.name, []).append((one, node))
    waiting, seen = list(first), set[int]()
    while waiting:
        one, scope = waiting.pop()
        if id(scope) not in seen:
            seen.add(id(scope))
            yield one, scope
            for part in own_parts(scope):
                for name in named(part):
                    waiting += by_name.pop(name, ())


def _prepares(function: Function) -> bool:
    """Returns True for preparations, hooks and fixtures for all tests."""
    name = function.name
    is_known = name in _PREPARATIONS or name.startswith("pytest_")
    return is_known or "autouse" in text_of_decorators(function)


# ------------------------------------------------------------------------------- small looks


def _names_of(node: ast.AST) -> Iterator[tuple[Part, str]]:
    """Yields the names of a node, with the part of code in which they count."""
    match node:
        case ast.Call(func=function):
            yield from ((Part.CALLED, name) for name in chain_of(function)[-1:])
            if isinstance(function, ast.Attribute):
                yield Part.METHOD, function.attr
        case ast.Attribute(attr=name):
            yield Part.ATTRIBUTE, name
            yield Part.MENTION, name
        case ast.Name(id=name):
            yield Part.MENTION, name
        case ast.arg(arg=name):
            yield Part.PARAMETER, name


def _names_at_top(node: ast.Assign | ast.AnnAssign, tree: ast.Module) -> Iterator[str]:
    if node in tree.body:
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            yield from (name.id for name in _stored(target))


def _bound_by(node: ast.AST) -> Iterator[ast.Name]:
    for target in getattr(node, "targets", ()):
        yield from _stored(target)


def _stored(target: ast.expr) -> Iterator[ast.Name]:
    return (part for part in syntax.walk(target) if isinstance(part, ast.Name))


def _special(call: ast.Call) -> str:
    """Returns the special name that `hasattr` asks for; "" for names that proxies have."""
    match call.args:
        case [_, ast.Constant(value=str(name)), *_] if name.startswith("__"):
            return "" if name in _SHOWN else name
    return ""


def _prints(node: ast.AST) -> bool:
    """Returns True if code prints by itself."""
    return any(
        isinstance(part, ast.Call) and chain_of(part.func)[-1:] in (["print"], ["write"])
        for part in syntax.walk(node)
    )


def _uses_any(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(part, ast.Name) and part.id in names for part in syntax.walk(node))


def _mentions(node: ast.AST, names: set[str]) -> bool:
    """Returns True if an expression holds one of these paths, and not only its file's content."""
    if isinstance(node, ast.Call) and not _READINGS.isdisjoint(chain_of(node.func)[-1:]):
        return False
    if isinstance(node, ast.Name) and node.id in names:
        return True
    return any(_mentions(child, names) for child in syntax.children(node))
