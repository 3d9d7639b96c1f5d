"""Which variables of tests hold what an object of the solution got or answered.

Variables that may hold the same containers are one group; what one of them got or gave, all did.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeGuard

from reward_server.grading.crossing import allowed
from reward_server.grading.crossing.python import looks
from reward_server.grading.crossing.python.keeping.fixed import Fixed, Key
from reward_server.grading.crossing.python.kinds import Kinds
from reward_server.grading.crossing.python.scopes import Bound, Kind

_OWN = (*looks.DISPLAYS, ast.Subscript)
_ANSWERING = (Kind.SOLUTION, Kind.HANDLE, Kind.ANSWER)
_RUNS = allowed.TAKES_FUNCTIONS | {"setattr"}


class Held(Fixed):
    """The groups of variables, and what gave them to an object or took them from one.

    Args:
        text: the tests.
    """

    def __init__(self, text: Kinds) -> None:
        super().__init__(text)
        self._above: dict[Key, Key] = {}
        self._held: dict[Key, list[ast.AST]] = defaultdict(list)

    def events(self, key: Key) -> list[ast.AST]:
        """Returns what gave a variable's containers to an object, or took them from one."""
        return self._held[self._group(key)]

    def _group(self, key: Key) -> Key:
        while key in self._above:
            key = self._above[key]
        return key

    def hold_all(self) -> None:
        """Reads all that the tests bind, call and store."""
        for scope in {id(one): one for one in (self.text.top, *self.text.scopes.values())}.values():
            for name, values in scope.bound.items():
                for value in expressions(values):
                    self._hold((id(scope), name), [value], value)
        for call in self.text.facts.calls:
            self._take(call)
        for one in self.text.facts.assigned:
            for target in one.targets:
                if isinstance(target, (ast.Attribute, ast.Subscript)):
                    self._put(target.value, [one.value], one)

    def _take(self, call: ast.Call) -> None:
        """Notes what a call gives an object, or puts into a container of the tests."""
        function, given = call.func, looks.given(call)
        if self.keeps(function) or self.text.listed(function) in _RUNS:
            self._give(given, call)
        elif isinstance(function, ast.Attribute) and function.attr in allowed.CHANGING:
            self._put(function.value, given, call)

    def _put(self, owner: ast.expr, values: Sequence[ast.expr], event: ast.AST) -> None:
        root = owner
        while isinstance(root, ast.Subscript):
            root = root.value
        if self.text.kind(owner) >= Kind.HANDLE:
            self._give(values, event)
        elif (key := self.key(root)) is not None:
            self._hold(key, values, event)

    def _give(self, values: Sequence[ast.expr], event: ast.AST) -> None:
        for part in self._parts(values):
            if (key := self.key(part)) is not None and self.text.kind(part) < Kind.CODE:
                self._held[self._group(key)].append(event)

    def _hold(self, key: Key, values: Sequence[ast.expr], event: ast.AST) -> None:
        """Notes that a variable holds values: it joins theirs, or has what an object answers."""
        for part in self._parts(values):
            one, other = self.key(part), self._group(key)
            if one is None:
                self._held[other].append(event)
            elif self._group(one) != other:
                self._held[other] += self._held.pop(self._group(one), [])
                self._above[self._group(one)] = other

    def keeps(self, function: ast.expr) -> bool:
        """Returns True for what may hold what a call gives it: all but plain functions."""
        kind = self.text.kind(function)
        if kind is Kind.SOLUTION:
            owner = function.value if isinstance(function, ast.Attribute) else function
            return self.text.is_class(function) or self.text.is_class(owner)
        if isinstance(function, ast.Attribute) and not self.text.origin(function):
            return self.text.kind(function.value) in _ANSWERING
        return kind in _ANSWERING

    def _parts(self, nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
        """Yields the variables, and the answers of objects, that may be in values."""
        for node in nodes:
            if self.key(node) is not None:
                if self.text.kind(node) < Kind.CODE and not self.is_fixed(node):
                    yield node
            elif isinstance(node, ast.Call) and self._is_taken_out(node.func):
                yield node.func.value
            elif self._is_answered(node):
                yield node
            elif not (self.is_fixed(node) or self._is_asked(node)):
                yield from self._parts(looks.held(node))

    def _is_answered(self, node: ast.AST) -> bool:
        """Returns True for what an object answers, raises or iterates."""
        match node:
            case ast.Call(func=function, args=given) if (
                self.text.listed(function) in allowed.MAKES_ITERATORS
            ):
                return any(self.text.kind(one) is Kind.HANDLE for one in given)
            case ast.Attribute() if self.text.kind(node) is Kind.RAISED:
                return True
        is_display = isinstance(node, looks.DISPLAYS)
        return self.text.kind(node) is Kind.ANSWER and not is_display

    def _is_taken_out(self, function: ast.expr) -> TypeGuard[ast.Attribute]:
        """Returns True for a method of a list that the tests made."""
        values = self.values(function.value) if isinstance(function, ast.Attribute) else []
        return bool(values) and all(isinstance(one, _OWN) for one in values)

    def _is_asked(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and self.text.kind(node.func) in _ANSWERING


def expressions(values: Iterable[Bound]) -> Iterator[ast.expr]:
    """Yields the expressions among what a name is bound to, or is an item of."""
    for one in values:
        inner = one.value if isinstance(one, ast.Starred) else one
        if isinstance(inner, ast.expr):
            yield inner
