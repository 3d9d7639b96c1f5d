"""Answers that nobody worked out: empty ones, ones that were told, ones compared with themselves.

A completion here earns nothing, or its label is weaker than ISOLATED.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from reward_server.app import App, running_app
from reward_server.domain import (
    MEBIBYTE,
    Extraction,
    Framework,
    FunctionTests,
    Integrity,
    Submission,
    Tests,
    UnitTests,
    Verdict,
)
from reward_server.settings import Settings
from tests.attacks.attack import code
from tests.support import FILE_LIMITS, PACKAGES, on_the_servers_loop

pytestmark = on_the_servers_loop
LIMITS = replace(FILE_LIMITS, processes=64, memory_bytes=512 * MEBIBYTE)


def check(body: str, entry: str = "f") -> FunctionTests:
    return FunctionTests(entry_point=entry, test_code=code(body))


def suite(body: str) -> UnitTests:
    return UnitTests(framework=Framework.PYTEST, files=(("test_s.py", code(body)),))


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
    "all elements equal": (
        "import numpy as np\ndef f(n): return np.empty((0, 3))\n",
        check("""
            import numpy as np
            def check(candidate):
                assert (candidate(3) == np.array([1, 2, 3])).all()
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
ROWS = {
    f"{kind}: {name}": row
    for kind, rows in {"empty": EMPTY, "told": TOLD, "alias": ALIASES}.items()
    for name, row in rows.items()
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def app() -> AsyncIterator[App]:
    settings = Settings(port=0, workers=2, sandbox_packages=PACKAGES, sandbox_preload=("pytest",))
    async with running_app(settings) as running:
        yield running


@pytest.mark.parametrize(("completion", "tests"), ROWS.values(), ids=ROWS.keys())
async def test_it_earns_nothing(app: App, completion: str, tests: Tests) -> None:
    submission = Submission(
        completion=code(completion),
        tests=tests,
        prompt=POINT if "Point" in completion else "",
        limits=LIMITS,
        extraction=Extraction.NONE,
    )
    assessment = await app.evaluation.score(submission)
    assert assessment.verdict is not Verdict.INVALID_TASK, assessment
    assert assessment.reward == 0 or assessment.integrity is not Integrity.ISOLATED, assessment
