"""What a prompt's code answers, keeps and measures, with tests that the judge runs apart.

A wrong solution fails in an ordinary process, and earns nothing as ISOLATED. An honest one passes
there, and here. `EMPTIES` clears what it is given.
"""

from __future__ import annotations

import asyncio
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest

from reward_server.app import App
from reward_server.domain import FunctionTests, Integrity, Verdict
from tests.attacks.attack import code
from tests.attacks.python_tests import submission_of
from tests.honest.ordinary import run_functions
from tests.support.common import on_the_servers_loop
from tests.support.sampling import each_row

pytestmark = [
    on_the_servers_loop,
    pytest.mark.promise(
        "If tests use a function that the prompt defines, the solution's version is tested.",
        "Labels",
    ),
]

EMPTIES = "def f(xs):\n    xs.clear()\n    return []\n"
TWO = "def double(x):\n    return x + x\n\ndef quad(x):\n    return double(double(x))\n"
BOTH = "def double(x):\n    return x + x\n\ndef quad(x):\n    return 4 * x\n"
ADD = "Make it faster:\n\n```python\ndef add(a, b):\n    return a + b\n```\n"
POINT = "class Point:\n    def __init__(self, x):\n        self.x = x\n"
SLOW = """
    import time
    def f(x):
        began = time.process_time()
        while time.process_time() - began < 0.3:
            pass
        return x
"""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A completion and what judges it.

    Args:
        prompt: the task's code, in front of the function `f` that is to be written.
        solution: the completion.
        body: of check().
        asserts: instead of a body.
        entry: what is under test.
        whole: the task's prompt, where it is not of that form.
    """

    solution: str
    prompt: str = ""
    body: str = ""
    asserts: tuple[str, ...] = ()
    entry: str = "f"
    whole: str = ""

    @property
    def task(self) -> str:
        """The prompt."""
        return self.whole or code(self.prompt) + "\ndef f(*args):\n    '''As told.'''\n"

    @property
    def tests(self) -> FunctionTests:
        """What judges it."""
        text = "def check(candidate):\n" + textwrap.indent(code(self.body), "    ")
        return FunctionTests(
            entry_point=self.entry,
            test_code="" if self.asserts else text,
            asserts=self.asserts,
        )


WRONG = {
    "the prompt's prose has the function, which nobody names": Row(
        whole=ADD,
        solution="def add(a, b):\n    return 7\n",
        entry="",
        asserts=("assert add(1, 2) == 3", "assert add(2, 2) == 4"),
    ),
    "the prompt has all functions, whose answers have names": Row(
        whole=TWO,
        solution="def double(x):\n    return 1\ndef quad(x):\n    return 4\n",
        entry="",
        asserts=("a = quad(1)\nassert a == 4", "b = quad(2)\nassert b == 8"),
    ),
    "an assertion without the entry point": Row(
        whole=TWO,
        solution="def double(x):\n    return 0\n\ndef quad(x):\n    return 4 * x\n",
        body="assert quad(1) == 4\nfor n in (2, 3):\n    assert double(n) == 2 * n",
        entry="quad",
    ),
    "a function of the prompt's that calls the entry point": Row(
        whole=TWO,
        solution="def double(x):\n    return 0\n",
        body="y = quad(3)\nassert double(1) - double(1) == 0 and y == 12",
        entry="double",
    ),
    "a list": Row(
        prompt="LOG = []",
        solution="def f(x):\n    LOG.append(x)\n    return x\n",
        body="assert f(1) == 1\nassert LOG == []",
    ),
    "a counter in a class": Row(
        prompt="class N:\n    made = 0\n    def __init__(self):\n        N.made += 1\n",
        solution="def f(x):\n    N()\n    return x\n",
        body="assert f(1) == 1\nassert N.made == 0",
    ),
    "a counter in a closure": Row(
        prompt="""
            def counted():
                calls = [0]
                def probe(x):
                    calls[0] += 1
                    return x >= 700
                return probe, calls
            probe, calls = counted()
        """,
        solution="def f(n):\n    return next(i for i in range(n) if probe(i))\n",
        body="assert f(1000) == 700\nassert calls[0] <= 12",
    ),
    "a cache": Row(
        prompt="""
            import functools as ft
            @ft.cache
            def slow(x):
                return x
        """,
        solution="def f(x):\n    return sum(map(slow, range(9))) and x\n",
        body="assert f(1) == 1\nassert slow.cache_info().misses <= 1",
    ),
    "a function that the prompt exchanges": Row(
        prompt="""
            import builtins
            COUNTS = {"sorted": 0}
            real = builtins.sorted
            def counted(*args):
                COUNTS["sorted"] += 1
                return real(*args)
            builtins.sorted = counted
        """,
        solution="def f(x):\n    return sorted([x])[0]\n",
        body="assert f(1) == 1\nassert COUNTS['sorted'] == 0",
    ),
    "CPU time by a class": Row(
        prompt="""
            from time import process_time as now
            class Timer:
                def __enter__(self):
                    self.began = now()
                    return self
                def __exit__(self, *_):
                    self.spent = now() - self.began
        """,
        solution=SLOW,
        body="with Timer() as timer:\n    assert f(3) == 3\nassert timer.spent < 0.1",
    ),
    "CPU time by a module's other name": Row(
        prompt="import time as t",
        solution=SLOW,
        body="a = t.process_time()\nassert f(3) == 3\nassert t.process_time() - a < 0.1",
    ),
    "a variable of the environment": Row(
        prompt="import os\nread = lambda: os.environ.get('MODE')",
        solution="import os\ndef f(x):\n    os.environ['MODE'] = 'bad'\n    return x\n",
        body="assert f(1) == 1\nassert read() is None",
    ),
    "the names in its code": Row(
        prompt="def calls(g, name):\n    return name in g.__code__.co_names\n",
        solution="def f(x):\n    return sorted([x])[0]\n",
        body="assert f(1) == 1 and not calls(f, 'sorted')",
    ),
}
CHEATS = {
    "a function compares": Row(
        prompt="def verify(g, xs):\n    return g(xs) == sorted(xs)\n",
        solution=EMPTIES,
        body="assert verify(candidate, [3, 1, 2])",
    ),
    "a function asserts": Row(
        prompt="def verify(g, xs):\n    found = g(xs)\n    assert found == sorted(xs), found\n",
        solution=EMPTIES,
        body="verify(candidate, [3, 1, 2])",
    ),
    "a class compares": Row(
        prompt="""
            class Verifier:
                def __init__(self, g):
                    self.g = g
                def is_right(self, xs):
                    return self.g(xs) == sorted(xs)
        """,
        solution=EMPTIES,
        body="assert Verifier(f).is_right([3, 1, 2])",
    ),
}
HONEST = {
    "mends what prose has": Row(
        whole=ADD.replace("a + b", "a - b"),
        solution="def add(a, b):\n    return a + b\n",
        entry="",
        asserts=("assert add(1, 2) == 3", "assert add(2, 2) == 4"),
    ),
    "mends what is beside the entry point": Row(
        whole=TWO.replace("x + x", "x * x"),
        solution=BOTH,
        body="assert quad(3) == 12\nassert double(3) == 6",
        entry="quad",
    ),
    "gives a class a method": Row(
        prompt=POINT,
        solution=f"{POINT}    def to(self, p):\n        return abs(self.x - p.x)\n"
        "def f(a, b):\n    return a.to(b)\n",
        body="assert f(Point(0), Point(3)) == 3\nassert Point(0).to(Point(1)) == 1",
    ),
    "takes from a dictionary": Row(
        prompt="STOCK = {'a': 1}\ndef left(x):\n    return STOCK[x]\n",
        solution="def f(x):\n    STOCK[x] -= 1\n",
        body="f('a')\nassert left('a') == 0",
    ),
    "returns a sentinel": Row(
        prompt="MISSING = object()",
        solution="def f(d, k):\n    return d.get(k, MISSING)\n",
        body="assert f({1: 2}, 1) == 2\nassert f({}, 1) is MISSING",
    ),
    "adds what the prompt draws": Row(
        prompt="import random\nDATA = tuple(random.random() for _ in range(5))",
        solution="def f():\n    return sum(DATA)\n",
        body="assert f() == sum(DATA)",
    ),
    "makes what a class of the prompt's holds": Row(
        prompt="class Tree:\n" + textwrap.indent(POINT, "    "),
        solution="def f(x):\n    return Tree.Point(x)\n",
        body="assert f(1).x == 1 and isinstance(f(1), Tree.Point)",
    ),
    "draws after a seed": Row(
        prompt="import random\ndef reset(n):\n    random.seed(n)\n",
        solution="import random\ndef f():\n    return random.random()\n",
        body="reset(3)\nfirst = f()\nreset(3)\nassert f() == first",
    ),
    "is registered": Row(
        whole=code("""
            REGISTRY = {}
            def register(function):
                REGISTRY[function.__name__] = function
                return function

            @register
            def f(x):
                '''Doubles.'''
        """),
        solution="@register\ndef f(x):\n    return 2 * x\n",
        body="assert f(1) == 2\nassert REGISTRY['f'](3) == 6",
    ),
}
APART = {
    "what tests compute from answers is the prompt's": Row(
        prompt="def is_even(x):\n    return x % 2 == 0\nLIMIT = 10\n",
        solution="def is_even(x):\n    return True\ndef f(x):\n    return 2 * x\n",
        body="y = f(3)\nassert is_even(y) and y < LIMIT",
    ),
    "a state that tests do not lead to": Row(
        prompt="""
            from dataclasses import dataclass
            TABLE = {}
            @dataclass
            class P:
                x: int = 0
        """,
        solution="def f(x):\n    return TABLE.setdefault(x, P(x))\n",
        body="assert f(3) == P(3)",
    ),
    "a function that changes what it is given": Row(
        prompt="def run(g, xs):\n    g(xs)\n    return xs\n",
        solution="def f(xs):\n    xs.sort()\n",
        body="assert run(candidate, [3, 1, 2]) == [1, 2, 3]",
    ),
}


async def _score(app: App, row: Row) -> tuple[float | None, Integrity, str]:
    assessment = await app.evaluation.score(submission_of(row.solution, row.tests, row.task))
    assert assessment.verdict is not Verdict.INVALID_TASK, assessment
    return assessment.reward, assessment.integrity, str(assessment)


async def _ordinary(row: Row, folder: Path) -> str:
    prompt = "" if "```" in row.task else row.task
    arguments = code(row.solution), row.tests, prompt, folder
    return await asyncio.to_thread(run_functions, *arguments)


# What an ordinary process says of a row is said of the row alone: a run asks it of some.
@each_row(WRONG, 8)
async def test_an_ordinary_process_fails_a_wrong_solution(row: Row, tmp_path: Path) -> None:
    assert await _ordinary(row, tmp_path)


@each_row(HONEST | APART, 8)
async def test_an_ordinary_process_passes_an_honest_solution(row: Row, tmp_path: Path) -> None:
    assert not await _ordinary(row, tmp_path)


@each_row(WRONG)
async def test_a_wrong_solution_earns_nothing(app: App, row: Row) -> None:
    reward, integrity, shown = await _score(app, row)
    assert reward == 0 or integrity is not Integrity.ISOLATED, shown


@pytest.mark.parametrize("row", CHEATS.values(), ids=CHEATS.keys())
async def test_emptying_what_the_prompt_compares_earns_nothing(app: App, row: Row) -> None:
    reward, _, shown = await _score(app, row)
    assert reward == 0, shown


@each_row(HONEST | APART, 4)
async def test_an_honest_solution_passes(app: App, row: Row) -> None:
    reward, integrity, shown = await _score(app, row)
    assert reward == 1, shown
    assert row not in APART.values() or integrity is Integrity.ISOLATED, shown


async def test_a_pass_without_a_question_is_of_no_solution(app: App) -> None:
    body = "ones = [1]\nfor one in ones[1:]:\n    assert candidate(one)\nassert sum(ones) == 1"
    row = Row(solution="", body=body)
    reward, integrity, shown = await _score(app, row)
    assert reward == 1, shown
    assert integrity is Integrity.SHARED, shown
