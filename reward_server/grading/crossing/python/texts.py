"""Reads what requests hold: function tests, and test files."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from reward_server.domain import Crossing, FunctionTests, UnitTests
from reward_server.grading.crossing.python import looks, prompt
from reward_server.grading.crossing.python.ahead import calls_ahead
from reward_server.grading.crossing.python.facts import Source, compared_first
from reward_server.grading.crossing.python.refusals import Refusal, crossing_of
from reward_server.grading.crossing.python.scopes import CHECK
from reward_server.grading.crossing.python.text import Text
from reward_server.grading.crossing.python.walk import Walk
from reward_server.grading.syntax import checks_outside, parse

_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


def read_functions(tests: FunctionTests, code: str) -> Crossing | Refusal:
    """Reads function tests.

    Args:
        tests: the tests.
        code: the task's code, as `continuation.read_prompt` returns it.
    """
    try:
        texts = [text for text in (tests.setup_code, tests.test_code, *tests.asserts) if text]
        found = _read(texts, tests.entry_point, code)
        if not crossing_of(found).names and (name := compared_first(map(parse, texts))):
            found = _read(texts, name, code)
        form = _form(parse(tests.test_code))
    except _UNREADABLE as error:
        return Refusal(rule="syntax", line=0, construct=type(error).__name__)
    if isinstance(found, Refusal):
        return replace(found, crossing=replace(found.crossing, form=form))
    return replace(found, form=form, ahead=calls_ahead(tests, found))


def _read(texts: Sequence[str], entry_point: str, code: str) -> Crossing | Refusal:
    trees = tuple(map(parse, texts))
    return _walked(Source(trees=trees, entry_point=entry_point, prompt=prompt.parsed(code)))[0]


def _walked(source: Source) -> tuple[Crossing | Refusal, Text]:
    text = Text(source)
    walk = Walk(text)
    crossing = walk.run(source.trees)
    found = crossing if walk.refusal is None else replace(walk.refusal, crossing=crossing)
    return found, text


def read_files(tests: UnitTests) -> Crossing | Refusal:
    """Reads test files; each is a module of its own."""
    module = tests.solution_path.removesuffix(".py").replace("/", ".")
    found, files, refusal = Crossing(), [], None
    for path, content in tests.files:
        one, text = _read_file(path, content, module)
        if isinstance(one, Refusal):
            refusal = refusal or replace(one, construct=f"{path}: {one.construct}")
            one = one.crossing
        found = _joined(found, one)
        files.append((path, text))
    found = replace(found, files=tuple(files))
    return found if refusal is None else replace(refusal, crossing=found)


def _read_file(path: str, content: str, module: str) -> tuple[Crossing | Refusal, str]:
    """Returns what a file needs, and its text without imports that nothing uses."""
    if not path.endswith(".py"):
        return Refusal(rule="frameworks", line=0, construct="no file of Python"), content
    try:
        found, text = _walked(Source(trees=(parse(content),), module=module))
    except _UNREADABLE as error:
        return Refusal(rule="syntax", line=0, construct=type(error).__name__), content
    return found, looks.without(content, text.dropped)


def _joined(one: Crossing, other: Crossing) -> Crossing:
    """Returns what two files need together."""
    return Crossing(
        names=one.names | other.names,
        classes=one.classes | other.classes,
        raised=one.raised | other.raised,
        values=one.values | other.values,
        modules=one.modules | other.modules,
        free={**one.free, **other.free},
    )


def _form(tree: ast.Module) -> str:
    """Returns what the test code is: it defines check(), or its statements are a test."""
    if any(isinstance(node, ast.FunctionDef) and node.name == CHECK for node in tree.body):
        return CHECK
    return "script" if checks_outside(tree.body) else ""
