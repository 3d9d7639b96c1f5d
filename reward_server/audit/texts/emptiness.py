"""Says whether a task has tests at all, as far as the text shows."""

from __future__ import annotations

import ast

from reward_server.audit.tasks import Task, text_of_tests
from reward_server.audit.texts.parsing import parsed

_CHECKS = ("assert", "fail", "raises", "expect", "warns", "exit", "check", "verify", "compare")


def why_no_tests(task: Task) -> str:
    """Returns why a task has no tests, or "" if it may have some."""
    if not task.kind:
        return "the request has no tests"
    if task.kind in ("call", "stdio"):
        tests = task.template.call if task.kind == "call" else task.template.stdio
        return "" if len(tests.cases) else "the request has no cases"
    text = text_of_tests(task.template)
    if not text.strip():
        # The tests of a repository may be in the repository, in binary files or in a patch.
        return "" if task.kind == "repository" else "the tests are empty"
    tree = parsed(text) if task.is_python else None
    if tree is not None and not _checks_anything(tree):
        return "nothing in the tests can fail: there is no assertion"
    return ""


def _checks_anything(tree: ast.Module) -> bool:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert | ast.Raise):
            return True
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            name = node.func.id if isinstance(node.func, ast.Name) else name
            if any(word in name.lower() for word in _CHECKS):
                return True
    return False
