"""Rules for functions, classes, `with`, `except` and `raise`."""

from __future__ import annotations

import ast

from reward_server.grading.crossing import allowed
from reward_server.grading.crossing.python import looks
from reward_server.grading.crossing.python.refusals import refuse
from reward_server.grading.crossing.python.scopes import Kind
from reward_server.grading.crossing.python.text import Text
from reward_server.grading.syntax import FUNCTIONS, dotted, last_name, without_call

_BINDING = frozenset(("staticmethod", "classmethod", "property"))
_DECORATORS = frozenset(("pytest.fixture", "pytest.mark.parametrize", "pytest.mark.timeout"))
_BASES = frozenset(("unittest.TestCase", "object")) | allowed.EXCEPTIONS
_READ_BY_FRAMEWORKS = ("pytest_", "load_tests")  # names by which they change what runs


def check_function(text: Text, node: ast.FunctionDef) -> None:
    """Allows functions, tests and fixtures whose parameters the tests define."""
    for decorator in node.decorator_list:
        _check_decorator(text, decorator)
    node.decorator_list = [one for one in node.decorator_list if dotted(one) not in _BINDING]
    if not text.module:
        return
    is_fixture = any("fixture" in ast.unparse(one) for one in node.decorator_list)
    if node.name.startswith("test") or is_fixture:
        _check_fixtures(text, node)
    if node.name.startswith(_READ_BY_FRAMEWORKS):
        refuse("frameworks", node, node.name)


def _check_decorator(text: Text, node: ast.expr) -> None:
    if dotted(node) not in _BINDING and text.listed(without_call(node)) not in _DECORATORS:
        refuse("frameworks", node, f"@{ast.unparse(node)}")


def _check_fixtures(text: Text, node: ast.FunctionDef) -> None:
    """Refuses fixtures of the framework; those of the tests, and parameters, are their own."""
    inner = text.scopes[id(node)]
    above = inner.above
    assert above is not None
    for one in looks.parameters(node.args):
        own = above.find(one.arg)
        is_own = own is not None and any(isinstance(x, FUNCTIONS) for x in own[1])
        is_self = one.arg in allowed.FIXTURES and isinstance(above.node, ast.ClassDef)
        if not inner.bound.get(one.arg) and not is_own and not is_self:
            refuse("frameworks", node, f"the fixture {one.arg}")


def check_class(text: Text, node: ast.ClassDef) -> None:
    """Allows cases of unittest, own exceptions, and classes without a base."""
    for decorator in node.decorator_list:
        refuse("frameworks", node, f"@{ast.unparse(decorator)}")
    for base in node.bases:
        found = text.find(base) if isinstance(base, ast.Name) else None
        is_own = found is not None and all(isinstance(one, ast.ClassDef) for one in found[1])
        if not is_own and text.listed(base) not in _BASES:
            refuse("classes", node, f"class {node.name}({ast.unparse(base)})")
    if node.keywords:
        refuse("classes", node, f"class {node.name}")


def check_manager(text: Text, node: ast.withitem) -> None:
    """Allows the frameworks' expectations of exceptions, and subtests."""
    call = node.context_expr
    name = text.listed(call.func) if isinstance(call, ast.Call) else ""
    method = last_name(call.func) if isinstance(call, ast.Call) else ""
    is_case = method.startswith("assertRaises") or method == "subTest"
    if name != "pytest.raises" and not is_case:
        refuse("handles", call, f"with {ast.unparse(call)}")


def check_handler(text: Text, node: ast.ExceptHandler) -> None:
    """Allows exceptions of the table, and the solution's."""
    if node.type is not None:
        check_expected(text, node.type)


def check_expected(text: Text, node: ast.expr) -> None:
    """Records the solution's exceptions that tests expect."""
    for one in node.elts if isinstance(node, ast.Tuple) else [node]:
        kind = text.kind(one)
        if kind is Kind.SOLUTION and text.is_named(one):
            text.raised.add(last_name(one))
        elif kind >= Kind.HANDLE:
            refuse("raised", one, one)


def check_raise(text: Text, node: ast.Raise) -> None:
    """Allows to raise exceptions of the table and own ones."""
    for one in (node.exc, node.cause):
        if one is not None and text.kind(without_call(one)) >= Kind.HANDLE:
            refuse("raised", node, node)
