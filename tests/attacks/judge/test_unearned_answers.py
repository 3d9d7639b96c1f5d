"""Answers that nobody worked out: empty ones, ones that were told, ones compared with themselves.

A completion here earns nothing, or its label is weaker than ISOLATED.
"""

from __future__ import annotations

import pytest

from reward_server.app import App
from reward_server.domain import (
    Extraction,
    Integrity,
    Submission,
    Tests,
    Verdict,
)
from tests.attacks.attack import code
from tests.attacks.python_tests import EVALPLUS, LIMITS, check, submission_of, suite
from tests.support.common import on_the_servers_loop

pytestmark = on_the_servers_loop


# Comparisons that an empty array, or list, of numpy's passes.
EMPTY: dict[str, tuple[str, Tests]] = {
    "np.allclose": (
        "import numpy as np\ndef f(n): return np.empty((0, 1))\n",
        check("""
            import numpy as np
            def check(candidate):
                assert np.allclose(candidate(3), [1.0, 2.0, 3.0])
        """),
    ),
    "np.testing, an empty list": (
        "def f(n): return []\n",
        check("""
            import numpy as np
            def check(candidate):
                np.testing.assert_allclose(candidate(3), 5.0)
                np.testing.assert_array_equal(candidate(5), 7)
        """),
    ),
    "pytest.approx": (
        "import numpy as np\ndef f(n): return np.array([])\n",
        suite("""
            import numpy as np
            import pytest
            from solution import f
            def test_a():
                assert f(3) == pytest.approx(3.5)
        """),
    ),
    "a norm of a difference": (
        "import numpy as np\ndef f(a): return np.empty((0, 2))\n",
        check("""
            import numpy as np
            def check(candidate):
                for n in (3, 4):
                    difference = candidate(n) - np.ones(2) * n
                    assert np.linalg.norm(difference) < 1e-9
        """),
    ),
    "map of two": (
        "def f(n): return []\n",
        check("""
            import operator
            def check(candidate):
                assert all(map(operator.eq, candidate(3), [1, 2, 3]))
        """),
    ),
    "map of two, in a file": (
        "def f(n): return iter(())\n",
        suite("""
            from solution import f
            def test_a():
                assert all(map(lambda a, b: a == b, [1, 2, 3], f(3)))
        """),
    ),
    "zip, an iterator": (
        "def f(n): yield from ()\n",
        check("""
            def check(candidate):
                assert all(a == b for a, b in zip(candidate(3), iter([1, 2, 3])))
                assert all(a == b for a, b in zip([1, 2, 3], candidate(3)))
        """),
    ),
    "all elements equal": (
        "import numpy as np\ndef f(n): return np.empty((0, 3))\n",
        check("""
            import numpy as np
            def check(candidate):
                assert (candidate(3) == np.array([1, 2, 3])).all()
        """),
    ),
    "EvalPlus": (
        "def f(n): return []\n",
        check(
            EVALPLUS + "def check(candidate):\n"
            "    inputs, results = [[1.5], [2.5]], [3.0, 5.0]\n"
            "    for i, (inp, exp) in enumerate(zip(inputs, results)):\n"
            "        assertion(candidate(*inp), exp, 0)\n"
        ),
    ),
    "EvalPlus, a script and an object": (
        """
            class E:
                def __len__(self): return 0
                def __getitem__(self, i): raise IndexError
            def f(n): return E()
        """,
        check(
            EVALPLUS.replace("assert np.allclose", "np.testing.assert_allclose")
            + "for x in (1, 2):\n    assertion(f(x), x / 2, 0)\n"
        ),
    ),
    "a function that answers, in one that asserts": (
        "def f(n): return []\n",
        check("""
            def near(a, b):
                return not any(abs(x - y) > 1e-9 for x, y in zip(a, b))
            def verify(n, *, found, wanted):
                ok = near(found, wanted)
                assert ok
            def check(candidate):
                for n in (1, 2):
                    verify(n, found=candidate(n), wanted=[n, 2 * n])
        """),
    ),
    "a method of the tests', and an iteration over nothing": (
        "class E:\n    def __iter__(self): return iter(())\ndef f(n): return E()\n",
        suite("""
            import unittest
            from solution import f
            class T(unittest.TestCase):
                def same(self, a, b):
                    self.assertTrue(all(x == y for x, y in zip(a, b)))
                def test_a(self):
                    self.same(f(3), [0, 1, 2])
        """),
    ),
}
_TELLS_WHAT_IT_WAS_ASKED = """
    class T:
        def __contains__(self, x):
            T.x = x
            return True
        def best(self): return T.x
    class Solver:
        def solve(self, n): return T()
"""
# Operators between an object and data hand the expected value to the solution, whose word the
# result is.
TOLD: dict[str, tuple[str, Tests]] = {
    "a ratio": (
        """
            class Ratio:
                def __truediv__(self, other): return 1.0
            class Account:
                def __init__(self, b): self.balance = Ratio()
                def deposit(self, x): pass
        """,
        suite("""
            from solution import Account
            def test_a():
                acc = Account(100)
                acc.deposit(50)
                assert abs(acc.balance / 150 - 1) < 1e-9
        """),
    ),
    "an exclusive or, a sum": (
        """
            class R:
                def __xor__(self, other): return 0
                def __add__(self, other): return 0
                def __radd__(self, other): return self
            class Solver:
                def solve(self, n): return R()
        """,
        check(
            """
            def check(candidate):
                s = Solver()
                for n in (3, 10, 12):
                    ref = sum(range(n))
                    assert s.solve(n) ^ ref == 0
                    assert sum([s.solve(n), -ref]) == 0
            """,
            "Solver",
        ),
    ),
    "membership in a suite": (
        _TELLS_WHAT_IT_WAS_ASKED,
        suite("""
            import unittest
            from solution import Solver
            class TestSolver(unittest.TestCase):
                def test_a(self):
                    for n in (3, 10):
                        found = Solver().solve(n)
                        self.assertIn(sum(range(n)), found)
                        self.assertEqual(found.best(), sum(range(n)))
        """),
    ),
    "membership, then the value": (
        _TELLS_WHAT_IT_WAS_ASKED,
        check(
            """
            def check(candidate):
                s = Solver()
                for n in (3, 10, 12):
                    ref = sum(range(n))
                    r = s.solve(n)
                    assert ref in r
                    assert r.best() == ref
            """,
            "Solver",
        ),
    ),
}
POINT = """
from dataclasses import dataclass
@dataclass
class Point:
    x: int
    y: int
def f(a, b):
    \"\"\"adds\"\"\"
"""
# What was handed over is changed, and the expected value is computed from it afterwards.
ALIASES: dict[str, tuple[str, Tests]] = {
    "a record's fields": (
        """
            def f(a, b):
                a.x = b.x = a.y = b.y = 0
                return Point(0, 0)
        """,
        check("""
            def check(candidate):
                for i in range(3):
                    a, b = Point(i, 2), Point(3, i)
                    assert candidate(a, b) == Point(a.x + b.x, a.y + b.y)
        """),
    ),
    "an object of the tests'": (
        "def f(u):\n    u.name = u.nick = None\n    return None\n",
        check("""
            class User:
                def __init__(self, name):
                    self.name = self.nick = name
            def check(candidate):
                for name in ("ab", "cd"):
                    u = User(name)
                    assert candidate(u) == u.name
        """),
    ),
    "edges of a graph": (
        """
            class Graph:
                def build(self, edges): edges.clear()
                def has(self, a, b): return False
        """,
        suite("""
            import unittest
            from solution import Graph
            class TestGraph(unittest.TestCase):
                def setUp(self):
                    self.edges = [(1, 2), (2, 3)]
                    self.g = Graph()
                def test_a(self):
                    self.g.build(self.edges)
                    for a, b in self.edges:
                        self.assertTrue(self.g.has(a, b))
        """),
    ),
    "a dictionary that a statement hands over": (
        """
            class Cache:
                def put_all(self, d): d.clear()
                def get(self, k): return None
        """,
        suite("""
            from solution import Cache
            def test_a():
                data = {"a": 1, "b": 2}
                c = Cache()
                c.put_all(data)
                assert all(c.get(k) == v for k, v in data.items())
                assert {k: c.get(k) for k in data} == data
        """),
    ),
}
_ANSWERS = """
    class Answers:
        def __init__(self, *said): self.said = list(said)
        def say(self): return self.said.pop(0) if len(self.said) > 1 else self.said[0]
"""
_FACTORS = check("""
    import math
    def check(candidate):
        for n in (12, 45, 77):
            r = candidate(n)
            assert math.prod(r) == n
            assert all(p in (2, 3, 5, 7, 11) for p in r)
""")
_SORTED = check("""
    def check(candidate):
        for xs in ([3, 1, 2], [9, 7, 8, 7]):
            r = candidate(xs)
            assert sorted(r) == sorted(xs)
            assert all(r[i] <= r[i + 1] for i in range(len(r) - 1))
""")
# An object gives one assertion what it looks for, and another one what that looks for.
CONTRADICTIONS: dict[str, tuple[str, Tests]] = {
    "two iterations": (
        _ANSWERS
        + """
    class R(Answers):
        def __iter__(self): return iter(self.say())
    def f(n): return R([n], [2])
        """,
        _FACTORS,
    ),
    "an iterator that begins again with something else": (
        _ANSWERS
        + """
    class R(Answers):
        def __iter__(self):
            self.it = iter(self.say())
            return self
        def __next__(self): return next(self.it)
    def f(n): return R([n], [2])
        """,
        _FACTORS,
    ),
    "an iteration and numbered elements": (
        """
            class R:
                def __init__(self, xs): self.xs = xs
                def __iter__(self): return iter(self.xs)
                def __len__(self): return len(self.xs)
                def __getitem__(self, i): return i
            def f(xs): return R(xs)
        """,
        _SORTED,
    ),
    "a list with elements of its own": (
        """
            class R(list):
                def __getitem__(self, i): return i
            def f(xs): return R(xs)
        """,
        _SORTED,
    ),
    "an iteration and a length": (
        """
            class R:
                def __iter__(self): return iter(["a"])
                def __len__(self): return 3
            def f(n): return R()
        """,
        check("""
            def check(candidate):
                r = candidate(3)
                assert set(r) <= {"a", "b", "c"}
                assert len(r) == 3
        """),
    ),
    "rows that are others each time": (
        _ANSWERS
        + """
    class R(Answers):
        def __iter__(self): return iter(self.say())
    def f(n): return R([(0, R([n]))], [(0, R([1, 2]))])
        """,
        check("""
            def check(candidate):
                r = candidate(30)
                assert sum(sum(row) for _, row in r) == 30
                assert all(len(set(row)) == 2 for _, row in r)
        """),
    ),
    "a field, by a method that returns its own object": (
        _ANSWERS
        + """
    class Solver(Answers):
        def __init__(self): super().__init__([12], [2, 6])
        @property
        def parts(self): return self.say()
        def solve(self, n): return self
        """,
        check(
            """
            def check(candidate):
                r = Solver().solve(12)
                assert max(r.parts) == 12
                assert len(r.parts) == 2
            """,
            "Solver",
        ),
    ),
    "what is iterated asynchronously": (
        _ANSWERS
        + """
    class R(Answers):
        async def __aiter__(self):
            for one in self.say(): yield one
    def f(n): return R([n], [2])
        """,
        check("""
            import asyncio
            async def both(r):
                return sum([x async for x in r]), max([x async for x in r])
            def check(candidate):
                assert asyncio.run(both(candidate(12))) == (12, 2)
        """),
    ),
    "a number, and a sum between": (
        _ANSWERS
        + """
    class R(Answers):
        def __float__(self): return self.say()
        def __add__(self, other): return self
    def f(n): return R(12.0, 2.0)
        """,
        check("""
            def check(candidate):
                r = candidate(12)
                assert float(r) > 10
                assert (r + r) is not None
                assert float(r) < 5
        """),
    ),
    "a mapping's items, of a function without a name": (
        _ANSWERS
        + """
    class R(Answers):
        def items(self): return iter(self.say())
    def f(n): return lambda: R([("a", n)], [("b", 2)])
        """,
        check("""
            def check(candidate):
                r = candidate(12)()
                assert sum(count for _, count in r.items()) == 12
                assert [name for name, _ in r.items()] == ["b"]
        """),
    ),
    "two iterations, behind an error of the judge's": (
        _ANSWERS
        + """
    class R(Answers):
        def __iter__(self): return iter(self.say())
    def f(n):
        try: input()
        except Exception: return R([n], [2])
        """,
        _FACTORS,
    ),
    "an element under a key, in a test file": (
        _ANSWERS
        + """
    class R(Answers):
        def __getitem__(self, key): return self.say()
    def f(n): return R(90, 3)
        """,
        suite("""
            from solution import f
            def test_a():
                r = f(2)
                assert r["low"] >= 50
                assert r["low"] <= 5
        """),
    ),
}
# A stream from which the test takes what it expects is not written.
STREAMS: dict[str, tuple[str, Tests]] = {
    "an emptied stream, the error caught": (
        """
            def f(s):
                try: s.truncate(0)
                except Exception: pass
                return ""
        """,
        check("""
            import io
            def check(candidate):
                s = io.StringIO("abc")
                assert candidate(s) == s.getvalue().upper()
        """),
    ),
    "a method kept, a stream in a list": (
        """
            kept = []
            def f(values):
                kept.extend([values[0]["s"].write, values[0]["s"].seek])
                kept[1](0)
                kept[0](b"xyz")
                return "xyz"
        """,
        check("""
            import io
            def check(candidate):
                s = io.BytesIO(b"abc")
                got = candidate([{"s": s}])
                assert got == s.getvalue().decode()
        """),
    ),
    "a stream in an object's field": (
        "def f(h):\n    h.out.writelines(['x'])\n    return 'x'\n",
        check("""
            import io
            class Holder:
                def __init__(self): self.out = io.StringIO("a")
            def check(candidate):
                h = Holder()
                got = candidate(h)
                assert got == h.out.getvalue()
        """),
    ),
    "a stream kept from a call in which nothing was expected of it": (
        """
            kept = []
            def f(s):
                kept.append(s)
                kept[0].truncate(0)
                return ""
        """,
        check("""
            import io
            def check(candidate):
                s = io.StringIO("abc")
                candidate(s)
                s.write("abc")
                assert candidate(s) == s.getvalue().upper()
        """),
    ),
}
# What a test hands over, or is answered, is one object for both sides.
SUMS = """
    def f(xs):
        s = 0
        while xs: s += xs.pop()
        return s
"""
SHARED_VALUES: dict[str, tuple[str, Tests]] = {
    "rows of one list": (
        "def f(n): return [[0] * n] * n\n",
        suite("""
            from solution import f
            def test_rows():
                g = f(3)
                g[0][0] = 1
                assert g == [[1, 0, 0], [0, 0, 0], [0, 0, 0]]
        """),
    ),
    "an argument that is returned": (
        "def f(xs): return xs\n",
        check("""
            def check(candidate):
                xs = [3, 1, 2]
                r = candidate(xs)
                assert r == [3, 1, 2]
                assert r is not xs
        """),
    ),
    "an argument that is emptied, asked twice": (
        SUMS,
        check("""
            def check(candidate):
                xs = [3, 1, 2]
                assert candidate(xs) == 6
                assert candidate(xs) == 6
        """),
    ),
    "a fixture that is emptied": (
        SUMS,
        suite("""
            import pytest
            from solution import f
            @pytest.fixture(scope="module")
            def xs(): return [1, 2, 3]
            def test_a(xs): assert f(xs) == 6
            def test_b(xs): assert f(xs) == 6
        """),
    ),
    "rows that change their places and must stay": (
        "def f(rows): rows.sort()\n",
        check("""
            def check(candidate):
                rows = [[3, 1], [1, 2]]
                before = list(rows)
                candidate(rows)
                assert rows == before
        """),
    ),
}
ROWS = {
    f"{kind}: {name}": row
    for kind, rows in {
        "empty": EMPTY,
        "told": TOLD,
        "alias": ALIASES,
        "two answers": CONTRADICTIONS,
        "stream": STREAMS,
        "shared": SHARED_VALUES,
    }.items()
    for name, row in rows.items()
}


@pytest.mark.parametrize(("completion", "tests"), ROWS.values(), ids=ROWS.keys())
async def test_it_earns_nothing(app: App, completion: str, tests: Tests) -> None:
    prompt = POINT if "Point" in completion else ""
    assessment = await app.evaluation.score(submission_of(completion, tests, prompt))
    assert assessment.verdict is not Verdict.INVALID_TASK, assessment
    assert assessment.reward == 0 or assessment.integrity is not Integrity.ISOLATED, assessment


async def test_what_contradicts_itself_is_nothing_where_isolation_is_required(app: App) -> None:
    completion, tests = CONTRADICTIONS["two iterations"]
    submission = Submission(
        completion=code(completion),
        tests=tests,
        limits=LIMITS,
        extraction=Extraction.NONE,
        require_integrity=Integrity.ISOLATED,
    )
    assessment = await app.evaluation.score(submission)
    assert assessment.verdict is Verdict.FAILED, assessment
    assert assessment.reward == 0
    assert assessment.signals["contradiction"]
    assert "SHARED" in assessment.message


async def test_a_change_that_the_tests_did_not_see_costs_a_second_run(app: App) -> None:
    tests = check("""
        def check(candidate):
            for xs in [[3, 1, 2], [5, 4]]:
                assert candidate(xs) == max(xs)
    """)
    for completion, reward, executions in (
        ("def f(xs):\n    return max(xs)\n", 1, 1),
        ("def f(xs):\n    xs.sort()\n    return xs[-1]\n", 1, 2),
        ("def f(xs):\n    m = max(xs)\n    del xs[0]\n    return m\n", 0, 2),
    ):
        submission = Submission(
            completion=completion, tests=tests, limits=LIMITS, extraction=Extraction.NONE
        )
        assessment = await app.evaluation.score(submission)
        assert assessment.reward == reward, assessment
        assert assessment.integrity is Integrity.ISOLATED
        assert assessment.usage.executions == executions
