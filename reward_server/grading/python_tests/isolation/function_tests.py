"""Writes function tests as a test file that can run in the solution's process.

Some tests need the solution itself: they subclass its classes, read its code, or patch what it
uses. As a file of unittest they run in its process and get twins (perturbed copies), as other such
files do.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from reward_server.domain import Framework, FunctionTests, Placement, UnitTests
from reward_server.grading import syntax
from reward_server.grading.python_tests.isolation import (
    kinds,
    own_classes,
    policy,
    process_state,
    prompt_state,
    solution_classes,
)
from reward_server.grading.python_tests.isolation.abridged import abridge
from reward_server.grading.python_tests.isolation.test_files import Reading, read_suite
from reward_server.grading.syntax import FUNCTIONS, IMPORTS, Function
from reward_server.recent import Recent

PATH, SOLUTION_PATH = "test_solution.py", "solution.py"
_CHECK, _SCRIPT = "check", "test_code"
_CLASS = "TestSolution"
# Without one of these words, or of `_NAMES`, no rule in `test_files` and `solution_classes` finds a
# reason.
_TRIGGERS = re.compile(
    r"\b(?:import|class|type|open|Path|vars|exec|eval|compile|help|setattr|delattr|reload"
    r"|SystemExit|KeyboardInterrupt|GeneratorExit|BaseException|SkipTest|signature|seed|register)\b"
    r"|set[a-z_]+\(|_time(?:_ns)?\(|chdir|umask"
    r"|__[a-z]|patch|get[a-z]+\(|redirect_|solution|asdict|astuple|is_dataclass|[Ww]arn|[Ll]ogs"
    r"|asyncio|AsyncMock|async\s+def|\.a?throw\(|ExceptionGroup|except\s*\*"
    r"|\n[ \t]*(?:with|match)\s|\bproperty\b|staticmethod|classmethod"
    r"|issubclass|Stop[A-Za-z]*Iteration|\b[A-Z](?:\w*[a-z]\w*)?[.\[(]"
    r"|\bis\s+(?:not\s+)?(?!True\b|False\b|None\b)[A-Za-z_]|\bassertIs(?:Not)?\("
    r"|\b(?:map|filter|zip|enumerate|reversed)\b(?!\s*\()|\bdel\s+\w|=\s*None\b"
)
_NAMES = re.compile(rf"\b(?:{'|'.join(sorted(policy.NAMES))})\b")
_OWNERS = re.compile(r"\b([a-z_]\w*+)\.")
_WATCHED = process_state.WATCHED | {"np", "numpy"}
# All completions of a task have the same tests, and a text remembers its own hash.
_KEPT_BYTES, _BYTES_OF_CHARACTER = 64 << 20, 4
_found = Recent[bool](_KEPT_BYTES)
_BUILTINS = frozenset(vars(builtins))
_LONG_CHARACTERS = 1 << 15
# Reasons that the rules for test files find, and that do not count for function tests, because
# the judge of function tests can answer in these cases.
_ISOLATED_REASONS = policy.PROXIES_CAN | {
    *("uses dataclasses", "calls seed()", "calls setrecursionlimit()"),
    *("calls set_int_max_str_digits()", kinds.ASKED),
}
# These count in a prompt, since a prompt's settings do not reach the solution's process.
_PROMPT_REASONS = frozenset(
    ("calls seed()", "calls setrecursionlimit()", "calls set_int_max_str_digits()")
)
# Reasons that do not count in a prompt: objects of its classes are the same in both processes.
_OF_TESTS_ALONE = (_ISOLATED_REASONS - _PROMPT_REASONS) | own_classes.REASONS


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionFile:
    """Function tests as a test file.

    Args:
        tests: the file. Large literals are short in it if nobody needs it, since there are no
            reasons, and the request does not ask for it.
        names: from the name of a test in the file to its name in the judge of function tests.
        reasons: why the tests need the solution's process; none if they do not.
    """

    tests: UnitTests
    names: dict[str, str]
    reasons: tuple[str, ...]


def function_file(tests: FunctionTests, prompt: str) -> FunctionFile | None:
    """Writes function tests as a test file; returns None if that is impossible.

    Args:
        tests: the tests.
        prompt: trusted code before the solution, whose helpers the tests may use. The file has
            copies of the helpers, unless the prompt is a reason why the tests need the solution's
            process.
    """
    texts = (tests.setup_code, tests.test_code, *tests.asserts)
    seen = prompt_state.seen_by(prompt, tests.entry_point, texts)
    try:
        of_prompt = (
            *seen.reasons,
            *_reasons_of_prompt(tests, seen),
            *prompt_state.of_ends(prompt),
        )
        given = seen.imports if of_prompt else (*seen.imports, *_helpers(tests, seen))
        text, names = _Writer(tests, given).text(is_short=True)
        trees = {PATH: syntax.parse(text)}
        reading = read_suite(trees, [(PATH, text)], SOLUTION_PATH)
        wanted = reading.wanted - (prompt_state.whole_classes(prompt) - {_owner(tests.entry_point)})
        of_classes = solution_classes.reasons(trees.values(), wanted)
        reasons = dict.fromkeys((*_needed(reading.reasons, tests), *of_classes, *of_prompt))
        if reasons or tests.placement is Placement.BESIDE:
            text, names = _Writer(tests, given).text()
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    files = ((PATH, text),)
    return FunctionFile(
        tests=UnitTests(framework=Framework.UNITTEST, files=files, solution_path=SOLUTION_PATH),
        names={f"{PATH}::{_CLASS}::{method}": name for method, name in names.items()},
        reasons=tuple(reasons),
    )


def may_need_solution(tests: FunctionTests, prompt: str = "") -> bool:
    """Returns False if no rule can apply to tests or to a prompt's code; parses neither."""
    texts = (tests.setup_code, tests.test_code, *tests.asserts)
    if any(map(_has_trigger, texts)):
        return True
    return bool(prompt) and _prompt_has_trigger(prompt, tests.entry_point, texts)


def _prompt_has_trigger(prompt: str, entry_point: str, texts: tuple[str, ...]) -> bool:
    size = len(prompt) + sum(map(len, texts))
    if size > _LONG_CHARACTERS:
        return True  # a long text is read in a thread

    def read() -> bool:
        seen = prompt_state.seen_by(prompt, entry_point, texts)
        code = "\n".join(map(ast.unparse, seen.statements))
        has_reason = bool(seen.reasons or prompt_state.of_ends(prompt))
        return has_reason or (bool(code) and _has_trigger(code))

    return _found.find((prompt, entry_point, *texts), _BYTES_OF_CHARACTER * size, read)


def _helpers(tests: FunctionTests, seen: prompt_state.Seen) -> Iterator[ast.stmt]:
    """Yields the functions of a prompt other than the entry point."""
    owner = _owner(tests.entry_point)
    for one in seen.statements:
        if isinstance(one, FUNCTIONS) and owner and one.name != owner:
            yield one


def _reasons_of_prompt(tests: FunctionTests, seen: prompt_state.Seen) -> Iterator[str]:
    """Yields the reasons that the rules for test files find in a prompt's code."""
    if seen.statements:
        before = _reading(tests, seen.imports).reasons
        for reason in _reading(tests, seen.statements, seen.functions).reasons:
            if reason not in before and reason not in _OF_TESTS_ALONE:
                yield f"the prompt's code {reason}"


def _reading(
    tests: FunctionTests, given: Sequence[ast.stmt], heard_by: frozenset[str] = frozenset()
) -> Reading:
    text, _ = _Writer(tests, given).text(is_short=True)
    return read_suite({PATH: syntax.parse(text)}, [(PATH, text)], SOLUTION_PATH, heard_by)


def _has_trigger(text: str) -> bool:
    def read() -> bool:
        is_watched = not _WATCHED.isdisjoint(_OWNERS.findall(text))
        return is_watched or any(one.search(text) is not None for one in (_TRIGGERS, _NAMES))

    return _found.find(text, _BYTES_OF_CHARACTER * len(text), read)


def _needed(reasons: Iterable[str], tests: FunctionTests) -> Iterator[str]:
    text = "\n".join((tests.setup_code, tests.test_code, *tests.asserts))
    for reason in reasons:
        if reason == "uses inspect" and _only_signatures(text):
            continue
        if reason not in _ISOLATED_REASONS:
            yield reason


def _only_signatures(text: str) -> bool:
    """Returns True if a text uses only names of `inspect` for which proxies answer."""
    used = {
        node.attr
        for node in syntax.walk(syntax.parse(text))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "inspect"
    }
    return bool(used) and used <= {"signature", "getdoc", "Parameter"}


class _Writer:
    """Writes one file.

    Args:
        tests: see `function_file`.
        prompt: the statements of the prompt's code in the file.
    """

    def __init__(self, tests: FunctionTests, prompt: Sequence[ast.stmt]) -> None:
        self._entry_point = tests.entry_point
        self._setup = syntax.parse(tests.setup_code).body
        self._code = syntax.parse(tests.test_code).body
        self._asserts = [syntax.parse(text).body for text in tests.asserts]
        self._prompt = list(prompt)
        self._given: list[ast.stmt] = []

    def text(self, *, is_short: bool = False) -> tuple[str, dict[str, str]]:
        """Returns the file's text, and the name of the test in each method; call it once.

        Args:
            is_short: whether large literals are shortened; see `abridged`.
        """
        if is_short:
            for one in (*self._setup, *self._code, *chain.from_iterable(self._asserts)):
                abridge(one)
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
        elif _checks(self._code):
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
        owner = _owner(self._entry_point)
        foreign |= {owner} if owner else set()
        modules = {name for name in foreign if name in sys.stdlib_module_names and name != owner}
        taken = sorted(foreign - modules - {"candidate"})
        lines = ["import unittest", *(f"import {name}" for name in sorted(modules))]
        lines += [f"from solution import {', '.join(taken)}"] if taken else []
        lines += [f"candidate = {self._entry_point}"] if "candidate" in foreign else []
        return syntax.parse("\n".join(lines)).body


def _owner(entry_point: str) -> str:
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


def _checks(body: Sequence[ast.stmt]) -> bool:
    """Returns True if statements assert or call something outside of functions and classes."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            continue
        if isinstance(node, ast.Assert):
            return True
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            return True
        waiting += syntax.children(node)
    return False


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
            case ast.ExceptHandler(name=str(name)):
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
