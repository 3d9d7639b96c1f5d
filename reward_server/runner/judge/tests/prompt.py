"""The prompt, which is trusted: the tests can use the helpers that it defines completely."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeGuard

from ...channel.cache import remembered
from ..exports.own import PROMPT, Own
from ..text import purity

FILE_NAME = PROMPT
_ENDINGS = ("", "\n    pass", "\n        pass", "\n\tpass")


def helpers(
    tree: ast.Module | None,
    stand_in: Callable[[str], object],
    own: Own,
    tested: frozenset[str],
) -> dict[str, object]:
    """Runs a prompt and returns the names that it defines.

    Proxies replace the classes, functions and exceptions that are left to the solution, also for
    the functions that use them. A prompt that is not code defines nothing.

    Args:
        tree: the prompt, as returned by `parse`.
        stand_in: returns the proxy for the solution's definition of a name.
        own: records what the prompt defines.
        tested: names that are under test, see `under_test`.
    """
    if tree is None:
        return {}
    namespace: dict[str, object] = {"__name__": "__main__"}
    own.add_namespace(namespace, has_classes=True)
    try:
        exec(compile(tree, FILE_NAME, "exec", dont_inherit=True), namespace)
    except Exception:  # noqa: BLE001  # a fragment of a program may raise anything
        return {}
    complete = complete_classes(tree, tested)
    for node in tree.body:
        if isinstance(node, ast.ClassDef) or is_stub(node):
            name = node.name
            if name not in complete or not _makes_objects(namespace[name]):
                namespace[name] = stand_in(name)
    namespace |= {name: stand_in(name) for name in tested & namespace.keys()}
    return namespace


def complete_classes(tree: ast.Module | None, tested: frozenset[str]) -> frozenset[str]:
    """Returns the names of the classes that a prompt defines completely.

    The solution continues the last statement, completes a class with a method without a body, and
    defines what is under test, so these are excluded.
    """
    if tree is None:
        return frozenset()
    classes = [node for node in tree.body[:-1] if isinstance(node, ast.ClassDef)]
    return frozenset(node.name for node in classes if not _has_stub(node)) - tested


def _has_stub(node: ast.ClassDef) -> bool:
    return any(is_stub(inner) for inner in ast.walk(node) if isinstance(inner, ast.stmt))


def _makes_objects(kind: object) -> bool:
    return isinstance(kind, type) and not issubclass(kind, (BaseException, type))


def is_plain(tree: ast.Module | None) -> bool:
    """Returns True if `helpers` leaves nothing behind; see `purity`."""
    return tree is None or purity.leaves_nothing(tree)


@remembered
def parse(text: str) -> ast.Module | None:
    """Returns a prompt's code, or None if it is not code.

    The answer is cached and depends on the free stack, so the first call must not come from within
    the tests.
    """
    for ending in _ENDINGS:
        try:
            return ast.parse(text.rstrip() + ending)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return None


def is_stub(node: ast.stmt) -> TypeGuard[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Returns True for a function without a body, which the solution has to write."""
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    return all(
        isinstance(statement, (ast.Pass, ast.Raise))
        or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        for statement in node.body
    )
