"""Forms of tests that look at a right solution in a way that a judge apart finds awkward.

Each row is one form, written as tests of published sets write it: what a container of an object's
becomes when the test changes it, what a named tuple offers beside its elements, what a call prints.
"""

from __future__ import annotations

from reward_server.domain import FunctionTests
from tests.honest.solution import Solution, code, function


def script(name: str, completion: str, test_code: str, *, prompt: str = "") -> Solution:
    """A solution with tests that are statements one after another."""
    tests = FunctionTests(test_code=code(test_code))
    return Solution(name=name, completion=code(completion), tests=tests, prompt=code(prompt))


_CART = """
    class Cart:
        limits = {'most': 3}
        def __init__(self):
            self.items, self.prices, self.tags, self._log = [], {}, set(), []
            self.grid = [[0] * 3 for _ in range(3)]
        def add(self, item, price=1):
            self.items.append(item)
            self.prices[item] = price
        def total(self): return sum(self.prices.values())
        def count(self): return len(self.items)
        @property
        def log(self): return self._log
        def copied(self): return list(self.items)
        def inner(self): return self.items
"""

CONTAINERS = (
    script(
        "a list of an object's that the test appends to",
        _CART,
        """
        cart = Cart()
        cart.items.append('apple')
        assert cart.count() == 1
        assert cart.items == ['apple']
        """,
    ),
    script(
        "a dictionary of an object's that the test writes into",
        _CART,
        """
        cart = Cart()
        cart.prices['apple'] = 3
        cart.prices.update(pear=4)
        assert cart.total() == 7
        del cart.prices['pear']
        assert cart.total() == 3
        """,
    ),
    script(
        "a set of an object's that the test adds to",
        _CART,
        """
        cart = Cart()
        cart.tags.add('new')
        cart.tags |= {'old'}
        assert cart.tags == {'new', 'old'}
        """,
    ),
    script(
        "a grid of an object's of which the test sets a cell",
        _CART,
        """
        cart = Cart()
        cart.grid[1][2] = 5
        assert cart.grid == [[0, 0, 0], [0, 0, 5], [0, 0, 0]]
        """,
    ),
    script(
        "a list of an object's that the test holds while the object changes it",
        _CART,
        """
        cart = Cart()
        held = cart.items
        cart.add('apple')
        assert held == ['apple']
        held.append('pear')
        cart.add('plum')
        assert cart.items == held == ['apple', 'pear', 'plum']
        """,
    ),
    script(
        "a list that a property gives, changed",
        _CART,
        """
        cart = Cart()
        cart.log.append('opened')
        cart.log.insert(0, 'made')
        assert cart.log == ['made', 'opened']
        """,
    ),
    script(
        "a list that a method gives, which is a copy or is not",
        _CART,
        """
        cart = Cart()
        cart.add('apple')
        cart.copied().append('pear')
        assert cart.count() == 1
        cart.inner().append('pear')
        assert cart.count() == 2
        """,
    ),
    script(
        "a dictionary of a class that the test changes",
        _CART,
        """
        Cart.limits['most'] = 9
        assert Cart().limits['most'] == 9
        """,
    ),
    script(
        "a list of an object's sorted, cut and cleared by the test",
        _CART,
        """
        cart = Cart()
        for item in 'bca':
            cart.add(item)
        cart.items.sort()
        assert cart.items.pop() == 'c'
        assert cart.count() == 2 and cart.items[0] == 'a'
        cart.items.clear()
        assert cart.count() == 0
        """,
    ),
    script(
        "adjacency lists of a graph that the test extends",
        """
        from collections import defaultdict, deque, Counter
        class Graph:
            def __init__(self):
                self.edges, self.waiting, self.seen = defaultdict(list), deque(), Counter()
            def degree(self, node): return len(self.edges[node])
            def first(self): return self.waiting[0]
        """,
        """
        graph = Graph()
        graph.edges['a'].append('b')
        graph.edges['a'].append('c')
        graph.waiting.appendleft('x')
        graph.seen['a'] += 2
        assert graph.degree('a') == 2
        assert graph.first() == 'x'
        assert graph.seen['a'] == 2
        """,
    ),
    script(
        "a cache of the module's that the tests look into and empty",
        """
        cache = {}
        def square(n):
            if n not in cache:
                cache[n] = n * n
            return cache[n]
        """,
        """
        import solution
        square(3)
        assert solution.cache == {3: 9}
        solution.cache.clear()
        square(2)
        assert solution.cache == {2: 4}
        """,
    ),
    script(
        "a list of a node's children, to which the test hands objects",
        """
        class Node:
            def __init__(self, value): self.value, self.children = value, []
        def total(node): return node.value + sum(map(total, node.children))
        """,
        """
        root = Node(1)
        root.children.append(Node(2))
        root.children[0].children.extend([Node(3), Node(4)])
        assert total(root) == 10
        """,
    ),
    script(
        "a dictionary of dictionaries that is changed far inside",
        """
        class Settings:
            def __init__(self): self.data = {'view': {'theme': {'dark': False}}}
            def is_dark(self): return self.data['view']['theme']['dark']
        """,
        """
        settings = Settings()
        settings.data['view']['theme']['dark'] = True
        assert settings.is_dark() is True
        """,
    ),
    script(
        "containers of an object's whose keys are objects",
        """
        class Graph:
            def __init__(self): self.edges, self.nodes = {}, set()
            def link(self, one, other):
                self.nodes |= {one, other}
                self.edges.setdefault(one, []).append(other)
        class Node: pass
        """,
        """
        graph, one, other = Graph(), Node(), Node()
        graph.link(one, other)
        assert len(graph.edges) == 1 and other in graph.edges[one] and len(graph.nodes) == 2
        graph.edges[one].append(one)
        assert len(graph.edges[one]) == 2 and one in graph.edges and other not in graph.edges
        """,
    ),
    script(
        "a byte array of an object's that the test writes into",
        """
        class Memory:
            def __init__(self): self.cells = bytearray(4)
            def load(self, at): return self.cells[at]
        """,
        """
        memory = Memory()
        memory.cells[2] = 7
        assert memory.load(2) == 7
        """,
    ),
)

CONSTANTS = (
    script(
        "constants and counters of the module's",
        """
        LIMIT, names, total = 5, ['a'], 0
        def bump():
            global total
            total += 1
            return total
        """,
        """
        assert LIMIT == 5 and names == ['a'] and total == 0
        import solution
        assert bump() == 1 and solution.total == 1
        assert len(names) == 1 and max(LIMIT, 2) == 5
        """,
    ),
    Solution(
        name="a constant that is imported before it is there",
        completion="LIMIT = 5\ndef solve(n): return min(n, LIMIT)\n",
        tests=FunctionTests(
            setup_code="from solution import LIMIT, solve",
            asserts=("assert LIMIT == 5", "assert solve(9) == LIMIT"),
        ),
    ),
)

RECORDS = (
    function(
        "fields of a named tuple",
        """
        from collections import namedtuple
        Point = namedtuple('Point', 'x y')
        def solve(x, y): return Point(x, y)
        """,
        """
        point = candidate(1, 2)
        assert point.x == 1 and point.y == 2
        assert point == (1, 2) and isinstance(point, tuple)
        x, y = point
        assert x + y == 3 and point[0] == 1 and len(point) == 2
        """,
    ),
    function(
        "a named tuple as a dictionary and replaced",
        """
        from typing import NamedTuple
        class Point(NamedTuple):
            x: int
            y: int = 0
        def solve(x): return Point(x)
        """,
        """
        point = candidate(1)
        assert point._asdict() == {'x': 1, 'y': 0}
        assert point._replace(y=5).y == 5
        assert point._fields == ('x', 'y')
        assert repr(point) == 'Point(x=1, y=0)'
        """,
    ),
    script(
        "a named tuple with methods of its own",
        """
        from typing import NamedTuple
        class Point(NamedTuple):
            x: float
            y: float
            def norm(self): return (self.x ** 2 + self.y ** 2) ** 0.5
            @property
            def mirrored(self): return Point(self.y, self.x)
        """,
        """
        point = Point(3, 4)
        assert point.norm() == 5
        assert point.mirrored == (4, 3) and point.mirrored.x == 4
        assert isinstance(point, Point)
        assert Point(1, 2) == Point(1, 2) and Point(1, 2) != Point(2, 1)
        """,
    ),
    function(
        "named tuples in a list, sorted and grouped",
        """
        from collections import namedtuple
        Word = namedtuple('Word', ['text', 'size'])
        def solve(text): return [Word(word, len(word)) for word in text.split()]
        """,
        """
        words = candidate('bb a ccc')
        ordered = sorted(words, key=lambda word: word.size)
        assert [word.text for word in ordered] == ['a', 'bb', 'ccc']
        assert max(words, key=lambda word: word.size).text == 'ccc'
        assert {word.text: word.size for word in words}['bb'] == 2
        """,
    ),
    script(
        "the hits of a cache",
        """
        from functools import lru_cache
        @lru_cache(maxsize=None)
        def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
        """,
        """
        assert fib(20) == 6765
        info = fib.cache_info()
        assert info.hits == 18 and info.misses == 21 and info.maxsize is None
        fib.cache_clear()
        assert fib.cache_info().currsize == 0
        """,
    ),
    script(
        "names of an enumeration of numbers",
        """
        from enum import IntEnum
        class Level(IntEnum):
            LOW = 1
            HIGH = 2
        def level(n): return Level(n)
        """,
        """
        assert level(2).name == 'HIGH' and level(1).value == 1
        assert level(2) == 2 and level(1) < level(2)
        assert Level.LOW is level(1)
        assert [one.name for one in Level] == ['LOW', 'HIGH']
        """,
    ),
    script(
        "names of an enumeration of texts and of flags",
        """
        import enum
        class Color(str, enum.Enum):
            RED = 'red'
            BLUE = 'blue'
        class Right(enum.Flag):
            READ = 1
            WRITE = 2
        class Bit(enum.IntFlag):
            A = 1
            B = 2
        """,
        """
        assert Color.RED == 'red' and Color.RED.name == 'RED' and Color('blue').value == 'blue'
        assert Color.RED in (Color.RED, Color.BLUE)
        assert (Right.READ | Right.WRITE) & Right.READ == Right.READ
        assert Right.READ in (Right.READ | Right.WRITE)
        assert Bit.A | Bit.B == 3 and Bit(1).name == 'A'
        """,
    ),
    script(
        "a list with methods of its own",
        """
        class Stack(list):
            def push(self, item): self.append(item)
            def peek(self): return self[-1]
            @property
            def is_empty(self): return not self
        """,
        """
        stack = Stack()
        assert stack.is_empty
        stack.push(1)
        stack.push(2)
        assert stack.peek() == 2 and stack == [1, 2] and len(stack) == 2
        stack.append(3)
        assert stack.peek() == 3 and stack[-1] == 3
        assert isinstance(stack, list) and not stack.is_empty
        """,
    ),
    script(
        "a dictionary with attributes",
        """
        class Record(dict):
            def __getattr__(self, name):
                try: return self[name]
                except KeyError: raise AttributeError(name) from None
            def __setattr__(self, name, value): self[name] = value
        """,
        """
        record = Record(a=1)
        assert record.a == 1 and record == {'a': 1}
        record.b = 2
        assert record['b'] == 2 and record.b == 2
        record['c'] = 3
        assert record.c == 3 and set(record) == {'a', 'b', 'c'}
        """,
    ),
    script(
        "a number and a text with attributes",
        """
        class Money(int):
            def __new__(cls, value, currency='EUR'):
                made = super().__new__(cls, value)
                made.currency = currency
                return made
        class Name(str):
            def initials(self): return ''.join(part[0] for part in self.split())
        """,
        """
        assert Money(5, 'USD').currency == 'USD' and Money(5) == 5
        assert Name('Ada Lovelace').initials() == 'AL' and Name('Ada') == 'Ada'
        assert Name('ada').upper() == 'ADA' and Money(2) + 3 == 5
        """,
    ),
    script(
        "a counter with methods of its own",
        """
        from collections import Counter, OrderedDict
        class Bag(Counter):
            def size(self): return sum(self.values())
        class Recent(OrderedDict):
            def newest(self): return next(reversed(self))
        """,
        """
        bag = Bag('aab')
        assert bag.size() == 3 and bag['a'] == 2 and bag == {'a': 2, 'b': 1}
        recent = Recent()
        recent['x'] = 1
        recent['y'] = 2
        assert recent.newest() == 'y'
        """,
    ),
    function(
        "parts of an address on the web",
        """
        from urllib.parse import urlparse
        def solve(text): return urlparse(text)
        """,
        """
        parts = candidate('http://example.org:80/path?q=1')
        assert parts.scheme == 'http' and parts.hostname == 'example.org' and parts.port == 80
        assert parts.query == 'q=1' and parts[2] == '/path'
        """,
    ),
    function(
        "a time of the library's with fields",
        """
        import time
        def solve(text): return time.strptime(text, '%Y-%m-%d')
        """,
        """
        found = candidate('2024-02-29')
        assert found.tm_year == 2024 and found.tm_mon == 2 and found[2] == 29
        """,
    ),
)

VIEWS = (
    function(
        "keys of a dictionary against a set",
        "def solve(pairs): return dict(pairs).keys()\n",
        """
        keys = candidate([('a', 1), ('b', 2)])
        assert keys == {'a', 'b'} and sorted(keys) == ['a', 'b'] and 'a' in keys
        assert keys & {'a'} == {'a'} and len(keys) == 2
        """,
    ),
    function(
        "values and items of a dictionary",
        "def solve(pairs): return dict(pairs).values(), dict(pairs).items()\n",
        """
        values, items = candidate([('a', 1), ('b', 2)])
        assert list(values) == [1, 2] and sum(values) == 3 and 2 in values
        assert items == {('a', 1), ('b', 2)} and dict(items) == {'a': 1, 'b': 2}
        """,
    ),
    function(
        "memory against bytes",
        "def solve(data): return memoryview(data)[1:]\n",
        "assert candidate(b'abc') == b'bc' and bytes(candidate(b'abc')) == b'bc'",
    ),
    function(
        "dictionaries, lists and texts of the library's for users",
        """
        from collections import UserDict, UserList, UserString
        class Table(UserDict): pass
        def solve(kind):
            return {'d': Table(a=1), 'l': UserList([1, 2]), 's': UserString('ab')}[kind]
        """,
        """
        assert candidate('d') == {'a': 1} and candidate('d')['a'] == 1
        assert candidate('l') == [1, 2] and candidate('l')[0] == 1
        assert candidate('s') == 'ab' and candidate('s').upper() == 'AB'
        """,
    ),
    script(
        "a dictionary for users with rules of its own",
        """
        from collections import UserDict, ChainMap
        class Folded(UserDict):
            def __setitem__(self, key, value): super().__setitem__(key.lower(), value)
            def __getitem__(self, key): return super().__getitem__(key.lower())
            def size(self): return len(self.data)
        def merged(*maps): return ChainMap(*maps)
        """,
        """
        folded = Folded()
        folded['ABC'] = 1
        assert folded['Abc'] == 1 and folded.size() == 1
        assert dict(folded) == {'abc': 1}
        assert merged({'a': 1}, {'a': 2, 'b': 3}) == {'a': 1, 'b': 3}
        """,
    ),
    function(
        "a view of a dictionary that cannot be changed",
        """
        from types import MappingProxyType
        def solve(data): return MappingProxyType(data)
        """,
        """
        assert candidate({'a': 1}) == {'a': 1} and candidate({'a': 1})['a'] == 1
        try:
            candidate({})['x'] = 1
        except TypeError:
            pass
        else:
            raise AssertionError
        """,
    ),
    function(
        "an array of the library's",
        """
        from array import array
        def solve(numbers): return array('i', numbers)
        """,
        """
        from array import array
        assert candidate([1, 2]) == array('i', [1, 2]) and candidate([1, 2]).tolist() == [1, 2]
        """,
    ),
    function(
        "identifiers, paths and addresses",
        """
        import ipaddress, pathlib, uuid
        def solve(text):
            return uuid.UUID(int=5), pathlib.PurePosixPath(text), ipaddress.ip_address('10.0.0.1')
        """,
        """
        import ipaddress, uuid
        from pathlib import PurePosixPath
        number, path, address = candidate('a/b.txt')
        assert number == uuid.UUID(int=5) and str(path) == 'a/b.txt' and path.suffix == '.txt'
        assert path == PurePosixPath('a/b.txt') and address == ipaddress.ip_address('10.0.0.1')
        """,
    ),
)

ARGUMENTS = (
    function(
        "a length kept and the argument looked at",
        """
        def solve(numbers):
            kept = 0
            for number in numbers:
                if not kept or numbers[kept - 1] != number:
                    numbers[kept] = number
                    kept += 1
            return kept
        """,
        """
        a = [1, 1, 2, 3, 3]
        k = candidate(a)
        assert k == 3
        assert a[:k] == [1, 2, 3]
        """,
    ),
    function(
        "a length kept and the argument compared one by one",
        """
        def solve(numbers, value):
            numbers[:] = [number for number in numbers if number != value]
            return len(numbers)
        """,
        """
        nums = [3, 2, 2, 3]
        expected = [2, 2]
        k = candidate(nums, 3)
        assert k == len(expected)
        for i in range(k):
            assert nums[i] == expected[i]
        """,
    ),
    function(
        "cases in a loop whose argument is changed and whose result counts",
        """
        def solve(numbers):
            zeros = numbers.count(0)
            numbers[:] = [n for n in numbers if n] + [0] * zeros
            return zeros
        """,
        """
        for given, count, wanted in [([0, 1, 0], 2, [1, 0, 0]), ([1], 0, [1])]:
            assert candidate(given) == count
            assert given == wanted
        """,
    ),
    function(
        "a list sorted in place that is the result too",
        "def solve(numbers):\n    numbers.sort()\n    return numbers\n",
        """
        a = [3, 1, 2]
        result = candidate(a)
        assert result == [1, 2, 3]
        assert a == [1, 2, 3]
        """,
    ),
    function(
        "a dictionary changed in place while the result is kept",
        """
        def solve(stock, item):
            before = stock.get(item, 0)
            stock[item] = before + 1
            return before
        """,
        """
        stock = {'a': 1}
        before = candidate(stock, 'a')
        assert before == 1
        assert stock == {'a': 2}
        assert candidate(stock, 'b') == 0
        assert stock['b'] == 1
        """,
    ),
    function(
        "a matrix turned in place that is the result too",
        """
        def solve(grid):
            grid[:] = [list(row) for row in zip(*grid[::-1])]
            return grid
        """,
        """
        grid = [[1, 2], [3, 4]]
        assert candidate(grid) == [[3, 1], [4, 2]]
        assert grid == [[3, 1], [4, 2]]
        """,
    ),
    function(
        "an item popped off a heap of the test's",
        "import heapq\ndef solve(heap): return heapq.heappop(heap)\n",
        """
        heap = [1, 3, 2]
        assert candidate(heap) == 1
        assert len(heap) == 2
        assert sorted(heap) == [2, 3]
        """,
    ),
    function(
        "an argument that must not be changed",
        "def solve(numbers): return sorted(numbers)\n",
        """
        a = [2, 1]
        b = candidate(a)
        assert b == [1, 2]
        assert a == [2, 1]
        """,
    ),
    function(
        "a set and a deque changed in place while the result is kept",
        """
        def solve(seen, waiting):
            seen.add(waiting.popleft())
            return len(seen)
        """,
        """
        from collections import deque
        seen, waiting = set(), deque([1, 2])
        size = candidate(seen, waiting)
        assert size == 1 and seen == {1} and list(waiting) == [2]
        """,
    ),
    function(
        "a result that the expected value is computed beside",
        """
        def solve(numbers):
            numbers.reverse()
            return True
        """,
        """
        a = [1, 2, 3]
        b = a[:]
        assert candidate(a) is True
        assert a == [3, 2, 1]
        assert b == [1, 2, 3]
        """,
    ),
)

ASKED = (
    function(
        "the function's own documentation and name",
        '''
        def solve(n: int) -> int:
            """Adds one."""
            return n + 1
        ''',
        """
        assert candidate.__doc__ == 'Adds one.'
        assert candidate.__name__ == 'solve'
        assert candidate(1) == 2
        """,
    ),
    script(
        "documentation of a class and a method",
        '''
        class Dog:
            """A dog."""
            def bark(self):
                """Barks."""
                return 'wuff'
        ''',
        """
        assert 'dog' in Dog.__doc__ and Dog.bark.__doc__ == 'Barks.'
        assert Dog().bark() == 'wuff' and Dog().__doc__ == 'A dog.'
        """,
    ),
    script(
        "the name of a result's class",
        """
        class Animal: pass
        class Dog(Animal): pass
        def make(kind): return {'dog': Dog, 'animal': Animal}[kind]()
        """,
        """
        assert type(make('dog')).__name__ == 'Dog'
        assert type(make('dog')) is Dog and type(make('dog')) == Dog
        assert type(make('dog')) is not Animal and type(make('dog')) is type(make('dog'))
        """,
    ),
    function(
        "types of results that are data",
        "def solve(kind): return {'l': [1], 'f': 1.0, 's': 'x', 'b': True}[kind]\n",
        """
        assert type(candidate('l')) is list and type(candidate('f')) == float
        assert type(candidate('s')).__name__ == 'str' and type(candidate('b')) is bool
        """,
    ),
    function(
        "a signature",
        "def solve(a, b=2, *rest, c, **more): return a\n",
        """
        import inspect
        parameters = inspect.signature(candidate).parameters
        assert list(parameters) == ['a', 'b', 'rest', 'c', 'more']
        assert parameters['b'].default == 2 and len(parameters) == 5
        assert parameters['c'].kind is inspect.Parameter.KEYWORD_ONLY
        assert parameters['a'].default is inspect.Parameter.empty
        assert candidate(1, c=3) == 1
        """,
    ),
    script(
        "signatures of a class and of a method",
        """
        from inspect import signature
        class Adder:
            def __init__(self, start=0): self.value = start
            def add(self, amount): self.value += amount
        """,
        """
        from inspect import getdoc, signature
        assert list(signature(Adder.add).parameters) == ['self', 'amount']
        assert signature(Adder).parameters['start'].default == 0
        assert list(signature(Adder().add).parameters) == ['amount']
        """,
    ),
    script(
        "attributes that are there and are not",
        """
        class Box:
            def __init__(self): self.value, self._hidden = 1, 2
            def open(self): return self.value
        """,
        """
        box = Box()
        assert hasattr(box, 'value') and not hasattr(box, 'missing') and hasattr(Box, 'open')
        assert getattr(box, 'missing', None) is None and callable(box.open)
        assert 'value' in dir(box) and vars(box) == {'value': 1, '_hidden': 2}
        assert box.__dict__['value'] == 1
        """,
    ),
    script(
        "data classes as dictionaries and tuples",
        """
        from dataclasses import dataclass, field
        @dataclass
        class Inner:
            z: int = 0
        @dataclass
        class Point:
            x: int
            y: int = 0
            inner: Inner = field(default_factory=Inner)
        """,
        """
        import dataclasses
        from dataclasses import asdict, astuple, fields, is_dataclass, replace
        point = Point(1)
        assert asdict(point) == {'x': 1, 'y': 0, 'inner': {'z': 0}}
        assert dataclasses.astuple(point) == (1, 0, (0,))
        assert [one.name for one in fields(Point)] == ['x', 'y', 'inner']
        assert is_dataclass(point) and is_dataclass(Point)
        assert replace(point, y=5).y == 5 and point == Point(1, 0)
        """,
    ),
    script(
        "a data class that is frozen",
        """
        from dataclasses import dataclass
        @dataclass(frozen=True, order=True)
        class Version:
            major: int
            minor: int = 0
        """,
        """
        from dataclasses import FrozenInstanceError
        assert Version(1) < Version(1, 2) and len({Version(1), Version(1, 0)}) == 1
        assert repr(Version(1)) == 'Version(major=1, minor=0)'
        try:
            Version(1).major = 2
        except FrozenInstanceError:
            pass
        else:
            raise AssertionError
        """,
    ),
    script(
        "subclasses among the solution's classes and Python's",
        """
        from abc import ABC, abstractmethod
        class Shape(ABC):
            @abstractmethod
            def area(self): ...
        class Square(Shape):
            def area(self): return 4
        class Missing(KeyError): pass
        """,
        """
        assert issubclass(Square, Shape) and not issubclass(Shape, Square)
        assert issubclass(Missing, KeyError) and issubclass(Missing, Exception)
        assert not issubclass(Missing, ValueError)
        try:
            Shape()
        except TypeError as error:
            assert 'abstract' in str(error)
        else:
            raise AssertionError
        """,
    ),
    function(
        "a generator that is asked for being one",
        "def solve(n):\n    yield from range(n)\n",
        """
        import types
        from collections.abc import Generator, Iterator
        made = candidate(3)
        assert isinstance(made, types.GeneratorType) and isinstance(made, Iterator)
        assert next(made) == 0 and list(made) == [1, 2]
        """,
    ),
    function(
        "a generator that takes what is sent",
        """
        def solve():
            total = 0
            while True:
                total += yield total
        """,
        """
        made = candidate()
        assert next(made) == 0 and made.send(5) == 5 and made.send(2) == 7
        made.close()
        """,
    ),
)

_ERRORS = """
    class AppError(Exception):
        code = 1
        def __init__(self, text, n=0):
            super().__init__(f"{text}/{n}")
            self.text, self.n = text, n
        @classmethod
        def of(cls, n): return cls("of", n)
        def twice(self): return 2 * self.n
    class NotFoundError(AppError, KeyError): code = 404
    class SettingError(AppError, OSError): pass
    class Halt(AppError): pass
    def fail(n):
        raise {0: AppError, 1: NotFoundError, 2: SettingError, 3: Halt}[n]("t", n)
    def wrapped():
        try: fail(3)
        except Halt as error: raise NotFoundError("w") from error
    def handles(act, *kinds):
        try: act()
        except kinds as error: return [type(error).__name__, str(error)]
"""
EXCEPTIONS = (
    script(
        "an exception of the solution's that is made and asked for its class",
        """
        class OwnError(ValueError):
            def __init__(self, message, status=1):
                super().__init__(message)
                self.status = status
        """,
        """
        error = OwnError('bad', status=3)
        assert isinstance(error, Exception) and isinstance(error, ValueError)
        assert str(error) == 'bad' and error.status == 3 and error.args == ('bad',)
        assert isinstance(error, OwnError) and not isinstance(error, KeyError)
        """,
    ),
    script(
        "exception classes of the solution's, asked for what they are derived from",
        _ERRORS,
        """
        assert issubclass(NotFoundError, AppError) and issubclass(NotFoundError, LookupError)
        assert issubclass(SettingError, OSError) and not issubclass(AppError, KeyError)
        assert NotFoundError.code == 404 and NotFoundError.__bases__ == (AppError, KeyError)
        errors = (SettingError, ValueError)
        for kind, n in ((AppError, 0), (KeyError, 1), (errors, 2), (OSError, 2), (Halt, 3)):
            try:
                fail(n)
            except kind as error:
                assert isinstance(error, AppError) and error.n == n and error.text == 't'
                assert error.twice() == 2 * n and issubclass(type(error), AppError)
            else:
                raise AssertionError
        """,
    ),
    script(
        "exceptions of the solution's, made and raised by the tests",
        _ERRORS,
        """
        error = AppError.of(4)
        assert isinstance(error, AppError) and error.n == 4 and error.args == ('of/4',)
        def raises(): raise Halt('x', 7)
        def passes_on(): fail(3)
        assert handles(raises, Halt) == ['Halt', 'x/7']
        assert handles(passes_on, KeyError, AppError) == ['Halt', 't/3']
        try:
            raise NotFoundError('a', n=3)
        except KeyError as error:
            assert error.n == 3
        """,
    ),
    script(
        "the cause of an exception, by a class of the solution's that nobody catches",
        _ERRORS,
        """
        try:
            wrapped()
        except NotFoundError as error:
            assert isinstance(error.__cause__, Halt) and error.__cause__.n == 3
        """,
    ),
    function(
        "the cause of an exception",
        """
        def solve(text):
            try:
                return int(text)
            except ValueError as error:
                raise RuntimeError('no number') from error
        """,
        """
        try:
            candidate('x')
        except RuntimeError as error:
            assert isinstance(error.__cause__, ValueError)
            assert 'invalid literal' in str(error.__cause__)
        else:
            raise AssertionError
        """,
    ),
    script(
        "the cause of an exception of the solution's own, and its context",
        """
        class AppError(Exception): pass
        def load(data, key):
            try:
                return data[key]
            except KeyError as error:
                raise AppError(f'no {key}') from error
        def hidden():
            try:
                1 / 0
            except ZeroDivisionError:
                raise AppError('hidden') from None
        """,
        """
        try:
            load({}, 'a')
        except AppError as error:
            assert isinstance(error.__cause__, KeyError) and error.__cause__.args == ('a',)
        try:
            hidden()
        except AppError as error:
            assert error.__cause__ is None and error.__suppress_context__
            assert isinstance(error.__context__, ZeroDivisionError)
        """,
    ),
    function(
        "exceptions among the results",
        """
        def solve(texts):
            found = []
            for text in texts:
                try:
                    found.append(int(text))
                except ValueError as error:
                    found.append(error)
            return found
        """,
        """
        first, second = candidate(['1', 'x'])
        assert first == 1 and isinstance(second, ValueError) and 'x' in str(second)
        """,
    ),
    function(
        "attributes of exceptions of the library's",
        """
        import json
        def solve(text):
            return json.loads(text)
        """,
        """
        import json
        try:
            candidate('[1,')
        except json.JSONDecodeError as error:
            assert error.pos == 3 and error.lineno == 1
        try:
            candidate('[1,')
        except ValueError as error:
            assert 'Expecting value' in str(error)
        """,
    ),
    function(
        "notes and attributes of an exception",
        """
        def solve():
            error = ValueError('a')
            error.add_note('more')
            error.code = 7
            raise error
        """,
        """
        try:
            candidate()
        except ValueError as error:
            assert error.__notes__ == ['more'] and error.code == 7
        else:
            raise AssertionError
        """,
    ),
    script(
        "a manager that suppresses",
        """
        from contextlib import contextmanager
        class Ignore:
            def __init__(self, *kinds): self.kinds = kinds
            def __enter__(self): return self
            def __exit__(self, kind, error, traceback):
                self.caught = error
                return kind is not None and issubclass(kind, self.kinds)
        @contextmanager
        def quiet():
            try:
                yield
            except ZeroDivisionError:
                pass
        """,
        """
        with Ignore(ValueError) as ignore:
            raise ValueError('told')
        assert str(ignore.caught) == 'told'
        with quiet():
            1 / 0
        try:
            with Ignore(ValueError):
                raise KeyError('a')
        except KeyError:
            pass
        else:
            raise AssertionError
        """,
    ),
    script(
        "a manager that turns one exception into another",
        """
        from contextlib import contextmanager
        class Wrapped(Exception): pass
        @contextmanager
        def wrapping():
            try:
                yield 1
            except ValueError as error:
                raise Wrapped('wrapped') from error
        """,
        """
        try:
            with wrapping():
                raise ValueError('x')
        except Wrapped as error:
            assert str(error) == 'wrapped'
        else:
            raise AssertionError
        """,
    ),
    script(
        "a transaction that rolls back",
        """
        class Store:
            def __init__(self): self.data, self._saved = {}, None
            def __enter__(self):
                self._saved = dict(self.data)
                return self
            def __exit__(self, kind, error, traceback):
                if kind:
                    self.data = self._saved
                return False
        """,
        """
        store = Store()
        with store:
            store.data['a'] = 1
        try:
            with store:
                store.data['b'] = 2
                raise ValueError
        except ValueError:
            pass
        assert store.data == {'a': 1}
        """,
    ),
)

SURROUNDINGS = (
    function(
        "what a call prints",
        "def solve(name):\n    print('Hello,', name)\n    return len(name)\n",
        """
        import io
        from contextlib import redirect_stdout
        caught = io.StringIO()
        with redirect_stdout(caught):
            assert candidate('Ann') == 3
        assert caught.getvalue() == 'Hello, Ann\\n'
        """,
    ),
    function(
        "what a call prints, with the stream exchanged by hand",
        """
        import sys
        def solve(n):
            for line in range(n):
                sys.stdout.write(f'{line}\\n')
            print('done', file=sys.stderr)
        """,
        """
        import io, sys
        before, sys.stdout = sys.stdout, io.StringIO()
        errors, sys.stderr = sys.stderr, io.StringIO()
        try:
            candidate(2)
            print('and this')
            text, problems = sys.stdout.getvalue(), sys.stderr.getvalue()
        finally:
            sys.stdout, sys.stderr = before, errors
        assert text == '0\\n1\\nand this\\n' and problems == 'done\\n'
        """,
    ),
    function(
        "what a call prints, with the stream patched",
        "def solve(n):\n    print(n * '*')\n",
        """
        from io import StringIO
        from unittest.mock import patch
        with patch('sys.stdout', new_callable=StringIO) as caught:
            candidate(3)
        assert caught.getvalue().strip() == '***'
        """,
    ),
    function(
        "input that is answered",
        "def solve():\n    return int(input('first? ')) + int(input())\n",
        """
        from unittest.mock import patch
        with patch('builtins.input', side_effect=['1', '2']) as asked:
            assert candidate() == 3
        assert asked.call_count == 2
        with patch('builtins.input', return_value='5'):
            assert candidate() == 10
        """,
    ),
    function(
        "input that comes from a stream of the test's",
        "def solve():\n    return [int(input()) for _ in range(2)]\n",
        """
        import io, sys
        before, sys.stdin = sys.stdin, io.StringIO('1\\n2\\n')
        try:
            assert candidate() == [1, 2]
        finally:
            sys.stdin = before
        """,
    ),
    function(
        "input by hand and output read",
        "def solve():\n    print('Hello ' + input('name? '))\n",
        """
        import builtins, contextlib, io
        before, builtins.input = builtins.input, lambda prompt='': 'Bob'
        try:
            with contextlib.redirect_stdout(io.StringIO()) as caught:
                candidate()
        finally:
            builtins.input = before
        assert caught.getvalue() == 'Hello Bob\\n'
        """,
    ),
    function(
        "a seed that the test sets",
        "import random\ndef solve(n): return [random.randint(1, 100) for _ in range(n)]\n",
        """
        import random
        random.seed(42)
        first = candidate(3)
        random.seed(42)
        assert first == candidate(3) == [82, 15, 4]
        """,
    ),
    function(
        "a seed that makes the expected value too",
        "import random\ndef solve(items): return random.choice(items)\n",
        """
        import random
        items = list(range(1000))
        random.seed(7)
        wanted = random.choice(items)
        random.seed(7)
        assert candidate(items) == wanted
        """,
    ),
)

OBJECTS = (
    script(
        "a ring of nodes",
        """
        class Node:
            def __init__(self, value): self.value, self.next = value, None
        def ring(values):
            nodes = [Node(value) for value in values]
            for node, other in zip(nodes, nodes[1:] + nodes[:1]):
                node.next = other
            return nodes[0]
        """,
        """
        head = ring([1, 2, 3])
        assert head.next.next.next is head and head.next.value == 2
        assert head.next is not head
        """,
    ),
    function(
        "a list that holds itself",
        """
        def solve(n):
            made = [n]
            made.append(made)
            return made
        """,
        """
        made = candidate(1)
        assert made[0] == 1 and made[1] is made and len(made) == 2
        """,
    ),
    script(
        "an observer that collects into a list of the test's",
        """
        class Subject:
            def __init__(self): self.observers = []
            def attach(self, observer): self.observers.append(observer)
            def notify(self, event):
                for observer in self.observers: observer(event)
        """,
        """
        seen = []
        subject = Subject()
        subject.attach(seen.append)
        subject.observers.append(lambda event: seen.append(event * 2))
        subject.notify('a')
        assert seen == ['a', 'aa']
        """,
    ),
    script(
        "a decorator of the solution's on functions of the test's",
        """
        import functools
        def counted(function):
            @functools.wraps(function)
            def inner(*args, **kwargs):
                inner.calls += 1
                return function(*args, **kwargs)
            inner.calls = 0
            return inner
        def repeat(times):
            def decorate(function):
                return lambda *args: [function(*args) for _ in range(times)]
            return decorate
        """,
        """
        @counted
        def add(a, b=1):
            return a + b
        @repeat(2)
        def hello(name):
            return f'hello {name}'
        assert add(1) == 2 and add(1, b=5) == 6 and add.calls == 2
        @counted
        def told():
            '''text'''
        assert (told.__name__, told.__doc__, add.__doc__) == ('told', 'text', None)
        assert hello('x') == ['hello x', 'hello x'] and add.__name__ == 'add'
        """,
    ),
    script(
        "a singleton and instances that are counted",
        """
        class Single:
            _one = None
            made = 0
            def __new__(cls):
                if cls._one is None:
                    cls._one = super().__new__(cls)
                    cls.made += 1
                return cls._one
        """,
        "assert Single() is Single() and Single.made == 1",
    ),
    script(
        "a context of attributes set by the test",
        """
        class Config:
            debug = False
            def __init__(self): self.options = {}
            def describe(self): return ('debug' if self.debug else 'plain') + str(len(self.options))
        """,
        """
        config = Config()
        config.debug = True
        config.options = {'a': 1}
        config.options['b'] = 2
        assert config.describe() == 'debug2'
        del config.debug
        assert config.debug is False
        """,
    ),
    script(
        "objects as keys, in sets and sorted",
        """
        import functools
        @functools.total_ordering
        class Card:
            def __init__(self, rank): self.rank = rank
            def __eq__(self, other): return self.rank == other.rank
            def __lt__(self, other): return self.rank < other.rank
            def __hash__(self): return hash(self.rank)
            def __repr__(self): return f'Card({self.rank})'
        """,
        """
        cards = [Card(3), Card(1), Card(2)]
        assert [card.rank for card in sorted(cards)] == [1, 2, 3]
        assert {Card(1): 'a'}[Card(1)] == 'a' and len({Card(1), Card(1)}) == 1
        assert max(cards) == Card(3) and str(min(cards)) == 'Card(1)' and Card(1) in cards
        """,
    ),
    script(
        "objects compared with what is no object of theirs",
        """
        class Point:
            def __init__(self, x): self.x = x
            def __eq__(self, other):
                return isinstance(other, Point) and self.x == other.x
        """,
        """
        assert Point(1) != 'a' and not Point(1) == 5 and Point(1) != None
        assert Point(1) == Point(1)
        """,
    ),
    script(
        "a matrix with operators and indices",
        """
        class Matrix:
            def __init__(self, rows): self.rows = rows
            def __matmul__(self, other):
                return Matrix([[sum(a * b for a, b in zip(row, column))
                                for column in zip(*other.rows)] for row in self.rows])
            def __getitem__(self, at): return self.rows[at[0]][at[1]]
            def __setitem__(self, at, value): self.rows[at[0]][at[1]] = value
            def __eq__(self, other): return self.rows == other.rows
            def __iter__(self): return iter(self.rows)
        """,
        """
        product = Matrix([[1, 2], [3, 4]]) @ Matrix([[0, 1], [1, 0]])
        assert product == Matrix([[2, 1], [4, 3]])
        product[0, 0] = 9
        assert product[0, 0] == 9 and [row for row in product][0] == [9, 1]
        """,
    ),
)

_FLAGS = """
    from enum import Flag
    class Perm(Flag):
        R = 1
        W = 2
        X = 4
"""

MAPPINGS = (
    script(
        "flags of the prompt's, combined and none",
        "def grant(held, more): return held | more if more else Perm(0)\n",
        """
        assert grant(Perm.R, Perm.W) == Perm.R | Perm.W
        assert Perm.W in grant(Perm.R | Perm.W, Perm.X) and not grant(Perm.R, Perm(0))
        """,
        prompt=f"{_FLAGS}    def grant(held, more): ...\n",
    ),
    script(
        "an ordered dictionary with methods, and with an own way to set an item",
        """
        from collections import OrderedDict
        class Recent(OrderedDict):
            limit = 2
            def touch(self, key): self.move_to_end(key)
            def __setitem__(self, key, value):
                super().__setitem__(key, value)
                while len(self) > self.limit:
                    self.popitem(last=False)
        def recent(n):
            made = Recent()
            for i in range(n):
                made[i] = i
            return made
        """,
        """
        made = recent(3)
        assert list(made) == [1, 2] and made[2] == 2
        made[7] = 1
        assert list(made) == [2, 7]
        made.touch(2)
        assert list(made.items()) == [(7, 1), (2, 2)]
        """,
    ),
    script(
        "dictionaries that answer for a missing key",
        """
        from collections import Counter, OrderedDict, UserDict, defaultdict
        def of(base):
            class Made(base):
                def __missing__(self, key):
                    return key * 2
            return Made
        def keeping(*_):
            class Squares(dict):
                def __missing__(self, n):
                    self[n] = n * n
                    return self[n]
            return Squares({1: 1})
        def made(name):
            kinds = {'o': OrderedDict, 'u': UserDict, 'd': dict, 'c': Counter}
            return of(kinds[name])({'a': 1})
        def by_key(): return of(defaultdict)(None, {'a': 1})
        """,
        """
        for one in [made('d'), made('o'), made('u'), made('c'), by_key()]:
            assert one['a'] == 1 and one['b'] == 'bb' and 'b' not in one
            assert len(one) == 1
        squares = keeping()
        assert squares[3] == 9 and squares == {1: 1, 3: 9} and len(squares) == 2
        """,
    ),
)

STREAMS = (
    script(
        "streams that the solution writes and reads",
        """
        import csv, json
        def write(out, rows):
            csv.writer(out).writerows(rows)
            out.writelines(['x', 'y'])
        def raw(out): out.write(b'ab'); out.seek(1); out.truncate()
        def count(lines): return sum(1 for _ in lines)
        def parsed(source): return json.load(source), source.closed
        """,
        """
        import io
        out, raw_out = io.StringIO(), io.BytesIO()
        write(out, [[1, 2]])
        assert out.getvalue() == '1,2\\r\\nxy'
        raw(raw_out)
        assert raw_out.getvalue() == b'a'
        assert count(io.StringIO('a\\nb\\n')) == 2
        assert parsed(io.StringIO('[1]')) == ([1], False)
        """,
    ),
    script(
        "an iterator of the tests' with methods",
        "def f(it):\n    return next(it), it.left(), list(it), it.n\n",
        """
        class Countdown:
            def __init__(self): self.n = 3
            def __iter__(self): return self
            def __next__(self):
                if not self.n:
                    raise StopIteration
                self.n -= 1
                return self.n
            def left(self): return self.n
        assert f(Countdown()) == (2, 2, [1, 0], 0)
        """,
    ),
)

BUS = """
    class Bus:
        def __init__(self): self.handlers = []
        def on(self, f):
            if f not in self.handlers: self.handlers.append(f)
        def off(self, f): self.handlers.remove(f)
        def emit(self, *xs):
            for f in list(self.handlers): f(*xs)
    def printing(call):
        print('a')
        call()
        print('c', input('?'))
    def flat(nested):
        if not isinstance(nested, (list, tuple)): return [nested]
        return [x for one in nested for x in flat(one)]
    def deep(n, kind):
        made = [7]
        for _ in range(n): made = {'list': [made], 'tuple': (made,), 'dict': {1: made}}[kind]
        return made
"""
HANDED_OVER = (
    script(
        "bound methods, which are equal each time",
        BUS,
        """
        class Heard:
            def __init__(self): self.got = []
            def here(self, x): self.got.append(x)
            @classmethod
            def there(cls, x): cls.last = x
        bus, one, got = Bus(), Heard(), []
        for handler in (lambda: one.here, lambda: got.append, lambda: Heard.there):
            bus.on(handler())
            bus.on(handler())
        assert len(bus.handlers) == 3
        bus.emit(1)
        bus.off(one.here)
        bus.off(got.append)
        bus.emit(2)
        assert one.got == got == [1] and Heard.last == 2
        bus.on({}.clear)
        bus.on({}.clear)
        assert len(bus.handlers) == 3
        """,
    ),
    script(
        "what is printed before and behind a callback",
        BUS,
        """
        import builtins, contextlib, io
        before, builtins.input = builtins.input, lambda prompt='': print('asked') or 'x'
        try:
            with contextlib.redirect_stdout(io.StringIO()) as caught:
                printing(lambda: printing(lambda: print('b')))
        finally:
            builtins.input = before
        lines = ['a', 'a', 'b', 'asked', 'c x', 'asked', 'c x']
        assert caught.getvalue().splitlines() == lines
        """,
    ),
    script(
        "values that are nested deeply",
        BUS,
        """
        nested, same = 7, ()
        for _ in range(380):
            nested, same = [nested], (same,)
        assert flat(nested) == [7] and flat(same) == []
        for kind in ('list', 'tuple', 'dict'):
            found, levels = deep(380, kind), 0
            while found != [7]:
                found, levels = (found[1] if kind == 'dict' else found[0]), levels + 1
            assert levels == 380
        """,
    ),
)

FORMS = (
    *HANDED_OVER,
    *(*ASKED, *EXCEPTIONS, *SURROUNDINGS, *OBJECTS, *MAPPINGS, *STREAMS),
    *(*CONTAINERS, *CONSTANTS, *RECORDS, *VIEWS, *ARGUMENTS),
)
