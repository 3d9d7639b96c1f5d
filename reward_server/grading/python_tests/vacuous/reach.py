"""Finds what an answer can fail in a text of tests, from the statements that run first.

What can fail is not listed: everything can, but what is known not to. Known are comparisons and
other expressions that are no assertion, conditions that always hold, calls of the solution, of
built-in functions and of functions of the text in which nothing can fail, methods of plain data,
and the functions of a few modules. An exception that a call of the solution raises is no assertion.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Iterable, Sequence

from reward_server.grading import syntax
from reward_server.grading.python_tests.assertions import RAISES
from reward_server.grading.python_tests.vacuous.bindings import Binding, Bindings
from reward_server.grading.python_tests.vacuous.truths import Truths
from reward_server.grading.syntax import FUNCTIONS, dotted, last_name, without_call

_BUILTINS = frozenset(dir(builtins))
_KINDS = (str, bytes, list, dict, set, tuple, int, float, complex)
_METHODS = frozenset(name for kind in _KINDS for name in dir(kind) if not name.startswith("_"))
_CALLED = frozenset(
    (
        *("abs", "all", "any", "ascii", "bin", "bool", "bytes", "callable", "chr", "complex"),
        *("dict", "divmod", "enumerate", "filter", "float", "format", "frozenset", "hasattr"),
        *("hash", "hex", "id", "int", "isinstance", "issubclass", "iter", "len", "list", "map"),
        *("max", "min", "next", "object", "oct", "ord", "pow", "print", "range", "repr"),
        *("reversed", "round", "set", "slice", "sorted", "str", "sum", "super", "tuple", "type"),
        *("zip", "property", "staticmethod", "classmethod"),
        *(name for name in dir(builtins) if name.endswith(("Error", "Exception", "Warning"))),
    )
)
# Modules of which no function asserts anything, but those whose names say so.
_MODULES = frozenset(
    (
        *("math", "cmath", "time", "copy", "json", "random", "string", "itertools", "re"),
        *("collections", "datetime", "decimal", "fractions", "statistics", "heapq", "bisect"),
        *("operator", "functools", "typing", "dataclasses", "enum", "numpy", "pandas"),
    )
)
_ASSERTING = re.compile(r"assert|expect|should|verify|check|must|raise|fail|testing|ensure|require")
_OWNERS = frozenset(("self", "cls"))
# Of unittest and pytest: what skips a test, and what neither asserts nor skips.
SKIPS = frozenset(("skip", "skipTest", "SkipTest", "Skipped"))
_SILENT = frozenset(("subTest", "id", "addCleanup", "approx", "param", "fixture", "mark"))
_MARKS = frozenset(("fixture", "wraps", "dataclass", "contextmanager", "lru_cache", "cache"))
_CATCHES = frozenset(("Exception", "BaseException", "AssertionError"))


class Reach:
    """What runs in a text of tests.

    Args:
        bindings: the names of the text.
        module: the module of the solution for imports of the tests.
        supplies: returns whether a name that the text does not bind is the solution's; nothing of
            the solution is an assertion of the tests.
        functions: the names of functions and classes of the solution.

    Attributes:
        hints: what looked like an assertion and cannot fail, in the order of reading.
    """

    def __init__(
        self,
        bindings: Bindings,
        *,
        module: str,
        supplies: Callable[[str], bool],
        functions: frozenset[str],
    ) -> None:
        self.truths = Truths(bindings, functions)
        self.hints: list[str] = []
        self._bindings = bindings
        self._module, self._supplies = module, supplies
        self._functions = functions
        self._mentioned = set[str]()
        self._waiting: list[str] = []
        self._rooting = set[str]()
        self._swallows = False

    def can_fail(self, bodies: Iterable[Sequence[ast.AST]]) -> bool:
        """Returns True if an answer can fail statements, or what they name.

        Args:
            bodies: lists of statements that run one after another.
        """
        if any(map(self._fails, bodies)):
            return True
        while self._waiting:
            for found in self._bindings.definitions(self._waiting.pop()):
                methods = [one.body for one in found.body if isinstance(one, FUNCTIONS)]
                parts = methods if isinstance(found, ast.ClassDef) else [found.body]
                if any(map(self._fails, parts)):
                    return True
        return not self._bindings.taken_whole <= {self._module}

    # ----------------------------------------------------------------------------- statements

    def _fails(self, body: Sequence[ast.AST]) -> bool:
        for one in body:
            if self._statement_fails(one):
                return True
            if leaves(one):
                return False
        return False

    def _statement_fails(self, node: ast.AST) -> bool:
        match node:
            case ast.Assert(test=test):
                return self._asserts(node, self.truths.of(test)) or self._opens(test)
            case ast.Raise(exc=raised):
                return not (self._swallows or (raised and last_name(without_call(raised)) in SKIPS))
            case ast.If(test=test, body=body, orelse=orelse):
                return self._opens(test) or self._branch_fails(self.truths.of(test), body, orelse)
            case ast.While(test=test, body=body, orelse=orelse):
                runs = self.truths.of(test) is not False
                return self._opens(test) or (runs and self._fails(body)) or self._fails(orelse)
            case (
                ast.For(iter=rows, body=body, orelse=orelse)
                | ast.AsyncFor(iter=rows, body=body, orelse=orelse)
            ):
                runs = not self.truths.is_empty(rows)
                return self._opens(rows) or (runs and self._fails(body)) or self._fails(orelse)
            case ast.Try() | ast.TryStar():
                return self._try_fails(node)
            case ast.With() | ast.AsyncWith():
                return self._block_fails(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return self._definition_fails(node)
            case ast.Expr(value=value):
                return self._expression_fails(value)
            case ast.Match(subject=subject, cases=cases):
                return self._opens(subject) or any(self._fails(case.body) for case in cases)
            case ast.AnnAssign(value=value):
                return value is not None and self._opens(value)
        return self._opens(node)

    def _asserts(self, node: ast.AST, truth: bool | None) -> bool:
        """Returns True if an assertion with a condition of this truth can fail."""
        if truth and isinstance(node, ast.Assert) and isinstance(node.test, ast.Tuple):
            self._note(node, "asserts a tuple, which always holds: leave out its parentheses")
        elif truth:
            self._note(node, "asserts what holds for every answer")
        elif self._swallows:
            self._note(node, "asserts where the tests themselves catch the failure")
        return not truth and not self._swallows

    def _branch_fails(
        self, truth: bool | None, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt]
    ) -> bool:
        taken = [part for part, way in ((body, True), (orelse, False)) if truth in (None, way)]
        return any(map(self._fails, taken))

    def _try_fails(self, node: ast.Try | ast.TryStar) -> bool:
        catching = next((one for one in node.handlers if _catches(one.type)), None)
        leaves_anyway = any(map(leaves, node.finalbody))
        body = self._fails_within(node.body, swallows=catching is not None or leaves_anyway)
        handled = (self._fails(one.body) for one in node.handlers)
        return body or any(handled) or self._fails(node.orelse) or self._fails(node.finalbody)

    def _fails_within(self, body: Sequence[ast.stmt], *, swallows: bool) -> bool:
        before, self._swallows = self._swallows, self._swallows or swallows
        found = self._fails(body)
        self._swallows = before
        return found

    def _block_fails(self, node: ast.With | ast.AsyncWith) -> bool:
        swallows = False
        for item in node.items:
            call = item.context_expr
            if isinstance(call, ast.Call) and last_name(call.func) == "suppress":
                swallows = swallows or any(map(_catches, call.args))
            elif self._opens(call):
                return True
        return self._fails_within(node.body, swallows=swallows)

    def _definition_fails(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    ) -> bool:
        if any(not self._is_mark(one) for one in node.decorator_list):
            return True
        if isinstance(node, ast.ClassDef):
            for base in node.bases:
                self._mention(last_name(base))
            return self._fails(node.body)
        return any(self._opens(one) for one in (*node.args.defaults, *node.args.kw_defaults) if one)

    def _is_mark(self, node: ast.expr) -> bool:
        """Returns True if a decorator asserts nothing."""
        parts = dotted(without_call(node)).split(".")
        is_known = not {"mark", "patch"}.isdisjoint(parts) or parts[-1] in SKIPS | _MARKS
        return is_known or parts[-1].startswith("skip") or not self._opens(node)

    def _expression_fails(self, node: ast.expr) -> bool:
        """Returns True if an expression that stands as a statement can fail."""
        match node:
            case ast.Call(func=called, args=given) if last_name(called) in RAISES:
                if len(given) < 2:
                    self._note(node, "names an exception, and calls nothing that has to raise it")
                    return False
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()) | ast.Tuple():
                self._note(node, "compares, and asserts nothing: begin it with `assert`")
        return self._opens(node)

    def _note(self, node: ast.AST, what: str) -> None:
        self.hints.append(f"line {getattr(node, 'lineno', 1)} {what}")

    # ---------------------------------------------------------------------------- expressions

    def _opens(self, node: ast.AST) -> bool:
        """Returns True if an expression has a call that may assert something."""
        return any(self._part_opens(part) for part in syntax.walk(node))

    def _part_opens(self, part: ast.AST) -> bool:
        match part:
            case ast.Call():
                return self._call_opens(part)
            case ast.Name(id=name, ctx=ast.Load()):
                self._mention(name)
                places = self._bindings.of(name)
                return any(one.is_taken and self._is_foreign(one) for one in places)
            case ast.Attribute(attr=name):
                self._mention(name)
        return False

    def _mention(self, name: str) -> None:
        if name not in self._mentioned:
            self._mentioned.add(name)
            self._waiting.append(name)

    def _call_opens(self, call: ast.Call) -> bool:
        match call.func:
            case ast.Name(id=name):
                return not self._is_silent_name(name)
            case ast.Attribute(value=owner, attr=name):
                return not self._is_silent_method(call, owner, name)
        return not self._is_plain(call.func)

    def _is_silent_name(self, name: str) -> bool:
        places = self._bindings.of(name)
        if not places:
            return name in _CALLED or self._is_supplied(name)
        return all(map(self._is_silent_binding, places)) or name in self._functions

    def _is_supplied(self, name: str) -> bool:
        return name not in _BUILTINS and self._supplies(name)

    def _is_silent_binding(self, one: Binding) -> bool:
        if one.module:
            return not self._is_foreign(one)
        return one.definition is not None or (one.value is not None and self._is_plain(one.value))

    def _is_silent_method(self, call: ast.Call, owner: ast.expr, name: str) -> bool:
        is_own = isinstance(owner, ast.Name) and owner.id in _OWNERS
        if is_own and name.startswith("assert") and not self._bindings.has_method(name):
            return not self._asserts(call, self.truths.of_assertion(name, call.args))
        if name in SKIPS | _SILENT | _METHODS or self._bindings.has_method(name):
            return True
        return self._is_plain(owner) and not _ASSERTING.search(name)

    def _is_foreign(self, one: Binding) -> bool:
        """Returns True if a binding is an import that may bring assertions."""
        root, _, rest = one.module.partition(".")
        is_known = root in _MODULES and not _ASSERTING.search(rest)
        is_own = f"{one.module}.".startswith(f"{self._module}.")
        return bool(one.module) and not is_known and not is_own

    def _is_plain(self, node: ast.expr) -> bool:
        """Returns True if an expression is data, the solution's, or of a module that asserts
        nothing."""
        match node:
            case ast.Name(id=name):
                return self._is_plain_name(name)
            case ast.Call(func=called):
                return not self._call_opens(node) and self._is_plain(called)
            case ast.Attribute(value=value, attr=name):
                is_known = bool(self._bindings.of(dotted(node))) and self._is_plain_name(
                    dotted(node)
                )
                return is_known or (self._is_plain(value) and not _ASSERTING.search(name))
            case ast.Subscript(value=value) | ast.Starred(value=value) | ast.Await(value=value):
                return self._is_plain(value)
            case ast.NamedExpr(value=value):
                return self._is_plain(value)
        parts = (one for one in syntax.children(node) if isinstance(one, ast.expr))
        return all(map(self._is_plain, parts))

    def _is_plain_name(self, name: str) -> bool:
        places = self._bindings.of(name)
        if not places or name in self._rooting:
            return bool(places) or name in _CALLED or self._is_supplied(name)
        self._rooting.add(name)
        try:
            return name in self._functions or all(map(self._is_silent_binding, places))
        finally:
            self._rooting.discard(name)


def leaves(node: ast.AST) -> bool:
    """Returns True if nothing behind a statement runs."""
    match node:
        case ast.Return() | ast.Raise() | ast.Continue() | ast.Break():
            return True
        case ast.Expr(value=ast.Call(func=called)):
            return last_name(called) in SKIPS
    return False


def _catches(kind: ast.expr | None) -> bool:
    """Returns True if a handler of this kind catches a failed assertion."""
    if isinstance(kind, ast.Tuple):
        return any(map(_catches, kind.elts))
    return kind is None or last_name(kind) in _CATCHES
