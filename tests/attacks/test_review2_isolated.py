# ruff: noqa: E501  # programs
"""Isolated judging, reviewed: wrong solutions that pass, honest ones that do not.

Each row is a completion with its tests. A row of `WRONG` does not solve its task, so that it earns
nothing, or its label is weaker than ISOLATED. A row of `HONEST` passes. Programs that would run for
seconds, such as endless ones, are left to `test_sieges`.
"""

from __future__ import annotations

import textwrap
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

import pytest
import pytest_asyncio

from reward_server.app import App, running_app
from reward_server.domain import (
    MEBIBYTE,
    Assessment,
    CallCase,
    CallTests,
    Checker,
    CheckerKind,
    Extraction,
    Framework,
    FunctionTests,
    Integrity,
    ProgramTests,
    Submission,
    Tests,
    UnitTests,
    Verdict,
)
from reward_server.settings import Settings
from tests.support import FILE_LIMITS, PACKAGES, on_the_servers_loop

pytestmark = [on_the_servers_loop, pytest.mark.timeout(300)]
LIMITS = replace(FILE_LIMITS, processes=64, memory_bytes=512 * MEBIBYTE)
PROGRAM_LIMITS = replace(
    LIMITS, memory_bytes=256 * MEBIBYTE, cpu_time_seconds=10.0, wall_time_seconds=60.0
)


def code(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


def check(body: str, entry: str = "f") -> FunctionTests:
    return FunctionTests(entry_point=entry, test_code=code(body))


def suite(body: str) -> UnitTests:
    return UnitTests(framework=Framework.PYTEST, files=(("test_s.py", code(body)),))


def usuite(body: str) -> UnitTests:
    return UnitTests(framework=Framework.UNITTEST, files=(("test_s.py", code(body)),))


def program(body: str) -> ProgramTests:
    return ProgramTests(test_code=code(body))


def calls(*cases: tuple[str, str], entry: str = "f", checker: Checker | None = None) -> CallTests:
    made = (CallCase(args_json=given, expected_json=expected) for given, expected in cases)
    return CallTests(entry_point=entry, cases=tuple(made), checker=checker or Checker())


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A completion and its tests."""

    completion: str
    tests: Tests
    prompt: str = ""
    language: str = "python"


CONTRADICTIONS: dict[str, Row] = {
    "slice vs iter": Row(
        completion="""
            class R:
                def __init__(s, xs): s.xs = list(xs)
                def __iter__(s): return iter(s.xs)
                def __len__(s): return len(s.xs)
                def __getitem__(s, i): return [10**9]*(len(s.xs)-1)
            def f(xs): return R(xs)
        """,
        tests=check("""
            def check(candidate):
                for xs in ([3,1,2],[9,7,8,7]):
                    r = candidate(xs)
                    assert sorted(r) == sorted(xs)
                    assert all(a <= b for a, b in zip(r, r[1:]))
        """),
    ),
    "negative index vs iter": Row(
        completion="""
            class R:
                def __init__(s, xs): s.xs = list(xs)
                def __iter__(s): return iter(s.xs)
                def __getitem__(s, i): return {0: -10**9, -1: 10**9}[i]
            def f(xs): return R(xs)
        """,
        tests=check("""
            def check(candidate):
                for xs in ([3,1,2],[9,7,8,7]):
                    r = candidate(xs)
                    assert sorted(r) == sorted(xs)
                    assert r[-1] >= max(xs)
                    assert r[-1] > min(xs)
        """),
    ),
    "abs twice": Row(
        completion="""
            class Answers:
                def __init__(self, *said): self.said = list(said)
                def say(self): return self.said.pop(0) if len(self.said) > 1 else self.said[0]

            class R(Answers):
                def __abs__(s): return s.say()
            def f(n): return R(12, 2)
        """,
        tests=check("""
            def check(candidate):
                r = candidate(12)
                assert abs(r) > 10
                assert abs(r) < 5
        """),
    ),
    "neg vs pos": Row(
        completion="""
            class Answers:
                def __init__(self, *said): self.said = list(said)
                def say(self): return self.said.pop(0) if len(self.said) > 1 else self.said[0]

            class R(Answers):
                def __neg__(s): return s.say()
            def f(n): return R(12, 2)
        """,
        tests=check("""
            def check(candidate):
                r = candidate(12)
                assert -r > 10
                assert -r < 5
        """),
    ),
    "int vs float": Row(
        completion="""
            class R:
                def __int__(s): return 12
                def __float__(s): return 2.0
            def f(n): return R()
        """,
        tests=check("""
            def check(candidate):
                r = candidate(12)
                assert int(r) > 10
                assert float(r) < 5
        """),
    ),
    "uuid elements": Row(
        completion="""
            import uuid
            class R:
                n = 0
                def __iter__(s):
                    s.n += 1
                    return iter([uuid.UUID(int=5)] if s.n == 1 else [uuid.UUID(int=9)])
            def f(n): return R()
        """,
        tests=check("""
            def check(candidate):
                r = candidate(12)
                assert [u.int for u in r] == [5]
                assert [u.int for u in r] == [9]
        """),
    ),
    "path elements": Row(
        completion="""
            import pathlib
            class R:
                n = 0
                def __iter__(s):
                    s.n += 1
                    return iter([pathlib.PurePosixPath("a.txt")] if s.n == 1 else [pathlib.PurePosixPath("b.c")])
            def f(n): return R()
        """,
        tests=check("""
            def check(candidate):
                r = candidate(12)
                assert [u.suffix for u in r] == [".txt"]
                assert [u.name for u in r] == ["b.c"]
        """),
    ),
    "sum of objects": Row(
        completion="""
            class Answers:
                def __init__(self, *said): self.said = list(said)
                def say(self): return self.said.pop(0) if len(self.said) > 1 else self.said[0]

            class R(Answers):
                def __add__(s, o): return s.say()
            def f(n): return R(12, 2)
        """,
        tests=check("""
            def check(candidate):
                r = candidate(12)
                assert r + r > 10
                assert r + r < 5
        """),
    ),
    "copy": Row(
        completion="""
            class Answers:
                def __init__(self, *said): self.said = list(said)
                def say(self): return self.said.pop(0) if len(self.said) > 1 else self.said[0]

            class R(Answers):
                def __iter__(s): return iter(s.said[0])
                def __deepcopy__(s, m): return R([2])
            def f(n): return R([n])
        """,
        tests=check("""
            import copy, math
            def check(candidate):
                for n in (12, 45, 77):
                    r = candidate(n)
                    assert math.prod(copy.copy(r)) == n
                    assert all(p in (2, 3, 5, 7, 11) for p in copy.deepcopy(r))
        """),
    ),
    "capital function": Row(
        completion="""
            class Answers:
                def __init__(self, *said): self.said = list(said)
                def say(self): return self.said.pop(0) if len(self.said) > 1 else self.said[0]

            class R(Answers):
                def __iter__(s): return iter(s.say())
            def Factors(n): return R([n], [2])
        """,
        tests=check(
            """
            import math
            def check(candidate):
                for n in (12, 45, 77):
                    r = candidate(n)
                    assert math.prod(r) == n
                    assert all(p in (2, 3, 5, 7, 11) for p in r)
        """,
            "Factors",
        ),
    ),
    "object from module attribute": Row(
        completion="""
            class Answers:
                def __init__(self, *said): self.said = list(said)
                def say(self): return self.said.pop(0) if len(self.said) > 1 else self.said[0]

            class R(Answers):
                def __iter__(s): return iter(s.say())
            PRIMES = R([12],[2])
            def f(n): return n
        """,
        tests=check("""
            import math
            def check(candidate):
                assert math.prod(PRIMES) == 12
                assert all(p in (2, 3, 5, 7, 11) for p in PRIMES)
        """),
    ),
    "len in first use after iter": Row(
        completion="""
            class R:
                def __iter__(s): return iter(["a"])
                def __len__(s): return 3
            def f(n): return R()
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                for x, i in zip(iter(r), range(len(r))): assert x in "abc"
                assert set(r) <= {"a","b","c"}
        """),
    ),
    "vars vs field": Row(
        completion="""
            class R:
                def __init__(s): s.__dict__['x'] = 2
                def __getattribute__(s, n): return 12 if n == 'x' else object.__getattribute__(s, n)
            def f(n): return R()
        """,
        tests=check("""
            def check(candidate):
                r = candidate(12)
                assert r.x == 12
                assert vars(r)['x'] == 2
        """),
    ),
    "set ops": Row(
        completion="""
            class Answers:
                def __init__(self, *said): self.said = list(said)
                def say(self): return self.said.pop(0) if len(self.said) > 1 else self.said[0]

            class R(Answers):
                def __and__(s, o): return s.say()
                def __sub__(s, o): return s.say()
                __rsub__ = __rand__ = __and__
            def f(n): return R({1,2}, set())
        """,
        tests=check("""
            def check(candidate):
                r, q = candidate(12), candidate(13)
                assert r & q == {1, 2}
                assert r & q == set() or len(r & q) == 0
        """),
    ),
}

SHARED_VALUES: dict[str, Row] = {
    "grid of one row": Row(
        completion="def f(n): return [[0]*n]*n\n",
        tests=check("""
            def check(candidate):
                g = candidate(3)
                g[0][0] = 1
                assert g == [[1,0,0],[0,0,0],[0,0,0]]
        """),
    ),
    "grid of one row, suite": Row(
        completion="def make_grid(n): return [[0]*n]*n\n",
        tests=suite("""
            from solution import make_grid
            def test_independent_rows():
                g = make_grid(3)
                g[0][0] = 1
                assert g[1][0] == 0
                assert g[0][0] == 1
        """),
    ),
    "shallow copy for deep": Row(
        completion="def clone(d): return dict(d)\n",
        tests=suite("""
            from solution import clone
            def test_deep():
                d = {"a": [1, 2], "b": {"c": 3}}
                c = clone(d)
                assert c == d
                c["a"].append(9)
                c["b"]["c"] = 0
                assert d == {"a": [1, 2], "b": {"c": 3}}
        """),
    ),
    "returns argument": Row(
        completion="""
            def f(xs):
                xs.sort()
                return xs
        """,
        tests=check("""
            def check(candidate):
                xs = [3,1,2]
                r = candidate(xs)
                assert r == [1,2,3]
                r.append(4)
                assert len(xs) == 3
        """),
    ),
    "is not": Row(
        completion="def f(xs): return xs\n",
        tests=check("""
            def check(candidate):
                xs = [3,1,2]
                r = candidate(xs)
                assert r == [3,1,2]
                assert r is not xs
        """),
    ),
    "assertIsNot": Row(
        completion="def f(xs): return xs\n",
        tests=usuite("""
            import unittest
            from solution import f
            class T(unittest.TestCase):
                def test_a(self):
                    xs = [3,1,2]
                    r = f(xs)
                    self.assertEqual(r, xs)
                    self.assertIsNot(r, xs)
        """),
    ),
    "destroys argument, asked twice": Row(
        completion="""
            def f(xs):
                s = 0
                while xs: s += xs.pop()
                return s
        """,
        tests=check("""
            def check(candidate):
                xs = [3,1,2]
                assert candidate(xs) == 6
                assert candidate(xs) == 6
        """),
    ),
    "destroys argument, len": Row(
        completion="""
            def f(xs):
                s = 0
                while xs: s += xs.pop()
                return s
        """,
        tests=check("""
            def check(candidate):
                xs = [3,1,2]
                assert candidate(xs) == 6
                assert len(xs) == 3
        """),
    ),
    "destroys argument, equality": Row(
        completion="""
            def f(xs):
                s = 0
                while xs: s += xs.pop()
                return s
        """,
        tests=check("""
            def check(candidate):
                xs = [3,1,2]
                assert candidate(xs) == 6
                assert xs == [3,1,2]
        """),
    ),
    "destroys argument, before copy": Row(
        completion="""
            def f(xs):
                s = 0
                while xs: s += xs.pop()
                return s
        """,
        tests=check("""
            import copy
            def check(candidate):
                for xs in ([3,1,2],[5]):
                    before = copy.deepcopy(xs)
                    assert candidate(xs) == sum(before)
                    assert xs == before
        """),
    ),
    "destroys argument, self": Row(
        completion="""
            def f(xs):
                s = 0
                while xs: s += xs.pop()
                return s
        """,
        tests=usuite("""
            import unittest
            from solution import f
            class T(unittest.TestCase):
                def setUp(self):
                    self.xs = [1,2,3]
                def test_a(self):
                    self.assertEqual(f(self.xs), 6)
                    self.assertEqual(self.xs, [1,2,3])
        """),
    ),
    "destroys argument, fixture": Row(
        completion="""
            def f(xs):
                s = 0
                while xs: s += xs.pop()
                return s
        """,
        tests=suite("""
            import pytest
            from solution import f
            @pytest.fixture(scope="module")
            def xs(): return [1,2,3]
            def test_a(xs): assert f(xs) == 6
            def test_b(xs): assert f(xs) == 6
        """),
    ),
    "destroys argument, module constant": Row(
        completion="""
            def f(xs):
                s = 0
                while xs: s += xs.pop()
                return s
        """,
        tests=suite("""
            from solution import f
            DATA = [1,2,3]
            def test_a(): assert f(DATA) == 6
            def test_b(): assert f(DATA) == 6
            def test_c(): assert DATA == [1,2,3]
        """),
    ),
    "destroys argument, nested in table": Row(
        completion="""
            def f(g):
                s = 0
                for r in g:
                    while r: s += r.pop()
                return s
        """,
        tests=check("""
            def check(candidate):
                g = [[1,2],[3]]
                assert candidate(g) == 6
                assert g[0] == [1,2]
                assert any(g)
        """),
    ),
    "destroys argument dict loops": Row(
        completion="""
            def f(d):
                s = 0
                while d: s += d.popitem()[1]
                return s
        """,
        tests=check("""
            def check(candidate):
                d = {"a": 1, "b": 2}
                r = candidate(d)
                assert r == 3
                for k in ("a", "b"):
                    assert k in d
        """),
    ),
    "keeps reference": Row(
        completion="""
            class Stack:
                def __init__(self, items): self.items = items
                def push(self, x): self.items.append(x)
                def size(self): return len(self.items)
        """,
        tests=suite("""
            from solution import Stack
            def test_copy():
                xs = [1, 2]
                s = Stack(xs)
                s.push(3)
                assert s.size() == 3
                assert xs == [1, 2]
            def test_other():
                xs = [1, 2]
                s = Stack(xs)
                xs.append(3)
                assert s.size() == 2
        """),
    ),
    "returned internal list of function": Row(
        completion="""
            _C = {"a": 1}
            def config(): return _C
        """,
        tests=suite("""
            from solution import config
            def test_copy():
                c = config()
                c["a"] = 2
                assert config() == {"a": 1}
        """),
    ),
    "returned internal list of method": Row(
        completion="""
            class Cart:
                def __init__(self): self._i = []
                def add(self, x): self._i.append(x)
                def items(self): return self._i
        """,
        tests=suite("""
            from solution import Cart
            def test_copy():
                c = Cart()
                c.add(1)
                c.items().append(2)
                assert c.items() == [1]
        """),
    ),
    "dict.fromkeys list": Row(
        completion="def f(ks): return dict.fromkeys(ks, [])\n",
        tests=check("""
            def check(candidate):
                d = candidate(["a","b"])
                assert d == {"a": [], "b": []}
                d["a"].append(1)
                assert d == {"a": [1], "b": []}
        """),
    ),
    "cached result changed by caller": Row(
        completion="""
            import functools
            @functools.lru_cache
            def f(n): return list(range(n))
        """,
        tests=check("""
            def check(candidate):
                a = candidate(3)
                a.append(7)
                assert candidate(3) == [0,1,2]
        """),
    ),
    "object mutates args through dataclass": Row(
        completion="""
            import dataclasses
            @dataclasses.dataclass
            class P:
                tags: list
            def f(p, t): p.tags.append(t); return p
        """,
        tests=suite("""
            from solution import P, f
            import dataclasses
            def test_a():
                tags = ["a"]
                p = P(tags)
                q = f(p, "b")
                assert q.tags == ["a", "b"]
                assert tags == ["a"]
        """),
    ),
    "not mutated, sum": Row(
        completion="""
            def f(xs):
                s = sum(xs)
                xs.clear()
                return s
        """,
        tests=check("""
            def check(candidate):
                xs = [3, 1, 2]
                assert candidate(xs) == 6
                assert sum(xs) == 6
        """),
    ),
    "not mutated, loop of cases twice": Row(
        completion="""
            def f(xs):
                s = sum(xs)
                xs.clear()
                return s
        """,
        tests=check("""
            CASES = [([3, 1], 4), ([5], 5)]
            def check(candidate):
                for _ in range(2):
                    for xs, want in CASES:
                        assert candidate(xs) == want
        """),
    ),
    "not mutated, module data of asserts": Row(
        completion="""
            def f(xs):
                s = sum(xs)
                xs.clear()
                return s
        """,
        tests=FunctionTests(
            entry_point="f",
            setup_code="DATA = [1, 2, 3]",
            asserts=("assert f(DATA) == 6", "assert f(DATA) == 6", "assert f(DATA[:2]) == 3"),
        ),
    ),
    "not mutated, dict of lists": Row(
        completion="""
            def f(d):
                for v in d.values(): v.sort()
                return d
        """,
        tests=check("""
            def check(candidate):
                d = {"a": [2, 1]}
                r = candidate(d)
                assert r == {"a": [1, 2]}
                assert d["a"] == [2, 1]
        """),
    ),
    "not mutated, parametrize shared": Row(
        completion="""
            def f(xs):
                xs.append(0)
                return len(xs)
        """,
        tests=suite("""
            import pytest
            from solution import f
            XS = [1, 2]
            @pytest.mark.parametrize("xs,n", [(XS, 3), (XS, 3)])
            def test_a(xs, n): assert f(xs) == n
        """),
    ),
    "not mutated, subTest": Row(
        completion="""
            def f(m):
                for r in m: r.reverse()
                return m
        """,
        tests=usuite("""
            import unittest, copy
            from solution import f
            class T(unittest.TestCase):
                def test_a(self):
                    m = [[1, 2], [3, 4]]
                    before = copy.deepcopy(m)
                    f(m)
                    self.assertEqual(m, before)
        """),
    ),
    "flatten shares nothing": Row(
        completion="""
            def f(xs):
                return xs + [xs]
        """,
        tests=check("""
            def check(candidate):
                xs = [1]
                r = candidate(xs)
                xs.append(2)
                assert r == [1, [1]]
        """),
    ),
    "default list shared, honest detection": Row(
        completion="""
            def f(x, acc=[]):
                acc.append(x)
                return acc
        """,
        tests=check("""
            def check(candidate):
                assert candidate(1) == [1]
                assert candidate(2) == [2]
        """),
    ),
    "snapshot history": Row(
        completion="""
            class Sim:
                def __init__(self): self.s, self.h = [0, 0], []
                def step(self):
                    self.s[0] += 1
                    self.h.append(self.s)
                    return self.s
        """,
        tests=suite("""
            from solution import Sim
            def test_a():
                s = Sim()
                a = s.step()
                b = s.step()
                assert b == [2, 0]
                assert a == [1, 0]
        """),
    ),
    "function snapshot": Row(
        completion="""
            _s = [0]
            def step():
                _s[0] += 1
                return _s
        """,
        tests=suite("""
            from solution import step
            def test_a():
                a = step()
                b = step()
                assert b == [2]
                assert a == [1]
        """),
    ),
    "matrix times scalar shares": Row(
        completion="def f(m): return [r for r in m]\n",
        tests=check("""
            def check(candidate):
                m = [[1, 2], [3, 4]]
                c = candidate(m)
                assert c == m
                c[0][0] = 9
                assert m[0][0] == 1
        """),
    ),
    "identity of rows": Row(
        completion="def f(n): return [[0] * n] * n\n",
        tests=check("""
            def check(candidate):
                g = candidate(2)
                assert g == [[0, 0], [0, 0]]
                assert g[0] is not g[1]
                assert len({id(r) for r in g}) == 2
        """),
    ),
    "dict view is live": Row(
        completion="""
            _d = {}
            def keys(): return _d.keys()
            def put(k): _d[k] = 1
        """,
        tests=suite("""
            from solution import keys, put
            def test_a():
                k = keys()
                put("a")
                assert list(k) == []
        """),
    ),
    "memoryview of bytearray live": Row(
        completion="""
            b = bytearray(b"ab")
            def view(): return memoryview(b)
            def put(): b[0] = 0x7a
        """,
        tests=check(
            """
            def check(candidate):
                v = candidate()
                put()
                assert bytes(v) == b"ab"
        """,
            "view",
        ),
    ),
    "js fill rows": Row(
        completion="const grid = (n) => Array(n).fill(Array(n).fill(0))",
        tests=program(
            "const assert = require('node:assert')\nconst g = grid(2)\ng[0][0] = 1\nassert.deepStrictEqual(g, [[1, 0], [0, 0]])\n"
        ),
        language="javascript",
    ),
    "js cached result": Row(
        completion="const c = []\nconst f = () => c",
        tests=program(
            "const assert = require('node:assert')\nconst a = f()\na.push(1)\nassert.deepStrictEqual(f(), [])\n"
        ),
        language="javascript",
    ),
    "js fresh object": Row(
        completion="const c = []\nconst f = () => c",
        tests=program(
            "const assert = require('node:assert')\nconst a = f(), b = f()\nassert.notStrictEqual(a, b)\n"
        ),
        language="javascript",
    ),
    "js argument kept": Row(
        completion="const f = (a) => { a.sort(); return a }",
        tests=program(
            "const assert = require('node:assert')\nconst a = [3, 1, 2]\nassert.deepStrictEqual(f(a), [1, 2, 3])\nassert.deepStrictEqual(a, [3, 1, 2])\n"
        ),
        language="javascript",
    ),
    "js argument destroyed twice": Row(
        completion="const f = (a) => { let s = 0; while (a.length) s += a.pop(); return s }",
        tests=program(
            "const assert = require('node:assert')\nconst a = [3, 1, 2]\nassert.strictEqual(f(a), 6)\nassert.strictEqual(f(a), 6)\n"
        ),
        language="javascript",
    ),
    "js result changes argument": Row(
        completion="const f = (o) => o",
        tests=program(
            "const assert = require('node:assert')\nconst o = { a: { b: 1 } }\nconst c = f(o)\nc.a.b = 2\nassert.strictEqual(o.a.b, 1)\n"
        ),
        language="javascript",
    ),
    "go shared rows": Row(
        completion="\trow := make([]int, n)\n\tg := [][]int{}\n\tfor i := 0; i < n; i++ {\n\t\tg = append(g, row)\n\t}\n\treturn g\n}\n",
        tests=program(
            'func main() {\n\tg := Grid(2)\n\tg[0][0] = 1\n\tif g[1][0] != 0 {\n\t\tpanic("rows are shared")\n\t}\n\tfmt.Println(len(g))\n}\n'
        ),
        prompt='package main\n\nimport "fmt"\n\n// Grid makes a grid.\nfunc Grid(n int) [][]int {\n',
        language="go",
    ),
    "go returns argument": Row(
        completion="\tfor i, j := 0, len(a)-1; i < j; i, j = i+1, j-1 {\n\t\ta[i], a[j] = a[j], a[i]\n\t}\n\treturn a\n}\n",
        tests=program(
            'func main() {\n\ta := []int{1, 2, 3}\n\tr := Rev(a)\n\tr[0] = 9\n\tif a[0] == 9 {\n\t\tpanic("aliases")\n\t}\n\tfmt.Println(r)\n}\n'
        ),
        prompt='package main\n\nimport "fmt"\n\nfunc Rev(a []int) []int {\n',
        language="go",
    ),
    "go append into spare capacity": Row(
        completion="\treturn append(a, 4)\n}\n",
        tests=program(
            'func main() {\n\tbase := make([]int, 3, 10)\n\tx := Rev(base[:2])\n\tif base[2] != 0 {\n\t\tpanic("wrote behind")\n\t}\n\tfmt.Println(x)\n}\n'
        ),
        prompt='package main\n\nimport "fmt"\n\nfunc Rev(a []int) []int {\n',
        language="go",
    ),
    "go cached slice": Row(
        completion="\tif cache == nil { cache = []int{1, 2} }\n\treturn cache\n}\nvar cache []int\n",
        tests=program(
            'func main() {\n\tx := Rev(nil)\n\tx[0] = 7\n\ty := Rev(nil)\n\tif y[0] != 1 {\n\t\tpanic("shared")\n\t}\n\tfmt.Println(x, y)\n}\n'
        ),
        prompt='package main\n\nimport "fmt"\n\nfunc Rev(a []int) []int {\n',
        language="go",
    ),
    "go nil vs empty": Row(
        completion="\treturn []int{}\n}\n",
        tests=program(
            'func main() {\n\tif Rev(nil) != nil {\n\t\tpanic("want nil")\n\t}\n\tfmt.Println("ok")\n}\n'
        ),
        prompt='package main\n\nimport "fmt"\n\nfunc Rev(a []int) []int {\n',
        language="go",
    ),
    "go cap": Row(
        completion="\treturn make([]int, 2, 2)\n}\n",
        tests=program(
            'func main() {\n\tif cap(Rev(nil)) != 10 {\n\t\tpanic("cap")\n\t}\n\tfmt.Println("ok")\n}\n'
        ),
        prompt='package main\n\nimport "fmt"\n\nfunc Rev(a []int) []int {\n',
        language="go",
    ),
    "java shared rows": Row(
        completion="        List<Integer> row = new ArrayList<>(Collections.nCopies(n, 0));\n        List<List<Integer>> g = new ArrayList<>();\n        for (int i = 0; i < n; i++) g.add(row);\n        return g;\n    }\n}\n",
        tests=program(
            "public class Main {\n    public static void main(String[] args) {\n        Solution s = new Solution();\n\n        List<List<Integer>> g = s.grid(2);\n        g.get(0).set(0, 1);\n        if (g.get(1).get(0) != 0) throw new AssertionError();\n\n    }\n}\n"
        ),
        prompt="import java.util.*;\nclass Solution {\n    public List<List<Integer>> grid(int n) {\n",
        language="java",
    ),
    "java mutable where unmodifiable is asked": Row(
        completion="        return new ArrayList<>(List.of(new ArrayList<>(List.of(1))));\n    }\n}\n",
        tests=program(
            "public class Main {\n    public static void main(String[] args) {\n        Solution s = new Solution();\n\n        List<List<Integer>> g = s.grid(2);\n        try { g.add(null); throw new IllegalStateException(); } catch (UnsupportedOperationException e) { }\n\n    }\n}\n"
        ),
        prompt="import java.util.*;\nclass Solution {\n    public List<List<Integer>> grid(int n) {\n",
        language="java",
    ),
    "java unmodifiable where mutable": Row(
        completion="        return Collections.nCopies(n, List.of(0));\n    }\n}\n",
        tests=program(
            "public class Main {\n    public static void main(String[] args) {\n        Solution s = new Solution();\n\n        List<List<Integer>> g = s.grid(2);\n        g.add(new ArrayList<>());\n        if (g.size() != 3) throw new AssertionError();\n\n    }\n}\n"
        ),
        prompt="import java.util.*;\nclass Solution {\n    public List<List<Integer>> grid(int n) {\n",
        language="java",
    ),
    "java argument returned": Row(
        completion="        Collections.sort(a); return a;\n    }\n}\n",
        tests=program(
            "public class Main {\n    public static void main(String[] args) {\n        Solution s = new Solution();\n\n        List<Integer> a = new ArrayList<>(List.of(3, 1, 2));\n        List<Integer> r = s.sorted(a);\n        r.add(9);\n        if (a.size() != 3) throw new AssertionError();\n\n    }\n}\n"
        ),
        prompt="import java.util.*;\nclass Solution {\n    public List<Integer> sorted(List<Integer> a) {\n",
        language="java",
    ),
    "c++ reference argument kept": Row(
        completion="sort(v.begin(), v.end()); return v; }\n",
        tests=program(
            "#undef NDEBUG\n#include <cassert>\nint main() {\n    vector<int> a = {3, 1, 2};\n    assert((sorted(a) == vector<int>{1, 2, 3}));\n    assert((a == vector<int>{3, 1, 2}));\n}\n"
        ),
        prompt="#include <vector>\n#include <algorithm>\nusing namespace std;\nvector<int> sorted(vector<int> &v) {\n",
        language="c++",
    ),
}

OTHER_TYPES: dict[str, Row] = {
    "type is list, subclass": Row(
        completion="""
            class L(list): pass
            def f(n): return L(range(n))
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert type(r) is list
                assert r == [0,1,2]
        """),
    ),
    "type name, subclass with methods": Row(
        completion="""
            class L(list):
                def foo(self): return 1
            def f(n): return L(range(n))
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert type(r).__name__ == "list"
                assert r == [0,1,2]
        """),
    ),
    "np array for list": Row(
        completion="""
            import numpy as np
            def f(n): return np.arange(n)
        """,
        tests=check("""
            def check(candidate):
                assert candidate(3) == [0,1,2]
                assert isinstance(candidate(3), list)
        """),
    ),
    "numpy int": Row(
        completion="""
            import numpy as np
            def f(n): return np.int64(n)
        """,
        tests=check("""
            def check(candidate):
                assert candidate(3) == 3
                assert type(candidate(3)) is int
        """),
    ),
    "str enum json": Row(
        completion="""
            class S(str):
                def __str__(self): return "wrong"
            def f(n): return S("ok")
        """,
        tests=check("""
            import json
            def check(candidate):
                assert candidate(3) == "ok"
                assert "%s" % candidate(3) == "ok"
                assert "".join([candidate(3)]) == "ok"
        """),
    ),
    "list eq overridden": Row(
        completion="""
            class L(list):
                def __eq__(self, o): return False
                def __hash__(self): return 1
            def f(n): return L([1])
        """,
        tests=check("""
            def check(candidate):
                assert candidate(3) == [1]
        """),
    ),
    "generator once": Row(
        completion="def f(n): return map(str, range(n))\n",
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert list(r) == ["0","1","2"]
                assert list(r) == ["0","1","2"]
        """),
    ),
    "zip object len": Row(
        completion="def f(n): return zip(range(n), range(n))\n",
        tests=check("""
            def check(candidate):
                r = candidate(2)
                assert list(r) == [(0,0),(1,1)]
                assert len(list(r)) == 2
        """),
    ),
    "set of unhashable/True-1": Row(
        completion="def f(n): return [True, 0.0, 2]\n",
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert [type(x) for x in r] == [int, int, int]
        """),
    ),
    "np.True_ is True": Row(
        completion="""
            import numpy as np
            def f(n): return np.bool_(n > 1)
        """,
        tests=check("""
            def check(candidate):
                assert candidate(3) is True
                assert candidate(0) is False
        """),
    ),
    "int subclass with eq": Row(
        completion="""
            class I(int):
                def __eq__(s, o): return True
                def __ne__(s, o): return False
                def __hash__(s): return 1
                def __sub__(s, o): return 0
                def __rsub__(s, o): return 0
                def __lt__(s, o): return True
                __gt__ = __le__ = __ge__ = __lt__
                def __abs__(s): return 0
                def __round__(s, n=0): return 3
                x = 5
            def f(n): return I(77)
        """,
        tests=check("""
            def check(candidate):
                assert candidate(3) == 3
                assert abs(candidate(3) - 3) < 1e-9
                assert round(candidate(3)) == 3
        """),
    ),
    "float subclass round": Row(
        completion="""
            class F(float):
                def __round__(s, n=0): return 3.0
                def __float__(s): return 3.0
                def __int__(s): return 3
                def __trunc__(s): return 3
                def __abs__(s): return 3.0
                def __str__(s): return "3.0"
                def __repr__(s): return "3.0"
                def __format__(s, f): return "3.00"
                x = 1
            def f(n): return F(77)
        """,
        tests=check("""
            def check(candidate):
                assert round(candidate(3), 2) == 3.0
                assert int(candidate(3)) == 3
        """),
    ),
    "str subclass methods": Row(
        completion="""
            class S(str):
                def strip(s): return "ok"
                def lower(s): return "ok"
                def split(s, *a): return ["o", "k"]
                def __len__(s): return 2
                def __contains__(s, x): return True
                def startswith(s, x): return True
                y = 1
            def f(n): return S("nothing")
        """,
        tests=check("""
            def check(candidate):
                assert candidate(3).strip() == "ok"
        """),
    ),
    "str subclass contains": Row(
        completion="""
            class S(str):
                def __contains__(s, x): return True
                def startswith(s, x): return True
                def __len__(s): return 2
                y = 1
            def f(n): return S("nothing")
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert "hello" in r
                assert len(r) == 2
        """),
    ),
    "list subclass contains/len/iter": Row(
        completion="""
            class L(list):
                def __contains__(s, x): return True
                def __len__(s): return 3
                def __iter__(s): return iter([1, 2, 3])
                def sort(s): pass
                def index(s, x): return 0
                def count(s, x): return 1
            def f(n): return L()
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert 1 in r
                assert len(r) == 3
                assert list(r) == [1, 2, 3]
        """),
    ),
    "list subclass index": Row(
        completion="""
            class L(list):
                def index(s, x): return 0
                def count(s, x): return 1
            def f(n): return L()
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert r.index(5) == 0
                assert r.count(5) == 1
        """),
    ),
    "dict subclass get/items": Row(
        completion="""
            class D(dict):
                def get(s, k, d=None): return {"a": 1}.get(k, d)
                def items(s): return [("a", 1)]
                def keys(s): return ["a"]
                def __getitem__(s, k): return 1
            def f(n): return D()
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert r["a"] == 1
                assert r.get("a") == 1
        """),
    ),
    "dict subclass getitem alone": Row(
        completion="""
            class D(dict):
                n = 0
                def __getitem__(s, k):
                    s.n += 1
                    return s.n
            def f(n): return D()
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert r["a"] == 1
                assert r["a"] == 2
        """),
    ),
    "namedtuple with methods": Row(
        completion="""
            from typing import NamedTuple
            class P(NamedTuple):
                x: int
                y: int
                def __eq__(s, o): return True
                def __getattribute__(s, n): return 3
                def norm(s): return 5
            def f(n): return P(0, 0)
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert r.x == 3 and r.y == 3
                assert r == (3, 3)
        """),
    ),
    "bool is int": Row(
        completion="def f(n): return 1\n",
        tests=check("""
            def check(candidate):
                assert candidate(3) == True
                assert candidate(3) is True
        """),
    ),
    "str type": Row(
        completion="""
            import enum
            class S(str, enum.Enum):
                A = 'a'
            def f(n): return S.A
        """,
        tests=check("""
            def check(candidate):
                assert candidate(3) == "a"
                assert type(candidate(3)) is str
        """),
    ),
    "str subclass plain": Row(
        completion="""
            class S(str): pass
            def f(n): return S('a')
        """,
        tests=check("""
            import json
            def check(candidate):
                assert candidate(3) == "a"
                assert type(candidate(3)) is str
        """),
    ),
    "int subclass repr": Row(
        completion="""
            class I(int):
                def __repr__(s): return 'I!'
            def f(n): return [I(3)]
        """,
        tests=check("""
            def check(candidate):
                assert repr(candidate(3)) == "[3]"
        """),
    ),
    "str subclass eq and hash": Row(
        completion="""
            class S(str):
                def __hash__(s): return 0
            def f(n): return {S('a'): 1}
        """,
        tests=check("""
            def check(candidate):
                assert candidate(3)["a"] == 1
        """),
    ),
    "dict subclass eq": Row(
        completion="""
            class D(dict):
                def __eq__(s, o): return False
                def items(s): return []
            def f(n): return D(a=1)
        """,
        tests=check("""
            def check(candidate):
                assert candidate(3) == {"a": 1}
                assert list(candidate(3).items()) == [("a", 1)]
        """),
    ),
    "ordereddict vs dict type": Row(
        completion="""
            from collections import OrderedDict
            def f(n): return OrderedDict(a=1)
        """,
        tests=check("""
            def check(candidate):
                assert candidate(3) == {"a": 1}
                assert type(candidate(3)) is dict
        """),
    ),
    "mappingproxy": Row(
        completion="""
            import types
            def f(n): return types.MappingProxyType({'a': 1})
        """,
        tests=check("""
            def check(candidate):
                assert isinstance(candidate(3), dict)
        """),
    ),
    "numpy array isinstance list": Row(
        completion="""
            import numpy as np
            def f(n): return [np.int64(1), np.float32(0.5)]
        """,
        tests=check("""
            def check(candidate):
                assert all(type(x) in (int, float) for x in candidate(3))
                assert candidate(3) == [1, 0.5]
        """),
    ),
    "numpy string": Row(
        completion="""
            import numpy as np
            def f(n): return np.array(['a', 'b'])
        """,
        tests=check("""
            def check(candidate):
                assert candidate(3) == ["a", "b"]
        """),
    ),
    "numpy nested in json": Row(
        completion="""
            import numpy as np
            def f(n): return {'a': np.int64(3)}
        """,
        tests=check("""
            import json
            def check(candidate):
                assert json.dumps(candidate(3)) == '{"a": 3}'
        """),
    ),
    "set with float keys": Row(
        completion="def f(n): return {1.0, 2.0}\n",
        tests=check("""
            def check(candidate):
                assert candidate(3) == {1, 2}
                assert all(isinstance(x, int) for x in candidate(3))
        """),
    ),
    "js generator for array": Row(
        completion="function* f(n) { for (let i = 0; i < n; i++) yield i }",
        tests=program(
            "const assert = require('node:assert')\nassert.deepStrictEqual(f(3), [0, 1, 2])\n"
        ),
        language="javascript",
    ),
    "js set iterator for array": Row(
        completion="const uniq = (a) => new Set(a).values()",
        tests=program(
            "const assert = require('node:assert')\nassert.deepStrictEqual(uniq([1, 1, 2]), [1, 2])\nassert(Array.isArray(uniq([1, 1, 2])))\n"
        ),
        language="javascript",
    ),
    "js array subclass": Row(
        completion="class A extends Array {}\nconst f = (n) => A.from([1, 2])",
        tests=program(
            "const assert = require('node:assert')\nassert.deepStrictEqual(f(3), [1, 2])\n"
        ),
        language="javascript",
    ),
    "js class named Object": Row(
        completion="const f = (() => { const C = class Object { constructor() { this.a = 1 } }; return () => new C() })()",
        tests=program(
            "const assert = require('node:assert')\nassert.deepStrictEqual(f(3), { a: 1 })\n"
        ),
        language="javascript",
    ),
    "js array extra props": Row(
        completion="const f = (n) => Object.assign([1, 2], { x: 1 })",
        tests=program(
            "const assert = require('node:assert')\nassert.deepStrictEqual(f(3), [1, 2])\n"
        ),
        language="javascript",
    ),
    "js symbol keys": Row(
        completion="const f = (n) => ({ a: 1, [Symbol('x')]: 2 })",
        tests=program(
            "const assert = require('node:assert')\nassert.deepStrictEqual(f(3), { a: 1 })\n"
        ),
        language="javascript",
    ),
    "js number wrapper": Row(
        completion="const f = (n) => new Number(5)",
        tests=program(
            "const assert = require('node:assert')\nassert.strictEqual(f(1) + 0, 5)\nassert.strictEqual(typeof f(1), 'number')\n"
        ),
        language="javascript",
    ),
}

ASKED_OF_THE_PROXY: dict[str, Row] = {
    "eq that raises, !=": Row(
        completion="""
            class Point:
                def __init__(s, x, y): s.x, s.y = x, y
                def __eq__(s, o): return s.x == o.x and s.y == o.y
        """,
        tests=suite("""
            from solution import Point
            def test_eq():
                assert Point(1, 2) == Point(1, 2)
                assert Point(1, 2) != Point(1, 3)
                assert Point(1, 2) != "not a point"
                assert not (Point(1, 2) == (1, 2))
        """),
    ),
    "eq with tuple": Row(
        completion="""
            class Point:
                def __init__(s, x, y): s.x, s.y = x, y
                def __eq__(s, o): return tuple(o) == (s.x, s.y)
                def __iter__(s): return iter((s.x, s.y))
        """,
        tests=suite("""
            from solution import Point
            def test_eq():
                assert Point(1, 2) == Point(1, 2)
                assert Point(1, 2) != (1, 2)
        """),
    ),
    "order with data must raise": Row(
        completion="""
            class Money:
                def __init__(s, x): s.x = x
                def __lt__(s, o): return s.x < getattr(o, "x", o)
                def __sub__(s, o): return Money(s.x - getattr(o, "x", o))
        """,
        tests=suite("""
            import pytest
            from solution import Money
            def test_order():
                assert Money(1) < Money(2)
                with pytest.raises(TypeError): Money(1) < 5
                with pytest.raises(TypeError): Money(1) - 5
        """),
    ),
    "arith with data must raise, unnamed": Row(
        completion="""
            class V:
                def __init__(s, x): s.x = x
                def __add__(s, o): return V(s.x + getattr(o, "x", o))
            def make(n): return V(n)
        """,
        tests=suite("""
            import pytest
            from solution import make
            def test_add():
                assert (make(1) + make(2)).x == 3
                with pytest.raises(TypeError): make(1) + 5
        """),
    ),
    "iterator without next": Row(
        completion="""
            class It:
                def __init__(s, n): s.n = n
                def __iter__(s): return iter(range(s.n))
            def f(n): return It(n)
        """,
        tests=check("""
            from collections.abc import Iterator
            def check(candidate):
                r = candidate(3)
                assert isinstance(r, Iterator)
                assert iter(r) is r or True
                assert list(r) == [0, 1, 2]
        """),
    ),
    "hasattr dunder": Row(
        completion="""
            class Stack:
                def __init__(s): s.x = []
                def push(s, v): s.x.append(v)
                def size(s): return len(s.x)
        """,
        tests=suite("""
            from solution import Stack
            def test_a():
                s = Stack()
                s.push(1)
                assert s.size() == 1
                assert hasattr(s, "__len__")
                assert hasattr(s, "__iter__") and hasattr(s, "__enter__")
        """),
    ),
    "callable": Row(
        completion="""
            class Adder:
                def __init__(s, n): s.n = n
                def add(s, x): return x + s.n
            def make(n): return Adder(n)
        """,
        tests=suite("""
            from solution import make
            def test_a():
                assert callable(make(3))
                assert make(3).add(1) == 4
        """),
    ),
    "abc isinstance": Row(
        completion="""
            class Bag:
                def __init__(s, xs): s.xs = list(xs)
                def __iter__(s): return iter(s.xs)
        """,
        tests=suite("""
            from collections.abc import Collection, Sized, Container, Hashable, Callable, Reversible
            from solution import Bag
            def test_a():
                b = Bag([1, 2])
                assert list(b) == [1, 2]
                assert isinstance(b, Sized) and isinstance(b, Container) and isinstance(b, Collection)
        """),
    ),
    "abstract method missing": Row(
        completion="""
            class Shape:
                def area(self): raise NotImplementedError
            class Sq(Shape):
                def __init__(s, a): s.a = a
                def area(s): return s.a ** 2
        """,
        tests=suite("""
            import pytest, abc
            from solution import Shape, Sq
            def test_a():
                assert Sq(2).area() == 4
                assert issubclass(Shape, abc.ABC)
        """),
    ),
    "frozen by hash": Row(
        completion="""
            class P:
                def __init__(s, x): s.x = x
                def __eq__(s, o): return isinstance(o, P) and s.x == o.x
        """,
        tests=suite("""
            from solution import P
            def test_a():
                assert P(1) == P(1)
                assert len({P(1), P(1)}) == 1
        """),
    ),
    "mutates while iterating": Row(
        completion="""
            class C:
                def __init__(s): s.xs = [1, 2, 3]
                def __iter__(s): return iter(s.xs)
                def remove(s, x): s.xs.remove(x)
        """,
        tests=suite("""
            from solution import C
            def test_a():
                c = C()
                for x in c: c.remove(x)
                assert list(c) == []
        """),
    ),
    "context manager swallows": Row(
        completion="""
            class M:
                def __enter__(s): return s
                def __exit__(s, *a): return True
        """,
        tests=suite("""
            import pytest
            from solution import M
            def test_a():
                with M(): assert False
        """),
    ),
    "raises Exception kind skip": Row(
        completion="""
            import unittest
            def f(n): raise unittest.SkipTest("x")
        """,
        tests=usuite("""
            import unittest
            from solution import f
            class T(unittest.TestCase):
                def test_a(self): self.assertEqual(f(3), 4)
        """),
    ),
    "raises pytest skip": Row(
        completion="""
            class Skipped(BaseException): pass
            Skipped.__module__ = "_pytest.outcomes"; Skipped.__qualname__ = "Skipped"
            def f(n): raise Skipped("x")
        """,
        tests=suite("""
            from solution import f
            def test_a(): assert f(3) == 4
        """),
    ),
    "property that deletes": Row(
        completion="""
            class A:
                @property
                def x(self): return 1
                @x.setter
                def x(self, v): pass
        """,
        tests=suite("""
            from solution import A
            def test_a():
                a = A()
                a.x = 5
                assert a.x == 5
        """),
    ),
    "exception class own named ValueError": Row(
        completion="""
            class ValueError(Exception): pass
            def f(n): raise ValueError("x")
        """,
        tests=suite("""
            import pytest
            from solution import f
            def test_a():
                with pytest.raises(ValueError): f(3)
        """),
    ),
    "exception baseexception": Row(
        completion="""
            class E(BaseException): pass
            def f(n): raise E("x")
        """,
        tests=suite("""
            import pytest
            from solution import f
            def test_a():
                with pytest.raises(Exception): f(3)
        """),
    ),
    "keyboardinterrupt": Row(
        completion="def f(n): raise KeyboardInterrupt\n",
        tests=check("""
            def check(candidate):
                try: candidate(3)
                except Exception: pass
                else: assert False
        """),
    ),
}

HOLLOW: dict[str, Row] = {
    "np 0 assert not (candidate(3) != np.array([1, 2, 3])).any()": Row(
        completion="""
            import numpy as np
            def f(n): return np.empty((0, 3))
        """,
        tests=check("""
            import numpy as np
            def check(candidate):
                assert not (candidate(3) != np.array([1, 2, 3])).any()
        """),
    ),
    "np 1 assert not np.any(candidate(3) - np.array([1, 2, 3]))": Row(
        completion="""
            import numpy as np
            def f(n): return np.empty((0, 3))
        """,
        tests=check("""
            import numpy as np
            def check(candidate):
                assert not np.any(candidate(3) - np.array([1, 2, 3]))
        """),
    ),
    "np 2 assert not np.any(np.abs(candidate(3) - np.array([1, 2, 3]))": Row(
        completion="""
            import numpy as np
            def f(n): return np.empty((0, 3))
        """,
        tests=check("""
            import numpy as np
            def check(candidate):
                assert not np.any(np.abs(candidate(3) - np.array([1, 2, 3])) > 1e-9)
        """),
    ),
    "np 3 assert np.count_nonzero(candidate(3) - np.array([1, 2, 3])) ": Row(
        completion="""
            import numpy as np
            def f(n): return np.empty((0, 3))
        """,
        tests=check("""
            import numpy as np
            def check(candidate):
                assert np.count_nonzero(candidate(3) - np.array([1, 2, 3])) == 0
        """),
    ),
    "np 4 assert np.sum(candidate(3) != np.array([1, 2, 3])) == 0": Row(
        completion="""
            import numpy as np
            def f(n): return np.empty((0, 3))
        """,
        tests=check("""
            import numpy as np
            def check(candidate):
                assert np.sum(candidate(3) != np.array([1, 2, 3])) == 0
        """),
    ),
    "np 5 assert (candidate(3) - np.array([1, 2, 3])).sum() == 0": Row(
        completion="""
            import numpy as np
            def f(n): return np.empty((0, 3))
        """,
        tests=check("""
            import numpy as np
            def check(candidate):
                assert (candidate(3) - np.array([1, 2, 3])).sum() == 0
        """),
    ),
    "np 6 assert sum(abs(candidate(3) - np.array([1, 2, 3])).flat) < 1": Row(
        completion="""
            import numpy as np
            def f(n): return np.empty((0, 3))
        """,
        tests=check("""
            import numpy as np
            def check(candidate):
                assert sum(abs(candidate(3) - np.array([1, 2, 3])).flat) < 1e-6
        """),
    ),
    "np 7 assert np.allclose(a=candidate(3), b=np.array([1, 2, 3]))": Row(
        completion="""
            import numpy as np
            def f(n): return np.empty((0, 3))
        """,
        tests=check("""
            import numpy as np
            def check(candidate):
                assert np.allclose(a=candidate(3), b=np.array([1, 2, 3]))
        """),
    ),
    "np 8 assert np.all(np.isclose(candidate(3), np.array([1, 2, 3])))": Row(
        completion="""
            import numpy as np
            def f(n): return np.empty((0, 3))
        """,
        tests=check("""
            import numpy as np
            def check(candidate):
                assert np.all(np.isclose(candidate(3), np.array([1, 2, 3])))
        """),
    ),
    "np 9 assert np.linalg.norm(np.subtract(candidate(3), np.array([1,": Row(
        completion="""
            import numpy as np
            def f(n): return np.empty((0, 3))
        """,
        tests=check("""
            import numpy as np
            def check(candidate):
                assert np.linalg.norm(np.subtract(candidate(3), np.array([1, 2, 3]))) < 1e-9
        """),
    ),
    "np 10 assert np.max(np.abs(candidate(3) - np.array([1, 2, 3])), in": Row(
        completion="""
            import numpy as np
            def f(n): return np.empty((0, 3))
        """,
        tests=check("""
            import numpy as np
            def check(candidate):
                assert np.max(np.abs(candidate(3) - np.array([1, 2, 3])), initial=0) < 1e-9
        """),
    ),
    "np 11 assert (np.abs(candidate(3) / np.array([1, 2, 3]) - 1) < 1e-": Row(
        completion="""
            import numpy as np
            def f(n): return np.empty((0, 3))
        """,
        tests=check("""
            import numpy as np
            def check(candidate):
                assert (np.abs(candidate(3) / np.array([1, 2, 3]) - 1) < 1e-9).all()
        """),
    ),
    "np 12 assert ((candidate(3) <= np.array([1, 2, 3])) & (candidate(3": Row(
        completion="""
            import numpy as np
            def f(n): return np.empty((0, 3))
        """,
        tests=check("""
            import numpy as np
            def check(candidate):
                assert ((candidate(3) <= np.array([1, 2, 3])) & (candidate(3) >= np.array([1, 2, 3]))).all()
        """),
    ),
    "np 13 assert (candidate(3) < np.array([1, 2, 3]) + 1e-9).all()": Row(
        completion="""
            import numpy as np
            def f(n): return np.empty((0, 3))
        """,
        tests=check("""
            import numpy as np
            def check(candidate):
                assert (candidate(3) < np.array([1, 2, 3]) + 1e-9).all()
        """),
    ),
    "np 14 assert all(np.array_equal(row, [1, 2, 3]) for row in candida": Row(
        completion="""
            import numpy as np
            def f(n): return np.empty((0, 3))
        """,
        tests=check("""
            import numpy as np
            def check(candidate):
                assert all(np.array_equal(row, [1, 2, 3]) for row in candidate(3))
        """),
    ),
    "np 15 np.testing.assert_array_less(candidate(3), [2, 3, 4])": Row(
        completion="""
            import numpy as np
            def f(n): return np.empty((0, 3))
        """,
        tests=check("""
            import numpy as np
            def check(candidate):
                np.testing.assert_array_less(candidate(3), [2, 3, 4])
        """),
    ),
    "np 16 np.testing.assert_allclose(actual=candidate(3), desired=[1, ": Row(
        completion="""
            import numpy as np
            def f(n): return np.empty((0, 3))
        """,
        tests=check("""
            import numpy as np
            def check(candidate):
                np.testing.assert_allclose(actual=candidate(3), desired=[1, 2, 3])
        """),
    ),
    "np 17 for row in candidate(3): assert (row == np.array([1, 2, 3]))": Row(
        completion="""
            import numpy as np
            def f(n): return np.empty((0, 3))
        """,
        tests=check("""
            import numpy as np
            def check(candidate):
                for row in candidate(3): assert (row == np.array([1, 2, 3])).all()
        """),
    ),
    "np 18 assert np.dot(candidate(3), np.array([1, 2, 3])).sum() == 0": Row(
        completion="""
            import numpy as np
            def f(n): return np.empty((0, 3))
        """,
        tests=check("""
            import numpy as np
            def check(candidate):
                assert np.dot(candidate(3), np.array([1, 2, 3])).sum() == 0
        """),
    ),
    "np 19 r = candidate(3); d = r - np.array([1, 2, 3]); assert (d ** ": Row(
        completion="""
            import numpy as np
            def f(n): return np.empty((0, 3))
        """,
        tests=check("""
            import numpy as np
            def check(candidate):
                r = candidate(3); d = r - np.array([1, 2, 3]); assert (d ** 2).sum() < 1e-9
        """),
    ),
    "np 20 r = candidate(3); d = np.abs(r - np.array([1, 2, 3])); m = d": Row(
        completion="""
            import numpy as np
            def f(n): return np.empty((0, 3))
        """,
        tests=check("""
            import numpy as np
            def check(candidate):
                r = candidate(3); d = np.abs(r - np.array([1, 2, 3])); m = d > 1e-9; assert not m.any()
        """),
    ),
    "np 21 r = candidate(3); ok = (r == np.array([1, 2, 3])); assert ok": Row(
        completion="""
            import numpy as np
            def f(n): return np.empty((0, 3))
        """,
        tests=check("""
            import numpy as np
            def check(candidate):
                r = candidate(3); ok = (r == np.array([1, 2, 3])); assert ok.all()
        """),
    ),
    "np 22 r = candidate(3); ok = (r == np.array([1, 2, 3])).all() and ": Row(
        completion="""
            import numpy as np
            def f(n): return np.empty((0, 3))
        """,
        tests=check("""
            import numpy as np
            def check(candidate):
                r = candidate(3); ok = (r == np.array([1, 2, 3])).all() and r.dtype.kind in 'if'; assert ok
        """),
    ),
    "np 23 ok = np.allclose; assert ok(candidate(3), [1, 2, 3])": Row(
        completion="""
            import numpy as np
            def f(n): return np.empty((0, 3))
        """,
        tests=check("""
            import numpy as np
            def check(candidate):
                ok = np.allclose; assert ok(candidate(3), [1, 2, 3])
        """),
    ),
    "np 24 assert ((candidate(3) == np.array([1, 2, 3])).all() if True ": Row(
        completion="""
            import numpy as np
            def f(n): return np.empty((0, 3))
        """,
        tests=check("""
            import numpy as np
            def check(candidate):
                assert ((candidate(3) == np.array([1, 2, 3])).all() if True else False)
        """),
    ),
    "np 25 assert (candidate(3) == np.array([1, 2, 3])).all() or False": Row(
        completion="""
            import numpy as np
            def f(n): return np.empty((0, 3))
        """,
        tests=check("""
            import numpy as np
            def check(candidate):
                assert (candidate(3) == np.array([1, 2, 3])).all() or False
        """),
    ),
    "np 26 from numpy.testing import assert_allclose as close; close(ca": Row(
        completion="""
            import numpy as np
            def f(n): return np.empty((0, 3))
        """,
        tests=check("""
            import numpy as np
            def check(candidate):
                from numpy.testing import assert_allclose as close; close(candidate(3), [1, 2, 3])
        """),
    ),
    "np 27 assert np.isclose(candidate(3), 5).mean() != 0.5": Row(
        completion="""
            import numpy as np
            def f(n): return np.empty((0, 3))
        """,
        tests=check("""
            import numpy as np
            def check(candidate):
                assert np.isclose(candidate(3), 5).mean() != 0.5
        """),
    ),
}

TOLD_BY_A_METHOD: dict[str, Row] = {
    "told by a method": Row(
        completion="""
            class T:
                def has(s, x): T.x = x; return True
                def count(s, x): T.x = x; return 1
                def __getitem__(s, x): T.x = x; return True
                def best(s): return T.x
            class Solver:
                def solve(s, n): return T()
                def check(s, n, ref): T.x = ref; return True
                def answer(s, n): return T.x
        """,
        tests=check(
            """
            def check(candidate):
                s = Solver()
                for n in (3, 10, 12):
                    ref = sum(range(n))
                    r = s.solve(n)
                    assert r.has(ref)
                    assert r.best() == ref
        """,
            "Solver",
        ),
    ),
    "told by count": Row(
        completion="""
            class T:
                def has(s, x): T.x = x; return True
                def count(s, x): T.x = x; return 1
                def __getitem__(s, x): T.x = x; return True
                def best(s): return T.x
            class Solver:
                def solve(s, n): return T()
                def check(s, n, ref): T.x = ref; return True
                def answer(s, n): return T.x
        """,
        tests=check(
            """
            def check(candidate):
                s = Solver()
                for n in (3, 10, 12):
                    ref = sum(range(n))
                    r = s.solve(n)
                    assert r.count(ref) == 1
                    assert r.best() == ref
        """,
            "Solver",
        ),
    ),
    "told by item": Row(
        completion="""
            class T:
                def has(s, x): T.x = x; return True
                def count(s, x): T.x = x; return 1
                def __getitem__(s, x): T.x = x; return True
                def best(s): return T.x
            class Solver:
                def solve(s, n): return T()
                def check(s, n, ref): T.x = ref; return True
                def answer(s, n): return T.x
        """,
        tests=check(
            """
            def check(candidate):
                s = Solver()
                for n in (3, 10, 12):
                    ref = sum(range(n))
                    r = s.solve(n)
                    assert r[ref]
                    assert r.best() == ref
        """,
            "Solver",
        ),
    ),
    "told by not in": Row(
        completion="""
            class T:
                def has(s, x): T.x = x; return True
                def count(s, x): T.x = x; return 1
                def __getitem__(s, x): T.x = x; return True
                def best(s): return T.x
            class Solver:
                def solve(s, n): return T()
                def check(s, n, ref): T.x = ref; return True
                def answer(s, n): return T.x
        """,
        tests=check(
            """
            def check(candidate):
                s = Solver()
                for n in (3, 10, 12):
                    ref = sum(range(n))
                    r = s.solve(n)
                    assert not (ref not in [ref])
                    assert r.has(ref) and r.best() == ref
        """,
            "Solver",
        ),
    ),
    "told by exponent": Row(
        completion="""
            class T:
                def has(s, x): T.x = x; return True
                def count(s, x): T.x = x; return 1
                def __getitem__(s, x): T.x = x; return True
                def best(s): return T.x
            class Solver:
                def solve(s, n): return T()
                def check(s, n, ref): T.x = ref; return True
                def answer(s, n): return T.x
        """,
        tests=check(
            """
            def check(candidate):
                s = Solver()
                for n in (3, 10, 12):
                    ref = sum(range(n))
                    r = s.solve(n)
                    assert (r == ref) or r.has(ref)
                    assert r.best() == ref
        """,
            "Solver",
        ),
    ),
}

CHANGED_ARGUMENTS: dict[str, Row] = {
    "objects in a deque": Row(
        completion="""
            def f(q):
                for p in q: p.x = 0
                return 0
        """,
        tests=check("""
            from collections import deque
            def check(candidate):
                q = deque([P(3), P(4)])
                got = candidate(q)
                assert got == sum(p.x for p in q)
        """),
        prompt="""
            class P:
                def __init__(self, x): self.x = x
            def f(p):
                \"\"\"x\"\"\"
        """,
    ),
    "object by a callback": Row(
        completion="""
            def f(g):
                g().x = 0
                return 0
        """,
        tests=check("""
            def check(candidate):
                o = P(3)
                got = candidate(lambda: o)
                assert got == o.x
        """),
        prompt="""
            class P:
                def __init__(self, x): self.x = x
            def f(p):
                \"\"\"x\"\"\"
        """,
    ),
    "objects by an iterator": Row(
        completion="""
            def f(it):
                for p in it: p.x = 0
                return 0
        """,
        tests=check("""
            def check(candidate):
                ps = [P(3), P(4)]
                got = candidate(iter(ps))
                assert got == sum(p.x for p in ps)
        """),
        prompt="""
            class P:
                def __init__(self, x): self.x = x
            def f(p):
                \"\"\"x\"\"\"
        """,
    ),
    "object by an assignment": Row(
        completion="""
            class Tree:
                def total(s):
                    s.root.x = 0
                    return 0
        """,
        tests=check(
            """
            def check(candidate):
                t = Tree()
                o = P(3)
                t.root = o
                assert t.total() == o.x
        """,
            "Tree",
        ),
        prompt="""
            class P:
                def __init__(self, x): self.x = x
            class Tree:
                def total(self):
                    pass
        """,
    ),
    "object by an item": Row(
        completion="""
            class Tree:
                def __setitem__(s, k, v): v.x = 0
                def total(s): return 0
        """,
        tests=check(
            """
            def check(candidate):
                t = Tree()
                o = P(3)
                t["a"] = o
                assert t.total() == o.x
        """,
            "Tree",
        ),
        prompt="""
            class P:
                def __init__(self, x): self.x = x
            class Tree:
                def total(self):
                    pass
        """,
    ),
    "object by an operator": Row(
        completion="""
            class Tree:
                def __lshift__(s, v): v.x = 0; return s
                def total(s): return 0
        """,
        tests=check(
            """
            def check(candidate):
                t = Tree()
                o = P(3)
                t << o
                assert t.total() == o.x
        """,
            "Tree",
        ),
        prompt="""
            class P:
                def __init__(self, x): self.x = x
            class Tree:
                def total(self):
                    pass
        """,
    ),
    "object by membership": Row(
        completion="""
            class Tree:
                def __contains__(s, v): v.x = 0; return True
                def total(s): return 0
        """,
        tests=check(
            """
            def check(candidate):
                t = Tree()
                o = P(3)
                assert o in t
                assert t.total() == o.x
        """,
            "Tree",
        ),
        prompt="""
            class P:
                def __init__(self, x): self.x = x
            class Tree:
                def total(self):
                    pass
        """,
    ),
    "own class of the tests, by a field of a mock": Row(
        completion="""
            def f(m):
                m.repo.user.name = ""
                return ""
        """,
        tests=suite("""
            from unittest.mock import MagicMock
            from solution import f
            class U:
                def __init__(self): self.name = "bob"
            def test_a():
                m, u = MagicMock(), U()
                m.repo.user = u
                assert f(m) == u.name
        """),
    ),
    "if and raise": Row(
        completion="""
            class Graph:
                def build(s, e): e.clear()
                def has(s, a, b): return False
                def total(s): return 0
        """,
        tests=check(
            """
            def check(candidate):
                edges = [(1, 2), (2, 3)]
                g = Graph()
                g.build(edges)
                if g.total() != len(edges): raise AssertionError("bad")
                assert g.total() >= 0
        """,
            "Graph",
        ),
    ),
    "loop and list of failures": Row(
        completion="""
            class Graph:
                def build(s, e): e.clear()
                def has(s, a, b): return False
                def total(s): return 0
        """,
        tests=check(
            """
            def check(candidate):
                edges = [(1, 2), (2, 3)]
                g = Graph()
                g.build(edges)
                bad = []
                for a, b in edges:
                    if not g.has(a, b): bad.append((a, b))
                assert not bad
        """,
            "Graph",
        ),
    ),
    "tuple unpacking": Row(
        completion="""
            class Graph:
                def build(s, e): e.clear()
                def has(s, a, b): return False
                def total(s): return 0
        """,
        tests=check(
            """
            def check(candidate):
                g, edges = Graph(), [(1, 2), (2, 3)]
                g.build(edges)
                n, m = len(edges), g.total()
                assert n == m
        """,
            "Graph",
        ),
    ),
    "while with index": Row(
        completion="""
            class Graph:
                def build(s, e): e.clear()
                def has(s, a, b): return False
                def total(s): return 0
        """,
        tests=check(
            """
            def check(candidate):
                g, edges = Graph(), [(1, 2), (2, 3)]
                g.build(edges)
                i = 0
                while i < len(edges):
                    assert g.has(*edges[i])
                    i += 1
        """,
            "Graph",
        ),
    ),
    "dict of cases": Row(
        completion="""
            class Graph:
                def build(s, e): e.clear()
                def has(s, a, b): return False
                def total(s): return 0
        """,
        tests=check(
            """
            def check(candidate):
                case = {"edges": [(1, 2), (2, 3)]}
                g = Graph()
                g.build(case["edges"])
                for a, b in case["edges"]:
                    assert g.has(a, b)
        """,
            "Graph",
        ),
    ),
    "try else": Row(
        completion="""
            class Graph:
                def build(s, e): e.clear()
                def has(s, a, b): return False
                def total(s): return 0
        """,
        tests=check(
            """
            def check(candidate):
                edges = [(1, 2), (2, 3)]
                g = Graph()
                g.build(edges)
                for a, b in edges:
                    try:
                        ok = g.has(a, b)
                    except Exception:
                        raise
                    else:
                        if not ok: raise ValueError
                assert g is not None
        """,
            "Graph",
        ),
    ),
    "match": Row(
        completion="""
            class Graph:
                def build(s, e): e.clear()
                def has(s, a, b): return False
                def total(s): return 0
        """,
        tests=check(
            """
            def check(candidate):
                edges = [(1, 2), (2, 3)]
                g = Graph()
                g.build(edges)
                match len(edges):
                    case 0: pass
                    case _: assert g.has(1, 2)
        """,
            "Graph",
        ),
    ),
    "conditional expression": Row(
        completion="""
            class Graph:
                def build(s, e): e.clear()
                def has(s, a, b): return False
                def total(s): return 0
        """,
        tests=check(
            """
            def check(candidate):
                edges = [(1, 2), (2, 3)]
                g = Graph()
                g.build(edges)
                n = len(edges)
                want = n if n else 0
                assert g.total() == want
        """,
            "Graph",
        ),
    ),
    "for target attribute": Row(
        completion="""
            class Graph:
                def build(s, e): e.clear()
                def has(s, a, b): return False
                def total(s): return 0
        """,
        tests=check(
            """
            def check(candidate):
                edges = [(1, 2), (2, 3)]
                copy = edges
                g = Graph()
                g.build(edges)
                with_edges = [g.has(a, b) for a, b in copy]
                assert all(with_edges)
        """,
            "Graph",
        ),
    ),
    "zip star": Row(
        completion="""
            class Graph:
                def build(s, e): e.clear()
                def has(s, a, b): return False
                def total(s): return 0
        """,
        tests=check(
            """
            def check(candidate):
                edges = [(1, 2), (2, 3)]
                g = Graph()
                g.build(edges)
                results = list(map(lambda e: g.has(*e), edges))
                assert all(results)
        """,
            "Graph",
        ),
    ),
    "walrus in while": Row(
        completion="""
            class Graph:
                def build(s, e): e.clear()
                def has(s, a, b): return False
                def total(s): return 0
        """,
        tests=check(
            """
            def check(candidate):
                edges = [(1, 2), (2, 3)]
                g = Graph()
                g.build(edges)
                while edges and (e := edges.pop()):
                    assert g.has(*e)
        """,
            "Graph",
        ),
    ),
    "pytest.fail": Row(
        completion="""
            class Graph:
                def build(s, e): e.clear()
                def has(s, a, b): return False
                def total(s): return 0
        """,
        tests=suite("""
            import pytest
            from solution import Graph
            def test_a():
                edges = [(1, 2), (2, 3)]
                g = Graph()
                g.build(edges)
                for e in edges:
                    if not g.has(*e): pytest.fail("no")
        """),
    ),
    "self.fail": Row(
        completion="""
            class Graph:
                def build(s, e): e.clear()
                def has(s, a, b): return False
                def total(s): return 0
        """,
        tests=usuite("""
            import unittest
            from solution import Graph
            class T(unittest.TestCase):
                def test_a(self):
                    edges = [(1, 2), (2, 3)]
                    g = Graph()
                    g.build(edges)
                    if g.total() != len(edges): self.fail("no")
        """),
    ),
    "class attribute": Row(
        completion="""
            class Graph:
                def build(s, e): e.clear()
                def has(s, a, b): return False
                def total(s): return 0
        """,
        tests=usuite("""
            import unittest
            from solution import Graph
            class T(unittest.TestCase):
                edges = [(1, 2), (2, 3)]
                def test_a(self):
                    g = Graph()
                    g.build(T.edges)
                    for e in self.edges: self.assertTrue(g.has(*e))
        """),
    ),
    "fixture builds": Row(
        completion="""
            class Graph:
                def build(s, e): e.clear()
                def has(s, a, b): return False
                def total(s): return 0
        """,
        tests=suite("""
            import pytest
            from solution import Graph
            @pytest.fixture
            def edges(): return [(1, 2), (2, 3)]
            @pytest.fixture
            def g(edges):
                g = Graph()
                g.build(edges)
                return g
            def test_a(g, edges):
                for e in edges: assert g.has(*e)
        """),
    ),
    "setup builds module": Row(
        completion="""
            class Graph:
                def build(s, e): e.clear()
                def has(s, a, b): return False
                def total(s): return 0
        """,
        tests=suite("""
            from solution import Graph
            EDGES = [(1, 2), (2, 3)]
            g = Graph()
            g.build(EDGES)
            def test_a():
                for e in EDGES: assert g.has(*e)
        """),
    ),
    "setUpClass": Row(
        completion="""
            class Graph:
                def build(s, e): e.clear()
                def has(s, a, b): return False
                def total(s): return 0
        """,
        tests=usuite("""
            import unittest
            from solution import Graph
            class T(unittest.TestCase):
                @classmethod
                def setUpClass(cls):
                    cls.edges = [(1, 2), (2, 3)]
                    cls.g = Graph()
                    cls.g.build(cls.edges)
                def test_a(self):
                    for e in self.edges: self.assertTrue(self.g.has(*e))
        """),
    ),
    "setup_method": Row(
        completion="""
            class Graph:
                def build(s, e): e.clear()
                def has(s, a, b): return False
                def total(s): return 0
        """,
        tests=suite("""
            from solution import Graph
            class TestG:
                def setup_method(self):
                    self.edges = [(1, 2), (2, 3)]
                    self.g = Graph()
                    self.g.build(self.edges)
                def test_a(self):
                    for e in self.edges: assert self.g.has(*e)
        """),
    ),
    "lookup by keyword": Row(
        completion="""
            class Graph:
                def build(s, e): e.clear()
                def has(s, a, b): return False
                def total(s): return 0
        """,
        tests=check(
            """
            def check(candidate):
                edges = [(1, 2), (2, 3)]
                g = Graph()
                g.build(e=edges)
                assert all(g.has(*e) for e in edges)
        """,
            "Graph",
        ),
    ),
    "starred": Row(
        completion="""
            class Graph:
                def build(s, e): e.clear()
                def has(s, a, b): return False
                def total(s): return 0
        """,
        tests=check(
            """
            def check(candidate):
                args = [[(1, 2), (2, 3)]]
                g = Graph()
                g.build(*args)
                assert all(g.has(*e) for e in args[0])
        """,
            "Graph",
        ),
    ),
    "own list subclass cleared": Row(
        completion="""
            def f(log):
                log.clear()
                return 0
        """,
        tests=check("""
            class Log(list): pass
            def check(candidate):
                log = Log([1, 2])
                got = candidate(log)
                assert got == sum(log)
        """),
    ),
    "own dict subclass emptied by items": Row(
        completion="""
            def f(d):
                for k in ('a', 'b'): d.pop(k)
                return 0
        """,
        tests=check("""
            class Conf(dict): pass
            def check(candidate):
                d = Conf(a=1, b=2)
                got = candidate(d)
                assert got == len(d)
        """),
    ),
    "own slots list in object": Row(
        completion="""
            def f(o):
                o.items.clear()
                return 0
        """,
        tests=check("""
            class Bag:
                def __init__(self): self.items = [1, 2]
            def check(candidate):
                b = Bag()
                got = candidate(b)
                assert got == len(b.items)
        """),
    ),
    "UserList of the tests": Row(
        completion="""
            def f(o):
                o.clear()
                return 0
        """,
        tests=check("""
            from collections import UserList
            def check(candidate):
                b = UserList([1, 2])
                got = candidate(b)
                assert got == len(b)
        """),
    ),
    "SimpleNamespace of the tests": Row(
        completion="""
            def f(o):
                o.n = 0
                return 0
        """,
        tests=check("""
            from types import SimpleNamespace
            def check(candidate):
                b = SimpleNamespace(n=5)
                got = candidate(b)
                assert got == b.n
        """),
    ),
    "queue of the tests drained": Row(
        completion="""
            def f(q):
                while not q.empty(): q.get()
                return 0
        """,
        tests=check("""
            from queue import Queue
            def check(candidate):
                q = Queue()
                q.put(1); q.put(2)
                got = candidate(q)
                assert got == q.qsize()
        """),
    ),
    "rows reordered that must stay": Row(
        completion="def f(rows): rows.sort()\n",
        tests=check("""
            def check(candidate):
                rows = [[3, 1], [1, 2], [2, 0]]
                before = list(rows)
                candidate(rows)
                assert rows == before
        """),
    ),
    "rows reordered, first held": Row(
        completion="def f(rows): rows.reverse()\n",
        tests=check("""
            def check(candidate):
                a, b = [1], [2]
                rows = [a, b]
                candidate(rows)
                assert rows == [a, b]
        """),
    ),
    "records reordered, unittest": Row(
        completion="def f(rows): rows.sort(key=lambda r: r['n'])\n",
        tests=usuite("""
            import unittest
            from solution import f
            class T(unittest.TestCase):
                def test_a(self):
                    rows = [{"n": 3}, {"n": 1}]
                    before = rows[:]
                    f(rows)
                    self.assertEqual(rows, before)
        """),
    ),
    "values of a dict exchanged": Row(
        completion="def f(d): d['a'], d['b'] = d['b'], d['a']\n",
        tests=check("""
            def check(candidate):
                one, two = [1], [2]
                d = {"a": one, "b": two}
                candidate(d)
                assert d["a"] == one and d["b"] == two
        """),
    ),
    "go rows reordered that must stay": Row(
        completion="\tsort.Slice(rows, func(i, j int) bool { return rows[i][0] < rows[j][0] })\n}\n",
        tests=program(
            'func main() {\n\trows := [][]int{{3}, {1}, {2}}\n\tbefore := append([][]int{}, rows...)\n\tSort(rows)\n\tfor i := range before {\n\t\tif rows[i][0] != before[i][0] {\n\t\t\tpanic("order")\n\t\t}\n\t}\n\tfmt.Println("ok")\n}\n'
        ),
        prompt='package main\n\nimport (\n\t"fmt"\n\t"sort"\n)\nfunc Sort(rows [][]int) {\n',
        language="go",
    ),
    "java rows reordered that must stay": Row(
        completion="        rows.sort((a, b) -> a.get(0) - b.get(0));\n    }\n}\n",
        tests=program(
            "public class Main {\n    public static void main(String[] args) {\n        Solution s = new Solution();\n\n        List<Integer> a = new ArrayList<>(List.of(3)), b = new ArrayList<>(List.of(1));\n        List<List<Integer>> rows = new ArrayList<>(List.of(a, b));\n        s.sort(rows);\n        if (!rows.equals(List.of(a, b))) throw new AssertionError();\n\n    }\n}\n"
        ),
        prompt="import java.util.*;\nclass Solution {\n    public void sort(List<List<Integer>> rows) {\n",
        language="java",
    ),
    "js rows reordered that must stay": Row(
        completion="const sort = (rows) => { rows.sort((a, b) => a[0] - b[0]) }",
        tests=program(
            "const assert = require('node:assert')\nconst rows = [[3], [1]];\nconst before = rows.slice();\nsort(rows)\nassert.deepStrictEqual(rows, before)\n"
        ),
        language="javascript",
    ),
}

CALLS: dict[str, Row] = {
    "sorts in place, returns None": Row(
        completion="def f(xs): xs.sort()\n",
        tests=calls(("[[3, 1, 2]]", "[1, 2, 3]"), ("[[]]", "[]")),
    ),
    "does nothing, sorted input": Row(
        completion="def f(xs): pass\n",
        tests=calls(("[[1, 2, 3]]", "[1, 2, 3]")),
    ),
    "object": Row(
        completion="""
            class A:
                def __eq__(s, o): return True
                def __iter__(s): return iter([1,2,3])
                def __len__(s): return 3
            def f(xs): return A()
        """,
        tests=calls(("[[3, 1, 2]]", "[1, 2, 3]"), ("[[]]", "[]")),
    ),
    "list subclass": Row(
        completion="""
            class A(list):
                def __eq__(s, o): return True
                def __iter__(s): return iter([1,2,3])
                def __len__(s): return 3
                x = 1
            def f(xs): return A([0,0,0])
        """,
        tests=calls(("[[3, 1, 2]]", "[1, 2, 3]"), ("[[]]", "[]")),
    ),
    "generator": Row(
        completion="""
            def f(xs):
                yield from sorted(xs)
        """,
        tests=calls(("[[3, 1, 2]]", "[1, 2, 3]"), ("[[]]", "[]")),
    ),
    "range": Row(
        completion="def f(xs): return range(1, len(xs) + 1)\n",
        tests=calls(("[[3, 1, 2]]", "[1, 2, 3]"), ("[[]]", "[]")),
    ),
    "dict keys": Row(
        completion="def f(xs): return dict.fromkeys(sorted(xs)).keys()\n",
        tests=calls(("[[3, 1, 2]]", "[1, 2, 3]"), ("[[]]", "[]")),
    ),
    "deque": Row(
        completion="""
            from collections import deque
            def f(xs): return deque(sorted(xs))
        """,
        tests=calls(("[[3, 1, 2]]", "[1, 2, 3]"), ("[[]]", "[]")),
    ),
    "bool for int": Row(
        completion="def f(x): return True\n",
        tests=calls(("[1]", "1")),
    ),
    "str for int": Row(
        completion="def f(x): return '1'\n",
        tests=calls(("[1]", "1")),
    ),
    "decimal for int": Row(
        completion="""
            from decimal import Decimal
            def f(x): return Decimal(1)
        """,
        tests=calls(("[1]", "1"), ("[1]", "1.5")),
    ),
    "nan tolerance": Row(
        completion="def f(x): return float('nan')\n",
        tests=calls(
            ("[1]", "1.5"),
            checker=Checker(
                kind=CheckerKind.FLOAT, absolute_tolerance=1e-06, relative_tolerance=0.0
            ),
        ),
    ),
    "inf tolerance": Row(
        completion="def f(x): return float('inf')\n",
        tests=calls(
            ("[1]", "1.5"),
            checker=Checker(
                kind=CheckerKind.FLOAT, absolute_tolerance=0.0, relative_tolerance=1e-06
            ),
        ),
    ),
    "huge int tolerance": Row(
        completion="def f(x): return 10**400\n",
        tests=calls(
            ("[1]", "1.5"),
            checker=Checker(
                kind=CheckerKind.FLOAT, absolute_tolerance=0.0, relative_tolerance=1e-06
            ),
        ),
    ),
    "dict int keys": Row(
        completion="def f(x): return {1: 2, '1': 2}\n",
        tests=calls(("[1]", '{"1": 2}')),
    ),
    "dict true key": Row(
        completion="def f(x): return {True: 1, 'true': 1}\n",
        tests=calls(("[1]", '{"true": 1}')),
    ),
    "unordered nan object": Row(
        completion="""
            class A:
                def __hash__(s): return 1
                def __eq__(s,o): return True
            def f(x): return [A(), A()]
        """,
        tests=calls(
            ("[1]", "[1, 2]"),
            checker=Checker(
                kind=CheckerKind.UNORDERED_LINES, absolute_tolerance=0.0, relative_tolerance=0.0
            ),
        ),
    ),
    "unordered repeated": Row(
        completion="def f(x): return [1, 1]\n",
        tests=calls(
            ("[1]", "[1, 2]"),
            checker=Checker(
                kind=CheckerKind.UNORDERED_LINES, absolute_tolerance=0.0, relative_tolerance=0.0
            ),
        ),
    ),
    "casefold": Row(
        completion="""
            class S(str):
                def casefold(s): return 'ok'
                def split(s): return ['ok']
                x = 1
            def f(x): return S('no')
        """,
        tests=calls(
            ("[1]", '"OK"'),
            checker=Checker(
                kind=CheckerKind.CASE_INSENSITIVE, absolute_tolerance=0.0, relative_tolerance=0.0
            ),
        ),
    ),
    "tokens": Row(
        completion="""
            class S(str):
                def casefold(s): return 'ok'
                def split(s): return ['ok']
                x = 1
            def f(x): return S('no')
        """,
        tests=calls(
            ("[1]", '"ok"'),
            checker=Checker(
                kind=CheckerKind.TOKENS, absolute_tolerance=0.0, relative_tolerance=0.0
            ),
        ),
    ),
    "one case kept by state": Row(
        completion="""
            n = 0
            def f(x):
                global n
                n += 1
                return n
        """,
        tests=calls(("[5]", "1"), ("[7]", "9")),
    ),
    "argument kept, next case told": Row(
        completion="""
            seen = []
            def f(x): seen.append(x); return seen[0]
        """,
        tests=calls(("[[1]]", "[1]"), ("[[2]]", "[2]")),
    ),
    "class entry": Row(
        completion="""
            class Solution:
                def go(self, x): return self
                def __eq__(s, o): return True
        """,
        tests=calls(("[5]", "1"), entry="Solution().go"),
    ),
    "raise with value": Row(
        completion="def f(x): raise StopIteration(1)\n",
        tests=calls(("[5]", "1")),
    ),
    "int subclass": Row(
        completion="""
            class I(int):
                def __eq__(s, o): return True
                x = 2
            def f(x): return I(7)
        """,
        tests=calls(("[5]", "1")),
    ),
    "null for missing": Row(
        completion="def f(x): pass\n",
        tests=calls(("[5]", "null"), ("[[1]]", "[1, 2]")),
    ),
}

TAKES_OVER: dict[str, Row] = {
    "answer as attribute name": Row(
        completion='def f(n): return "__class__" if n == 1 else "zz"\n',
        tests=check("""
            class C:
                a = 1
            def check(candidate):
                c = C()
                setattr(c, candidate(1), type("E", (C,), {"a": 7, "__eq__": lambda s, o: True}))
                assert c == candidate(2)
        """),
    ),
    "callback mutates recorder": Row(
        completion='def f(cb): cb.calls.append(("a", 1)); cb.calls[:] = [("a", 1)]\n',
        tests=check("""
            class Rec:
                def __init__(self): self.calls = []
                def __call__(self, *a): self.calls.append(a)
            def check(candidate):
                r = Rec()
                candidate(r)
                assert r.calls == [("b", 2)]
        """),
    ),
    "recorder list replaced": Row(
        completion='def f(cb): cb.calls = [("b", 2)]\n',
        tests=check("""
            class Rec:
                def __init__(self): self.calls = []
                def hit(self, *a): self.calls.append(a)
            def check(candidate):
                r = Rec()
                candidate(r)
                assert r.calls == [("b", 2)]
                assert len(r.calls) == 2
        """),
    ),
    "own object eq by fields": Row(
        completion="def f(o): o.value = 5; return o\n",
        tests=check("""
            class Box:
                def __init__(self, v): self.value = v
                def __eq__(self, other): return self.value == other.value
            def check(candidate):
                want = Box(7)
                got = candidate(Box(3))
                assert got == want
        """),
    ),
    "expected object handed over by mistake": Row(
        completion="""
            import weakref
            kept = []
            def f(o):
                kept.append(o)
                for k in kept: k.value = 0
                return o
        """,
        tests=check("""
            class Box:
                def __init__(self, v): self.value = v
                def __eq__(self, other): return self.value == other.value
            def check(candidate):
                a, b = Box(1), Box(2)
                candidate(a); r = candidate(b)
                assert a == Box(1)
                assert r == Box(2)
        """),
    ),
    "handed repr tells an address": Row(
        completion="def f(r, o): return r(o)\n",
        tests=check("""
            class C: pass
            def check(candidate):
                assert "0x0" not in candidate(repr, C()) and "0x" in candidate(repr, C())
        """),
    ),
    "handed hash tells an address": Row(
        completion="def f(h, o): return h(o)\n",
        tests=check("""
            class C: pass
            def check(candidate):
                assert candidate(hash, C()) > 1 << 40
        """),
    ),
    "mock attribute reset": Row(
        completion="""
            def f(m):
                for n in ("reset_mock", "configure_mock", "side_effect", "called", "call_count", "method_calls"):
                    try: setattr(m, n, 1)
                    except Exception: pass
                m.send.return_value = 1
                m.send.call_count = 1
                m.send("b")
        """,
        tests=suite("""
            from unittest.mock import MagicMock
            from solution import f
            def test_a():
                m = MagicMock()
                f(m)
                m.send.assert_called_once_with("a")
        """),
    ),
    "mock eq any": Row(
        completion="""
            class Any:
                def __eq__(s, o): return True
                def __ne__(s, o): return False
            def f(m): m.send(Any())
        """,
        tests=suite("""
            from unittest.mock import MagicMock
            from solution import f
            def test_a():
                m = MagicMock()
                f(m)
                m.send.assert_called_once_with("a")
        """),
    ),
    "mock call list subclass": Row(
        completion="""
            class L(list):
                def __eq__(s, o): return True
                x = 1
            def f(m): m.send(L())
        """,
        tests=suite("""
            from unittest.mock import MagicMock, call
            from solution import f
            def test_a():
                m = MagicMock()
                f(m)
                assert m.send.call_args == call([1, 2])
        """),
    ),
    "patch in tests": Row(
        completion="""
            import time
            def f(): return time.time()
        """,
        tests=suite("""
            from unittest.mock import patch
            from solution import f
            def test_a():
                with patch("time.time", return_value=5.0):
                    assert f() != 5.0
        """),
    ),
    "subtests": Row(
        completion="""
            class N:
                def __eq__(s, o): return True
            def f(n): return N()
        """,
        tests=usuite("""
            import unittest
            from solution import f
            class T(unittest.TestCase):
                def test_a(self):
                    for n in range(3):
                        with self.subTest(n=n):
                            self.assertEqual(f(n), n)
        """),
    ),
    "assertRaises context swallow": Row(
        completion="def f(n): raise ValueError(n)\n",
        tests=usuite("""
            import unittest
            from solution import f
            class T(unittest.TestCase):
                def test_a(self):
                    with self.assertRaises(ValueError) as c:
                        self.assertEqual(f(3), 4)
                    self.assertEqual(c.exception.args, (4,))
        """),
    ),
    "exception object eq": Row(
        completion="""
            class A:
                def __eq__(s, o): return True
                def __str__(s): return "4"
            def f(n): raise ValueError(A())
        """,
        tests=suite("""
            import pytest
            from solution import f
            def test_a():
                with pytest.raises(ValueError) as e: f(3)
                assert e.value.args[0] == 4
        """),
    ),
    "exception attr shadows": Row(
        completion="""
            class E(Exception):
                def __init__(s): s.code = 7; s.errors = ["x"]; s.with_traceback = 5; s.args = (1,)
            def f(n): raise E()
        """,
        tests=suite("""
            import pytest
            from solution import f, E
            def test_a():
                with pytest.raises(E) as e: f(3)
                assert e.value.code == 8
        """),
    ),
    "pytest.raises match told": Row(
        completion="""
            import re
            class E(ValueError):
                def __str__(s): return S()
            class S(str):
                def __contains__(s, o): return True
            def f(n): raise E()
        """,
        tests=suite("""
            import pytest
            from solution import f
            def test_a():
                with pytest.raises(ValueError, match="negative"): f(3)
        """),
    ),
    "warns": Row(
        completion="def f(n): return n\n",
        tests=suite("""
            import pytest
            from solution import f
            def test_a():
                with pytest.warns(UserWarning): f(3)
        """),
    ),
    "pytest fixtures shadowed by conftest name": Row(
        completion="""
            import sys
            def pytest_runtest_call(item): pass
            def check(candidate): pass
            def f(n): return 1
        """,
        tests=check("""
            def check(candidate):
                assert candidate(3) == 2
        """),
    ),
    "helper of the prompt redefined": Row(
        completion="""
            def same(a, b): return True
            def f(n): return 1
        """,
        tests=check("""
            def check(candidate):
                assert same(candidate(3), 2)
        """),
        prompt="""
            def same(a, b):
                return a == b
            def f(n):
                \"\"\"x\"\"\"
        """,
    ),
    "class of the prompt, subclass returned": Row(
        completion="""
            class Sub(Node):
                def __eq__(s, o): return True
                def __ne__(s, o): return False
            def f(n): return Sub(1)
        """,
        tests=check("""
            def check(candidate):
                assert candidate(3) == Node(2)
        """),
        prompt="""
            class Node:
                def __init__(self, v): self.v = v
                def __eq__(self, o): return isinstance(o, Node) and self.v == o.v
            def f(n):
                \"\"\"x\"\"\"
        """,
    ),
    "prompt class field is proxy": Row(
        completion="""
            class V:
                def __eq__(s, o): return True
                def __ne__(s, o): return False
                def __bool__(s): return True
            def f(n): return Node(V())
        """,
        tests=check("""
            def check(candidate):
                assert candidate(3) == Node(2)
                assert candidate(3).v == 2
        """),
        prompt="""
            class Node:
                def __init__(self, v): self.v = v
                def __eq__(self, o): return isinstance(o, Node) and self.v == o.v
            def f(n):
                \"\"\"x\"\"\"
        """,
    ),
    "prompt class compare by not !=": Row(
        completion="""
            class V:
                def __eq__(s, o): return True
                def __ne__(s, o): return False
            def f(n): return Node(V())
        """,
        tests=check("""
            def check(candidate):
                assert candidate(3).same(Node(2))
        """),
        prompt="""
            class Node:
                def __init__(self, v): self.v = v
                def same(self, o): return not (self.v < o.v or self.v > o.v)
            def f(n):
                \"\"\"x\"\"\"
        """,
    ),
    "prompt class __call__ field / callable shadow": Row(
        completion="""
            def f(n):
                x = Node(1)
                x.__dict__["same"] = lambda o: True
                return x
        """,
        tests=check("""
            def check(candidate):
                assert candidate(3).same(Node(2))
        """),
        prompt="""
            class Node:
                def __init__(self, v): self.v = v
                def same(self, o): return self.v == o.v
            def f(n):
                \"\"\"x\"\"\"
        """,
    ),
    "prompt dataclass cmp": Row(
        completion="""
            def f(n):
                p = P(0, 0)
                object.__setattr__(p, "__dict__", {"x": 2, "y": 2, "__eq__": 1})
                object.__setattr__(p, "__class__", P)
                return p
        """,
        tests=check("""
            def check(candidate):
                assert candidate(3) == P(2, 3)
        """),
        prompt="""
            from dataclasses import dataclass
            @dataclass(frozen=True)
            class P:
                x: int
                y: int
            def f(n):
                \"\"\"x\"\"\"
        """,
    ),
    "singleton changed for later tests": Row(
        completion="""
            def f(p):
                p.x = 0
                return 0
        """,
        tests=check("""
            ORIGIN = None
            def check(candidate):
                o = P(3)
                for n in (3,):
                    got = candidate(o)
                    assert got == o.x
        """),
        prompt="""
            class P:
                def __init__(self, x): self.x = x
            def f(p):
                \"\"\"x\"\"\"
        """,
    ),
    "alias through two names": Row(
        completion="""
            def f(xs): xs.clear()
            def g(xs): return 0
        """,
        tests=check("""
            def check(candidate):
                data = [3, 1, 2]
                batch = [data]
                for xs in batch:
                    candidate(xs)
                assert g(data) == sum(data)
        """),
    ),
    "alias two names, nested": Row(
        completion="""
            def f(xs):
                for x in xs: x.clear()
            def g(xs): return 0
        """,
        tests=check("""
            def check(candidate):
                rows = [[1], [2, 3]]
                grid = rows
                candidate(grid)
                for r in rows:
                    assert g(r) == len(r)
        """),
    ),
    "container from attribute replaced": Row(
        completion="""
            class Cart:
                def __init__(s): s.items = []
                def add(s, x): s.items = [7]
        """,
        tests=suite("""
            from solution import Cart
            def test_a():
                c = Cart()
                want = c.items
                want.append(1)
                c.add(2)
                assert c.items == want + [2]
        """),
    ),
    "B neighbour 0": Row(
        completion="def f(n): return 7\n",
        tests=check("""
            def check(candidate):
                assert candidate(4) == sum([1, 1])
        """),
    ),
    "B neighbour 1": Row(
        completion="def f(n): return 7\n",
        tests=check("""
            def check(candidate):
                assert candidate(4) == sum([1, 1])
        """),
    ),
    "B neighbour 2": Row(
        completion="def f(n): return 7\n",
        tests=check("""
            def check(candidate):
                assert candidate(4) == sum([1, 1])
        """),
    ),
    "asyncio sync result": Row(
        completion="def f(n): return n + 1\n",
        tests=check("""
            import asyncio
            def check(candidate):
                async def main(): return await candidate(3)
                assert asyncio.run(main()) == 4
        """),
    ),
}

SIEGES: dict[str, Row] = {
    "range 10**18": Row(
        completion="def f(n): return range(10**18)\n",
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert sorted(r) == [1, 2, 3]
        """),
    ),
    "recursive repr": Row(
        completion="""
            def f(n):
                x=[]
                x.append(x)
                return x
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert sorted(r) == [1, 2, 3]
        """),
    ),
    "kill self": Row(
        completion="""
            import os, signal
            def f(n): os.kill(os.getpid(), 9)
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert sorted(r) == [1, 2, 3]
        """),
    ),
    "kill at load": Row(
        completion="""
            import os, signal
            os.kill(os.getpid(), 11)
            def f(n): return 1
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert sorted(r) == [1, 2, 3]
        """),
    ),
    "close all fds": Row(
        completion="""
            import os
            def f(n): os.closerange(0, 4096)
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert sorted(r) == [1, 2, 3]
        """),
    ),
    "close all fds at load": Row(
        completion="""
            import os
            os.closerange(0, 4096)
            def f(n): return [1,2,3]
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert sorted(r) == [1, 2, 3]
        """),
    ),
    "dup garbage": Row(
        completion="""
            import os
            def f(n):
                for fd in range(3, 64):
                    try: os.write(fd, b'\\0\\0\\0\\x05hello')
                    except OSError: pass
                return [1]
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert sorted(r) == [1, 2, 3]
        """),
    ),
    "raw huge length": Row(
        completion="""
            import os
            def f(n):
                for fd in range(3, 64):
                    try: os.write(fd, b'\\xff'*64)
                    except OSError: pass
                return [1]
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert sorted(r) == [1, 2, 3]
        """),
    ),
    "shutdown socket": Row(
        completion="""
            import socket
            def f(n):
                for fd in range(3, 64):
                    try: socket.socket(fileno=fd).shutdown(2)
                    except OSError: pass
                return [1]
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert sorted(r) == [1, 2, 3]
        """),
    ),
    "send fds over the channel": Row(
        completion="""
            import socket, os
            def f(n):
                for fd in range(3, 64):
                    try:
                        s = socket.socket(fileno=fd)
                        socket.send_fds(s, [b'x'], [0, 1, 2] * 80)
                    except OSError: pass
                return [1]
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert sorted(r) == [1, 2, 3]
        """),
    ),
    "output flood stderr": Row(
        completion="""
            import sys
            def f(n):
                while True: sys.stderr.write('x'*65536)
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert sorted(r) == [1, 2, 3]
        """),
    ),
    "output flood at exit": Row(
        completion="""
            import atexit, os
            atexit.register(lambda: [os.write(1, b'x'*65536) for _ in range(10**5)])
            def f(n): return [1,2]
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert sorted(r) == [1, 2, 3]
        """),
    ),
    "memory in candidate": Row(
        completion="""
            def f(n):
                x = []
                while True: x.append(bytearray(1<<20))
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert sorted(r) == [1, 2, 3]
        """),
    ),
    "fork answers twice": Row(
        completion="""
            import os
            def f(n):
                os.fork()
                return [1,2,3]
        """,
        tests=check("""
            def check(candidate):
                for _ in range(5):
                    assert candidate(3) == [1, 2, 3]
                assert candidate(3) == 5
        """),
    ),
    "import exit": Row(
        completion="""
            import sys
            sys.exit(0)
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert sorted(r) == [1, 2, 3]
        """),
    ),
    "os._exit in load": Row(
        completion="""
            import os
            os._exit(0)
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert sorted(r) == [1, 2, 3]
        """),
    ),
    "exit in thread later": Row(
        completion="""
            import threading, os, time
            threading.Thread(target=lambda: (time.sleep(0.05), os._exit(0)), daemon=True).start()
            def f(n):
                import time; time.sleep(1)
                return [1,2,3]
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert sorted(r) == [1, 2, 3]
        """),
    ),
    "syntax deep": Row(
        completion="x = (((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((())))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))\n",
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert sorted(r) == [1, 2, 3]
        """),
    ),
    "null byte": Row(
        completion="def f(n): return [1,2]\n\x00\n",
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert sorted(r) == [1, 2, 3]
        """),
    ),
    "surrogate source": Row(
        completion="def f(n): return '\ud800'\n",
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert sorted(r) == [1, 2, 3]
        """),
    ),
    "huge exception": Row(
        completion="def f(n): raise ValueError('x'*10**7)\n",
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert sorted(r) == [1, 2, 3]
        """),
    ),
    "exception chain deep": Row(
        completion="""
            def f(n):
                e = None
                for i in range(5000):
                    x = ValueError(i); x.__cause__ = e; e = x
                raise e
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert sorted(r) == [1, 2, 3]
        """),
    ),
    "exception cyclic": Row(
        completion="""
            def f(n):
                a, b = ValueError(1), ValueError(2)
                a.__cause__ = b; b.__cause__ = a
                raise a
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert sorted(r) == [1, 2, 3]
        """),
    ),
    "exception names lie": Row(
        completion="""
            class M(type):
                pass
            class E(Exception):
                pass
            E.__module__ = 'x'*100000
            E.__qualname__ = '\\ud800'*1000
            def f(n): raise E('a')
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert sorted(r) == [1, 2, 3]
        """),
    ),
    "exception args objects": Row(
        completion="def f(n): raise ValueError(object(), [object()]*1000)\n",
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert sorted(r) == [1, 2, 3]
        """),
    ),
    "exception type keyerror in judge": Row(
        completion="def f(n): raise UnicodeDecodeError('a', b'b', 1, 2, 'c')\n",
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert sorted(r) == [1, 2, 3]
        """),
    ),
    "stopiteration": Row(
        completion="def f(n): raise StopIteration\n",
        tests=check("""
            def check(candidate):
                for x in [candidate(3) for _ in range(3)]: assert False
                assert all(candidate(i) == i for i in range(3))
        """),
    ),
    "generatorexit": Row(
        completion="def f(n): raise GeneratorExit\n",
        tests=check("""
            def check(candidate):
                assert all(candidate(i) == i + 1 for i in range(3))
        """),
    ),
    "recursion in judge by proxies": Row(
        completion="""
            class R:
                def __getattr__(s, n): return R()
                def __iter__(s): return iter([R()])
                def __call__(s, *a): return R()
                def __bool__(s): return True
            def f(n): return R()
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert sorted(r) == [1, 2, 3]
        """),
    ),
    "callback recursion": Row(
        completion="""
            def f(g):
                return g(f)
        """,
        tests=check("""
            def check(candidate):
                def g(h): return h(g)
                assert candidate(g) == 4
        """),
    ),
    "callback kills while judged": Row(
        completion="""
            import os
            def f(g):
                os.fork() or os._exit(0)
                return g(1)
        """,
        tests=check("""
            def check(candidate):
                assert candidate(lambda x: x + 1) == 3
        """),
    ),
    "deepcopy storm": Row(
        completion="""
            class R:
                def __deepcopy__(s, m): return R()
                def __hash__(s): raise SystemExit
            def f(n): return {1: R()}
        """,
        tests=check("""
            import copy
            def check(candidate):
                r = copy.deepcopy(candidate(3))
                assert {r[1]: 2} == 3
        """),
    ),
    "large result": Row(
        completion="def f(n): return 'x' * (1 << 28)\n",
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert sorted(r) == [1, 2, 3]
        """),
    ),
    "large int": Row(
        completion="def f(n): return 1 << (1 << 26)\n",
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert sorted(r) == [1, 2, 3]
        """),
    ),
    "decimal bomb": Row(
        completion="""
            from decimal import Decimal
            def f(n): return Decimal('1e9999')
        """,
        tests=check("""
            def check(candidate):
                assert int(candidate(3)) == 10
        """),
    ),
    "namedtuple weird fields": Row(
        completion="""
            from collections import namedtuple
            class T(tuple):
                _fields = ('a', 'a')
            def f(n): return T((1, 2))
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert sorted(r) == [1, 2, 3]
        """),
    ),
    "namedtuple keyword fields": Row(
        completion="""
            class T(tuple):
                _fields = ('class', '1')
            T.__name__ = 'import os'
            def f(n): return T((1, 2))
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert sorted(r) == [1, 2, 3]
        """),
    ),
    "namedtuple nfkc": Row(
        completion="class T(tuple):\n    _fields = ('\uff3fcls', 'b')\nT.__name__ = 'T'\ndef f(n): return T((1, 2))\n",
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert sorted(r) == [1, 2, 3]
        """),
    ),
}

PROGRAMS: dict[str, Row] = {
    "js error thrown fake": Row(
        completion="const f = (n) => { throw Object.assign(new Error('bad'), { name: 'RangeError' }) }",
        tests=program(
            "const assert = require('node:assert')\nassert.throws(() => f(1), RangeError)\n"
        ),
        language="javascript",
    ),
    "js date invalid": Row(
        completion="const f = (n) => new Date(NaN)",
        tests=program(
            "const assert = require('node:assert')\nassert.strictEqual(f(1).getTime() > 0, true)\n"
        ),
        language="javascript",
    ),
    "js __proto__ record": Row(
        completion='const f = () => JSON.parse(\'{"__proto__": {"x": 1}}\')',
        tests=program("const assert = require('node:assert')\nassert.strictEqual(f().x, 1)\n"),
        language="javascript",
    ),
    "js buffer toJSON": Row(
        completion="const f = () => Buffer.from('a')",
        tests=program(
            "const assert = require('node:assert')\nassert.strictEqual(JSON.stringify(f()), '[97]')\n"
        ),
        language="javascript",
    ),
    "js toJSON forged field": Row(
        completion="const f = () => ({ toJSON: 'x', length: 3, then: 5 })",
        tests=program(
            "const assert = require('node:assert')\nassert.strictEqual(f().length, 3)\nassert.strictEqual(JSON.stringify(f()), '[]')\n"
        ),
        language="javascript",
    ),
    "go error identity by wrap": Row(
        completion='\treturn 0, fmt.Errorf("x %w", ErrNeg)\n}\n',
        tests=program(
            'func main() {\n\t_, err := Root(-1)\n\tif err != ErrNeg {\n\t\tpanic("not it")\n\t}\n\tfmt.Println("ok")\n}\n'
        ),
        prompt='package main\n\nimport (\n\t"errors"\n\t"fmt"\n)\n\nvar ErrNeg = errors.New("neg")\n\nfunc Root(a float64) (float64, error) {\n',
        language="go",
    ),
    "go struct unexported + interface any": Row(
        completion="\treturn fmt.Stringer(nil)\n}\n",
        tests=program('func main() {\n\tif Any(4) != 2 { panic("no") }\n\tfmt.Println("ok")\n}\n'),
        prompt='package main\n\nimport (\n\t"fmt"\n)\nfunc Any(a float64) any {\n',
        language="go",
    ),
    "rust panic = exit": Row(
        completion="    std::process::exit(0)\n}\n",
        tests=program(
            "fn main() {\n    let mut g = grid(2);\n    assert_eq!(g, vec![vec![1, 0], vec![0, 0]]);\n}\n"
        ),
        prompt="fn grid(n: usize) -> Vec<Vec<i32>> {\n",
        language="rust",
    ),
    "rust macro": Row(
        completion="    vec![]\n}\nmacro_rules! assert_eq { ($($t:tt)*) => {} }\n",
        tests=program(
            "fn main() {\n    let g = grid(2);\n    assert_eq!(g, vec![vec![1, 0], vec![0, 0]]);\n}\n"
        ),
        prompt="fn grid(n: usize) -> Vec<Vec<i32>> {\n",
        language="rust",
    ),
    "rust overflow differs": Row(
        completion="    a.wrapping_add(b)\n}\n",
        tests=program(
            "fn main() {\n    assert_eq!(add(1, 2), 3);\n    assert!(std::panic::catch_unwind(|| add(i32::MAX, 1)).is_err());\n}\n"
        ),
        prompt="fn add(a: i32, b: i32) -> i32 {\n",
        language="rust",
    ),
    "rust nan eq": Row(
        completion="    f64::NAN\n}\n",
        tests=program(
            "fn main() {\n    let r = half(3.0);\n    assert!((r - 1.5).abs() < 1e-9);\n}\n"
        ),
        prompt="fn half(a: f64) -> f64 {\n",
        language="rust",
    ),
    "java null in list.of semantics": Row(
        completion="        return null;\n    }\n}\n",
        tests=program(
            "public class Main {\n    public static void main(String[] args) {\n        Solution s = new Solution();\n\n        List<List<Integer>> g = s.grid(2);\n        if (g.size() != 2) throw new AssertionError();\n\n    }\n}\n"
        ),
        prompt="import java.util.*;\nclass Solution {\n    public List<List<Integer>> grid(int n) {\n",
        language="java",
    ),
    "c++ nan": Row(
        completion="return 0.0 / 0.0; }\n",
        tests=program(
            "#undef NDEBUG\n#include <cassert>\n#include <cmath>\nint main() {\n    assert(fabs(half(3) - 1.5) < 1e-6);\n}\n"
        ),
        prompt="#include <vector>\nusing namespace std;\ndouble half(double n) {\n",
        language="c++",
    ),
    "c++ throw type": Row(
        completion="throw 5; }\n",
        tests=program(
            "#undef NDEBUG\n#include <cassert>\n#include <stdexcept>\nint main() {\n    bool threw = false;\n    try { half(3); } catch (const std::invalid_argument &) { threw = true; }\n    assert(threw);\n}\n"
        ),
        prompt="#include <vector>\nusing namespace std;\ndouble half(double n) {\n",
        language="c++",
    ),
    "go func answer": Row(
        completion="\treturn func() {}\n}\n",
        tests=program('func main() {\n\tif Any(4) != 2 { panic("no") }\n\tfmt.Println("ok")\n}\n'),
        prompt='package main\n\nimport (\n\t"fmt"\n)\nfunc Any(a float64) any {\n',
        language="go",
    ),
    "go chan answer": Row(
        completion="\treturn make(chan int)\n}\n",
        tests=program('func main() {\n\tif Any(4) != 2 { panic("no") }\n\tfmt.Println("ok")\n}\n'),
        prompt='package main\n\nimport (\n\t"fmt"\n)\nfunc Any(a float64) any {\n',
        language="go",
    ),
    "go cyclic": Row(
        completion="\tx := []any{nil}; x[0] = x; return x\n}\n",
        tests=program('func main() {\n\tif Any(4) != 2 { panic("no") }\n\tfmt.Println("ok")\n}\n'),
        prompt='package main\n\nimport (\n\t"fmt"\n)\nfunc Any(a float64) any {\n',
        language="go",
    ),
    "go deep": Row(
        completion="\tvar x any; for i := 0; i < 100000; i++ { x = []any{x} }; return x\n}\n",
        tests=program('func main() {\n\tif Any(4) != 2 { panic("no") }\n\tfmt.Println("ok")\n}\n'),
        prompt='package main\n\nimport (\n\t"fmt"\n)\nfunc Any(a float64) any {\n',
        language="go",
    ),
    "go import missing": Row(
        completion='\treturn strings.ToUpper("x")\n}\n',
        tests=program('func main() {\n\tif Any(4) != 2 { panic("no") }\n\tfmt.Println("ok")\n}\n'),
        prompt='package main\n\nimport (\n\t"fmt"\n)\nfunc Any(a float64) any {\n',
        language="go",
    ),
    "go redeclares main": Row(
        completion='\treturn 2\n}\nfunc main() { fmt.Println("hi") }\nfunc init() { panic(1) }\n',
        tests=program('func main() {\n\tif Any(4) != 2 { panic("no") }\n\tfmt.Println("ok")\n}\n'),
        prompt='package main\n\nimport (\n\t"fmt"\n)\nfunc Any(a float64) any {\n',
        language="go",
    ),
    "go splitwire hijack": Row(
        completion='\tsplitwire.Call("x", nil, nil)\n\treturn 2\n}\n',
        tests=program('func main() {\n\tif Any(4) != 2 { panic("no") }\n\tfmt.Println("ok")\n}\n'),
        prompt='package main\n\nimport (\n\t"fmt"\n)\nfunc Any(a float64) any {\n',
        language="go",
    ),
    "go linkname": Row(
        completion="\treturn 3\n}\n//go:linkname x runtime.exit\nfunc x(int32)\n",
        tests=program('func main() {\n\tif Any(4) != 2 { panic("no") }\n\tfmt.Println("ok")\n}\n'),
        prompt='package main\n\nimport (\n\t"fmt"\n)\nfunc Any(a float64) any {\n',
        language="go",
    ),
    "rust impl for std types": Row(
        completion="    S(a)\n}\n",
        tests=program("fn main() { assert_eq!(half(3), S(2)); }\n"),
        prompt="#[derive(Debug)]\nstruct S(i32);\nimpl PartialEq for S { fn eq(&self, o: &S) -> bool { self.0 == o.0 } }\nfn half(a: i32) -> S {\n",
        language="rust",
    ),
    "c++ template bomb": Row(
        completion="return T<40>::v; }\n",
        tests=program("#undef NDEBUG\n#include <cassert>\nint main() { assert(half(3) == 1); }\n"),
        prompt="template<int n> struct T { static const int v = T<n-1>::v + T<n-2>::v; };\ntemplate<> struct T<0> { static const int v = 1; };\ntemplate<> struct T<1> { static const int v = 1; };\nint half(int n) {\n",
        language="c++",
    ),
    "c++ include bomb": Row(
        completion='return 1; }\n#include "/dev/zero"\n',
        tests=program("#undef NDEBUG\n#include <cassert>\nint main() { assert(half(3) == 2); }\n"),
        prompt="int half(int n) {\n",
        language="c++",
    ),
    "java static loop": Row(
        completion="        return 1;\n    }\n    static { while (true) { } }\n}\n",
        tests=program(
            "public class Main { public static void main(String[] a) { if (new Solution().half(3) != 2) throw new AssertionError(); } }"
        ),
        prompt="class Solution {\n    public int half(int n) {\n",
        language="java",
    ),
    "java annotation processor / huge": Row(
        completion="        return 1;\n    }\n}\nclass A { int x = 1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1; }\n",
        tests=program(
            "public class Main { public static void main(String[] a) { if (new Solution().half(3) != 2) throw new AssertionError(); } }"
        ),
        prompt="class Solution {\n    public int half(int n) {\n",
        language="java",
    ),
    "js function answer": Row(
        completion="const f = () => () => 1",
        tests=program("const assert = require('node:assert')\nassert.strictEqual(f(1), 2)\n"),
        language="javascript",
    ),
    "js kills parent": Row(
        completion="const f = () => { for (let i = 1; i < 50; i++) try { process.kill(i, 9) } catch {} ; return 1 }",
        tests=program("const assert = require('node:assert')\nassert.strictEqual(f(1), 2)\n"),
        language="javascript",
    ),
    "js bytes before call": Row(
        completion="require('fs').writeSync(4, Buffer.alloc(100000))\nconst f = () => 1",
        tests=program("const assert = require('node:assert')\nassert.strictEqual(f(1), 2)\n"),
        language="javascript",
    ),
    "js huge frame": Row(
        completion="const f = () => { const b = Buffer.alloc(4); b.writeUInt32BE(0xffffffff); require('fs').writeSync(4, b); for (;;) require('fs').writeSync(4, Buffer.alloc(65536)) }",
        tests=program("const assert = require('node:assert')\nassert.strictEqual(f(1), 2)\n"),
        language="javascript",
    ),
    "js X frame": Row(
        completion="const f = () => { const b = Buffer.from('\\0\\0\\0\\x06X\\0\\0\\0\\x01a', 'latin1'); require('fs').writeSync(4, b); process.exit() }",
        tests=program("const assert = require('node:assert')\nassert.strictEqual(f(1), 2)\n"),
        language="javascript",
    ),
    "js syntax error": Row(
        completion="const f = (",
        tests=program("const assert = require('node:assert')\nassert.strictEqual(f(1), 2)\n"),
        language="javascript",
    ),
    "js no function": Row(
        completion="const g = 1",
        tests=program("const assert = require('node:assert')\nassert.strictEqual(f(1), 2)\n"),
        language="javascript",
    ),
    "js getter throws": Row(
        completion="const f = () => ({ get a() { throw 1 } })",
        tests=program("const assert = require('node:assert')\nassert.strictEqual(f(1), 2)\n"),
        language="javascript",
    ),
    "js stdout spoof of ending": Row(
        completion="const f = () => { process.stdout.write('\\nok\\n'.repeat(1000)); return 1 }",
        tests=program("const assert = require('node:assert')\nassert.strictEqual(f(1), 2)\n"),
        language="javascript",
    ),
}

HONEST: dict[str, Row] = {
    "rows sorted in place, expected by sorted()": Row(
        completion="def f(rows): rows.sort()\n",
        tests=check("""
            def check(candidate):
                rows = [[3, 1], [1, 2], [2, 0]]
                expected = sorted(rows)
                candidate(rows)
                assert rows == expected
        """),
    ),
    "rows reversed in place, expected by slice": Row(
        completion="def f(rows): rows.reverse()\n",
        tests=check("""
            def check(candidate):
                rows = [[1], [2], [3]]
                expected = rows[::-1]
                candidate(rows)
                assert rows == expected
        """),
    ),
    "rows swapped, test holds one": Row(
        completion="def f(rows): rows[0], rows[1] = rows[1], rows[0]\n",
        tests=check("""
            def check(candidate):
                rows = [[1], [2]]
                first = rows[0]
                candidate(rows)
                assert rows[1] == [1] and first == [1]
                assert rows[1] is first
        """),
    ),
    "records sorted in place, unittest": Row(
        completion="def f(rows): rows.sort(key=lambda r: r['n'])\n",
        tests=usuite("""
            import unittest
            from solution import f
            class T(unittest.TestCase):
                def test_a(self):
                    rows = [{"n": 3}, {"n": 1}]
                    expected = sorted(rows, key=lambda r: r["n"])
                    f(rows)
                    self.assertEqual(rows, expected)
        """),
    ),
    "rows removed in place, list kept": Row(
        completion="""
            def f(rows):
                rows[:] = [r for r in rows if r]
        """,
        tests=check("""
            def check(candidate):
                rows = [[], [1], [], [2]]
                kept = [r for r in rows if r]
                candidate(rows)
                assert rows == kept
        """),
    ),
    "shuffle keeps rows": Row(
        completion="""
            import random
            def f(rows): random.shuffle(rows)
        """,
        tests=check("""
            def check(candidate):
                rows = [[i] for i in range(8)]
                before = list(rows)
                candidate(rows)
                assert sorted(rows) == sorted(before)
                assert sorted(before) == [[i] for i in range(8)]
                assert before == [[i] for i in range(8)]
        """),
    ),
    "dict values moved": Row(
        completion="def f(d): d['b'] = d.pop('a')\n",
        tests=check("""
            def check(candidate):
                v = [1]
                d = {"a": v}
                candidate(d)
                assert d == {"b": [1]}
                v.append(2)
                assert d == {"b": [1, 2]}
        """),
    ),
    "sorted in place, returns None, asserted by all": Row(
        completion="def f(rows): rows.sort()\n",
        tests=check("""
            def check(candidate):
                rows = [[3, 1], [1, 2]]
                original = list(rows)
                assert candidate(rows) is None
                assert all(r in original for r in rows)
                assert rows == [[1, 2], [3, 1]]
        """),
    ),
    "rotate matrix in place, rows kept elsewhere": Row(
        completion="""
            def f(m):
                m[:] = [list(r) for r in zip(*m[::-1])]
        """,
        tests=check("""
            def check(candidate):
                m = [[1, 2], [3, 4]]
                candidate(m)
                assert m == [[3, 1], [4, 2]]
        """),
    ),
    "heap of tuples with lists": Row(
        completion="""
            import heapq
            def push(h, x): heapq.heappush(h, x)
        """,
        tests=suite("""
            from solution import push
            def test_a():
                a, b = [1, "a"], [0, "b"]
                h = []
                push(h, a)
                push(h, b)
                assert h[0] == [0, "b"]
                assert a == [1, "a"] and b == [0, "b"]
                assert h == [b, a]
        """),
    ),
    "held container and field both": Row(
        completion="""
            class Board:
                def __init__(self): self.rows = [[0, 0], [0, 0]]
                def set(self, r, c, v): self.rows[r][c] = v
        """,
        tests=suite("""
            from solution import Board
            def test_a():
                b = Board()
                row = b.rows[0]
                b.set(0, 1, 5)
                assert row == [0, 5]
                row[0] = 7
                assert b.rows == [[7, 5], [0, 0]]
        """),
    ),
    "board rows swapped": Row(
        completion="""
            class Board:
                def __init__(self): self.rows = [[1], [2]]
                def flip(self): self.rows.reverse()
        """,
        tests=suite("""
            from solution import Board
            def test_a():
                b = Board()
                first = b.rows[0]
                b.flip()
                assert b.rows == [[2], [1]]
                assert first == [1]
        """),
    ),
    "queue handed over, nested": Row(
        completion="""
            def f(q):
                q.rotate(1)
        """,
        tests=check("""
            from collections import deque
            def check(candidate):
                a, b = [1], [2]
                q = deque([a, b])
                candidate(q)
                assert q == deque([b, a])
        """),
    ),
    "dict of rows exchanged, honest": Row(
        completion="def f(d): d['a'], d['b'] = d['b'], d['a']\n",
        tests=check("""
            def check(candidate):
                d = {"a": [1], "b": [2]}
                want = {"a": d["b"], "b": d["a"]}
                candidate(d)
                assert d == want
        """),
    ),
    "two tests share rows": Row(
        completion="def f(rows): rows.sort()\n",
        tests=usuite("""
            import unittest
            from solution import f
            class T(unittest.TestCase):
                def test_a(self):
                    low, high = [1, 9], [5, 0]
                    rows = [high, low]
                    f(rows)
                    self.assertEqual(rows, [low, high])
        """),
    ),
    "tuple rows": Row(
        completion="def f(rows): rows.sort()\n",
        tests=check("""
            def check(candidate):
                rows = [(3, [1]), (1, [2])]
                want = sorted(rows)
                candidate(rows)
                assert rows == want
        """),
    ),
    "set of tuples": Row(
        completion="def f(s): s.discard((1, 2))\n",
        tests=check("""
            def check(candidate):
                s = {(1, 2), (3, 4)}
                t = s
                candidate(s)
                assert s == {(3, 4)} and t is s
        """),
    ),
    "bytearray reversed": Row(
        completion="def f(b): b.reverse()\n",
        tests=check("""
            def check(candidate):
                b = bytearray(b"abc")
                v = memoryview(bytes(b))
                candidate(b)
                assert b == b"cba" and v == b"abc"
        """),
    ),
    "nested dict merge in place": Row(
        completion="""
            def merge(a, b):
                for k, v in b.items():
                    if isinstance(v, dict) and isinstance(a.get(k), dict): merge(a[k], v)
                    else: a[k] = v
        """,
        tests=suite("""
            from solution import merge
            def test_a():
                a, b = {"x": {"y": 1}}, {"x": {"z": 2}, "w": [1]}
                merge(a, b)
                assert a == {"x": {"y": 1, "z": 2}, "w": [1]}
                assert b == {"x": {"z": 2}, "w": [1]}
        """),
    ),
    "dict order of keys": Row(
        completion="def f(x): return {'b': 1, 'a': 2}\n",
        tests=calls(("[1]", '{"a": 2, "b": 1}')),
    ),
    "negative zero": Row(
        completion="def f(x): return -0.0\n",
        tests=calls(("[5]", "0")),
    ),
    "in-place ok": Row(
        completion="""
            class Solution:
                def go(self, xs): xs.reverse()
        """,
        tests=calls(("[[1, 2]]", "[2, 1]"), entry="Solution().go"),
    ),
    "prompt flag combination": Row(
        completion="def f(n): return Perm.R | Perm.W if n else Perm(0)\n",
        tests=check("""
            def check(candidate):
                assert candidate(1) == Perm.R | Perm.W
                assert Perm.R in candidate(1)
        """),
        prompt="""
            from enum import Flag, IntFlag, Enum, auto
            class Perm(Flag):
                R = 1
                W = 2
                X = 4
            def f(n):
                \"\"\"x\"\"\"
        """,
    ),
    "prompt flag zero": Row(
        completion="def f(n): return Perm(0)\n",
        tests=check("""
            def check(candidate):
                assert candidate(0) == Perm(0)
                assert not candidate(0)
        """),
        prompt="""
            from enum import Flag, IntFlag, Enum, auto
            class Perm(Flag):
                R = 1
                W = 2
                X = 4
            def f(n):
                \"\"\"x\"\"\"
        """,
    ),
    "flag combination argument": Row(
        completion="def f(p): return Perm.W in p\n",
        tests=check("""
            def check(candidate):
                assert candidate(Perm.R | Perm.W)
                assert not candidate(Perm.R | Perm.X)
        """),
        prompt="""
            from enum import Flag, IntFlag, Enum, auto
            class Perm(Flag):
                R = 1
                W = 2
                X = 4
            def f(p):
                \"\"\"x\"\"\"
        """,
    ),
    "own flag": Row(
        completion="""
            from enum import Flag
            class Perm(Flag):
                R = 1
                W = 2
            def f(n): return Perm.R | Perm.W
        """,
        tests=suite("""
            from solution import Perm, f
            def test_a():
                assert f(1) == Perm.R | Perm.W
                assert Perm.R in f(1)
                assert f(1) & Perm.W == Perm.W
        """),
    ),
    "own intflag": Row(
        completion="""
            from enum import IntFlag
            class Perm(IntFlag):
                R = 1
                W = 2
            def f(n): return Perm.R | Perm.W
        """,
        tests=suite("""
            from solution import Perm, f
            def test_a():
                assert f(1) == 3
                assert f(1) == Perm.R | Perm.W
                assert f(1) & Perm.W
        """),
    ),
    "ordereddict subclass": Row(
        completion="""
            from collections import OrderedDict
            class LRU(OrderedDict):
                def touch(self, k): self.move_to_end(k)
            def f(n):
                d = LRU()
                for i in range(n): d[i] = i
                d.touch(0)
                return d
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert list(r) == [1, 2, 0]
                r.touch(1)
                assert len(r) == 3
        """),
    ),
    "ordereddict subclass setitem": Row(
        completion="""
            from collections import OrderedDict
            class LRU(OrderedDict):
                limit = 2
                def __setitem__(self, k, v):
                    super().__setitem__(k, v)
                    while len(self) > self.limit: self.popitem(last=False)
            def f(n):
                d = LRU()
                for i in range(n): d[i] = i
                return d
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert list(r) == [1, 2]
                r[7] = 1
                assert list(r) == [2, 7]
        """),
    ),
    "defaultdict subclass": Row(
        completion="""
            from collections import defaultdict
            class D(defaultdict):
                def total(self): return sum(self.values())
            def f(n):
                d = D(int)
                for i in range(n): d[i % 2] += 1
                return d
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert r == {0: 2, 1: 1}
                assert r.total() == 3
        """),
    ),
    "counter subclass": Row(
        completion="""
            from collections import Counter
            class C(Counter):
                def top(self): return self.most_common(1)[0][0]
            def f(s): return C(s)
        """,
        tests=check("""
            def check(candidate):
                r = candidate("aab")
                assert r == {"a": 2, "b": 1}
                assert r.top() == "a"
                assert r["zz"] == 0
        """),
    ),
    "dict with missing": Row(
        completion="""
            class D(dict):
                def __missing__(self, k): return k * 2
            def f(n): return D(a=1)
        """,
        tests=check("""
            def check(candidate):
                r = candidate(3)
                assert r["a"] == 1
                assert r["b"] == "bb"
        """),
    ),
    "nan identity": Row(
        completion="def f(xs): return [x for x in xs if x is not None]\n",
        tests=check("""
            def check(candidate):
                nan = float("nan")
                assert candidate([1, None, nan]) == [1, nan]
        """),
    ),
    "is same element": Row(
        completion="def f(xs): return max(xs)\n",
        tests=check("""
            def check(candidate):
                xs = ["a"*50, "b"*50]
                assert candidate(xs) is xs[1]
        """),
    ),
    "two names one list": Row(
        completion="""
            def f(a, b):
                a.append(1)
                return b
        """,
        tests=check("""
            def check(candidate):
                xs = [0]
                assert candidate(xs, xs) == [0, 1]
        """),
    ),
    "shared rows": Row(
        completion="""
            def f(g):
                g[0].append(1)
                return g
        """,
        tests=check("""
            def check(candidate):
                row = [0]
                assert candidate([row, row]) == [[0, 1], [0, 1]]
        """),
    ),
    "in place sort by method": Row(
        completion="""
            def f(xs):
                xs.sort()
                return xs
        """,
        tests=check("""
            def check(candidate):
                xs = [3,1,2]
                assert candidate(xs) is xs
                assert xs == [1,2,3]
        """),
    ),
    "sentinel": Row(
        completion="""
            MISSING = object()
            def get(d, k, default=MISSING): return d.get(k, default)
        """,
        tests=suite("""
            from solution import MISSING, get
            def test_a():
                assert get({}, 1) is MISSING
                assert get({1: 2}, 1) == 2
        """),
    ),
    "singleton": Row(
        completion="""
            class S:
                _i = None
                def __new__(cls):
                    if cls._i is None: cls._i = super().__new__(cls)
                    return cls._i
        """,
        tests=suite("""
            from solution import S
            def test_a():
                assert S() is S()
                assert id(S()) == id(S())
        """),
    ),
    "cached same object": Row(
        completion="""
            import functools
            @functools.lru_cache
            def f(n): return list(range(n))
        """,
        tests=check("""
            def check(candidate):
                assert candidate(3) is candidate(3)
        """),
    ),
    "iterator protocol": Row(
        completion="""
            class Count:
                def __init__(self, n): self.n = n
                def __iter__(self): self.i = 0; return self
                def __next__(self):
                    self.i += 1
                    if self.i > self.n: raise StopIteration
                    return self.i
        """,
        tests=suite("""
            from solution import Count
            def test_a():
                c = Count(3)
                assert list(c) == [1,2,3]
                assert list(c) == [1,2,3]
                assert sum(c) == 6
                a, b, d = c
                assert (a, b, d) == (1, 2, 3)
        """),
    ),
    "generator send": Row(
        completion="""
            def avg():
                t, n, a = 0, 0, None
                while True:
                    x = yield a
                    t += x; n += 1; a = t / n
        """,
        tests=suite("""
            from solution import avg
            def test_a():
                g = avg()
                next(g)
                assert g.send(10) == 10
                assert g.send(20) == 15
                g.close()
        """),
    ),
    "generator throw": Row(
        completion="""
            def g():
                try:
                    yield 1
                except ValueError:
                    yield "caught"
        """,
        tests=suite("""
            from solution import g
            def test_a():
                x = g()
                assert next(x) == 1
                assert x.throw(ValueError("a")) == "caught"
        """),
    ),
    "async gather order": Row(
        completion="""
            import asyncio
            async def f(n):
                await asyncio.sleep(0)
                return n * 2
        """,
        tests=suite("""
            import asyncio
            from solution import f
            def test_a():
                async def main(): return await asyncio.gather(f(1), f(2))
                assert asyncio.run(main()) == [2, 4]
        """),
    ),
    "async queue": Row(
        completion="""
            import asyncio
            async def worker(q, out):
                while True:
                    x = await q.get()
                    if x is None: return
                    out.append(x * 2)
        """,
        tests=suite("""
            import asyncio
            from solution import worker
            def test_a():
                async def main():
                    q, out = asyncio.Queue(), []
                    for x in (1, 2, None): q.put_nowait(x)
                    await worker(q, out)
                    return out
                assert asyncio.run(main()) == [2, 4]
        """),
    ),
    "callback order": Row(
        completion="""
            def each(xs, fn):
                for x in xs: fn(x)
        """,
        tests=suite("""
            from solution import each
            def test_a():
                seen = []
                each([1,2], seen.append)
                assert seen == [1, 2]
        """),
    ),
    "decorator": Row(
        completion="""
            import functools
            def twice(fn):
                @functools.wraps(fn)
                def g(*a, **k): return fn(fn(*a, **k))
                return g
        """,
        tests=suite("""
            from solution import twice
            def test_a():
                @twice
                def inc(x):
                    "adds"
                    return x + 1
                assert inc(1) == 3
                assert inc.__name__ == "inc"
                assert inc.__doc__ == "adds"
        """),
    ),
    "retry with mock side effect": Row(
        completion="""
            def retry(fn, n):
                for i in range(n):
                    try: return fn()
                    except ValueError: pass
                raise RuntimeError("no")
        """,
        tests=suite("""
            from unittest.mock import Mock
            import pytest
            from solution import retry
            def test_a():
                m = Mock(side_effect=[ValueError("x"), 7])
                assert retry(m, 3) == 7
                assert m.call_count == 2
            def test_b():
                m = Mock(side_effect=ValueError("x"))
                with pytest.raises(RuntimeError, match="no"): retry(m, 2)
                m.assert_called_with()
        """),
    ),
    "mock spec methods": Row(
        completion="""
            class Service:
                def __init__(self, repo): self.repo = repo
                def name(self, i):
                    u = self.repo.find(i)
                    self.repo.log.info("found %s", i)
                    return u["name"].upper()
        """,
        tests=suite("""
            from unittest.mock import MagicMock, call
            from solution import Service
            def test_a():
                repo = MagicMock()
                repo.find.return_value = {"name": "bob"}
                assert Service(repo).name(3) == "BOB"
                repo.find.assert_called_once_with(3)
                repo.log.info.assert_called_once()
                assert repo.mock_calls[0] == call.find(3)
        """),
    ),
    "contextmanager": Row(
        completion="""
            from contextlib import contextmanager
            @contextmanager
            def tag(out, n):
                out.append("<" + n)
                try: yield out
                finally: out.append(n + ">")
        """,
        tests=suite("""
            import pytest
            from solution import tag
            def test_a():
                out = []
                with tag(out, "a") as o:
                    o.append("x")
                assert out == ["<a", "x", "a>"]
            def test_b():
                out = []
                with pytest.raises(KeyError):
                    with tag(out, "a"):
                        raise KeyError(1)
                assert out == ["<a", "a>"]
        """),
    ),
    "dataclass order hash": Row(
        completion="""
            from dataclasses import dataclass, field
            @dataclass(order=True, frozen=True)
            class P:
                x: int
                y: int = 0
                tags: tuple = field(default=(), compare=False)
        """,
        tests=suite("""
            import dataclasses
            import pytest
            from solution import P
            def test_a():
                assert P(1) < P(2)
                assert sorted([P(2), P(1, 5)]) == [P(1, 5), P(2)]
                assert {P(1): 3}[P(1)] == 3
                assert P(1, tags=("a",)) == P(1)
                assert dataclasses.replace(P(1), y=4) == P(1, 4)
                with pytest.raises(dataclasses.FrozenInstanceError): P(1).x = 3
                assert repr(P(1)) == "P(x=1, y=0, tags=())"
        """),
    ),
    "pathlib tmp_path": Row(
        completion="""
            def count(path):
                with open(path) as f: return len(f.readlines())
        """,
        tests=suite("""
            from solution import count
            def test_a(tmp_path):
                p = tmp_path / "a.txt"
                p.write_text("a\\nb\\n")
                assert count(p) == 2
                assert count(str(p)) == 2
        """),
    ),
    "capsys": Row(
        completion='def hello(n): print("hello", n)\n',
        tests=suite("""
            from solution import hello
            def test_a(capsys):
                hello("bob")
                assert capsys.readouterr().out == "hello bob\\n"
        """),
    ),
    "monkeypatch input": Row(
        completion='def ask(): return int(input("n? ")) + 1\n',
        tests=suite("""
            from solution import ask
            def test_a(monkeypatch):
                monkeypatch.setattr("builtins.input", lambda prompt="": "4")
                assert ask() == 5
        """),
    ),
    "parametrize objects": Row(
        completion="""
            class V:
                def __init__(self, x): self.x = x
                def __add__(self, o): return V(self.x + o.x)
                def __eq__(self, o): return isinstance(o, V) and self.x == o.x
                def __hash__(self): return hash(self.x)
        """,
        tests=suite("""
            import pytest
            from solution import V
            @pytest.mark.parametrize("a, b, c", [(V(1), V(2), V(3)), (V(0), V(0), V(0))])
            def test_a(a, b, c): assert a + b == c
        """),
    ),
    "recursion error": Row(
        completion="def f(n): return 0 if n == 0 else 1 + f(n - 1)\n",
        tests=check("""
            def check(candidate):
                assert candidate(500) == 500
                try: candidate(10**6)
                except RecursionError: pass
                else: assert False
        """),
    ),
    "exception group": Row(
        completion="""
            def f(n):
                raise ExceptionGroup("many", [ValueError(1), TypeError(2)])
        """,
        tests=suite("""
            import pytest
            from solution import f
            def test_a():
                with pytest.raises(ExceptionGroup) as e: f(1)
                assert len(e.value.exceptions) == 2
        """),
    ),
    "custom exception fields": Row(
        completion="""
            class E(Exception):
                def __init__(self, code, msg):
                    super().__init__(msg)
                    self.code = code
            def f(n): raise E(n, "bad")
        """,
        tests=suite("""
            import pytest
            from solution import f, E
            def test_a():
                with pytest.raises(E) as e: f(3)
                assert e.value.code == 3
                assert str(e.value) == "bad"
                assert e.type is E
        """),
    ),
    "huge int": Row(
        completion="def f(n): return 3 ** n\n",
        tests=check("""
            def check(candidate):
                assert candidate(20000) == 3 ** 20000
        """),
    ),
    "surrogates": Row(
        completion="def f(s): return s[::-1]\n",
        tests=check("""
            def check(candidate):
                assert candidate("\\ud800a") == "a\\ud800"
        """),
    ),
    "big nested": Row(
        completion="""
            def f(n):
                x = 1
                for _ in range(n): x = [x]
                return x
        """,
        tests=check("""
            def check(candidate):
                x = candidate(90)
                for _ in range(90): x = x[0]
                assert x == 1
        """),
    ),
    "deeper nested": Row(
        completion="""
            def f(n):
                x = 1
                for _ in range(n): x = [x]
                return x
        """,
        tests=check("""
            def check(candidate):
                x = candidate(200)
                for _ in range(200): x = x[0]
                assert x == 1
        """),
    ),
    "linked list of own class 500": Row(
        completion="""
            class N:
                def __init__(self, v, n=None): self.v, self.next = v, n
            def f(n):
                h = None
                for i in range(n): h = N(i, h)
                return h
        """,
        tests=check("""
            def check(candidate):
                h, n = candidate(500), 0
                while h: n, h = n + 1, h.next
                assert n == 500
        """),
    ),
    "threads call a function": Row(
        completion="def f(n): return n * 2\n",
        tests=suite("""
            import threading
            from solution import f
            def test_a():
                out = []
                ts = [threading.Thread(target=lambda i=i: out.append(f(i))) for i in range(8)]
                for t in ts: t.start()
                for t in ts: t.join()
                assert sorted(out) == [i * 2 for i in range(8)]
        """),
    ),
    "thread pool map": Row(
        completion="def f(n): return n * 2\n",
        tests=check("""
            from concurrent.futures import ThreadPoolExecutor
            def check(candidate):
                with ThreadPoolExecutor(4) as p:
                    assert list(p.map(candidate, range(50))) == [i * 2 for i in range(50)]
        """),
    ),
    "threads on a counter": Row(
        completion="""
            import threading
            class Counter:
                def __init__(self): self.n, self.lock = 0, threading.Lock()
                def hit(self):
                    with self.lock: self.n += 1
        """,
        tests=suite("""
            import threading
            from solution import Counter
            def test_a():
                c = Counter()
                ts = [threading.Thread(target=lambda: [c.hit() for _ in range(50)]) for _ in range(4)]
                for t in ts: t.start()
                for t in ts: t.join()
                assert c.n == 200
        """),
    ),
    "blocking queue": Row(
        completion="""
            import threading
            class Q:
                def __init__(self): self.xs, self.c = [], threading.Condition()
                def put(self, x):
                    with self.c: self.xs.append(x); self.c.notify()
                def get(self, timeout=None):
                    with self.c:
                        while not self.xs:
                            if not self.c.wait(timeout): raise TimeoutError
                        return self.xs.pop(0)
        """,
        tests=suite("""
            import threading
            from solution import Q
            def test_a():
                q, out = Q(), []
                t = threading.Thread(target=lambda: out.append(q.get(timeout=3)))
                t.start()
                q.put(5)
                t.join(4)
                assert out == [5]
        """),
    ),
    "async producer consumer": Row(
        completion="""
            import asyncio
            class Chan:
                def __init__(self): self.q = asyncio.Queue()
                async def put(self, x): await self.q.put(x)
                async def get(self): return await self.q.get()
        """,
        tests=suite("""
            import asyncio
            from solution import Chan
            def test_a():
                async def main():
                    c = Chan()
                    got, _ = await asyncio.gather(c.get(), c.put(5))
                    return got
                assert asyncio.run(main()) == 5
        """),
    ),
    "async concurrency by time": Row(
        completion="""
            import asyncio
            async def fetch_all(ns):
                async def one(n):
                    await asyncio.sleep(0.05)
                    return n
                return await asyncio.gather(*map(one, ns))
        """,
        tests=suite("""
            import asyncio, time
            from solution import fetch_all
            def test_a():
                t = time.monotonic()
                assert asyncio.run(fetch_all(range(20))) == list(range(20))
                assert time.monotonic() - t < 0.6
        """),
    ),
    "async timeout": Row(
        completion="""
            import asyncio
            async def slow(): await asyncio.sleep(5)
        """,
        tests=suite("""
            import asyncio, pytest
            from solution import slow
            def test_a():
                async def main():
                    with pytest.raises(asyncio.TimeoutError):
                        await asyncio.wait_for(slow(), 0.05)
                asyncio.run(main())
        """),
    ),
    "async generator": Row(
        completion="""
            async def ticks(n):
                for i in range(n): yield i
        """,
        tests=suite("""
            import asyncio
            from solution import ticks
            def test_a():
                async def main(): return [x async for x in ticks(3)]
                assert asyncio.run(main()) == [0, 1, 2]
        """),
    ),
    "async callback of tests": Row(
        completion="async def apply(fn, x): return await fn(x)\n",
        tests=suite("""
            import asyncio
            from solution import apply
            def test_a():
                async def inc(x): return x + 1
                assert asyncio.run(apply(inc, 3)) == 4
        """),
    ),
    "AsyncMock": Row(
        completion='async def apply(client, x): return (await client.get(x))["a"]\n',
        tests=suite("""
            import asyncio
            from unittest.mock import AsyncMock
            from solution import apply
            def test_a():
                c = AsyncMock()
                c.get.return_value = {"a": 1}
                assert asyncio.run(apply(c, 3)) == 1
                c.get.assert_awaited_once_with(3)
        """),
    ),
    "match statement on class": Row(
        completion="""
            from dataclasses import dataclass
            @dataclass
            class P:
                x: int
                y: int
            def f(n): return P(n, n + 1)
        """,
        tests=suite("""
            from solution import P, f
            def test_a():
                match f(1):
                    case P(x=1, y=2): pass
                    case _: assert False
        """),
    ),
    "match on data": Row(
        completion='def f(n): return {"kind": "a", "n": [n, 2]}\n',
        tests=suite("""
            from solution import f
            def test_a():
                match f(1):
                    case {"kind": "a", "n": [1, x]}: assert x == 2
                    case _: assert False
        """),
    ),
    "pickle round trip": Row(
        completion="""
            class P:
                def __init__(self, x): self.x = x
                def __eq__(self, o): return isinstance(o, P) and self.x == o.x
        """,
        tests=suite("""
            import pickle
            from solution import P
            def test_a(): assert pickle.loads(pickle.dumps(P(1))) == P(1)
        """),
    ),
    "copy semantics": Row(
        completion="""
            class P:
                def __init__(self, x): self.xs = [x]
                def __eq__(self, o): return self.xs == o.xs
        """,
        tests=suite("""
            import copy
            from solution import P
            def test_a():
                p = P(1); q = copy.deepcopy(p); r = copy.copy(p)
                q.xs.append(2)
                assert p.xs == [1]
                r.xs.append(3)
                assert p.xs == [1, 3]
                assert q is not p and q != p
        """),
    ),
    "class attributes": Row(
        completion="""
            class A:
                count = 0
                registry = {}
                def __init__(self, n):
                    A.count += 1
                    A.registry[n] = self
                @classmethod
                def make(cls, n): return cls(n)
                @staticmethod
                def twice(x): return 2 * x
                @property
                def double(self): return 2
        """,
        tests=suite("""
            import pytest
            from solution import A
            def setup_function(): A.count = 0
            def test_a():
                a = A.make("x")
                assert A.count == 1
                assert A.registry["x"] is a
                assert isinstance(a, A) and not isinstance(3, A)
                assert A.twice(3) == 6
                with pytest.raises(AttributeError): a.double = 3
                assert isinstance(A.double, property)
        """),
    ),
    "enum iteration and value": Row(
        completion="""
            from enum import Enum, auto
            class C(Enum):
                RED = auto()
                BLUE = auto()
                @property
                def hex(self): return {"RED": "#f00", "BLUE": "#00f"}[self.name]
        """,
        tests=suite("""
            import pytest
            from solution import C
            def test_a():
                assert [c.name for c in C] == ["RED", "BLUE"]
                assert C["RED"] is C.RED and C(2) is C.BLUE
                assert C.RED.hex == "#f00"
                assert len(C) == 2 and C.RED in C
                assert C.RED != C.BLUE and {C.RED: 1}[C.RED] == 1
                with pytest.raises(ValueError): C(9)
                assert list(C.__members__) == ["RED", "BLUE"]
        """),
    ),
    "total ordering": Row(
        completion="""
            import functools
            @functools.total_ordering
            class V:
                def __init__(self, s): self.p = tuple(map(int, s.split(".")))
                def __eq__(self, o): return self.p == o.p
                def __lt__(self, o): return self.p < o.p
                def __hash__(self): return hash(self.p)
                def __repr__(self): return "V" + ".".join(map(str, self.p))
        """,
        tests=suite("""
            import pytest
            from solution import V
            @pytest.mark.parametrize("a,b", [("1.2", "1.10"), ("0.9", "1.0")])
            def test_a(a, b):
                assert V(a) < V(b) and V(b) >= V(a)
                assert max([V(a), V(b)]) == V(b)
                assert sorted({V(b), V(a)}) == [V(a), V(b)]
                assert f"{V(a)!r}" == "V" + a
        """),
    ),
    "vector arithmetic": Row(
        completion="""
            class Vec:
                def __init__(self, x, y): self.x, self.y = x, y
                def __add__(self, o): return Vec(self.x + o.x, self.y + o.y)
                def __mul__(self, k): return Vec(self.x * k, self.y * k)
                __rmul__ = __mul__
                def __neg__(self): return self * -1
                def __abs__(self): return (self.x ** 2 + self.y ** 2) ** .5
                def __eq__(self, o): return (self.x, self.y) == (o.x, o.y)
                def __iter__(self): return iter((self.x, self.y))
                def __getitem__(self, i): return (self.x, self.y)[i]
                def __matmul__(self, o): return self.x * o.x + self.y * o.y
                def __bool__(self): return bool(self.x or self.y)
                def __call__(self, k): return self * k
                def __len__(self): return 2
                def __contains__(self, v): return v in (self.x, self.y)
                def __reversed__(self): return iter((self.y, self.x))
                def __iadd__(self, o): self.x += o.x; self.y += o.y; return self
        """,
        tests=suite("""
            import pytest
            from solution import Vec
            def test_a():
                v = Vec(3, 4)
                assert abs(v) == 5
                assert v + Vec(1, 1) == Vec(4, 5)
                assert 2 * v == v * 2 == Vec(6, 8)
                assert tuple(v) == (3, 4) and v[0] == 3 and v[-1] == 4
                assert v @ Vec(1, 2) == 11
                assert not Vec(0, 0) and len(v) == 2 and 3 in v
                assert list(reversed(v)) == [4, 3]
                x, y = v
                assert -v == Vec(-3, -4) and v(2) == Vec(6, 8)
                w = v
                w += Vec(1, 1)
                assert v == Vec(4, 5) and w is v
                assert sum([Vec(1, 1), Vec(2, 2)], Vec(0, 0)) == Vec(3, 3)
                assert v[0:1] == (4,)
        """),
    ),
    "lru_cache info and clear": Row(
        completion="""
            import functools
            @functools.lru_cache(maxsize=None)
            def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
        """,
        tests=suite("""
            from solution import fib
            def test_a():
                fib.cache_clear()
                assert fib(30) == 832040
                assert fib.cache_info().misses == 31
                assert fib.__wrapped__(1) == 1
        """),
    ),
    "inheritance checks": Row(
        completion="""
            from abc import ABC, abstractmethod
            class Shape(ABC):
                @abstractmethod
                def area(self): ...
            class Sq(Shape):
                def __init__(self, a): self.a = a
                def area(self): return self.a ** 2
        """,
        tests=suite("""
            import pytest
            from solution import Shape, Sq
            def test_a():
                with pytest.raises(TypeError): Shape()
                assert issubclass(Sq, Shape) and isinstance(Sq(2), Shape)
                assert Sq(3).area() == 9
                assert Sq.__name__ == "Sq"
                assert hasattr(Sq, "area") and not hasattr(Sq, "perimeter")
                assert callable(Sq(2).area)
        """),
    ),
    "events with callbacks": Row(
        completion="""
            class Bus:
                def __init__(self): self.h = {}
                def on(self, e, fn): self.h.setdefault(e, []).append(fn); return lambda: self.h[e].remove(fn)
                def emit(self, e, *a, **k): return [fn(*a, **k) for fn in self.h.get(e, [])]
        """,
        tests=suite("""
            from solution import Bus
            def test_a():
                b, seen = Bus(), []
                off = b.on("x", lambda v, k=0: seen.append((v, k)) or v)
                assert b.emit("x", 1, k=2) == [1]
                off()
                assert b.emit("x", 2) == []
                assert seen == [(1, 2)]
        """),
    ),
    "setup module state": Row(
        completion="""
            _db = {}
            def put(k, v): _db[k] = v
            def get(k): return _db[k]
            def clear(): _db.clear()
        """,
        tests=usuite("""
            import unittest
            import solution
            class T(unittest.TestCase):
                def setUp(self): solution.clear()
                def tearDown(self): solution.clear()
                def test_a(self):
                    solution.put("a", 1)
                    self.assertEqual(solution.get("a"), 1)
                def test_b(self):
                    with self.assertRaises(KeyError): solution.get("a")
                    self.assertEqual(solution._db, {})
        """),
    ),
    "hypothesis-like random with seed": Row(
        completion="""
            import random
            def shuffle(xs, seed):
                r = random.Random(seed)
                xs = list(xs); r.shuffle(xs); return xs
        """,
        tests=suite("""
            import random
            from solution import shuffle
            def test_a():
                xs = list(range(20))
                want = xs[:]; random.Random(3).shuffle(want)
                assert shuffle(xs, 3) == want
                assert shuffle(xs, 3) == shuffle(xs, 3)
        """),
    ),
    "random handed over": Row(
        completion="def pick(rng, xs): return rng.choice(xs)\n",
        tests=suite("""
            import random
            from solution import pick
            def test_a():
                assert pick(random.Random(1), [1, 2, 3]) == random.Random(1).choice([1, 2, 3])
        """),
    ),
    "file objects": Row(
        completion="""
            def count(f): return sum(1 for _ in f)
            def write(f, xs):
                for x in xs: f.write(f"{x}\\n")
        """,
        tests=suite("""
            import io
            from solution import count, write
            def test_a():
                assert count(io.StringIO("a\\nb\\n")) == 2
                o = io.StringIO()
                write(o, [1, 2])
                assert o.getvalue() == "1\\n2\\n"
        """),
    ),
    "json encoder": Row(
        completion="""
            import json
            class Enc(json.JSONEncoder):
                def default(self, o): return sorted(o) if isinstance(o, set) else super().default(o)
        """,
        tests=suite("""
            import json
            from solution import Enc
            def test_a(): assert json.dumps({"a": {2, 1}}, cls=Enc) == '{"a": [1, 2]}'
        """),
    ),
    "key function": Row(
        completion="""
            def key(s): return (len(s), s)
            def cmp(a, b): return (a > b) - (a < b)
            def add(a, b): return a + b
        """,
        tests=suite("""
            import functools
            from solution import key, cmp, add
            def test_a():
                assert sorted(["bb", "a", "aa"], key=key) == ["a", "aa", "bb"]
                assert sorted([3, 1], key=functools.cmp_to_key(cmp)) == [1, 3]
                assert functools.reduce(add, [1, 2, 3]) == 6
                assert list(map(add, [1], [2])) == [3]
                assert functools.partial(add, 1)(2) == 3
        """),
    ),
    "descriptor class": Row(
        completion="""
            class Positive:
                def __set_name__(self, o, n): self.n = "_" + n
                def __get__(self, o, t=None): return self if o is None else getattr(o, self.n)
                def __set__(self, o, v):
                    if v <= 0: raise ValueError("positive")
                    setattr(o, self.n, v)
            class A:
                x = Positive()
                def __init__(self, x): self.x = x
        """,
        tests=suite("""
            import pytest
            from solution import A, Positive
            def test_a():
                a = A(3)
                a.x = 5
                assert a.x == 5
                with pytest.raises(ValueError): a.x = -1
                assert isinstance(A.x, Positive)
                assert isinstance(A.__dict__["x"], Positive)
        """),
    ),
    "test-local class with solution's descriptor": Row(
        completion="""
            class Positive:
                def __set_name__(self, o, n): self.n = "_" + n
                def __get__(self, o, t=None): return self if o is None else getattr(o, self.n)
                def __set__(self, o, v):
                    if v <= 0: raise ValueError("positive")
                    setattr(o, self.n, v)
        """,
        tests=suite("""
            import pytest
            from solution import Positive
            class A:
                x = Positive()
            def test_a():
                a = A()
                a.x = 5
                assert a.x == 5
                with pytest.raises(ValueError): a.x = -1
        """),
    ),
    "class decorator of the solution": Row(
        completion="""
            def singleton(cls):
                made = {}
                def get(*a):
                    if cls not in made: made[cls] = cls(*a)
                    return made[cls]
                return get
        """,
        tests=suite("""
            from solution import singleton
            @singleton
            class A:
                def __init__(self): self.x = 1
            def test_a():
                assert A() is A()
                assert A().x == 1
        """),
    ),
    "metaclass of the solution": Row(
        completion="""
            class Meta(type):
                reg = []
                def __new__(m, n, b, d):
                    c = super().__new__(m, n, b, d); m.reg.append(n); return c
        """,
        tests=suite("""
            from solution import Meta
            def test_a():
                class A(metaclass=Meta): pass
                assert "A" in Meta.reg
        """),
    ),
    "numpy function": Row(
        completion="""
            import numpy as np
            def norm(v): return np.linalg.norm(np.asarray(v, dtype=float))
            def outer(a): return np.outer(a, a)
        """,
        tests=check(
            """
            import numpy as np
            def check(candidate):
                assert abs(candidate([3, 4]) - 5) < 1e-9
                assert np.allclose(outer(np.array([1, 2])), [[1, 2], [2, 4]])
                assert outer([1, 2]).shape == (2, 2) and outer([1, 2]).dtype.kind == "i"
                assert isinstance(candidate([3, 4]), float)
        """,
            "norm",
        ),
    ),
    "many unicode": Row(
        completion="def f(s): return {c: s.count(c) for c in s}\n",
        tests=check(
            'def check(candidate):\n    assert candidate("\xe9\\u0301e\\U0001F600\\ufb01\uff21A\\u2028") == {c: 1 for c in "\xe9\\u0301e\\U0001F600\\ufb01\uff21A\\u2028"}\n'
        ),
    ),
    "negative zero and inf": Row(
        completion="def f(x): return [-0.0, x, -x, 1e308 * 10]\n",
        tests=check("""
            import math
            def check(candidate):
                r = candidate(float("inf"))
                assert math.copysign(1, r[0]) == -1
                assert r[1:] == [float("inf"), float("-inf"), float("inf")]
        """),
    ),
    "set of frozensets, tuple keys": Row(
        completion="def f(): return {(1, frozenset({2})): {frozenset({3})}}\n",
        tests=check("""
            def check(candidate):
                assert candidate() == {(1, frozenset({2})): {frozenset({3})}}
        """),
    ),
    "keyword only, defaults, starargs": Row(
        completion="def f(a, /, b=2, *c, d=4, **e): return a, b, c, d, e\n",
        tests=check("""
            import inspect
            def check(candidate):
                assert candidate(1) == (1, 2, (), 4, {})
                assert candidate(1, 3, 5, d=6, a=7) == (1, 3, (5,), 6, {"a": 7})
                assert list(inspect.signature(candidate).parameters) == ["a", "b", "c", "d", "e"]
                try: candidate(a=1)
                except TypeError: pass
                else: assert False
        """),
    ),
    "stringio write": Row(
        completion="def f(o): o.write('a')\n",
        tests=check("""
            import io
            def check(candidate):
                o = io.StringIO()
                candidate(o)
                assert o.getvalue() == "a"
        """),
    ),
    "bytesio write": Row(
        completion="def f(o): o.write(b'a')\n",
        tests=suite("""
            import io
            from solution import f
            def test_a():
                o = io.BytesIO()
                f(o)
                assert o.getvalue() == b"a"
        """),
    ),
    "own iterator with methods": Row(
        completion="""
            def f(o):
                next(o)
                return o.left()
        """,
        tests=check("""
            class It:
                def __init__(self): self.n = 3
                def __iter__(self): return self
                def __next__(self):
                    self.n -= 1
                    return self.n
                def left(self): return self.n
            def check(candidate):
                assert candidate(It()) == 2
        """),
    ),
    "csv reader/writer": Row(
        completion="""
            import csv
            def f(o, rows): csv.writer(o).writerows(rows)
        """,
        tests=check("""
            import io
            def check(candidate):
                o = io.StringIO()
                candidate(o, [[1, 2]])
                assert o.getvalue() == "1,2\\r\\n"
        """),
    ),
    "js ok memo identity": Row(
        completion="const c = {}\nconst f = (n) => c[n] ??= { n }",
        tests=program("const assert = require('node:assert')\nassert.strictEqual(f(1), f(1))\n"),
        language="javascript",
    ),
    "js ok undefined vs hole": Row(
        completion="const f = () => [undefined, , 1]",
        tests=program(
            "const assert = require('node:assert')\nassert.strictEqual(f().length, 3)\nassert(!(1 in f()))\nassert(0 in f())\n"
        ),
        language="javascript",
    ),
    "js ok shared refs": Row(
        completion="const f = () => { const a = [1]; return { x: a, y: a } }",
        tests=program(
            "const assert = require('node:assert')\nconst r = f()\nr.x.push(2)\nassert.deepStrictEqual(r.y, [1, 2])\n"
        ),
        language="javascript",
    ),
    "js ok cyclic": Row(
        completion="const f = () => { const a = { v: 1 }; a.self = a; return a }",
        tests=program(
            "const assert = require('node:assert')\nconst r = f()\nassert.strictEqual(r.self.self.v, 1)\n"
        ),
        language="javascript",
    ),
    "js ok frozen": Row(
        completion="const f = () => Object.freeze([1])",
        tests=program("const assert = require('node:assert')\nassert(Object.isFrozen(f()))\n"),
        language="javascript",
    ),
    "js ok big date regexp": Row(
        completion="const f = () => [10n ** 30n, new Date(5), new Map([[{ a: 1 }, 2]]), /a/g]",
        tests=program(
            "const assert = require('node:assert')\nconst r = f()\nassert.strictEqual(r[0], 10n ** 30n)\nassert.strictEqual(r[1].getTime(), 5)\nassert.strictEqual(r[3].source, 'a')\n"
        ),
        language="javascript",
    ),
    "go ok rows": Row(
        completion="\tg := [][]int{}\n\tfor i := 0; i < n; i++ {\n\t\tg = append(g, make([]int, n))\n\t}\n\treturn g\n}\n",
        tests=program(
            'func main() {\n\tg := Grid(2)\n\tg[0][0] = 1\n\tif g[1][0] != 0 {\n\t\tpanic("rows are shared")\n\t}\n\tfmt.Println(len(g))\n}\n'
        ),
        prompt='package main\n\nimport "fmt"\n\n// Grid makes a grid.\nfunc Grid(n int) [][]int {\n',
        language="go",
    ),
    "go ok errors.Is": Row(
        completion='\tif a < 0 { return 0, fmt.Errorf("x %w", ErrNeg) }\n\treturn a, nil\n}\n',
        tests=program(
            'func main() {\n\t_, err := Root(-1)\n\tif !errors.Is(err, ErrNeg) {\n\t\tpanic("not it")\n\t}\n\tfmt.Println("ok")\n}\n'
        ),
        prompt='package main\n\nimport (\n\t"errors"\n\t"fmt"\n)\n\nvar ErrNeg = errors.New("neg")\n\nfunc Root(a float64) (float64, error) {\n',
        language="go",
    ),
    "go panics custom": Row(
        completion='\tpanic(fmt.Sprint("neg"))\n}\n',
        tests=program(
            'func main() {\n\tdefer func() {\n\t\tif recover() == nil { panic("no panic") }\n\t\tfmt.Println("ok")\n\t}()\n\tRoot(-1)\n\tpanic("went on")\n}\n'
        ),
        prompt='package main\n\nimport (\n\t"errors"\n\t"fmt"\n)\n\nvar ErrNeg = errors.New("neg")\n\nfunc Root(a float64) (float64, error) {\n',
        language="go",
    ),
    "rust ok": Row(
        completion="    vec![vec![0; n]; n]\n}\n",
        tests=program(
            "fn main() {\n    let mut g = grid(2);\n    g[0][0] = 1;\n    assert_eq!(g, vec![vec![1, 0], vec![0, 0]]);\n}\n"
        ),
        prompt="fn grid(n: usize) -> Vec<Vec<i32>> {\n",
        language="rust",
    ),
    "rust ok catch_unwind": Row(
        completion='    a.checked_add(b).expect("overflow")\n}\n',
        tests=program(
            "fn main() {\n    assert_eq!(add(1, 2), 3);\n    assert!(std::panic::catch_unwind(|| add(i32::MAX, 1)).is_err());\n}\n"
        ),
        prompt="fn add(a: i32, b: i32) -> i32 {\n",
        language="rust",
    ),
    "java ok rows": Row(
        completion="        List<List<Integer>> g = new ArrayList<>();\n        for (int i = 0; i < n; i++) g.add(new ArrayList<>(Collections.nCopies(n, 0)));\n        return g;\n    }\n}\n",
        tests=program(
            "public class Main {\n    public static void main(String[] args) {\n        Solution s = new Solution();\n\n        List<List<Integer>> g = s.grid(2);\n        g.get(0).set(0, 1);\n        if (g.get(1).get(0) != 0) throw new AssertionError();\n\n    }\n}\n"
        ),
        prompt="import java.util.*;\nclass Solution {\n    public List<List<Integer>> grid(int n) {\n",
        language="java",
    ),
    "c++ ok": Row(
        completion="return vector<int>(n, 1); }\n",
        tests=program(
            "#undef NDEBUG\n#include <cassert>\nint main() {\n    assert(ones(3).size() == 3);\n    assert(ones(2)[1] == 1);\n}\n"
        ),
        prompt="#include <vector>\nusing namespace std;\nvector<int> ones(int n) {\n",
        language="c++",
    ),
    "go honest rows sorted in place": Row(
        completion="\tsort.Slice(rows, func(i, j int) bool { return rows[i][0] < rows[j][0] })\n}\n",
        tests=program(
            'func main() {\n\trows := [][]int{{3}, {1}, {2}}\n\twant := [][]int{rows[1], rows[2], rows[0]}\n\tSort(rows)\n\tfor i := range want {\n\t\tif rows[i][0] != want[i][0] {\n\t\t\tpanic("order")\n\t\t}\n\t}\n\tfmt.Println("ok")\n}\n'
        ),
        prompt='package main\n\nimport (\n\t"fmt"\n\t"sort"\n)\nfunc Sort(rows [][]int) {\n',
        language="go",
    ),
    "java honest rows sorted in place": Row(
        completion="        rows.sort((a, b) -> a.get(0) - b.get(0));\n    }\n}\n",
        tests=program(
            "public class Main {\n    public static void main(String[] args) {\n        Solution s = new Solution();\n\n        List<Integer> a = new ArrayList<>(List.of(3)), b = new ArrayList<>(List.of(1));\n        List<List<Integer>> rows = new ArrayList<>(List.of(a, b));\n        s.sort(rows);\n        if (!rows.equals(List.of(b, a))) throw new AssertionError();\n        if (a.get(0) != 3) throw new AssertionError();\n\n    }\n}\n"
        ),
        prompt="import java.util.*;\nclass Solution {\n    public void sort(List<List<Integer>> rows) {\n",
        language="java",
    ),
    "js honest rows sorted in place": Row(
        completion="const sort = (rows) => { rows.sort((a, b) => a[0] - b[0]) }",
        tests=program(
            "const assert = require('node:assert')\nconst rows = [[3], [1]];\nconst want = [rows[1], rows[0]];\nsort(rows)\nassert.deepStrictEqual(rows, want)\n"
        ),
        language="javascript",
    ),
    "java array rows": Row(
        completion="        int[] t = rows[0]; rows[0] = rows[1]; rows[1] = t;\n    }\n}\n",
        tests=program(
            "public class Main {\n    public static void main(String[] args) {\n        Solution s = new Solution();\n\n        int[] a = {3}, b = {1};\n        int[][] rows = {a, b};\n        s.swap(rows);\n        if (rows[0][0] != 1 || a[0] != 3) throw new AssertionError();\n\n    }\n}\n"
        ),
        prompt="import java.util.*;\nclass Solution {\n    public void swap(int[][] rows) {\n",
        language="java",
    ),
}

STEADFAST: dict[str, Row] = {
    "timer property": Row(
        completion="""
            import time
            class Timer:
                def __init__(self): self.t = time.monotonic()
                @property
                def elapsed(self): return time.monotonic() - self.t
            def start(): return Timer()
        """,
        tests=check(
            """
            def check(candidate):
                t = candidate()
                assert t.elapsed >= 0
                assert t.elapsed >= 0
        """,
            "start",
        ),
    ),
    "ids property": Row(
        completion="""
            class Ids:
                n = 0
                @property
                def next_id(self):
                    self.n += 1
                    return self.n
            def make(): return Ids()
        """,
        tests=check(
            """
            def check(candidate):
                i = candidate()
                a, b = i.next_id, i.next_id
                assert b == a + 1
        """,
            "make",
        ),
    ),
    "shuffled iteration": Row(
        completion="""
            import random
            class Loader:
                def __init__(self, xs): self.xs = xs
                def __iter__(self): return iter(random.sample(self.xs, len(self.xs)))
                def __len__(self): return len(self.xs)
            def loader(xs): return Loader(xs)
        """,
        tests=check(
            """
            def check(candidate):
                r = candidate(list(range(50)))
                assert sorted(r) == list(range(50))
                assert list(r) != list(r)
                assert len(r) == 50
        """,
            "loader",
        ),
    ),
    "draining iteration": Row(
        completion="""
            class Inbox:
                def __init__(self, xs): self.xs = xs
                def __len__(self): return len(self.xs)
                def __iter__(self):
                    while self.xs: yield self.xs.pop(0)
            def inbox(xs): return Inbox(xs)
        """,
        tests=check(
            """
            def check(candidate):
                r = candidate([1, 2])
                assert len(r) == 2
                assert list(r) == [1, 2]
                assert len(r) == 0
        """,
            "inbox",
        ),
    ),
    "defaulting mapping grows": Row(
        completion="""
            class D:
                def __init__(self): self.d = {}
                def __getitem__(self, k): return self.d.setdefault(k, len(self.d))
                def __len__(self): return len(self.d)
            def index(): return D()
        """,
        tests=check(
            """
            def check(candidate):
                r = candidate()
                assert len(r) == 0
                assert r["a"] == 0 and r["b"] == 1 and r["a"] == 0
                assert len(r) == 2
        """,
            "index",
        ),
    ),
    "lazy repr": Row(
        completion="""
            class Lazy:
                v = None
                @property
                def value(self):
                    if self.v is None: self.v = 5
                    return self.v
                def __repr__(self): return f"Lazy({self.v})"
            def lazy(): return Lazy()
        """,
        tests=check(
            """
            def check(candidate):
                r = candidate()
                assert repr(r) == "Lazy(None)"
                assert r.value == 5
                assert repr(r) == "Lazy(5)"
        """,
            "lazy",
        ),
    ),
    "multi-set iteration vs contains": Row(
        completion="""
            class Sparse:
                def __init__(self, d): self.d = d
                def __len__(self): return 10
                def __getitem__(self, i):
                    if not 0 <= i < 10: raise IndexError
                    return self.d.get(i, 0)
                def __iter__(self): return iter(self.d.items())
            def sparse(d): return Sparse(d)
        """,
        tests=check(
            """
            def check(candidate):
                r = candidate({1: 5})
                assert list(r) == [(1, 5)]
                assert r[0] == 0 and r[1] == 5
                assert len(r) == 10
        """,
            "sparse",
        ),
    ),
    "matrix with tuple keys": Row(
        completion="""
            class M:
                def __init__(self, rows): self.rows = rows
                def __getitem__(self, k): return self.rows[k[0]][k[1]] if isinstance(k, tuple) else self.rows[k]
                def __len__(self): return len(self.rows)
                @property
                def T(self): return M([list(c) for c in zip(*self.rows)])
            def matrix(rows): return M(rows)
        """,
        tests=check(
            """
            def check(candidate):
                m = candidate([[1, 2], [3, 4]])
                assert m[0, 1] == 2 and m[1][0] == 3
                assert m.T[0, 1] == 3 and len(m.T) == 2
                assert m.T.T[0, 1] == 2
                assert list(m) == [[1, 2], [3, 4]]
        """,
            "matrix",
        ),
    ),
    "iterator object peeks": Row(
        completion="""
            class Peek:
                def __init__(self, xs): self.it, self.b = iter(xs), []
                def __iter__(self): return self
                def __next__(self): return self.b.pop() if self.b else next(self.it)
                @property
                def peek(self):
                    if not self.b: self.b.append(next(self.it))
                    return self.b[0]
            def peekable(xs): return Peek(xs)
        """,
        tests=check(
            """
            def check(candidate):
                p = candidate([1, 2, 3])
                assert p.peek == 1 and next(p) == 1
                assert p.peek == 2
                assert list(p) == [2, 3]
        """,
            "peekable",
        ),
    ),
    "random property": Row(
        completion="""
            import random
            class Die:
                @property
                def face(self): return random.randint(1, 6)
            def die(): return Die()
        """,
        tests=check(
            """
            def check(candidate):
                d = candidate()
                assert all(1 <= d.face <= 6 for _ in range(50))
        """,
            "die",
        ),
    ),
    "context-managed result": Row(
        completion="""
            class S:
                def __init__(self): self.open = False
                def __enter__(self): self.open = True; return self
                def __exit__(self, *a): self.open = False
            def session(): return S()
        """,
        tests=check(
            """
            def check(candidate):
                s = candidate()
                assert s.open is False
                with s as t: assert t.open is True
                assert s.open is False
        """,
            "session",
        ),
    ),
    "future filled by thread": Row(
        completion="""
            import threading, time
            class Fut:
                done = False
            def run():
                f = Fut()
                def go(): time.sleep(0.05); f.done = True
                threading.Thread(target=go).start()
                return f
        """,
        tests=check(
            """
            def check(candidate):
                f = candidate()
                while not f.done: pass
                assert f.done
        """,
            "run",
        ),
    ),
    "decimal/float conversions": Row(
        completion="""
            class Money:
                def __init__(self, c): self.c = c
                def __int__(self): return self.c // 100
                def __float__(self): return self.c / 100
                def __str__(self): return f"{self.c / 100:.2f}"
                def __round__(self, n=None): return round(self.c / 100, n)
                def __abs__(self): return Money(abs(self.c))
                def __neg__(self): return Money(-self.c)
            def money(c): return Money(c)
        """,
        tests=check(
            """
            def check(candidate):
                m = candidate(1250)
                assert int(m) == 12 and float(m) == 12.5 and str(m) == "12.50"
                assert round(m) == 12 and round(m, 1) == 12.5
                assert float(abs(-m)) == 12.5
                assert str(-m) == "-12.50"
        """,
            "money",
        ),
    ),
}

WRONG = {
    f"{kind}: {name}": row
    for kind, rows in {
        "contradictions": CONTRADICTIONS,
        "shared values": SHARED_VALUES,
        "other types": OTHER_TYPES,
        "asked of the proxy": ASKED_OF_THE_PROXY,
        "hollow": HOLLOW,
        "told by a method": TOLD_BY_A_METHOD,
        "changed arguments": CHANGED_ARGUMENTS,
        "calls": CALLS,
        "takes over": TAKES_OVER,
        "sieges": SIEGES,
        "programs": PROGRAMS,
    }.items()
    for name, row in rows.items()
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def app() -> AsyncIterator[App]:
    settings = Settings(port=0, workers=2, sandbox_packages=PACKAGES, sandbox_preload=("pytest",))
    async with running_app(settings) as running:
        yield running


async def judged(app: App, row: Row, required: Integrity = Integrity.UNSPECIFIED) -> Assessment:
    is_program = row.language != "python"
    submission = Submission(
        language=row.language,
        completion=row.completion if is_program else code(row.completion),
        tests=row.tests,
        prompt=row.prompt if is_program else code(row.prompt),
        limits=PROGRAM_LIMITS if is_program else LIMITS,
        extraction=Extraction.NONE,
        require_integrity=required,
    )
    return await app.evaluation.score(submission)


@pytest.mark.parametrize("row", WRONG.values(), ids=WRONG.keys())
async def test_a_wrong_solution_earns_nothing(app: App, row: Row) -> None:
    assessment = await judged(app, row)
    assert assessment.verdict is not Verdict.INVALID_TASK, assessment
    assert assessment.reward == 0 or assessment.integrity is not Integrity.ISOLATED, assessment


@pytest.mark.parametrize("row", HONEST.values(), ids=HONEST.keys())
async def test_an_honest_solution_passes(app: App, row: Row) -> None:
    assessment = await judged(app, row)
    assert assessment.reward == 1, assessment


@pytest.mark.parametrize("row", STEADFAST.values(), ids=STEADFAST.keys())
async def test_an_honest_object_with_a_state_passes_isolated(app: App, row: Row) -> None:
    assessment = await judged(app, row, Integrity.ISOLATED)
    assert assessment.reward == 1, assessment
