"""Objects that pass for more than they are, where what the tests ask is answered by a proxy.

A completion of `WRONG` earns nothing, or its label is weaker than ISOLATED.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from reward_server.app import App
from reward_server.domain import (
    Framework,
    FunctionTests,
    Integrity,
    Tests,
    UnitTests,
    Verdict,
)
from tests.attacks.attack import code
from tests.attacks.python_tests import EVALPLUS, check, submission_of, suite
from tests.support.common import on_the_servers_loop

pytestmark = on_the_servers_loop
_Rows = dict[str, tuple[str, Tests]]


STACK = """
    class Stack:
        def __init__(self): self.xs = []
        def push(self, x): self.xs.append(x)
        def size(self): return len(self.xs)
"""
MONEY = """
    class Money:
        def __init__(self, x): self.x = x
        def __lt__(self, other): return self.x < getattr(other, "x", other)
        def __sub__(self, other): return Money(self.x - getattr(other, "x", other))
        def __radd__(self, other): return Money(self.x + getattr(other, "x", other))
    def make(n): return Money(n)
"""
POINT = """
    class Point:
        def __init__(self, x, y): self.x, self.y = x, y
        def __iter__(self): return iter((self.x, self.y))
        def __eq__(self, other): return tuple(other) == (self.x, self.y)
"""
# What a class cannot do, a proxy of its objects cannot do either.
SPECIAL_METHODS: _Rows = {
    "hasattr": (
        STACK,
        suite("""
            from solution import Stack
            def test_a():
                s = Stack()
                s.push(1)
                assert s.size() == 1
                assert hasattr(s, "__len__") and hasattr(s, "__enter__")
        """),
    ),
    "hasattr of a class that is called by its name": (
        STACK,
        check(
            """
            def check(candidate):
                assert hasattr(Stack, "__len__")
        """,
            "Stack",
        ),
    ),
    "abstract classes": (
        STACK,
        suite("""
            from collections.abc import Sized
            from solution import Stack
            def test_a():
                assert Stack().size() == 0
                assert isinstance(Stack(), Sized)
        """),
    ),
    "callable": (
        STACK,
        suite("""
            from solution import Stack
            def test_a():
                assert Stack().size() == 0
                assert callable(Stack())
        """),
    ),
    "hashable, awaitable, reversible": (
        POINT,
        suite("""
            from collections.abc import Awaitable, Hashable, Reversible
            import pytest
            from solution import Point
            @pytest.mark.parametrize("kind", [Hashable, Awaitable, Reversible])
            def test_a(kind):
                assert isinstance(Point(1, 2), kind)
        """),
    ),
    "an order that must be refused": (
        MONEY,
        suite("""
            import pytest
            from solution import Money
            def test_a():
                assert Money(1) < Money(2)
                with pytest.raises(TypeError): Money(1) < 5
        """),
    ),
    "a sum that must be refused": (
        MONEY,
        suite("""
            import pytest
            from solution import make
            def test_a():
                with pytest.raises(TypeError): sum([make(1)])
        """),
    ),
    "an equality that raises": (
        POINT,
        suite("""
            from solution import Point
            def test_a():
                assert Point(1, 2) == Point(1, 2)
                assert Point(1, 2) != 5
                assert Point(1, 2) not in [5]
        """),
    ),
    "an equality with a tuple": (
        POINT,
        suite("""
            from solution import Point
            def test_a():
                assert Point(1, 2) == Point(1, 2)
                assert Point(1, 2) != (1, 2)
        """),
    ),
    "an object that equals whatever it is compared with": (
        """
            class Same:
                told = None
                def __eq__(self, other): Same.told = other; return False
                def __ne__(self, other): return True
                def __iter__(self): return iter(Same.told)
            def f(n): return Same()
        """,
        check("""
            def check(candidate):
                r = candidate(3)
                assert r == [0, 1, 2] or list(r) == [0, 1, 2]
        """),
    ),
} | {
    f"an object that differs, and is then what it was compared with, {name}": (
        """
            class Echo:
                told = []
                def __ne__(self, other):
                    self.told = list(other) if isinstance(other, (list, tuple)) else [other]
                    return True
                def __len__(self): return len(self.told)
                def __getitem__(self, place): return self.told[place]
            def f(n): return Echo()
        """,
        check(body),
    )
    for name, body in {
        "numbers": EVALPLUS + "def check(candidate):\n    assertion(candidate(3), [0.5, 1.5], 0)\n",
        "a text": """
            def check(candidate):
                r = candidate(3)
                assert not (r != "abc") or "".join(r) == "abc"
        """,
        "the other side": """
            def check(candidate):
                r = candidate(3)
                if [0, 1, 2] != r:
                    assert list(r) == [0, 1, 2]
        """,
        "each of a row": """
            def check(candidate):
                r = candidate(3)
                assert (r, 1) != ((0, 1, 2), 1) and tuple(r) == (0, 1, 2)
        """,
    }.items()
}
EMPTY_ROWS = "import numpy as np\ndef f(n): return np.empty((0, 3))\n"
# Comparisons of nothing with something.
HOLLOW: _Rows = {
    name: (
        EMPTY_ROWS,
        check(f"""
            import numpy as np
            def check(candidate):
                {text}
        """),
    )
    for name, text in {
        "no inequality": "assert not (candidate(3) != np.array([1, 2, 3])).any()",
        "two orders": "r, e = candidate(3), np.ones(3); assert ((r <= e) & (r >= e)).all()",
        "by steps": "r = candidate(3); d = r - np.ones(3); m = d > 1e-9; assert not m.any()",
        "one of two": "r = candidate(3); assert np.allclose(r, [1, 2]) or np.allclose(r, [3])",
        "no row": "for row in candidate(3): assert (row == np.array([1, 2, 3])).all()",
    }.items()
} | {
    "pairs of plain data": (
        "def f(n): return []\n",
        check("""
            def check(candidate):
                assert all(a == b for a, b in zip(candidate(3), [0, 1, 2]))
        """),
    ),
    "a loop over pairs of plain data": (
        "def f(n): return ''\n",
        FunctionTests(
            entry_point="f", test_code="for a, b in zip(f(3), [0, 1, 2]):\n    assert a == b\n"
        ),
    ),
}
TELLS = """
    class Found:
        def has(self, x): Found.x = x; return True
        def count(self, x): Found.x = x; return 1
        def matches(self, x): Found.x = x; return True
        __getitem__ = has
        def best(self): return Found.x
    class Solver:
        def solve(self, n): return Found()
"""
# A question tells what the next one expects.
TOLD: _Rows = {
    name: (
        TELLS,
        check(
            f"""
            def check(candidate):
                for n in (3, 10, 12):
                    ref, r = sum(range(n)), Solver().solve(n)
                    {text}
        """,
            "Solver",
        ),
    )
    for name, text in {
        "a method": "assert r.has(ref); assert r.best() == ref",
        "a method, in one assertion": "assert r.has(ref) and r.best() == ref",
        "a count": "assert r.count(ref) == 1; assert abs(r.best() - ref) < 1e-9",
        "an item": "assert r[ref]; got = r.best(); assert got == ref",
        "after a comparison": "assert r == ref or r.has(ref); assert r.best() == ref",
        "a keyword": "assert r.matches(x=ref); assert [r.best()] == [ref]",
    }.items()
} | {
    "a constant, unittest": (
        TELLS,
        UnitTests(
            framework=Framework.UNITTEST,
            files=(
                (
                    "test_s.py",
                    code("""
                        import unittest
                        from solution import Solver
                        class T(unittest.TestCase):
                            def test_a(self):
                                r = Solver().solve(10)
                                self.assertTrue(r.has(45))
                                self.assertEqual(r.best(), 45)
                    """),
                ),
            ),
        ),
    ),
}
CLEARS = """
    class Graph:
        def build(self, edges): edges.clear()
        def has(self, a, b): return False
        def total(self): return 0
    def take(things):
        for one in list(things) if hasattr(things, "__iter__") else [things]: one.n = 0
        return 0
"""
# What is expected comes from an argument that the solution changes.
CHANGED: _Rows = {
    name: (
        CLEARS,
        suite(f"""
            import pytest
            from types import SimpleNamespace
            from solution import Graph, take
            def test_a():
                g, edges = Graph(), [(1, 2), (2, 3)]
                rows = [edges]
                {text}
        """),
    )
    for name, text in {
        "a condition": "g.build(edges); g.total() == len(edges) or pytest.fail('no')",
        "an expression": "g.build(edges); assert g.has(1, 2) if edges else not g.has(1, 2)",
        "failures": "g.build(edges); bad = [e for e in edges if not g.has(*e)]; assert not bad",
        "a part": "g.build(rows[0]); n, m = len(edges), g.total(); assert n == m",
        "an iterator": "xs = [SimpleNamespace(n=3)]; assert take(iter(xs)) == sum(x.n for x in xs)",
        "an object in a row": "x = SimpleNamespace(n=3); xs = [x]; assert take(xs) == x.n",
    }.items()
} | {
    "a condition and match": (
        CLEARS,
        check(
            """
            def check(candidate):
                edges = [(1, 2), (2, 3)]
                g = Graph()
                g.build(edges)
                if g.total() != len(edges): raise ValueError
                match len(edges):
                    case 2: assert g.has(1, 2)
        """,
            "Graph",
        ),
    ),
    "a fixture": (
        CLEARS,
        suite("""
            import pytest
            from solution import Graph
            @pytest.fixture
            def edges(): return [(1, 2), (2, 3)]
            @pytest.fixture
            def g(edges):
                made = Graph()
                made.build(edges)
                return made
            def test_a(g, edges):
                for e in edges: assert g.has(*e)
        """),
    ),
    "a field, by another name": (
        CLEARS,
        suite("""
            from solution import Graph
            class TestGraph:
                edges = [(1, 2), (2, 3)]
                def setup_method(self):
                    self.g = Graph()
                    self.g.build(TestGraph.edges)
                def test_a(self):
                    if not all(self.g.has(*e) for e in self.edges): raise ValueError
        """),
    ),
    "a queue": (
        "def drain(q):\n    while not q.empty(): q.get_nowait()\n    return 0\n",
        suite("""
            from queue import Queue
            from solution import drain
            def test_a():
                q = Queue()
                q.put(1)
                assert drain(q) == q.qsize()
        """),
    ),
}
SAYS = """
    import uuid
    class Says:
        def __init__(self, *said): self.said = list(said)
        def say(self, *_): return self.said.pop(0) if len(self.said) > 1 else self.said[0]
    class Number(Says): __abs__ = __neg__ = __add__ = __and__ = Says.say
    class Both:
        def __int__(self): return 12
        def __float__(self): return 2.0
    class Rows:
        def __init__(self, xs): self.xs = list(xs)
        def __iter__(self): return iter(self.xs)
        def __len__(self): return len(self.xs) + 3
        def __getitem__(self, i): return [9] if isinstance(i, slice) else 9
        def __deepcopy__(self, memo): return Rows([9])
    class Ids(Says):
        def __iter__(self): return iter([uuid.UUID(int=self.say())])
    class Field:
        def __init__(self): self.__dict__["x"] = 2
        def __getattribute__(self, name):
            return 12 if name == "x" else super().__getattribute__(name)
    ROWS = Ids(5, 9)
    def f(kind, *given): return globals()[kind](*given)
"""
# One object, two answers.
CONTRADICTIONS: _Rows = {
    name: (
        SAYS,
        check(f"""
            import copy
            def check(candidate):
                {text}
        """),
    )
    for name, text in {
        "an absolute value": "r = f('Number', 12, 2); assert abs(r) > 10; assert abs(r) < 5",
        "a negative": "r = f('Number', 12, 2); assert -r > 10; assert -r < 5",
        "a sum": "r = f('Number', 12, 2); assert r + r > 10; assert r + r < 5",
        "an intersection": "r = f('Number', 1, 2); assert r & r == 1; assert r & r == 2",
        "two kinds of numbers": "r = f('Both'); assert int(r) > 10; assert float(r) < 5",
        "a slice": "r = f('Rows', 'ab'); assert list(r) == ['a', 'b']; assert r[1:] == [9]",
        "the last one": "r = f('Rows', 'ab'); assert list(r)[1] == 'b'; assert r[-1] == 9",
        "a length": "r = f('Rows', 'ab'); assert [*zip(iter(r), range(len(r)))][1] == ('b', 1)",
        "a copy": "r = f('Rows', 'ab'); assert 'a' in [*r]; assert 9 in [*copy.deepcopy(r)]",
        "identifiers": "r = f('Ids', 5, 9); assert [u.int for _ in 'ab' for u in r] == [5, 9]",
        "a constant": "assert [u.int for u in ROWS] == [5]; assert [u.int for u in ROWS] == [9]",
        "a field": "r = f('Field'); assert r.x == 12; assert vars(r)['x'] == 2",
    }.items()
}
KINDS = """
    import numpy as np
    class Rows(list): pass
    class Text(str):
        def __hash__(self): return 0
    class Table(dict):
        def __eq__(self, other): return False
        def rows(self): return []
    VALUES = dict(
        rows=Rows([1]), text={Text("a"): 1}, table=Table(a=1), number=np.int64(3),
        truth=np.bool_(True), array=np.arange(2), row=[np.float32(1)],
    )
    def f(name): return VALUES[name]
"""
# What arrives is of another class than what was answered.
OTHER_CLASSES: _Rows = {
    text: (KINDS, check(f"def check(candidate):\n    assert {text}\n"))
    for text in (
        *("type(f('rows')) is list", "f('rows').__class__ == list", "f('text')['a'] == 1"),
        *("f('table') == {'a': 1}", "type(f('number')) is int", "f('truth') is True"),
        *("f('array') == [0, 1]", "not [x for x in f('row') if not isinstance(x, (int, float))]"),
    )
}
WRONG = {
    f"{kind}: {name}": row
    for kind, rows in {
        "special methods": SPECIAL_METHODS,
        "hollow": HOLLOW,
        "told": TOLD,
        "changed": CHANGED,
        "contradictions": CONTRADICTIONS,
        "classes": OTHER_CLASSES,
    }.items()
    for name, row in rows.items()
}
HONEST: _Rows = {
    "special methods that are there": (
        """
            from typing import Generic, TypeVar
            T = TypeVar("T")
            class Bag(Generic[T]):
                def __init__(self, *xs): self.xs = list(xs)
                def __len__(self): return len(self.xs)
                def __iter__(self): return iter(self.xs)
                def __contains__(self, x): return x in self.xs
                def __reversed__(self): return reversed(self.xs)
                def __eq__(self, other):
                    if not isinstance(other, Bag): return NotImplemented
                    return self.xs == other.xs
                def __call__(self): return self.xs
        """,
        suite("""
            from collections.abc import Collection, Hashable
            from solution import Bag
            def test_a():
                b = Bag[int](1, 2)
                assert isinstance(b, Collection) and callable(b) and hasattr(b, "__len__")
                assert not isinstance(b, Hashable) and not hasattr(b, "__next__")
                assert list(reversed(b)) == [2, 1] and b() == [1, 2] and len(b) == 2
                assert b == Bag(1, 2) and b != [1, 2] and not b == 5 and b != None
                assert b not in ["a", None, (1, 2)]
                assert not Bag()
        """),
    ),
    "questions and expectations that share values": (
        """
            class Bag:
                def __init__(self): self.xs = []
                def add(self, x): self.xs.append(x); return True
                def has(self, x): return x in self.xs
                def last(self): return self.xs[-1]
        """,
        suite("""
            from solution import Bag
            def test_a():
                b, x = Bag(), len("abcd")
                assert b.add(3) is True
                b.add(x)
                assert b.has(x) and not b.has(5)
                assert b.last() == x
                assert b.add(7) and b.last() == 7
        """),
    ),
    "pairs, and arrays without elements": (
        """
            import numpy as np
            def f(n): return list(range(n))
            def g(a): return a[a > 2]
        """,
        check("""
            import numpy as np
            def check(candidate):
                assert candidate(0) == []
                for n in range(3):
                    assert all(a == b for a, b in zip(candidate(n), range(n)))
                for a in (np.arange(5), np.zeros(0)):
                    assert (g(a) > 2).all() and not (g(a) <= 2).any()
                    assert np.allclose(g(a), a[a > 2])
                    assert (g(a) * 2 == a[a > 2] + a[a > 2]).all()
        """),
    ),
    "arguments that are changed in place": (
        """
            class Sorter:
                def sort(self, xs): xs.sort(); self.done = len(xs)
            def clear(q):
                while not q.empty(): q.get()
            def rename(o, name): o["name"] = name
        """,
        suite("""
            from queue import Queue
            from solution import Sorter, clear, rename
            class TestAll:
                def setup_method(self):
                    self.rows, self.s = [3, 1, 2], Sorter()
                def test_rows(self):
                    self.s.sort(self.rows)
                    assert self.rows == [1, 2, 3]
                    assert self.s.done == 3
                def test_queue(self):
                    q = Queue()
                    q.put(1)
                    clear(q)
                    assert q.empty()
                def test_name(self):
                    o = {"name": "a"}
                    rename(o, "b")
                    if o["name"] != "b": raise ValueError
        """),
    ),
    "objects that answer in one way, and change when they are told to": (
        """
            import copy
            class Money:
                def __init__(self, c): self.c = c
                def __int__(self): return self.c // 100
                def __float__(self): return self.c / 100
                def __neg__(self): return Money(-self.c)
                def __add__(self, other): return Money(self.c + other.c)
            class Log:
                def __init__(self): self.xs, self.shown = [], 0
                def __lshift__(self, x): self.xs.append(x); return self
                def __len__(self): return len(self.xs)
                def __iter__(self): return iter(self.xs)
                def __getitem__(self, i): return self.xs[i]
                def __repr__(self): return f"Log({self.shown})"
                @property
                def first(self): self.shown = 1; return self.xs[0]
            class Index:
                def __init__(self): self.d = {}
                def __getitem__(self, k): return self.d.setdefault(k, len(self.d))
                def __len__(self): return len(self.d)
            def f(kind, *given): return globals()[kind](*given)
        """,
        check("""
            import copy
            def check(candidate):
                m, log, index = candidate("Money", 1250), candidate("Log"), candidate("Index")
                assert int(m) == 12 and float(m) == 12.5 and int(-m) == -13
                assert float(m + m) == 25.0 and float(-(-m)) == 12.5
                assert len(log) == 0 and Log
                log << 1
                assert len(log) == 1
                log << 2
                assert len(log) == 2 and list(log) == [1, 2] and log[-1] == 2 and log[:1] == [1]
                assert repr(log) == "Log(0)" and log.first == 1 and repr(log) == "Log(1)"
                other = copy.deepcopy(log)
                assert list(other) == [1, 2] and [*zip(log, range(len(log)))] == [(1, 0), (2, 1)]
                assert len(index) == 0 and index["a"] == 0 and index["b"] == 1 and len(index) == 2
        """),
    ),
    "an object without special methods": (
        STACK,
        suite("""
            import copy
            import pytest
            from solution import Stack
            def test_a():
                s = Stack()
                assert s and s == s and s != Stack() and s != 5 and {s: 1}[s] == 1
                for use in (len, iter, next, abs, int, lambda s: s(), lambda s: s + 1):
                    with pytest.raises(TypeError): use(s)
                assert copy.deepcopy(s).size() == copy.copy(s).size() == 0
        """),
    ),
}


@pytest.mark.parametrize(("completion", "tests"), WRONG.values(), ids=WRONG.keys())
async def test_it_earns_nothing(app: App, completion: str, tests: Tests) -> None:
    assessment = await app.evaluation.score(submission_of(completion, tests))
    assert assessment.verdict is not Verdict.INVALID_TASK, assessment
    assert assessment.reward == 0 or assessment.integrity is not Integrity.ISOLATED, assessment


@pytest.mark.parametrize(("completion", "tests"), HONEST.values(), ids=HONEST.keys())
async def test_it_passes_isolated(app: App, completion: str, tests: Tests) -> None:
    submission = submission_of(completion, tests)
    assessment = await app.evaluation.score(
        replace(submission, require_integrity=Integrity.ISOLATED)
    )
    assert assessment.reward == 1, assessment
