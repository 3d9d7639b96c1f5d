"""A copy fails where it was made wrong, and nowhere else, whatever the values and assertions."""

from __future__ import annotations

import ast
import random
import re
import types
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reward_server.domain import Framework, Integrity, TestOutcome, UnitTests
from reward_server.grading.copies.copies import WHOLE, Copies
from reward_server.grading.copies.outcomes import OutcomeVector, schedule
from reward_server.grading.copies.sites import Unit
from reward_server.grading.copies.words import Told
from reward_server.grading.python_tests.inventory import Inventory
from reward_server.grading.python_tests.literals import differs
from reward_server.grading.syntax import parse_files
from tests.honest.rows import FILES, Row
from tests.honest.solution import code
from tests.support.in_process import PATH, module, ran
from tests.support.sampling import times

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
BESIDE = [row for row in FILES if row.label is Integrity.SHARED and "unittest" in repr(row.tests)]
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
    return {test.name: test.outcome is TestOutcome.PASSED for test in ran(text, solution)}


def betrayed(copies: Copies, solution: types.ModuleType, draw: random.Random) -> bool:
    """Returns True if a solution that passes the true files is found out by their copies."""
    vector = OutcomeVector(tests=ran(content(copies.true_files()), solution), shapes=copies.shapes)
    assert {test.outcome for test in vector.tests} == {TestOutcome.PASSED}
    return any(
        vector.compare(ran(content(copies.perturbed_files(change, draw)), solution), change)
        for change in schedule(copies.weights, draw)
    )


def of(text: str, prompt: str = "") -> Copies:
    files, trees = [(PATH, text)], parse_files([(PATH, text)])
    return Copies(trees, files, prompt, Inventory(trees, files, Framework.PYTEST).rows)


def content(files: tuple[tuple[str, str], ...]) -> str:
    return dict(files)[PATH]


@given(cases(), st.randoms(use_true_random=False))
@settings(max_examples=times(150, by_default=25), deadline=None)
def test_what_was_made_wrong_fails_and_nothing_else(
    found: list[tuple[object, str]], draw: random.Random
) -> None:
    solution = types.ModuleType("solution")
    solution.f = {number: value for number, (value, _) in enumerate(found)}.__getitem__  # type: ignore[attr-defined]
    copies = of(written(found))
    assert {unit.test for unit in copies.units} == {
        f"{PATH}::TestF::test_{number}" for number in range(len(found))
    }
    assert all(passed(content(copies.true_files()), solution).values())
    chosen = [unit for unit in copies.units if draw.random() < 0.5]
    outcomes = passed(content(copies.perturbed_files(dict.fromkeys(chosen, WHOLE), draw)), solution)
    assert {name for name, fine in outcomes.items() if not fine} == {unit.test for unit in chosen}


@pytest.mark.parametrize("value", [{"a": None}, {"a": 0, "b": []}, ({"": None}, None), [{1: ""}]])
def test_a_key_of_what_is_empty_is_no_value_that_has_to_be_another(value: object) -> None:
    copies = of(written([(value, "self.assertEqual(f({n}), {value!r})")]))
    (unit,) = copies.units
    for leaf in (WHOLE, *range(copies.weights[unit])):
        for seed in range(20):
            found = content(copies.perturbed_files({unit: leaf}, random.Random(seed)))
            assert repr(value) not in found


@given(st.lists(st.integers(), max_size=4), st.randoms(use_true_random=False))
def test_a_list_in_another_order_is_not_taken_for_a_wrong_one(
    values: list[int], draw: random.Random
) -> None:
    shuffled = draw.sample(values, len(values))
    assert not differs(values, shuffled, far=False)


def test_values_are_swapped_between_tests_where_types_agree() -> None:
    text = written([(111, ANY[0]), (224, ANY[0]), ("abc", ANY[0])])
    copies, seen = of(text), set()
    for seed in range(20):
        change = dict.fromkeys(copies.units[:2], WHOLE)
        changed = content(copies.perturbed_files(change, random.Random(seed)))
        seen.add(("224" in changed.split("test_1")[0], "111" in changed.split("test_1")[1]))
    assert (True, True) in seen


@pytest.mark.parametrize("prompt", ["it gives 123", "f(1) == 123\n", "[123] or [456]"])
def test_a_value_that_the_prompt_shows_is_made_wrong_too(prompt: str) -> None:
    copies = of(written([(123, ANY[0]), (456, ANY[0])]), prompt)
    assert len(copies.units) == 2
    for seed in range(30):
        changed = content(
            copies.perturbed_files(dict.fromkeys(copies.units, WHOLE), random.Random(seed))
        )
        assert "f(0), 123" not in changed
        assert "f(1), 456" not in changed


def test_values_that_the_prompt_shows_are_exchanged_among_themselves() -> None:
    text = written([("YES", ANY[0]), ("NO", ANY[0]), ("YES", ANY[0]), (17, ANY[0]), (99, ANY[0])])
    copies, seen = of(text, "Print YES or NO."), set()
    for seed in range(40):
        changes = dict.fromkeys(copies.units, WHOLE)
        changed = content(copies.perturbed_files(changes, random.Random(seed)))
        seen |= set(re.findall(r"f\(([012])\), '(.+)'", changed))
    assert {("0", "NO"), ("1", "YES"), ("2", "NO")} <= seen


def test_a_lone_value_that_the_prompt_shows_becomes_a_word_of_the_prompts() -> None:
    copies = of(written([("YES", ANY[0])]), "Print YES or NO, Not maybe.")
    change = dict.fromkeys(copies.units, WHOLE)
    seen = {content(copies.perturbed_files(change, random.Random(seed))) for seed in range(60)}
    assert any("'NO'" in one for one in seen)
    assert not any("'YES'" in one for one in seen)


@pytest.mark.parametrize(
    ("text", "told", "expected"),
    [("12", "a 12.", True), ("12", "a 123", False), ("a b", "x == 'b a'", True), ("ab", "cab", 0)],
)
def test_a_text_was_told_if_each_of_its_words_was(text: str, told: str, expected: object) -> None:
    assert Told(told).shows(text) is bool(expected)


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
    assert true.count(" 4") == 2
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
    copies = of(text)
    for seed in range(10):
        solution.done.reset_mock()
        files = copies.perturbed_files(dict.fromkeys(copies.units, WHOLE), random.Random(seed))
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
    copies = of(text)
    assert copies.units == tuple(Unit(f"{PATH}::test_f", row, 3) for row in range(3))
    changed = content(copies.perturbed_files({copies.units[1]: WHOLE}, random.Random(1)))
    assert "(1, 10)" in changed
    assert "(3, 30)" in changed
    assert "param(2, 20" not in changed


@pytest.mark.parametrize("row", BESIDE, ids=lambda row: row.name)
def test_every_twin_of_an_honest_suite_is_python_and_differs(row: Row) -> None:
    assert isinstance(row.tests, UnitTests)
    files = row.tests.files
    copies = Copies(parse_files(files), files, "", {})
    for unit in copies.units:
        changed = copies.perturbed_files({unit: WHOLE}, random.Random(1))
        assert changed != copies.true_files()
        for path, text in changed:
            assert not path.endswith(".py") or ast.parse(text)


# ------------------------------------------------------------------------- a single lie


LIAR = code("""
    class Liar:
        def __eq__(self, other): return True
        def __ne__(self, other): return False
        def __lt__(self, other): return True
        __le__ = __gt__ = __ge__ = __contains__ = __lt__
        def __sub__(self, other): return 0.0
        __rsub__ = __sub__
        def __hash__(self): return 0
""")
TEST = """
    import unittest
    import solution
    class TestF(unittest.TestCase):
        def test_f(self):
{body}
        def test_other(self):
            self.assertEqual(solution.g(1), 71)
            self.assertEqual(solution.g(2), 72)
"""
LIES = {
    "one of several assertions": "self.assertEqual(solution.f({n}), {n}00)",
    "one element of a list": """
        assert [solution.f(n) for n in (1, 2, 3, 4)] == [100, 200, 300, 400]
    """,
    "one value of a dict": """
        assert dict((n, solution.f(n)) for n in (1, 2, 3)) == {{1: 100, 2: 200, 3: 300}}
    """,
    "an element of a nested tuple": """
        assert ((solution.f(1), (solution.f(2), solution.f(3))), 0) == ((100, (200, 300)), 0)
    """,
    "one part of a conjunction": """
        assert solution.f(1) == 100 and solution.f(2) == 200 and solution.f(3) == 300
    """,
    "a comparison behind assertTrue": """
        self.assertTrue(solution.f(1) == 100)
        self.assertTrue(solution.f(3) == 300)
    """,
    "a comparison with a tolerance": """
        assert abs(solution.f(1) - 100) < 1e-6
        assert abs(solution.f(3) - 300) < 0.1
    """,
    "what is expected stands first": "assert {n}00 == solution.f({n})",
    "a table outside of the test": """
        for n, want in TABLE:
            for _ in range(2):
                assert solution.f(n) == want
    """,
    "a table inside of a loop": """
        for _ in range(2):
            for n, want in [(1, 100), (2, 200), (3, 300)]:
                with self.subTest(n=n):
                    self.assertEqual(solution.f(n), want)
    """,
    "a comparison with None": """
        assert solution.g(3) == 73
        self.assertEqual(solution.nothing(), None)
    """,
    "arguments of a mock": """
        import unittest.mock as m
        called = m.Mock()
        called(solution.f(3), 5)
        called.assert_called_once_with(300, 5)
    """,
    "a comparison without a literal": "assert solution.f({n}) == solution.g({n}) + {n} * 99 - 70",
    "one without a literal, the other way": """
        self.assertEqual(solution.g(3) + 227, solution.f(3))
    """,
}
SOURCE = code("""
    def f(n):
        return Liar() if n == LIE else n * 100
    def g(n):
        return 70 + n
    def nothing():
        return Liar() if LIE == 3 else None
""")


def lying(body: str) -> str:
    text = code(body).strip()
    text = "\n".join(text.format(n=n) for n in ((1, 2, 3) if "{n}" in text else (1,)))
    lines = "\n".join(f"{' ' * 12}{line}" for line in text.splitlines())
    table = "\nTABLE = [(1, 100), (2, 200), (3, 300)]\n"
    return code(TEST.replace("{body}", lines)) + table


@pytest.mark.parametrize("body", LIES.values(), ids=LIES)
def test_one_lie_among_honest_assertions_is_found_for_certain(body: str) -> None:
    copies = of(lying(body))
    liar, honest = module(f"LIE = 3\n{LIAR}{SOURCE}"), module(f"LIE = 0\n{SOURCE}")
    for seed in range(times(6, by_default=1)):
        assert betrayed(copies, liar, random.Random(seed))
        assert not betrayed(copies, honest, random.Random(seed))
