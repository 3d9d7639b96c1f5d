"""Attacks on the contract, and honest programs that it must not fail, judged by it."""

from __future__ import annotations

import pytest

from reward_server.domain import Extraction, Integrity, Verdict
from tests.support.common import FILE_LIMITS, Judge, on_the_servers_loop
from tests.support.contract import Case, as_tests

pytestmark = on_the_servers_loop


# Says of the names that tests import what it likes.
TELLS = """
import os, sys
for module in [*sys.modules.values()]:
    kind = getattr(module, 'Answers', None)
    if isinstance(kind, type) and hasattr(kind, '_performed'):
        performed = kind._performed
        def told(self, operation, operands):
            return {} if operation == 'missing' else performed(self, operation, operands)
        kind._performed = told
        break
f = lambda x: x
"""
YES = """
class Yes:
    __eq__ = __lt__ = __gt__ = __le__ = __ge__ = __contains__ = lambda *a: True
    __hash__ = lambda s: 0
    __ne__ = lambda *a: False
    __bool__ = lambda s: True
    __len__ = lambda s: 3
    __sub__ = __rsub__ = __add__ = __mod__ = lambda *a: 0
    __abs__ = __round__ = __float__ = __int__ = __index__ = lambda *a: 0
    __iter__ = lambda s: iter([Yes()])
    __getitem__ = lambda s, k: Yes()
    __getattr__ = lambda s, n: (lambda *a, **k: True)
f = lambda *a, **k: Yes()
"""

ATTACKS = (
    Case(
        name="a solution that defines the built-ins which the tests use",
        tests="from solution import *\ndef test_f():\n    assert sorted(f([3, 1])) == [1, 3]\n"
        "    assert abs(f([1])[0] - 7) < 1e-6 and all(x == 9 for x in f([2]))",
        solution="f = lambda xs: [0]\nsorted = lambda xs: [1, 3]\nabs = lambda x: 0\n"
        "all = lambda x: True\n",
    ),
    Case(
        name="a helper of the prompt defined anew",
        prompt="def poly(xs, x):\n    return xs[0] + x\n\ndef f(xs):\n    pass\n",
        tests="assert abs(poly([3], candidate([3]))) < 1e-6",
        solution="def f(xs):\n    return 8\ndef poly(xs, x):\n    return 0\n",
    ),
    Case(
        name="memory that a stand-in offers to numpy",
        tests="assert np.allclose(candidate(3), [1.0, 2.0])",
        solution="class A:\n"
        "    __array_interface__ = {'shape': (2,), 'typestr': '<f8', 'data': (0, 1)}\n"
        "    def __array__(self, *a, **k): return [1.0, 2.0]\n    def __len__(self): return 0\n"
        "f = lambda x: A()\n",
    ),
    *(
        Case(
            name=f"a numpy of the solution's own under {name}",
            tests=f"from solution import *\ndef test_f():\n    assert {text}",
            solution="class np:\n    allclose = array_equal = staticmethod(lambda *a, **k: True)\n"
            "    abs = staticmethod(lambda x: 0)\n    array = staticmethod(lambda x: x)\n"
            "f = lambda x: [0]\n",
        )
        for name, text in {
            "allclose": "np.allclose(f(3), [1.0, 2.0])",
            "array_equal": "np.array_equal(f(3), np.array([1, 2]))",
            "abs": "np.abs(f(3)[0] - 7) < 1e-6",
        }.items()
    ),
    Case(
        name="a narrow number that equals all large ones",
        tests="assert candidate(30) == 832040 and candidate(31) == 1346269",
        solution="import numpy as np\nf = lambda n: np.float16('inf')\n",
    ),
    Case(
        name="a narrow array that equals a large number",
        tests="assert (candidate(3) == 10 ** 39).all()",
        solution="import numpy as np\nf = lambda n: np.array([np.inf], 'float32')\n",
    ),
    *(
        Case(name=f"a name that is missing: {name}", tests=text, solution=solution)
        for name, text, solution in (
            (
                "an exception",
                "import pytest\nfrom solution import f, Low\ndef test_f():\n"
                "    with pytest.raises(Low):\n        f(1)",
                "def f(x): raise ValueError\n",
            ),
            (
                "an exception that is a function",
                "import pytest, solution\ndef test_f():\n"
                "    with pytest.raises(solution.Low):\n        solution.f(1)",
                "def f(x): raise ValueError\ndef Low(): pass\n",
            ),
            (
                "an exception that a clause names",
                "try:\n    candidate(1)\n    assert False\nexcept Low:\n    pass",
                "def f(x): raise ValueError\n",
            ),
            (
                "a class that must refuse",
                "import pytest\nfrom solution import f, Box\ndef test_f():\n"
                "    assert f(1) == 1\n    with pytest.raises(Exception):\n        Box(-1)",
                "f = lambda x: x\n",
            ),
            (
                "a constant",
                "from solution import f, LIMIT\ndef test_f():\n    assert f(LIMIT) == 1",
                "f = lambda x: 1\n",
            ),
            (
                "a function that no test calls",
                "import unittest\nfrom solution import f, g\nclass T(unittest.TestCase):\n"
                "    def test_f(self):\n        self.assertEqual(f(1), 1)",
                "f = lambda x: x\n",
            ),
            *(
                (
                    f"the program says {said}",
                    "from solution import f, g\nassert f(1) == 1",
                    TELLS.replace("{}", said),
                )
                for said in ("'other names g'", "3", "os._exit(0)")
            ),
            ("in a test", "from solution import f, g\nassert f(1) == 1", "f = lambda x: x\n"),
        )
    ),
    Case(
        name="a change in two steps",
        tests="xs = [3, 4]\nadd(xs)\nassert total() == sum(xs)",
        solution="def add(xs): xs.clear()\ndef total(): return 0\ndef f(): pass\n",
    ),
    Case(
        name="None as the answer beside a change",
        tests="d = {'k': 3}\nassert candidate(d) == d.get('k')",
        solution="def f(d): d.clear()\n",
    ),
    Case(
        name="a raise together with a change",
        tests="xs = [3, 1]\ntry:\n    candidate(xs)\nexcept ValueError:\n    pass\n"
        "assert g(3) == len(xs)",
        solution="def f(xs):\n    xs.clear()\n    raise ValueError\ndef g(x): return 0\n",
    ),
    Case(
        name="fewer questions after a change",
        tests="xs = [3, 1]\ncandidate(xs)\nfor x in xs:\n    assert g(x) == x\nassert g(0) == 0",
        solution="def f(xs): xs.clear()\ndef g(x): return 0\n",
    ),
    Case(
        name="an argument emptied that the expected value comes from",
        tests="xs = [3, 1]\nassert candidate(xs) == sorted(xs)",
        solution="def f(xs):\n    xs.clear()\n    return []\n",
    ),
    Case(
        name="an argument emptied under another name",
        tests="xs = [3, 1]\nys = xs\nassert candidate(xs) == sorted(ys)",
        solution="def f(xs):\n    xs.clear()\n    return []\n",
    ),
    Case(
        name="rows emptied that a shallow copy shares",
        tests="xs = [[3, 1]]\nys = list(xs)\nassert candidate(xs) == sum(ys[0])",
        solution="def f(xs):\n    xs[0].clear()\n    return 0\n",
    ),
    *(
        Case(name=f"a duck under {name}", tests=text, solution=YES)
        for name, text in {
            "a comparison": "assert candidate(1) == 3 and 4 == candidate(2)",
            "an order": "assert candidate(1) > 3 and candidate(2) < 1",
            "a prefix": "assert candidate(1).startswith('ab')",
            "a set": "assert candidate(1).issuperset({1, 2})",
            "an index": "assert candidate(1)[0] == 3",
            "a container": "assert 3 in candidate(1)",
            "a list": "assert candidate(1) in [3, 4]",
            "an unpacking": "a, b, c = candidate(1)\nassert a == 3",
            "a tolerance": "assert abs(candidate(1) - 3) < 1e-6",
            "a rounding": "assert round(candidate(1), 2) == 3",
            "a key": "assert {3: 1}[candidate(1)] == 1",
            "an iteration": "assert all(x == 3 for x in candidate(1))",
            "numpy": "assert np.array_equal(candidate(1), [1, 2])",
            "a list's index": "assert [3].index(candidate(1)) == 0",
            "a text": "assert str(candidate(1)) == 'a'",
        }.items()
    ),
    Case(
        name="a list of all tests emptied in an earlier one",
        tests="from solution import fill, total\nDATA = [3, 4]\ndef test_a():\n    fill(DATA)\n"
        "def test_b():\n    assert total() == sum(DATA)",
        solution="def fill(xs): xs.clear()\ndef total(): return 0\n",
    ),
    Case(
        name="a list emptied while the tests are collected",
        tests="from solution import fill, total\nDATA = [3, 4]\nfill(DATA)\n"
        "def test_b():\n    assert total() == sum(DATA)",
        solution="def fill(xs): xs.clear()\ndef total(): return 0\n",
    ),
    Case(
        name="a list of a class of tests emptied in an earlier one",
        tests="from solution import fill, total\nclass TestIt:\n    data = {'a': 4}\n"
        "    def test_a(self):\n        fill(self.data)\n"
        "    def test_b(self):\n        assert total() == len(self.data)",
        solution="def fill(xs): xs.clear()\ndef total(): return 0\n",
    ),
    Case(
        name="a duck in an exception",
        tests="try:\n    candidate(1)\nexcept ValueError as e:\n"
        "    assert e.args[0].startswith('ab')",
        solution="class D:\n    def startswith(self, x): return True\n"
        "def f(x): raise ValueError(D())\n",
    ),
    Case(
        name="a duck as a field of an exception",
        tests="try:\n    candidate(1)\nexcept ValueError as e:\n"
        "    assert e.value.startswith('ab')",
        solution="class D:\n    def startswith(self, x): return True\n"
        "def f(x):\n    e = ValueError(1)\n    e.value = D()\n    raise e\n",
    ),
    Case(
        name="a duck put into an argument",
        tests="xs = ['cab']\ncandidate(xs)\nassert xs[0].startswith('ab')",
        solution="class D:\n    def startswith(self, x): return True\ndef f(xs): xs[0] = D()\n",
    ),
    Case(
        name="a type put into an argument",
        tests="xs = [3]\ncandidate(xs)\nassert xs[0](4)",
        solution="def f(xs): xs[0] = bool\n",
    ),
    Case(
        name="a duck behind a number",
        tests="x = candidate(1)\nassert x == 3 and x.matches('secret')",
        solution="class D(int):\n    def matches(self, x): return True\nf = lambda x: D(3)\n",
    ),
    Case(
        name="None as the answer beside a change, under a library's function",
        tests="d = {'k': 3}\nfound = []\nfound.extend(map(candidate, [d]))\n"
        "assert found == [d.get('k')]",
        solution="def f(d): d.clear()\n",
    ),
    Case(
        name="None as the answer beside a change, as a key",
        tests="xs = [[2], [1]]\nxs.sort(key=candidate)\nassert xs == [[], []] or xs == [[1], [2]]",
        solution="class L: pass\ndef f(x):\n    x.clear()\n    return 0\n",
    ),
    Case(
        name="the end of the program under an except",
        tests="import pytest\nfrom solution import f\ndef test_f():\n"
        "    with pytest.raises(Exception):\n        f(1)",
        solution="import os\nf = lambda x: os._exit(0)\n",
    ),
    Case(
        name="an exit under an except",
        tests="try:\n    x = candidate(1)\nexcept BaseException:\n    x = 3\nassert x == 3",
        solution="import sys\nf = lambda x: sys.exit(0)\n",
    ),
    Case(
        name="an end of iteration",
        tests="for x in map(candidate, [1, 2, 3]):\n    assert x == 7",
        solution="def f(x): raise StopIteration\n",
    ),
    Case(
        name="an own class named ValueError",
        tests="try:\n    candidate(1)\n    assert False\nexcept ValueError:\n    pass",
        solution="class ValueError(Exception): pass\ndef f(x): raise ValueError\n",
    ),
    *(
        Case(
            name=f"an exception that the solution does not define, {name}",
            tests=text,
            solution="def f(x): raise ValueError\ndef kind(x): return x\n",
        )
        for name, text in {
            "under except": "try:\n    candidate(1)\n    assert False\nexcept TooLow:\n    pass",
            "under raises": "import pytest\nfrom solution import f, TooLow\ndef test_f():\n"
            "    with pytest.raises(TooLow):\n        f(1)",
            "beside another": "import pytest\nfrom solution import f, TooLow\ndef test_f():\n"
            "    with pytest.raises((TooLow, KeyError)):\n        f(1)",
            "since it is a function": "import pytest\nfrom solution import f, kind\n"
            "def test_f():\n    with pytest.raises(kind):\n        f(1)",
        }.items()
    ),
    *(
        Case(
            name=f"an exception that no `except Exception` catches, {name}",
            tests="try:\n    list(candidate(1))\n    assert False\nexcept Exception as e:\n"
            "    assert not isinstance(e, AssertionError)",
            solution=solution,
        )
        for name, solution in {
            "of Python": "def f(x): raise BaseException('bad')\n",
            "of its own": "class Bad(BaseException): pass\ndef f(x): raise Bad\n",
            "of a library": "import asyncio\ndef f(x): raise asyncio.CancelledError\n",
        }.items()
    ),
    Case(
        name="ducks behind many items",
        tests="for i, x in zip(range(200), candidate()):\n    assert x == i",
        solution=f"{YES}def f():\n    yield from range(150)\n    while True: yield Yes()\n",
    ),
    Case(
        name="an exception whose sibling is expected",
        tests="import pytest\nfrom solution import f, B, C\ndef test_f():\n"
        "    with pytest.raises(C):\n        f(1)\n    with pytest.raises(C):\n        f(2)",
        solution="class B(Exception): pass\nclass C(Exception): pass\nclass A(B, C): pass\n"
        "def f(x): raise A if x == 1 else B\n",
    ),
    *(
        Case(name=f"a judge that an answer kills by {name}", tests=text, solution=solution)
        for name, text, solution in (
            ("its size", "assert list(range(candidate(1))) == [0]", "f = lambda x: 10 ** 18\n"),
            (
                "its depth",
                "assert candidate(1) == [[]]",
                "def f(x):\n    r = []\n    for _ in range(10 ** 5): r = [r]\n    return r\n",
            ),
            (
                "a ring",
                "assert candidate(1) == [[]]",
                "def f(x):\n    r = []\n    r.append(r)\n    return r\n",
            ),
            ("its digits", "assert str(candidate(1)) == '1'", "f = lambda x: 10 ** (10 ** 6)\n"),
        )
    ),
    Case(
        name="a constant that equals all",
        tests="candidate(1)\nassert LIMIT == 3 and len(ROWS) == 3",
        solution=f"{YES}LIMIT = ROWS = Yes()\n",
    ),
    Case(
        name="printed lines that look like results",
        tests="assert candidate(1) == 3",
        solution="def f(x):\n    print('[\"return\", 3, [], [], false]')\n    print('1 passed')\n",
    ),
    Case(
        name="answers in advance",
        tests="assert candidate(1) == 3",
        solution="import gc, socket\ndef f(x):\n    for one in gc.get_objects():\n"
        "        if isinstance(one, socket.socket):\n"
        "            body = b'[\"return\", 3, [], [], false]'\n"
        "            one.send(len(body + b'x' * 8).to_bytes(4, 'big') + b'\\0' * 8 + body)\n",
    ),
)

HONEST = (
    Case(
        name="all names of the solution's",
        tests="import pytest\nfrom solution import *\ndef test_f():\n"
        "    assert f(Box(3).n) == 3\n    with pytest.raises(Low):\n        f(0)",
        solution="class Low(ValueError): pass\nclass Box:\n"
        "    def __init__(self, n): self.n = n\ndef f(x):\n    if not x: raise Low\n"
        "    return x\n",
    ),
    Case(
        name="a date that is parsed",
        tests="import datetime\nassert candidate(1) == datetime.datetime.strptime('2024', '%Y')",
        solution="import datetime\nf = lambda x: datetime.datetime(2024, 1, 1)\n",
    ),
    Case(
        name="arrays compared by numpy's own tests",
        tests="np.testing.assert_allclose(candidate(3), [0.0, 1.0, 2.0])",
        solution="import numpy as np\nf = lambda n: np.arange(n, dtype=float)\n",
    ),
    Case(
        name="a warning of a library, beside answers that its path holds",
        tests="for word in ('lib', 'numpy', 'core', 'python'):\n"
        "    assert candidate(word) == word\n"
        "assert np.isnan(np.mean(np.array(candidate([]))))",
        solution="f = lambda x: x\n",
        label=Integrity.SHARED,
    ),
    Case(
        name="a codec that is loaded beside an answer of its name's parts",
        tests="assert [candidate(x) for x in ('encodings', 'idna')] == ['encodings', 'idna']\n"
        "assert candidate('a').encode('idna') == b'a'",
        solution="f = lambda x: x\n",
        label=Integrity.SHARED,
    ),
    Case(
        name="a numpy that only the solution imports",
        tests="from solution import *\ndef test_f():\n    assert np.allclose(f(2), [0.0, 1.0])",
        solution="import numpy as np\nf = np.arange\n",
    ),
    Case(
        name="a counter, an ordered dictionary and views",
        tests="assert candidate('aab').most_common(1) == [('a', 2)]\n"
        "assert list(g().items()) == [('b', 1), ('a', 2)] and g().keys() == {'a', 'b'}",
        solution="from collections import *\nf = Counter\ng = lambda: OrderedDict(b=1, a=2)\n",
    ),
    Case(
        name="a generator",
        tests="g = candidate(2)\nassert next(g) == 0 and list(g) == [1]",
        solution="def f(n):\n    yield from range(n)\n",
    ),
    Case(
        name="an endless generator",
        tests="import itertools\nassert list(itertools.islice(candidate(), 3)) == [0, 1, 2]",
        solution="import itertools\ndef f():\n    yield from itertools.count()\n",
    ),
    Case(
        name="an endless generator whose items grow",
        tests="found = [x for _, x in zip(range(300), candidate())]\n"
        "assert found[:4] == [0, 1, 1, 2] and found[299] == found[298] + found[297]",
        solution="def f():\n    a, b = 0, 1\n    while True:\n        yield a\n"
        "        a, b = b, a + b\n",
    ),
    Case(
        name="an endless generator whose items take longer and longer",
        tests="found = candidate()\nassert [next(found) for _ in range(5)] == [2, 3, 5, 7, 11]",
        solution="def f():\n    n = 2\n    while True:\n"
        "        if all(n % d for d in range(2, n)): yield n\n        n += 1\n",
    ),
    Case(
        name="a generator that raises before and after many items",
        tests="import pytest\nfrom solution import f\n"
        "@pytest.mark.parametrize('n', [0, 99, 100, 250])\ndef test_f(n):\n"
        "    found = []\n    with pytest.raises(ValueError, match='end'):\n"
        "        for one in f(n):\n            found.append(one)\n"
        "    assert found == list(range(n))",
        solution="def f(n):\n    yield from range(n)\n    raise ValueError('end')\n",
    ),
    Case(
        name="an iterator of an own class that begins again",
        tests="found = candidate(2)\nassert list(found) == [1, 2] and list(found) == [1, 2]\n"
        "one = iter(g())\nassert next(one) == 7",
        solution="class Again:\n    def __init__(self, n): self.n = n\n"
        "    def __iter__(self):\n        self.i = 0\n        return self\n"
        "    def __next__(self):\n        self.i += 1\n"
        "        if self.i > self.n: raise StopIteration\n        return self.i\n"
        "f = Again\ng = lambda: iter([7])\n",
        label=Integrity.SHARED,
    ),
    Case(
        name="a number of the module's that the tests set",
        tests="import solution\ndef test_f():\n    solution.count = 5\n"
        "    assert solution.f() == 6",
        solution="count = 0\ndef f(): return count + 1\n",
        label=Integrity.SHARED,
    ),
    Case(
        name="constants of the solution that its functions change",
        tests="assert LIMIT == 3 and ROWS == []\nassert candidate(2) == 2 and ROWS == [2]\n"
        "assert max(ROWS) < LIMIT",
        solution="LIMIT, ROWS = 3, []\ndef f(x):\n    ROWS.append(x)\n    return x\n",
    ),
    Case(
        name="a constant of the solution's module",
        tests="import solution\ndef test_f():\n    assert solution.f(2) < solution.LIMIT",
        solution="LIMIT = 3\ndef f(x): return x\n",
    ),
    Case(
        name="the end of a generator",
        tests="import pytest\nfrom solution import f\ndef test_f():\n    g = f()\n    next(g)\n"
        "    with pytest.raises(StopIteration):\n        next(g)",
        solution="def f():\n    yield 1\n",
        label=Integrity.SHARED,
    ),
    Case(
        name="an exit that is expected",
        tests="import pytest\nfrom solution import f\ndef test_f():\n"
        "    with pytest.raises(SystemExit) as e:\n        f()\n    assert e.value.code == 3",
        solution="import sys\ndef f():\n    sys.exit(3)\n",
        label=Integrity.SHARED,
    ),
    Case(
        name="what an exception says",
        tests="try:\n    candidate()\nexcept OSError as e:\n    assert e.errno == 2\n"
        "try:\n    g()\nexcept TooSmall as e:\n"
        "    assert (e.args, e.least, str(e)) == ((3,), 3, 'no')\n"
        "try:\n    h()\nexcept KeyError as e:\n    assert str(e) == \"'a'\"\n",
        solution="class TooSmall(ValueError):\n    def __init__(self, n):\n"
        "        super().__init__(n)\n        self.least = n\n    def __str__(self): return 'no'\n"
        "def f(): open('/nowhere')\ndef g(): raise TooSmall(3)\ndef h(): {}['a']\n",
    ),
    Case(
        name="an own exception caught by its base",
        tests="import pytest\nfrom solution import f, AppError\ndef test_f():\n"
        "    with pytest.raises(AppError, match='small'):\n        f(1)\n"
        "    with pytest.raises(ValueError):\n        f(1)",
        solution="class AppError(ValueError): pass\nclass TooSmall(AppError): pass\n"
        "def f(x): raise TooSmall('too small')\n",
    ),
    Case(
        name="a list of an object's that the tests change",
        tests="b = Box()\nb.items.append(3)\nb.d['k'] = 4\n"
        "assert (b.items, b.d) == ([3], {'k': 4})",
        solution="class Box:\n    def __init__(self): self.items, self.d = [], {}\ndef f(): pass\n",
        label=Integrity.SHARED,
    ),
    Case(
        name="a list that an object keeps and the tests change",
        tests="xs = [1]\nb = Box(xs)\nxs.append(2)\nassert b.total() == 3",
        solution="class Box:\n    def __init__(self, xs): self.xs = xs\n"
        "    def total(self): return sum(self.xs)\ndef f(): pass\n",
        label=Integrity.SHARED,
    ),
    Case(
        name="the same list twice",
        tests="xs = [1]\nassert candidate(xs, xs) == [1, 5]",
        solution="def f(xs, ys):\n    xs.append(5)\n    return ys\n",
    ),
    Case(
        name="the argument as the result",
        tests="xs = [1]\nassert candidate(xs) is xs",
        solution="f = lambda xs: xs\n",
        label=Integrity.SHARED,
    ),
    Case(
        name="what is not a number",
        tests="x = float('nan')\nassert candidate([x]) == [x]",
        solution="f = lambda xs: list(xs)\n",
    ),
    Case(
        name="a narrow number that is compared as one",
        tests="assert candidate() == 0.1 and candidate().item() > 0 and candidate().shape == ()",
        solution="import numpy as np\nf = lambda: np.float32(0.1)\n",
        label=Integrity.SHARED,
    ),
    Case(
        name="a mask and an image",
        tests="assert candidate(np.array([1, 2])).tolist() == [True, False]\n"
        "assert g().dtype == np.uint8 and g().sum() == 6",
        solution="import numpy as np\nf = lambda a: a < 2\n"
        "g = lambda: np.array([1, 2, 3], 'uint8')\n",
        label=Integrity.SHARED,
    ),
    Case(
        name="functions as parameters, as keys and under map",
        tests="import pytest, re\nfrom solution import f, g, Box\n"
        "@pytest.mark.parametrize('h', [f, g])\ndef test_f(h):\n    assert h(2) == 4\n"
        "def test_more():\n    assert list(map(f, [1, 2])) == [2, 4]\n"
        "    assert sorted([1, 2], key=Box(1).turn) == [2, 1]\n",
        solution="f = lambda x: 2 * x\ng = lambda x: x + 2\n"
        "class Box:\n    def __init__(self, n): self.n = n\n    def turn(self, x): return -x\n",
    ),
    Case(
        name="sorted in place, and as the result too",
        tests="xs = [3, 1]\nassert candidate(xs) == [1, 3]",
        solution="def f(xs):\n    xs.sort()\n    return xs\n",
    ),
    Case(
        name="rows of the same list changed in place by two tests",
        tests="import pytest\nfrom solution import f, g\ndef test_a():\n    xs = [3, 1]\n"
        "    f(xs)\n    assert xs == [1, 3]\ndef test_b():\n    xs = [2, 1]\n    f(xs)\n"
        "    assert xs == [1, 2]\ndef test_c():\n    assert g() == 3",
        solution="def f(xs):\n    xs.sort()\ng = lambda: 3\n",
    ),
    Case(
        name="sorted in place",
        tests="xs = [3, 1]\ncandidate(xs)\nassert xs == [1, 3]",
        solution="def f(xs):\n    xs.sort()\n",
    ),
    Case(
        name="a queue of the tests' that is changed and answered from",
        tests="q = []\nput(q, 1)\nput(q, 2)\nassert get(q) == 1 and get(q) == 2",
        solution="def put(q, x): q.append(x)\ndef get(q): return q.pop(0)\ndef f(): pass\n",
        label=Integrity.SHARED,
    ),
    Case(
        name="lone surrogates and large numbers",
        tests="assert candidate('\\ud800') == '\\ud800' and g() == 10 ** 5000",
        solution="f = lambda x: x\ng = lambda: 10 ** 5000\n",
    ),
    *(
        Case(
            name=f"a class of the prompt's that the solution writes again with {name}",
            prompt="class Node:\n    def __init__(self, val, next=None):\n"
            "        self.val = val\n        self.next = next\n\ndef f(node):\n    pass\n",
            tests="node = Node(1, Node(2))\ncandidate(node)\n"
            "assert (node.val, node.next.val, node.next.next) == (2, 3, None)",
            solution=f"class Node:\n    __slots__ = {slots}\n"
            "    def __init__(self, val, next=None):\n        self.val = val\n"
            "        self.next = next\ndef f(node):\n    while node:\n"
            "        node.val += 1\n        node = node.next\n",
        )
        for name, slots in {
            "slots": "('val', 'next')",
            "one more slot": "['val', 'next', 'depth']",
            "slots and a dictionary": "('val', '__dict__', '__weakref__')",
        }.items()
    ),
    *(
        Case(
            name=f"functions of the prompt's that only {name}",
            prompt=f"def double(x):\n    # to do\n    {body}\n\n"
            f"class Count:\n    def __init__(self):\n        self.n = 0\n"
            f"    def add(self):\n        {body}\n\ndef f(x):\n    {body}\n",
            tests="one = Count()\none.add()\nassert (one.n, double(2), candidate(3)) == (1, 4, 6)",
            solution="def double(x): return 2 * x\nclass Count:\n"
            "    def __init__(self): self.n = 0\n    def add(self): self.n += 1\n"
            "def f(x): return double(x)\n",
        )
        for name, body in {
            "return None": "return None",
            "return": "return",
            "are left out": "...",
        }.items()
    ),
    Case(
        name="linked lists of the prompt's",
        prompt="class ListNode:\n    def __init__(self, val=0, next=None):\n"
        "        self.val = val\n"
        "        self.next = next\n\ndef linked(values):\n    head = node = ListNode()\n"
        "    for value in values:\n        node.next = ListNode(value)\n        node = node.next\n"
        "    return head.next\n\ndef same(a, b):\n    while a and b and a.val == b.val:\n"
        "        a, b = a.next, b.next\n    return a is None and b is None\n\n"
        "def f(head):\n    pass\n",
        tests="assert same(candidate(linked([1, 2, 3])), linked([3, 2, 1]))\n"
        "assert not same(candidate(linked([1, 2])), linked([1, 2]))",
        solution="class ListNode:\n    def __init__(self, val=0, next=None):\n"
        "        self.val = val\n"
        "        self.next = next\ndef f(head):\n    last = None\n    while head:\n"
        "        head.next, last, head = last, head, head.next\n    return last\n",
    ),
)


@pytest.mark.parametrize("case", ATTACKS, ids=lambda case: case.name)
async def test_no_attack_is_rewarded_as_isolated(case: Case, contract: Judge) -> None:
    tests = as_tests(case)
    limits, prompt, least = FILE_LIMITS, case.prompt, Integrity.UNSPECIFIED
    found = await contract(
        case.solution, tests, limits=limits, prompt=prompt, extraction=Extraction.NONE,
        integrity=least,
    )  # fmt: skip
    assert found.verdict is not Verdict.INVALID_TASK, found.message
    assert found.integrity is Integrity.SHARED or found.reward == 0.0, found


@pytest.mark.parametrize("case", HONEST, ids=lambda case: case.name)
async def test_an_honest_solution_passes_with_its_label(case: Case, contract: Judge) -> None:
    tests = as_tests(case)
    limits, prompt, least = FILE_LIMITS, case.prompt, Integrity.UNSPECIFIED
    found = await contract(
        case.solution, tests, limits=limits, prompt=prompt, extraction=Extraction.NONE,
        integrity=least,
    )  # fmt: skip
    assert found.verdict is Verdict.PASSED, (found.message, found.signals)
    assert found.integrity is case.label, found.signals
