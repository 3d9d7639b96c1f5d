"""Finds code of tests that changes something which the solution may use.

What this stops: modules, preparations, hooks or helpers of the tests that change something which
the solution uses, by a patch, an attribute or a module that is passed on. In a separate judge the
change would only affect the judge. Tests that wait, or that need to share an event loop with the
solution, are found, too.

What it does not stop: changes by objects of libraries that are passed on.
"""

from __future__ import annotations

import ast
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from reward_server.grading import syntax
from reward_server.grading.python_tests.collection import sets_filter
from reward_server.grading.python_tests.isolation import policy
from reward_server.grading.python_tests.isolation.hearsay import Hearsay
from reward_server.grading.python_tests.isolation.names import (
    SETTERS,
    File,
    Scope,
    chain_of,
    plain_bindings,
)
from reward_server.grading.python_tests.isolation.policy import Part
from reward_server.grading.syntax import FUNCTIONS, NAMES, dotted

_AROUND = policy.by_name(policy.AROUND)
# Libraries whose objects can cross, or that only concern tests.
_HARMLESS_LIBRARIES = frozenset(("numpy", "pytest", "pytest_asyncio", "hypothesis"))
_MONKEYPATCH = frozenset(
    (
        *("setattr", "delattr", "setitem", "delitem", "setenv", "delenv", "chdir"),
        *("syspath_prepend",),
    )
)
_OF_PROCESS = frozenset(("setenv", "delenv", "chdir", "syspath_prepend"))
# Functions that return a module, or another object that is not the tests' own, by its name.
_GIVERS = frozenset(("getattr", "globals", "locals", "vars", "__import__", "importorskip"))
_LOOKS = frozenset(("hasattr", "getattr", "dir", *SETTERS))
# Libraries of tests only: a change of them does not affect the solution.
_FRAMEWORKS = frozenset(("unittest", "pytest", "hypothesis"))
_ACTS = frozenset(("exec", "__import__", "seed"))
_QUEUES = frozenset(("Queue", "LifoQueue", "PriorityQueue", "SimpleQueue"))


class Surroundings:
    """Finds such changes in one file.

    Args:
        file: the file.
        hearsay: the names that lead to the solution.
    """

    def __init__(self, file: File, hearsay: Hearsay) -> None:
        self.file = file
        self._hearsay = hearsay

    def _hears(self, node: ast.AST) -> bool:
        return self._hearsay.hears(self.file, node)

    def reasons(self, scope: Scope) -> Iterator[str]:
        """Yields the reasons in a scope that runs as the solution is used."""
        looked_at = set[int]()
        for node in own_parts(scope):
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
                    for part in syntax.walk(node):
                        yield from self._of_waits(part, Part.MEANT_IN_LOOP)
                case ast.Attribute(value=owner) if not self._is_own(owner, node.attr):
                    yield f"changes {dotted(node) or node.attr}"
                case ast.Subscript(ctx=ast.Store() | ast.Del(), value=owner) if not self._is_own(
                    owner
                ):
                    yield f"changes {dotted(_innermost(owner)) or 'what a call gives'}"

    def _of_change(self, call: ast.Call, scope: Scope) -> Iterator[str]:
        """Yields reasons for a call that changes an object, under any name."""
        chains = [chain_of(call.func), *(one.split(".") for one in self.file.origins_of(call.func))]
        names = {chain[-1] for chain in chains if chain}
        if (any("patch" in chain for chain in chains) and not self._patches_own(call)) or (
            is_monkeypatch(call) and not self._patches_own(call, scope)
        ):
            yield "patches what the solution may use"
        elif (setters := names & SETTERS) and not is_monkeypatch(call):
            is_whole = len(call.args) > 1 + any(name.endswith("setattr__") for name in setters)
            changed = call.args[0] if is_whole or isinstance(call.func, ast.Name) else call.func
            if not self._is_own(changed) or dotted(changed) in self.file.taken:
                yield f"calls {min(setters)}()"
        elif acts := names & _ACTS:
            yield f"calls {min(acts)}()"
        elif sets_filter(call):
            yield "makes warnings errors"

    def _of_value(self, node: ast.Attribute | ast.Name) -> Iterator[str]:
        """Yields reasons for an object that is passed on, or stored where it is not followed."""
        is_named = dotted(node) in self.file.aliases or isinstance(node, ast.Attribute)
        if (is_named and self.file.is_solutions(node)) or self.file.is_module(node):
            yield f"hands over the module {dotted(node)}"
        elif any(map(_is_changer, self.file.origins_of(node))):
            yield f"hands over {dotted(node)}"

    def _is_own(self, node: ast.expr, attribute: str = "") -> bool:
        """Returns True if a changed object certainly comes from the tests, or from a call.

        Args:
            node: the object.
            attribute: its attribute that is changed; "" if it is no attribute.
        """
        inner = _innermost(node)
        origins = self.file.origins_of(inner)
        if any(one.partition(".")[0] in _FRAMEWORKS for one in origins):
            return True
        if self._leads_out(chain_of(node)[1:]):
            return False
        if isinstance(inner, ast.Name):
            return self._is_own_name(inner.id)
        if isinstance(inner, ast.Call):
            given = chain_of(inner.func)[-1:]
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

    def _around_by_policy(self, node: ast.Name | ast.Attribute) -> Iterator[str]:
        """Yields the reason of the policy's row for a name, by itself or by its import."""
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
        """Yields reasons for waiting, since threads, timers and tasks may work in the meantime."""
        if isinstance(node, NAMES):
            for origin in sorted({*self.file.origins_of(node)}):
                if row := _AROUND.get((part, origin)):
                    yield row.reason.format(origin)

    def _of_queues(self, call: ast.Call) -> Iterator[str]:
        """Yields reasons for waiting for a thread at a queue."""
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        is_timed = any(one.arg == "timeout" for one in call.keywords)
        takes = name in ("get", "join") and not call.args
        if takes or (is_timed and name in ("get", "join", "put")):
            known = frozenset[str]().union(*self.file.origins.values())
            if known & {"queue", *(f"queue.{one}" for one in _QUEUES)}:
                yield f"waits by {name}() of a queue, while the solution may work"

    def _patches_own(self, call: ast.Call, scope: Scope | None = None) -> bool:
        """Returns True if a patch replaces the tests' own object, or one that the scope uses."""
        if not call.args:
            return False
        target = call.args[0]
        if chain_of(call.func)[-1] in _OF_PROCESS:
            return False
        if isinstance(target, ast.Constant) and isinstance(target.value, str):
            is_within = self._leads_out(target.value.split(".")[1:-1])
            return self.file.is_own_target(target.value) and not is_within
        if self._is_own(target) and not self._hears(target):
            return True
        return scope is not None and self._uses_attribute(scope, call)

    def _uses_attribute(self, scope: Scope, call: ast.Call) -> bool:
        """Returns True if code uses the attribute that a patch replaces."""
        if len(call.args) < 2 or self._hears(call.args[0]):
            return False
        target, name = dotted(call.args[0]), call.args[1]
        if not target or not isinstance(name, ast.Constant):
            return False
        return any(dotted(node) == f"{target}.{name.value!s}" for node in syntax.walk(scope))

    def _of_library(self, node: ast.Name | ast.Attribute) -> Iterator[str]:
        if not isinstance(node, ast.Name):
            return
        root = self.file.imported.get(node.id, "").partition(".")[0]
        if root and root not in sys.stdlib_module_names and root not in _HARMLESS_LIBRARIES:
            yield f"uses {root}, whose objects cannot be handed over"


def is_monkeypatch(call: ast.Call) -> bool:
    """Returns True if a call is of a method with a name that `monkeypatch` has."""
    return isinstance(call.func, ast.Attribute) and call.func.attr in _MONKEYPATCH


def _is_changer(origin: str) -> bool:
    """Returns True if a full name is a function that changes its argument."""
    is_patch = "patch" in origin.split(".") and not origin.endswith(".stopall")
    return is_patch or origin.rpartition(".")[2] in SETTERS


def _innermost(node: ast.expr) -> ast.expr:
    """Returns the expression at the root of attributes and elements."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.NamedExpr)):
        node = node.value
    return node


def _only_looked_at(node: ast.AST, scope: Scope) -> Iterable[ast.AST]:
    """Returns the parts of a node that it only reads, and does not pass on."""
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
            name = chain_of(function)[-1:]
            is_look = (name and name[0] in _LOOKS | _MONKEYPATCH) or "patch" in chain_of(function)
            return [function, *(arguments[:1] if is_look else ())]
        case ast.Assign() | ast.AnnAssign() if not isinstance(scope, ast.ClassDef):
            return [value for _, value in plain_bindings(node)]
    return ()


def own_parts(scope: Scope) -> Iterator[ast.AST]:
    """Yields the nodes of a scope, without the bodies of functions and classes inside it."""
    waiting = deque(syntax.children(scope))
    while waiting:
        node = waiting.popleft()
        yield node
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            if isinstance(scope, FUNCTIONS):
                waiting += syntax.children(node)
            continue
        waiting += syntax.children(node)
