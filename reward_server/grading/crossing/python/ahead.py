"""Which calls of the solution tests make in any case, before anything else is asked.

The judge sends them with the solution, which then waits for no question. A call is one of these if
nothing but an error before it can keep the tests from making it, in this order: it stands in the
assertions with which `check` begins, or in an assert list, and hands over JSON values.

What this stops: a solution that reads an answer in a later question, as in tests of a function that
undoes itself. Nothing is sent that holds a value which an assertion before it states.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from reward_server.domain import Crossing, FunctionTests
from reward_server.grading.crossing.python.scopes import CHECK
from reward_server.grading.syntax import children, parse, walk

Call = tuple[str, Sequence[object]]
_MOST_CALLS = 256
_SMALL = 1 << 63  # Python writes no integer of any length as JSON
_MOST_CHARACTERS = 1 << 14  # of all arguments; the questions have to fit into a socket's buffer
_NO_LITERAL = (ValueError, TypeError, SyntaxError, RecursionError, MemoryError)
_BUILTINS = frozenset(vars(builtins))
# Whose parts are all evaluated, in their order.
_WHOLE = (
    *(ast.Compare, ast.BinOp, ast.UnaryOp, ast.Call, ast.Subscript, ast.Attribute, ast.keyword),
    *(ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Constant, ast.Name, ast.expr_context),
    *(ast.operator, ast.unaryop, ast.cmpop),
)


class _NotCertainError(Exception):
    """A statement may call something else, or nothing."""


def calls_ahead(tests: FunctionTests, crossing: Crossing) -> tuple[Call, ...]:
    """Returns the first calls that tests make in any case: a name, and the arguments.

    Args:
        tests: the tests, which can be parsed.
        crossing: what the judge binds for them.
    """
    code = parse(tests.test_code).body
    names = {name: name for name in crossing.names - crossing.raised - crossing.values}
    checks = [one for one in code if getattr(one, "name", "") == CHECK]
    statements: list[ast.stmt] = [one for text in tests.asserts for one in parse(text).body]
    match checks:
        case [ast.FunctionDef(args=ast.arguments(args=[ast.arg(arg=name)]), body=body)]:
            names[name], statements = tests.entry_point, body
        case [_, *_]:
            return ()
    around = [one for one in (*parse(tests.setup_code).body, *code) if one not in checks]
    return tuple(_first(statements, names)) if all(map(_is_quiet, around)) else ()


def _is_quiet(statement: ast.stmt) -> bool:
    """Returns True for a statement that asks the solution nothing."""
    match statement:
        case ast.Import() | ast.ImportFrom():
            return True
        case ast.Expr(value=value) | ast.Assign(value=value):
            return not any(isinstance(one, (ast.Name, ast.Call)) for one in walk(value))
    return False


def _first(statements: Iterable[ast.stmt], names: Mapping[str, str]) -> Iterator[Call]:
    count, characters = 0, 0
    stated: set[object] = set()
    for statement in statements:
        try:
            calls = list(_calls(statement, names))
        except _NotCertainError:
            return
        count += len(calls)
        characters += len(json.dumps(calls))
        if count > _MOST_CALLS or characters > _MOST_CHARACTERS:
            return
        if _holds_any(calls[:1], stated):
            return
        stated.update(_stated(statement, names))
        if _holds_any(calls[1:], stated):
            return
        yield from calls


def _holds_any(calls: Iterable[Call], stated: AbstractSet[object]) -> bool:
    return any(leaf in stated for _, given in calls for leaf in _leaves(given))


def _stated(node: ast.AST, names: Mapping[str, str]) -> Iterator[object]:
    """Yields the values in a statement that it does not hand to the solution."""
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in names:
            return
        case ast.expr():
            with contextlib.suppress(*_NO_LITERAL):
                yield from _leaves(ast.literal_eval(node))
                return
    for child in children(node):
        yield from _stated(child, names)


def _leaves(value: object) -> Iterator[object]:
    """Yields what is no container in a literal."""
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, (list, tuple, set)):
        for one in value:
            yield from _leaves(one)
    else:
        yield value


def _calls(statement: ast.stmt, names: Mapping[str, str]) -> Iterator[Call]:
    if not isinstance(statement, ast.Assert):
        raise _NotCertainError
    yield from _found(statement.test, names)


def _found(node: ast.AST, names: Mapping[str, str]) -> Iterator[Call]:
    match node:
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in names:
            yield names[name], [_value(one) for one in args]
        case ast.Name(id=name) if name in names or name not in _BUILTINS:
            raise _NotCertainError
        case ast.Compare(ops=[_, _, *_]):
            raise _NotCertainError
        case _ if not isinstance(node, _WHOLE):
            raise _NotCertainError
        case _:
            for child in children(node):
                yield from _found(child, names)


def _value(node: ast.expr) -> object:
    try:
        value = ast.literal_eval(node)
    except _NO_LITERAL:
        raise _NotCertainError from None
    if not _is_json(value):
        raise _NotCertainError
    return value


def _is_json(value: object) -> bool:
    if isinstance(value, list):
        return all(map(_is_json, value))
    is_small = isinstance(value, int) and -_SMALL < value < _SMALL
    return is_small or isinstance(value, (float, str, type(None)))
