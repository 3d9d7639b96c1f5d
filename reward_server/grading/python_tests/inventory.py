"""Finds in the text of test files which tests there are, their rows, and which may be skipped.

If tests run in the solution's process, the solution can forge the list of tests and of skipped
tests. The server only accepts what agrees with the text.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from reward_server.domain import Framework
from reward_server.grading import syntax
from reward_server.grading.python_tests.collection import (
    hooks_change_collection,
    settings_change_collection,
)
from reward_server.grading.python_tests.rows import rows_of_marks
from reward_server.grading.syntax import (
    DISPLAYS,
    FUNCTIONS,
    Function,
    dotted,
    last_name,
    without_call,
)

_COLLECTING = frozenset(
    ("load_tests", "collect_ignore", "collect_ignore_glob", "__test__", "globals", "exec")
)
_SKIPPING = frozenset(
    (
        *("skip", "skipIf", "skipUnless", "skipTest", "SkipTest", "skipif", "xfail"),
        *("expectedFailure", "importorskip"),
    )
)
_CASES = frozenset(("TestCase", "IsolatedAsyncioTestCase"))
_PLAIN_DECORATORS = frozenset(
    (
        *("skip", "skipIf", "skipUnless", "expectedFailure", "staticmethod", "classmethod"),
        *("fixture", "dataclass", "contextmanager", "property"),
    )
)
_BLOCKS = (ast.If, ast.Try, ast.With, ast.For, ast.While, ast.Match)


class Inventory:
    """The tests that files certainly hold, by their text.

    A list of tests from the solution's process is not accepted if it lacks tests or rows of the
    text. If it has tests that the text does not have, these do not count.

    Args:
        trees: test files in Python, parsed, by path.
        files: all files, with their text.
        framework: the framework of the tests.

    Attributes:
        rows: how many results each test has, by its name without parameters; None if the text
            does not say. Empty unless complete.
        complete: whether there can be no other tests.
    """

    def __init__(
        self,
        trees: Mapping[str, ast.Module],
        files: Sequence[tuple[str, str]],
        framework: Framework,
    ) -> None:
        self._framework = framework
        self._trees = trees
        self._cases = _case_classes(trees.values())
        self._own = {part.removesuffix(".py") for path, _ in files for part in path.split("/")}
        self._defined = {
            node.name
            for tree in trees.values()
            for node in syntax.walk(tree)
            if isinstance(node, ast.ClassDef)
        }
        self._has_many_fixtures = any(map(_has_fixture_with_parameters, trees.values()))
        self.complete = self._collects_as_usual(files)
        found = dict[str, int | None]()
        for path, tree in trees.items():
            if _holds_tests(path, framework):
                found |= {f"{path}::{name}": rows for name, rows in self._rows(tree)}
        self.rows: Mapping[str, int | None] = found if self.complete else {}

    @property
    def tests(self) -> frozenset[str]:
        """The names of the tests, without parameters."""
        return frozenset(self.rows)

    def _collects_as_usual(self, files: Sequence[tuple[str, str]]) -> bool:
        if self._framework is Framework.PYTEST and (
            any(settings_change_collection(path, text) for path, text in files)
            or any(map(hooks_change_collection, self._trees.values()))
        ):
            return False
        return not any(
            _collects_by_itself(tree) or (_holds_tests(path, self._framework) and self._adds(tree))
            for path, tree in self._trees.items()
        )

    def _adds(self, tree: ast.Module) -> bool:
        """Returns True if a file may hold tests that are not written as ordinary ones."""
        return any(self._adds_tests(node) for node in tree.body) or any(
            self._adds_tests(node)
            for one in _definitions(tree)
            if isinstance(one, ast.ClassDef) and self._may_hold_tests(one)
            for node in one.body
        )

    def _adds_tests(self, node: ast.stmt) -> bool:
        match node:
            case ast.ImportFrom(names=names, module=module, level=level):
                is_own = level > 0 or (module or "").partition(".")[0] in self._own
                return is_own and any(self._is_collected(alias) for alias in names)
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                stored = (one for one in syntax.walk(node) if isinstance(one, ast.Name))
                return any(
                    isinstance(one.ctx, ast.Store) and _is_test_name(one.id) for one in stored
                )
            case ast.Expr(value=ast.Call(func=ast.Name(id="setattr"))):
                return True
        if isinstance(node, _BLOCKS):
            return any(
                (isinstance(one, FUNCTIONS) and one.name.startswith("test"))
                or isinstance(one, ast.ClassDef)
                or (isinstance(one, ast.Call) and dotted(one.func) == "setattr")
                for one in syntax.walk(node)
            )
        return False

    def _is_collected(self, alias: ast.alias) -> bool:
        """Returns True if a test that is imported from another file is collected again."""
        name = alias.asname or alias.name
        return name in self._cases or (name in self._defined and _is_test_name(name))

    def _may_hold_tests(self, node: ast.ClassDef) -> bool:
        return node.name in self._cases or (
            self._framework is Framework.PYTEST and node.name.startswith("Test")
        )

    def _rows(self, tree: ast.Module) -> Iterator[tuple[str, int | None]]:
        dropped, around = set(_dropped(tree)), marks_in(tree.body)
        for node in _definitions(tree):
            if node.name in dropped:
                continue
            if isinstance(node, ast.ClassDef):
                yield from self._rows_in(node, tree, around)
            elif self._framework is Framework.PYTEST and node.name.startswith("test"):
                self._look_at_decorators(node)
                yield node.name, self._count([*around, *node.decorator_list], tree)

    def _rows_in(
        self, node: ast.ClassDef, tree: ast.Module, around: Sequence[ast.expr]
    ) -> Iterator[tuple[str, int | None]]:
        bases = [base for base in map(dotted, node.bases) if base != "object"]
        methods = [one for one in _definitions(node) if isinstance(one, FUNCTIONS)]
        inner = [one.name for one in methods]
        is_case = bool(bases) and all(map(self._is_case, bases))
        is_plain = self._framework is Framework.PYTEST and node.name.startswith("Test")
        is_usual = not {"__init__", "__new__", "runTest"} & {*inner} and not node.keywords
        nested = any(isinstance(one, ast.ClassDef) and is_plain for one in _definitions(node))
        if (is_case or (is_plain and not bases)) and is_usual:
            self._look_at_decorators(node)
            self.complete = self.complete and not nested
            marks = [*around, *node.decorator_list, *marks_in(node.body)]
            for one in methods:
                if one.name.startswith("test"):
                    self._look_at_decorators(one)
                    own = [*marks, *one.decorator_list]
                    yield f"{node.name}::{one.name}", 1 if is_case else self._count(own, tree)
        elif self._may_hold_tests(node):
            self.complete = False

    def _is_case(self, base: str) -> bool:
        root, _, name = base.rpartition(".")
        return name in _CASES and (bool(root) or name not in self._defined)

    def _look_at_decorators(self, node: Function | ast.ClassDef) -> None:
        """Notes a decorator that may change how many tests there are."""
        if not all(map(_is_plain_decorator, node.decorator_list)):
            self.complete = False

    def _count(self, marks: Sequence[ast.expr], tree: ast.Module) -> int | None:
        return None if self._has_many_fixtures else rows_of_marks(marks, tree)


def _is_test_name(name: str) -> bool:
    return name.startswith(("test", "Test"))


def _is_plain_decorator(node: ast.expr) -> bool:
    """Returns True if a decorator does not change how many tests there are."""
    parts = dotted(without_call(node)).split(".")
    return "mark" in parts or "patch" in parts or parts[-1] in _PLAIN_DECORATORS


def marks_in(body: Sequence[ast.stmt]) -> list[ast.expr]:
    """Returns the marks that a module or class gives to all tests in it."""
    found: list[ast.expr] = []
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Name(id="pytestmark")], value=value):
                found += value.elts if isinstance(value, DISPLAYS) else [value]
    return found


def _has_fixture_with_parameters(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.Call)
        and dotted(node.func).endswith("fixture")
        and any(keyword.arg in ("params", None) for keyword in node.keywords)
        for node in syntax.walk(tree)
    )


def _case_classes(trees: Iterable[ast.Module]) -> set[str]:
    """Returns the classes that derive from unittest's test case, also through other classes."""
    classes = [
        node for tree in trees for node in syntax.walk(tree) if isinstance(node, ast.ClassDef)
    ]
    found, size = set[str](), -1
    while len(found) > size:
        size = len(found)
        for node in classes:
            bases = {last_name(base) for base in node.bases}
            if any(base.endswith("TestCase") for base in bases) or bases & found:
                found.add(node.name)
    return found


def _holds_tests(path: str, framework: Framework) -> bool:
    name = os.path.basename(path)
    start = "test_" if framework is Framework.PYTEST else "test"
    return name.endswith("_test.py") or (name.startswith(start) and name.endswith(".py"))


def _collects_by_itself(tree: ast.Module) -> bool:
    """Returns True if a file has code that decides which tests there are."""
    return any(
        isinstance(node, (*FUNCTIONS, ast.Name))
        and (node.id if isinstance(node, ast.Name) else node.name) in _COLLECTING
        for node in syntax.walk(tree)
    )


def _dropped(tree: ast.Module) -> Iterator[str]:
    """Yields names that are deleted, or bound again, at the top of a file."""
    for node in tree.body:
        if isinstance(node, (ast.Delete, ast.Assign)):
            yield from (
                name.id
                for target in node.targets
                for name in syntax.walk(target)
                if isinstance(name, ast.Name)
            )


class Skips:
    """The tests that their author may skip, by the files' text.

    In the solution's process the solution can skip a test. If the text does not allow the skip, the
    test fails.

    Args:
        trees: test files in Python, parsed, by path.
    """

    def __init__(self, trees: Mapping[str, ast.Module]) -> None:
        self._trees = trees
        self._everywhere = any(
            _skips(tree) for path, tree in trees.items() if path.endswith("conftest.py")
        )

    @property
    def nodes(self) -> int:
        """The number of nodes of the trees that it keeps."""
        return sum(1 for tree in self._trees.values() for _ in syntax.walk(tree))

    def may_skip(self, test: str) -> bool:
        """Returns True if the text of a test, or of its class or module, may skip it."""
        path, *names = test.partition("[")[0].partition("#")[0].split("::")
        tree = self._trees.get(path)
        if tree is None or self._everywhere:
            return True
        around: list[ast.AST] = [tree]
        for name in names:
            found = [one for one in _definitions(around[-1]) if one.name == name]
            if not found:
                return _skips(tree)
            around.append(found[-1])
        return _skips(around[-1]) or any(map(_skips_all, around[:-1]))


def _definitions(node: ast.AST) -> list[Function | ast.ClassDef]:
    return [
        child for child in syntax.children(node) if isinstance(child, (*FUNCTIONS, ast.ClassDef))
    ]


def _skips_all(node: ast.AST) -> bool:
    """Returns True if code in a class or module, outside its tests and classes, may skip them."""
    return any(_skips(child) for child in syntax.children(node) if not _is_test(child))


def _is_test(node: ast.AST) -> bool:
    if isinstance(node, ast.ClassDef):
        return True
    return isinstance(node, FUNCTIONS) and node.name.startswith("test")


def _skips(node: ast.AST) -> bool:
    return any(last_name(part) in _SKIPPING for part in syntax.walk(node))
