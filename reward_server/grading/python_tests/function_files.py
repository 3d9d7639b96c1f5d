"""Writes function tests as a test file of unittest, which runs in the solution's process."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from reward_server.domain import Framework, FunctionTests, UnitTests
from reward_server.grading import syntax
from reward_server.grading.syntax import FUNCTIONS, IMPORTS, Function

PATH, SOLUTION_PATH = "test_solution.py", "solution.py"
_CHECK, _SCRIPT = "check", "test_code"
_CLASS = "TestSolution"
_BUILTINS = frozenset(vars(builtins))


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionFile:
    """Function tests as a test file.

    Args:
        tests: the file.
        names: from the name of a test in the file to its name in the judge of function tests.
    """

    tests: UnitTests
    names: dict[str, str]


def written(tests: FunctionTests, helpers: str) -> FunctionFile | None:
    """Writes function tests as a test file; returns None if that is impossible.

    Args:
        tests: the tests.
        helpers: what they use of the prompt: the file has copies of imports and functions; other
            definitions are the solution's, so that both have the same objects.
    """
    try:
        given = syntax.parse(helpers).body
        copied = [one for one in given if isinstance(one, (*IMPORTS, *FUNCTIONS))]
        text, names = _Writer(tests, copied).text()
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    file = UnitTests(
        framework=Framework.UNITTEST, files=((PATH, text),), solution_path=SOLUTION_PATH
    )
    return FunctionFile(
        tests=file,
        names={f"{PATH}::{_CLASS}::{method}": name for method, name in names.items()},
    )


class _Writer:
    """Writes one file.

    Args:
        tests: the tests.
        prompt: the statements of the prompt's code in the file.
    """

    def __init__(self, tests: FunctionTests, prompt: Sequence[ast.stmt]) -> None:
        self._entry_point = tests.entry_point
        self._setup = syntax.parse(tests.setup_code).body
        self._code = syntax.parse(tests.test_code).body
        self._asserts = [syntax.parse(text).body for text in tests.asserts]
        self._prompt = list(prompt)
        self._given: list[ast.stmt] = []

    def text(self) -> tuple[str, dict[str, str]]:
        """Returns the file's text, and the name of the test in each method; call it once."""
        tree, names = self._written()
        return ast.unparse(ast.fix_missing_locations(tree)) + "\n", names

    def _written(self) -> tuple[ast.Module, dict[str, str]]:
        """Returns the file's tree, and the name of the test in each method."""
        methods, names = list[ast.stmt](), dict[str, str]()
        support = [*self._setup]
        check = _check_in(self._code)
        if check is not None:
            support += [one for one in self._code if one is not check]
            self._add(methods, names, _CHECK, self._body_of(check), is_async=_is_async(check))
        elif any(getattr(one, "name", "") == _CHECK for one in self._code):
            support += self._code
            self._add(methods, names, _CHECK, self._call_of_check())
        elif syntax.checks_outside(self._code):
            support += [one for one in self._code if isinstance(one, IMPORTS)]
            body = [one for one in self._code if not isinstance(one, IMPORTS)]
            self._add(methods, names, _SCRIPT, body)
        else:
            support += self._code
        for number, body in enumerate(self._asserts, 1):
            self._add(methods, names, f"assert {number}", [*_globals(body), *body])
        has_async = any(isinstance(one, ast.AsyncFunctionDef) for one in methods)
        head = self._head([*self._given, *self._prompt, *support, *methods])
        case = _case(methods, "IsolatedAsyncioTestCase" if has_async else "TestCase")
        future, rest = _split_future(support)
        body = [*future, *head, *self._given, *self._prompt, *rest, case]
        return ast.Module(body=body, type_ignores=[]), names

    def _add(
        self,
        methods: list[ast.stmt],
        names: dict[str, str],
        name: str,
        body: Sequence[ast.stmt],
        *,
        is_async: bool = False,
    ) -> None:
        method = f"test_{len(methods):04}"
        names[method] = name
        kind = "async def" if is_async else "def"
        (function,) = syntax.parse(f"{kind} {method}(self):\n    pass").body
        assert isinstance(function, FUNCTIONS)
        function.body = list(body) or function.body
        methods.append(function)

    def _body_of(self, check: Function) -> list[ast.stmt]:
        """Returns the statements of check(), whose parameter becomes a name of the file."""
        for parameter in check.args.args:
            given = syntax.parse(f"{parameter.arg} = {self._entry_point}").body
            if parameter.arg in _stored(check.body):
                return [*given, *check.body]
            if parameter.arg != self._entry_point:
                self._given += given
        return check.body

    def _call_of_check(self) -> list[ast.stmt]:
        return syntax.parse(f"{_CHECK}({self._entry_point})").body

    def _head(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Returns the imports of the names that the tests use and do not define."""
        used, bound = _names(body)
        foreign = used - bound - _BUILTINS - {"unittest"}
        owner = _owner_of(self._entry_point)
        foreign |= {owner} if owner else set()
        modules = {name for name in foreign if name in sys.stdlib_module_names and name != owner}
        taken = sorted(foreign - modules - {"candidate"})
        lines = ["import unittest", *(f"import {name}" for name in sorted(modules))]
        lines += [f"from solution import {', '.join(taken)}"] if taken else []
        lines += [f"candidate = {self._entry_point}"] if "candidate" in foreign else []
        return syntax.parse("\n".join(lines)).body


def _owner_of(entry_point: str) -> str:
    """Returns the name that the solution has to define for an entry point."""
    return entry_point.partition("(")[0].partition(".")[0]


def _is_async(check: ast.stmt) -> bool:
    return isinstance(check, ast.AsyncFunctionDef)


def _check_in(body: Sequence[ast.stmt]) -> Function | None:
    """Returns the only plain definition of check(), if no other code mentions it."""
    found = [one for one in body if isinstance(one, FUNCTIONS) and one.name == _CHECK]
    named = sum(
        isinstance(node, ast.Name) and node.id == _CHECK
        for one in body
        for node in syntax.walk(one)
    )
    if len(found) != 1 or named or found[0].decorator_list or len(found[0].args.args) > 1:
        return None
    return found[0]


def _names(body: Sequence[ast.stmt]) -> tuple[set[str], set[str]]:
    """Returns the names that statements use, and those that they bind anywhere."""
    used, bound = set[str](), set[str]()
    for node in (part for one in body for part in syntax.walk(one)):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                used.add(name)
            case ast.Name(id=name) | ast.arg(arg=name):
                bound.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                bound.add(name)
            case ast.ClassDef(name=name):
                bound.add(name)
            case ast.ExceptHandler(name=str(name)) | ast.MatchMapping(rest=str(name)):
                bound.add(name)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                bound.add(name)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                bound |= {one.asname or one.name.partition(".")[0] for one in aliases}
    return used, bound


def _globals(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Returns a `global` statement for names that an assert assigns, so that later ones see
    them."""
    bound = {
        node.id
        for one in body
        if isinstance(one, (ast.Assign, ast.AnnAssign, ast.AugAssign))
        for node in syntax.walk(one)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return [ast.Global(names=sorted(bound))] if bound else []


def _stored(body: Sequence[ast.stmt]) -> set[str]:
    return {
        node.id
        for one in body
        for node in syntax.walk(one)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }


def _case(methods: Sequence[ast.stmt], base: str) -> ast.ClassDef:
    (case,) = syntax.parse(f"class {_CLASS}(unittest.{base}):\n    pass").body
    assert isinstance(case, ast.ClassDef)
    case.body = list(methods) or case.body
    return case


def _split_future(body: Sequence[ast.stmt]) -> tuple[list[ast.stmt], list[ast.stmt]]:
    future: list[ast.stmt] = [
        one for one in body if isinstance(one, ast.ImportFrom) and one.module == "__future__"
    ]
    return future, [one for one in body if one not in future]
