"""Awkward solutions of function problems: how they compute, and what they return."""

from __future__ import annotations

from tests.honest.solution import function

COMPUTING = (
    function(
        "iterators that tests draw from beside others",
        """
        class Up:
            def __init__(self, n): self.left = n
            def __iter__(self): return self
            def __next__(self):
                if not self.left:
                    raise StopIteration
                self.left -= 1
                return self.left
        def solve(n):
            return {0: Up, 1: lambda n: iter(range(n)[::-1])}.get(n % 3, drawn)(n)
        def drawn(n):
            yield from range(n)[::-1]
        """,
        """
        assert all(a == b for a, b in zip(candidate(3), [2, 1, 0]))
        assert all(map(lambda a, b: a == b, [3, 2, 1, 0], candidate(4)))
        for a, b in zip(candidate(5), iter([4, 3, 2, 1, 0])):
            assert a == b
        named = dict(zip("abc", candidate(3)))
        assert all(named[key] in (0, 1, 2) for key in named)
        """,
    ),
    function(
        "recursion far beyond the default limit",
        """
        import sys
        sys.setrecursionlimit(30_000)
        def solve(n):
            return 0 if n == 0 else 1 + solve(n - 1)
        """,
        "assert candidate(20_000) == 20_000",
    ),
    function(
        "recursion up to the default limit",
        "def solve(n):\n    return 0 if n == 0 else 1 + solve(n - 1)\n",
        "assert candidate(960) == 960",
    ),
    function(
        "deep recursion in a thread with a large stack",
        """
        import sys, threading
        def solve(n):
            def deep(k):
                return 0 if k == 0 else 1 + deep(k - 1)
            sys.setrecursionlimit(200_000)
            threading.stack_size(128 << 20)
            found = []
            thread = threading.Thread(target=lambda: found.append(deep(n)))
            thread.start()
            thread.join()
            return found[0]
        """,
        "assert candidate(60_000) == 60_000",
    ),
    function(
        "a pool of threads",
        """
        from concurrent.futures import ThreadPoolExecutor
        def solve(values):
            with ThreadPoolExecutor(4) as pool:
                return list(pool.map(lambda value: value * value, values))
        """,
        "assert candidate([1, 2, 3]) == [1, 4, 9]",
    ),
    function(
        "a thread that outlives the call",
        """
        import threading
        def solve(n):
            threading.Thread(target=threading.Event().wait, daemon=True).start()
            return n
        """,
        "assert candidate(1) == 1\nassert candidate(2) == 2",
    ),
    function(
        "a pool of processes",
        """
        import multiprocessing
        def square(value):
            return value * value
        def solve(values):
            with multiprocessing.Pool(2) as pool:
                return pool.map(square, values)
        """,
        "assert candidate([1, 2, 3]) == [1, 4, 9]",
    ),
    function(
        "an executor of processes",
        """
        from concurrent.futures import ProcessPoolExecutor
        def square(value):
            return value * value
        def solve(values):
            with ProcessPoolExecutor(2) as pool:
                return list(pool.map(square, values))
        """,
        "assert candidate([1, 2, 3]) == [1, 4, 9]",
    ),
    function(
        "a process and a queue",
        """
        import multiprocessing
        def work(queue, value):
            queue.put(value + 1)
        def solve(value):
            queue = multiprocessing.Queue()
            process = multiprocessing.Process(target=work, args=(queue, value))
            process.start()
            answer = queue.get()
            process.join()
            return answer
        """,
        "assert candidate(1) == 2",
    ),
    function(
        "a manager of shared objects",
        """
        import multiprocessing
        def solve(value):
            with multiprocessing.Manager() as manager:
                shared = manager.dict()
                shared['value'] = value
                return dict(shared)
        """,
        "assert candidate(1) == {'value': 1}",
    ),
    function(
        "memory shared by name",
        """
        from multiprocessing import shared_memory
        def solve(text):
            block = shared_memory.SharedMemory(create=True, size=100)
            block.buf[: len(text)] = text
            copied = bytes(block.buf[: len(text)])
            block.close()
            block.unlink()
            return copied
        """,
        "assert candidate(b'abc') == b'abc'",
    ),
    function(
        "a fork of its own",
        """
        import os
        def solve(n):
            reader, writer = os.pipe()
            if os.fork() == 0:
                os.write(writer, str(n * 2).encode())
                os._exit(0)
            os.wait()
            return int(os.read(reader, 99))
        """,
        "assert candidate(21) == 42",
    ),
    function(
        "an event loop of its own",
        """
        import asyncio
        async def double(value):
            await asyncio.sleep(0)
            return 2 * value
        def solve(values):
            async def gather():
                return await asyncio.gather(*map(double, values))
            return asyncio.run(gather())
        """,
        "assert candidate([1, 2]) == [2, 4]",
    ),
    function(
        "a coroutine function",
        "async def solve(value):\n    return value + 1\n",
        "assert asyncio.run(candidate(1)) == 2",
        before="import asyncio\n",
    ),
    function(
        "an interpreter of its own",
        """
        import subprocess, sys
        def solve(n):
            source = f'print({n} * 2)'
            command = [sys.executable, '-c', source]
            return int(subprocess.run(command, capture_output=True, check=True).stdout)
        """,
        "assert candidate(21) == 42",
    ),
    function(
        "a program of the system's",
        """
        import subprocess
        def solve(text):
            return subprocess.run(['sort'], input=text, capture_output=True, text=True).stdout
        """,
        "assert candidate('b\\na\\n') == 'a\\nb\\n'",
    ),
    function(
        "state kept in a global name",
        """
        count = 0
        def solve():
            global count
            count += 1
            return count
        """,
        "assert [candidate(), candidate(), candidate()] == [1, 2, 3]",
    ),
    function(
        "state kept in a default argument",
        "def solve(value, seen=[]):\n    seen.append(value)\n    return len(seen)\n",
        "assert [candidate('a'), candidate('b')] == [1, 2]",
    ),
    function(
        "a cache of results",
        """
        from functools import lru_cache
        @lru_cache(maxsize=None)
        def solve(n):
            return n if n < 2 else solve(n - 1) + solve(n - 2)
        """,
        "assert candidate(90) == 2880067194370816120",
    ),
    function(
        "a decorated function with names of its own",
        """
        import functools
        def twice(inner):
            @functools.wraps(inner)
            def outer(*args, **kwargs):
                return inner(*args, **kwargs) * 2
            return outer
        @twice
        def solve(a, /, b=1, *rest, c, **more):
            return a + b + sum(rest) + c + sum(more.values())
        """,
        "assert candidate(1, 2, 3, c=4, d=5) == 30\nassert candidate(1, c=0) == 4",
    ),
    function(
        "an object in the function's place",
        """
        class Adder:
            def __call__(self, a, b):
                return a + b
        solve = Adder()
        """,
        "assert candidate(1, 2) == 3",
    ),
    function(
        "a partial function",
        "from functools import partial\nsolve = partial(pow, 2)\n",
        "assert candidate(10) == 1024",
    ),
    function(
        "a lambda",
        "solve = lambda a, b: a * b\n",
        "assert candidate(6, 7) == 42",
    ),
    function(
        "a main guard that must not run",
        """
        def solve(n):
            return n + 1
        if __name__ == '__main__':
            print(solve(int(input())))
        """,
        "assert candidate(1) == 2",
    ),
    function(
        "output on both streams",
        """
        import sys
        def solve(n):
            print('thinking' * 1000)
            print('about it', file=sys.stderr)
            return n
        """,
        "assert candidate(1) == 1",
    ),
    function(
        "half a megabyte of output a call",
        "def solve(n):\n    print('x' * 500_000)\n    return n\n",
        "assert all(candidate(n) == n for n in range(8))",
    ),
    function(
        "standard streams that it replaces",
        """
        import contextlib, io, sys
        def solve(n):
            with contextlib.redirect_stdout(io.StringIO()) as caught:
                print(n)
            sys.stdout = io.StringIO()
            return caught.getvalue()
        """,
        "assert candidate(1) == '1\\n'\nassert candidate(2) == '2\\n'",
    ),
    function(
        "temporary files and folders",
        """
        import os, tempfile
        def solve(text):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, 'file')
                with open(path, 'w') as file:
                    file.write(text)
                with tempfile.NamedTemporaryFile('w+') as other:
                    other.write(open(path).read() * 2)
                    other.seek(0)
                    return other.read()
        """,
        "assert candidate('ab') == 'abab'",
    ),
    function(
        "files in the working folder",
        """
        from pathlib import Path
        def solve(text):
            Path('notes').mkdir(exist_ok=True)
            Path('notes/one.txt').write_text(text)
            return sorted(str(path) for path in Path('notes').iterdir())
        """,
        "assert candidate('x') == ['notes/one.txt']",
    ),
    function(
        "a database",
        """
        import sqlite3
        def solve(values):
            base = sqlite3.connect(':memory:')
            base.execute('create table numbers (n integer)')
            base.executemany('insert into numbers values (?)', [(v,) for v in values])
            return base.execute('select sum(n) from numbers').fetchone()[0]
        """,
        "assert candidate([1, 2, 3]) == 6",
    ),
    function(
        "an alarm of its own",
        """
        import signal
        def solve(n):
            rung = []
            signal.signal(signal.SIGALRM, lambda *_: rung.append(n))
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            signal.pause()
            return rung
        """,
        "assert candidate(1) == [1]",
    ),
    function(
        "a warning",
        """
        import warnings
        def solve(n):
            warnings.warn('old', DeprecationWarning)
            return n
        """,
        "assert candidate(1) == 1",
    ),
    function(
        "a trace function of its own",
        """
        import sys
        def solve(n):
            lines = []
            sys.settrace(lambda frame, event, argument: lines.append(event))
            (lambda: n)()
            sys.settrace(None)
            return lines[:1]
        """,
        "assert candidate(1) == ['call']",
    ),
    function(
        "its own source",
        "import inspect\ndef solve():\n    return inspect.getsource(solve).count('return')\n",
        "assert candidate() == 2",
    ),
    function(
        "a seeded generator of random numbers",
        """
        import random
        def solve(seed):
            random.seed(seed)
            return random.randint(1, 10**9)
        """,
        "assert candidate(7) == random.Random(7).randint(1, 10**9)",
        before="import random\n",
    ),
    function(
        "annotations that name nothing",
        """
        from __future__ import annotations
        def solve(x: Foo[Bar]) -> Baz | None:
            return x
        """,
        "assert candidate(1) == 1",
    ),
    function(
        "recent syntax",
        """
        def solve(command):
            match command.split():
                case ['add', *numbers] if (total := sum(map(int, numbers))):
                    return total
                case _:
                    return f'{command!r:>{len(command) + 4}}'
        """,
        "assert candidate('add 1 2') == 3\nassert candidate('x') == \"  'x'\"",
    ),
    function(
        "a quarter of a second of work",
        "def solve(n):\n    return sum(i * i % 7 for i in range(n))\n",
        "assert candidate(2_000_000) == sum(i * i % 7 for i in range(2_000_000))",
    ),
    function(
        "names outside of ASCII",
        "def solve(größe):\n    π = 3\n    return {'größe': größe * π, '東京': '🗼'}\n",
        "assert candidate(2) == {'größe': 6, '東京': '🗼'}",
    ),
)

RESULTS = (
    function(
        "a generator",
        "def solve(n):\n    for i in range(n):\n        yield i\n",
        """
        assert list(candidate(3)) == [0, 1, 2]
        assert next(candidate(1)) == 0
        assert sum(candidate(4)) == 6
        assert [a for a in candidate(2)] == [0, 1]
        """,
    ),
    function(
        "a generator without end",
        "import itertools\ndef solve(n):\n    return itertools.count(n)\n",
        "assert list(itertools.islice(candidate(5), 3)) == [5, 6, 7]",
        before="import itertools\n",
    ),
    function(
        "lazy objects of the library's",
        "def solve(values):\n    return map(str, filter(None, reversed(values)))\n",
        "assert list(candidate([1, 0, 2])) == ['2', '1']",
    ),
    function(
        "an integer of thousands of digits",
        "import math\ndef solve(n):\n    return math.factorial(n)\n",
        "assert candidate(3000) == math.factorial(3000)",
        before="import math\n",
    ),
    function(
        "numbers that equal nothing, and no bounds",
        "def solve():\n    return [float('nan'), float('inf'), -float('inf'), -0.0]\n",
        """
        a, b, c, d = candidate()
        assert math.isnan(a) and a != a
        assert (b, c) == (math.inf, -math.inf)
        assert math.copysign(1, d) == -1
        """,
        before="import math\n",
    ),
    function(
        "sets, tuples and lists, each its own",
        "def solve(kind):\n    return {'set': {1, 2}, 'tuple': (1, 2), 'list': [1, 2],\n"
        "            'frozenset': frozenset((1, 2))}[kind]\n",
        """
        assert candidate('set') == {1, 2} and type(candidate('set')) is set
        assert candidate('tuple') == (1, 2) and isinstance(candidate('tuple'), tuple)
        assert candidate('list') == [1, 2] and candidate('list') != (1, 2)
        assert candidate('frozenset') == frozenset((1, 2))
        assert hash(candidate('frozenset')) == hash(frozenset((1, 2)))
        """,
    ),
    function(
        "containers of the library's",
        """
        from collections import Counter, OrderedDict, defaultdict, deque
        def solve(text):
            groups = defaultdict(list)
            for letter in text:
                groups[letter].append(1)
            return Counter(text), OrderedDict(a=1), groups, deque(text, maxlen=2)
        """,
        """
        counter, ordered, groups, queue = candidate('aab')
        assert counter == Counter('aab') and counter.most_common(1) == [('a', 2)]
        assert list(ordered) == ['a'] and groups == {'a': [1, 1], 'b': [1]}
        assert queue == deque('ab') and queue.maxlen == 2
        """,
        before="from collections import Counter, deque\n",
    ),
    function(
        "decimals, fractions and complex numbers",
        """
        from decimal import Decimal
        from fractions import Fraction
        def solve():
            return Decimal('0.10'), Fraction(1, 3), 1 + 2j
        """,
        """
        a, b, c = candidate()
        assert a == Decimal('0.1') and str(a) == '0.10'
        assert b + Fraction(2, 3) == 1 and c.conjugate() == 1 - 2j
        """,
        before="from decimal import Decimal\nfrom fractions import Fraction\n",
    ),
    function(
        "dates and times",
        """
        from datetime import *
        def solve():
            moment = datetime(2024, 2, 29, 12, tzinfo=timezone.utc)
            return moment, moment.date(), moment.time(), moment - moment + timedelta(1)
        """,
        """
        a, b, c, d = candidate()
        assert a == datetime.datetime(2024, 2, 29, 12, tzinfo=datetime.timezone.utc)
        assert b.isoformat() == '2024-02-29' and c.hour == 12 and d.days == 1
        """,
        before="import datetime\n",
    ),
    function(
        "bytes of every kind",
        "def solve(data):\n    return bytes(data), bytearray(data), data.hex()\n",
        "assert candidate(bytes(range(256))) == (bytes(range(256)), bytearray(range(256)),"
        " bytes(range(256)).hex())",
    ),
    function(
        "a range",
        "def solve(n):\n    return range(0, n, 2)\n",
        "assert candidate(5) == range(0, 5, 2)\nassert list(candidate(5)) == [0, 2, 4]",
    ),
    function(
        "dictionaries with keys of every kind",
        "def solve():\n    return {1: 'a', (1, 2): 'b', None: 'c', 2.5: {True: frozenset('d')}}\n",
        "assert candidate() == {1: 'a', (1, 2): 'b', None: 'c', 2.5: {True: frozenset('d')}}",
    ),
    function(
        "texts with every character",
        "def solve(text):\n    return text[::-1]\n",
        """
        for text in ('\\0\\n\\r\\t', 'a\\u0301', '\\U0001f600', '\\u2028', '\\ud800'):
            assert candidate(text) == text[::-1]
        """,
    ),
    function(
        "a large list",
        "def solve(n):\n    return list(range(n))\n",
        "assert candidate(200_000) == list(range(200_000))",
    ),
    function(
        "nothing",
        "def solve(x):\n    pass\n",
        "assert candidate(1) is None\nassert not candidate(2)",
    ),
    function(
        "true and false",
        "def solve(x):\n    return x > 1\n",
        "assert candidate(2) is True\nassert candidate(1) is False\nassert not candidate(0)",
    ),
    function(
        "a closure",
        "def solve(n):\n    def add(m):\n        return n + m\n    return add\n",
        """
        add = candidate(2)
        assert callable(add)
        assert add(3) == 5
        assert list(map(add, [1, 2])) == [3, 4]
        """,
    ),
    function(
        "closures that share a state",
        """
        def solve():
            count = 0
            def up():
                nonlocal count
                count += 1
                return count
            return up, lambda: count
        """,
        "up, show = candidate()\nup()\nup()\nassert show() == 2",
    ),
    function(
        "a data class",
        """
        from dataclasses import dataclass
        @dataclass(order=True)
        class Point:
            x: int
            y: int = 0
        def solve(x):
            return Point(x)
        """,
        """
        assert candidate(1).x == 1 and candidate(1).y == 0
        assert candidate(1) == candidate(1) and candidate(1) != candidate(2)
        assert candidate(1) < candidate(2)
        assert repr(candidate(1)) == 'Point(x=1, y=0)'
        """,
    ),
    function(
        "members of an enumeration",
        """
        import enum
        class Colour(enum.Enum):
            RED = 1
        class Number(enum.IntEnum):
            TWO = 2
        def solve(kind):
            return Colour.RED if kind == 'colour' else Number.TWO
        """,
        """
        assert candidate('colour').name == 'RED' and candidate('colour').value == 1
        assert candidate('colour') == candidate('colour')
        assert candidate('number') == 2
        """,
    ),
    function(
        "a named tuple",
        """
        from collections import namedtuple
        Pair = namedtuple('Pair', 'left right')
        def solve(a, b):
            return Pair(a, b)
        """,
        """
        assert candidate(1, 2) == (1, 2)
        assert candidate(1, 2)[0] == 1
        left, right = candidate(1, 2)
        """,
    ),
    function(
        "a linked list",
        """
        class Node:
            def __init__(self, value, rest=None):
                self.value, self.rest = value, rest
        def solve(values):
            node = None
            for value in reversed(values):
                node = Node(value, node)
            return node
        """,
        """
        node, seen = candidate([1, 2, 3]), []
        while node is not None:
            seen.append(node.value)
            node = node.rest
        assert seen == [1, 2, 3]
        """,
    ),
    function(
        "objects in containers",
        """
        class Box:
            def __init__(self, value):
                self.value = value
        def solve(values):
            return {'boxes': [Box(value) for value in values]}
        """,
        "assert [box.value for box in candidate([1, 2])['boxes']] == [1, 2]",
    ),
    function(
        "exceptions, expected",
        """
        class Empty(ValueError):
            def __init__(self, code):
                super().__init__(f'empty {code}')
                self.code = code
        def solve(values):
            if values is None:
                raise TypeError('no values')
            if not values:
                raise Empty(7)
            return values[0]
        """,
        """
        try:
            candidate(None)
        except TypeError as error:
            assert str(error) == 'no values' and error.args == ('no values',)
        else:
            raise AssertionError
        try:
            candidate([])
        except ValueError as error:
            assert 'empty' in str(error) and error.code == 7
        else:
            raise AssertionError
        assert candidate([1]) == 1
        """,
    ),
    function(
        "an exception of the library's, expected",
        "import json\ndef solve(text):\n    return json.loads(text)\n",
        """
        try:
            candidate('{')
        except json.JSONDecodeError:
            pass
        else:
            raise AssertionError
        """,
        before="import json\n",
    ),
    function(
        "a break out of a generator",
        """
        def solve():
            try:
                yield 1
                yield 2
            finally:
                print('done')
        """,
        "for value in candidate():\n    assert value == 1\n    break",
    ),
)

ARGUMENTS = (
    function(
        "a list sorted in place",
        "def solve(values):\n    values.sort()\n",
        """
        data = [3, 1, 2]
        assert candidate(data) is None
        assert data == [1, 2, 3]
        data.reverse()
        candidate(values=data)
        assert data == [1, 2, 3]
        """,
    ),
    function(
        "nested containers changed in place",
        """
        def solve(board, seen, index):
            board[0][1] = 'x'
            board.append([])
            seen.add(3)
            index['a'].append(1)
            index['b'] = 2
        """,
        """
        row, seen, index = ['a', 'b'], {1}, {'a': []}
        board = [row]
        candidate(board, seen, index=index)
        assert board == [['a', 'x'], []] and board[0] is row
        assert seen == {1, 3} and index == {'a': [1], 'b': 2}
        """,
    ),
    function(
        "an argument changed on a copy",
        "def solve(values):\n    values = list(values)\n    values.reverse()\n    return values\n",
        "data = [1, 2]\nassert candidate(data) == [2, 1]\nassert data == [1, 2]",
    ),
    function(
        "functions of the tests'",
        """
        def solve(function, values):
            return sorted(map(function, values), key=lambda v: -v)
        """,
        """
        assert candidate(lambda value: value * 2, [1, 2]) == [4, 2]
        assert candidate(abs, [-3, 1]) == [3, 1]
        assert candidate(int, ['1', '2']) == [2, 1]
        assert candidate(str.__len__, ['ab']) == [2]
        """,
    ),
    function(
        "iterators of the tests'",
        "def solve(numbers):\n    total = 0\n    for number in numbers:\n        total += number\n"
        "    return total\n",
        """
        assert candidate(n for n in range(4)) == 6
        assert candidate(iter([1, 2])) == 3
        assert candidate(map(int, '12')) == 3
        """,
    ),
    function(
        "objects of the tests'",
        "def solve(account, amount):\n    account.deposit(amount)\n    return account.balance\n",
        """
        account = Account()
        assert candidate(account, 5) == 5
        assert account.balance == 5
        """,
        before="""
        class Account:
            def __init__(self):
                self.balance = 0
            def deposit(self, amount):
                self.balance += amount
        """,
    ),
    function(
        "a text stream of the tests'",
        "def solve(stream):\n    return [line.strip() for line in stream]\n",
        "assert candidate(io.StringIO('a\\nb\\n')) == ['a', 'b']",
        before="import io\n",
    ),
    function(
        "results handed back",
        """
        class Matrix:
            def __init__(self, rows):
                self.rows = rows
        def solve(x, y=None):
            return Matrix(x) if y is None else x.rows + y.rows
        """,
        "assert candidate(candidate([1]), candidate([2])) == [1, 2]",
    ),
)

FUNCTIONS = (*COMPUTING, *RESULTS, *ARGUMENTS)
