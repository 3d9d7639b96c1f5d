"""Writes perturbed copies of the tests of a request, with a class for each kind of tests."""

from __future__ import annotations

import ast
import builtins
import json
import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from reward_server.domain import (
    CallTests,
    Checker,
    CheckerKind,
    FunctionTests,
    TestOutcome,
    TestResult,
    UnitTests,
)
from reward_server.grading import syntax
from reward_server.grading.python_tests.confirmation import constants
from reward_server.grading.python_tests.confirmation.helpers import Text
from reward_server.grading.python_tests.confirmation.observed import Body, ObservedText, body_of
from reward_server.grading.python_tests.confirmation.outcomes import (
    Deviation,
    Place,
    deviation,
    told,
)
from reward_server.grading.python_tests.literals import differs, varied
from reward_server.grading.syntax import FUNCTIONS, Function, dotted, without_call

_CHECK, _SCRIPT = "check", "test_code"  # the names that the judge uses
_SKIPPING = frozenset(("skip", "skipif", "xfail", "skipIf", "skipUnless", "expectedFailure"))
_TRIES = 20
_UNLIKELY = 1_618_033_988  # put beside a value that has no wrong variant, such as null


class Copies(Protocol):
    """Copies of tests in which some places are wrong."""

    @property
    def places(self) -> tuple[Place, ...]:
        """All places that can be made wrong."""

    @property
    def untold(self) -> frozenset[Place]:
        """The places that are made wrong without a call that tells the solution what is
        expected."""

    @property
    def telling(self) -> frozenset[Place]:
        """The places to leave out so that no assertion reveals what another one expects."""

    def expects_constants(self, *, or_arguments: bool = False) -> bool:
        """Returns True if all expected values are written in the assertions; see `constants`."""

    def perturbed(
        self, wrong: Collection[Place], draw: random.Random
    ) -> FunctionTests | CallTests | UnitTests:
        """Returns the tests with some places made wrong."""

    def compare(self, results: Sequence[TestResult], wrong: Collection[Place]) -> Deviation:
        """Compares the results of such tests with the results that they must have."""


class FunctionCopies:
    """Copies of `check(candidate)`, lists of asserts or scripts.

    Args:
        tests: the tests.
        passed: the names of the tests to confirm, as the judge names them.
    """

    def __init__(self, tests: FunctionTests, passed: frozenset[str]) -> None:
        self._tests = tests
        self._passed = passed
        self._heard = _foreign_names(tests)
        self._code = self._read_code()
        self._asserts = [
            self._read_script(text, f"assert {number}")
            for number, text in enumerate(tests.asserts, 1)
        ]

    def _read_code(self) -> ObservedText | None:
        if _CHECK not in self._passed:
            return self._read_script(self._tests.test_code, _SCRIPT)
        tree = _parsed(self._tests.test_code)
        checks = [one for one in _definitions(tree.body) if one.name == _CHECK] if tree else []
        if tree is None or len(checks) != 1:
            return None
        check = checks[0]
        if not isinstance(check, FUNCTIONS) or check.decorator_list:
            return None
        parameters = {one.arg for one in syntax.walk(check.args) if isinstance(one, ast.arg)}
        return _text(tree, [body_of(_CHECK, check, self._heard | parameters, {}, Text(tree))])

    def _read_script(self, text: str, name: str) -> ObservedText | None:
        tree = _parsed(text) if name in self._passed else None
        if tree is None:
            return None
        called = dict(_plain_functions(tree))
        return _text(tree, [body_of(name, tree, self._heard, called, Text(tree))])

    @property
    def places(self) -> tuple[Place, ...]:
        """All places that can be made wrong in the tests that passed."""
        return tuple(place for text in self._texts for place in text.places)

    @property
    def untold(self) -> frozenset[Place]:
        """See `Copies`."""
        return frozenset[Place]().union(*(text.untold for text in self._texts))

    @property
    def telling(self) -> frozenset[Place]:
        """See `Copies`."""
        return frozenset[Place]().union(*(text.telling for text in self._texts))

    def expects_constants(self, *, or_arguments: bool = False) -> bool:
        """See `Copies`."""
        tests, texts = self._tests, [self._tests.setup_code, self._tests.test_code]
        trees = [_parsed(text) for text in (*texts, *tests.asserts)]
        known = {tests.entry_point.partition("(")[0], "candidate"}
        check = next((_parameters(tree) for tree in trees if tree and _parameters(tree)), set())
        heard = frozenset(known | check)
        return all(
            tree is not None
            and constants.expects_constants(tree, heard, self._heard, or_arguments=or_arguments)
            for tree in trees
        )

    @property
    def _texts(self) -> list[ObservedText]:
        return [text for text in (self._code, *self._asserts) if text is not None]

    def perturbed(self, wrong: Collection[Place], draw: random.Random) -> FunctionTests:
        """Returns the tests with some places made wrong; see `Copies`."""
        code = self._tests.test_code if self._code is None else self._code.written(wrong, draw)
        asserts = [
            text if observed is None else observed.written(wrong, draw)
            for text, observed in zip(self._tests.asserts, self._asserts, strict=True)
        ]
        return replace(self._tests, test_code=code, asserts=tuple(asserts))

    def compare(self, results: Sequence[TestResult], wrong: Collection[Place]) -> Deviation:
        """Compares outcomes; see `Copies`."""
        bodies = [body for text in self._texts for body in text.bodies]
        return _compared(bodies, results, wrong, self._passed)


class FileCopies:
    """Copies of test files that an isolated judge runs.

    Args:
        tests: the files.
        heard: the names that they take from the solution.
        passed: the names of the tests to confirm, with their rows.
    """

    def __init__(self, tests: UnitTests, heard: frozenset[str], passed: frozenset[str]) -> None:
        self._tests = tests
        self._heard = heard
        self._passed = passed
        self._texts: dict[str, ObservedText] = {}
        bases = frozenset(map(_base_name, passed))
        for path, text in tests.files:
            tree = _parsed(text) if path.endswith(".py") else None
            bodies = () if tree is None else _bodies_in(tree, path, heard, bases)
            observed = None if tree is None else _text(tree, bodies)
            if observed is not None:
                self._texts[path] = observed

    @property
    def places(self) -> tuple[Place, ...]:
        """All places that can be made wrong."""
        return tuple(place for text in self._texts.values() for place in text.places)

    @property
    def untold(self) -> frozenset[Place]:
        """See `Copies`."""
        return frozenset[Place]().union(*(text.untold for text in self._texts.values()))

    @property
    def telling(self) -> frozenset[Place]:
        """See `Copies`."""
        return frozenset[Place]().union(*(text.telling for text in self._texts.values()))

    def expects_constants(self, *, or_arguments: bool = False) -> bool:
        """See `Copies`."""
        trees = [
            _parsed(text) if path.endswith(".py") else None for path, text in self._tests.files
        ]
        return all(
            tree is not None
            and constants.expects_constants(tree, self._heard, or_arguments=or_arguments)
            for tree in trees
        )

    def perturbed(self, wrong: Collection[Place], draw: random.Random) -> UnitTests:
        """Returns the files with some places made wrong; see `Copies`."""
        files = [
            (path, self._texts[path].written(wrong, draw) if path in self._texts else text)
            for path, text in self._tests.files
        ]
        return replace(self._tests, files=tuple(files))

    def compare(self, results: Sequence[TestResult], wrong: Collection[Place]) -> Deviation:
        """Compares outcomes, also of each row of parametrised tests; see `Copies`."""
        bodies = [body for text in self._texts.values() for body in text.bodies]
        return _compared(bodies, results, wrong, self._passed)


class CallCopies:
    """Copies of calls, some of which expect another result.

    Args:
        tests: the calls.
        names: the name of each call.
        passed: the names of the calls to confirm.
    """

    def __init__(self, tests: CallTests, names: Sequence[str], passed: frozenset[str]) -> None:
        self._tests = tests
        self._names = names
        self._passed = passed

    @property
    def places(self) -> tuple[Place, ...]:
        """The cases that passed."""
        return tuple(
            Place(test=name, assertion=0, site=0) for name in self._names if name in self._passed
        )

    @property
    def untold(self) -> frozenset[Place]:
        """No places: a case does not reveal what it expects."""
        return frozenset()

    @property
    def telling(self) -> frozenset[Place]:
        """No places, as above."""
        return frozenset()

    def expects_constants(self, *, or_arguments: bool = False) -> bool:
        """Returns True, since a case expects data."""
        return True

    def perturbed(self, wrong: Collection[Place], draw: random.Random) -> CallTests:
        """Returns the calls, some of which expect a wrong result; see `Copies`."""
        chosen, checker = {place.test for place in wrong}, self._tests.checker
        cases = [
            replace(case, expected_json=_other_json(case.expected_json, checker, draw))
            if name in chosen
            else case
            for name, case in zip(self._names, self._tests.cases, strict=True)
        ]
        return replace(self._tests, cases=tuple(cases))

    def compare(self, results: Sequence[TestResult], wrong: Collection[Place]) -> Deviation:
        """Compares outcomes; see `Copies`."""
        chosen, total = {place.test for place in wrong}, Deviation()
        outcomes = {name: test.outcome for name, test in zip(self._names, results, strict=False)}
        for place in self.places:
            outcome = outcomes.get(place.test, TestOutcome.NOT_RUN)
            expected = TestOutcome.FAILED if place.test in chosen else TestOutcome.PASSED
            if outcome is not expected:
                lied = outcome is TestOutcome.PASSED
                total += Deviation(passed=int(lied), other=int(not lied))
        return total


def _other_json(text: str, checker: Checker, draw: random.Random) -> str:
    """Returns another expected result, which no checker considers equal to the true one."""
    try:
        value = json.loads(text)
    except ValueError:  # an integer that only the judge reads
        return f"[{text}, {_UNLIKELY}]"
    far = checker.kind is CheckerKind.FLOAT
    is_lax = far and (checker.absolute_tolerance > 0.5 or checker.relative_tolerance > 0.1)
    for _ in range(0 if value is None or is_lax else _TRIES):
        made = varied(value, draw, far=far)
        if differs(value, made, far=far) and made != value:
            return json.dumps(made)
    return json.dumps([value, _UNLIKELY])


def _compared(
    bodies: Sequence[Body],
    results: Sequence[TestResult],
    wrong: Collection[Place],
    passed: Collection[str],
) -> Deviation:
    """Compares the outcome of each test that passed before, and of each of its rows."""
    said, total = {result.name: told(result) for result in results}, Deviation()
    for body in bodies:
        rows = [said.get(name) for name in passed if _base_name(name) == body.test]
        for row in rows:
            total += deviation(body.test, body.assertions, row, wrong)
        total += Deviation(silent=int(not any(row is None or any(row) for row in rows)))
    return total


def _base_name(name: str) -> str:
    """Returns a test's name without its row and its number among tests of the same name."""
    return name.partition("[")[0].partition("#")[0]


# ---------------------------------------------------------------------------------- reading


def _parsed(text: str) -> ast.Module | None:
    try:
        return syntax.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _text(tree: ast.Module, bodies: Sequence[Body | None]) -> ObservedText | None:
    found = [body for body in bodies if body is not None]
    return ObservedText(tree, found) if found else None


def _parameters(tree: ast.Module) -> set[str]:
    """Returns the parameters of `check`."""
    checks = [one for one in tree.body if isinstance(one, FUNCTIONS) and one.name == _CHECK]
    return {one.arg for check in checks for one in check.args.args}


def _definitions(body: Sequence[ast.stmt]) -> list[Function | ast.ClassDef]:
    return [one for one in body if isinstance(one, (*FUNCTIONS, ast.ClassDef))]


def _plain_functions(tree: ast.Module) -> Iterator[tuple[str, Sequence[ast.stmt]]]:
    """Yields functions without parameters that a script calls once, in a separate statement."""
    names = [node.id for node in syntax.walk(tree) if isinstance(node, ast.Name)]
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.decorator_list:
            has_parameters = any(isinstance(one, ast.arg) for one in syntax.walk(node.args))
            if not has_parameters and names.count(node.name) == 1:
                yield node.name, node.body


def _foreign_names(tests: FunctionTests) -> frozenset[str]:
    """Returns the names that the tests use and do not define."""
    used, bound = {tests.entry_point.partition("(")[0], "candidate"}, set[str]()
    for text in (tests.setup_code, tests.test_code, *tests.asserts):
        for node in syntax.walk(_parsed(text) or ast.Module(body=[], type_ignores=[])):
            match node:
                case ast.Name(id=name, ctx=ast.Load()):
                    used.add(name)
                case ast.Name(id=name) | ast.arg(arg=name):
                    bound.add(name)
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    bound.add(name)
                case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                    bound |= {one.asname or one.name.partition(".")[0] for one in aliases}
    return frozenset(used - bound - set(vars(builtins)) | {"candidate"})


def _bodies_in(
    tree: ast.Module, path: str, heard: frozenset[str], passed: frozenset[str]
) -> list[Body | None]:
    text = Text(tree)
    return [
        body_of(f"{path}::{name}", function, heard, {}, text)
        for name, function in _tests_in(tree)
        if f"{path}::{name}" in passed
    ]


def _tests_in(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    for node in _definitions(tree.body):
        if isinstance(node, ast.ClassDef):
            for method in _definitions(node.body):
                if isinstance(method, FUNCTIONS) and _is_test(method, node.body):
                    yield f"{node.name}::{method.name}", method
        elif _is_test(node, tree.body):
            yield node.name, node


def _is_test(function: Function, siblings: Sequence[ast.stmt]) -> bool:
    alike = [one for one in _definitions(siblings) if one.name == function.name]
    return (
        function.name.startswith("test")
        and len(alike) == 1
        and all(map(_is_harmless, function.decorator_list))
    )


def _is_harmless(decorator: ast.expr) -> bool:
    """Returns True for a decorator that runs a test once for each row and hides no failure."""
    name = dotted(without_call(decorator))
    parts = name.split(".")
    return ("mark" in parts or "patch" in parts) and parts[-1] not in _SKIPPING
