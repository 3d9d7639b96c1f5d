"""Names and what a text binds to them, scope by scope."""

from __future__ import annotations

import ast
import enum
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from reward_server.grading.crossing import allowed
from reward_server.grading.crossing.python.facts import Source
from reward_server.grading.crossing.python.looks import (
    COMPREHENSIONS,
    is_plain_display,
    parameters,
)
from reward_server.grading.syntax import FUNCTIONS, Function, children, dotted

CHECK = "check"
_SCOPES = (*FUNCTIONS, ast.Lambda, ast.ClassDef)


class Kind(enum.IntEnum):
    """What an expression may hold; the greatest of several counts."""

    DATA = 0
    RAISED = 1  # an exception, whose own attributes are data
    RESULT = 2  # an answer of a function of the solution
    ANSWER = 3  # of an object of the solution, which may hold the original
    CODE = 4  # a function, class, iterator or object of the tests: no data
    HANDLE = 5  # an object of the solution, or a container of such
    SOLUTION = 6  # a function or class of the solution


Bound = ast.AST | Kind | str  # an expression or definition, a kind, or an import's origin


@dataclass(slots=True)
class Scope:
    """Names of a module, class, function or comprehension.

    Args:
        node: what makes the scope.
        above: the scope around it.
        bound: what each name is bound to.
        elsewhere: names that `global` or `nonlocal` declares.
    """

    node: ast.AST
    above: Scope | None = None
    bound: dict[str, list[Bound]] = field(default_factory=dict)
    elsewhere: set[str] = field(default_factory=set)

    def bind(self, name: str, value: Bound) -> None:
        """Adds something that a name is bound to."""
        home = self
        while name in self.elsewhere and home.above is not None:
            home = home.above
        home.bound.setdefault(name, []).append(value)

    def find(self, name: str) -> tuple[Scope, list[Bound]] | None:
        """Returns the scope that binds a name, and what it binds to it."""
        scope: Scope | None = self
        while scope is not None:
            is_seen = scope is self or not isinstance(scope.node, ast.ClassDef)
            if name in scope.bound and is_seen:
                return scope, scope.bound[name]
            scope = scope.above
        return None


class Names:
    """The scopes of the texts of one namespace.

    Args:
        source: the texts.
    """

    def __init__(self, source: Source) -> None:
        self.entry, self.module = source.entry_point.partition("(")[0], source.module
        self.top = Scope(ast.Module(body=[], type_ignores=[]))
        self.scopes: dict[int, Scope] = {}
        self.parents: dict[int, ast.AST] = {}
        for tree in source.trees:
            self.collect(tree, self.top)

    def scope_of(self, node: ast.AST) -> Scope:
        """Returns the scope in which a node stands."""
        while id(node) not in self.scopes:
            node = self.parents[id(node)]
        return self.scopes[id(node)]

    def find(self, node: ast.Name) -> tuple[Scope, list[Bound]] | None:
        """Returns what binds a name; see `Scope.find`."""
        return self.scope_of(node).find(node.id)

    def parent(self, node: ast.AST) -> ast.AST | None:
        """Returns the node around another."""
        return self.parents.get(id(node))

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yields all nodes around another, from the inside."""
        while (above := self.parent(node)) is not None:
            node = above
            yield node

    def class_of(self, scope: Scope) -> Scope:
        """Returns the scope of the class around another scope, or the outermost."""
        home = scope
        while home.above is not None and not isinstance(home.node, ast.ClassDef):
            home = home.above
        return home

    # ------------------------------------------------------------------------------ binding

    def collect(self, node: ast.AST, scope: Scope) -> None:
        """Binds all names of a text."""
        if isinstance(node, ast.Module):
            self.scopes[id(node)] = scope
        for child in children(node):
            self.parents[id(child)] = node
            if not is_plain_display(child):
                self._collect_node(child, scope)

    def _collect_node(self, node: ast.AST, scope: Scope) -> None:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                scope.bind(name, node)
            case ast.ClassDef(name=name):
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
            case ast.ExceptHandler(name=str(name)):
                scope.bind(name, Kind.RAISED)
            case _:
                self._collect_targets(node, scope)
        self._collect_inner(node, scope)

    def _collect_targets(self, node: ast.AST, scope: Scope) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._bind_target(target, value, scope)
            case (
                ast.AugAssign(target=target, value=value)
                | ast.AnnAssign(target=target, value=ast.expr() as value)
                | ast.NamedExpr(target=target, value=value)
                | ast.withitem(optional_vars=ast.expr() as target, context_expr=value)
            ):
                self._bind_target(target, value, scope)
            case ast.For(target=target, iter=value):
                self._bind_target(target, ast.Starred(value=value), scope)

    def _collect_inner(self, node: ast.AST, scope: Scope) -> None:
        if not isinstance(node, (*_SCOPES, *COMPREHENSIONS)):
            self.collect(node, scope)
            return
        inner = self.scopes[id(node)] = Scope(node, scope)
        if isinstance(node, COMPREHENSIONS):
            for part in node.generators:
                self._bind_target(part.target, ast.Starred(value=part.iter), inner)
        elif not isinstance(node, ast.ClassDef):
            self._bind_parameters(node, inner)
        self.collect(node, inner)

    def _bind_parameters(self, node: Function | ast.Lambda, inner: Scope) -> None:
        for one in parameters(node.args):
            inner.bound.setdefault(one.arg, [])
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.parents.setdefault(id(default), node)
        if isinstance(node, ast.Lambda):
            return
        if node.name == CHECK and not self.module and node.args.args and self.entry:
            inner.bind(node.args.args[0].arg, Kind.SOLUTION)
        for decorator in node.decorator_list:
            for name, value in _parametrized(decorator):
                inner.bind(name, value)

    def _bind_target(self, target: ast.expr, value: ast.expr | Kind, scope: Scope) -> None:
        match target:
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                items = _unpacked(value)
                is_matched = len(items) == len(targets)
                for place, one in enumerate(targets):
                    self._bind_target(one, items[place] if is_matched else value, scope)
            case ast.Starred(value=inner):
                self._bind_target(inner, value, scope)
            case ast.Name(id=name):
                self._home_of(target, scope).bind(name, value)
            case ast.Attribute(value=owner, attr=name) if dotted(owner) in allowed.FIXTURES:
                self.class_of(scope).bind(f"self.{name}", value)

    def _home_of(self, target: ast.Name, scope: Scope) -> Scope:
        """Returns the scope that a target belongs to: `:=` binds outside of comprehensions."""
        home = scope
        if isinstance(self.parent(target), ast.NamedExpr):
            while isinstance(home.node, COMPREHENSIONS) and home.above is not None:
                home = home.above
        return home


def _parametrized(decorator: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yields the parameters that a decorator of pytest gives values, with these."""
    match decorator:
        case ast.Call(func=function, args=[names, values, *_]) if dotted(function).endswith(
            "parametrize"
        ):
            listed = names.elts if isinstance(names, (ast.Tuple, ast.List)) else [names]
            texts = [str(one.value) for one in listed if isinstance(one, ast.Constant)]
            known = re.findall(r"\w+", ",".join(texts))
            rows = list(map(_row, getattr(values, "elts", ())))
            are_matched = bool(rows) and all(len(row) == len(known) for row in rows)
            are_matched &= not any(isinstance(one, ast.Starred) for row in rows for one in row)
            for place, name in enumerate(known):
                if len(known) > 1 and are_matched:
                    yield from ((name, row[place]) for row in rows)
                else:
                    yield name, ast.Starred(value=values)


def _row(node: ast.expr) -> Sequence[ast.expr]:
    """Returns the values of one case of a test with parameters; none if its text does not tell."""
    match node:
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return items
        case ast.Call(func=function, args=items) if dotted(function) == "pytest.param":
            return items
    return ()


def _unpacked(value: ast.expr | Kind) -> Sequence[ast.expr | Kind]:
    """Returns what each of several targets is bound to, if a value tells."""
    match value:
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return items
        case ast.Starred(value=ast.Call(func=ast.Name(id="enumerate"), args=[counted, *_])):
            return [Kind.DATA, ast.Starred(value=counted)]
        case ast.Starred(value=ast.Call(func=ast.Name(id="zip"), args=items)):
            return [ast.Starred(value=one) for one in items]
        case ast.Starred(value=ast.Call(func=ast.Attribute(attr="items"))):
            return [Kind.DATA, value]
    return ()
