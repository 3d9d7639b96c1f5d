"""Objects that a function returns, and that tests ask more than once."""

from __future__ import annotations

from tests.honest.solution import function

OBJECTS = (
    function(
        "a generator that is at its end when it is asked again",
        "def solve(n):\n    yield from range(n)\n",
        """
        found = candidate(3)
        assert next(found) == 0
        assert list(found) == [1, 2]
        assert list(found) == []
        """,
    ),
    function(
        "an iterator that begins again",
        """
        class Count:
            def __init__(self, n): self.n = n
            def __iter__(self):
                self.i = 0
                return self
            def __next__(self):
                self.i += 1
                if self.i > self.n:
                    raise StopIteration
                return self.i
        def solve(n): return Count(n)
        """,
        """
        found = candidate(3)
        assert next(iter(found)) == 1
        assert list(found) == [1, 2, 3]
        assert 2 in found and sum(found) == 6
        """,
    ),
    function(
        "a list of its own kind, without an end and with one",
        """
        import itertools
        class Lazy:
            def __init__(self, source): self.source, self.kept = source, []
            def __getitem__(self, index):
                while len(self.kept) <= index:
                    self.kept.append(next(self.source))
                return self.kept[index]
            def __iter__(self): return (self[i] for i in itertools.count())
        def solve(start): return Lazy(itertools.count(start))
        """,
        """
        import itertools
        found = candidate(5)
        assert found[3] == 8
        assert list(itertools.islice(found, 2)) == [5, 6]
        assert list(itertools.islice(found, 5)) == [5, 6, 7, 8, 9]
        assert found[0] == 5
        """,
    ),
    function(
        "elements that are made anew in each iteration",
        """
        class Point:
            def __init__(self, x): self.x = x
        class Points:
            def __init__(self, n): self.n = n
            def __iter__(self): return ((Point(i), {i, 'ab'}) for i in range(self.n))
            def __len__(self): return self.n
        def solve(n): return Points(n)
        """,
        """
        found = candidate(3)
        assert [point.x for point, _ in found] == [0, 1, 2]
        assert [(point.x, one) for point, one in found][2] == (2, {2, 'ab'})
        assert len(list(found)) == len(found) == 3
        """,
    ),
    function(
        "a length that changes between, by methods and items",
        """
        class Chain:
            def __init__(self): self.xs = []
            def add(self, x):
                self.xs.append(x)
                return self
            def __setitem__(self, i, x): self.xs[i] = x
            def __len__(self): return len(self.xs)
            def __iter__(self): return iter(self.xs)
        def solve(): return Chain()
        """,
        """
        found = candidate().add(1)
        assert len(found) == 1 and list(found) == [1]
        found = found.add(2)
        assert len(found) == 2 and list(found) == [1, 2]
        found[0] = 5
        assert list(found) == [5, 2]
        """,
    ),
    function(
        "a table whose length, elements and columns are different things",
        """
        class Table:
            def __init__(self, columns): self.columns = columns
            def __len__(self): return len(next(iter(self.columns.values())))
            def __iter__(self): return iter(self.columns)
            def __getitem__(self, key): return self.columns[key]
        def solve(columns): return Table(columns)
        """,
        """
        found = candidate({'a': [1, 2, 3], 'b': [4, 5, 6]})
        assert len(found) == 3
        assert list(found) == ['a', 'b'] and 'c' not in found
        assert found['b'] == [4, 5, 6]
        """,
    ),
    function(
        "a mapping of its own kind, and functions and classes without a name",
        """
        class Counts:
            def __init__(self): self.counts = {}
            def add(self, key): self.counts[key] = self.counts.get(key, 0) + 1
            def __len__(self): return sum(self.counts.values())
            def keys(self): return iter(self.counts)
            def items(self): return ((key, [n]) for key, n in self.counts.items())
        def solve():
            state = []
            def next_state():
                state.append(1)
                return list(state)
            return Counts, next_state
        """,
        """
        kind, next_state = candidate()
        counts = kind()
        assert len(counts) == 0
        counts.add('a')
        assert dict(counts.items()) == {'a': [1]} and list(counts.keys()) == ['a']
        counts.add('a')
        assert dict(counts.items()) == {'a': [2]} == dict(counts.items()) and len(counts) == 2
        assert next_state() == [1]
        assert next_state() == [1, 1]
        """,
    ),
    function(
        "a cache that fills itself, and nodes as keys",
        """
        class Node: pass
        class Squares:
            def __init__(self): self.cache, self.reads, self.a, self.b = {}, 0, Node(), Node()
            def __getitem__(self, n):
                self.reads += 1
                if isinstance(n, Node):
                    return 'ab'[n is self.b]
                return self.cache.setdefault(n, n * n)
            def __bool__(self): return bool(self.cache)
        def solve(): return Squares()
        """,
        """
        found = candidate()
        assert found.cache == {} and found.reads == 0 and not found
        assert found[3] == 9
        assert found.cache == {3: 9} and found.reads == 1 and found
        assert found[found.a] == 'a' and found[found.b] == 'b'
        """,
    ),
    function(
        "a clock of the tests'",
        """
        class Cache:
            def __init__(self, now): self.now = now
            def __len__(self): return int(self.now() < 5)
        def solve(now): return Cache(now)
        """,
        """
        now = [1]
        found = candidate(lambda: now[0])
        assert len(found) == 1
        now[0] = 9
        assert len(found) == 0
        """,
    ),
)
