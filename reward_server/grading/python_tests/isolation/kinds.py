"""Finds tests that ask for the class or the identity of an object, which the judge cannot answer.

The judge's proxy of a solution's object has a class of the judge, and all objects with the same
special methods have the same class. So `type(x)`, `x.__class__` and `is` are right for data, which
crosses unchanged, and wrong for other objects: two classes look like one, and no object is a `map`
or a function of a library. If function tests call `type` by its name, this asks the solution's
process (`runner.judge.tests.scope`). Only the text of the tests is read.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator, Sequence

from reward_server.grading import syntax
from reward_server.grading.python_tests.isolation.names import File
from reward_server.grading.syntax import dotted, last_name

ASKED = "asks for the class of a thing of the solution's"  # function tests may, by `type`
DROPS = "drops a thing of the solution's"
_DATA = frozenset(
    (
        *("bool", "int", "float", "complex", "str", "bytes", "bytearray", "list", "tuple", "set"),
        *("frozenset", "dict", "range", "slice", "object", "memoryview", "NoneType"),
    )
)
_LIBRARIES_OF_DATA = frozenset(
    ("builtins", "collections", "datetime", "decimal", "fractions", "numpy", "typing", "types")
)
_OF_TYPES = frozenset(("types.NoneType", "types.MappingProxyType", "types.SimpleNamespace"))
_OF_TESTS = frozenset(("unittest", "pytest", "hypothesis", "inspect", "_pytest", "mock"))
_BUILTINS = vars(builtins)
_ERRORS = frozenset(
    name
    for name, kind in _BUILTINS.items()
    if isinstance(kind, type) and issubclass(kind, BaseException)
)
# Classes whose objects never cross as data.
_NEVER_DATA = frozenset(("map", "filter", "zip", "enumerate", "reversed", "type"))
_SINGLE = frozenset(("NotImplemented", "Ellipsis", "__debug__"))
_OF_IDENTITY = frozenset(("assertIs", "assertIsNot"))
_COMPARING = _OF_IDENTITY | {"assertEqual", "assertNotEqual", "assertIn", "assertNotIn"}
_NAMES = frozenset(("__name__", "__qualname__"))
_MESSAGES = frozenset(("msg", "message"))
_TELLING = frozenset(("print", "fail", "skip", "log", "debug", "info"))
_TYPE = "type"


class Kinds:
    """The rules for one scope.

    Args:
        file: the file of the scope.
        hears: returns True for code that uses the solution.
        parts: the nodes of the scope.
    """

    def __init__(
        self, file: File, hears: Callable[[ast.AST], bool], parts: Sequence[ast.AST]
    ) -> None:
        self._file, self._hears_solution, self._parts = file, hears, parts
        self._known = set[int]()
        self._things = set[str]()
        self._first_lines: dict[str, int] = {}  # where a name is bound to such a thing first
        self._follow()
        self._in_messages = {
            id(node) for part in parts for text in _messages(part) for node in syntax.walk(text)
        }

    def _follow(self) -> None:
        """Finds the names of the scope that may stand for an object of the solution."""
        bound = [pair for part in self._parts for pair in bindings(part)]
        size = -1
        while size < len(self._things):
            size = len(self._things)
            for target, value in bound:
                if self._hears(value):
                    for name in syntax.walk(target):
                        if isinstance(name, ast.Name):
                            self._things.add(name.id)
                            first = self._first_lines.get(name.id, name.lineno)
                            self._first_lines[name.id] = min(first, name.lineno)

    def _hears(self, node: ast.AST) -> bool:
        if self._hears_solution(node):
            return True
        return bool(self._things) and any(
            isinstance(part, ast.Name) and part.id in self._things for part in syntax.walk(node)
        )

    def reasons(self) -> Iterator[str]:
        """Yields the reasons."""
        for part in self._parts:
            match part:
                case ast.Compare(left=left, comparators=others, ops=ops):
                    is_identity = any(isinstance(one, (ast.Is, ast.IsNot)) for one in ops)
                    yield from self._of_sides([left, *others], is_identity=is_identity)
                case ast.Call(func=function, args=[one, other, *_]):
                    name = last_name(function)
                    if name in _COMPARING:
                        yield from self._of_sides([one, other], is_identity=name in _OF_IDENTITY)
                case ast.Delete(targets=targets):
                    if any(isinstance(one, ast.Name) and self._hears(one) for one in targets):
                        yield DROPS
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=None)):
                    if part.lineno > self._first_lines.get(name, part.lineno):
                        yield DROPS
        called = {id(part.func) for part in self._parts if isinstance(part, ast.Call)}
        for part in self._parts:
            if id(part) in self._in_messages:
                continue
            if isinstance(part, ast.Name) and id(part) not in called:
                if part.id in _NEVER_DATA and self._is_built_in(part):
                    yield f"looks at the class {part.id}"
            elif isinstance(part, ast.expr) and id(part) not in self._known:
                asked = self._asked(part)
                if asked is not None and self._is_solutions(asked):
                    is_call = isinstance(part, ast.Call)
                    yield ASKED if is_call else "looks at the __class__ of a thing"

    def _is_solutions(self, thing: ast.expr) -> bool:
        return dotted(thing) not in ("self", "cls") and self._hears(thing)

    def _of_sides(self, sides: Sequence[ast.expr], *, is_identity: bool) -> Iterator[str]:
        """Yields reasons for the sides of a comparison."""
        asking = [side for side in sides if self._asked(_unnamed(side)) is not None]
        others = [side for side in sides if not any(side is one for one in asking)]
        if asking and len(asking) < len(sides) and all(map(self._is_known_kind, others)):
            self._known.update(id(_unnamed(side)) for side in asking)
        elif len(asking) == len(sides):
            unheard = [one for one in asking if not self._is_solutions(one)]
            self._known.update(id(_unnamed(one)) for one in asking if unheard)
        elif is_identity and not asking and any(map(self._hears, sides)):
            yield from self._of_things(sides)

    def _of_things(self, sides: Sequence[ast.expr]) -> Iterator[str]:
        for side in sides:
            origin = self._file.origin(side)
            is_librarys = bool(origin) and origin.partition(".")[0] not in _OF_TESTS
            is_function = (
                isinstance(side, ast.Name)
                and side.id in _BUILTINS
                and side.id not in _DATA | _ERRORS | _SINGLE
                and self._is_built_in(side)
            )
            if is_librarys or is_function:
                yield f"asks whether a thing is {dotted(side)}"

    def _asked(self, node: ast.expr) -> ast.expr | None:
        """Returns the object whose class an expression asks for; None if it asks for none."""
        match node:
            case ast.Call(func=ast.Name(id=name), args=[one], keywords=[]) if name == _TYPE:
                return one
            case ast.Attribute(value=one, attr="__class__", ctx=ast.Load()):
                return one
        return None

    def _is_built_in(self, name: ast.Name) -> bool:
        return name.id not in self._file.bound and not self._file.origin(name)

    def _is_known_kind(self, node: ast.expr) -> bool:
        """Returns True for classes of data, or their names."""
        match node:
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
                return all(map(self._is_known_kind, parts))
            case ast.Constant(value=value):
                return value is None or value in _DATA | _ERRORS
            case ast.Name(id=name) if name in _BUILTINS and self._is_built_in(node):
                return name in _DATA | _ERRORS
        origin = self._file.origin(node)
        root = origin.partition(".")[0]
        if root:
            return root in _LIBRARIES_OF_DATA and (root != "types" or origin in _OF_TYPES)
        return not self._hears(node)


def bindings(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yields the names that a part of code binds, each with its meaning afterwards."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((target, value) for target in targets)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield target, value
        case ast.NamedExpr(target=target, value=value) | ast.AugAssign(target=target, value=value):
            yield target, value
        case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
            yield target, value
        case ast.comprehension(target=target, iter=value):
            yield target, value
        case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
            yield target, value


def _unnamed(node: ast.expr) -> ast.expr:
    """Returns the class, if an expression is the name of a class; otherwise the expression."""
    if isinstance(node, ast.Attribute) and node.attr in _NAMES:
        return node.value
    return node


def _messages(node: ast.AST) -> Iterator[ast.AST]:
    """Yields the messages for people in a statement or a call."""
    match node:
        case ast.Assert(msg=ast.expr() as text):
            yield text
        case ast.Call(func=function, args=arguments, keywords=named):
            name = last_name(function)
            yield from (one.value for one in named if one.arg in _MESSAGES)
            if name in _TELLING:
                yield from arguments
            elif name.startswith("assert"):
                yield from (one for one in arguments if isinstance(one, ast.JoinedStr))
