"""The source of a reference solution in Python, and answers that are made from its definitions."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable

from reward_server.audit.tasks import Task
from reward_server.audit.texts.parsing import fenced, parsed, unparsed
from reward_server.grading.syntax import FUNCTIONS, IMPORTS, Function

Body = Callable[[Function], list[ast.stmt]]
_KEPT = (*IMPORTS, *FUNCTIONS, ast.ClassDef, ast.Assign, ast.AnnAssign)


def reference_tree(task: Task) -> ast.Module | None:
    """Returns the whole reference solution, with the prompt that it continues; None if unknown.

    A reference that defines the entry point itself is whole. Others continue the prompt.
    """
    if not task.is_python or not task.reference.strip():
        return None
    code = fenced(task.reference)
    alone = parsed(code)
    if alone is not None and (not task.template.prompt or task.entry_point in defined(alone)):
        return alone
    return parsed(task.template.prompt + code) or parsed(f"{task.template.prompt}\n{code}") or alone


def defined(tree: ast.Module) -> set[str]:
    """Returns the names of the functions and classes at the top of a module."""
    return {node.name for node in tree.body if isinstance(node, (*FUNCTIONS, ast.ClassDef))}


def hollowed(tree: ast.Module, body: Body) -> str:
    """Returns a solution with the same definitions, whose functions have another body.

    Args:
        tree: the solution.
        body: makes the body of a function.
    """
    kept = [_hollow(node, body) for node in tree.body if isinstance(node, _KEPT)]
    return unparsed(ast.Module(body=kept, type_ignores=[]))


def _hollow(node: ast.stmt, body: Body) -> ast.stmt:
    """Returns a copy with other bodies; the rest is shared, as it may be too deep to be copied."""
    node = copy.copy(node)
    if isinstance(node, ast.ClassDef):
        node.body = [_hollow(inner, body) for inner in node.body]
    elif isinstance(node, FUNCTIONS):
        is_special = node.name.startswith("__") and node.name.endswith("__")
        node.body = [ast.Pass()] if is_special else body(node)
    return node


def first_argument(function: Function) -> str:
    """Returns the name of a function's first argument besides `self`; "None" if it has none."""
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    names = [name for name in names if name not in ("self", "cls")]
    return names[0] if names else "None"


def statements(text: str) -> list[ast.stmt]:
    """Parses the statements of a body that was written here."""
    tree = parsed(text)
    assert tree is not None
    return tree.body
