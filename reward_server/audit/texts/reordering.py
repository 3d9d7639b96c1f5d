"""Makes the same tests in the opposite order, to find out whether the tests depend on their
order."""

from __future__ import annotations

import ast
import copy

from codereward.v1 import reward_service_pb2 as pb
from reward_server.audit.tasks import Task
from reward_server.audit.texts.parsing import parsed, unparsed
from reward_server.grading.syntax import FUNCTIONS


def reordered(task: Task) -> pb.ScoreRequest | None:
    """Returns the template with its tests in the opposite order; None if that cannot be made.

    Runs of a whole program are not reordered, since each has its own sandbox. Tests in other
    languages than Python stay as they are.
    """
    request = pb.ScoreRequest()
    request.CopyFrom(task.template)
    changed = False
    if task.kind == "call":
        changed = _reverse(request.call.cases)
    elif task.kind == "function" and request.function.asserts:
        changed = _reverse(request.function.asserts)
    elif task.kind == "function":
        text = _reversed_check(request.function.test_code)
        changed = text is not None
        request.function.test_code = text or ""
    elif task.kind == "unit" and task.is_python:
        for path, text in task.template.unit.files.items():
            other = _reversed_file(text)
            changed |= other is not None
            request.unit.files[path] = other or text
    return request if changed else None


def _reverse(cases: object) -> bool:
    """Turns a repeated field around in place."""
    items: list[object] = list(cases)  # type: ignore[call-overload]  # messages or texts
    if len(items) < 2:
        return False
    del cases[:]  # type: ignore[attr-defined]
    cases.extend(reversed(items))  # type: ignore[attr-defined]
    return True


def _reversed_check(text: str) -> str | None:
    """Turns the asserts of a function `check` around; None if it holds anything else."""
    tree = parsed(text)
    checks = [
        node
        for node in (tree.body if tree is not None else [])
        if isinstance(node, ast.FunctionDef) and node.name == "check"
    ]
    if tree is None or len(checks) != 1:
        return None
    asserts = [node for node in checks[0].body if not _is_text(node)]
    if len(asserts) < 2 or not all(isinstance(node, ast.Assert) for node in asserts):
        return None
    checks[0].body = asserts[::-1]
    return unparsed(tree) or None


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _reversed_file(text: str) -> str | None:
    """Turns the test functions of a module, and the test methods of each class, around."""
    tree = parsed(text)
    if tree is None or "load_tests" in text:
        return None
    changed = _swap(tree.body)
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            changed |= _swap(node.body)
            _rename(node)
    return (unparsed(tree) or None) if changed else None


def _swap(body: list[ast.stmt]) -> bool:
    places = [place for place, node in enumerate(body) if _is_test(node)]
    nodes = [copy.copy(body[place]) for place in places]
    for place, node in zip(places, reversed(nodes), strict=True):
        body[place] = node
    return len(places) > 1


def _rename(node: ast.ClassDef) -> None:
    """Gives methods names that unittest, which sorts them, runs in the opposite order."""
    tests = [method for method in node.body if isinstance(method, FUNCTIONS) and _is_test(method)]
    for place, method in enumerate(sorted(tests, key=lambda one: one.name, reverse=True)):
        method.name = f"test_{place:03d}_{method.name.removeprefix('test').lstrip('_')}"


def _is_test(node: ast.stmt) -> bool:
    return isinstance(node, FUNCTIONS) and node.name.startswith("test")
