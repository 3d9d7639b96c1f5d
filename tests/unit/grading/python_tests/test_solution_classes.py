"""What the text of tests does with the solution's classes takes them beside the solution."""

from __future__ import annotations

import ast

import pytest

from reward_server.domain import FunctionTests
from reward_server.grading.python_tests.isolation.function_tests import (
    function_file,
    may_need_solution,
)
from reward_server.grading.python_tests.isolation.solution_classes import reasons

CLASSES = ("Color", "Point", "f", "N")
BESIDE = (
    "assert f() == {Color.RED: 2}",
    "assert f() == {solution.Color.RED: 2}",
    "assert {Point(0, 0), Point(1, 1)} == f()",
    "from solution import Color as C\nassert f() == {C.RED}",
    "assert f() == {(Color.RED, 1): 2}",
    "assert f() == {one: 0 for one in Color}",
    "a, b = N(1), N(2)\nassert f(a) == {a: 0, b: 1}",
    "nodes = [N(i) for i in range(3)]\nassert f(nodes) == {n for n in nodes}",
    "nodes = [N(i) for i in range(3)]\nassert f(nodes) == {nodes[0]: 1}",
    "wanted = {}\nwanted[Color['RED']] = 2\nassert f() == wanted",
    "self.a = N(1)\nassert f(self.a) == {self.a: 0}",
    "assert f() == frozenset([Color.RED])",
    "assert f() == dict.fromkeys(list(Color), 0)",
    "@pytest.mark.parametrize('want', [{Color.RED: 1}])\ndef test_a(want): ...",
    "assert isinstance(Point, type)",
    "import abc\nassert issubclass(Point, abc.ABC)",
    "from abc import ABC\nassert issubclass(Point, (ABC, ValueError))",
    "assert issubclass(solution.Point, object)",
    "assert Point.__abstractmethods__ == set()",
    "with pytest.raises(StopIteration):\n    Point(1).next()",
    "self.assertRaises(StopIteration, Point(1).advance)",
    "try:\n    f()\nexcept (KeyError, StopIteration):\n    pass",
)
APART = (
    "assert f() == {1: Color.RED}",
    "assert {f(x) for x in (1, 2)} == {1, 2}",
    "s = Point()\nassert {s.f(x): x for x in (1, 2)} == {1: 1}",
    "assert {Point(1).x, Point(2).x} == {1, 2}",
    "assert f({'a': Point(1)})[Color.RED] == 2",
    "assert f() in {Color.RED, Color.A} and {Color.RED: 1}[f()] and len({Point, N}) == 2",
    "self.s = Point()\nassert {self.s.f(x): self.x for x in (1, 2)} == {1: 1}",
    "for i in range(3):\n    nodes[i] = N(i)\n    seen[i] = 1",
    "assert isinstance(f(), Point) and issubclass(Point, N)",
    "assert issubclass(Point, KeyError)",
    "with pytest.raises(StopIteration):\n    next(f())",
    "self.assertRaises(StopIteration, next, f())",
    "with pytest.raises(StopAsyncIteration):\n    await f().__anext__()",
)


@pytest.mark.parametrize("text", BESIDE)
def test_tests_live_with_the_solution(text: str) -> None:
    assert reasons([ast.parse(text)], CLASSES)


@pytest.mark.parametrize("text", APART)
def test_tests_are_judged_apart(text: str) -> None:
    assert not reasons([ast.parse(text)], CLASSES)


@pytest.mark.parametrize(
    "text",
    [
        "assert f() == {Color.RED: 2}",
        "assert issubclass(Color, object)",
        "try:\n    f()\nexcept StopIteration:\n    pass",
    ],
)
def test_function_tests_are_looked_at(text: str) -> None:
    tests = FunctionTests(entry_point="f", asserts=(text,))
    assert may_need_solution(tests)
    file = function_file(tests, "")
    assert file is not None
    assert file.reasons


def test_a_class_that_the_prompt_defines_is_the_judges_too() -> None:
    prompt = "import enum\nclass Color(enum.Enum):\n    RED = 1\ndef f():\n    '''Counts.'''\n"
    tests = FunctionTests(entry_point="f", asserts=("assert f() == {Color.RED: 2}",))
    file = function_file(tests, prompt)
    assert file is not None
    assert not file.reasons
