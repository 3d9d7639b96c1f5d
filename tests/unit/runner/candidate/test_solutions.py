"""Honest solutions that nothing between them and their tests fails; more: `tests.honest`."""

from __future__ import annotations

import textwrap

import pytest

from reward_server.domain import Crossing, FunctionTests
from reward_server.grading.crossing.python.texts import read_functions
from tests.unit.runner.harness import Zygote

SOLUTIONS: dict[str, tuple[str, str]] = {
    "a recursion error that is caught": (
        """
        def down(n): return down(n + 1)
        def f():
            try: down(0)
            except RecursionError: return 'deep'
        """,
        "assert f() == 'deep'\nassert f() == 'deep'",
    ),
    "a fork whose child returns too": (
        "import os\ndef f(n):\n    os.fork()\n    return n",
        "assert f(1) == 1 and f(2) == 2",
    ),
    "a closure": (
        "def f(n): return lambda m: n + m",
        "assert f(1)(2) == 3\nadd = f(5)\nassert [add(n) for n in range(2)] == [5, 6]",
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
