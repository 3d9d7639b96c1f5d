"""A twin fails where it was made wrong, and nowhere else, whatever the values and assertions."""

from __future__ import annotations

import ast
import random
import sys
import types
import unittest
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reward_server.domain import Framework
from reward_server.grading.perturbable import Unit
from reward_server.grading.python_literals import differs, evaluated, literal, stands_in, varied
from reward_server.grading.suites import parse_files
from reward_server.grading.twins import Twins
from tests.honest.solution import code
from tests.honest.suites import TOGETHER, UNITTEST

PATH = "test_f.py"
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(-1e6, 1e6).map(lambda x: round(x, 3) + 0.0)
    | st.text("abcXYZ 019-'\"", max_size=8)
    | st.binary(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text("abc", max_size=2), inner, max_size=2)
    ),
    max_leaves=5,
)
ANY = (
    "self.assertEqual(f({n}), {value!r})",
    "self.assertEqual({value!r}, f({n}), 'why')",
    "assert f({n}) == {value!r}, repr({value!r})",
    "expected = {value!r}\nself.assertEqual(f({n}), expected)",
    "result = f({n})\nassert result == {value!r}\nLOG.append({n})",
    "with self.subTest(n={n}):\n    self.assertEqual(f({n}), {value!r})",
    "for n, want in [({n}, {value!r})]:\n    self.assertEqual(f(n), want)",
    "with self.assertRaises(KeyError):\n    f(-1)\nassert f({n}) == {value!r}",
    "self.assertTrue(f({n}) == {value!r})",
    "assert not f({n}) != {value!r}",
    "'''It is so.'''\nself.assertIn(f({n}), [{value!r}])",
)
NUMBERS = (
    "self.assertAlmostEqual(f({n}), {value!r})",
    "self.assertAlmostEqual(f({n}), {value!r}, places=2)",
    "assert abs(f({n}) - {value!r}) < 1e-6",
    "assert math.isclose(f({n}), {value!r}, rel_tol=1e-6)",
    "assert f({n}) == pytest.approx({value!r})",
    "assert f({n}) == pytest.approx({value!r}, rel=0.1, abs=0.01)",
    "assert f({n}) < {value!r} + 1",
    "self.assertGreaterEqual(f({n}), {value!r})",
)


def cases() -> st.SearchStrategy[list[tuple[object, str]]]:
    anything = st.tuples(VALUES, st.sampled_from(ANY))
    numbers = st.tuples(st.integers(-999, 999) | st.floats(-99, 99), st.sampled_from(NUMBERS))
    return st.lists(anything | numbers, min_size=1, max_size=5)


def written(found: list[tuple[object, str]]) -> str:
    lines = ["import math, unittest", "import pytest", "from solution import f", "LOG = []"]
    lines.append("class TestF(unittest.TestCase):")
    for number, (value, template) in enumerate(found):
        lines.append(f"    def test_{number}(self):")
        body = template.format(n=number, value=value)
        lines += [f"        {line}" for line in body.splitlines()]
    return "\n".join(lines) + "\n"


def passed(text: str, solution: types.ModuleType) -> dict[str, bool]:
    """Runs a file's test cases and tells which passed."""
    namespace: dict[str, object] = {"__name__": "test_f"}
    with mock.patch.dict(sys.modules, solution=solution):
        exec(compile(text, PATH, "exec"), namespace)
    found = {}
    for kind in list(namespace.values()):
        if isinstance(kind, type) and issubclass(kind, unittest.TestCase):
            for name in unittest.TestLoader().getTestCaseNames(kind):
                result = unittest.TestResult()
                kind(name).run(result)
                found[f"{PATH}::{kind.__name__}::{name}"] = result.wasSuccessful()
    return found


def of(text: str, prompt: str = "") -> Twins:
    return Twins(parse_files([(PATH, text)]), [(PATH, text)], prompt)


def content(files: tuple[tuple[str, str], ...]) -> str:
    return dict(files)[PATH]


@given(cases(), st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_what_was_made_wrong_fails_and_nothing_else(
    found: list[tuple[object, str]], draw: random.Random
) -> None:
    solution = types.ModuleType("solution")
    solution.f = {number: value for number, (value, _) in enumerate(found)}.__getitem__  # type: ignore[attr-defined]
    twins = of(written(found))
    assert {unit.test for unit in twins.units} == {
        f"{PATH}::TestF::test_{number}" for number in range(len(found))
    }
    assert all(passed(content(twins.true_files()), solution).values())
    chosen = [unit for unit in twins.units if draw.random() < 0.5]
    outcomes = passed(content(twins.perturbed_files(chosen, draw)), solution)
    assert {name for name, fine in outcomes.items() if not fine} == {unit.test for unit in chosen}


@given(VALUES, st.randoms(use_true_random=False), st.booleans())
def test_a_varied_value_can_be_written_and_is_of_its_kind(
    value: object, draw: random.Random, far: bool
) -> None:
    other = varied(value, draw, far=far)
    assert evaluated(literal(other)) == other
    assert value is None or type(other) is type(value)


@given(st.lists(st.integers(), max_size=4), st.randoms(use_true_random=False))
def test_a_list_in_another_order_is_not_taken_for_a_wrong_one(
    values: list[int], draw: random.Random
) -> None:
    shuffled = draw.sample(values, len(values))
    assert not differs(values, shuffled, far=False)


def test_values_are_swapped_between_tests_where_types_agree() -> None:
    text = written([(111, ANY[0]), (222, ANY[0]), ("abc", ANY[0])])
    twins, seen = of(text), set()
    for seed in range(20):
        changed = content(twins.perturbed_files(twins.units[:2], random.Random(seed)))
        seen.add(("222" in changed.split("test_1")[0], "111" in changed.split("test_1")[1]))
    assert (True, True) in seen


@pytest.mark.parametrize("prompt", ["it gives 123", "f(1) == 123\n", "[123]"])
def test_a_value_that_the_prompt_shows_is_left_alone(prompt: str) -> None:
    text = written([(123, ANY[0]), (456, ANY[0])])
    twins = of(text, prompt)
    assert [unit.test for unit in twins.units] == [f"{PATH}::TestF::test_1"]
    assert twins.told == {f"{PATH}::TestF::test_0"}
    for seed in range(30):
        assert content(twins.perturbed_files(twins.units, random.Random(seed))).count("123") == 1


@pytest.mark.parametrize(
    ("text", "prompt", "expected"),
    [("12", "a 12.", True), ("12", "a 123", False), ("'ab'", "x == 'ab'", True), ("ab", "cab", 0)],
)
def test_a_value_stands_in_a_prompt_as_a_word(text: str, prompt: str, expected: object) -> None:
    assert stands_in(text, prompt) is bool(expected)


def test_words_that_tell_what_is_right_are_dropped_from_true_files_too() -> None:
    text = code('''
        import unittest
        import solution
        class TestF(unittest.TestCase):
            """The answer is 4."""
            def test_f(self):
                """It is 4."""  # 4
                self.assertEqual(solution.f(), 4, "not 4")
                self.assertTrue(solution.f(), "or 4")
                assert solution.f() == 4, "4!"
    ''')
    true = content(of(text).true_files())
    assert true.count("4") == 2
    assert "It is" not in true


def test_what_stands_behind_an_assertion_is_done_though_it_fails() -> None:
    text = code("""
        import unittest
        import solution
        class TestF(unittest.TestCase):
            def test_f(self):
                self.assertEqual(solution.f(), 4)
                solution.done()
                self.assertEqual(solution.f(), 4)
                solution.done()
    """)
    solution = mock.MagicMock(**{"f.return_value": 4})
    twins = of(text)
    for seed in range(10):
        solution.done.reset_mock()
        files = twins.perturbed_files(twins.units, random.Random(seed))
        assert passed(content(files), solution) == {f"{PATH}::TestF::test_f": False}
        assert solution.done.call_count == 2


LEFT_ALONE = {
    "an early return": "if solution.f():\n    return\nself.assertEqual(solution.f(), 4)",
    "a condition": "if solution.f():\n    self.assertEqual(solution.f(), 4)",
    "a handler": "try:\n    assert solution.f() == 4\nexcept AssertionError:\n    pass",
    "a block that may swallow": "with suppress(AssertionError):\n    assert solution.f() == 4",
    "a loop that may not run": "for x in solution.g():\n    assert x == 4",
    "a loop that is left": "for x in [1, 2]:\n    break\n    assert x == 4",
    "an assertion of its own": "self.assertFine(solution.f(), 4)",
    "constants": "self.assertEqual(4, 4)",
    "a generator": "yield solution.f() == 4",
    "any exception": "with self.assertRaises(Exception):\n    solution.f()",
}


@pytest.mark.parametrize("body", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_an_assertion_that_may_not_be_reached_is_left_alone(body: str) -> None:
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    text = (
        "import unittest\nimport solution\nfrom contextlib import suppress\n"
        f"class TestF(unittest.TestCase):\n    def test_f(self):\n{lines}"
    )
    assert of(text).units == ()


def test_inherited_repeated_and_strangely_decorated_tests_are_left_alone() -> None:
    text = code("""
        import unittest
        import solution
        from tools import retry
        class TestBase(unittest.TestCase):
            def test_a(self):
                self.assertEqual(solution.f(), 4)
        class TestMore(TestBase):
            def test_b(self):
                self.assertEqual(solution.f(), 4)
        class TestTwice(unittest.TestCase):
            def test_c(self):
                self.assertEqual(solution.f(), 4)
            def test_c(self):
                self.assertEqual(solution.f(), 5)
            @retry(3)
            def test_d(self):
                self.assertEqual(solution.f(), 4)
    """)
    assert of(text).units == ()


def test_rows_of_parameters_are_units_of_their_own() -> None:
    text = code("""
        import pytest
        from solution import f
        @pytest.mark.parametrize("a, want", [(1, 10), pytest.param(2, 20, id="x"), (3, 30)])
        def test_f(a, want):
            assert f(a) == want
    """)
    twins = of(text)
    assert twins.units == tuple(Unit(f"{PATH}::test_f", row, 3) for row in range(3))
    changed = content(twins.perturbed_files(twins.units[1:2], random.Random(1)))
    assert "(1, 10)" in changed
    assert "(3, 30)" in changed
    assert "param(2, 20" not in changed


@pytest.mark.parametrize("suite", [one for one in TOGETHER if one.tests.framework is UNITTEST])
def test_every_twin_of_an_honest_suite_is_python_and_differs(suite: object) -> None:
    files = suite.tests.files  # type: ignore[attr-defined]
    twins = Twins(parse_files(files), files, "")
    for seed in range(10):
        for unit in twins.units:
            changed = twins.perturbed_files([unit], random.Random(seed))
            assert changed != twins.true_files()
            for path, text in changed:
                assert not path.endswith(".py") or ast.parse(text)


def test_both_frameworks_have_honest_suites() -> None:
    both = {Framework.PYTEST, Framework.UNITTEST}
    assert {suite.tests.framework for suite in TOGETHER} == both
