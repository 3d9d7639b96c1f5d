"""Reads from tests which values they expect for which arguments, where the text shows them."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass

from reward_server.audit.tasks import Task, text_of_tests
from reward_server.audit.texts.parsing import literal, parsed, unparsed

_EQUALITIES = ("assertEqual", "assertEquals", "assertListEqual", "assertDictEqual", "assertIs")
_TRUTHS = {"assertTrue": True, "assertFalse": False, "assertIsNone": None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """A value that a test expects.

    Args:
        asked: text of the arguments or the input.
        value: the expected value; of a program, its output as text.
    """

    asked: str
    value: object


def expectations(task: Task) -> list[Expectation]:
    """Returns the expectations that can be read; tests may have others."""
    match task.kind:
        case "call":
            return list(_of_calls(task))
        case "stdio":
            return [
                Expectation(
                    asked=one.stdin_text or one.stdin.decode("utf-8", "replace"),
                    value=one.expected_stdout_text
                    or one.expected_stdout.decode("utf-8", "replace"),
                )
                for one in task.template.stdio.cases
            ]
        case "function" | "unit" if task.is_python:
            tree = parsed(text_of_tests(task.template))
            return list(_of_tree(tree)) if tree is not None else _of_pieces(task)
    return []


def _of_pieces(task: Task) -> list[Expectation]:
    """Reads texts one by one if they are no module when they are joined."""
    tests = task.template.function
    texts = [tests.test_code, *tests.asserts, *task.template.unit.files.values()]
    trees = [parsed(text) for text in texts]
    return [found for tree in trees if tree is not None for found in _of_tree(tree)]


def _of_calls(task: Task) -> Iterator[Expectation]:
    for case in task.template.call.cases:
        try:
            yield Expectation(asked=case.args_json, value=json.loads(case.expected_json))
        except ValueError:
            continue


def _of_tree(tree: ast.Module) -> Iterator[Expectation]:
    for node in ast.walk(tree):
        match node:
            case ast.Assert(test=test):
                yield from _of_test(test)
            case ast.Call(func=ast.Attribute(attr=name), args=[first, second, *_]) if (
                name in _EQUALITIES
            ):
                yield from _of_pair(first, second)
            case ast.Call(func=ast.Attribute(attr=name), args=[first, *_]) if name in _TRUTHS:
                if isinstance(first, ast.Call):
                    yield Expectation(asked=_arguments(first), value=_TRUTHS[name])


def _of_test(test: ast.expr) -> Iterator[Expectation]:
    match test:
        case ast.BoolOp(op=ast.And(), values=values):
            for value in values:
                yield from _of_test(value)
        case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right]):
            yield from _of_pair(left, right)
        case ast.UnaryOp(op=ast.Not(), operand=ast.Call() as call):
            yield Expectation(asked=_arguments(call), value=False)
        case ast.Call(func=ast.Name()):
            yield Expectation(asked=_arguments(test), value=True)


def _of_pair(first: ast.expr, second: ast.expr) -> Iterator[Expectation]:
    for asked, wanted in ((first, second), (second, first)):
        found = literal(wanted)
        if found is not None and any(isinstance(node, ast.Call) for node in ast.walk(asked)):
            yield Expectation(asked=_arguments(asked), value=found[0])
            return


def _arguments(node: ast.expr) -> str:
    calls = [one for one in ast.walk(node) if isinstance(one, ast.Call)]
    inner = calls[-1] if calls else None
    return ", ".join(unparsed(one) for one in inner.args) if inner is not None else unparsed(node)
