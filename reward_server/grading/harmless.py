"""A closed grammar of test files in which proven assertions alone decide.

Twins show of an assertion that it refuses the solution where it is made wrong. That says nothing of
what decides besides: a `raise` under a condition, a look-up that fails, a helper of the tests', an
unpacking. All of them hear the solution. So a file's text is read against a short list of what
cannot decide: imports, definitions, assignments, calls of the solution whose results are dropped,
and expressions whose results a proven assertion compares. Whatever is not on the list is taken
for something that decides.

Names are of three kinds, for all of a file at once: the solution's *own* (imported from it, or made
from it alone), *plain* ones (known from the text), and all others.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TypeGuard

from reward_server.grading.assertions import CALLED_WITH
from reward_server.grading.rosters import is_skipped
from reward_server.grading.suites import dotted

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# Functions of Python's own that compute a value of one, and compare nothing.
_WRAPPERS = frozenset(
    (
        *("len", "str", "repr", "int", "float", "complex", "bool", "list", "tuple", "dict", "set"),
        *("frozenset", "bytes", "bytearray", "sorted", "reversed", "round", "abs", "type", "next"),
        *("iter", "enumerate", "chr", "ord", "range"),
    )
)
_PURE = frozenset(
    (
        *("len", "str", "repr", "list", "tuple", "dict", "set", "frozenset", "range", "sorted"),
        *("float", "int", "bytes", "enumerate", "zip"),
    )
)
# Functions of the standard library that hand on what they are given.
_HANDING_ON = frozenset(
    (
        *("pickle.loads", "pickle.dumps", "copy.copy", "copy.deepcopy", "json.dumps", "json.loads"),
        *("asyncio.run", "inspect.signature", "inspect.getdoc", "inspect.getmodule"),
        *("inspect.getsource", "dataclasses.asdict", "dataclasses.astuple", "vars"),
        *("get_type_hints", "typing.get_type_hints", "signature", "getdoc", "asdict", "astuple"),
    )
)
# Methods that read what the solution has written, whatever object they are of.
_READERS = frozenset(
    (
        *("getvalue", "read", "readlines", "readouterr", "read_text", "read_bytes", "splitlines"),
        *("strip", "rstrip", "lstrip", "split", "lower", "upper", "items", "keys", "values"),
        *("copy", "decode", "encode", "tolist"),
    )
)
# Methods of the tests' own objects, and functions, that make ready or clear away.
_PREPARING = frozenset(
    (
        *("add", "close", "clear", "write", "seek", "truncate", "flush", "seed", "chdir", "mkdir"),
        *("write_text", "invalidate_caches", "filterwarnings", "simplefilter", "super", "setUp"),
        *("tearDown", "setUpClass", "tearDownClass"),
    )
)
# Of these, what takes any value of the solution's.
_TAKING = frozenset(("append", "addCleanup", "print", "getmodule", "signature"))
_MAKING = frozenset(
    (
        *("StringIO", "BytesIO", "Mock", "MagicMock", "AsyncMock", "mkdtemp", "Path", "join"),
        *("TemporaryDirectory", "NamedTemporaryFile", "OrderedDict", "defaultdict", "Counter"),
        *("Decimal", "Fraction", "datetime", "date", "timedelta", "getLogger", "deque", "partial"),
    )
)
_BLOCKS = frozenset(
    (
        *("subTest", "patch", "object", "dict", "redirect_stdout", "redirect_stderr", "open"),
        *("TemporaryDirectory", "NamedTemporaryFile", "catch_warnings", "context"),
    )
)
_DECORATORS = frozenset(
    (
        *("fixture", "staticmethod", "classmethod", "property", "override", "dataclass"),
        *("parametrize", "patch", "object", "dict", "asyncio", "mark"),
    )
)
_PLAIN_NODES = (
    *(ast.Constant, ast.Name, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.BinOp, ast.UnaryOp),
    *(ast.Call, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension),
    *(ast.expr_context, ast.Add, ast.Sub, ast.Mult, ast.Pow, ast.USub, ast.Invert, ast.keyword),
)
_DISPLAYS = (ast.Tuple, ast.List, ast.Set)
_COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp, ast.SetComp)
_QUIET = (ast.Import, ast.ImportFrom, ast.Pass, ast.Global, ast.Nonlocal)


class Grammar:
    """Reads one file.

    Args:
        tree: the file, parsed.
        own: names that it takes from the solution.
    """

    def __init__(self, tree: ast.Module, own: Collection[str]) -> None:
        self._tree = tree
        bindings: dict[str, list[ast.expr | None]] = {}
        for name, source in _bindings(tree):
            bindings.setdefault(name, []).append(source)
        self._bound = frozenset(bindings)
        self._definitions = {
            node.name: node
            for node in tree.body
            if isinstance(node, (*_FUNCTIONS, ast.ClassDef)) and len(bindings[node.name]) == 1
        }
        self._libraries = frozenset(_libraries(tree))
        self._plain, self._own = set[str](), set(own)
        self._grow(self._plain, bindings, self.is_plain)
        self._grow(self._own, bindings, self._is_rooted)

    def _grow(
        self,
        names: set[str],
        bindings: Mapping[str, Sequence[ast.expr | None]],
        fits: Callable[[ast.expr], bool],
    ) -> None:
        size = -1
        while len(names) != size:
            size = len(names)
            names |= {
                name
                for name, sources in bindings.items()
                if all(one is not None and fits(one) for one in sources)
            }

    # ----------------------------------------------------------------------- expressions

    def is_plain(self, node: ast.AST) -> bool:
        """Returns True if the text alone tells what an expression is, and it cannot fail."""
        for part in ast.walk(node):
            if not isinstance(part, _PLAIN_NODES):
                return False
            if isinstance(part, ast.Call) and not self._is_builtin(part.func, _PURE):
                return False
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                known = part.id in self._plain or self._is_builtin(part, _PURE)
                if not known and part.id not in _targets(node):
                    return False
        return True

    def _is_builtin(self, node: ast.expr, names: Collection[str]) -> bool:
        return isinstance(node, ast.Name) and node.id in names and node.id not in self._bound

    def _is_rooted(self, node: ast.AST) -> bool:
        """Returns True if the solution alone computes an expression."""
        match node:
            case ast.Name() | ast.Attribute() if dotted(node) in self._own:
                return True
            case ast.Attribute(value=value) | ast.Await(value=value):
                return self._is_rooted(value)
            case ast.Subscript(value=value, slice=index):
                return self._is_rooted(value) and self._is_index(index)
            case ast.Call(func=function):
                return self._is_rooted(function) and self._has_calm_arguments(node)
        return False

    def _is_index(self, node: ast.expr) -> bool:
        parts = (node.lower, node.upper, node.step) if isinstance(node, ast.Slice) else (node,)
        return all(part is None or self.is_plain(part) for part in parts)

    def _has_calm_arguments(self, call: ast.Call) -> bool:
        return all(map(self.is_calm, _arguments(call)))

    def is_calm(self, node: ast.AST) -> bool:
        """Returns True if an expression cannot fail for what the solution says."""
        if self.is_plain(node):
            return True
        match node:
            case ast.Name() | ast.Constant():
                return True
            case ast.Attribute(value=value):
                return self.is_calm(value)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return all(map(self.is_calm, parts))
            case ast.Dict(keys=keys, values=values):
                plain = all(key is not None and self.is_plain(key) for key in keys)
                return plain and all(map(self.is_calm, values))
            case ast.Lambda(body=body):
                return self.is_calm(body)
            case ast.BinOp(left=left, op=ast.Div(), right=ast.Constant(value=str())):
                return self.is_calm(left)  # a path
            case ast.Call(func=function) if not self._is_rooted(function):
                made = self._is_librarys(function, _MAKING) and not self._hears(node)
                return (made or self._is_defined(function)) and self._has_calm_arguments(node)
        return self._is_rooted(node) and not _has_index(node)

    def _is_librarys(self, function: ast.expr, names: Collection[str]) -> bool:
        """Returns True if something of those names is the standard library's, or a framework's."""
        root, _, _ = dotted(function).partition(".")
        known = root in self._libraries or root == "self" or root not in self._bound
        return known and dotted(function).rpartition(".")[2] in names

    def _hears(self, call: ast.Call) -> bool:
        """Returns True if an argument of a call comes from the solution."""
        return any(dotted(part) in self._own for one in _arguments(call) for part in ast.walk(one))

    def _is_defined(self, function: ast.expr) -> bool:
        """Returns True if the file defines what is called; definitions are read by themselves."""
        return isinstance(function, ast.Name) and function.id in self._definitions

    def is_harmless(self, node: ast.AST) -> bool:
        """Returns True if nothing but the solution's value decides what an expression is.

        A proven assertion must compare it, since some values have no length, no element or no
        number.
        """
        if self.is_calm(node) or self._is_rooted(node):
            return True
        match node:
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return all(map(self.is_harmless, parts))
            case ast.Dict(keys=keys, values=values):
                plain = all(key is not None and self.is_plain(key) for key in keys)
                return plain and all(map(self.is_harmless, values))
            case ast.Subscript(value=value, slice=index):
                return self._is_index(index) and self.is_harmless(value)
            case ast.UnaryOp(op=ast.USub(), operand=value) | ast.Attribute(value=value):
                return self.is_harmless(value)
            case ast.Await(value=value):
                return self.is_harmless(value)
            case (
                ast.ListComp(elt=one, generators=parts)
                | ast.GeneratorExp(elt=one, generators=parts)
            ):
                sources = all(self.is_harmless(part.iter) and not part.ifs for part in parts)
                return sources and self.is_harmless(one)
            case ast.Call():
                return self._is_harmless_call(node)
        return False

    def _is_harmless_call(self, call: ast.Call) -> bool:
        arguments = list(_arguments(call))
        makes = self._is_librarys(call.func, _MAKING) or self._hands_on(call.func)
        if makes or self._is_builtin(call.func, _WRAPPERS):
            return all(map(self.is_harmless, arguments))
        if isinstance(call.func, ast.Attribute) and call.func.attr in _READERS:
            return self.is_harmless(call.func.value) and all(map(self.is_plain, arguments))
        return False

    def _hands_on(self, function: ast.expr) -> bool:
        name = dotted(function)
        return name in _HANDING_ON and self._is_librarys(function, {name.rpartition(".")[2]})

    # ------------------------------------------------------------------------ statements

    def is_proven(self, statement: ast.stmt, kind: str) -> bool:
        """Returns True if an assertion that is made wrong shows that nothing else decides it."""
        subjects = _subjects(statement, kind)
        return subjects is not None and all(map(self.is_harmless, subjects))

    def decider(self, proven: Collection[int]) -> ast.stmt | None:
        """Returns what may decide and is in no proven assertion; None if nothing does.

        Args:
            proven: ids of the proven assertions.
        """
        self._proven = proven
        self._compared = {
            name
            for node in ast.walk(self._tree)
            if id(node) in proven
            for part in ast.walk(node)
            if (name := dotted(part))
        }
        return self._loudest(self._tree)

    def _loudest(self, node: ast.AST) -> ast.stmt | None:
        """Returns the innermost statement of the first one that is not quiet."""
        for one in ast.iter_child_nodes(node):
            if isinstance(one, ast.stmt) and not self._is_quiet(one):
                return self._loudest(one) or one
        return None

    def _is_quiet(self, node: ast.stmt) -> bool:
        if is_skipped(node) or isinstance(node, _QUIET):
            return True
        if id(node) in self._proven:
            return all(map(self._is_quiet, getattr(node, "body", ())))
        match node:
            case ast.Expr(value=value):
                return self._is_quiet_expression(value)
            case ast.Assign() | ast.AnnAssign():
                return self._is_quiet_assignment(node)
            case ast.Return(value=value):
                return value is None or self.is_calm(value)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                return all(map(self._is_quiet_block, items)) and all(map(self._is_quiet, body))
            case ast.For(iter=table, body=body, orelse=[]):
                return self.is_plain(table) and all(map(self._is_quiet, body))
            case ast.Try(handlers=[], body=body, orelse=[], finalbody=behind):
                return all(map(self._is_quiet, (*body, *behind)))
            case ast.If(test=ast.Compare(left=ast.Name(id="__name__")), orelse=[]):
                return "__name__" not in self._bound
            case ast.ClassDef(body=body):
                named = (*node.bases, *(one.value for one in node.keywords))
                return all(map(self.is_calm, named)) and self._is_quiet_definition(node, body)
            case (
                ast.FunctionDef(args=given, body=body) | ast.AsyncFunctionDef(args=given, body=body)
            ):
                defaults = [one for one in (*given.defaults, *given.kw_defaults) if one is not None]
                return all(map(self.is_calm, defaults)) and self._is_quiet_definition(node, body)
        return False

    def _is_quiet_definition(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, body: Sequence[ast.stmt]
    ) -> bool:
        for one in node.decorator_list:
            called = one.func if isinstance(one, ast.Call) else one
            if dotted(called).rpartition(".")[2] not in _DECORATORS:
                return False
        return all(map(self._is_quiet, body))

    def _is_quiet_expression(self, value: ast.expr) -> bool:
        match value:
            case ast.Constant() | ast.Yield(value=None):
                return True
            case ast.Yield(value=ast.expr() as given):
                return self.is_calm(given)
            case ast.Await(value=ast.Call() as call) | (ast.Call() as call):
                if self._prepares(call.func, _TAKING):
                    return self._has_calm_arguments(call)
                if self._prepares(call.func, _PREPARING):
                    return self._has_calm_arguments(call) and not self._hears(call)
                return self.is_calm(call)
        return False

    def _prepares(self, function: ast.expr, names: Collection[str]) -> bool:
        """Returns True if a call makes ready or clears away, by the name of what is called."""
        if self._is_librarys(function, names) or dotted(function).startswith("monkeypatch."):
            return True
        if not isinstance(function, ast.Attribute):
            return False
        return function.attr in names and self.is_calm(function.value)

    def _is_quiet_assignment(self, node: ast.Assign | ast.AnnAssign) -> bool:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        value = node.value
        if not all(dotted(one) for one in targets):
            return False
        if value is None or self.is_calm(value):
            return True
        return self.is_harmless(value) and all(dotted(one) in self._compared for one in targets)

    def _is_quiet_block(self, item: ast.withitem) -> bool:
        call, named = item.context_expr, item.optional_vars
        if not isinstance(call, ast.Call) or not isinstance(named, (ast.Name, type(None))):
            return False
        ending = dotted(call.func).rpartition(".")[2]
        if ending == "assertLogs":
            return named is not None and named.id in self._compared
        return self._is_librarys(call.func, _BLOCKS) and self._has_calm_arguments(call)


def _subjects(statement: ast.stmt, kind: str) -> Sequence[ast.expr] | None:
    """Returns what an assertion compares; None if twins of that kind prove nothing of it."""
    if kind in ("object", "other"):
        return None
    match statement:
        case ast.Assert(test=test):
            return _of_condition(test, kind)
        case ast.With(items=[ast.withitem(context_expr=ast.Call() as call)]) if kind == "class":
            named = dotted(call.func).rpartition(".")[2]
            plain = named in ("assertRaises", "raises") and not call.keywords
            return () if plain and len(call.args) == 1 else None
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr=name)) as call):
            if name in CALLED_WITH:
                return [owner] if kind in ("value", "bag") else None
            return _of_call(call, name, kind)
    return None


def _of_call(call: ast.Call, name: str, kind: str) -> Sequence[ast.expr] | None:
    if kind == "class":
        raises = name in ("assertRaises", "raises") and not call.keywords
        return call.args[1:] if raises else None
    if name == "assertTrue" and kind in ("value", "bag", "far", "type"):
        return _of_condition(call.args[0], kind)
    if name in ("assertTrue", "assertFalse", "assertIsNone", "assertIsNotNone"):
        return call.args[:1] if kind == "turn" else None
    if name in ("assertIs", "assertIsNot") and kind == "turn":
        return call.args[:2]
    return call.args[:2] if kind in ("value", "bag", "far", "type") else None


def _of_condition(test: ast.expr, kind: str) -> Sequence[ast.expr] | None:
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand) if kind == "turn":
            return [operand]
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot()], comparators=[right]):
            return [left, right]
        case _ if kind == "turn":
            return [test]
        case ast.Compare(
            left=ast.Call(args=[ast.BinOp(left=left, right=right)]), ops=[ast.Lt() | ast.LtE()]
        ):
            return [left, right]
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            return [*map(_exact, (left, right))]
        case ast.Call(args=[left, right]):
            return [left, right]
    return None


def _exact(side: ast.expr) -> ast.expr:
    """Returns what `approx` is told."""
    is_near = isinstance(side, ast.Call) and dotted(side.func).rpartition(".")[2] == "approx"
    return side.args[0] if isinstance(side, ast.Call) and is_near else side


def _has_index(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Subscript) for part in ast.walk(node))


def _targets(node: ast.AST) -> set[str]:
    """Returns the names that comprehensions in an expression go through."""
    return {
        part.id
        for one in ast.walk(node)
        if isinstance(one, ast.comprehension)
        for part in ast.walk(one.target)
        if isinstance(part, ast.Name)
    }


def _arguments(call: ast.Call) -> Iterator[ast.expr]:
    yield from call.args
    yield from (keyword.value for keyword in call.keywords)


def _bindings(tree: ast.Module) -> Iterator[tuple[str, ast.expr | None]]:
    """Gives each name that a file binds, with what it is made from, where that is known."""
    fixtures = dict(_fixtures(tree))
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from _of_target(target, value)
            case ast.AnnAssign(target=target, value=value):
                yield from _of_target(target, value)
            case ast.AugAssign(target=target):
                yield dotted(target), None
            case (
                ast.For(target=target, iter=source) | ast.comprehension(target=target, iter=source)
            ):
                yield from ((name.id, source) for name in ast.walk(target) if _is_name(name))
            case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
                yield from _of_target(target, value)
            case ast.NamedExpr(target=ast.Name(id=name)):
                yield name, None
            case ast.ExceptHandler(name=str(name)):
                yield name, None
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from ((one.asname or one.name.partition(".")[0], None) for one in names)
            case ast.ClassDef(name=name, bases=bases):
                yield name, bases[0] if len(bases) == 1 else None
            case ast.Lambda(args=given):
                yield from ((one.arg, None) for one in _parameters(given))
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, None
                tables = dict(_tables(node))
                for one in _parameters(node.args):
                    yield one.arg, tables.get(one.arg) or fixtures.get(one.arg)


def _libraries(tree: ast.Module) -> Iterator[str]:
    """Gives the names that imports from the standard library or pytest bind."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                for one in names:
                    if _is_library(one.name):
                        yield one.asname or one.name.partition(".")[0]
            case ast.ImportFrom(module=str(module), names=names, level=0) if _is_library(module):
                yield from (one.asname or one.name for one in names)


def _is_library(module: str) -> bool:
    root = module.partition(".")[0]
    return root in sys.stdlib_module_names or root == "pytest"


def _is_name(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name)


def _of_target(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[str, ast.expr | None]]:
    if name := dotted(target):
        yield name, value
    else:
        yield from ((part.id, None) for part in ast.walk(target) if _is_name(part))


def _parameters(given: ast.arguments) -> list[ast.arg]:
    stars = [one for one in (given.vararg, given.kwarg) if one is not None]
    return [*given.posonlyargs, *given.args, *given.kwonlyargs, *stars]


def _tables(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[str, ast.expr]]:
    """Gives the names of a test's parameters, with the table of their values."""
    for mark in function.decorator_list:
        if isinstance(mark, ast.Call) and dotted(mark.func).endswith("parametrize"):
            match mark.args:
                case [ast.Constant(value=str(names)), table, *_]:
                    for name in names.split(","):
                        yield name.strip(), table


def _fixtures(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Gives fixtures with what they return."""
    for node in tree.body:
        if isinstance(node, _FUNCTIONS) and node.decorator_list:
            given = [
                part.value
                for part in ast.walk(node)
                if isinstance(part, (ast.Return, ast.Yield)) and part.value is not None
            ]
            if len(given) == 1:
                yield node.name, given[0]
