"""Tests that no answer can fail are told by their text, and nothing else is taken for one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from reward_server.domain import Framework, FunctionTests, UnitTests
from reward_server.grading.python_tests.inventory import Inventory
from reward_server.grading.python_tests.vacuous import rules
from reward_server.grading.syntax import parse_files

IDLE_CHECKS = """
candidate(1) == 1
---
assert (candidate(1) == 1, 'message')
---
assert True
---
assert 1 == 1
---
assert candidate
---
assert 'candidate(1) is 1'
---
candidate(1)
---
print(candidate(1) == 1)
---
x = candidate(1)
x == 1
---
for i in []:
    assert candidate(i) == i
---
for i in range(0):
    assert candidate(i) == i
---
cases = []
for a, b in cases:
    assert candidate(a) == b
---
if False:
    assert candidate(1) == 1
---
while False:
    assert candidate(1) == 1
---
return
assert candidate(1) == 1
---
return candidate(1) == 1
---
try:
    assert candidate(1) == 1
except AssertionError:
    pass
---
try:
    assert candidate(1) == 1
except Exception as error:
    print(error)
---
try:
    assert candidate(1) == 1
except (ValueError, BaseException):
    pass
---
try:
    assert candidate(1) == 1
finally:
    return
---
import contextlib
with contextlib.suppress(AssertionError):
    assert candidate(1) == 1
---
def inner():
    assert candidate(1) == 1
---
assert candidate(1) == 1 or True
---
assert candidate(1) == 1 or 'wrong'
---
assert not ()
candidate(1)
---
assert lambda: candidate(1) == 1
---
assert (candidate(i) == i for i in range(3))
---
assert [candidate(1) == 1]
---
assert f'{candidate(1)} is wrong'
---
AssertionError('wrong')
---
expected = 5
candidate(1)
assert expected == 5
---
expected = [1]
candidate(1)
assert expected == [1]
---
assert len([1, 2]) == 2
candidate(1)
---
import math
math.isclose(candidate(1), 1)
---
import numpy as np
np.allclose(candidate(1), [1])
---
assert callable(candidate)
---
assert candidate is not None
---
s = candidate()
s.push(1)
s.pop() == 1
---
all(candidate(i) == i for i in range(3))
---
result = []
result.append(candidate(1))
result == [1]
---
isinstance(candidate(1), int)
---
def same(a, b):
    return a == b
same(candidate(1), 1)
"""
CHECKS = """
assert candidate(1) == 1
---
assert candidate(1)
---
assert candidate(1), 'a message'
---
results = []
results.append(candidate(1))
assert results == [1]
---
ok = True
try:
    assert candidate(1) == 1
except AssertionError:
    ok = False
assert ok
---
failures = 0
for i in range(3):
    if candidate(i) != i:
        failures = 1
assert failures == 0
---
if candidate(1) != 1:
    raise ValueError
---
if candidate(1) != 1:
    assert False
---
if candidate(1) != 1:
    assert 1 == 0
---
def same(a, b):
    assert a == b
same(candidate(1), 1)
---
def inner(x):
    assert x
list(map(inner, [candidate(1)]))
---
import numpy as np
np.testing.assert_allclose(candidate(1), 1)
---
from numpy.testing import assert_allclose
assert_allclose(candidate(1), 1)
---
from helpers import same
list(map(same, [candidate(1)]))
---
from helpers import *
same(candidate(1), 1)
---
import sys
if candidate(1) != 1:
    sys.exit(1)
---
if candidate(1) != 1:
    exit(1)
---
try:
    candidate(-1)
    assert False
except ValueError:
    pass
---
try:
    candidate(-1)
except ValueError:
    pass
else:
    raise AssertionError
---
try:
    assert candidate(1) == 1
except Exception:
    raise
---
import unittest
unittest.TestCase().assertEqual(candidate(1), 1)
---
exec('assert candidate(1) == 1')
---
for a, b in [(1, 1)]:
    assert candidate(a) == b
---
x = [3, 1]
candidate(x)
assert x == [1, 3]
---
list(map(lambda x: x.check(), [candidate(1)]))
---
class Watch:
    def __eq__(self, other):
        assert other == 1
        return True
candidate(1) == Watch()
"""
HEAD = "import unittest\nimport pytest\nfrom solution import double, Stack\n"
IDLE_FILES = """
---
def test_a():
    double(1) == 2
---
def test_a():
    assert (double(1) == 2, 'message')
---
@pytest.mark.skip
def test_a():
    assert double(1) == 2
---
@pytest.mark.skip(reason='later')
def test_a():
    assert double(1) == 2
---
@pytest.mark.skipif(True, reason='later')
def test_a():
    assert double(1) == 2
---
pytestmark = pytest.mark.skip
def test_a():
    assert double(1) == 2
---
pytestmark = [pytest.mark.slow, pytest.mark.skip(reason='later')]
def test_a():
    assert double(1) == 2
---
pytest.skip('later', allow_module_level=True)
def test_a():
    assert double(1) == 2
---
def test_a():
    pytest.skip('later')
    assert double(1) == 2
---
class TestA:
    def test_a(self):
        double(1) == 2
---
@pytest.mark.skip
class TestA:
    def test_a(self):
        assert double(1) == 2
---
@pytest.mark.parametrize('a, b', [(1, 2)])
def test_a(a, b):
    double(a) == b
---
@pytest.fixture
def x():
    return 1
def test_a(x):
    double(x) == 2
---
def helper():
    assert double(1) == 2
def test_a():
    double(1)
---
def test_a():
    assert double
    print(double(1))
---
def test_a():
    pytest.raises(ValueError)
---
from solution import *
def test_a():
    triple(1) == 3
"""
IDLE_CASES = """
    def test_a(self):
        double(1) == 2
---
    def test_a(self):
        pass
---
    def test_a(self):
        self.assertTrue(True)
---
    def test_a(self):
        self.assertTrue((double(1) == 2, 'message'))
---
    def test_a(self):
        self.assertTrue(2, double(1))
---
    def test_a(self):
        self.assertEqual(1, 1)
---
    def test_a(self):
        self.assertEqual
---
    def test_a(self):
        self.assertRaises(ValueError)
---
    @unittest.skip('later')
    def test_a(self):
        self.assertEqual(double(1), 2)
---
    @unittest.skipIf(True, 'later')
    def test_a(self):
        self.assertEqual(double(1), 2)
---
    @unittest.skipUnless(False, 'later')
    def test_a(self):
        self.assertEqual(double(1), 2)
---
    def test_a(self):
        self.skipTest('later')
        self.assertEqual(double(1), 2)
---
    def test_a(self):
        raise unittest.SkipTest('later')
---
    def setUp(self):
        self.stack = Stack()
    def test_a(self):
        self.stack.push(1)
        self.stack.pop() == 1
---
    def test_a(self):
        try:
            self.assertEqual(double(1), 2)
        except AssertionError:
            pass
---
    def test_a(self):
        with self.subTest():
            double(1) == 2
---
    def helper(self):
        self.assertEqual(double(1), 2)
    def test_a(self):
        double(1)
"""
FILES = """
def test_a():
    assert double(1) == 2
---
def test_a():
    with pytest.raises(ValueError):
        double(1)
---
def test_a(mocker):
    mock = mocker.patch('json.dumps')
    double(mock)
    mock.assert_called_once()
---
from unittest.mock import Mock
def test_a():
    mock = Mock()
    double(mock)
    mock.assert_called_once()
---
def helper(x):
    assert x
def test_a():
    helper(double(1))
---
from helpers import same
def test_a():
    same(double(1), 2)
---
@pytest.fixture(autouse=True)
def around():
    yield
    assert double(1) == 2
def test_a():
    double(1)
---
class TestA(unittest.TestCase):
    def check(self, x):
        self.assertEqual(x, 2)
    def test_a(self):
        self.check(double(1))
---
class TestA(unittest.TestCase):
    def tearDown(self):
        self.assertEqual(double(1), 2)
    def test_a(self):
        double(1)
---
class TestA(unittest.TestCase):
    def test_a(self):
        with self.assertRaises(ValueError):
            double(1)
---
class TestA(unittest.TestCase):
    def test_a(self):
        self.assertRaises(ValueError, double, 1)
---
def test_a():
    pytest.fail('wrong') if double(1) != 2 else None
---
@pytest.mark.skipif(pytest.__version__ > '9', reason='too new')
def test_a():
    assert double(1) == 2
---
@pytest.mark.skip
def test_a():
    assert double(1) == 2
def test_b():
    assert double(1) == 2
---
import doctest, solution
def test_a():
    doctest.testmod(solution)
---
def load_tests(loader, tests, pattern):
    return tests
"""


def texts_in(listed: str) -> list[str]:
    return [text.strip("\n") for text in listed.split("---\n")]


def check(body: str) -> FunctionTests:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return FunctionTests(entry_point="f", test_code=f"def check(candidate):\n{lines}")


def flaw_of(tests: FunctionTests, prompt: str = "") -> str:
    read = rules.asserting(tests, prompt)
    flaw = rules.flaw_of_functions(read, prompt)
    assert rules.read_functions(tests, prompt) == (read, flaw)
    return flaw


def flaw_in(text: str, framework: Framework, **others: str) -> str:
    files = (("test_a.py", text), *others.items())
    tests = UnitTests(framework=framework, files=files)
    trees = parse_files(files)
    return rules.flaw_of_files(trees, tests, Inventory(trees, files, framework))


@pytest.mark.parametrize("body", texts_in(IDLE_CHECKS))
def test_a_check_that_no_answer_can_fail_is_found(body: str) -> None:
    assert "cannot fail" in flaw_of(check(body))


@pytest.mark.parametrize("body", texts_in(CHECKS))
def test_a_check_that_an_answer_may_fail_is_not(body: str) -> None:
    assert flaw_of(check(body)) == ""


@pytest.mark.parametrize("text", texts_in(IDLE_FILES))
def test_a_file_of_pytest_that_no_answer_can_fail_is_found(text: str) -> None:
    assert flaw_in(HEAD + text, Framework.PYTEST)


@pytest.mark.parametrize(
    "text", [f"class TestA(unittest.TestCase):\n{one}" for one in texts_in(IDLE_CASES)]
)
def test_a_file_of_unittest_that_no_answer_can_fail_is_found(text: str) -> None:
    assert flaw_in(HEAD + text, Framework.UNITTEST)


@pytest.mark.parametrize("text", texts_in(FILES))
def test_a_file_that_an_answer_may_fail_is_not(text: str) -> None:
    assert flaw_in(HEAD + text, Framework.PYTEST) == ""


def test_a_file_whose_tests_are_in_another_one_is_left_open() -> None:
    text = "from other import *\n"
    assert (
        flaw_in(
            text, Framework.PYTEST, **{"test_b.py": HEAD + "def test_b():\n    assert double(1)\n"}
        )
        == ""
    )
    assert flaw_in("def test_a(:", Framework.PYTEST) == ""


def test_a_function_of_the_prompt_may_assert() -> None:
    prompt = "def agree(a, b):\n    assert a == b\n\ndef f(x):\n"
    assert flaw_of(check("agree(candidate(1), 1)"), prompt) == ""
    assert flaw_of(check("agree(candidate(1), 1)"))
    listed = FunctionTests(entry_point="f", asserts=("agree(f(1), 1)", "f(1)"))
    assert rules.asserting(listed, prompt).asserts == ("agree(f(1), 1)", "assert (f(1))")


@pytest.mark.parametrize(
    ("entry", "read"),
    [
        ("f(1) == 1", "assert (f(1) == 1)"),
        ("  \nf(1) == 1  # one", "assert (f(1) == 1)"),
        ("not f(1);", "assert (not f(1))"),
        ("f(1)", "assert (f(1))"),
        ("isinstance(f(1), int)", "assert (isinstance(f(1), int))"),
        ("f(1) in (\n    1,\n    2,\n)", "assert (f(1) in (\n    1,\n    2,\n))"),
        ("f('ü') == 'ü' and f(2) == 2", "assert (f('ü') == 'ü' and f(2) == 2)"),
        ("assert f(1) == 1", "assert f(1) == 1"),
        ("x = f(1)", "x = f(1)"),
        ("same(f(1), 1)", "same(f(1), 1)"),
        ("print(f(1))", "print(f(1))"),
    ],
)
def test_an_entry_that_is_a_bare_expression_is_an_assertion(entry: str, read: str) -> None:
    setup = "from helpers import same"
    tests = FunctionTests(entry_point="f", asserts=(entry,), setup_code=setup)
    assert rules.asserting(tests).asserts == (read,)


def test_a_call_of_what_the_entries_made_stays_a_preparation() -> None:
    tests = FunctionTests(asserts=("s = Stack()", "s.push(1)", "assert s.pop() == 1"))
    assert rules.asserting(tests) == tests
    assert flaw_of(tests) == ""
    assert flaw_of(FunctionTests(asserts=tests.asserts[:2]))


def test_an_entry_that_cannot_fail_is_named() -> None:
    tests = FunctionTests(asserts=("assert f(1) == 1", "assert (f(2) == 2, 'two')"))
    assert "assert 2: line 1 asserts a tuple" in flaw_of(tests)


def test_what_is_nested_too_deeply_is_left_open() -> None:
    long = " + ".join(["x"] * 3000)
    assert flaw_of(check(f"x = candidate(1)\ny = {long}\ny == 1")) == ""
    assert (
        flaw_in(f"{HEAD}def test_a():\n    x = double\n    ({long}).y(1)\n", Framework.PYTEST) == ""
    )


def test_what_does_not_compile_is_left_to_the_judge() -> None:
    assert flaw_of(FunctionTests(asserts=("f(1) ==",))) == ""
    assert flaw_of(check("assert (")) == ""


def published(data_folder: Path) -> Iterator[tuple[FunctionTests, str]]:
    for line in (data_folder / "HumanEval.jsonl").read_text().splitlines():
        row = json.loads(line)
        yield FunctionTests(entry_point=row["entry_point"], test_code=row["test"]), row["prompt"]
    for line in (data_folder / "mbpp_full.jsonl").read_text().splitlines():
        row = json.loads(line)
        yield FunctionTests(asserts=tuple(row["test_list"]), setup_code=row["test_setup_code"]), ""
    for row in json.loads((data_folder / "mbpp_sanitized.json").read_text()):
        setup = "\n".join(row["test_imports"])
        yield FunctionTests(asserts=tuple(row["test_list"]), setup_code=setup), ""


def test_no_test_of_the_published_sets_is_refused_or_changed(data_folder: Path) -> None:
    rows = list(published(data_folder))
    assert len(rows) > 1500
    for tests, prompt in rows:
        assert rules.asserting(tests, prompt) == tests
        assert rules.flaw_of_functions(tests, prompt) == ""
