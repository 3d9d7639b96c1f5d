"""Whether what a call makes of its arguments can decide what the test expects of an answer.

What this stops: a solution that empties a list or clears the fields of an object, from which the
test takes what it expects of the solution's answers, or over which it loops to look at them. The
text decides: behind the call no assertion, condition or `match` may bring an argument and an
answer together, unless the argument is only handed to the solution again. Else the test keeps its
arguments as they were. Where an argument is a field, a global or a fixture's, the other functions
of the text are read as well; what is put into an argument by name counts as one.

What it does not: find a test weak. `sort(v); assert v == sorted(v)` has no answer in it, and is
passed by who empties `v` in every process.
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
_CONDITIONS = (ast.BoolOp, ast.Compare, ast.IfExp)
_PLAIN_STATEMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Assert, ast.Return)
_REMEMBERED = 256
_Read = Callable[[ast.AST], Iterable[str]]


@functools.lru_cache(maxsize=_REMEMBERED)
def are_apart(
    source: str,
    position: Position,
    heard: frozenset[str],
    others: tuple[str, ...],
    aliases: frozenset[str] = frozenset(),
) -> bool:
    """Returns True if nothing that decides brings arguments of a call and an answer together.

    Args:
        source: the text of the test.
        position: of the call in it, or of whatever else hands something over.
        heard: names that hold something of the solution's.
        others: further texts that run with the same names.
        aliases: further names that hold what is handed over, see `aliases`.
    """
    try:
        tree, further = ast.parse(source), [ast.parse(text) for text in others]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    path = path_to(tree, position)
    return bool(path) and not _Meeting(path, heard, further, aliases).is_there()


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
    """Looks for an assertion or condition in which arguments of a call meet answers.

    Args:
        path: the nodes from the text to the call.
        heard: see `are_apart`.
        further: other texts.
        aliases: see `are_apart`.
    """

    def __init__(
        self,
        path: Sequence[ast.AST],
        heard: frozenset[str],
        further: Sequence[ast.Module],
        aliases: frozenset[str],
    ) -> None:
        self._node = node = path[-1]
        self._scope = next(
            one for one in reversed(path) if isinstance(one, (*_FUNCTIONS, ast.Module))
        )
        self._loops = [one for one in path if isinstance(one, _LOOPS)]
        self._class_names = {one.name for one in path if isinstance(one, ast.ClassDef)} | {"cls"}
        owner = node.func if isinstance(node, ast.Call) else None
        owner = owner.value if isinstance(owner, ast.Attribute) else owner
        given = {chain for part in _handed_over(path) for chain in self._chains(part)} | aliases
        made = _fixtures(self._scope)
        known = {*heard, *made, *(self._chains(owner) if owner is not None else ())}
        self._texts = [self._scope, *(further if isinstance(self._scope, ast.Module) else ())]
        self._heard = self._grown(known, self._chains, self._texts)
        given |= {chain for name in given for chain in self._put_into(name)} - self._heard
        self._given = self._grown(given - self._heard, self._open_chains, self._texts)
        self._others = self._around(path, given)

    def _around(self, path: Sequence[ast.AST], given: set[str]) -> Sequence[ast.AST]:
        """Returns the functions beside that of the call that may look at its arguments."""
        if isinstance(self._scope, ast.Module):
            return []
        if not _fixtures(self._scope) and not any(map(self._is_shared, given)):
            return []
        functions = (one for one in ast.walk(path[0]) if isinstance(one, _FUNCTIONS))
        return [one for one in functions if one is not self._scope]

    def _is_shared(self, chain: str) -> bool:
        """Returns True for a name by which other functions know the same thing."""
        root = chain.partition(".")[0]
        if isinstance(self._scope, ast.Module) or root == "self":
            return chain != "self"
        made = _fixtures(self._scope)
        if made and root in _parameters(self._scope) | made:
            return True
        bound = {one for target, _ in _bindings(self._scope) for one in _chains(target)}
        return root not in bound | _parameters(self._scope)

    def _put_into(self, name: str) -> Iterator[str]:
        """Gives the names of what a statement puts into an argument."""
        for target, value in _bindings(self._scope):
            if _meet(self._chains(target), {name}):
                for element in _elements(value):
                    yield from self._chains(element)

    def _chains(self, node: ast.AST) -> Iterator[str]:
        """Gives the names in an expression; those of the class are its objects'."""
        for chain in _chains(node):
            root, dot, rest = chain.partition(".")
            yield f"self.{rest}" if dot and root in self._class_names else chain

    def _grown(self, names: set[str], read: _Read, texts: Sequence[ast.AST]) -> set[str]:
        """Returns names, and those that are computed from them."""
        found, size = set(names), -1
        while len(found) > size:
            size = len(found)
            for text in texts:
                for target, value in _bindings(text):
                    if _meet(read(value), found):
                        found |= set(self._chains(target))
        return found

    def is_there(self) -> bool:
        """Returns True if there is one."""
        return any(self._decides(text, self._heard, self._given) for text in self._texts) or any(
            self._decides_elsewhere(function) for function in self._others
        )

    def _decides_elsewhere(self, function: ast.AST) -> bool:
        heard = self._grown(set(filter(self._is_shared, self._heard)), self._chains, [function])
        shared = set(filter(self._is_shared, self._given)) - heard
        return self._decides(function, heard, self._grown(shared, self._open_chains, [function]))

    def _decides(self, text: ast.AST, heard: set[str], given: set[str]) -> bool:
        return any(
            self._brings_together(
                statement,
                headers,
                heard,
                self._given_at(statement) if text is self._scope else given,
            )
            for statement, headers in self._deciding(text, ())
        )

    def _deciding(
        self, owner: ast.AST, headers: tuple[ast.expr, ...]
    ) -> Iterator[tuple[ast.stmt, tuple[ast.expr, ...]]]:
        """Gives assertions and conditions, each with what decides whether it is reached."""
        for child in ast.iter_child_nodes(owner):
            if isinstance(child, ast.stmt) and any(_parts(child)):
                yield child, headers
            if _is_assertion(child):
                continue
            if child in self._loops:
                yield from self._deciding(child, headers)
            else:
                yield from self._deciding(child, (*headers, *_header(child)))

    def _brings_together(
        self,
        statement: ast.stmt,
        headers: tuple[ast.expr, ...],
        heard: set[str],
        given: set[str],
    ) -> bool:
        controlled = any(_meet(self._open_chains(header), given) for header in headers)
        return any(
            _meet(self._chains(part), heard)
            and (
                controlled
                or (_meet(self._open_chains(part), given) and not self._is_identity(part))
            )
            for part in _parts(statement)
        )

    def _is_identity(self, part: ast.expr) -> bool:
        """Returns True if an answer may be an argument itself, which says nothing of values."""
        match part:
            case ast.UnaryOp(op=ast.Not(), operand=turned):  # as copies of a test have it
                return self._is_identity(turned)
            case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot()], comparators=[right]):
                arguments = set(map(_chain, getattr(self._node, "args", ()))) - {""}
                return all(
                    _chain(side) in arguments or self._is_answer(side) for side in (left, right)
                )
        return False

    def _is_answer(self, side: ast.expr) -> bool:
        function = side.func if isinstance(side, ast.Call) else side
        return bool(_chain(function)) and _meet(_chains(function), self._heard)

    def _given_at(self, statement: ast.stmt) -> set[str]:
        """Returns the names that hold what the call changed when an assertion is reached."""
        if _end(statement) > _begin(self._node):
            return self._given
        around = [loop for loop in self._loops if _begin(loop) <= _begin(statement)]
        inside = [loop for loop in around if _end(statement) <= _end(loop)]
        if not inside:
            return set()
        return self._given - {name for loop in inside for name in _bound_in(loop)}

    def _open_chains(self, node: ast.AST) -> Iterator[str]:
        """Gives the names in an expression, but for those handed to the solution."""
        if isinstance(node, ast.Call) and _meet(self._chains(node.func), self._heard):
            return
        if _chain(node):
            yield from self._chains(node)
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


def _handed_over(path: Sequence[ast.AST]) -> Sequence[ast.AST]:
    """Returns what a call, an assignment or an operator hands over."""
    node = path[-1]
    if isinstance(node, ast.Call):
        return [*node.args, *(keyword.value for keyword in node.keywords)]
    statement = next((one for one in reversed(path) if isinstance(one, ast.stmt)), node)
    return [statement] if isinstance(statement, _PLAIN_STATEMENTS) else [node]


def _elements(value: ast.expr) -> Iterator[ast.expr]:
    """Gives the names in a literal, or a value that is a name itself."""
    match value:
        case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
            for element in elements:
                yield from _elements(element)
        case ast.Dict(values=elements):
            for element in elements:
                yield from _elements(element)
        case ast.Name() | ast.Attribute():
            yield value


def _fixtures(scope: ast.AST) -> set[str]:
    """Returns the name of what runs before tests: a fixture, `setUp` and the like."""
    if not isinstance(scope, _FUNCTIONS):
        return set()
    is_fixture = any("fixture" in one for one in map(ast.dump, scope.decorator_list))
    return {scope.name} if is_fixture or scope.name.lower().startswith("setup") else set()


def _parameters(function: ast.AST) -> set[str]:
    return {one.arg for one in ast.walk(function) if isinstance(one, ast.arg)}


def _bindings(text: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Gives what statements bind, and from what; rows one by one."""
    for node in ast.walk(text):
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(
                targets
            ) == len(values) and not any(
                isinstance(one, ast.Starred) for one in (*targets, *values)
            ):
                yield from zip(targets, values, strict=True)
            case ast.Assign(targets=targets, value=value):
                yield from ((target, value) for target in targets)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                yield target, value
            case (
                ast.AugAssign(target=target, value=value)
                | ast.NamedExpr(target=target, value=value)
            ):
                yield target, value
            case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
                yield target, value
            case ast.comprehension(target=target, iter=value):
                yield target, value
            case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
                yield target, value


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
        case ast.While(test=value) | ast.If(test=value) | ast.Match(subject=value):
            yield value


def _is_assertion(node: ast.AST) -> bool:
    match node:
        case ast.Assert():
            return True
        case ast.Expr(value=ast.Call(func=function)):
            return _chain(function).rpartition(".")[2].startswith("assert")
    return False


def _parts(statement: ast.stmt) -> Iterator[ast.expr]:
    """Gives what an assertion asserts, or a condition depends on, one after another."""
    match statement:
        case ast.Assert(test=ast.BoolOp(op=ast.And(), values=values)):
            yield from values
        case ast.Assert(test=test):
            yield test
        case ast.Expr(value=value) if _is_assertion(statement):
            yield value
        case ast.If(test=test) | ast.While(test=test) | ast.Match(subject=test):
            yield test
        case ast.Expr(value=value) | ast.Return(value=value) if isinstance(value, _CONDITIONS):
            yield value


def _begin(node: ast.AST) -> tuple[int, int]:
    assert isinstance(node, (ast.expr, ast.stmt))
    return node.lineno, node.col_offset


def _end(node: ast.AST) -> tuple[int, int]:
    assert isinstance(node, (ast.expr, ast.stmt))
    return node.end_lineno or 0, node.end_col_offset or 0
