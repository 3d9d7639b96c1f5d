"""Says of function tests and test files that no answer can fail them, and why.

A trial with an empty solution would not do: a test that only calls the solution fails it, too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TypeGuard

from reward_server.domain import FunctionTests, UnitTests
from reward_server.grading import syntax
from reward_server.grading.python_tests.inventory import Inventory, marks_in
from reward_server.grading.python_tests.vacuous.bindings import Bindings, Definition
from reward_server.grading.python_tests.vacuous.reach import Reach, leaves
from reward_server.grading.syntax import (
    FUNCTIONS,
    Function,
    dotted,
    last_name,
    without_call,
)

_WORD = re.compile(r"[^\W\d]\w*")
_ASSERT = re.compile(r"\s*assert\b")
# An assertion that begins with a call, in a text without what could make it hold in any case.
_CLAIM = r"assert (?!(?:len|abs|bool|sum|sorted|callable|not)\b)\w+\("
_PLAIN = re.compile(_CLAIM)
_PLAIN_CHECK = re.compile(
    rf"^def check\(\w+\)(?: *-> *None)? *:[ \t]*\n(?:[ \t]*(?:#[^\n]*)?\n)*+[ \t]+{_CLAIM}",
    re.MULTILINE,
)
_WEAKENING = re.compile(r"\b(?:or|if|lambda)\b|\"\"\"|'''")
_CHECK, _MODULE = "check", "solution"
_PREPARATIONS = ("setup", "setUp", "teardown", "tearDown", "async", "pytest_", "__")
_BROKEN = (SyntaxError, ValueError, RecursionError, MemoryError)
_NO_TESTS = (
    "the files hold no tests: these begin with `test`, in files named `test_*.py` or `*_test.py`"
)
_NOTHING = "nothing that runs in it asserts anything about an answer"
_REMEDY = "the tests cannot fail, so they would reward every completion"


def read_functions(tests: FunctionTests, prompt: str) -> tuple[FunctionTests, str]:
    """Returns the tests of `asserting`, and their flaw; see `flaw_of_functions`."""
    if surely_can_fail(tests):
        return tests, ""
    tests = asserting(tests, prompt)
    try:
        return tests, flaw_of_functions(tests, prompt)
    except RecursionError:
        return tests, ""


def asserting(tests: FunctionTests, prompt: str = "") -> FunctionTests:
    """Returns function tests in which each entry that is a bare expression is an assertion.

    A call of something that the tests import or make, or that the prompt may define, prepares the
    next entries, or asserts by itself; it stays as it is.
    """
    if all(map(_ASSERT.match, tests.asserts)):
        return tests
    try:
        texts = (tests.setup_code, tests.test_code, *tests.asserts)
        bindings = Bindings([syntax.parse(text) for text in texts])
        given = _given(tests, prompt)
        entries = tuple(_asserted(text, bindings, given) for text in tests.asserts)
    except _BROKEN:
        return tests
    return replace(tests, asserts=entries)


def _given(tests: FunctionTests, prompt: str) -> frozenset[str]:
    """Returns the names that a prompt may define besides the entry point."""
    return frozenset(_WORD.findall(prompt)) - {tests.entry_point.partition("(")[0]}


def _asserted(text: str, bindings: Bindings, given: frozenset[str]) -> str:
    body = syntax.parse(text).body
    match body:
        case [ast.Expr(value=ast.Call(func=called))]:
            root = dotted(_root(called))
            if root == "print" or root in given or bindings.of(root):
                return text
    match body:
        case [ast.Expr(value=value)]:
            return f"assert ({ast.get_source_segment(text, value)})"
    return text


def _root(node: ast.expr) -> ast.expr:
    while isinstance(node, (ast.Attribute, ast.Call, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node


def surely_can_fail(tests: FunctionTests) -> bool:
    """Returns True if tests are seen to fail without being parsed: most are.

    That is, if each entry of the list, or the first statement of check(), is one plain assertion
    about what a function of the solution answers.
    """
    texts = (tests.test_code, *tests.asserts)
    if any(map(_WEAKENING.search, texts)):
        return False
    if tests.asserts:
        return all(map(_PLAIN.match, tests.asserts))
    is_only = tests.test_code.count(_CHECK) == 1
    return is_only and _PLAIN_CHECK.search(tests.test_code) is not None


def flaw_of_functions(tests: FunctionTests, prompt: str) -> str:
    """Returns why no answer can fail function tests; "" if one can, or the text leaves it open.

    Args:
        tests: the tests, as `asserting` returns them.
        prompt: the code of the prompt, which the tests may use.
    """
    try:
        support = [syntax.parse(text) for text in (tests.setup_code, tests.test_code)]
        entries = [syntax.parse(text) for text in tests.asserts]
    except _BROKEN:
        return ""  # the judge says what is broken
    bindings = Bindings([*support, *entries])
    checks = [one for tree in support for one in tree.body if _is_check(one)]
    functions = {tests.entry_point.partition("(")[0], *map(_parameter, checks)} - {""}
    given = _given(tests, prompt) - functions

    def reach() -> Reach:
        return Reach(
            bindings,
            module=_MODULE,
            supplies=lambda name: name not in given,
            functions=frozenset(functions),
        )

    for number, tree in enumerate(entries, 1):
        own = reach()
        if any(isinstance(one, ast.Assert) for one in tree.body) and not own.can_fail([tree.body]):
            return _flaw(f"assert {number}", own.hints)
    whole = reach()
    named = [ast.Expr(value=ast.Name(id=_CHECK, ctx=ast.Load()))]
    bodies = [one.body for one in (*checks, *support, *entries)]
    if whole.can_fail([*bodies, named]):
        return ""
    return _flaw(_CHECK if checks else "the text", whole.hints)


def _is_check(node: ast.stmt) -> TypeGuard[Function]:
    return isinstance(node, FUNCTIONS) and node.name == _CHECK


def _parameter(check: Function) -> str:
    """Returns the name by which check() calls the solution; "" if it has none."""
    return check.args.args[0].arg if check.args.args else ""


def _flaw(where: str, hints: Sequence[str]) -> str:
    told = "; ".join(list(dict.fromkeys(hints))[:2]) or _NOTHING
    return f"{_REMEDY}: {where}: {told}"


def flaw_of_files(trees: Mapping[str, ast.Module], tests: UnitTests, inventory: Inventory) -> str:
    """Returns why no answer can fail test files; "" if one can, or the text leaves it open.

    Args:
        trees: the files in Python, parsed, by path.
        tests: the files.
        inventory: the tests in them.
    """
    is_whole = all(path in trees for path, _ in tests.files if path.endswith(".py"))
    if not (inventory.complete and is_whole):
        return ""
    if not inventory.rows:
        return _NO_TESTS
    found = list(_tests(trees, inventory))
    if not found:
        return f"{_REMEDY}: each of them is skipped whatever the answer"
    bindings = Bindings(list(trees.values()))
    stem = tests.solution_path.removesuffix(".py").replace("/", ".")
    functions = frozenset(_called_of(stem, trees, bindings))
    supplies_all = stem in bindings.taken_whole
    reach = Reach(bindings, module=stem, supplies=lambda name: supplies_all, functions=functions)
    around = [part for tree in trees.values() for part in (tree.body, *_preparations(tree))]
    try:
        return "" if reach.can_fail([*around, *found]) else _flaw("the files", reach.hints)
    except RecursionError:
        return ""


def _called_of(stem: str, trees: Mapping[str, ast.Module], bindings: Bindings) -> Iterator[str]:
    """Yields the names of functions and classes that files import from the solution and call."""
    for node in chain.from_iterable(map(syntax.walk, trees.values())):
        name = (
            node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
        )
        if any(one.module.startswith(f"{stem}.") for one in bindings.of(name)):
            yield name


def _tests(trees: Mapping[str, ast.Module], inventory: Inventory) -> Iterator[list[ast.stmt]]:
    """Yields the statements of each test that is not skipped whatever happens."""
    for path, tree in trees.items():
        if any(map(leaves, tree.body)) or any(map(_is_skip, marks_in(tree.body))):
            continue
        for node in tree.body:
            if isinstance(node, (*FUNCTIONS, ast.ClassDef)) and not _is_skipped(node):
                yield from _tests_in(node, path, inventory)


def _tests_in(node: Definition, path: str, inventory: Inventory) -> Iterator[list[ast.stmt]]:
    if isinstance(node, FUNCTIONS):
        if f"{path}::{node.name}" in inventory.rows:
            yield node.body
        return
    for one in node.body:
        name = f"{path}::{node.name}::{getattr(one, 'name', '')}"
        if isinstance(one, FUNCTIONS) and name in inventory.rows and not _is_skipped(one):
            yield one.body


def _is_skipped(node: Definition) -> bool:
    marks = node.decorator_list
    if isinstance(node, ast.ClassDef):
        marks = [*marks, *marks_in(node.body)]
    return any(map(_is_skip, marks))


def _is_skip(mark: ast.expr) -> bool:
    """Returns True if a mark skips its test whatever happens."""
    match mark:
        case ast.Call(func=kind, args=[ast.Constant(value=value), *_]):
            name = last_name(kind).lower()
            return (
                name == "skip"
                or bool(name == "skipif" and value)
                or (name == "skipunless" and not value)
            )
    return last_name(without_call(mark)) == "skip"


def _preparations(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    """Yields the statements of functions that run before or after tests without being named."""
    for node in syntax.walk(tree):
        if isinstance(node, FUNCTIONS):
            marks = (last_name(without_call(one)) for one in node.decorator_list)
            if node.name.startswith(_PREPARATIONS) or "fixture" in marks:
                yield node.body
