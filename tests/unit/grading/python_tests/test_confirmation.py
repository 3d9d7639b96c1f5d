"""Perturbed copies fail where they were made wrong, whatever form honest tests have."""

from __future__ import annotations

import asyncio
import random
import textwrap
from collections.abc import Callable, Iterator
from typing import Any, cast

import numpy as np
import pytest

from reward_server.domain import (
    CallCase,
    CallTests,
    Checker,
    CheckerKind,
    FunctionTests,
    TestOutcome,
    TestResult,
)
from reward_server.grading.python_tests.confirmation import CallCopies, Deviation, FunctionCopies
from reward_server.runner.judge.tests import compare
from tests.support.sampling import times

PAIRS = times(20, by_default=6)
SOLUTION = """
    class Stack:
        def __init__(self, values=()):
            self.values = list(values)
        def push(self, value):
            if value is None:
                raise ValueError("none")
            self.values.append(value)
            return self
        def pop(self):
            return self.values.pop()
        def peek(self):
            return self.values[-1] if self.values else None
        def is_empty(self):
            return not self.values
        def mean(self):
            return sum(self.values) / len(self.values)
        def total(self):
            return sum(self.values)
        async def later(self):
            return len(self.values)
        def __eq__(self, other):
            return isinstance(other, Stack) and other.values == self.values
        def __hash__(self):
            return 1
        def __lt__(self, other):
            return self.values < other.values
        def __len__(self):
            return len(self.values)
        def __contains__(self, value):
            return value in self.values
        def __bool__(self):
            return bool(self.values)
"""

# Bodies of `check(Stack)`, and how many assertions can be made wrong.
BODIES: dict[str, tuple[str, int]] = {
    "state that grows": (
        """
        s = Stack()
        s.push(1)
        assert s.pop() == 1
        assert len(s) == 0
        s.push(2); s.push(3)
        assert s.pop() + s.pop() == 5, "message"
        """,
        3,
    ),
    "conditions without a literal": (
        """
        s = Stack()
        assert s.is_empty()
        assert not s.push(1).is_empty()
        assert 1 in s and 2 not in s
        assert Stack([1]) < Stack([2])
        assert s.peek() is not None
        assert Stack().peek() is None
        """,
        6,
    ),
    "equality of the solution's own objects": (
        """
        assert Stack([1]) == Stack([1])
        assert Stack([1]) != Stack([2])
        assert len({Stack(), Stack()}) == 1
        """,
        3,
    ),
    "a table": (
        """
        for values, total, top in [([1, 2], 3, 2), ([], 0, None), ([5], 5, 5)]:
            s = Stack(values)
            assert s.total() == total
            assert s.peek() == top
        """,
        6,
    ),
    "a table under a name": (
        """
        cases = [([1, 2], 3), ([4], 4)]
        for values, total in cases:
            with context():
                assert Stack(values).total() == total
        """,
        2,
    ),
    "loops in loops": (
        """
        for first in (1, 2):
            for second, total in ((3, 3), (4, 4)):
                s = Stack([second])
                assert s.total() == total
                assert len(s) == 1
        """,
        2,
    ),
    "a loop that breaks": (
        """
        for value in range(10):
            s = Stack([value])
            if value > 3:
                break
            assert s.total() < 4
            assert s.pop() == value
        """,
        2,
    ),
    "a loop that does not run": (
        """
        for value in Stack().values:
            assert value == 1
        while Stack().values:
            assert Stack() == 1
        assert Stack().total() == 0
        """,
        3,
    ),
    "a branch": (
        """
        s = Stack([1])
        if s:
            assert s.total() == 1
        else:
            assert s.total() == 2
        """,
        2,
    ),
    "an exception caught by hand": (
        """
        s = Stack()
        try:
            s.push(None)
            assert False, "no exception"
        except ValueError as error:
            assert str(error) == "none"
        try:
            assert s.total() == 1
        except AssertionError:
            s.push(1)
        assert s.total() == 1
        """,
        1,
    ),
    "a finally": (
        """
        s = Stack()
        try:
            assert s.push(1).total() == 1
        finally:
            s.push(2)
        assert s.total() == 3
        """,
        2,
    ),
    "tolerances": (
        """
        import math
        s = Stack([1.0, 2.0])
        assert abs(s.mean() - 1.5) < 1e-6
        assert math.isclose(s.mean(), 1.5, rel_tol=1e-6)
        assert abs(s.mean() - s.mean()) <= 1e-9
        assert s.mean() == s.total() / 2
        assert round(s.mean(), 1) == 1.5
        """,
        5,
    ),
    "an expected value that is computed": (
        """
        def reference(values):
            return sum(values)
        import random
        for _ in range(5):
            values = [random.randrange(100) for _ in range(5)]
            expected = reference(values)
            assert Stack(values).total() == expected
            assert reference(values) == Stack(values).total()
        """,
        2,
    ),
    "a value that is expected and used": (
        """
        top = 7
        s = Stack([1, top])
        assert s.pop() == top
        expected = [1]
        assert s.values == expected
        """,
        2,
    ),
    "an assignment in an assertion": (
        """
        s = Stack([1, 2])
        assert (top := s.pop()) == 2
        assert s.pop() == top - 1
        """,
        2,
    ),
    "truth values": (
        """
        assert Stack().is_empty() is True
        assert Stack([1]).is_empty() == False
        assert isinstance(Stack(), Stack)
        assert hasattr(Stack(), "push")
        """,
        4,
    ),
    "a helper that asserts": (
        """
        def same(s, values):
            assert s.values == values
        same(Stack([1]), [1])
        try:
            same(Stack([1]), [2])
        except AssertionError:
            pass
        assert Stack([1]).total() == 1
        """,
        2,
    ),
    "helpers that call each other": (
        """
        import pytest
        def each(values, n=2):
            for value in values:
                whole(Stack([value]), value)
            if n:
                each(values, n=n - 1)
        def whole(s, total):
            assert s.total() == total
            return s
        def fails(kind, function, *args):
            with pytest.raises(kind):
                function(*args)
        def ordered(values):
            return all(a <= b for a, b in zip(values, values[1:]))
        each([1, 2])
        assert whole(Stack([3]), 3).peek() == 3
        fails(ValueError, Stack().push, None)
        fails(IndexError, Stack().pop)
        assert ordered(Stack([1]).values) and not ordered(Stack([2, 1]).values)
        """,
        3,
    ),
    "texts and tables of other kinds": (
        """
        s = Stack(["a"])
        assert s.values == ["a"]
        assert {"k": s.pop()} == {"k": "a"}
        assert (s.total(), 1) == (0, 1)
        assert {len(s)} == {0}
        assert str(s.peek()) == "None"
        assert b"x" * len(s) == b""
        """,
        6,
    ),
    "an aggregate": (
        """
        assert all(Stack([x]).total() == x for x in range(5))
        assert sum(Stack([x]).total() for x in range(3)) == 3
        assert [len(Stack(range(x))) for x in range(3)] == [0, 1, 2]
        assert max(map(len, [Stack(), Stack([1])])) == 1
        """,
        4,
    ),
    "a chain": (
        """
        assert 0 <= Stack([1]).total() <= 2
        assert Stack([1]).total() == len(Stack([1])) == 1
        """,
        2,
    ),
}


class _Context:
    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...


def results_of(tests: FunctionTests, solution: type, *, is_async: bool = False) -> list[TestResult]:
    """Runs a check as the judge does."""
    scope: dict[str, Any] = {"context": _Context, "Stack": solution}
    exec(tests.test_code, scope)
    try:
        result = scope["check"](solution)
        if is_async:
            asyncio.run(result)
    except Exception as error:  # noqa: BLE001  # whatever tests raise
        message = str(error) if isinstance(error, AssertionError) else repr(error)
        return [TestResult(name="check", outcome=TestOutcome.FAILED, message=message)]
    return [TestResult(name="check", outcome=TestOutcome.PASSED)]


def check_of(body: str, keyword: str = "def") -> FunctionTests:
    code = f"{keyword} check(Stack):\n" + textwrap.indent(textwrap.dedent(body).strip(), "    ")
    return FunctionTests(entry_point="Stack", test_code=code)


def honest() -> type:
    scope: dict[str, Any] = {}
    exec(textwrap.dedent(SOLUTION), scope)
    kind: type = scope["Stack"]
    return kind


def deviations(
    tests: FunctionTests,
    solution: Callable[[], type],
    *,
    is_async: bool = False,
    count: int = PAIRS,
) -> Iterator[Deviation]:
    """Compares perturbed copies, each with its other half."""
    copies, draw = FunctionCopies(tests, frozenset({"check"})), random.Random(5)
    for _ in range(count):
        half = frozenset(place for place in copies.places if draw.getrandbits(1))
        for wrong in (half, frozenset(copies.places) - half):
            written = copies.perturbed(wrong, draw)
            assert isinstance(written, FunctionTests)
            yield copies.compare(results_of(written, solution(), is_async=is_async), wrong)


@pytest.mark.parametrize(("body", "count"), BODIES.values(), ids=BODIES)
def test_an_honest_solution_fails_exactly_what_is_wrong(body: str, count: int) -> None:
    tests = check_of(body)
    assert results_of(tests, honest())[0].outcome is TestOutcome.PASSED
    assert len(FunctionCopies(tests, frozenset({"check"})).places) == count
    assert not any(deviations(tests, honest))


def test_coroutines_are_observed_too() -> None:
    tests = check_of("assert await Stack([1]).later() == 1", "async def")
    assert not any(deviations(tests, honest, is_async=True))


class Equal:
    """An object that equals and is all that one may ask."""

    def __init__(self, *_: object) -> None: ...
    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False

    __hash__ = None  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *_: object) -> Equal:
        return self


@pytest.mark.parametrize(
    "assertion",
    [
        "assert Stack().total() == 0",
        "assert 'text' == Stack().peek()",
        "assert Stack().total() == sum([1, 2])",
        "expected = len('abc')\nassert expected == Stack().total()",
        "total = Stack().total()\nexpected = max(1, 2)\nassert expected == total",
        "for values, total in [([1], 1), ([2], 2)]:\n    assert Stack(values).total() == total",
        "for value in range(3):\n    assert Stack([value]).total() == value",
        "assert not Stack().total() != 0\nassert Stack().total() == [0]",
    ],
)
def test_what_equals_everything_passes_what_is_wrong(assertion: str) -> None:
    tests = check_of(assertion)
    assert results_of(tests, Equal)[0].outcome is TestOutcome.PASSED
    found = list(deviations(tests, lambda: Equal))
    assert all(
        one.passed or other.passed for one, other in zip(found[::2], found[1::2], strict=True)
    )


@pytest.mark.parametrize("row", range(4))
def test_one_lie_among_the_rows_of_a_table_is_found_by_every_pair(row: int) -> None:
    tests = check_of(
        """
        for values, total in [([1], 1), ([2], 2), ([3], 3), ([4], 4)]:
            assert Stack(values).total() == total
        """
    )

    class Liar:
        def __init__(self, values: list[int]) -> None:
            self.values = values

        def total(self) -> object:
            return Equal() if self.values == [row + 1] else sum(self.values)

    found = list(deviations(tests, lambda: Liar))
    assert all(
        one.passed + other.passed == 1 for one, other in zip(found[::2], found[1::2], strict=True)
    )


def test_structures_that_are_compared_by_a_helper_expect_another_list() -> None:
    tests = check_of("assert is_same_list(Stack(), list_node([1, 2, 3]))")
    copies = FunctionCopies(tests, frozenset({"check"}))
    written = copies.perturbed(copies.places, random.Random(1))
    assert isinstance(written, FunctionTests)
    assert "assert is_same_list(Stack(), list_node([" in written.test_code
    assert "[1, 2, 3]" not in written.test_code


@pytest.mark.parametrize(
    "body",
    [
        "return\nassert Stack() == 1",
        "yield Stack()\nassert Stack() == 1",
        "pass",
        "assert True",
        "if Stack():\n    return\nassert Stack() == 1",
    ],
)
def test_bodies_that_may_end_early_or_assert_nothing_are_left_alone(body: str) -> None:
    copies = FunctionCopies(check_of(body), frozenset({"check"}))
    assert copies.places == ()


def test_only_tests_that_passed_are_changed() -> None:
    tests = FunctionTests(test_code="def helper(): pass", asserts=("assert f() == 1", "assert g()"))
    copies = FunctionCopies(tests, frozenset({"assert 2"}))
    written = copies.perturbed(copies.places, random.Random(1))
    assert isinstance(written, FunctionTests)
    assert (written.test_code, written.asserts[0]) == (tests.test_code, tests.asserts[0])
    assert "not g()" in written.asserts[1]


@pytest.mark.parametrize(
    "checker",
    [
        Checker(kind=CheckerKind.FLOAT, absolute_tolerance=0.5),
        Checker(kind=CheckerKind.FLOAT, absolute_tolerance=1e9, relative_tolerance=10.0),
        Checker(kind=CheckerKind.TOKENS),
        Checker(kind=CheckerKind.CASE_INSENSITIVE),
        Checker(kind=CheckerKind.UNORDERED_LINES),
        Checker(),
    ],
)
@pytest.mark.parametrize(
    "expected",
    ["1", "1.5", '"a b"', '""', "[1, 2]", "[]", "null", "true", '{"a": 1}', "{}", "[[]]"],
)
def test_no_checker_takes_the_other_result_for_the_true_one(
    checker: Checker, expected: str
) -> None:
    import json

    tests = CallTests(
        entry_point="f", cases=(CallCase(args_json="[]", expected_json=expected),), checker=checker
    )
    copies = CallCopies(tests, ["case 1"], frozenset({"case 1"}))
    same = compare.checker(
        checker.kind.name,
        absolute_tolerance=checker.absolute_tolerance,
        relative_tolerance=checker.relative_tolerance,
    )
    for seed in range(50):
        written = copies.perturbed(copies.places, random.Random(seed))
        assert isinstance(written, CallTests)
        other = json.loads(written.cases[0].expected_json)
        assert not same(other, json.loads(expected))


# Comparisons by numpy, and by the elements of the shorter side: an assertion, the right answer.
BROADCAST: dict[str, tuple[str, object]] = {
    "allclose": ("assert np.allclose(Stack(), [1.0, 2.0])", [1.0, 2.0]),
    "allclose, computed": ("e = np.sqrt(4.0)\nassert np.allclose(Stack(), e)", 2.0),
    "testing": ("np.testing.assert_allclose(Stack(), 5.0)", 5.0),
    "testing, computed": ("np.testing.assert_array_equal(Stack(), len('abc'))", 3),
    "approx": ("assert Stack() == pytest.approx(3.5)", 3.5),
    "approx, computed": ("assert Stack() == pytest.approx(max(2, 3))", 3),
    "all": ("assert (Stack() == np.array([1, 2])).all()", np.array([1, 2])),
    "a sum": ("assert np.abs(Stack() - np.array([1, 2])).sum() < 1e-9", np.array([1, 2])),
    "a norm": ("d = Stack() - np.ones(2)\nassert np.linalg.norm(d) < 1e-9", np.ones(2)),
    "a count": ("assert np.count_nonzero(Stack() != np.ones(2)) == 0", np.ones(2)),
    "zip": ("assert all(a == b for a, b in zip(Stack(), [1, 2]))", [1, 2]),
    "a loop of zip": ("for a, b in zip(Stack(), [1, 2]):\n    assert a == b", [1, 2]),
    "not any": ("assert not any(a != b for a, b in zip(Stack(), [1, 2]))", [1, 2]),
    "a helper": ("def same(a, b):\n    assert np.allclose(a, b)\nsame(Stack(), 2.0)", 2.0),
    "an answering helper": (
        "def same(a, b):\n    return np.allclose(b=b, a=a)\nassert same(b=2.0, a=Stack())",
        2.0,
    ),
}
VACUOUS = (np.empty((0, 1)), np.array([]), [], np.empty((0, 2)))
EMPTY: dict[str, str] = {
    "allclose": "assert np.allclose(Stack(), [])",
    "testing": "np.testing.assert_allclose(Stack(), [])",
    "approx": "assert list(Stack()) == [] and Stack() == pytest.approx(np.array([]))",
    "all": "assert (Stack() == np.zeros(0)).all()",
    "either": "assert Stack().size == 0 or (Stack() == np.ones(2)).all()",
    "rows": "for e in [[], []]:\n    assert np.allclose(Stack(), e)",
}


def _answering(value: object) -> Callable[..., object]:
    return lambda *_: value


def _numpy_check(body: str) -> FunctionTests:
    return check_of("import numpy as np\nimport pytest\n" + body)


@pytest.mark.parametrize(("body", "answer"), BROADCAST.values(), ids=BROADCAST)
def test_an_empty_answer_passes_what_is_wrong(body: str, answer: object) -> None:
    tests = _numpy_check(body)
    assert not any(deviations(tests, lambda: cast("type", _answering(answer)), count=3))
    for empty in VACUOUS:
        lie = cast("type", _answering(empty))
        if results_of(tests, lie)[0].outcome is TestOutcome.PASSED:
            found = list(deviations(tests, _answering(lie), count=1))
            assert all(map(bool.__or__, map(bool, found[::2]), map(bool, found[1::2])))


@pytest.mark.parametrize("body", EMPTY.values(), ids=EMPTY)
def test_an_honest_answer_may_be_empty(body: str) -> None:
    tests = _numpy_check(body)
    answer = cast("type", _answering(np.zeros(0)))
    assert results_of(tests, answer)[0].outcome is TestOutcome.PASSED
    assert not any(deviations(tests, lambda: answer, count=3))


@pytest.mark.parametrize("question", ["assert 7 in Stack()", "s = Stack()\nassert f(7) in s"])
def test_a_question_that_tells_the_answer_can_be_left_out(question: str) -> None:
    tests = check_of(f"f = max\n{question.replace('f(7)', 'f(3, 7)')}\nassert Stack().peek() == 7")
    asked: list[object] = []

    class Told:
        def __contains__(self, value: object) -> bool:
            asked.append(value)
            return True

        def peek(self) -> object:
            return asked[-1] if asked else None

    copies = FunctionCopies(tests, frozenset({"check"}))
    assert len(copies.untold) == 1
    written = copies.perturbed(copies.untold, random.Random(1))
    assert isinstance(written, FunctionTests)
    assert copies.compare(results_of(written, Told), copies.untold)
    assert not asked
