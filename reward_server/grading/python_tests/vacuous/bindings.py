"""Reads which names, and names with attributes, tests bind in any of their scopes, and to what."""

from __future__ import annotations

import ast
import functools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from reward_server.grading import syntax
from reward_server.grading.syntax import FUNCTIONS, IMPORTS, NAMES, Function, dotted

Definition = Function | ast.ClassDef
# Below these a name may stand without letting anybody change the list for which it stands.
_READERS = (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Assert, ast.For, ast.If)
_IMMUTABLE = (ast.Constant, ast.UnaryOp)


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """One place where a text binds a name.

    Args:
        definition: the function or class, if it is one.
        value: an expression that is, or holds, all for which the name may stand; None if the text
            does not say.
        module: the module of an import, and what is taken from it.
        is_taken: whether an import takes something from its module.
        always: whether nothing around the place decides if it is reached.
    """

    definition: Definition | None = None
    value: ast.expr | None = None
    module: str = ""
    is_taken: bool = False
    always: bool = False


class Bindings:
    """The names that texts bind; the texts are read when the first name is looked up.

    Args:
        trees: the texts.
    """

    def __init__(self, trees: Sequence[ast.Module]) -> None:
        self._trees = trees
        self._always, self._changed = set[int](), set[str]()
        self._explained, self._methods = set[int](), set[str]()
        self._taken_whole = set[str]()

    @functools.cached_property
    def _places(self) -> dict[str, list[Binding]]:
        self._found: dict[str, list[Binding]] = defaultdict(list)
        for tree in self._trees:
            for node in syntax.walk(tree):  # parents come before their children
                self._read(node)
                self._note_changes(node)
        return self._found

    @property
    def taken_whole(self) -> frozenset[str]:
        """The modules of which the texts import all names."""
        return frozenset(self._taken_whole) if self._places else frozenset()

    def of(self, name: str) -> Sequence[Binding]:
        """Returns the places that bind a name; none if it comes from elsewhere."""
        return self._places.get(name, ())

    def definitions(self, name: str) -> list[Definition]:
        """Returns the functions, methods and classes of a name."""
        return [one.definition for one in self.of(name) if one.definition is not None]

    def has_method(self, name: str) -> bool:
        """Returns True if a class of the texts has a method of that name."""
        return bool(self._places) and name in self._methods

    def only_value(self, name: str) -> ast.expr | None:
        """Returns the expression for which a name always stands, if the text says so."""
        match self.of(name):
            case [Binding(value=ast.expr() as value, always=True)]:
                is_safe = isinstance(value, _IMMUTABLE) or name not in self._changed
                return value if is_safe else None
        return None

    def _read(self, node: ast.AST) -> None:
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            self._add(node.name, Binding(definition=node))
        if isinstance(node, ast.ClassDef):
            self._methods.update(one.name for one in node.body if isinstance(one, FUNCTIONS))
        if isinstance(node, (*FUNCTIONS, ast.Module)):
            self._always.update(map(id, node.body))
        elif isinstance(node, IMPORTS):
            self._read_import(node)
        elif isinstance(node, NAMES):
            if not isinstance(node.ctx, ast.Load) and id(node) not in self._explained:
                self._add(dotted(node), Binding())
        else:
            self._read_other(node)

    def _read_other(self, node: ast.AST) -> None:
        match node:
            case ast.arg(arg=name) | ast.ExceptHandler(name=str(name)):
                self._add(name, Binding())
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                self._add(name, Binding())
            case ast.Assign(targets=[target], value=value) if isinstance(target, NAMES):
                self._explain(target, value, always=id(node) in self._always)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._explain(target, value, always=id(node) in self._always)
            case ast.NamedExpr(target=target, value=value):
                self._explain(target, value)
            case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                for one in syntax.walk(target):
                    if isinstance(one, ast.Name):
                        self._explain(one, value)

    def _read_import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            if isinstance(node, ast.Import):
                module = alias.name if alias.asname else name
                self._add(name, Binding(module=module))
            else:
                module = f"{'.' * node.level}{node.module or ''}.{alias.name}"
                if alias.name == "*":
                    self._taken_whole.add(module.removesuffix(".*"))
                self._add(name, Binding(module=module, is_taken=True))

    def _explain(self, target: ast.expr, value: ast.expr, *, always: bool = False) -> None:
        self._explained.add(id(target))
        self._add(dotted(target), Binding(value=value, always=always))

    def _add(self, name: str, binding: Binding) -> None:
        self._found[name].append(binding)

    def _note_changes(self, node: ast.AST) -> None:
        if isinstance(node, _READERS):
            return
        for child in syntax.children(node):
            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load):
                self._changed.add(child.id)
