"""Whether what a call makes of its arguments can decide what the test expects of an answer.

What this stops: a solution that empties a list or clears the fields of an object, from which the
test takes what it expects of the solution's answers, or over which it loops to look at them. The
text decides: behind the call no assertion may bring an argument and an answer together, unless
the argument is only handed to the solution again. Else the test keeps its arguments as they were.

What it does not: see that two names share a value, or what a caller does with an argument that its
helper hands over. `sort(v); assert v == sorted(v)` has no answer in it: such a test is weak in
every process.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FrameType

from . import solution
from .codec import Foreign
from .observations import Position, path_to

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_REMEMBERED = 256
_Read = Callable[[ast.AST], Iterable[str]]


@functools.lru_cache(maxsize=_REMEMBERED)
def are_apart(
    source: str, position: Position, heard: frozenset[str], others: tuple[str, ...]
) -> bool:
    """Returns True if no assertion brings the arguments of a call and an answer together.

    Args:
        source: the text of the test.
        position: of the call in it.
        heard: names that hold something of the solution's.
        others: further texts that run with the same names.
    """
    try:
        tree, further = ast.parse(source), [ast.parse(text) for text in others]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    path = path_to(tree, position)
    if not path or not isinstance(path[-1], ast.Call):
        return False
    return not _Meeting(path, heard, further).is_there()


def heard_in(frame: FrameType) -> frozenset[str]:
    """Returns the names by which a test knows the solution, and its objects."""
    names = {**frame.f_globals, **frame.f_locals}
    found = {name for name, value in names.items() if isinstance(value, Foreign)}
    owner = frame.f_locals.get("self")
    if hasattr(owner, "__dict__"):
        fields = vars(owner).items()
        found |= {f"self.{name}" for name, value in fields if isinstance(value, Foreign)}
    return frozenset((*found, solution.NAME))


class _Meeting:
    """Looks for an assertion in which arguments of a call meet answers.

    Args:
        path: the nodes from the text to the call.
        heard: see `are_apart`.
        further: other texts.
    """

    def __init__(
        self, path: Sequence[ast.AST], heard: frozenset[str], further: Sequence[ast.Module]
    ) -> None:
        call = path[-1]
        assert isinstance(call, ast.Call)
        self._call = call
        self._scope = next(
            node for node in reversed(path) if isinstance(node, (*_FUNCTIONS, ast.Module))
        )
        self._loops = [node for node in path if isinstance(node, _LOOPS)]
        self._texts = [self._scope, *(further if isinstance(self._scope, ast.Module) else ())]
        owner = call.func.value if isinstance(call.func, ast.Attribute) else call.func
        self._heard = self._grown({*heard, *_chains(owner)}, _chains)
        parts = [*call.args, *(keyword.value for keyword in call.keywords)]
        given = {chain for part in parts for chain in _chains(part)} - self._heard
        self._given = self._grown(given, self._open_chains)

    def _grown(self, names: set[str], read: _Read) -> set[str]:
        """Returns names, and those that are computed from them."""
        found, size = set(names), -1
        while len(found) > size:
            size = len(found)
            for text in self._texts:
                for targets, value in _bindings(text):
                    if _meet(read(value), found):
                        found |= targets
        return found

    def is_there(self) -> bool:
        """Returns True if there is such an assertion."""
        return any(
            self._brings_together(statement, headers, first=text is self._scope)
            for text in self._texts
            for statement, headers in self._assertions(text, ())
        )

    def _assertions(
        self, owner: ast.AST, headers: tuple[ast.expr, ...]
    ) -> Iterator[tuple[ast.stmt, tuple[ast.expr, ...]]]:
        """Gives assertions, each with what decides whether it is reached."""
        for child in ast.iter_child_nodes(owner):
            if _is_assertion(child):
                assert isinstance(child, ast.stmt)
                yield child, headers
            elif child in self._loops:
                yield from self._assertions(child, headers)
            else:
                yield from self._assertions(child, (*headers, *_header(child)))

    def _brings_together(
        self, statement: ast.stmt, headers: tuple[ast.expr, ...], *, first: bool
    ) -> bool:
        given = self._given_at(statement) if first else self._given
        controlled = any(_meet(self._open_chains(header), given) for header in headers)
        return any(
            _meet(_chains(part), self._heard)
            and (
                controlled
                or (_meet(self._open_chains(part), given) and not self._is_identity(part))
            )
            for part in _parts(statement)
        )

    def _is_identity(self, part: ast.expr) -> bool:
        """Returns True if an answer may be an argument itself, which says nothing of values."""
        match part:
            case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot()], comparators=[right]):
                arguments = {_chain(one) for one in self._call.args} - {""}
                return all(
                    _chain(side) in arguments or self._is_answer(side) for side in (left, right)
                )
        return False

    def _is_answer(self, side: ast.expr) -> bool:
        function = side.func if isinstance(side, ast.Call) else side
        return bool(_chain(function)) and _meet(_chains(function), self._heard)

    def _given_at(self, statement: ast.stmt) -> set[str]:
        """Returns the names that hold what the call changed when an assertion is reached."""
        if _end(statement) > _begin(self._call):
            return self._given
        around = [loop for loop in self._loops if _begin(loop) <= _begin(statement)]
        inside = [loop for loop in around if _end(statement) <= _end(loop)]
        if not inside:
            return set()
        return self._given - {name for loop in inside for name in _bound_in(loop)}

    def _open_chains(self, node: ast.AST) -> Iterator[str]:
        """Gives the names in an expression, but for those handed to the solution."""
        if isinstance(node, ast.Call) and _meet(_chains(node.func), self._heard):
            return
        chain = _chain(node)
        if chain:
            yield chain
            return
        for child in ast.iter_child_nodes(node):
            yield from self._open_chains(child)


def _chain(node: ast.AST) -> str:
    """Returns a name with its attributes, as `self.rows`; an empty text for anything else."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name):
            owner = _chain(value)
            return f"{owner}.{name}" if owner else ""
    return ""


def _chains(node: ast.AST) -> Iterator[str]:
    chain = _chain(node)
    if chain:
        yield chain
        return
    for child in ast.iter_child_nodes(node):
        yield from _chains(child)


def _meet(chains: Iterable[str], names: set[str]) -> bool:
    """Returns True if a chain is, or begins with, one of the names."""
    return any(chain == name or chain.startswith(f"{name}.") for chain in chains for name in names)


def _bindings(text: ast.AST) -> Iterator[tuple[set[str], ast.expr]]:
    """Gives what statements bind, and from what."""
    for node in ast.walk(text):
        match node:
            case ast.Assign(targets=targets, value=value):
                yield {chain for target in targets for chain in _chains(target)}, value
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                yield set(_chains(target)), value
            case ast.AugAssign(target=target, value=value):
                yield set(_chains(target)), value
            case ast.NamedExpr(target=target, value=value):
                yield set(_chains(target)), value
            case ast.For(target=target, iter=value):
                yield set(_chains(target)), value


def _bound_in(loop: ast.AST) -> Iterator[str]:
    """Gives the names that each turn of a loop binds anew, by its target or at its beginning."""
    if isinstance(loop, (ast.For, ast.AsyncFor)):
        yield from _chains(loop.target)
    for statement in getattr(loop, "body", ()):
        if not isinstance(statement, ast.Assign):
            return
        for target in statement.targets:
            yield from _chains(target)


def _header(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.For(iter=value) | ast.AsyncFor(iter=value):
            yield value
        case ast.While(test=value) | ast.If(test=value):
            yield value


def _is_assertion(node: ast.AST) -> bool:
    match node:
        case ast.Assert():
            return True
        case ast.Expr(value=ast.Call(func=function)):
            return _chain(function).rpartition(".")[2].startswith("assert")
    return False


def _parts(statement: ast.stmt) -> Iterator[ast.expr]:
    """Gives what an assertion asserts, one after another."""
    match statement:
        case ast.Assert(test=ast.BoolOp(op=ast.And(), values=values)):
            yield from values
        case ast.Assert(test=test):
            yield test
        case ast.Expr(value=value):
            yield value


def _begin(node: ast.AST) -> tuple[int, int]:
    assert isinstance(node, (ast.expr, ast.stmt))
    return node.lineno, node.col_offset


def _end(node: ast.AST) -> tuple[int, int]:
    assert isinstance(node, (ast.expr, ast.stmt))
    return node.end_lineno or 0, node.end_col_offset or 0
