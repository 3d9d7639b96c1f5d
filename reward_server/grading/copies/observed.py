"""Makes each assertion of a test report its result separately.

The outcome of a test shows that one of its assertions failed, but not which one. So assertions are
wrapped, both in the true files and in copies: a failed one does not stop the assertions after it,
and the exception that ends the test has a note with all results. The note comes from the solution's
process, as the outcome does, and is trusted as little as the outcome.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Mapping, Sequence

from reward_server.grading import syntax
from reward_server.grading.syntax import FUNCTIONS

_NAME = "_observed_"
_NOTE = re.compile(r"observed((?: \d+=[01]+)+)(?:\n|\Z)")
MOST_CHARACTERS = 700  # the maximum length of a note; a message has 1,000

_HELPER = f"""
class {_NAME}:
    def __init__(self):
        self.truths, self.number, self.error, self.first = {{}}, 0, None, None
    def __call__(self, number):
        self.number, self.error = number, None
        return self
    def __enter__(self):
        return self
    def __exit__(self, kind, error, trace):
        if kind is not None and kind.__name__ in ("SkipTest", "Skipped", "KeyboardInterrupt"):
            return False
        truth = "1" if error is None else "0"
        self.truths[self.number] = self.truths.get(self.number, "") + truth
        self.error = error
        if self.first is None:
            self.first = error
        return True
    def keep(self, caught):
        if self.error is not None:
            if hasattr(caught, "fill_unfilled"):
                if getattr(caught, "_excinfo", None) is None:
                    caught.fill_unfilled((type(self.error), self.error, self.error.__traceback__))
            else:
                caught.exception = caught.value = self.error
    def other(self, value):
        return object()
    def tell(self):
        if self.first is not None:
            truths = sorted(self.truths.items())
            self.first.add_note("observed" + "".join(f" {{n}}={{t}}" for n, t in truths))
            raise self.first
"""


def note_characters(counts: Sequence[int]) -> int:
    """Returns the length of the note for assertions that are tried so many times each."""
    return sum(count + len(f" {number}=") for number, count in enumerate(counts))


def read_note(message: str) -> Mapping[int, str] | None:
    """Returns the results in a message's note, in the order in which they were noted."""
    found = _NOTE.match(message)
    if found is None:
        return None
    parts = (part.partition("=") for part in found[1].split())
    return {int(number): truths for number, _, truths in parts}


def without_note(message: str) -> str:
    """Returns a message without its note."""
    return _NOTE.sub("", message, count=1) if message.startswith("observed ") else message


def add_helper(tree: ast.Module) -> None:
    """Adds the code that wrapped assertions need at the top of a file."""
    place = sum(_stands_first(node) for node in tree.body)
    tree.body[place:place] = syntax.parse(_HELPER).body


def with_other_side(node: ast.AST, side: int) -> ast.AST:
    """Returns a comparison with one side that becomes another value when it runs."""
    fresh = copy.deepcopy(node)
    if isinstance(fresh, ast.Call):
        fresh.args[side] = _other(fresh.args[side])
    elif isinstance(fresh, ast.Compare) and side:
        fresh.comparators[0] = _other(fresh.comparators[0])
    elif isinstance(fresh, ast.Compare):
        fresh.left = _other(fresh.left)
    return fresh


def bare_of(body: Sequence[ast.stmt], name: str) -> list[ast.stmt]:
    """Returns the body of a block that expects an exception, without the expectation."""
    named = syntax.parse(f"{name} = {_NAME}()").body if name else []
    return [*named, *body]


def _other(value: ast.expr) -> ast.expr:
    function = syntax.parse_expression(f"{_NAME}_.other")
    return ast.Call(func=function, args=[value], keywords=[])


def _stands_first(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


class Wrapper(ast.NodeTransformer):
    """Wraps assertions of tests.

    Args:
        numbers: for each statement to wrap, by its id, its number in the test.
        functions: the ids of the tests with these statements.
    """

    def __init__(self, numbers: Mapping[int, int], functions: frozenset[int]) -> None:
        self._numbers = numbers
        self._functions = functions

    def visit(self, node: ast.AST) -> ast.AST | list[ast.AST]:
        """Returns the replacement of a node."""
        if id(node) in self._numbers:
            return self._wrapped(node)
        self.generic_visit(node)
        if id(node) in self._functions and isinstance(node, FUNCTIONS):
            first = syntax.parse(f"{_NAME}_ = {_NAME}()").body
            last = syntax.parse(f"{_NAME}_.tell()").body
            node.body = [
                *first,
                ast.Try(body=node.body, handlers=[], orelse=[], finalbody=last),
            ]
        return node

    def _wrapped(self, node: ast.AST) -> ast.AST | list[ast.AST]:
        wrapped = syntax.parse(f"with {_NAME}_({self._numbers[id(node)]}):\n    pass").body[0]
        assert isinstance(wrapped, ast.With)
        assert isinstance(node, ast.stmt)
        wrapped.body = [node]
        kept = [item.optional_vars for item in node.items] if isinstance(node, ast.With) else []
        if kept and isinstance(kept[0], ast.Name):
            return [wrapped, *syntax.parse(f"{_NAME}_.keep({kept[0].id})").body]
        return wrapped
