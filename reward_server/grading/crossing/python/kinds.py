"""What an expression may hold, in coarse kinds; see `scopes.Kind`."""

from __future__ import annotations

import ast
import builtins
import contextlib
from collections.abc import Iterable, Iterator, Sequence
from types import EllipsisType

from reward_server.grading.crossing import allowed
from reward_server.grading.crossing.python.facts import Source
from reward_server.grading.crossing.python.looks import (
    is_plain_display,
    parameters,
    returned,
)
from reward_server.grading.crossing.python.origins import Origins
from reward_server.grading.crossing.python.scopes import Bound, Kind, Scope
from reward_server.grading.syntax import FUNCTIONS

_GIVE_ITEMS = frozenset(("copy", "get", "pop", "setdefault"))  # methods of data
_HOLD_SAME = frozenset(
    ("list", "tuple", "sorted", "set", "copy.copy", "copy.deepcopy", "getattr", "next")
)


class Kinds(Origins):
    """The kinds of expressions; a name that is asked for while it is looked at counts as data."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._doing: set[tuple[int, str]] = set()
        self._linked: frozenset[str] = frozenset()
        self._linked = frozenset(self._links())

    def _links(self) -> Iterator[str]:
        """Yields the attributes in which the tests keep objects of the solution in others."""
        for node in self.facts.assigned:
            if self.kind(node.value) is Kind.HANDLE:
                yield from (one.attr for one in node.targets if isinstance(one, ast.Attribute))

    def kind(self, node: Bound) -> Kind:
        """Returns what an expression may hold."""
        match node:
            case Kind():
                return node
            case str() if self.is_of_solution(node):
                return Kind.SOLUTION
            case str():
                return _data_if(node in allowed.VALUES or node in allowed.MODULES)
            case ast.Name(id=name):
                with self._once(id(self.scope_of(node)), name) as is_first:
                    return self._kind_of_name(node) if is_first else Kind.DATA
            case ast.Attribute():
                return self._kind_of_attribute(node)
            case ast.Call(func=ast.Attribute() as function) if not self.origin(function):
                return self._kind_of_method(function)
            case ast.Call(func=function):
                return self._kind_of_call(node, function)
            case ast.Starred(value=value):
                return self._kind_of_items(value)
            case (
                ast.Lambda()
                | ast.GeneratorExp()
                | ast.ClassDef()
                | ast.Constant(value=EllipsisType())
            ):
                return Kind.CODE
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return Kind.CODE
        return Kind.DATA if is_plain_display(node) else self.join(_holding(node))

    def join(self, nodes: Iterable[Bound]) -> Kind:
        """Returns the greatest kind of several expressions."""
        return max(map(self.kind, nodes), default=Kind.DATA)

    @contextlib.contextmanager
    def _once(self, place: int, name: str) -> Iterator[bool]:
        """Yields False for what is looked at already, since a name may be bound to itself."""
        is_first = (place, name) not in self._doing
        self._doing.add((place, name))
        try:
            yield is_first
        finally:
            if is_first:
                self._doing.discard((place, name))

    # -------------------------------------------------------------------------------- names

    def _kind_of_name(self, node: ast.Name) -> Kind:
        found = self.find(node)
        if found is None:
            return self._kind_of_free(node.id)
        home, values = found
        return self.join([*values, *self._fixture(node.id, home)])

    def _kind_of_free(self, name: str) -> Kind:
        if name in self.helpers.found or name in self.helpers.imports:
            helper = self.helpers.found.get(name)
            return _data_if(isinstance(helper, ast.Assign) or helper is None)
        if name in allowed.BUILTINS and name != self.entry:
            return _data_if(name in allowed.TEXTS)
        if name in allowed.MODULES:
            return Kind.DATA
        if hasattr(builtins, name) and name != self.entry:
            return Kind.CODE  # it stands in no row
        is_read = self.is_constant(name) and not self.module
        return Kind.ANSWER if is_read else Kind.SOLUTION

    def _fixture(self, name: str, home: Scope) -> Iterator[ast.AST]:
        """Yields what the fixture with a parameter's name returns."""
        if not (self.module and isinstance(home.node, FUNCTIONS) and home.above is not None):
            return
        above = home.above.find(name)
        if above is not None and name in {one.arg for one in parameters(home.node.args)}:
            for node in above[1]:
                if isinstance(node, FUNCTIONS):
                    yield from returned(node)

    def _kind_of_attribute(self, node: ast.Attribute) -> Kind:
        if origin := self.origin(node):
            if self.is_of_solution(origin):
                return Kind.ANSWER if self.is_constant(node.attr) else Kind.SOLUTION
            return _data_if(origin in allowed.VALUES)
        match node.value:
            case ast.Name(id=name) if name in allowed.FIXTURES:
                scope = self.class_of(self.scope_of(node))
                return self.join(scope.bound.get(f"self.{node.attr}", ()))
        owner = self.kind(node.value)
        if owner >= Kind.HANDLE:
            return Kind.HANDLE if node.attr in self._linked else Kind.ANSWER
        return owner if owner is not Kind.DATA else _data_if(node.attr not in allowed.METHODS)

    # -------------------------------------------------------------------------------- calls

    def _kind_of_method(self, function: ast.Attribute) -> Kind:
        owner = self.kind(function.value)
        if owner >= Kind.HANDLE or owner is Kind.ANSWER:
            return Kind.ANSWER
        if function.attr.startswith("assertRaises"):
            return Kind.RAISED
        is_item = owner is Kind.RESULT and function.attr in _GIVE_ITEMS
        return owner if is_item else Kind.DATA

    def _kind_of_call(self, node: ast.Call, function: ast.expr) -> Kind:
        kind, name = self.kind(function), self.listed(function)
        if kind is Kind.SOLUTION:
            return Kind.HANDLE if self.is_class(function) else Kind.RESULT
        if kind is Kind.HANDLE:
            return Kind.RESULT
        if _is_iterator(name):
            return Kind.CODE
        if name == "pytest.raises":
            return Kind.RAISED
        if name in _HOLD_SAME:
            return self.join(node.args[:1])
        if name:
            return _data_if(name in allowed.MAKES_DATA)
        return self._kind_of_own_call(function) if isinstance(function, ast.Name) else Kind.DATA

    def _kind_of_own_call(self, function: ast.Name) -> Kind:
        found = self.find(function)
        if found is None:
            return Kind.DATA  # helpers of the prompt make records, which are data
        if any(isinstance(one, ast.ClassDef) for one in found[1]):
            return Kind.CODE
        with self._once(0, function.id) as is_first:
            made = [one for one in found[1] if isinstance(one, FUNCTIONS) and is_first]
            return self.join(part for one in made for part in returned(one))

    def _kind_of_items(self, node: Bound) -> Kind:
        """Returns what iteration over an expression may yield."""
        match node:
            case ast.Starred(value=value):
                return self._kind_of_items(value)
            case ast.Call(func=function, args=given) if _is_iterator(self.listed(function)):
                return self._kind_of_iterated(self.listed(function), given)
            case ast.Name(id=name) if (found := self.find(node)) is not None:
                with self._once(1, name) as is_first:
                    values = found[1] if is_first else []
                    kinds = [self._kind_of_items(one) for one in values]
                    return max([*kinds, self.join(self._fixture(name, found[0]))])
            case ast.Name():
                return Kind.DATA
            case ast.GeneratorExp(elt=part):
                return self.kind(part)
        return self.kind(node)

    def _kind_of_iterated(self, name: str, given: Sequence[ast.expr]) -> Kind:
        if name == "map" and given and self.kind(given[0]) > Kind.CODE:
            return Kind.HANDLE if self.is_class(given[0]) else Kind.RESULT
        taken = given[1:] if name in ("map", "filter") else given
        return max(map(self._kind_of_items, taken), default=Kind.DATA)


def _data_if(is_data: bool) -> Kind:
    return Kind.DATA if is_data else Kind.CODE


def _is_iterator(name: str) -> bool:
    return name in allowed.MAKES_ITERATORS or name.startswith("itertools.")


def _holding(node: ast.AST) -> Sequence[ast.expr]:
    """Returns the expressions whose values an expression may hold or be."""
    match node:
        case ast.Dict(values=values) | ast.BoolOp(values=values):
            return values
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return items
        case ast.ListComp(elt=part) | ast.SetComp(elt=part) | ast.DictComp(value=part):
            return [part]
        case ast.IfExp(body=body, orelse=orelse):
            return [body, orelse]
        case ast.Subscript(value=value) | ast.NamedExpr(value=value) | ast.keyword(value=value):
            return [value]
        case ast.Await(value=value):
            return [value]
    return ()
