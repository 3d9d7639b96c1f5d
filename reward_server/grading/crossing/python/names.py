"""Rules for names, attributes and imports: each has to stand in the table."""

from __future__ import annotations

import ast
import builtins

from reward_server.grading.crossing import allowed
from reward_server.grading.crossing.python import looks
from reward_server.grading.crossing.python.origins import SOLUTION
from reward_server.grading.crossing.python.refusals import refuse
from reward_server.grading.crossing.python.scopes import Bound, Kind
from reward_server.grading.crossing.python.text import Text
from reward_server.grading.syntax import dotted

_CANDIDATE = "candidate"
_READ_BY_FRAMEWORKS = ("pytest_", "load_tests")  # names by which they change what runs
_ASKS_FOR_KIND = frozenset(("isinstance", "numpy.issubdtype"))


def check_import(text: Text, node: ast.Import) -> None:
    """Allows modules of the table, and the solution."""
    for one in () if text.leaves_out(node) else node.names:
        if one.name not in allowed.MODULES and not text.is_module_of_solution(one.name):
            refuse("modules", node, f"import {one.name}")


def check_import_from(text: Text, node: ast.ImportFrom) -> None:
    """Allows names of the table, and those of the solution."""
    module = node.module or ""
    if text.leaves_out(node):
        return
    is_of_solution = text.is_module_of_solution(module)
    if node.level or not (module in allowed.MODULES or is_of_solution):
        refuse("modules", node, f"from {'.' * node.level}{module} import")
    for one in node.names:
        if one.name == "*":
            text.has_star |= is_of_solution
            if module == "unittest":
                refuse("modules", node, node)
        elif is_of_solution:
            text.take(one.name, node, is_read=False)
        elif not looks.is_listed(f"{module}.{one.name}"):
            refuse("modules", node, f"{module}.{one.name}")


def check_name(text: Text, node: ast.Name) -> None:
    """Allows own names, built-ins and modules of the table, the prompt's, and the solution's."""
    if isinstance(node.ctx, ast.Store):
        if looks.SPECIAL.fullmatch(node.id) or node.id.startswith(_READ_BY_FRAMEWORKS):
            refuse("names", node, node.id)
        return
    found = text.find(node)
    if found is not None:
        _check_bound(text, node, found[1])
    elif node.id == text.entry or (node.id == _CANDIDATE and text.entry):
        return
    elif node.id in text.helpers.found:
        text.use_helper(node.id)
    elif origin := text.free_origin(node.id):
        _check_module_is_base(text, node, origin)
        if origin not in allowed.MODULES and not looks.is_listed(origin):
            refuse("modules", node, origin)
        text.note_free(node.id, origin)
    elif node.id not in allowed.BUILTINS:
        is_builtin = hasattr(builtins, node.id) or looks.SPECIAL.fullmatch(node.id)
        if is_builtin or (text.module and not text.has_star):
            refuse("names", node, node.id)
        text.take(node.id, node, is_read=not text.module)
    _check_listed(text, node)


def _check_bound(text: Text, node: ast.Name, values: list[Bound]) -> None:
    imported = [one for one in values if isinstance(one, str)]
    if imported and len(imported) < len(values):
        refuse("names", node, f"{node.id} is an import and something else")
    for origin in imported[-1:]:
        _check_module_is_base(text, node, origin)


def _check_module_is_base(text: Text, node: ast.Name, origin: str) -> None:
    is_base = isinstance(text.parent(node), ast.Attribute)
    if (origin in allowed.MODULES or text.is_module_of_solution(origin)) and not is_base:
        refuse("modules", node, f"{origin} as a value")


def check_attribute(text: Text, node: ast.Attribute) -> None:
    """Allows names of listed modules, attributes of data and own ones; any of a handle."""
    name, origin = node.attr, text.origin(node)
    if looks.SPECIAL.fullmatch(name):
        if name != "__init__" or not _is_super(node.value):
            refuse("attributes", node, name)
    elif origin:
        _check_origin(text, node, origin)
        _check_listed(text, node)
    elif isinstance(node.value, ast.Name) and node.value.id in allowed.FIXTURES:
        if name not in allowed.CASES and name not in text.attributes:
            refuse("frameworks", node, f"self.{name}")
    else:
        _check_part(text, node, name)


def _check_part(text: Text, node: ast.Attribute, name: str) -> None:
    kind = text.kind(node.value)
    if kind in (Kind.RESULT, Kind.ANSWER):
        if name not in text.answered:
            refuse("attributes", node, f".{name} of an answer")
    elif kind is Kind.RAISED:
        if name in allowed.OF_EXCEPTIONS - allowed.ATTRIBUTES:
            refuse("attributes", node, f".{name} of an exception")
    elif kind < Kind.HANDLE and name not in text.attributes:
        is_format = name == "format" and looks.is_literal(node.value)
        if not is_format:
            refuse("attributes", node, f".{name}")


def _check_origin(text: Text, node: ast.Attribute, origin: str) -> None:
    if text.is_of_solution(origin):
        if origin.count(".") == (text.module or SOLUTION).count(".") + 1:
            text.take(node.attr, node)
        return
    base, _, attribute = origin.rpartition(".")
    is_known = origin in allowed.MODULES or looks.is_listed(origin)
    if not is_known and (base in allowed.MODULES or attribute not in allowed.ATTRIBUTES):
        refuse("modules", node, origin)


def _check_listed(text: Text, node: ast.Name | ast.Attribute) -> None:
    """Records the module of a listed name; types of narrow numbers are only compared."""
    if isinstance(node.ctx, ast.Store):
        return
    name, parent = text.listed(node), text.parent(node)
    text.note_module(text.origin(node))
    is_read = isinstance(parent, (ast.Compare, ast.Tuple)) or (
        isinstance(parent, ast.Call)
        and (text.listed(parent.func) in _ASKS_FOR_KIND or _is_asking(parent))
    )
    if looks.is_narrow(name) and not is_read:
        refuse("data", node, name)


def _is_asking(call: ast.Call) -> bool:
    return dotted(call.func).endswith("IsInstance")


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and dotted(node.func) == "super"
