"""Objects as keys of dictionaries and elements of sets, and classes that tests look at from afar.

Honest solutions pass: `ISOLATED` where both sides have the class, beside the solution where its
own class decides what is equal. Whoever solves nothing earns nothing as `ISOLATED`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from reward_server.app import App
from reward_server.domain import Integrity
from tests.attacks.judge.test_prompts_apart import (
    Row,
    _ordinary,
    _score,
    asserts,
    checks,
    files,
    told,
)
from tests.support.common import on_the_servers_loop
from tests.support.sampling import each_row

pytestmark = on_the_servers_loop

COLOR = "from enum import Enum\nclass C(Enum):\n    A = 1\n    B = 2\n"
POINT = "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass P:\n    x: int\n"
NODE = "class N:\n    def __init__(self, v):\n        self.v, self.to = v, set()\n"

APART = {
    "members of an enumeration of the prompt's": Row(
        prompt=told(COLOR),
        solution="def f(xs):\n    return {c: xs.count(c) for c in C}, set(C) - set(xs)\n",
        tests=checks("assert candidate([C.A, C.A]) == ({C.A: 2, C.B: 0}, {C.B})"),
    ),
    "objects of the prompt's that are equal by what they hold": Row(
        prompt=told(POINT),
        solution="def f(ps):\n    return {P(p.x + 1): (p, len(ps)) for p in ps}\n",
        tests=checks("assert candidate({P(1), P(2)})[P(2)] == (P(1), 2)"),
    ),
    "objects of the prompt's that are themselves alone, in sets and their fields": Row(
        prompt=told(NODE),
        solution="def f(n):\n    seen, todo = {n: 0}, [n]\n    for one in todo:\n"
        "        for other in one.to - seen.keys():\n"
        "            seen[other] = seen[one] + 1\n            todo.append(other)\n"
        "    return seen\n",
        tests=checks(
            "a, b = N(1), N(2)\na.to, b.to = {b}, {a}\n"
            "kept = a.to\nfound = candidate(a)\nassert found == {a: 0, b: 1}\n"
            "assert a.to is kept and kept == {b}"
        ),
    ),
    "a dictionary of the prompt's objects that both sides change": Row(
        prompt=told(COLOR),
        solution="def f(table):\n    table[C.B] = 2\n    return table\n",
        tests=checks(
            "table = {C.A: 1}\nfound = candidate(table)\nassert found == {C.A: 1, C.B: 2}"
        ),
    ),
    "objects of the solution's, handed over": Row(
        solution=POINT + "def make(x):\n    return P(x)\n"
        "def f(table):\n    return sum(p.x * n for p, n in table.items())\n",
        tests=asserts("p = make(3)\nassert f({p: 2}) == 6 and len({p}) == 1"),
    ),
    "the sum of objects whose class no test names": Row(
        solution="class V:\n    def __init__(self, x):\n        self.x = x\n"
        "    def __add__(self, other):\n        return V(self.x + getattr(other, 'x', other))\n"
        "    __radd__ = __add__\ndef make(n):\n    return [V(i) for i in range(n)]\n",
        tests=asserts("assert sum(make(4)).x == 6"),
    ),
}
BESIDE = {
    "members of the solution's enumeration": Row(
        solution=COLOR + "def f(xs):\n    return {c: xs.count(c.name) for c in C}\n",
        tests=files("""
            from solution import C, f
            def test_a():
                assert f("AA") == {C.A: 2, C.B: 0}
        """),
    ),
    "frozen objects of the solution's": Row(
        solution=POINT + "def f(n):\n    return {P(i) for i in range(n)}\n",
        tests=asserts("assert f(2) == {P(0), P(1)}"),
    ),
    "a class that is asked what it is": Row(
        solution="from abc import ABC\nclass Shape(ABC):\n    pass\nclass Square(Shape):\n"
        "    def next(self):\n        raise StopIteration\n",
        tests=files("""
            import abc, pytest
            from solution import Shape, Square
            def test_a():
                assert isinstance(Square, type) and issubclass(Square, (abc.ABC, int))
                assert Shape.__abstractmethods__ == frozenset()
            def test_b():
                with pytest.raises(StopIteration):
                    Square().next()
        """),
    ),
}
UNSOLVED = {
    "defines the prompt's class again, equal to all": Row(
        prompt=told(POINT),
        solution="class P:\n    def __init__(self, x):\n        self.x = x\n"
        "    def __eq__(self, other):\n        return True\n"
        "    def __hash__(self):\n        return 0\ndef f(x):\n    return {P(7)}\n",
        tests=checks("assert candidate(1) == {P(1)}"),
    ),
    "changes a key that tests compare with": Row(
        prompt=told(NODE),
        solution="def f(table):\n    for n in table:\n        n.v = 0\n    return 0\n",
        tests=checks("n = N(3)\nassert candidate({n: 1}) == n.v"),
    ),
    "has keys that are equal to all": Row(
        solution="class P:\n    def __init__(self, x):\n        pass\n"
        "    def __eq__(self, other):\n        return True\n"
        "    def __hash__(self):\n        return 0\ndef f(x):\n    return {P(7)}\n",
        tests=asserts("assert f(1) == {P(1)}", "found = f(2)\nassert P(2) in found"),
    ),
    "has objects whose sum is what is expected": Row(
        solution="class V:\n    def __radd__(self, other):\n        return 6\n"
        "    __add__ = __radd__\ndef make(n):\n    return [V()]\n",
        tests=asserts("assert sum(make(4)) == 6"),
    ),
}


# What an ordinary process says of a row is said of the row alone: a run asks it of some.
@each_row(APART | BESIDE, 8)
async def test_an_ordinary_process_passes_an_honest_solution(row: Row, tmp_path: Path) -> None:
    assert not await _ordinary(row, tmp_path)


@each_row(APART)
async def test_an_honest_solution_is_judged_apart(app: App, row: Row) -> None:
    reward, integrity, shown = await _score(app, row)
    assert (reward, integrity) == (1, Integrity.ISOLATED), shown


@each_row(BESIDE)
async def test_an_honest_solution_is_judged_beside(app: App, row: Row) -> None:
    reward, integrity, shown = await _score(app, row)
    assert (reward, integrity) == (1, Integrity.SHARED), shown


@pytest.mark.parametrize("row", UNSOLVED.values(), ids=UNSOLVED.keys())
async def test_who_solves_nothing_earns_nothing(app: App, row: Row) -> None:
    reward, integrity, shown = await _score(app, row)
    assert reward == 0 or integrity is not Integrity.ISOLATED, shown
