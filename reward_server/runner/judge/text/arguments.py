"""Finds out from the text whether changes of a call's arguments can change what a test expects.

What this stops: a solution that empties a list or clears the fields of an object, if the test
derives expected values from it, or loops over it to check the answers. After the call, no
assertion, condition or `match` may combine an argument with an answer, unless it only passes the
argument to the solution again. Otherwise the test does not see changes of its arguments. If an
argument is a field, a global, or belongs to a fixture, the other functions of the text are read as
well. An object that is put into an argument by its name counts as an argument.

What it does not stop: weak tests. `sort(v); assert v == sorted(v)` contains no answer, and a
solution that empties `v` passes it in every process.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import FrameType

from ...channel.codec import Foreign
from ...channel.files import MODULE_NAME
from . import flows
from .flows import FUNCTIONS as _FUNCTIONS
from .flows import Flow, Function
from .flows import chain as _chain
from .flows import chains as _chains
from .flows import parameters as _parameters
from .observations import Position, path_to

_ROWS = (ast.List, ast.ListComp, ast.Tuple)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_PLAIN_STATEMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Assert, ast.Return)
_REMEMBERED = 256
_HANDING_ON = ("map", "partial")  # they call their first argument
_MOST_FUNCTIONS = 64  # the most functions of the tests that are examined
_MOST_TEXTS = 8
_Read = Callable[[ast.AST], Iterable[str]]


@functools.lru_cache(maxsize=_REMEMBERED)
def are_apart(
    source: str,
    position: Position,
    heard: frozenset[str],
    others: tuple[str, ...],
    aliases: frozenset[str] = frozenset(),
) -> bool:
    """Returns True if no assertion or condition combines arguments of a call with an answer.

    Args:
        source: the text of the test.
        position: position of the call in it, or of another expression that passes something.
        heard: names that hold something of the solution.
        others: further texts that run with the same names.
        aliases: further names of the objects that are passed; see `aliases`.
    """
    try:
        tree, further = _parsed(source), [*map(_parsed, others)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    path = path_to(tree, position)
    try:
        return bool(path) and not _Meeting(path, heard, further, aliases).is_there()
    except RecursionError:
        return False


@functools.lru_cache(maxsize=_MOST_TEXTS)
def _parsed(source: str) -> ast.Module:
    return ast.parse(source)


def heard_in(frame: FrameType) -> frozenset[str]:
    """Returns the names by which a test refers to the solution and its objects."""
    names = {**frame.f_globals, **frame.f_locals}
    found = {name for name, value in names.items() if isinstance(value, Foreign)}
    owner = frame.f_locals.get("self")
    if hasattr(owner, "__dict__"):
        fields = vars(owner).items()
        found |= {f"self.{name}" for name, value in fields if isinstance(value, Foreign)}
    return frozenset((*found, MODULE_NAME))


class _Meeting:
    """Searches for an assertion or condition that combines arguments of a call with answers.

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
        functions = _functions_in([path[0], *further], path, self._scope)
        self._is_long = len(functions) > _MOST_FUNCTIONS
        self._functions = [] if self._is_long else functions
        self._no_things = set().union(*map(flows.names_of_no_things, (path[0], *further)))
        self._flows: dict[int, list[_Put]] = {}
        self._opened: dict[int, set[str]] = {}
        self._reached: dict[tuple[int, str], set[str]] = {}
        self._examined: set[tuple[int, frozenset[str], frozenset[str]]] = set()
        self._solution: set[str] = set()
        self._class_names = {one.name for one in path if isinstance(one, ast.ClassDef)} | {"cls"}
        self._fields = set().union(*map(flows.fields, (path[0], *further)))
        given = {chain for part in _handed_over(path) for chain in self._things(part)} | aliases
        made = _fixtures(self._scope)
        self._texts = [self._scope, *(further if isinstance(self._scope, ast.Module) else ())]
        self._solution = self._bound_to({*heard, *made})
        known = {*heard, *made, *self._solution, *self._called_at(node)}
        self._heard = self._with_answers(known, self._chains)
        given |= {chain for name in given for chain in self._put_into(name)} - self._solution
        self._given = self._with_answers(given - self._solution, self._open_chains)
        self._others = self._around(path, self._given)

    def _called_at(self, node: ast.AST) -> Iterator[str]:
        """Yields the names of the function that a call calls, or of the object whose method it
        calls."""
        if isinstance(node, ast.Call):
            owner = node.func.value if isinstance(node.func, ast.Attribute) else node.func
            yield from (one for one in self._chains(owner) if one not in self._no_things)

    def _around(self, path: Sequence[ast.AST], given: set[str]) -> Sequence[ast.AST]:
        """Returns the functions, other than the call's own, that may examine its arguments."""
        if isinstance(self._scope, ast.Module):
            return []
        if not _fixtures(self._scope) and not any(map(self._is_shared, given)):
            return []
        functions = (one for one in ast.walk(path[0]) if isinstance(one, _FUNCTIONS))
        return [flows.surface(path[0]), *(one for one in functions if one is not self._scope)]

    def _is_shared(self, chain: str) -> bool:
        """Returns True for a name that refers to the same object in other functions."""
        root = chain.partition(".")[0]
        if isinstance(self._scope, ast.Module) or root == "self":
            return chain != "self"
        made = _fixtures(self._scope)
        if made and root in _parameters(self._scope) | made:
            return True
        bound = {one for target, _ in flows.bindings(self._scope) for one in _chains(target)}
        return root not in bound | _parameters(self._scope)

    def _put_into(self, name: str) -> Iterator[str]:
        """Yields the names of the objects that a statement puts into an argument."""
        for target, value in flows.bindings(self._scope):
            if _meet(self._chains(target), {name}):
                for element in _elements(value):
                    yield from self._chains(element)

    def _chains(self, node: ast.AST) -> Iterator[str]:
        """Yields the names in an expression; a field's name stands for every object's field of that
        name."""
        for one in _chains(node):
            yield self._of_class(one)
            _, dot, rest = one.partition(".")
            if dot and rest.partition(".")[0] in self._fields:
                yield f"self.{rest}"

    def _things(self, node: ast.AST) -> Iterator[str]:
        """Yields the names in an expression that is passed, except functions that make its value.

        `aliases` finds what these objects themselves hold.
        """
        if isinstance(node, ast.Call) and self._is_function(node.func):
            for one in flows.given_to(node):
                yield from self._things(one)
        elif _chain(node):
            yield from self._chains(node)
        else:
            for child in ast.iter_child_nodes(node):
                yield from self._things(child)

    def _is_function(self, called: ast.expr) -> bool:
        """Returns True for a function that is called by its name, also one of a module or a
        class."""
        root = _chain(called).partition(".")[0]
        return isinstance(called, ast.Name) or root in self._no_things

    def _of_class(self, chain: str) -> str:
        root, dot, rest = chain.partition(".")
        return f"self.{rest}" if dot and root in self._class_names else chain

    def _bound_to(self, names: set[str]) -> set[str]:
        """Returns names of the solution, and those that hold nothing but its answers.

        Args:
            names: those that do so when the call is made, perhaps in one iteration of a loop.
        """
        found, size = set(names), -1
        bindings = [flow for text in self._texts for flow in flows.bindings(text)]
        while len(found) > size:
            size = len(found)
            for target, value in bindings:
                if _meet(self._named(value), found):
                    found |= {self._of_class(one) for one in flows.bound(target)}
        size = -1
        while len(found) != size:
            size = len(found)
            for target, value in bindings:
                if isinstance(value, ast.expr) and not self._is_of(found, value):
                    found -= {self._of_class(one) for one in flows.bound(target)}
        return found

    def _is_of(self, names: set[str], value: ast.expr) -> bool:
        """Returns True if a value can only be a constant or made by the objects with these
        names."""
        return all(
            isinstance(leaf, ast.Constant)
            or (bool(_chain(leaf)) and _meet(self._named(leaf), names))
            or (
                isinstance(leaf, ast.Call)
                and (
                    self._asks(leaf, names)
                    or all(self._is_of(names, one) for one in flows.given_to(leaf))
                )
            )
            for leaf in flows.leaves(value)
        )

    def _named(self, node: ast.AST) -> Iterator[str]:
        return map(self._of_class, _chains(node))

    def _grown(self, names: set[str], read: _Read, texts: Sequence[ast.AST]) -> set[str]:
        """Returns the names, and those whose values are computed from them or hold them."""
        found, size = set(names), -1
        while len(found) > size:
            size = len(found)
            for text in texts:
                for call, (target, value) in self._flows_of(text):
                    if self._is_asked(call) or not _meet(read(value), found):
                        continue
                    found |= set(self._chains(target) if call is None else self._roots(target))
        return found

    def _with_answers(self, names: set[str], read: _Read) -> set[str]:
        """Returns the names that `_grown` finds, and those of functions that return their
        values."""
        found, size = self._grown(names, read, self._texts), -1
        while len(found) > size:
            size = len(found)
            for name, function in self._functions:
                inside = self._grown(self._visible_in(function, found), read, [function])
                if any(_meet(read(one), inside) for one in flows.answers_of(function)):
                    found |= {name, f"self.{name}"}
            found = self._grown(found, read, self._texts)
        return found

    def _flows_of(self, text: ast.AST) -> list[_Put]:
        """Returns the bindings in a text, and what its calls and assignments put into objects."""
        known = self._flows.get(id(text))
        if known is None:
            known = self._flows[id(text)] = [(None, flow) for flow in flows.bindings(text)]
            puts = [one for one in flows.puts(text, self._no_things) if not self._called_by(one[0])]
            known += [*puts, *self._put_by_functions(text)]
        return known

    def _is_asked(self, call: ast.AST | None) -> bool:
        """Returns True for a call of the solution."""
        return isinstance(call, ast.Call) and self._asks(call, self._solution)

    def _asks(self, call: ast.Call, names: set[str]) -> bool:
        """Returns True for a call of these names, or for a call that in turn calls them."""
        hands_on = flows.called(call) in _HANDING_ON and bool(call.args)
        return _meet(self._named(call.args[0] if hands_on else call.func), names)

    def _roots(self, target: ast.AST) -> Iterator[str]:
        for one in flows.roots(target):
            if one not in self._no_things:
                yield self._of_class(one)

    # ------------------------------------------------------------------ the tests' functions

    def _called_by(self, node: ast.AST) -> list[Function]:
        """Returns the functions of the tests that a call may call."""
        if not isinstance(node, ast.Call) or self._is_asked(node):
            return []
        called = flows.called(node)
        return [function for name, function in self._functions if name == called]

    def _visible_in(self, function: Function, names: Iterable[str]) -> set[str]:
        """Returns the names that refer to the same objects in a function."""
        is_inside = any(one is function for one in ast.walk(self._scope))
        own = _own_names(function)
        return {
            one
            for one in names
            if one.partition(".")[0] not in own and (is_inside or self._is_shared(one))
        }

    def _put_by_functions(self, text: ast.AST) -> Iterator[_Put]:
        """Yields the values that calls of the tests' functions put into their arguments or into
        other objects."""
        for call in ast.walk(text):
            if isinstance(call, ast.Call):
                for function, given in self._given_by(call):
                    for source, values in given.items():
                        reached = self._reached_from(source, function)
                        for target in self._reached_by(reached, given, function):
                            yield from ((call, (target, value)) for value in values)

    def _reached_from(self, source: str, function: Function) -> set[str]:
        """Returns the names that get a value from a parameter in a function."""
        key = id(function), source
        if key not in self._reached:
            self._reached[key] = set()  # for recursive calls
            self._reached[key] = self._grown({source}, self._chains, [function]) - {source}
        return self._reached[key]

    def _reached_by(
        self, reached: set[str], given: Mapping[str, list[ast.expr]], function: Function
    ) -> Iterator[ast.AST]:
        own = _own_names(function)
        for one in reached:
            root = one.partition(".")[0]
            if root in given:
                yield from given[root]
            elif root not in own:
                yield ast.Name(id=one)

    def _given_by(self, call: ast.Call) -> Iterator[tuple[Function, dict[str, list[ast.expr]]]]:
        """Yields the functions that a call may run, with the values of their parameters."""
        for function in self._called_by(call):
            yield function, flows.names_given(call, function)
        handed = flows.given_to(call)
        for name, function in self._functions:
            others = [one for one in handed if _chain(one).rpartition(".")[2] != name]
            if len(others) < len(handed):
                yield function, dict.fromkeys(_parameters(function), others)

    def _open_parameters(self, function: Function) -> set[str]:
        """Returns the parameters from which only the tests compute a function's result."""
        names = _parameters(function)
        if id(function) not in self._opened:
            self._opened[id(function)] = names  # for recursive calls
            answers = list(flows.answers_of(function))
            self._opened[id(function)] = {
                name
                for name in names
                if any(
                    _meet(
                        self._open_chains(one),
                        self._grown({name}, self._open_chains, [function]),
                    )
                    for one in answers
                )
            }
        return self._opened[id(function)]

    def is_there(self) -> bool:
        """Returns True if there is such an assertion or condition."""
        if self._is_long or any(map(flows.makes_names, self._texts)):
            return True
        return any(self._decides(text, self._heard, self._given) for text in self._texts) or any(
            self._decides_elsewhere(function) for function in self._others
        )

    def _decides_elsewhere(self, function: ast.AST) -> bool:
        heard = self._grown(set(filter(self._is_shared, self._heard)), self._chains, [function])
        shared = set(filter(self._is_shared, self._given)) - heard
        return self._decides(function, heard, self._grown(shared, self._open_chains, [function]))

    def _decides(self, text: ast.AST, heard: set[str], given: set[str]) -> bool:
        def given_at(node: ast.AST) -> set[str]:
            return self._given_at(node) if text is self._scope else given

        if any(
            self._brings_together(statement, headers, heard, given_at(statement))
            for statement, headers in self._deciding(text, ())
        ):
            return True
        calls = (node for node in ast.walk(text) if isinstance(node, ast.Call))
        return any(self._decides_in(call, heard, given_at(call)) for call in calls)

    def _decides_in(self, call: ast.Call, heard: set[str], given: set[str]) -> bool:
        """Returns True if a call runs a function of the tests with such an assertion or
        condition."""
        for function, values in self._given_by(call):
            inner = {
                name for name, ones in values.items() if _any_meet(ones, self._chains, heard)
            } | self._visible_in(function, heard)
            handed = {
                name for name, ones in values.items() if _any_meet(ones, self._open_chains, given)
            } | self._visible_in(function, given)
            key = id(function), frozenset(inner), frozenset(handed)
            if not (inner and handed) or key in self._examined:
                continue
            self._examined.add(key)
            inner = self._grown(inner, self._chains, [function])
            handed = self._grown(handed, self._open_chains, [function])
            if self._decides(function, inner, handed):
                return True
        return False

    def _deciding(
        self, owner: ast.AST, headers: tuple[ast.expr, ...]
    ) -> Iterator[tuple[ast.stmt, tuple[ast.expr, ...]]]:
        """Yields assertions and conditions, each with the expressions that decide if it is
        reached."""
        for child in ast.iter_child_nodes(owner):
            if isinstance(child, ast.stmt):
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
            for part in (*_parts(statement), *self._unknown_calls(statement))
        )

    def _unknown_calls(self, statement: ast.stmt) -> Iterator[ast.expr]:
        """Yields a call of an unknown function, which may end the test as an assertion does."""
        match statement:
            case ast.Expr(value=(ast.Call() as call) | ast.Await(value=ast.Call() as call)):
                is_known = self._is_asked(call) or flows.is_known(call)
                if not (self._called_by(call) or is_known) or self._searches(call):
                    yield call

    def _searches(self, call: ast.Call) -> bool:
        """Returns True for a search method of a list of the tests that raises if it finds
        nothing."""
        match call.func:
            case ast.Attribute(value=owner, attr="index" | "remove" | "rindex"):
                flow = (one for text in self._texts for one in flows.bindings(text))
                rows = (target for target, value in flow if isinstance(value, _ROWS))
                return any(_chain(owner) in flows.bound(target) for target in rows)
        return False

    def _is_identity(self, part: ast.expr) -> bool:
        """Returns True for a comparison of identities, which shows nothing about values."""
        match part:
            case ast.UnaryOp(op=ast.Not(), operand=turned):  # the form in perturbed copies
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

    def _given_at(self, statement: ast.AST) -> set[str]:
        """Returns the names that hold the changed arguments when an assertion is reached."""
        if _end(statement) > _begin(self._node):
            return self._given
        around = [loop for loop in self._loops if _begin(loop) <= _begin(statement)]
        inside = [loop for loop in around if _end(statement) <= _end(loop)]
        if not inside:
            return set()
        return self._given - {name for loop in inside for name in _bound_in(loop)}

    def _open_chains(self, node: ast.AST) -> Iterator[str]:
        """Yields the names in an expression, except those that are passed to the solution.

        A method that compares may also be one of an answer, or of a list of answers.
        """
        if self._is_asked(node) and not _compares(node):
            return
        called = self._called_by(node)
        if called and isinstance(node, ast.Call):
            yield from self._chains(node.func)
            for function in called:
                given = flows.names_given(node, function)
                for name in self._open_parameters(function) & given.keys():
                    for one in given[name]:
                        yield from self._open_chains(one)
            return
        if _chain(node):
            yield from self._chains(node)
            return
        for child in ast.iter_child_nodes(node):
            yield from self._open_chains(child)


_Put = tuple[ast.AST | None, Flow]  # the call or assignment, or None if a name is bound


def _functions_in(
    texts: Sequence[ast.AST], path: Sequence[ast.AST], scope: ast.AST
) -> list[tuple[str, Function]]:
    """Returns functions that may run in a scope, by name, except those around the call."""
    nodes = [node for text in texts for node in ast.walk(text) if isinstance(node, _FUNCTIONS)]
    waiting = [node for node in nodes if not any(node is one for one in path)]
    found, names, size = list[tuple[str, Function]](), _mentioned_in(scope), -1
    while len(found) > size:
        size = len(found)
        reached = [node for node in waiting if node.name in names]
        waiting = [node for node in waiting if node.name not in names]
        found += [(node.name, node) for node in reached]
        names |= {name for node in reached for name in _mentioned_in(node)}
    return found


def _mentioned_in(node: ast.AST) -> set[str]:
    """Returns the names and attributes in a text."""
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return names | {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}


def _own_names(function: Function) -> set[str]:
    """Returns the names that refer to other objects outside a function."""
    found, free = _parameters(function), set[str]()
    for node in ast.walk(function):
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                free |= set(names)
    return found - free


def _compares(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in flows.COMPARING
    )


def _any_meet(nodes: Iterable[ast.AST], read: _Read, names: set[str]) -> bool:
    return any(_meet(read(node), names) for node in nodes)


def _meet(chains: Iterable[str], names: set[str]) -> bool:
    """Returns True if a chain of attributes is, or begins with, one of the names."""
    return any(chain == name or chain.startswith(f"{name}.") for chain in chains for name in names)


def _handed_over(path: Sequence[ast.AST]) -> Sequence[ast.AST]:
    """Returns the expressions that a call, an assignment or an operator passes."""
    node = path[-1]
    if isinstance(node, ast.Call):
        return [*node.args, *(keyword.value for keyword in node.keywords)]
    statement = next((one for one in reversed(path) if isinstance(one, ast.stmt)), node)
    return [statement] if isinstance(statement, _PLAIN_STATEMENTS) else [node]


def _elements(value: ast.AST) -> Iterator[ast.expr]:
    """Yields the names in a literal, or a value that is a name itself."""
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
    """Returns the name of a function that runs before tests, such as a fixture or `setUp`."""
    if not isinstance(scope, _FUNCTIONS):
        return set()
    is_fixture = any("fixture" in one for one in map(ast.dump, scope.decorator_list))
    return {scope.name} if is_fixture or scope.name.lower().startswith("setup") else set()


def _bound_in(loop: ast.AST) -> Iterator[str]:
    """Yields the names that each iteration of a loop rebinds, by its target or at its beginning."""
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
        case ast.Match():
            yield _matched(node)


def _matched(node: ast.Match) -> ast.expr:
    """Returns the expressions that decide which case is taken."""
    found = [node.subject, *(one.guard for one in node.cases if one.guard is not None)]
    for case in node.cases:
        for part in ast.walk(case.pattern):
            match part:
                case ast.MatchValue(value=value) | ast.MatchClass(cls=value):
                    found.append(value)
    return ast.Tuple(elts=found)


def _is_assertion(node: ast.AST) -> bool:
    match node:
        case ast.Assert():
            return True
        case ast.Expr(value=ast.Call(func=function)):
            return _chain(function).rpartition(".")[2].startswith("assert")
    return False


def _parts(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yields the parts of an assertion or a condition, one after another."""
    match statement:
        case ast.Assert(
            test=ast.BoolOp(op=ast.And(), values=values)
            | ast.UnaryOp(  # the form in perturbed copies
                op=ast.Not(), operand=ast.BoolOp(op=ast.And(), values=values)
            )
        ):
            yield from values
        case ast.Assert(test=test):
            yield test
        case ast.Expr(value=value) if _is_assertion(statement):
            yield value
        case ast.Expr(value=ast.Yield(value=ast.expr() as value)):
            yield value
        case ast.Return(value=ast.expr() as value):
            yield value
        case _:
            yield from _header(statement)
            yield from _choices(statement)


def _choices(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yields the expressions in a statement that do not always evaluate all of their parts."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        for child in ast.iter_child_nodes(waiting.pop()):
            if isinstance(child, (ast.BoolOp, ast.IfExp)) or (
                isinstance(child, ast.comprehension) and child.ifs
            ):
                yield child if isinstance(child, ast.expr) else ast.Tuple(elts=child.ifs)
            elif isinstance(child, ast.Compare) and isinstance(statement, ast.Expr):
                yield child
            if isinstance(child, ast.expr | ast.comprehension | ast.withitem | ast.keyword):
                waiting.append(child)


def _begin(node: ast.AST) -> tuple[int, int]:
    assert isinstance(node, (ast.expr, ast.stmt))
    return node.lineno, node.col_offset


def _end(node: ast.AST) -> tuple[int, int]:
    assert isinstance(node, (ast.expr, ast.stmt))
    return node.end_lineno or 0, node.end_col_offset or 0
