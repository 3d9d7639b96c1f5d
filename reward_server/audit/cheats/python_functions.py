"""Cheats of tasks whose solution is a module of Python."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reward_server.audit.cheats.cheat import Cheat
from reward_server.audit.cheats.constants import constants
from reward_server.audit.cheats.hacks import HACKS
from reward_server.audit.tasks import Task
from reward_server.audit.texts.examples import call_examples
from reward_server.audit.texts.expectations import expectations
from reward_server.audit.texts.parsing import parsed, unparsed
from reward_server.audit.texts.source import (
    Body,
    defined,
    first_argument,
    hollowed,
    reference_tree,
    statements,
)

# Changes the content of results and keeps their types and sizes. It raises where it cannot change
# anything, so that it returns nothing that the reference returned, except for empty containers.
_SHAPE = """
def _scrambled(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float, complex)):
        return value + 1
    if isinstance(value, str):
        return "".join("y" if letter == "x" else "x" for letter in value)
    if isinstance(value, (list, tuple, set, frozenset)) and type(value).__module__ == "builtins":
        return type(value)(map(_scrambled, value))
    if type(value) is dict:
        return {key: _scrambled(item) for key, item in value.items()}
    raise TypeError(f"{type(value)} cannot be scrambled")

_depth = 0

def _shaped(function):
    def inner(*args, **kwargs):
        global _depth
        _depth += 1
        try:
            value = function(*args, **kwargs)
        finally:
            _depth -= 1
        if _depth:
            return value
        changed = _scrambled(value)
        if value and changed == value:
            raise TypeError("nothing in the result can be scrambled")
        return changed
    return inner
"""


def python_cheats(task: Task, *, with_hacks: bool) -> Iterator[Cheat]:
    """Yields the cheats of a task with a module of Python as its solution."""
    tree = reference_tree(task) or _from_name(task)
    yield Cheat(kind="empty_passes", name="empty answer", code="")
    if tree is None:
        return
    prompt = parsed(f"{task.template.prompt}\n    pass\n") if task.template.prompt else None
    for text in constants(expectations(task), prompt or tree):
        code = hollowed(tree, _returning(f"return {text}"))
        yield Cheat(kind="constant_passes", name=f"constant {text[:60]}", code=code)
    echo = hollowed(tree, lambda one: statements(f"return {first_argument(one)}"))
    yield Cheat(kind="echo_passes", name="first argument", code=echo)
    if task.reference and (shaped := _shape_of(tree, task)):
        yield Cheat(kind="shape_passes", name="scrambled results", code=shaped)
    if known := _examples_only(task):
        yield Cheat(kind="examples_pass", name="examples of the prompt", code=known)
    for hack in HACKS if with_hacks else ():
        code = f"{hack.head}\n\n{hollowed(tree, _returning(hack.body))}"
        yield Cheat(kind="hack_passes", name=hack.name, code=code)


def _returning(text: str) -> Body:
    return lambda _: statements(f"def body():\n    {text}")[0].body  # type: ignore[attr-defined]


def _from_name(task: Task) -> ast.Module | None:
    """Returns a solution without a body, made of the names that the request has."""
    name = task.entry_point
    if not name.isidentifier() or not task.is_python:
        return None
    method = task.template.call.entry_point.rpartition(".")[2] if task.kind == "call" else ""
    if method and method != name and "(" in task.template.call.entry_point:
        return parsed(f"class {name}:\n    def {method}(self, *args, **kwargs): pass\n")
    return parsed(f"def {name}(*args, **kwargs): pass\n")


def _shape_of(tree: ast.Module, task: Task) -> str:
    """Returns the reference solution with results that are scrambled, or "" if it has no entry."""
    name = task.entry_point
    if name not in defined(tree) or any(
        isinstance(node, ast.ClassDef) and node.name == name for node in tree.body
    ):
        return ""
    is_async = any(isinstance(one, ast.AsyncFunctionDef) and one.name == name for one in tree.body)
    return "" if is_async else f"{unparsed(tree)}\n{_SHAPE}\n{name} = _shaped({name})\n"


def _examples_only(task: Task) -> str:
    known = [
        (call, one.value)
        for one in call_examples(task)
        if isinstance(one.call, ast.Call) and (call := _arguments(one.call)) is not None
    ]
    if not known or task.entry_point not in task.question:
        return ""
    return (
        f"_KNOWN = {known!r}\n"
        f"def {task.entry_point}(*args, **kwargs):\n"
        "    for (given, named), value in _KNOWN:\n"
        "        if list(args) == list(given) and kwargs == named:\n"
        "            return value\n"
        "    raise LookupError\n"
    )


def _arguments(call: ast.Call) -> tuple[list[object], dict[str, object]] | None:
    try:
        given = [ast.literal_eval(one) for one in call.args]
        named = {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}
    except ValueError:
        return None
    return given, named
