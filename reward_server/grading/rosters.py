"""Which tests files hold for certain, and which of them may be skipped, by the files' text.

Beside a solution both are observations like others, and are believed as far as the text agrees.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from reward_server.domain import Framework
from reward_server.grading.suites import dotted

_CONFIGURATIONS = frozenset(("pytest.ini", "pytest.toml", "pyproject.toml", "tox.ini", "setup.cfg"))
_COLLECTING = (
    *("load_tests", "pytest_generate_tests", "pytest_collect", "pytest_ignore", "pytest_itemcoll"),
    *("collect_ignore", "pytest_pycollect", "__test__"),
)
_SKIPPING = frozenset(
    (
        *("skip", "skipIf", "skipUnless", "skipTest", "SkipTest", "skipif", "xfail"),
        *("expectedFailure", "importorskip"),
    )
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Roster:
    """Tests that files hold for certain, by their text.

    Beside a solution the list of tests is an observation like others; one from which tests are
    missing is not believed.

    Args:
        trees: test files in Python, parsed, by path.
        paths: of all files.
        framework: whose they are.

    Attributes:
        tests: names, without parameters.
        complete: whether there can be no others.
    """

    def __init__(
        self, trees: Mapping[str, ast.Module], paths: Sequence[str], framework: Framework
    ) -> None:
        self._framework = framework
        self._cases = _case_classes(trees.values())
        found = set[str]()
        self.complete = not any(os.path.basename(path) in _CONFIGURATIONS for path in paths)
        for path, tree in trees.items():
            if _collects_by_itself(tree):
                self.complete = False
            elif _holds_tests(path, framework):
                found |= {f"{path}::{name}" for name in self._names(tree)}
        self.tests = frozenset(found) if self.complete else frozenset[str]()

    def _names(self, tree: ast.Module) -> Iterator[str]:
        dropped = set(_dropped(tree))
        for node in _definitions(tree):
            if node.name in dropped:
                continue
            if isinstance(node, ast.ClassDef):
                yield from self._names_in(node)
            elif self._framework is Framework.PYTEST and node.name.startswith("test"):
                yield node.name

    def _names_in(self, node: ast.ClassDef) -> Iterator[str]:
        bases = [base for base in map(dotted, node.bases) if base != "object"]
        inner = [one.name for one in _definitions(node) if isinstance(one, _FUNCTIONS)]
        is_case = bool(bases) and all(base.endswith("TestCase") for base in bases)
        is_plain = self._framework is Framework.PYTEST and node.name.startswith("Test")
        if (is_case or (is_plain and not bases)) and not {"__init__", "runTest"} & {*inner}:
            yield from (f"{node.name}::{name}" for name in inner if name.startswith("test"))
        elif is_plain or node.name in self._cases:
            self.complete = False


def _case_classes(trees: Iterable[ast.Module]) -> set[str]:
    """Returns the classes that are test cases of unittest, also by way of others."""
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    found, size = set[str](), -1
    while len(found) > size:
        size = len(found)
        for node in classes:
            bases = {dotted(base).rpartition(".")[2] for base in node.bases}
            if any(base.endswith("TestCase") for base in bases) or bases & found:
                found.add(node.name)
    return found


def _holds_tests(path: str, framework: Framework) -> bool:
    name = os.path.basename(path)
    start = "test_" if framework is Framework.PYTEST else "test"
    return name.endswith("_test.py") or (name.startswith(start) and name.endswith(".py"))


def _collects_by_itself(tree: ast.Module) -> bool:
    """Tells whether a file has a say in which tests there are."""
    return any(
        isinstance(node, (*_FUNCTIONS, ast.Name))
        and (node.id if isinstance(node, ast.Name) else node.name).startswith(_COLLECTING)
        for node in ast.walk(tree)
    )


def _dropped(tree: ast.Module) -> Iterator[str]:
    """Gives names that are taken away, or given another meaning, at the top of a file."""
    for node in tree.body:
        if isinstance(node, (ast.Delete, ast.Assign)):
            yield from (
                name.id
                for target in node.targets
                for name in ast.walk(target)
                if isinstance(name, ast.Name)
            )


class Skips:
    """Which tests their author may skip, by the files' text.

    Beside a solution a skipped test is an observation like others; one that no text skips is not
    believed.

    Args:
        trees: test files in Python, parsed, by path.
    """

    def __init__(self, trees: Mapping[str, ast.Module]) -> None:
        self._trees = trees
        self._everywhere = any(
            _skips(tree) for path, tree in trees.items() if path.endswith("conftest.py")
        )

    def may_skip(self, test: str) -> bool:
        """Tells whether a test, by its name, is skipped by its own text or by what is around it."""
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


def _definitions(node: ast.AST) -> list[_Function | ast.ClassDef]:
    return [
        child
        for child in ast.iter_child_nodes(node)
        if isinstance(child, (*_FUNCTIONS, ast.ClassDef))
    ]


def _skips_all(node: ast.AST) -> bool:
    """Tells whether a class or module skips its tests: apart from tests and classes in it."""
    return any(_skips(child) for child in ast.iter_child_nodes(node) if not _is_test(child))


def _is_test(node: ast.AST) -> bool:
    if isinstance(node, ast.ClassDef):
        return True
    return isinstance(node, _FUNCTIONS) and node.name.startswith("test")


def _skips(node: ast.AST) -> bool:
    return any(dotted(part).rpartition(".")[2] in _SKIPPING for part in ast.walk(node))
