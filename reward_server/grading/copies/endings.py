"""Gives each test of a file an assertion at its end, so that a copy can make every test fail.

A test that compares only in a helper has no expected value that a copy could make wrong. But if
such a test passes, and does not return early, it reaches its end. So the assertion is put there.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator

from reward_server.grading import syntax
from reward_server.grading.copies.sites import leaves_early
from reward_server.grading.syntax import FUNCTIONS, Function, dotted, without_call

_LEAST, _MOST = 1000, 9999
# Decorators that do not decide what an exception of a test means.
_HARMLESS = ("pytest.mark.", "mock.patch", "unittest.mock.patch", "patch")
_DECIDING = frozenset(("pytest.mark.xfail",))


def with_endings(text: str, draw: random.Random) -> str:
    """Returns a file of tests with assertions that hold at the ends of its tests.

    Args:
        text: Python source; a text that cannot be parsed is returned as it is.
        draw: chooses the values that they compare.
    """
    try:
        tree = syntax.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    for test in _tests(tree):
        number = draw.randint(_LEAST, _MOST)
        test.body.append(syntax.parse(f"assert int('{number}') == {number}").body[0])
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _tests(tree: ast.Module | ast.ClassDef) -> Iterator[Function]:
    for node in tree.body:
        if isinstance(node, FUNCTIONS) and node.name.startswith("test") and _reaches_end(node):
            yield node
        elif isinstance(node, ast.ClassDef):
            yield from _tests(node)


def _reaches_end(test: Function) -> bool:
    """Returns True if a test that passes has reached its end."""
    return all(map(_is_harmless, test.decorator_list)) and not leaves_early(test)


def _is_harmless(decorator: ast.expr) -> bool:
    name = dotted(without_call(decorator))
    return name.startswith(_HARMLESS) and name not in _DECIDING
