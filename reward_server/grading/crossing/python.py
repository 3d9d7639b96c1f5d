"""Reads whether Python tests may run apart from the solution: one walk with scopes resolved.

What this stops: an ISOLATED label for tests that could do more than the contract says. Each node,
name and attribute of their text has to stand in the table (`allowed`); the first that does not is
the reason why the tests are SHARED.

What it does not do: it does not follow values through the tests. What a name may hold is the union
of all that its text binds to it, in five coarse kinds (`Kind`). What the text leaves open, the
judge decides while it runs, and can only lower the label there.
"""

from __future__ import annotations

import ast
import builtins
import enum
import re
import unittest
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NoReturn

from reward_server.domain import Crossing, FunctionTests, UnitTests
from reward_server.grading.crossing import allowed
from reward_server.grading.syntax import dotted, parse

SOLUTION = "solution"
_CHECK, _CANDIDATE = "check", "candidate"
_ENDINGS = ("", "\n    pass", "\n        pass", "\n\tpass")
_CLASS_NAME = re.compile(r"_?[A-Z]\w*[a-z]\w*|[A-Z]")
_SPECIAL = re.compile(r"__\w+|\w+__")
_SCOPES = (ast.FunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LOOPS = (ast.For, ast.While, *_COMPREHENSIONS)
_CASE = frozenset(dir(unittest.TestCase))
_DTYPES = frozenset(
    (
        "int",
        "float",
        "bool",
        "complex",
        "str",
        "int64",
        "uint64",
        "float64",
        "complex128",
        "i8",
        "f8",
    )
)
# What a handle may be given to, besides the solution: its answers to these are data.
_ASKS_HANDLES = frozenset(
    (
        *("str", "repr", "len", "iter", "list", "tuple", "set", "sorted", "sum", "any", "all"),
        *("enumerate", "zip", "map", "filter", "max", "min", "next", "hasattr", "getattr"),
        *("setattr", "reversed", "frozenset", "functools.partial", "pytest.param", "super"),
        *("itertools.islice", "pytest.fixture", "pytest.mark.parametrize"),
    )
)
_MAKES_ITERATORS = frozenset(
    ("iter", "map", "filter", "zip", "reversed", "enumerate", "re.finditer", "re.compile")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why tests are SHARED: the rule, and the line and construct that no row allows."""

    rule: str
    line: int
    construct: str

    def __str__(self) -> str:
        return f"{self.rule}: line {self.line}, {self.construct}"


class Kind(enum.IntEnum):
    """What an expression may hold; the greatest of several counts."""

    DATA = 0
    RESULT = 1  # an answer of a function of the solution
    ANSWER = 2  # of an object of the solution, which may hold the original
    CODE = 3  # a function, class, iterator or object of the tests: no data
    HANDLE = 4  # an object of the solution, or a container of such
    SOLUTION = 5  # a function or class of the solution


class _NotAllowedError(Exception):
    def __init__(self, rule: str, node: ast.AST, construct: str) -> None:
        super().__init__(construct)
        line = getattr(node, "lineno", 0)
        self.refusal = Refusal(rule=rule, line=line, construct=construct)


def _refuse(rule: str, node: ast.AST, construct: str) -> NoReturn:
    raise _NotAllowedError(rule, node, construct)


@dataclass(slots=True)
class _Scope:
    """Names of a module, class, function or comprehension.

    Args:
        node: what makes the scope.
        above: the scope around it.
        bound: what each name is bound to: an expression, a definition, a kind, or an import's
            origin.
        elsewhere: names that `global` or `nonlocal` declares.
    """

    node: ast.AST
    above: _Scope | None = None
    bound: dict[str, list[ast.AST | Kind | str]] = field(default_factory=dict)
    elsewhere: set[str] = field(default_factory=set)

    def bind(self, name: str, value: ast.AST | Kind | str) -> None:
        """Adds something that a name is bound to."""
        home = self
        if name in self.elsewhere:
            while home.above is not None:
                home = home.above
        home.bound.setdefault(name, []).append(value)

    def find(self, name: str) -> tuple[_Scope, list[ast.AST | Kind | str]] | None:
        """Returns the scope that binds a name, and what it binds to it."""
        scope: _Scope | None = self
        while scope is not None:
            is_seen = scope is self or not isinstance(scope.node, ast.ClassDef)
            if name in scope.bound and is_seen:
                return scope, scope.bound[name]
            scope = scope.above
        return None


# ------------------------------------------------------------------------------------- texts


def read_functions(tests: FunctionTests, prompt: str) -> Crossing | Refusal:
    """Reads function tests.

    Args:
        tests: the tests.
        prompt: the task's code, as `continuation.read_prompt` returns it.
    """
    texts = [text for text in (tests.setup_code, tests.test_code, *tests.asserts) if text]
    try:
        trees = [parse(text) for text in texts]
        code = _prompt(prompt)
        found = _Walk(trees, entry_point=tests.entry_point, prompt=code).plan()
        if not found.names and (name := _called_first(trees)):
            trees = [parse(text) for text in texts]
            found = _Walk(trees, entry_point=name, prompt=code).plan()
        return replace(found, form=_form(parse(tests.test_code)))
    except _NotAllowedError as error:
        return error.refusal
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Refusal(rule="syntax", line=0, construct=type(error).__name__)


def read_files(tests: UnitTests) -> Crossing | Refusal:
    """Reads test files; each is a module of its own."""
    module = tests.solution_path.removesuffix(".py").replace("/", ".")
    plans, files = [], []
    for path, text in tests.files:
        if not path.endswith(".py"):
            return Refusal(rule="files", line=0, construct=path)
        try:
            walk = _Walk([parse(text)], module=module)
            plans.append(walk.plan())
            files.append((path, _without(text, walk.dropped)))
        except _NotAllowedError as error:
            return error.refusal
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            return Refusal(rule="syntax", line=0, construct=f"{path}: {type(error).__name__}")
    return Crossing(
        names=frozenset().union(*(one.names for one in plans)),
        classes=frozenset().union(*(one.classes for one in plans)),
        raised=frozenset().union(*(one.raised for one in plans)),
        modules=frozenset().union(*(one.modules for one in plans)),
        free=frozenset().union(*(one.free for one in plans)),
        files=tuple(files),
    )


def _called_first(trees: Iterable[ast.Module]) -> str:
    """Returns the name of the function whose answer the first assertion compares, or ""."""
    for tree in trees:
        for node in ast.walk(tree):
            match node:
                case ast.Assert(test=ast.Compare(left=ast.Call(func=ast.Name(id=name)))):
                    return name
    return ""


def _form(tree: ast.Module) -> str:
    """Returns what the test code is: it defines check(), or its statements are a test."""
    if any(isinstance(node, ast.FunctionDef) and node.name == _CHECK for node in tree.body):
        return _CHECK
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            continue
        if isinstance(node, ast.Assert) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        ):
            return "script"
        waiting += ast.iter_child_nodes(node)
    return ""


def _without(text: str, dropped: Sequence[ast.stmt]) -> str:
    """Returns a text without some statements; its lines keep their numbers."""
    lines = text.splitlines(keepends=True)
    for node in dropped:
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        rest = lines[last].encode()[node.end_col_offset or 0 :].decode()
        start = lines[first].encode()[: node.col_offset].decode()
        lines[first : last + 1] = [f"{start}pass" + "\n" * (last - first) + rest]
        lines[first + 1 : first + 1] = [""] * (last - first)
    return "".join(lines)


def _prompt(text: str) -> ast.Module | None:
    """Returns a prompt's code, or None if it is not code."""
    for ending in _ENDINGS if text else ():
        try:
            return parse(text.rstrip() + ending)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return None


def _is_stub(node: ast.stmt) -> bool:
    """Returns True for a function without a body, which the solution has to write."""
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and all(
        isinstance(one, (ast.Pass, ast.Raise))
        or (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
        for one in node.body
    )


def _is_left_open(node: ast.stmt, is_last: bool) -> bool:
    """Returns True for a definition that the solution has to write, or to continue."""
    if isinstance(node, ast.ClassDef):
        inner = (one for one in ast.walk(node) if isinstance(one, ast.stmt))
        return is_last or any(map(_is_stub, inner))
    return _is_stub(node) or (is_last and isinstance(node, ast.FunctionDef))


class _Helpers:
    """What a prompt defines in full, by name; the solution continues its last statement.

    Args:
        tree: the prompt.
        entry_point: what the solution has to define in any case.
    """

    def __init__(self, tree: ast.Module | None, entry_point: str) -> None:
        self.found: dict[str, ast.stmt] = {}
        self.imports: dict[str, ast.stmt] = {}
        self.stars: list[ast.ImportFrom] = []
        self.open_classes: set[str] = set()
        self.functions: set[str] = set()
        body = tree.body if tree is not None else []
        for node in body:
            match node:
                case ast.Import(names=names) | ast.ImportFrom(names=names):
                    if isinstance(node, ast.ImportFrom) and names[0].name == "*":
                        self.stars.append(node)
                    self.imports |= {
                        one.asname or one.name.partition(".")[0]: node for one in names
                    }
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    is_class = isinstance(node, ast.ClassDef)
                    (self.open_classes if is_class else self.functions).add(name)
                    if name != entry_point and not _is_left_open(node, node is body[-1]):
                        self.found[name] = node
                case ast.Assign(targets=[ast.Name(id=name)]):
                    self.found[name] = node
        self.open_classes -= self.found.keys()


# -------------------------------------------------------------------------------------- walk


class _Walk:
    """Walks over the texts of one namespace.

    Args:
        trees: the texts.
        entry_point: the function or class under test; "" if names are the solution's by use.
        prompt: the prompt's code.
        module: the solution's module, as test files import it; "" for function tests.
    """

    def __init__(
        self,
        trees: Sequence[ast.Module],
        *,
        entry_point: str = "",
        prompt: ast.Module | None = None,
        module: str = "",
    ) -> None:
        self._entry = entry_point.partition("(")[0]
        self._module = module
        self._top = _Scope(ast.Module(body=[], type_ignores=[]))
        self._helpers = _Helpers(prompt, self._entry)
        self._used: dict[str, ast.stmt] = {}
        self._needed_imports: dict[int, ast.stmt] = {}
        self._scopes: dict[int, _Scope] = {}
        self._parents: dict[int, ast.AST] = {}
        self._waiting: list[ast.Module] = []
        self._has_star = False
        self._doing: set[tuple[int, str]] = set()
        self._functions = _compared_with_literals(trees)
        self._linked: set[str] = set()
        self.dropped: list[ast.stmt] = []
        self._loaded = {
            node.id
            for tree in trees
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        }
        self.names: set[str] = {entry_point} if entry_point else set()
        self.classes: set[str] = set()
        self.raised: set[str] = set()
        self.modules: set[str] = set()
        self.free: set[str] = set()
        self.records: set[str] = set()
        for tree in trees:
            self._collect(tree, self._top)
        self._helpers.found = self._untested(trees)
        self._trees = trees
        self._linked = set(self._links())

    def plan(self) -> Crossing:
        """Returns what the judge needs.

        Raises:
            _NotAllowedError: a construct stands in no row.
        """
        for tree in self._trees:
            for node in tree.body:
                self._check(node, self._top)
        while self._waiting:
            for node in self._waiting.pop().body:
                self._check(node, self._top)
        imports = [ast.unparse(one) for one in self._needed_imports.values()]
        used = sorted(self._used.values(), key=lambda one: one.lineno)
        helpers = dict.fromkeys(ast.unparse(one) for one in used)
        return Crossing(
            names=frozenset(self.names),
            classes=frozenset(self.classes - self.raised),
            raised=frozenset(self.raised),
            modules=frozenset(self.modules | {one.partition(".")[0] for one in self.free}),
            free=frozenset(self.free),
            helpers="\n".join([*imports, *helpers]),
            records=frozenset(self.records),
        )

    def _links(self) -> Iterator[str]:
        """Yields the attributes in which the tests keep objects of the solution in others."""
        for tree in self._trees:
            for node in ast.walk(tree):
                if isinstance(node, ast.Assign) and self._kind(node.value) is Kind.HANDLE:
                    yield from (one.attr for one in node.targets if isinstance(one, ast.Attribute))

    def _untested(self, trees: Sequence[ast.Module]) -> dict[str, ast.stmt]:
        """Returns the prompt's definitions, without those under test if no entry point says which.

        If the tests use no other name of the solution, what the prompt defines is under test.
        """
        found = self._helpers.found
        if self._entry or not found:
            return found
        free = {
            node.id
            for tree in trees
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and self._scope_of(node).find(node.id) is None
        }
        others = free - found.keys() - self._helpers.imports.keys() - set(dir(builtins))
        return found if others - allowed.MODULES.keys() else {}

    # ------------------------------------------------------------------------------ binding

    def _scope_of(self, node: ast.AST) -> _Scope:
        while id(node) not in self._scopes:
            node = self._parents[id(node)]
        return self._scopes[id(node)]

    def _collect(self, node: ast.AST, scope: _Scope) -> None:
        """Binds all names of a text."""
        if isinstance(node, ast.Module):
            self._scopes[id(node)] = scope
        for child in ast.iter_child_nodes(node):
            self._parents[id(child)] = node
            if not _is_plain_display(child):
                self._collect_node(child, scope)

    def _collect_node(self, node: ast.AST, scope: _Scope) -> None:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                scope.bind(name, node)
            case ast.Import(names=names):
                for one in names:
                    top = one.name if one.asname else one.name.partition(".")[0]
                    scope.bind(one.asname or top, top)
            case ast.ImportFrom(module=module, names=names):
                for one in names:
                    if one.name != "*":
                        scope.bind(one.asname or one.name, f"{module}.{one.name}")
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                scope.elsewhere.update(names)
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._bind_target(target, value, scope)
            case (
                ast.AugAssign(target=target, value=value)
                | ast.AnnAssign(target=target, value=ast.expr() as value)
            ):
                self._bind_target(target, value, scope)
            case ast.For(target=target, iter=value):
                self._bind_target(target, ast.Starred(value=value), scope)
            case ast.NamedExpr(target=target, value=value):
                self._bind_target(target, value, scope)
            case ast.withitem(optional_vars=ast.expr() as target, context_expr=value):
                self._bind_target(target, value, scope)
            case ast.ExceptHandler(name=str(name)):
                scope.bind(name, Kind.DATA)
        self._collect_inner(node, scope)

    def _collect_inner(self, node: ast.AST, scope: _Scope) -> None:
        if not isinstance(node, (*_SCOPES, *_COMPREHENSIONS)):
            self._collect(node, scope)
            return
        inner = self._scopes[id(node)] = _Scope(node, scope)
        if isinstance(node, _COMPREHENSIONS):
            for part in node.generators:
                self._bind_target(part.target, ast.Starred(value=part.iter), inner)
        elif not isinstance(node, ast.ClassDef):
            self._bind_parameters(node, inner)
        self._collect(node, inner)

    def _bind_parameters(self, node: ast.FunctionDef | ast.Lambda, inner: _Scope) -> None:
        arguments = node.args
        for one in _parameters(arguments):
            inner.bound.setdefault(one.arg, [])
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if default is not None:
                self._parents.setdefault(id(default), node)
        is_check = isinstance(node, ast.FunctionDef) and node.name == _CHECK and not self._module
        if is_check and arguments.args and self._entry:
            inner.bind(arguments.args[0].arg, Kind.SOLUTION)
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                self._bind_parametrized(decorator, inner)

    def _bind_parametrized(self, decorator: ast.expr, inner: _Scope) -> None:
        if isinstance(decorator, ast.Call) and dotted(decorator.func).endswith("parametrize"):
            names, *values = decorator.args or [ast.Constant(value="")]
            words = names.value if isinstance(names, ast.Constant) else ""
            listed = re.findall(r"\w+", str(words)) or [
                str(one.value)
                for one in getattr(names, "elts", ())
                if isinstance(one, ast.Constant)
            ]
            for name in listed:
                for value in values[:1]:
                    inner.bind(name, ast.Starred(value=value))

    def _bind_target(self, target: ast.expr, value: ast.expr | Kind, scope: _Scope) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            parts = _unpacked(value)
            is_matched = len(parts) == len(target.elts)
            for place, one in enumerate(target.elts):
                self._bind_target(one, parts[place] if is_matched else value, scope)
        elif isinstance(target, ast.Starred):
            self._bind_target(target.value, value, scope)
        elif isinstance(target, ast.Name):
            home = scope
            while (
                isinstance(home.node, _COMPREHENSIONS)
                and home.above is not None
                and (isinstance(self._parents.get(id(target)), ast.NamedExpr))
            ):
                home = home.above
            home.bind(target.id, value)
        elif isinstance(target, ast.Attribute) and dotted(target.value) in allowed.FIXTURES:
            self._class_of(scope).bind(f"self.{target.attr}", value)

    def _class_of(self, scope: _Scope) -> _Scope:
        home = scope
        while home.above is not None and not isinstance(home.node, ast.ClassDef):
            home = home.above
        return home

    # -------------------------------------------------------------------------------- kinds

    def _kind(self, node: ast.AST | Kind | str) -> Kind:
        """Returns what an expression may hold."""
        match node:
            case Kind():
                return node
            case str():
                is_data = node in allowed.VALUES or node in allowed.MODULES
                return (
                    Kind.SOLUTION
                    if self._is_of_solution(node)
                    else (Kind.DATA if is_data else Kind.CODE)
                )
            case ast.Name(id=name):
                return self._kind_of_name(name, self._scope_of(node))
            case ast.Attribute():
                return self._kind_of_attribute(node)
            case ast.Call(func=function):
                return self._kind_of_call(node, function)
            case ast.Lambda() | ast.GeneratorExp() | ast.FunctionDef() | ast.ClassDef():
                return Kind.CODE
            case ast.AST() if _is_plain_display(node):
                return Kind.DATA
            case ast.Dict(values=values):
                return self._join(values)
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                return self._join(parts)
            case ast.ListComp(elt=part) | ast.SetComp(elt=part) | ast.DictComp(value=part):
                return self._kind(part)
            case ast.IfExp(body=body, orelse=orelse):
                return self._join([body, orelse])
            case ast.BoolOp(values=values):
                return self._join(values)
            case ast.Subscript(value=value) | ast.NamedExpr(value=value) | ast.keyword(value=value):
                return self._kind(value)
            case ast.Starred(value=value):
                return self._kind_of_items(value)
        return Kind.DATA

    def _kind_of_items(self, node: ast.AST | Kind | str) -> Kind:
        """Returns what iteration over an expression may yield."""
        match node:
            case ast.Starred(value=value):
                return self._kind_of_items(value)
            case ast.Call(func=function, args=parts) if self._is_iterator(self._listed(function)):
                taken = parts[1:] if self._listed(function) in ("map", "filter") else parts
                if self._listed(function) == "map" and parts and self._kind(parts[0]) > Kind.CODE:
                    return Kind.HANDLE if self._is_class(parts[0]) else Kind.RESULT
                return max(map(self._kind_of_items, taken), default=Kind.DATA)
            case ast.Name(id=name):
                found = self._scope_of(node).find(name)
                key = (1, name)
                if found is None or key in self._doing:
                    return Kind.DATA
                self._doing.add(key)
                try:
                    kinds = [self._kind_of_items(one) for one in found[1]]
                finally:
                    self._doing.discard(key)
                return max(
                    [*kinds, *map(self._kind, self._fixture(name, found[0]))], default=Kind.DATA
                )
            case ast.GeneratorExp(elt=part):
                return self._kind(part)
        return self._kind(node)

    def _is_iterator(self, name: str) -> bool:
        return name in _MAKES_ITERATORS or name.startswith("itertools.")

    def _join(self, nodes: Iterable[ast.AST | Kind | str | None]) -> Kind:
        return max((self._kind(one) for one in nodes if one is not None), default=Kind.DATA)

    def _kind_of_name(self, name: str, scope: _Scope) -> Kind:
        key = (id(scope), name)
        if key in self._doing:
            return Kind.DATA
        self._doing.add(key)
        try:
            found = scope.find(name)
            if found is None:
                return self._kind_of_free(name)
            home, values = found
            fixture = self._fixture(name, home)
            return self._join([*values, *fixture])
        finally:
            self._doing.discard(key)

    def _kind_of_free(self, name: str) -> Kind:
        if name in self._helpers.found or name in self._helpers.imports:
            helper = self._helpers.found.get(name)
            is_data = isinstance(helper, ast.Assign) or helper is None
            return Kind.DATA if is_data else Kind.CODE
        if name in allowed.BUILTINS and name != self._entry:
            is_data = name in allowed.CONSTANTS
            return Kind.DATA if is_data else Kind.CODE
        return Kind.DATA if name in allowed.MODULES else Kind.SOLUTION

    def _fixture(self, name: str, home: _Scope) -> Iterator[ast.AST]:
        """Yields what the fixture with a parameter's name returns."""
        if not isinstance(home.node, ast.FunctionDef) or not self._module:
            return
        if name not in {one.arg for one in _parameters(home.node.args)}:
            return
        above = home.above.find(name) if home.above is not None else None
        for node in above[1] if above else ():
            if isinstance(node, ast.FunctionDef):
                yield from _returned(node)

    def _kind_of_attribute(self, node: ast.Attribute) -> Kind:
        origin = self._origin(node)
        if origin:
            is_value = origin in allowed.VALUES
            return self._kind(origin) if is_value or self._is_of_solution(origin) else Kind.CODE
        match node.value:
            case ast.Name(id=name) if name in allowed.FIXTURES:
                scope = self._class_of(self._scope_of(node))
                return self._join(scope.bound.get(f"self.{node.attr}", ()))
        kind = self._kind(node.value)
        if kind >= Kind.HANDLE:
            return Kind.HANDLE if node.attr in self._linked else Kind.ANSWER
        if kind in (Kind.RESULT, Kind.ANSWER, Kind.CODE):
            return kind
        return Kind.CODE if node.attr in allowed.METHODS else Kind.DATA

    def _kind_of_call(self, node: ast.Call, function: ast.expr) -> Kind:
        if isinstance(function, ast.Attribute) and not self._origin(function):
            owner = self._kind(function.value)
            if owner >= Kind.HANDLE or owner is Kind.ANSWER:
                return Kind.ANSWER
            if owner is Kind.CODE:
                return Kind.DATA
            if function.attr in ("copy", "get", "pop", "setdefault"):
                return owner
            return Kind.DATA
        kind, name = self._kind(function), self._listed(function)
        if kind is Kind.SOLUTION:
            return Kind.HANDLE if self._is_class(function) else Kind.RESULT
        if kind is Kind.HANDLE:
            return Kind.RESULT
        if self._is_iterator(name):
            return Kind.CODE
        if name in (
            "list",
            "tuple",
            "sorted",
            "set",
            "copy.copy",
            "copy.deepcopy",
            "getattr",
            "next",
        ):
            return self._join(node.args[:1])
        if name:
            return Kind.DATA
        return self._kind_of_own_call(function)

    def _kind_of_own_call(self, function: ast.expr) -> Kind:
        if not isinstance(function, ast.Name):
            return Kind.DATA
        found = self._scope_of(function).find(function.id)
        values = found[1] if found else [self._helpers.found.get(function.id, Kind.DATA)]
        if any(isinstance(one, ast.ClassDef) for one in values):
            return Kind.DATA if function.id in self._helpers.found and not found else Kind.CODE
        key = (0, function.id)
        if key in self._doing:
            return Kind.DATA
        self._doing.add(key)
        try:
            made = [
                part
                for one in values
                if isinstance(one, ast.FunctionDef)
                for part in _returned(one)
            ]
            if not found and function.id in self._helpers.found:
                return Kind.DATA
            return self._join(made)
        finally:
            self._doing.discard(key)

    # ------------------------------------------------------------------------------ origins

    def _is_of_solution(self, origin: str) -> bool:
        """Returns True for the solution's module, and for what is imported from it."""
        known = {self._module, SOLUTION} if self._module else {SOLUTION}
        return any(origin == one or origin.startswith(f"{one}.") for one in known)

    def _origin(self, node: ast.expr) -> str:
        """Returns the dotted origin of an imported name or an attribute of a module, or ""."""
        match node:
            case ast.Name(id=name):
                found = self._scope_of(node).find(name)
                if found is not None:
                    texts = [one for one in found[1] if isinstance(one, str)]
                    return texts[-1] if texts and len(texts) == len(found[1]) else ""
                return self._free_origin(name)
            case ast.Attribute(value=value, attr=attribute):
                base = self._origin(value)
                is_module = base in allowed.MODULES or self._is_module_of_solution(base)
                return f"{base}.{attribute}" if base and (is_module or "." in base) else ""
        return ""

    def _is_module_of_solution(self, origin: str) -> bool:
        return bool(origin) and origin in (self._module, SOLUTION)

    def _free_origin(self, name: str) -> str:
        statement = self._helpers.imports.get(name)
        if isinstance(statement, ast.Import):
            one = next(
                one
                for one in statement.names
                if (one.asname or one.name) == name or (one.name.partition(".")[0] == name)
            )
            return one.name if one.asname else name
        if isinstance(statement, ast.ImportFrom):
            one = next(one for one in statement.names if (one.asname or one.name) == name)
            return f"{statement.module}.{one.name}"
        for star in self._helpers.stars:
            if name in allowed.MODULES.get(star.module or "", ()):
                return f"{star.module}.{name}"
        if name in (self._entry, *self._helpers.found):
            return ""
        if name in allowed.MODULES["typing"]:
            return f"typing.{name}"
        return name if name in allowed.MODULES else ""

    def _listed(self, node: ast.expr) -> str:
        """Returns the name of a built-in or of a listed function, or ""."""
        origin = self._origin(node)
        if origin:
            self._note_module(origin)
            return "" if self._is_of_solution(origin) else origin
        if isinstance(node, ast.Name) and self._scope_of(node).find(node.id) is None:
            is_free = node.id not in self._helpers.found and node.id != self._entry
            return node.id if node.id in allowed.BUILTINS and is_free else ""
        return ""

    def _note_module(self, origin: str) -> None:
        """Records a module that the judge loads before it hears the solution."""
        while origin and not self._is_of_solution(origin):
            if origin in allowed.MODULES and origin != "pytest.mark":
                self.modules.add(origin)
            origin = origin.rpartition(".")[0]
        if "datetime" in self.modules:
            self.modules.add("_strptime")

    def _is_class(self, node: ast.expr) -> bool:
        name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
        origin = self._origin(node)
        name = origin.rpartition(".")[2] if origin else name
        return self._is_class_name(name)

    def _is_class_name(self, name: str) -> bool:
        if name in self._helpers.functions or name in self._functions:
            return False
        return name in self._helpers.open_classes or bool(_CLASS_NAME.fullmatch(name))

    # ------------------------------------------------------------------------------- checks

    def _check(self, node: ast.AST, scope: _Scope) -> None:
        """Checks a node and everything in it."""
        if _is_plain_display(node):
            return
        inner = self._scopes.get(id(node), scope)
        self._check_node(node, scope)
        for child in ast.iter_child_nodes(node):
            self._check(child, inner)

    def _check_node(self, node: ast.AST, scope: _Scope) -> None:
        known = (*allowed.STATEMENTS, *allowed.EXPRESSIONS, *allowed.PARTS)
        if not isinstance(node, known):
            _refuse("syntax", node, type(node).__name__)
        check = getattr(self, f"_check_{type(node).__name__.lower()}", None)
        if check is not None:
            check(node, scope)

    def _check_import(self, node: ast.Import, scope: _Scope) -> None:
        if self._is_unused(node):
            return
        for one in node.names:
            if one.name not in allowed.MODULES and not self._is_module_of_solution(one.name):
                _refuse("modules", node, f"import {one.name}")

    def _check_importfrom(self, node: ast.ImportFrom, scope: _Scope) -> None:
        module = node.module or ""
        if self._is_unused(node):
            return
        if node.level or (
            module not in allowed.MODULES and not self._is_module_of_solution(module)
        ):
            _refuse("modules", node, f"from {module} import")
        for one in node.names:
            if self._is_module_of_solution(module):
                self._has_star |= one.name == "*"
                if one.name != "*":
                    self._take(one.name, node)
            elif one.name == "*" and module != "unittest":
                continue
            elif not _is_listed(f"{module}.{one.name}"):
                _refuse("modules", node, f"{module}.{one.name}")

    def _is_unused(self, node: ast.Import | ast.ImportFrom) -> bool:
        """Returns True for an import that the judge need not make, and records it."""
        names = {one.asname or one.name.partition(".")[0] for one in node.names}
        is_known = isinstance(node, ast.ImportFrom) and self._is_module_of_solution(
            node.module or ""
        )
        if is_known or "*" in names or not names.isdisjoint(self._loaded):
            return False
        if node in self._trees[0].body:
            self.dropped.append(node)
            return True
        return False

    def _take(self, name: str, node: ast.AST) -> None:
        """Records a name of the solution."""
        if _SPECIAL.fullmatch(name):
            _refuse("names", node, name)
        self.names.add(name)
        if self._is_class_name(name):
            self.classes.add(name)

    def _check_name(self, node: ast.Name, scope: _Scope) -> None:
        if isinstance(node.ctx, ast.Store):
            if _SPECIAL.fullmatch(node.id) or node.id.startswith("pytest_"):
                _refuse("names", node, node.id)
            return
        found = self._scope_of(node).find(node.id)
        if found is not None:
            self._check_found(node, found[1])
        elif node.id == self._entry or (node.id == _CANDIDATE and self._entry):
            return
        elif node.id in self._helpers.found:
            self._use_helper(node.id)
        elif origin := self._free_origin(node.id):
            self._check_free_origin(node, origin)
        elif node.id not in allowed.BUILTINS:
            is_builtin = hasattr(builtins, node.id) or _SPECIAL.fullmatch(node.id)
            if is_builtin or (self._module and not self._has_star):
                _refuse("names", node, node.id)
            self._take(node.id, node)
        self._check_place(node)

    def _check_found(self, node: ast.Name, values: list[ast.AST | Kind | str]) -> None:
        imported = [one for one in values if isinstance(one, str)]
        if imported and len(imported) < len(values):
            _refuse("names", node, f"{node.id} is an import and something else")
        for origin in imported[-1:]:
            is_base = isinstance(self._parents.get(id(node)), ast.Attribute)
            if origin in allowed.MODULES and not is_base:
                _refuse("modules", node, f"{origin} as a value")
            if origin == self._module and not is_base:
                _refuse("modules", node, f"{origin} as a value")

    def _check_free_origin(self, node: ast.Name, origin: str) -> None:
        """Checks a name that the prompt imports, or a module that nobody does."""
        is_base = isinstance(self._parents.get(id(node)), ast.Attribute)
        if origin in allowed.MODULES:
            if not is_base:
                _refuse("modules", node, f"{origin} as a value")
        elif not _is_listed(origin):
            _refuse("modules", node, origin)
        statement = self._helpers.imports.get(node.id)
        statements = [statement] if statement is not None else self._helpers.stars
        for one in statements:
            if isinstance(one, ast.ImportFrom) and one.module not in allowed.MODULES:
                continue
            self._needed_imports[id(one)] = _only_listed(one)
        if not statements:
            self.free.add(origin if origin.startswith("typing.") else origin.partition(".")[0])

    def _use_helper(self, name: str) -> None:
        """Takes a definition of the prompt, and checks it as a text of the tests."""
        if name in self._used:
            return
        node = self._used[name] = self._helpers.found[name]
        for part in ast.walk(node):
            _forget_annotations(part)
        module = ast.Module(body=[node], type_ignores=[])
        self._collect(module, self._top)
        for made in (name,):
            self._top.bound.pop(made, None)
        if isinstance(node, ast.ClassDef):
            if node.bases or node.keywords or node.decorator_list:
                _refuse("data", node, f"class {name} of the prompt")
            self.records.add(name)
        self._waiting.append(module)

    def _check_attribute(self, node: ast.Attribute, scope: _Scope) -> None:
        name = node.attr
        if _SPECIAL.fullmatch(name):
            if name == "__init__" and _is_super(node.value):
                return
            _refuse("attributes", node, name)
        origin = self._origin(node)
        if origin:
            self._check_origin(node, origin)
            self._check_place(node)
            return
        if isinstance(node.value, ast.Name) and node.value.id in allowed.FIXTURES:
            if name in _CASE and name not in allowed.CASES and not name.startswith("_"):
                _refuse("frameworks", node, f"self.{name}")
        elif name in allowed.REFUSED and self._is_data(node.value):
            _refuse("attributes", node, f".{name}")
        elif self._is_answer(node.value) and (
            name not in allowed.ATTRIBUTES
            or (name in ("name", "value") and self._kind(node.value) is Kind.ANSWER)
        ):
            _refuse("attributes", node, f".{name} of an answer")
        self._check_place(node)

    def _is_data(self, node: ast.expr) -> bool:
        return not _is_literal(node) and self._kind(node) < Kind.HANDLE

    def _is_answer(self, node: ast.expr) -> bool:
        return self._kind(node) in (Kind.RESULT, Kind.ANSWER)

    def _check_origin(self, node: ast.Attribute, origin: str) -> None:
        if self._is_of_solution(origin):
            if origin.count(".") == (self._module or SOLUTION).count(".") + 1:
                self._take(node.attr, node)
            return
        if origin in allowed.MODULES or _is_listed(origin):
            return
        base, _, attribute = origin.rpartition(".")
        if base in allowed.MODULES or attribute not in allowed.ATTRIBUTES:
            _refuse("modules", node, origin)

    def _check_place(self, node: ast.Name | ast.Attribute) -> None:
        """Refuses handles as operands, narrow types as makers, and the like."""
        if isinstance(node.ctx, ast.Store):
            return
        name = self._listed(node)
        module, _, word = name.rpartition(".")
        parent = self._parents.get(id(node))
        is_narrow = word in allowed.NARROW.get(module, ()) and not _is_made(module, word)
        is_read = isinstance(parent, (ast.Compare, ast.Tuple)) or self._is_asked_kind(parent)
        if is_narrow and not is_read:
            _refuse("data", node, name)

    def _is_asked_kind(self, parent: ast.AST | None) -> bool:
        """Returns True for a call that asks for the kind of a value."""
        asking = ("isinstance", "numpy.issubdtype")
        return isinstance(parent, ast.Call) and (
            self._listed(parent.func) in asking or dotted(parent.func).endswith("IsInstance")
        )

    def _check_operand(self, node: ast.expr | None, what: str) -> None:
        if node is not None and self._kind(node) >= Kind.HANDLE:
            _refuse("handles", node, f"{ast.unparse(node)} as {what}")

    def _check_compare(self, node: ast.Compare, scope: _Scope) -> None:
        sides = [node.left, *node.comparators]
        if all(isinstance(one, (ast.Is, ast.IsNot)) for one in node.ops):
            if not all(self._may_be_same(*pair) for pair in pairwise(sides)):
                _refuse("identity", node, ast.unparse(node))
            return
        if any(isinstance(one, (ast.Is, ast.IsNot)) for one in node.ops):
            _refuse("identity", node, ast.unparse(node))
        for side in sides:
            self._check_operand(side, "an operand")

    def _may_be_same(self, left: ast.expr, right: ast.expr) -> bool:
        """Returns True for an identity that data keeps: with None, True, False, or of types."""
        for side in (left, right):
            if isinstance(side, ast.Constant) and side.value in (None, True, False):
                return True
        sides = (left, right)
        asks = [isinstance(one, ast.Call) and self._listed(one.func) == "type" for one in sides]
        return any(asks) and all(
            is_asked or self._is_type(one) for one, is_asked in zip(sides, asks, strict=True)
        )

    def _is_type(self, node: ast.expr) -> bool:
        name = self._listed(node)
        return name in allowed.TYPES or name in allowed.EXCEPTIONS or "." in name

    def _check_binop(self, node: ast.BinOp, scope: _Scope) -> None:
        is_format = isinstance(node.op, ast.Mod) and isinstance(node.right, (ast.Tuple, ast.Dict))
        if is_format and not _is_literal(node.left):
            _refuse("literals", node, "a format that is no literal")
        for side in (node.left, node.right):
            if not isinstance(side, ast.List):
                self._check_operand(side, "an operand")

    def _check_unaryop(self, node: ast.UnaryOp, scope: _Scope) -> None:
        if isinstance(node.op, ast.Not):
            return
        self._check_operand(node.operand, "an operand")

    def _check_set(self, node: ast.Set, scope: _Scope) -> None:
        for one in node.elts:
            self._check_operand(one, "an element of a set")

    def _check_dict(self, node: ast.Dict, scope: _Scope) -> None:
        for one in node.keys:
            self._check_operand(one, "a key")

    def _check_subscript(self, node: ast.Subscript, scope: _Scope) -> None:
        self._check_operand(node.slice, "an index")
        if isinstance(node.ctx, (ast.Store, ast.Del)):
            self._check_store(node, node.value)

    def _check_store(self, node: ast.AST, owner: ast.expr) -> None:
        """Refuses a change of what is neither the tests' own nor a handle."""
        kind, origin = self._kind(owner), self._origin(owner)
        if origin or self._listed(owner):
            _refuse("stores", node, ast.unparse(owner))
        if kind is Kind.ANSWER:
            _refuse("stores", node, f"{ast.unparse(owner)} is an answer of an object")
        if kind is Kind.DATA:
            self._check_given(node, owner)

    def _check_given(self, node: ast.AST, owner: ast.expr) -> None:
        """Refuses a later change of what an object of the solution was given and may hold."""
        if not isinstance(owner, ast.Name):
            return
        found = self._scope_of(owner).find(owner.id)
        if found is None:
            return
        for other in ast.walk(found[0].node) if found[0] is not self._top else ():
            if isinstance(other, ast.Call) and self._keeps(other) and _gives(other, owner.id):
                is_later = getattr(node, "lineno", 0) > other.lineno
                if is_later or self._in_one_loop(node, other):
                    _refuse("arguments", node, f"{owner.id} is changed after it was given away")

    def _keeps(self, call: ast.Call) -> bool:
        """Returns True for a call that gives an object of the solution something to hold."""
        if isinstance(call.func, ast.Attribute) and not self._origin(call.func):
            return self._kind(call.func.value) is Kind.HANDLE
        return self._kind(call.func) is Kind.SOLUTION and self._is_class(call.func)

    def _in_one_loop(self, one: ast.AST, other: ast.AST) -> bool:
        around = [
            {id(loop) for loop in self._around(node) if isinstance(loop, _LOOPS)}
            for node in (one, other)
        ]
        return bool(around[0] & around[1])

    def _around(self, node: ast.AST) -> Iterator[ast.AST]:
        while id(node) in self._parents:
            node = self._parents[id(node)]
            yield node

    def _check_withitem(self, node: ast.withitem, scope: _Scope) -> None:
        call = node.context_expr
        name = self._listed(call.func) if isinstance(call, ast.Call) else ""
        method = dotted(call.func).rpartition(".")[2] if isinstance(call, ast.Call) else ""
        is_case = method.startswith("assertRaises") or method == "subTest"
        if name != "pytest.raises" and not is_case:
            _refuse("handles", call, f"with {ast.unparse(call)}")

    def _check_assign(self, node: ast.Assign, scope: _Scope) -> None:
        for target in node.targets:
            for part in ast.walk(target):
                if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
                    self._check_attribute_store(part, node.value)

    def _check_augassign(self, node: ast.AugAssign, scope: _Scope) -> None:
        if isinstance(node.target, ast.Attribute):
            self._check_attribute_store(node.target, node.value)
        if isinstance(node.target, ast.Name):
            self._check_given(node, node.target)
        self._check_operand(node.value, "an operand")

    def _check_attribute_store(self, node: ast.Attribute, value: ast.expr) -> None:
        owner = node.value
        if isinstance(owner, ast.Name) and owner.id in allowed.FIXTURES:
            return
        kind, origin = self._kind(owner), self._origin(owner)
        if origin and (not self._is_of_solution(origin) or self._is_module_of_solution(origin)):
            _refuse("stores", node, ast.unparse(node))
        if self._listed(owner) or kind is Kind.ANSWER:
            _refuse("stores", node, ast.unparse(node))
        if kind >= Kind.HANDLE and self._kind(value) is Kind.CODE:
            _refuse("arguments", node, f"{ast.unparse(value)} is no data")

    def _check_formattedvalue(self, node: ast.FormattedValue, scope: _Scope) -> None:
        self._check_operand(node.value, "a formatted value")
        if node.format_spec is not None and not _is_literal(node.format_spec):
            _refuse("literals", node, "a format that is no literal")

    def _check_functiondef(self, node: ast.FunctionDef, scope: _Scope) -> None:
        for decorator in node.decorator_list:
            self._check_decorator(decorator, scope)
        node.decorator_list = [one for one in node.decorator_list if not _is_plain(one)]
        is_fixture = any("fixture" in ast.unparse(one) for one in node.decorator_list)
        if self._module and (node.name.startswith("test") or is_fixture):
            self._check_fixtures(node, scope)
        if self._module and node.name.startswith(("pytest_", "load_tests", "setUpModule")):
            _refuse("frameworks", node, node.name)

    def _check_fixtures(self, node: ast.FunctionDef, scope: _Scope) -> None:
        """Refuses fixtures of the framework; those of the tests, and parameters, are their own."""
        inner = self._scopes[id(node)]
        for one in _parameters(node.args):
            own = scope.find(one.arg)
            is_own = own is not None and any(isinstance(x, ast.FunctionDef) for x in own[1])
            is_self = one.arg in allowed.FIXTURES and isinstance(scope.node, ast.ClassDef)
            if not inner.bound.get(one.arg) and not is_own and not is_self:
                _refuse("frameworks", node, f"the fixture {one.arg}")

    def _check_decorator(self, node: ast.expr, scope: _Scope) -> None:
        if _is_plain(node):
            return
        name = self._listed(node.func if isinstance(node, ast.Call) else node)
        if name not in ("pytest.fixture", "pytest.mark.parametrize", "pytest.mark.timeout"):
            _refuse("frameworks", node, f"@{ast.unparse(node)}")

    def _check_classdef(self, node: ast.ClassDef, scope: _Scope) -> None:
        for decorator in node.decorator_list:
            _refuse("frameworks", node, f"@{ast.unparse(decorator)}")
        for base in node.bases:
            found = scope.find(base.id) if isinstance(base, ast.Name) else None
            is_own = found is not None and all(isinstance(one, ast.ClassDef) for one in found[1])
            name = self._listed(base)
            is_known = name in ("unittest.TestCase", "object") or name in allowed.EXCEPTIONS
            if not (is_own or is_known):
                _refuse("classes", node, f"class {node.name}({ast.unparse(base)})")
        if node.keywords:
            _refuse("classes", node, f"class {node.name}")

    def _check_excepthandler(self, node: ast.ExceptHandler, scope: _Scope) -> None:
        if node.type is not None:
            self._check_raised(node.type)

    def _check_raise(self, node: ast.Raise, scope: _Scope) -> None:
        for one in (node.exc, node.cause):
            kind = self._kind(one.func if isinstance(one, ast.Call) else one) if one else Kind.DATA
            if kind >= Kind.HANDLE:
                _refuse("raised", node, ast.unparse(node))

    def _check_raised(self, node: ast.expr) -> None:
        """Records the solution's exceptions that tests expect."""
        for one in node.elts if isinstance(node, ast.Tuple) else [node]:
            if self._kind(one) is Kind.SOLUTION:
                self.raised.add(dotted(one).rpartition(".")[2])
            elif self._kind(one) is Kind.HANDLE:
                _refuse("raised", one, ast.unparse(one))

    # -------------------------------------------------------------------------------- calls

    def _check_call(self, node: ast.Call, scope: _Scope) -> None:
        name, kind = self._listed(node.func), self._kind(node.func)
        given = [*node.args, *(one.value for one in node.keywords)]
        method = node.func.attr if isinstance(node.func, ast.Attribute) and not name else ""
        owner = self._kind(node.func.value) if isinstance(node.func, ast.Attribute) else kind
        if kind is Kind.SOLUTION or (method and owner >= Kind.HANDLE):
            self._check_asked(node, given)
        elif method in allowed.ASSERTIONS:
            self._check_assertion(node, method)
        elif name:
            self._check_listed(node, name, given)
        elif method in allowed.CHANGING and isinstance(node.func, ast.Attribute):
            self._check_store(node, node.func.value)
        if method == "astype" or any(one.arg == "dtype" for one in node.keywords):
            self._check_dtype(node, method)
        if any(one.arg in ("out", "buffer", "file") for one in node.keywords) and name:
            _refuse("literals", node, f"{name} with a place for its result")

    def _check_asked(self, node: ast.Call, given: Sequence[ast.expr]) -> None:
        """Refuses what is no data as an argument of a call of the solution."""
        for one in given:
            if self._kind(one) is Kind.CODE or self._holds_code(one):
                _refuse("arguments", one, f"{ast.unparse(one)} is no data")

    def _holds_code(self, node: ast.expr) -> bool:
        parts = node.elts if isinstance(node, (ast.List, ast.Tuple, ast.Set)) else []
        parts = node.values if isinstance(node, ast.Dict) else parts
        return any(self._kind(one) is Kind.CODE or self._holds_code(one) for one in parts)

    def _check_assertion(self, node: ast.Call, method: str) -> None:
        if method.startswith("assertRaises"):
            self._check_raised(node.args[0]) if node.args else None
            return
        if method in ("assertIs", "assertIsNot"):
            if len(node.args) < 2 or not self._may_be_same(node.args[0], node.args[1]):
                _refuse("identity", node, ast.unparse(node))
            return
        if method in ("assertIsNone", "assertIsNotNone"):
            return
        for one in node.args:
            self._check_operand(one, f"an argument of {method}")

    def _check_listed(self, node: ast.Call, name: str, given: Sequence[ast.expr]) -> None:
        for place in allowed.LITERAL.get(name, ()):
            value = _argument(node, place)
            is_fixed = self._is_type_of_numbers if name.startswith("numpy.") else self._is_fixed
            if value is not None and not is_fixed(value):
                _refuse("literals", node, f"{name} with {ast.unparse(value)}")
        if name in ("getattr", "setattr", "hasattr"):
            self._check_named(node, name)
        if name == "pytest.raises" and node.args:
            self._check_raised(node.args[0])
        elif name in ("type", "print", "hash", "format", "round", "isinstance") or (
            name not in _ASKS_HANDLES and name not in allowed.TAKES_FUNCTIONS
        ):
            for one in given:
                self._check_operand(one, f"an argument of {name}")
        if name == "type" and len(node.args) != 1:
            _refuse("classes", node, "type with a body")
        if name.startswith(("heapq.", "bisect.insort")) or name == "random.shuffle":
            self._check_store(node, given[0]) if given else None

    def _check_named(self, node: ast.Call, name: str) -> None:
        attribute = node.args[1] if len(node.args) > 1 else None
        word = attribute.value if isinstance(attribute, ast.Constant) else ""
        if not isinstance(word, str) or not word.isidentifier() or _SPECIAL.fullmatch(word):
            _refuse("attributes", node, ast.unparse(node))
        owner = node.args[0]
        if self._origin(owner) and not self._is_of_solution(self._origin(owner)):
            _refuse("attributes", node, ast.unparse(node))
        if word in allowed.REFUSED and self._kind(owner) < Kind.HANDLE:
            _refuse("attributes", node, ast.unparse(node))
        if name == "setattr" and self._kind(owner) < Kind.HANDLE:
            _refuse("stores", node, ast.unparse(node))

    def _check_dtype(self, node: ast.Call, method: str) -> None:
        values = [one.value for one in node.keywords if one.arg == "dtype"]
        values += node.args[:1] if method == "astype" else []
        for value in values:
            if not self._is_type_of_numbers(value):
                _refuse("data", node, f"dtype {ast.unparse(value)}")

    def _is_type_of_numbers(self, node: ast.expr) -> bool:
        """Returns True for a dtype of numbers that are as wide as Python's own."""
        return node.value in _DTYPES if isinstance(node, ast.Constant) else self._is_fixed(node)

    def _is_fixed(self, node: ast.expr) -> bool:
        """Returns True for a literal, or the name of a type that stands in the table."""
        name = self._listed(node)
        if name:
            module, _, word = name.rpartition(".")
            return name in allowed.TYPES or word in allowed.MODULES.get(module, ())
        return _is_literal(node)


# ------------------------------------------------------------------------------- small looks


def _compared_with_literals(trees: Iterable[ast.Module]) -> frozenset[str]:
    """Returns the names whose calls are compared with literals, as those of functions are."""
    compared = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Compare))
    return frozenset(
        dotted(node.left.func).rpartition(".")[2]
        for node in compared
        if isinstance(node.left, ast.Call) and not any(map(_mentions, node.comparators))
    )


def _mentions(node: ast.expr) -> bool:
    return any(isinstance(part, ast.Name) for part in ast.walk(node))


def _unpacked(value: ast.expr | Kind) -> Sequence[ast.expr | Kind]:
    """Returns what each of several targets is bound to, if a value tells."""
    match value:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return parts
        case ast.Starred(value=ast.Call(func=ast.Name(id="enumerate"), args=[counted, *_])):
            return [Kind.DATA, ast.Starred(value=counted)]
        case ast.Starred(value=ast.Call(func=ast.Name(id="zip"), args=parts)):
            return [ast.Starred(value=one) for one in parts]
        case ast.Starred(value=ast.Call(func=ast.Attribute(attr="items"))):
            return [Kind.DATA, value]
    return ()


def _parameters(arguments: ast.arguments) -> list[ast.arg]:
    others = [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *others]


def _returned(node: ast.FunctionDef) -> Iterator[ast.expr]:
    for part in ast.walk(node):
        if isinstance(part, (ast.Return, ast.Yield)) and part.value is not None:
            yield part.value


def _is_listed(origin: str) -> bool:
    module, _, name = origin.rpartition(".")
    return name in allowed.MODULES.get(module, ()) or name in allowed.NARROW.get(module, ())


def _is_made(module: str, name: str) -> bool:
    """Returns True if values of a type may be made."""
    return name in allowed.MODULES.get(module, ())


def _is_plain_display(node: ast.AST) -> bool:
    """Returns True for a display of constants alone, which may be very large; it is marked."""
    if not isinstance(node, (ast.List, ast.Tuple, ast.Dict, ast.Set)):
        return False
    found: bool | None = getattr(node, "is_plain", None)
    if found is None:
        parts = [*node.keys, *node.values] if isinstance(node, ast.Dict) else node.elts
        found = all(
            isinstance(one, ast.Constant)
            or (isinstance(one, ast.UnaryOp) and isinstance(one.operand, ast.Constant))
            or (one is not None and _is_plain_display(one))
            for one in parts
        )
        node.is_plain = found  # type: ignore[union-attr]  # a mark of this module
    return found


def _is_plain(decorator: ast.expr) -> bool:
    """Returns True for a decorator that only says how a method is bound."""
    return dotted(decorator) in ("staticmethod", "classmethod", "property")


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and dotted(node.func) == "super"


def _is_literal(node: ast.expr) -> bool:
    match node:
        case ast.Constant():
            return True
        case ast.JoinedStr(values=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts):
            return all(map(_is_literal, parts))
        case ast.BinOp(left=left, right=right):
            return _is_literal(left) and _is_literal(right)
    return False


def _argument(call: ast.Call, place: int | str) -> ast.expr | None:
    if isinstance(place, int):
        return call.args[place] if place < len(call.args) else None
    return next((one.value for one in call.keywords if one.arg == place), None)


def _gives(call: ast.Call, name: str) -> bool:
    """Returns True if a call gives away what a name holds, itself or in a container."""
    given = [*call.args, *(one.value for one in call.keywords)]
    while given:
        one = given.pop()
        if isinstance(one, ast.Name) and one.id == name:
            return True
        if isinstance(one, (ast.List, ast.Tuple, ast.Starred, ast.Dict)):
            given += [part for part in ast.iter_child_nodes(one) if isinstance(part, ast.expr)]
    return False


def _only_listed(node: ast.stmt) -> ast.stmt:
    """Returns an import without the modules that stand in no row."""
    if isinstance(node, ast.Import):
        return ast.Import(names=[one for one in node.names if one.name in allowed.MODULES])
    return node


def _forget_annotations(node: ast.AST) -> None:
    match node:
        case ast.FunctionDef():
            node.returns = None
        case ast.arg():
            node.annotation = None
