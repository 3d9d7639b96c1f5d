"""Rules for calls: of the solution, of assertions, and of functions of the table."""

from __future__ import annotations

import ast

from reward_server.grading.crossing import allowed
from reward_server.grading.crossing.python import looks
from reward_server.grading.crossing.python.definitions import check_expected
from reward_server.grading.crossing.python.refusals import refuse
from reward_server.grading.crossing.python.scopes import Kind
from reward_server.grading.crossing.python.text import Text
from reward_server.grading.crossing.python.values import check_operand, check_store, may_be_same

_IDENTITIES = frozenset(("assertIs", "assertIsNot"))
_OF_NONE = frozenset(("assertIsNone", "assertIsNotNone"))
_OF_KIND = frozenset(("isinstance", "assertIsInstance", "assertNotIsInstance"))
_BY_NAME = frozenset(("getattr", "setattr", "hasattr"))
_PLACES = frozenset(("out", "buffer", "file"))


def check_call(text: Text, node: ast.Call) -> None:
    """Applies the rules of what is called."""
    name, kind = text.listed(node.func), text.kind(node.func)
    method, owner = "", kind
    if isinstance(node.func, ast.Attribute):
        method, owner = "" if name else node.func.attr, text.kind(node.func.value)
    if kind is Kind.SOLUTION or (method and owner >= Kind.HANDLE):
        _check_asked(text, node)
        return
    for known in {name, method, name.rpartition(".")[2]} & allowed.LITERAL.keys():
        for place in allowed.LITERAL[known]:
            _check_fixed(text, node, name or method, place)
    if not _OF_KIND.isdisjoint((name, method)):
        _check_kind(text, node, looks.argument(node, 1))
    if method in allowed.ASSERTIONS:
        _check_assertion(text, node, method)
    elif name:
        _check_listed(text, node, name)
    elif method in allowed.CHANGING and isinstance(node.func, ast.Attribute):
        check_store(text, node, node.func.value)
    _check_dtypes(text, node, method)


def _check_asked(text: Text, node: ast.Call) -> None:
    """Refuses what is no data as an argument of a call of the solution."""
    waiting = looks.given(node)[::-1]
    while waiting:
        one = waiting.pop()
        if text.kind(one) in (Kind.CODE, Kind.RAISED):
            refuse("arguments", one, f"{ast.unparse(one)} is no data")
        waiting += () if looks.is_plain_display(one) else looks.parts(one)


def _check_assertion(text: Text, node: ast.Call, method: str) -> None:
    if method.startswith("assertRaises"):
        for one in node.args[:1]:
            check_expected(text, one)
    elif method in _IDENTITIES:
        if len(node.args) < 2 or not may_be_same(text, node.args[0], node.args[1]):
            refuse("identity", node, node)
    elif method not in _OF_NONE:
        for one in node.args:
            check_operand(text, one, f"an argument of {method}")


def _check_listed(text: Text, node: ast.Call, name: str) -> None:
    if name in _BY_NAME:
        _check_named(text, node, name)
    if name == "pytest.raises":
        for one in node.args[:1]:
            check_expected(text, one)
    elif name not in allowed.ASKS_HANDLES and name not in allowed.TAKES_FUNCTIONS:
        for one in looks.given(node):
            check_operand(text, one, f"an argument of {name}")
    if name == "type" and len(node.args) != 1:
        refuse("classes", node, "type with a body")
    if name in allowed.CHANGES_ARGUMENT:
        for one in node.args[:1]:
            check_store(text, node, one)
    if any(one.arg in _PLACES for one in node.keywords):
        refuse("literals", node, f"{name} with a place for its result")


def _check_kind(text: Text, node: ast.Call, kind: ast.expr | None) -> None:
    """Allows types of the table and the solution's; of the prompt's, the judge has another copy."""
    for one in kind.elts if isinstance(kind, ast.Tuple) else [kind]:
        match one:
            case ast.Tuple():
                _check_kind(text, node, one)
            case ast.Call(func=function) if text.listed(function) == "type":
                if any(isinstance(part, ast.ClassDef) for part in text.helpers.found.values()):
                    refuse("identity", node, node)
            case ast.Name() | ast.Attribute() if text.listed(one) or _is_of_solution(text, one):
                pass
            case _:
                refuse("identity", node, node)


def _is_of_solution(text: Text, node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return text.kind(node) is Kind.SOLUTION and text.is_named(node)


def _check_named(text: Text, node: ast.Call, name: str) -> None:
    """Allows to read and set attributes by a name, where the same is allowed by a dot."""
    second = looks.argument(node, 1)
    word = second.value if isinstance(second, ast.Constant) else ""
    kind, origin = text.kind(node.args[0]), text.origin(node.args[0])
    is_name = isinstance(word, str) and word.isidentifier() and not looks.SPECIAL.fullmatch(word)
    is_handle = kind >= Kind.HANDLE
    is_known = is_handle or word in text.attributes
    if not (is_name and is_known) or (origin and not text.is_of_solution(origin)):
        refuse("attributes", node, node)
    if name == "setattr" and not is_handle:
        refuse("stores", node, node)


def _check_fixed(text: Text, node: ast.Call, name: str, place: int | str) -> None:
    """Refuses a pattern, name or type that an answer could be."""
    value = looks.argument(node, place)
    if value is None:
        return
    is_fixed = _is_wide if name.startswith("numpy.") else _is_fixed
    if not is_fixed(text, value):
        refuse("literals", node, f"{name} with {ast.unparse(value)}")


def _check_dtypes(text: Text, node: ast.Call, method: str) -> None:
    values = [one.value for one in node.keywords if one.arg == "dtype"]
    values += node.args[:1] if method == "astype" else []
    for value in values:
        if not _is_wide(text, value):
            refuse("data", node, f"dtype {ast.unparse(value)}")


def _is_wide(text: Text, node: ast.expr) -> bool:
    """Returns True for a dtype of numbers that are as wide as Python's own."""
    return node.value in allowed.DTYPES if isinstance(node, ast.Constant) else _is_fixed(text, node)


def _is_fixed(text: Text, node: ast.expr) -> bool:
    """Returns True for a literal, or the name of a type that stands in the table."""
    name = text.listed(node)
    if name:
        module, _, word = name.rpartition(".")
        return name in allowed.TYPES or word in allowed.MODULES.get(module, ())
    return looks.is_literal(node)
