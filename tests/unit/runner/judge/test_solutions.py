"""Honest solutions that a process between them and their tests must not fail."""

from __future__ import annotations

import textwrap

import pytest

from reward_server.domain import Crossing, FunctionTests
from reward_server.grading.crossing.python.texts import read_functions
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
        def fill(table, key): table[key] = [key]
        def rotate(grid): grid[:] = [list(row) for row in zip(*grid[::-1])]
        def give(numbers, *, into): into.update(numbers)
        """,
        """
        values = [3, 1, 2]
        assert f(values) is None and values == [1, 2, 3]
        table = {}
        fill(table, 'a')
        assert table == {'a': ['a']}
        grid = [[1, 2], [3, 4]]
        rotate(grid)
        assert grid == [[3, 1], [4, 2]]
        into = {1}
        give([2], into=into)
        assert into == {1, 2}
        """,
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
    "keyword arguments and defaults": (
        "def f(a, *rest, b=2, **more): return a, rest, b, more",
        "assert f(1, 3, b=4, c=5) == (1, (3,), 4, {'c': 5})",
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
    read = read_functions(FunctionTests(entry_point="f", test_code=tests), "")
    assert isinstance(read, Crossing), read
    result = zygote.function(source, entry_point="f", test_code=tests)
    assert result.passed, result.explanation
