"""Changes of what tests handed over: who calls, what else they are in, and what tests go on with.

A completion of `WRONG` earns nothing, or its label is weaker than ISOLATED. One of `HONEST` passes.
"""

from __future__ import annotations

import pytest

from reward_server.app import App
from reward_server.domain import (
    Assessment,
    Integrity,
    Tests,
    Verdict,
)
from tests.attacks.attack import code
from tests.attacks.python_tests import check, submission_of, suite
from tests.support.common import on_the_servers_loop
from tests.support.sampling import sampled

pytestmark = on_the_servers_loop
SORTS = """
    import collections, types
    State = collections.namedtuple("State", "items name")
    class Pair(tuple): pass
    def f(x, *more):
        x.sort()
        return x if not more else more[0](x)
    def g(a, b):
        a += b
        return a
    def smallest(state):
        state[0].sort()
        return state[0][0]
    def state(x):
        x.sort()
        return State(x, "a")
    def pairs(x):
        x.sort()
        return [Pair((x, 1))]
    def shown(x, kind):
        x.sort()
        rows = {"a": x}
        return {"proxy": types.MappingProxyType(rows), "values": rows.values(),
                "items": rows.items(), "inside": [rows.values()]}[kind]
"""
Table = dict[str, tuple[str, Tests]]


def body(text: str, solution: str = SORTS) -> tuple[str, Tests]:
    lines = code(text).splitlines()
    return solution, check("def check(candidate):\n" + "".join(f"    {line}\n" for line in lines))


BORROWED: Table = {
    "reduce": body("""
        import functools
        rows = [[1], [2]]
        assert functools.reduce(g, rows) == [1, 2]
        assert rows == [[1], [2]]
    """),
    "starmap": body("""
        import itertools
        rows = [([3, 1],)]
        assert list(itertools.starmap(candidate, rows)) == [[1, 3]]
        assert rows == [([3, 1],)]
    """),
    "accumulate": body("""
        import itertools
        rows = [[1], [2]]
        assert list(itertools.accumulate(rows, g))[-1] == [1, 2]
        assert rows == [[1], [2]]
    """),
    "a method bound by hand": body("""
        import types
        row = [3, 1]
        assert types.MethodType(candidate, row)() == [1, 3]
        assert row == [3, 1]
    """),
    "a name that means something else": body("""
        import itertools
        rows, f = [([3, 1],)], itertools.starmap
        assert list(f(candidate, rows)) == [[1, 3]]
        assert rows == [([3, 1],)]
    """),
    "a field that holds C code": body("""
        import functools, types
        tools, rows = types.SimpleNamespace(fold=functools.reduce), [[1], [2]]
        assert tools.fold(g, rows) == [1, 2]
        assert rows == [[1], [2]]
    """),
    "C code that is chosen": body("""
        import functools
        rows = [[1], [2]]
        assert (functools.reduce if rows else map)(g, rows) == [1, 2]
        assert rows == [[1], [2]]
    """),
}
NAMED = {
    "a named tuple": body("""
        from collections import namedtuple
        state = namedtuple("State", "items name")([3, 1], "a")
        assert smallest(state) == 1
    """),
    "a tuple of a class of its own": body("""
        class Pair(tuple): pass
        assert smallest(Pair(([3, 1], "a"))) == 1
    """),
    "a tuple in a named tuple": body("""
        from typing import NamedTuple
        class State(NamedTuple):
            items: list
            of: tuple
        rows = [3, 1]
        assert smallest(State(rows, (rows, 3))) == 1
    """),
    "an answer that is a named tuple": body("""
        x = [3, 1]
        assert state(x).items == [1, 3]
    """),
    "an answer that holds tuples of its own": body("""
        x = [3, 1]
        assert pairs(x)[0][0] == [1, 3]
    """),
    **{
        f"an answer that is {kind} of a dictionary": body(f"""
            x = [3, 1]
            r = shown(x, "{kind}")
            assert {look} == {want}
        """)
        for kind, look, want in (
            ("proxy", "r", '{"a": [1, 3]}'),
            ("values", "list(r)", "[[1, 3]]"),
            ("items", "list(r)", '[("a", [1, 3])]'),
            ("inside", "list(r[0])", "[[1, 3]]"),
        )
    },
}
STATES = """
    def push(s, x): s.append(x); return len(s)
    def pop(s): return s.pop()
    def f(x): x.sort(); return 3
    def remove(nums, v):
        nums[:] = [n for n in nums if n != v]
        return len(nums)
    def move(board, row, who):
        if board[row] != ".": return False
        board[row] = who
        return True
    def fib(n, memo):
        if n < 2: return n
        if n not in memo: memo[n] = fib(n - 1, memo) + fib(n - 2, memo)
        return memo[n]
    def empty(xs):
        xs.clear()
        return []
    def none(xs):
        xs.clear()
        return 0
    def insert(xs, v):
        xs[:] = sorted([*xs, v])
        return xs.index(v)
    def fill(b, n):
        b.n = n
        b.items.extend(range(n))
        return b
    def merge(a, b):
        a.update(b)
        return a
"""


ARRAYS = """
    import numpy
    def zero(a):
        a[:] = 0
        return 0
    def step(a):
        a += 1
        return 3
"""


def file(text: str) -> tuple[str, Tests]:
    names = "push, pop, f, remove, move, fib, empty, none, insert, merge, fill"
    return STATES, suite(f"import pytest\nfrom solution import {names}\n{code(text)}")


def state(text: str) -> tuple[str, Tests]:
    return body(text, STATES)


HONEST_STATES: Table = {
    "handed over again": state("x = []\nassert push(x, 4) == 1\nassert push(x, 5) == 2"),
    "two calls in one list": state("x = [1, 2]\nassert [pop(x), pop(x)] == [2, 1]"),
    "until it is empty": state(
        "x, out = [1, 2], []\nwhile x:\n    out.append(pop(x))\nassert out == [2, 1]"
    ),
    "two looks in one assertion": state("x = [3, 1]\nn = f(x)\nassert n == 3 and x == [1, 3]"),
    "elements of an array": body(
        """
            import numpy as np
            a = np.array([3, 1])
            assert step(a) == 3 and step(a[1:]) == 3
            assert a.tolist() == [4, 3]
        """,
        ARRAYS,
    ),
    "in a callback": state("x = [3, 1]\nfs = [lambda: x]\nf(fs[0]())\nassert x == [1, 3]"),
    "in a partial": state("""
        import functools
        x = [3, 1]
        p = functools.partial(f, x)
        assert p() == 3
        assert x == [1, 3]
    """),
    "in a map": state("""
        rows = [[3, 1]]
        assert list(map(f, rows)) == [3]
        assert rows == [[1, 3]]
    """),
    "in a file, what is left": file("""
        def test_it():
            nums = [3, 2, 2, 3]
            k = remove(nums, 3)
            assert k == 2
            assert nums[:k] == [2, 2]
    """),
    "in a file, a fixture": file("""
        @pytest.fixture
        def board():
            return {0: ".", 1: "X"}
        def test_it(board):
            assert move(board, 0, "O")
            assert board == {0: "O", 1: "X"}
    """),
    "in a file, an object of the test's that is the answer": file("""
        def test_it():
            class Box:
                def __init__(self): self.n, self.items = 0, []
            b = Box()
            assert fill(b, 3) is b
            assert b.n == 3
            assert b.items == [0, 1, 2]
    """),
    "in a file, a memo": file("""
        def test_it():
            memo = {}
            assert fib(9, memo) == 34
            assert memo[9] == 34 and len(memo) == 8
    """),
    "in a file, a field": file("""
        class TestIt:
            def setup_method(self):
                self.stack = []
            def test_it(self):
                assert push(self.stack, 1) == 1
                assert pop(self.stack) == 1
                assert self.stack == []
    """),
}
IN_LOOPS = """
    x = []
    for i in range(3):
        assert push(x, i) == i + 1
    for i in (2, 1):
        assert pop(x) == i
    assert x == [0]
"""
COMPARED = """
    a = {1: 2}
    r = merge(a, {3: 4})
    assert r is a and a == {1: 2, 3: 4}
    assert r == a and len(r) == len(a)
"""
EACH = """
    x = [3, 5]
    i = insert(x, 4)
    assert i == 1 and x[i] == 4
    assert all(one < 4 for one in x[:i]) and x == sorted(x)
    for one in x[i + 1:]:
        assert one > 4
"""
ORDERED = """
    x = [1, 5]
    i = insert(x, 4)
    assert all(x[j] < x[j + 1] for j in range(i))
"""
HONEST_STATES |= {
    "constants in loops": state(IN_LOOPS),
    "an argument that is compared": state(COMPARED),
    "each element of an argument": state(EACH),
    "an order up to an answer": state(ORDERED),
    "in a file, constants in loops": file(f"def test_it():{IN_LOOPS}"),
    "in a file, each element": file(f"def test_it():{EACH}"),
}
EMPTIED: Table = {
    "sorted": state("xs = [3, 1]\nassert empty(xs) == sorted(xs)"),
    "by a name": state("xs = [3, 1]\nr = empty(xs)\nwant = sorted(xs)\nassert r == want"),
    "by a sum": state("xs = [3, 1]\nassert none(xs) == sum(xs)"),
    "by a helper": state("""
        def wanted(xs): return sorted(xs)
        xs = [3, 1]
        r = empty(xs)
        assert r == wanted(xs)
    """),
    "by a loop": state("xs = [3, 1]\nr = empty(xs)\nfor x in xs:\n    assert x in r"),
    "by a difference": state("xs = [3, 1]\nr = empty(xs)\nassert set(r) ^ set(xs) == set()"),
    "by a step of a loop": state("for xs in [[1], [2, 1]]:\n    assert empty(xs) == sorted(xs)"),
    "compared before": state("xs = [3]\nassert xs == [3]\nr = empty(xs)\nassert r == sorted(xs)"),
    "by a function of the tests": state("""
        def run(xs): return empty(xs)
        xs = [3, 1]
        assert run(xs) == sorted(xs)
    """),
    "by a part of an array": body(
        """
            import numpy as np
            a = np.array([[3, 1]])
            for row in a:
                r = zero(row)
            assert r == a.sum()
        """,
        ARRAYS,
    ),
    "by what gets answers": state("""
        class Seen: pass
        def same(found, want): assert found == want
        xs, seen, out = [3, 1], Seen(), []
        empty(xs)
        setattr(seen, "last", none(xs))
        out.append(none(xs))
        assert seen.last == len(xs)
        assert out[0] == sum(xs)
        same(none([1]), len(xs))
    """),
    "in a file": file("""
        def test_it():
            xs = [3, 1]
            assert empty(xs) == sorted(xs)
    """),
    "in a file, a fixture": file("""
        @pytest.fixture
        def xs():
            return [3, 1]
        def test_it(xs):
            assert empty(xs) == sorted(xs)
    """),
    "in a file, a row": file("""
        ROWS = [[3, 1], [2]]
        @pytest.mark.parametrize("xs", ROWS)
        def test_it(xs):
            assert none(xs) == len(xs)
    """),
}
UNSEEN: Table = {
    "by a guard": state("""
        xs = [3, 1]
        match empty(xs):
            case found if found == sorted(xs):
                pass
            case _:
                assert False
    """),
    "by two maps": state("""
        rows = [[3, 1], [2]]
        assert list(map(empty, rows)) == list(map(sorted, rows))
    """),
    "by a cached property": state("""
        import functools
        class Case:
            xs = [3, 1]
            @functools.cached_property
            def found(self):
                return empty(self.xs)
        case = Case()
        assert case.found == sorted(case.xs)
    """),
    "by an inner function": state("""
        def both(function):
            def run(xs):
                return function(xs), sorted(xs)
            return run
        found, wanted = both(empty)([3, 1])
        assert found == wanted
    """),
    "by methods of one object": state("""
        class Runner:
            def found(self, xs): return empty(xs)
            def wanted(self, xs): return sorted(xs)
        runner, xs = Runner(), [3, 1]
        assert runner.found(xs) == runner.wanted(xs)
    """),
    "by functions in a table": state("""
        xs, found = [3, 1], []
        for function in {"found": empty, "wanted": sorted}.values():
            found.append(function(xs))
        assert found[0] == found[1]
    """),
    "by a generator": state("""
        def both(rows):
            for xs in rows:
                yield empty(xs), sorted(xs)
        for found, wanted in both([[3, 1], [2]]):
            assert found == wanted
    """),
    "by a count": state("xs = [3, 1]\nouts = [empty(xs)]\nassert outs.count(sorted(xs)) == 1"),
    "by a search": state(
        "xs = [3, 1]\nouts = [empty(xs)]\nouts.remove(sorted(xs))\nassert not outs"
    ),
    "by a method of the answer": state("xs = [3, 1]\nassert set(empty(xs)).issuperset(xs)"),
    "by a method of an answer's class": state("xs = [3, 1]\nassert empty(xs).__eq__(sorted(xs))"),
}
LEFT: Table = {
    "must be left": state("xs = [3, 1]\nassert f(xs) == 3\nassert xs == [3, 1]"),
    "must be left, in a file": file("""
        def test_it():
            xs = [3, 1]
            assert f(xs) == 3
            assert xs == [3, 1]
    """),
}
WRONG: Table = BORROWED | LEFT
UNPAID: Table = EMPTIED | UNSEEN
HONEST: Table = NAMED | HONEST_STATES


async def judged(app: App, row: tuple[str, Tests]) -> Assessment:
    return await app.evaluation.score(submission_of(*row))


@pytest.mark.parametrize("name", sampled(list(WRONG), 4))
async def test_a_solution_that_changes_what_it_must_leave_earns_nothing(
    app: App, name: str
) -> None:
    assessment = await judged(app, WRONG[name])
    assert assessment.verdict is not Verdict.INVALID_TASK, assessment
    assert assessment.reward == 0 or assessment.integrity is not Integrity.ISOLATED, assessment


@pytest.mark.parametrize("name", sampled(list(UNPAID), 4))
async def test_an_argument_that_is_emptied_earns_no_reward_by_any_label(
    app: App, name: str
) -> None:
    assessment = await judged(app, UNPAID[name])
    assert assessment.verdict is not Verdict.INVALID_TASK, assessment
    assert assessment.reward == 0, assessment


@pytest.mark.parametrize("name", sampled(list(HONEST), 4))
async def test_a_solution_that_changes_what_it_is_given_passes(app: App, name: str) -> None:
    assessment = await judged(app, HONEST[name])
    assert assessment.reward == 1, assessment
