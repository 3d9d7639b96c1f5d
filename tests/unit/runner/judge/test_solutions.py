"""Honest solutions that a proxy between them and their tests must not fail."""

from __future__ import annotations

import textwrap

import pytest

from tests.unit.runner.harness import Zygote

SOLUTIONS: dict[str, tuple[str, str]] = {
    "deep recursion": (
        """
        import sys
        sys.setrecursionlimit(50_000)
        def f(n): return n and 1 + f(n - 1)
        """,
        "assert f(10_000) == 10_000",
    ),
    "recursion up to the usual limit": (
        "def f(n): return n and 1 + f(n - 1)",
        "assert f(980) == 980",
    ),
    "recursion as deep as the tests say": (
        "def f(n): return n and 1 + f(n - 1)",
        "import sys\nsys.setrecursionlimit(20_000)\nassert f(9_000) == 9_000",
    ),
    "integers with as many digits as the tests say": (
        "def f(n): return str(10 ** n)",
        "import sys\nsys.set_int_max_str_digits(0)\nassert len(f(5_000)) == 5_001",
    ),
    "a recursion error that is caught": (
        """
        def down(n): return down(n + 1)
        def f():
            try: down(0)
            except RecursionError: return 'deep'
        """,
        "assert f() == 'deep'\nassert f() == 'deep'",
    ),
    "threads": (
        """
        import threading
        from concurrent.futures import ThreadPoolExecutor
        def f(numbers):
            with ThreadPoolExecutor(3) as pool:
                return list(pool.map(lambda n: n * n, numbers))
        """,
        "assert f([1, 2, 3]) == [1, 4, 9]\nassert f([4]) == [16]",
    ),
    "processes": (
        """
        import multiprocessing
        def square(n): return n * n
        def f(numbers):
            with multiprocessing.get_context('fork').Pool(2) as pool:
                return pool.map(square, numbers)
        """,
        "assert f([1, 2, 3]) == [1, 4, 9]\nassert f([4]) == [16]",
    ),
    "a subprocess": (
        """
        import subprocess
        def f(): return subprocess.check_output(['/bin/echo', 'hello'], text=True)
        """,
        "assert f() == 'hello\\n'\nassert f() == 'hello\\n'",
    ),
    "a fork": (
        """
        import os
        def f():
            pid = os.fork()
            if not pid: os._exit(7)
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        """,
        "assert f() == 7\nassert f() == 7",
    ),
    "a fork whose child returns too": (
        "import os\ndef f(n):\n    os.fork()\n    return n",
        "assert f(1) == 1 and f(2) == 2",
    ),
    "asyncio inside": (
        """
        import asyncio
        async def work(n):
            await asyncio.sleep(0)
            return n + 1
        async def everything(): return await asyncio.gather(work(1), work(2))
        def f(): return asyncio.run(everything())
        """,
        "assert f() == [2, 3]\nassert f() == [2, 3]",
    ),
    "a coroutine function": (
        """
        import asyncio
        async def f(n):
            await asyncio.sleep(0)
            return n + 1
        """,
        """
        import asyncio
        assert asyncio.run(f(1)) == 2
        async def both(): return await asyncio.gather(f(1), f(2)), await f(3)
        assert asyncio.run(both()) == ([2, 3], 4)
        assert asyncio.iscoroutine(f(1))
        """,
    ),
    "an asynchronous generator": (
        """
        async def f(n):
            for number in range(n): yield number
        """,
        """
        import asyncio
        async def collect(): return [number async for number in f(3)]
        assert asyncio.run(collect()) == [0, 1, 2]
        """,
    ),
    "an asynchronous context manager": (
        """
        class Door:
            state = 'new'
            async def __aenter__(self):
                self.state = 'open'
                return self
            async def __aexit__(self, *details): self.state = 'closed'
        """,
        """
        import asyncio
        async def use():
            door = Door()
            async with door as same:
                assert same.state == 'open'
            return door.state
        assert asyncio.run(use()) == 'closed'
        """,
    ),
    "a generator": (
        """
        def f(n):
            total = 0
            for number in range(n):
                total += (yield number) or 0
            return total
        """,
        """
        assert list(f(3)) == [0, 1, 2]
        numbers = f(3)
        assert next(numbers) == 0 and next(numbers) == 1
        assert numbers.send(10) == 2
        assert next(numbers, 'end') == 'end'
        """,
    ),
    "an endless generator": (
        """
        import itertools
        def f(): return itertools.count()
        """,
        """
        import itertools
        assert list(itertools.islice(f(), 3)) == [0, 1, 2]
        """,
    ),
    "an iterator that is looked into": (
        "def f(): return map(str, range(5))",
        "assert '3' in f()\nassert '7' not in f()\nassert sorted(f()) == list('01234')",
    ),
    "a closure": (
        "def f(n): return lambda m: n + m",
        "assert f(1)(2) == 3\nadd = f(5)\nassert [add(n) for n in range(2)] == [5, 6]",
    ),
    "a callback": (
        "def f(function, values): return [function(value) for value in values]",
        """
        assert f(lambda n: n * 2, [1, 2]) == [2, 4]
        assert f(len, ['a', 'bc']) == [1, 2]
        seen = []
        f(seen.append, [1, 2])
        assert seen == [1, 2]
        """,
    ),
    "a callback that calls the solution": (
        "def f(n, function): return n if n <= 0 else function(n - 1) + 1",
        "def again(n): return f(n, again)\nassert f(5, again) == 5",
    ),
    "a decorator": (
        """
        import functools
        def f(function):
            @functools.wraps(function)
            def wrapped(*args, **kwargs):
                wrapped.calls += 1
                return function(*args, **kwargs) + 1
            wrapped.calls = 0
            return wrapped
        """,
        """
        @f
        def add(a, b=0): return a + b
        assert add(1) == 2 and add(1, b=2) == 4
        assert add.calls == 2
        assert add.__name__ == 'add'
        """,
    ),
    "an exception of a callback": (
        """
        def f(function):
            try: return function()
            except ValueError as error: return str(error)
            finally: f.ran = True
        """,
        """
        class Mine(Exception): pass
        def fails(): raise ValueError('bad')
        def breaks(): raise Mine('mine')
        assert f(fails) == 'bad'
        try:
            f(breaks)
        except Mine as error:
            assert error.args == ('mine',)
        else:
            assert False
        """,
    ),
    "an iterator of the tests'": (
        "def f(numbers): return [n for n, _ in zip(numbers, range(3))]",
        """
        import itertools
        assert f(itertools.count(5)) == [5, 6, 7]
        assert f(n for n in (1, 2)) == [1, 2]
        """,
    ),
    "an object of the tests'": (
        """
        def f(thing):
            thing.count += len(thing)
            return thing.name.upper(), thing[1], 3 in thing, list(thing), thing.double(4)
        """,
        """
        class Thing:
            name, count = 'abc', 1
            def __len__(self): return 2
            def __getitem__(self, key): return [5, 6][key]
            def __contains__(self, item): return item == 3
            def __iter__(self): return iter([5, 6])
            def double(self, n): return 2 * n
        thing = Thing()
        assert f(thing) == ('ABC', 6, True, [5, 6], 8)
        assert thing.count == 3
        """,
    ),
    "a class with state": (
        """
        class Counter:
            total = 0
            def __init__(self, start=0): self.value = start
            def add(self, n=1):
                self.value += n
                return self
            @property
            def double(self): return 2 * self.value
            @staticmethod
            def zero(): return 0
            @classmethod
            def make(cls): return cls(7)
            def __len__(self): return self.value
            def __repr__(self): return f'Counter({self.value})'
        """,
        """
        counter = Counter(1)
        assert counter.add().add(n=2).value == 4
        assert counter.double == 8 and len(counter) == 4 and repr(counter) == 'Counter(4)'
        counter.value = 9
        assert counter.value == 9 and Counter.zero() == 0 and Counter.make().value == 7
        assert isinstance(counter, Counter) and not isinstance(3, Counter)
        assert hasattr(counter, 'value') and not hasattr(counter, 'nothing')
        del counter.value
        assert not hasattr(counter, 'value')
        """,
    ),
    "a class with operators": (
        """
        import functools
        @functools.total_ordering
        class Vector:
            def __init__(self, x, y): self.x, self.y = x, y
            def __add__(self, other): return Vector(self.x + other.x, self.y + other.y)
            def __mul__(self, n): return Vector(self.x * n, self.y * n)
            __rmul__ = __mul__
            def __matmul__(self, other): return self.x * other.x + self.y * other.y
            def __eq__(self, other): return (self.x, self.y) == (other.x, other.y)
            def __lt__(self, other): return (self.x, self.y) < (other.x, other.y)
            def __hash__(self): return hash((self.x, self.y))
            def __neg__(self): return Vector(-self.x, -self.y)
            def __abs__(self): return (self @ self) ** 0.5
            def __bool__(self): return bool(self.x or self.y)
            def __getitem__(self, n): return (self.x, self.y)[n]
            def __contains__(self, n): return n in (self.x, self.y)
            def __iadd__(self, other):
                self.x += other.x
                return self
            def __call__(self, n): return self.x * n
            def __format__(self, spec): return f'<{self.x:{spec}}>'
            def __round__(self, n=None): return round(self.x, n)
            def __int__(self): return self.x
            def __float__(self): return float(self.x)
            def __index__(self): return self.x
        """,
        """
        a, b = Vector(1, 2), Vector(3, 4)
        assert a + b == Vector(4, 6) and a * 2 == 2 * a == Vector(2, 4)
        assert a @ b == 11 and -a == Vector(-1, -2) and abs(Vector(3, 4)) == 5.0
        assert a != b and a < b and b >= a and not Vector(0, 0) and a
        assert {a, Vector(1, 2)} == {a} and a[1] == 2 and 2 in a and a[0:2] == (1, 2)
        assert a(5) == 5 and f'{a:03}' == '<001>' and round(a) == 1
        assert int(b) == 3 and float(b) == 3.0 and [0, 1, 2, 9][b] == 9
        c = a
        c += b
        assert c is a and a.x == 4
        """,
    ),
    "equality between objects": (
        """
        import dataclasses
        @dataclasses.dataclass(frozen=True)
        class Point:
            x: int
            y: int = 0
        def f(x): return Point(x)
        """,
        """
        assert f(1) == Point(1) and f(1) != f(2) and f(1) in [Point(1)]
        assert f(1) != (1, 0) and not f(1) == 1
        assert len({f(1), f(1), f(2)}) == 2
        """,
    ),
    "identity": (
        """
        cache = {}
        class Thing: pass
        def f(name): return cache.setdefault(name, Thing())
        """,
        "assert f('a') is f('a') and f('a') is not f('b')",
    ),
    "an object given back": (
        """
        class Node:
            def __init__(self, value, next=None): self.value, self.next = value, next
        def f(node): return node.next
        def values(node):
            found = []
            while node: found, node = [*found, node.value], node.next
            return found
        """,
        """
        last = Node(2)
        first = Node(1, last)
        assert f(first) is last and values(first) == [1, 2]
        first.next = Node(5)
        assert values(first) == [1, 5]
        assert values(Node(0, first)) == [0, 1, 5]
        """,
    ),
    "objects in lists": (
        """
        class Item:
            def __init__(self, n): self.n = n
        def f(n): return [Item(i) for i in range(n)]
        def total(items): return sum(item.n for item in items)
        """,
        """
        items = f(4)
        assert [item.n for item in items] == [0, 1, 2, 3]
        assert total(items[1:]) == 6
        """,
    ),
    "a context manager": (
        """
        import contextlib
        log = []
        @contextlib.contextmanager
        def f(name):
            log.append('in')
            try: yield name * 2
            except ValueError: log.append('failed'); raise
            finally: log.append('out')
        def seen(): return log
        """,
        """
        with f('a') as doubled:
            assert doubled == 'aa'
        assert seen() == ['in', 'out']
        try:
            with f('b'): raise ValueError('x')
        except ValueError as error:
            assert str(error) == 'x'
        assert seen() == ['in', 'out', 'in', 'failed', 'out']
        """,
    ),
    "big integers": (
        "def f(n): return 7 ** n",
        "assert f(5000) == 7 ** 5000 and f(10_000) % 1000 == 1 and f(-1) == 7 ** -1",
    ),
    "nan and infinity": (
        "def f(): return float('nan'), float('inf'), -0.0, [float('nan')]",
        """
        import math
        nan, infinity, zero, (other,) = f()
        assert nan != nan and math.isnan(other) and infinity == math.inf
        assert math.copysign(1, zero) == -1
        """,
    ),
    "types told apart": (
        "def f(kind): return kind([1, 2])",
        """
        assert f(list) == [1, 2] != f(tuple) and f(tuple) == (1, 2) and f(set) == {2, 1}
        assert f(set) != f(list) and f(frozenset) == {1, 2} and isinstance(f(tuple), tuple)
        assert type(f(set)) is set and f(bytes) == b'\\1\\2' and f(bytearray) == b'\\1\\2'
        """,
    ),
    "collections": (
        """
        from collections import *
        Point = namedtuple('Point', 'x y')
        def f():
            default = defaultdict(int, a=1)
            return Counter('aab'), deque([1]), OrderedDict(a=1), default, Point(1, 2)
        """,
        """
        from collections import Counter, deque
        counts, queue, ordered, default, point = f()
        assert counts == {'a': 2, 'b': 1} and counts.most_common(1) == [('a', 2)]
        assert queue == deque([1]) and queue != [1] and ordered == {'a': 1}
        assert default == {'a': 1} and default['b'] == 0 and point == (1, 2)
        """,
    ),
    "numbers of the library": (
        """
        from decimal import Decimal
        from fractions import Fraction
        def f(n): return Decimal(n) / 10, Fraction(n, 10), complex(n, 1)
        """,
        """
        from decimal import Decimal
        from fractions import Fraction
        assert f(3) == (Decimal('0.3'), Fraction(3, 10), 3 + 1j)
        """,
    ),
    "dates": (
        """
        import datetime
        def f(day): return day + datetime.timedelta(days=1)
        """,
        """
        import datetime
        assert f(datetime.date(2024, 2, 28)) == datetime.date(2024, 2, 29)
        moment = datetime.datetime(2024, 1, 1, 5, tzinfo=datetime.timezone.utc)
        assert f(moment) == moment.replace(day=2)
        """,
    ),
    "mutation in place": (
        """
        def f(values): values.sort()
        def clear(values): values.clear()
        def fill(table, key): table[key] = [key]
        def rotate(grid): grid[:] = [list(row) for row in zip(*grid[::-1])]
        def deepen(grid): grid[0][0] = 9
        def grow(text): text.extend(b'!')
        def give(numbers, *, into): into.update(numbers)
        """,
        """
        values = [3, 1, 2]
        assert f(values) is None and values == [1, 2, 3]
        clear(values)
        assert values == []
        table = {}
        fill(table, 'a')
        assert table == {'a': ['a']}
        grid = [[1, 2], [3, 4]]
        rotate(grid)
        assert grid == [[3, 1], [4, 2]]
        row = grid[0]
        deepen(grid)
        assert row == [9, 1] and grid[0] is row
        deepen((row,) and [row])
        text = bytearray(b'hi')
        grow(text)
        assert text == b'hi!'
        into = {1}
        give([2], into=into)
        assert into == {1, 2}
        """,
    ),
    "an argument that a result is computed from stays": (
        "def f(values):\n    values.clear()\n    return 0",
        "values = [1, 2]\nresult = f(values)\nassert result + 3 == sum(values)",
    ),
    "global state": (
        "total = 0\ndef f(n):\n    global total\n    total += n\n    return total",
        "assert f(1) == 1 and f(2) == 3",
    ),
    "a changed folder, stream and handler": (
        """
        import io, os, signal, sys
        def f():
            os.chdir('/')
            sys.stdout = io.StringIO()
            print('into the buffer')
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            return sys.stdout.getvalue()
        """,
        "assert f() == 'into the buffer\\n'\nassert f() == 'into the buffer\\n'",
    ),
    "names of built-ins hidden": (
        """
        list = dict = len = str = int = None
        type = isinstance = getattr = None
        def f(n): return [n]
        """,
        "assert f(1) == [1]",
    ),
    "a builtin replaced": (
        """
        import builtins
        real = builtins.print
        builtins.print = lambda *args: real('<', *args)
        builtins.sum = lambda values: 42
        def f(n): return sum([n])
        """,
        "assert f(1) == 42",
    ),
    "an alarm": (
        """
        import signal
        def f():
            hits = []
            signal.signal(signal.SIGALRM, lambda *details: hits.append(1))
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            signal.pause()
            return len(hits)
        """,
        "assert f() == 1\nassert f() == 1",
    ),
    "temporary files": (
        """
        import os, tempfile
        def f():
            with tempfile.NamedTemporaryFile('w+') as file:
                file.write('x')
                file.flush()
                return os.path.getsize(file.name)
        """,
        "assert f() == 1",
    ),
    "its own source": (
        """
        import inspect
        def f(): return inspect.getsource(f).strip()
        """,
        "assert f().startswith('def f(): return inspect')",
    ),
    "a main guard": (
        "def f(): return __name__\nif __name__ == '__main__': raise SystemExit",
        "assert f() == 'solution'",
    ),
    "pickles of its own classes": (
        """
        import pickle
        class Thing:
            def __init__(self, n): self.n = n
        def f(n): return pickle.loads(pickle.dumps(Thing(n))).n
        """,
        "assert f(3) == 3",
    ),
    "the end of input": (
        """
        def f():
            try: return input()
            except EOFError: return 'end'
        """,
        "assert f() == 'end'",
    ),
    "unicode": (
        "def f(text): return text[::-1] + 'ä\U0001f600'",
        """
        assert f('ü\U0001f680') == '\U0001f680üä\U0001f600'
        assert f('\\ud800') == '\\ud800ä\U0001f600'
        """,
    ),
    "an exception of the right kind": (
        """
        import json
        def f(n):
            if n == 0: raise ValueError('no', 3)
            if n == 1: return {}['key']
            if n == 2: return json.loads('{')
            if n == 3: raise OSError(2, 'gone')
            return [][5]
        """,
        """
        import json
        def raised(n):
            try: f(n)
            except Exception as error: return error
        assert type(raised(0)) is ValueError and raised(0).args == ('no', 3)
        assert type(raised(1)) is KeyError and str(raised(1)) == "'key'"
        assert isinstance(raised(2), json.JSONDecodeError) and isinstance(raised(2), ValueError)
        assert type(raised(3)) is FileNotFoundError and raised(3).errno == 2
        assert type(raised(4)) is IndexError
        """,
    ),
    "exceptions of its own": (
        """
        class Base(Exception): pass
        class Special(Base, ValueError):
            def __init__(self, code):
                super().__init__(f'code {code}')
                self.code = code
        def f(code): raise Special(code)
        """,
        """
        try:
            f(5)
        except Special as error:
            assert str(error) == 'code 5' and error.code == 5
        else:
            assert False
        try:
            f(6)
        except Base:
            caught = True
        assert caught
        try:
            f(7)
        except ValueError as error:
            assert 'code 7' in str(error)
        """,
    ),
    "exceptions with unittest": (
        """
        class Special(Exception): pass
        def f(n):
            if n: raise Special(n)
            raise TypeError('zero')
        """,
        """
        import unittest
        case = unittest.TestCase()
        with case.assertRaises(Special):
            f(1)
        with case.assertRaises(TypeError):
            f(0)
        case.assertRaises(Special, f, 2)
        """,
    ),
    "a copy of an object": (
        """
        class Box:
            def __init__(self): self.items = [1]
        """,
        """
        import copy
        box = Box()
        other = copy.deepcopy(box)
        same = copy.copy(box)
        other.items = [2]
        assert box.items == [1] == same.items and other.items == [2]
        """,
    ),
    "keyword arguments and defaults": (
        "def f(a, *rest, b=2, **more): return a, rest, b, more",
        "assert f(1, 3, b=4, c=5) == (1, (3,), 4, {'c': 5})",
    ),
    "a regular expression's match": (
        "import re\ndef f(text): return re.match(r'(\\w)(\\w)', text)",
        "assert f('ab').group(2) == 'b' and f('ab').groups() == ('a', 'b') and f('') is None",
    ),
    "a name exported by assignment": (
        "from math import gcd as f\nLIMIT = 5",
        "assert f(4, 6) == 2",
    ),
}


def _code(text: str) -> str:
    return textwrap.dedent(text)


@pytest.mark.parametrize("name", SOLUTIONS)
def test_an_honest_solution_passes(zygote: Zygote, name: str) -> None:
    source, tests = map(_code, SOLUTIONS[name])
    result = zygote.function(source, entry_point="f", test_code=tests)
    assert result.passed, result.explanation
