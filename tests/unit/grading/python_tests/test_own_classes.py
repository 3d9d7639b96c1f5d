"""Which things of the tests' own classes take test files beside the solution."""

from __future__ import annotations

import pytest

from reward_server.domain import FunctionTests
from reward_server.grading.python_tests.isolation.files import parse_files, read_suite
from reward_server.grading.python_tests.isolation.function_tests import (
    function_file,
    may_need_solution,
)
from reward_server.grading.python_tests.isolation.own_classes import HANDS_OVER, RAISES, REASONS

_HEAD = """
import json, pytest
from contextlib import ExitStack
from dataclasses import dataclass
from enum import Enum, IntEnum
from http import HTTPStatus
from types import SimpleNamespace
from typing import NamedTuple
from solution import S, f, retry
class Own:
    def __init__(self, x=0): self.x = x
    def twice(self): return 2 * self.x
    def broken(self): raise Boom
class Color(Enum):
    RED = 1
class Level(IntEnum):
    LOW = 1
class Names(list): pass
class Point(NamedTuple):
    x: int
class Boom(Exception): pass
def make(): return Own(1)
def fails(): raise Boom("x")
def deeper(): return fails()
def helper(function, value): return function(value)
@pytest.fixture
def own(): return Own(2)
"""
_HANDED = (
    "assert f(Own())",
    "assert f(Own)",
    "assert f(x=Own())",
    "assert f([Own(1), 2])",
    "assert f({'a': Own()})",
    "assert f(*[Own()])",
    "one = Own()\nassert f(one)",
    "one, two = 1, Own()\nassert f(two)",
    "ones = []\nones.append(Own())\nassert f(ones)",
    "ones = {}\nones['a'] = Own()\nassert f(ones)",
    "for one in (Own(1), Own(2)):\n    assert f(one)",
    "assert f(Color.RED)",
    "assert f(list(Color))",
    "assert f(Color['RED'])",
    "assert f(Level.LOW) == 2",
    "assert f(Names([1]))",
    "assert f(Point)",
    "assert f(Boom)",
    "assert f(make())",
    "assert f(make)",
    "assert f(lambda: Own())",
    "assert f(fails) == 'Boom'",
    "assert f(deeper) == 'Boom'",
    "assert f(Own().broken) == 'Boom'",
    "def g():\n    raise Boom\nassert f(g) == 1",
    "def g():\n    yield Own()\nassert f(g()) == 1",
    "s = S()\ns.add(Own())",
    "s = S()\ns.best = Own()",
    "s = S()\ns['a'] = Own()",
    "s = S()\nassert s[Color.RED]",
    "s = S()\ns += Names([1])",
    "assert helper(f, Own())",
    "assert list(map(f, [Own()]))",
    "with pytest.raises(ValueError):\n    f(Own())",
    "pytest.raises(ValueError, f, Own())",
    "assert isinstance(Own(), S)",
    "@retry(3, exceptions=(Boom,))\ndef g(): pass\ng()",
    "@retry\ndef g(): raise Boom\ng()",
    "class Other:\n    @retry\n    def g(self): pass\nOther().g()",
    "@retry\nclass Other: pass\nOther()",
    "assert f(SimpleNamespace(a=1))",
    "assert f(HTTPStatus.OK)",
    "assert retry(json.JSONDecodeError)",
    "C = Enum('C', 'A B')\nassert f(C.A)",
    "T = type('T', (), {})\nassert f(T())",
    "assert f(type('T', (), {}))",
    "setattr(S(), 'best', Own())",
    "s = S()\nassert Color.RED in s",
    "s = S()\nassert Own() < s",
    "try:\n    fails()\nexcept Boom as error:\n    f(error)",
    "from unittest.mock import Mock\napi = Mock()\napi.get.return_value = Own()\nassert f(api)",
    "from unittest.mock import Mock\nassert f(Mock(side_effect=Boom))",
)
_RAISED = (
    "with S():\n    raise Boom",
    "with ExitStack() as stack:\n    stack.enter_context(S())\n    raise Boom",
    "with S() as s:\n    fails()",
    "s = S()\nwith s:\n    deeper()",
    "s = S()\nwith s.part(), s:\n    raise Boom('x')",
)
_KEPT = (
    "assert Own(f(1)).twice() == 2",
    "assert f(Own(1).twice()) == 2",
    "assert f(Own(1).x) == 2",
    "assert f(len([Own()])) == 1",
    "assert f(Point(1)) == 1",
    "assert f(Color.RED.value) == 1",
    "assert f(lambda: 1) == Own(1).twice()",
    "want = {Color.RED: 1}\nassert f(1) == want[Color.RED]",
    "found = {}\nfound[Color.RED] = f(1)\nassert found",
    "assert f(1) == Level.LOW",
    "got = []\nf(got.append)\nassert got == [1]",
    "def g():\n    raise ValueError('x')\nassert f(g) == 1",
    "with S():\n    raise ValueError('x')",
    "with pytest.raises(Boom):\n    fails()\nassert f(1)",
    "from unittest.mock import Mock\nassert f(Mock()) == 1",
    "rows, one = [1], Own()\nassert f(rows) == one.x",
)


def _reasons(body: str, head: str = _HEAD) -> set[str]:
    text = head + "def test_a():\n" + "".join(f"    {line}\n" for line in body.splitlines())
    files = (("test_a.py", text),)
    return REASONS.intersection(read_suite(parse_files(files), files, "solution.py").reasons)


@pytest.mark.parametrize("body", _HANDED)
def test_what_is_handed_over_needs_the_solution(body: str) -> None:
    assert _reasons(body) == {HANDS_OVER}


@pytest.mark.parametrize("body", _RAISED)
def test_what_a_manager_is_told_of_needs_the_solution(body: str) -> None:
    assert _reasons(body) == {RAISES}


@pytest.mark.parametrize("body", _KEPT)
def test_what_the_tests_keep_stays_apart(body: str) -> None:
    assert _reasons(body) == set()


@pytest.mark.parametrize(
    "test",
    [
        "def test_a(own):\n    assert f(own)",
        "@pytest.mark.parametrize('one', [Own(1)])\ndef test_a(one):\n    assert f(one)",
        "class TestA:\n    def setup_method(self):\n        self.one = Own()\n"
        "    def test_a(self):\n        assert f(self.one)",
    ],
)
def test_what_comes_from_a_fixture_or_a_table_is_known(test: str) -> None:
    text = _HEAD + test + "\n"
    files = (("test_a.py", text),)
    assert HANDS_OVER in read_suite(parse_files(files), files, "solution.py").reasons


@pytest.mark.parametrize(
    ("imported", "value"),
    [
        ("from fakes import Fake as F", "F()"),
        ("import fakes", "fakes.Fake()"),
        ("import fakes", "fakes.make()"),
        ("from fakes import make as fake", "fake()"),
    ],
)
def test_a_class_of_another_file_is_known_by_any_name(imported: str, value: str) -> None:
    files = (
        ("fakes.py", "class Fake: pass\ndef make(): return Fake()\n"),
        (
            "test_a.py",
            f"{imported}\nfrom solution import f\ndef test_a():\n    f({value})\n",
        ),
    )
    assert HANDS_OVER in read_suite(parse_files(files), files, "solution.py").reasons


def test_objects_of_the_prompts_classes_stay_apart() -> None:
    prompt = (
        "class P:\n    def __init__(self, x):\n        self.x = x\n"
        "def f(p: P) -> int:\n    '''Returns x.'''\n"
    )
    tests = FunctionTests(
        entry_point="f", test_code="def check(candidate):\n    assert candidate(P(1)) == 1\n"
    )
    file = function_file(tests, prompt)
    assert file is not None
    assert not file.reasons


@pytest.mark.parametrize("class_text", ["class Own: pass", "Own = type('Own', (), {})"])
def test_function_tests_are_read_by_the_same_rules(class_text: str) -> None:
    text = f"def check(candidate):\n    {class_text}\n    assert candidate(Own())\n"
    tests = FunctionTests(entry_point="f", test_code=text)
    assert may_need_solution(tests)
    file = function_file(tests, "")
    assert file is not None
    assert HANDS_OVER in file.reasons
