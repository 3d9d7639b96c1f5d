"""Containers keep their identity between the tests and the solution."""

from __future__ import annotations

import itertools
import sys
import textwrap
from collections import OrderedDict, UserList, deque
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import cast

import pytest

from reward_server.runner.channel.codec import (
    DataOnly,
    NotDataError,
    ProtocolViolation,
    TooLargeError,
)
from reward_server.runner.channel.decoding import Decoder
from reward_server.runner.channel.encoding import Encoder
from reward_server.runner.judge.exports import literals
from reward_server.runner.sharing import same_containers
from reward_server.runner.sharing.containers import Containers
from reward_server.runner.values import changes
from tests.unit.runner.harness import Zygote

EMPTIES = "def f(xs):\n    s = 0\n    while xs: s += xs.pop()\n    return s\n"
GRID = "def f(n): return [[0] * n] * n\n"

RAISES = """
KEPT = [1]
class Own(Exception):
    def __init__(self, xs):
        super().__init__(xs)
        self.xs = xs
def f(kind):
    error = {"plain": ValueError, "own": Own, "result": Own}.get(kind, KeyError)(KEPT)
    if kind == "result": return [error]
    if kind == "inside": error = KeyError({"a": (KEPT, 2)}, "text")
    if kind == "field": error = KeyError("text"); error.items, error.other = KEPT, object()
    try: raise error
    except KeyError:
        if kind != "cause": raise
        raise ValueError from error
def add(*xs):
    KEPT.extend(xs)
    if xs: raise ValueError(KEPT)
    return len(KEPT)
"""
# Where a solution's exception holds a list, and how tests come to it.
IN_EXCEPTIONS = {
    "plain": "e.args[0]",
    "own": "e.xs",
    "inside": "e.args[0]['a'][0]",
    "field": "e.items",
    "cause": "e.__cause__.args[0]",
    "result": "e.args[0]",
}
RAISED = (
    "try: e = f('{kind}')[0]\nexcept Exception as error: e = error\nxs = {path}; xs.append(3)\n"
)
HONEST = {
    **{
        f"a list in an exception: {kind}": (
            RAISES,
            f"{RAISED.format(kind=kind, path=path)}assert add() == 2\n"
            f"try: add(4)\nexcept ValueError as error: assert error.args[0] is xs\n"
            f"assert {path} == [1, 3, 4]",
        )
        for kind, path in IN_EXCEPTIONS.items()
    },
    "values of modules that the solution has not loaded": (
        "def f(*xs): return [xs[0].hex, xs[1].name, str(xs[2] + 1), xs[3].num_addresses]\n",
        "import ipaddress, pathlib, uuid; u = uuid.UUID(int=7); p = pathlib.PurePosixPath('/a/b')\n"
        "of = ipaddress.ip_address('1.2.3.4'), ipaddress.ip_network('1.2.3.0/24')\n"
        "assert f(u, p, *of) == [u.hex, 'b', '1.2.3.5', 256]",
    ),
    "rows sorted in place": (
        "def f(rows): rows.sort()\n",
        "rows = [[3, 1], [1, 2]]; want = sorted(rows); f(rows); assert rows == want",
    ),
    "rows exchanged, one held": (
        "def f(rows): rows[0], rows[1] = rows[1], rows[0]\n",
        "rows = [[1], [2]]; first = rows[0]; f(rows); assert rows[1] is first; assert first == [1]",
    ),
    "values of a dictionary exchanged": (
        "def f(d): d['a'], d['b'] = d['b'], d['a']\n",
        "d = {'a': [1], 'b': [2]}; want = {'a': d['b'], 'b': d['a']}; f(d); assert d == want",
    ),
    "a value under another key": (
        "def f(d): d['b'] = d.pop('a')\n",
        "v = [1]; d = {'a': v}; f(d); v.append(2); assert d == {'b': [1, 2]}",
    ),
    "dictionaries merged": (
        "def f(a, b): a['x'].update(b['x']); a['w'] = b['w']\n",
        "a, b = {'x': {'y': 1}}, {'x': {'z': 2}, 'w': [1]}; f(a, b)\n"
        "assert a == {'x': {'y': 1, 'z': 2}, 'w': [1]}",
    ),
    "one list twice": (
        "def f(a, b): a.append(1); return b\n",
        "xs = [0]; assert f(xs, xs) == [0, 1]",
    ),
    "one row twice": (
        "def f(g): g[0].append(1); return g\n",
        "row = [0]; assert f([row, row]) == [[0, 1], [0, 1]]",
    ),
    "sorted and returned": (
        "def f(xs): xs.sort(); return xs\n",
        "xs = [3, 1, 2]; assert f(xs) is xs; assert xs == [1, 2, 3]",
    ),
    "sorted and returned, compared with itself": (
        "def f(xs): xs.sort(); return xs\n",
        "xs = [3, 1, 2]; want = [1, 2, 3]; got = f(xs); assert got == want",
    ),
    "sorted and returned, in a loop": (
        "def f(xs): xs.sort(); return xs\n",
        "for xs in [[3, 1], [2, 1]]:\n    assert f(xs) == sorted(xs)",
    ),
    "rows of their own": (
        "def f(n): return [[0] * n for _ in range(n)]\n",
        "g = f(2); g[0][0] = 1; assert g == [[1, 0], [0, 0]]; assert g[0] is not g[1]",
    ),
    "shared rows that are asked for": (
        GRID,
        "g = f(2); assert g[0] is g[1]; g[0][0] = 1; assert g == [[1, 0], [1, 0]]",
    ),
    "a list that an object keeps and the tests watch": (
        "class f:\n"
        "    def __init__(self, sink): self.sink = sink\n"
        "    def log(self, text): self.sink.append(text)\n",
        "sink = []; logger = f(sink); logger.log('a'); assert sink == ['a']",
    ),
    "a list that an object copies": (
        "class f:\n"
        "    def __init__(self, xs): self.xs = list(xs)\n"
        "    def push(self, x): self.xs.append(x)\n"
        "    def size(self): return len(self.xs)\n",
        "xs = [1]; s = f(xs); s.push(2); xs.append(3); assert s.size() == 2; assert xs == [1, 3]",
    ),
    "a cache of immutable answers": (
        "import functools\n@functools.cache\ndef f(n): return tuple(range(n))\n",
        "a = f(2); assert f(2) is not None; assert a == f(2) == (0, 1)",
    ),
    "a cache that copies": (
        "known = {}\ndef f(n): return list(known.setdefault(n, [n]))\n",
        "a = f(2); a.append(7); assert f(2) == [2]",
    ),
    "one object all the time": (
        "state = {'n': 0}\ndef f():\n    state['n'] += 1\n    return state\n",
        "a = f(); b = f(); assert a is b; assert a == {'n': 2}; a['n'] = 5; assert f() == {'n': 6}",
    ),
    "changed before it raises": (
        "def f(xs):\n    xs.append(1)\n    raise ValueError\n",
        "xs = []\ntry: f(xs)\nexcept ValueError: pass\nassert xs == [1]",
    ),
    "a generator over a list that grows": (
        "def f(xs):\n    for x in xs: yield x\n",
        "xs = [1]; g = f(xs); assert next(g) == 1; xs.append(2); assert next(g) == 2",
    ),
    "a callback that fills a list of the solution's": (
        "def f(fill):\n    xs = []\n    fill(xs)\n    return xs\n",
        "assert f(lambda xs: xs.append(1)) == [1]",
    ),
    "a callback that gets the test's own list": (
        "def f(xs, see):\n    xs.append(1)\n    return see(xs)\n",
        "xs = [0]; assert f(xs, len) == 2",
    ),
    "a callback that returns one list": (
        "def f(make):\n    make().append(1)\n    return make()\n",
        "xs = [0]; assert f(lambda: xs) == [0, 1]",
    ),
    "a list by keyword": (
        "def f(*, xs): xs.append(1)\n",
        "xs = []; f(xs=xs); assert xs == [1]",
    ),
    "a deque, a set and bytes": (
        "def f(d, s, b): d.rotate(1); s.add(3); b.append(0)\n",
        "from collections import deque\n"
        "d, s, b = deque([[1], [2]]), {1}, bytearray(b'a'); one = d[0]; f(d, s, b)\n"
        "assert d[1] is one and s == {1, 3} and b == b'a\\0'",
    ),
}
WRONG = {
    **{
        f"a list in an exception: {kind}": (
            RAISES,
            f"{RAISED.format(kind=kind, path=path)}assert add() == 1",
        )
        for kind, path in IN_EXCEPTIONS.items()
    },
    "an argument in an exception": (
        "def f(xs):\n    xs.clear()\n    raise ValueError(xs)\n",
        "xs = [1]\ntry: f(xs)\nexcept ValueError as e: assert e.args[0] is not xs",
    ),
    "rows sorted that must stay": (
        "def f(rows): rows.sort()\n",
        "rows = [[3, 1], [1, 2]]; before = list(rows); f(rows); assert rows == before",
    ),
    "rows of one list": (GRID, "g = f(2); g[0][0] = 1; assert g[1][0] == 0"),
    "the same rows": (GRID, "g = f(2); assert len({id(row) for row in g}) == 2"),
    "the argument itself": ("def f(xs): return xs\n", "xs = [1]; r = f(xs); assert r is not xs"),
    "a part of the argument": (
        "def f(rows): return rows[:]\n",
        "rows = [[1]]; r = f(rows); r[0].append(2); assert rows == [[1]]",
    ),
    "sorted, returned and kept": (
        "def f(xs): xs.sort(); return xs\n",
        "xs = [3, 1]; r = f(xs); assert r == [1, 3]; r.append(4); assert len(xs) == 2",
    ),
    "emptied, asked twice": (EMPTIES, "xs = [3, 1]; assert f(xs) == 4; assert f(xs) == 4"),
    "emptied, looked at": (EMPTIES, "xs = [3, 1]; assert f(xs) == 4; assert len(xs) == 2"),
    "emptied behind a literal": (
        "def f(rows): return len(rows[0]) and not rows[0].clear()\n",
        "row = [1]; assert f([row]); assert row == [1]",
    ),
    "emptied, and the expectation with it": (
        "def f(xs): xs.clear(); return []\n",
        "xs = [2, 1]; assert f(xs) == sorted(xs)",
    ),
    "emptied through another name": (
        "def f(xs): xs.clear(); return 0\n",
        "xs = [2, 1]; ys = [xs]; r = f(ys[0]); assert r == sum(xs)",
    ),
    "emptied behind a star": (
        EMPTIES,
        "case = ([3, 1],); assert f(*case) == 4; assert f(*case) == 4",
    ),
    "emptied by a partial call": (
        EMPTIES,
        "from functools import partial\np = partial(f, [3, 1]); assert p() == 4; assert p() == 4",
    ),
    "kept and changed later on": (
        "class f:\n"
        "    def __init__(self, xs): self.xs = xs\n"
        "    def push(self, x): self.xs.append(x)\n",
        "xs = [1]; s = f(xs); s.push(2); assert xs == [1]",
    ),
    "kept, and changed by the tests": (
        "class f:\n"
        "    def __init__(self, xs): self.xs = xs\n"
        "    def size(self): return len(self.xs)\n",
        "xs = [1]; s = f(xs); xs.append(2); assert s.size() == 1",
    ),
    "kept in a global, changed by another call": (
        "kept = []\n"
        "def f(xs=None):\n"
        "    if xs is None:\n        kept[0].clear()\n    else:\n        kept.append(xs)\n"
        "    return 0\n",
        "xs = [1]; assert f(xs) == 0; f(); assert xs == [1]",
    ),
    "an answer that is kept": (
        "known = {}\ndef f(n): return known.setdefault(n, [n])\n",
        "a = f(2); a.append(7); assert f(2) == [2]",
    ),
    "a cache": (
        "import functools\n@functools.lru_cache\ndef f(n): return {'n': [n]}\n",
        "f(2)['n'].append(3); assert f(2) == {'n': [2]}",
    ),
    "a default that is answered": (
        "def f(x, acc=[]):\n    acc.append(x)\n    return acc\n",
        "a = f(1); b = f(2); assert a == [1]",
    ),
    "a state that is answered": (
        "state = [0]\ndef f():\n    state[0] += 1\n    return state\n",
        "a = f(); b = f(); assert b == [2]; assert a == [1]",
    ),
    "one empty list for all": (
        "empty = []\ndef f(n): return empty if n else [n]\n",
        "a, b = f(1), f(2); a.append(1); assert b == []",
    ),
    "emptied before it raises": (
        "def f(xs):\n    xs.clear()\n    raise ValueError\n",
        "xs = [1]\ntry: f(xs)\nexcept ValueError: pass\nassert xs == [1]",
    ),
    "emptied by a generator": (
        "def f(xs):\n    while xs: yield xs.pop()\n",
        "xs = [1, 2]; assert list(f(xs)) == [2, 1]; assert xs == [1, 2]",
    ),
    "emptied while a callback looks": (
        "def f(xs, see):\n    xs.clear()\n    see()\n    return 0\n",
        "xs, seen = [1], []; f(xs, lambda: seen.append(len(xs))); assert seen == [1]",
    ),
    "a callback's list": (
        "def f(make): xs = make(); xs.append(1); return len(xs)\n",
        "xs = [0]; assert f(lambda: xs) == 2; assert xs == [0]",
    ),
    "set as a field": (
        "class f: pass\n",
        "s, xs = f(), [1]; s.xs = xs; s.xs.append(2); assert xs == [1]",
    ),
    "a default that the tests hold": (
        "def f(d, key): return d.setdefault(key, [])\n",
        "d = {}; f(d, 'a'); assert d == {}",
    ),
}


FILLS = "def f(a):\n    a[:] = 0\n    return 0\n"
HONEST_ARRAYS = {
    "reversed": (
        "def f(a): a[:] = a[::-1]\n",
        "a = np.arange(3); f(a); assert list(a) == [2, 1, 0]",
    ),
    "sorted and returned": (
        "def f(a):\n    a.sort()\n    return a\n",
        "a = np.array([3, 1]); r = f(a); assert r is a; assert a.tolist() == [1, 3]",
    ),
    "kept by an object, changed by both": (
        "class f:\n    def __init__(self, a): self.a = a\n    def step(self): self.a += 1\n",
        "a = np.zeros(2); o = f(a); o.step(); a[0] = 5; o.step(); assert a.tolist() == [6, 2]",
    ),
    "the solution's own": (
        "class f:\n"
        "    def __init__(self): self.a = np.zeros(2)\n"
        "    def get(self): return self.a\n"
        "    def step(self): self.a += 1\n",
        "o = f(); a = o.get(); a[0] = 3; o.step(); assert a.tolist() == [4, 1] and o.get() is a",
    ),
    "filled by a callback": (
        "def f(fill):\n    a = np.zeros(2)\n    fill(a)\n    return a\n",
        "def fill(a): a[:] = 7\nassert f(fill).tolist() == [7, 7]",
    ),
    "looked at by a callback": (
        "def f(a, see):\n    a += 1\n    return see()\n",
        "a = np.zeros(2); assert f(a, lambda: a.sum()) == 2",
    ),
    "changed before it raises": (
        "def f(a):\n    a[0] = 1\n    raise ValueError\n",
        "a = np.zeros(2)\ntry: f(a)\nexcept ValueError: pass\nassert a[0] == 1",
    ),
    "rows": (
        "def f(r): r.sort()\n",
        "m = np.array([[2, 1], [4, 3]])\nfor r in m: f(r)\nassert m.tolist() == [[1, 2], [3, 4]]",
    ),
    "columns exchanged": (
        "def f(a, b): a[:], b[:] = b.copy(), a.copy()\n",
        "m = np.array([[2, 1], [4, 3]]); f(m[:, 0], m[:, 1])\n"
        "assert m.tolist() == [[1, 2], [3, 4]]",
    ),
    "a buffer": (
        "def f(a): a[:] = 65\n",
        "b = bytearray(2); f(np.frombuffer(b, dtype='u1')); assert b == b'AA'",
    ),
    "texts": (
        "def f(a):\n    a.sort()\n    return a\n",
        "a = np.array(['b', 'a']); r = f(a); assert r is a; assert a.tolist() == ['a', 'b']",
    ),
    "dates": (
        "def f(a, step): a += step; return [str(x) for x in a]\n",
        "a = np.array(['2020-01-31'], dtype='M8[D]')\n"
        "assert f(a, np.timedelta64(1, 'D')) == ['2020-02-01']; assert str(a[0]) == '2020-02-01'",
    ),
    "records and bytes": (
        "def f(a, b): a['x'] = 3; return b.tolist()\n",
        "a = np.zeros(2, dtype=[('x', 'i4'), ('y', 'U3')])\n"
        "assert f(a, np.array([b'q'])) == [b'q']; assert a['x'].tolist() == [3, 3]",
    ),
    "in a list, of the library's": (
        "def f(xs): xs[0][0] = 9\n",
        "import array\na = array.array('i', [1, 2]); f([a]); assert a.tolist() == [9, 2]",
    ),
}
# That a solution changes one of these costs at least the label.
WRONG_ARRAYS = {
    "must stay": ("def f(a): a[0] = 1\n", "a = np.zeros(2); f(a); assert a.sum() == 0"),
    "texts that must stay": (
        "def f(a): a.sort()\n",
        "a = np.array(['b', 'a']); f(a); assert a.tolist() == ['b', 'a']",
    ),
    "must stay, asked": (FILLS, "a = np.ones(2); assert f(a) == 0; assert a.sum() == 2"),
    "the expectation with it": (FILLS, "a = np.ones(2); assert f(a) == a.sum()"),
    "through a view": (FILLS, "a = np.ones(2); b = a[:]; r = f(b); assert r == a.sum()"),
    "through rows": (FILLS, "m = np.ones((2, 2))\nfor r in list(m): assert f(r) == m[0].sum()"),
    "through memory": (
        FILLS,
        "a = np.ones(2, dtype='u1'); w = memoryview(a); f(a); assert f(np.ones(1)) == w[0]",
    ),
    "a bound method": (FILLS, "a = np.ones(2); w = a.sum; f(a); assert f(np.ones(1)) == w()"),
    "an iterator": (FILLS, "a = np.ones(2); w = a.flat; f(a); assert f(np.ones(1)) == w[0]"),
    "a list in an array of objects": (
        "def f(a):\n    a.clear()\n    return 0\n",
        "a = [3]; w = np.empty(1, dtype=object); w[0] = a; f(a); assert f([1]) == len(w[0])",
    ),
    "that cannot be written": (
        "def f(a):\n    a[0] = 5\n    return 3\n",
        "a = np.zeros(2); a.flags.writeable = False; assert f(a) == 3",
    ),
    "an element that stands twice": (
        "def f(a): a[0, 0] = 5\n",
        "a = np.lib.stride_tricks.as_strided(np.zeros(2), (2, 2), (0, 8)); f(a)\n"
        "assert a[1, 0] == 0",
    ),
    "one memory twice": (
        "def f(a, b):\n    a[0] = 5\n    return int(b[0])\n",
        "a = np.zeros(2); assert f(a, a[:]) == 0",
    ),
    "a buffer beside it": (
        "def f(b, a):\n    b[0] = 65\n    return int(a[0])\n",
        "b = bytearray(2); assert f(b, np.frombuffer(b, dtype='u1')) == 0",
    ),
    "another shape": (
        "def f(a): a.shape = 1, 2\n",
        "a = np.zeros(2); f(a); assert a.shape == (2,)",
    ),
    "longer": ("def f(a): a.append(3)\n", "import array\na = array.array('i'); f(a); assert not a"),
    "a field": ("class f: pass\n", "s = f(); a = s.a = np.zeros(1); s.a[0] = 1; assert a[0] == 0"),
    "the argument itself": (
        "def f(a): return a\n",
        "a = np.zeros(1); r = f(a); r[0] = 1; assert a[0] == 0",
    ),
    "an answer that is kept": (
        "import functools\n@functools.cache\ndef f(n): return np.zeros(n)\n",
        "a = f(2); a[0] = 1; assert f(2).sum() == 0",
    ),
    "two answers of one memory": (
        "A = np.zeros(2)\ndef f(n): return A[:n]\n",
        "a, b = f(1), f(2); a[0] = 5; assert b[0] == 0",
    ),
    "a dictionary and its keys": (
        "D = {}\ndef f(n): return D.keys() if n else D\n",
        "d, k = f(0), f(1); d[1] = 2; assert len(k) == 0",
    ),
}


def _passes(zygote: Zygote, source: str, tests: str) -> bool:
    """Returns True if a pass is left when it was confirmed; see `evaluation.confirmation`."""
    code = "def check(candidate):\n    f = candidate\n" + textwrap.indent(tests, "    ")
    result = zygote.function(source, test_code=code)
    if result.passed and "withheld_change" in result.report["signals"]:
        result = zygote.function(source, test_code=code, brings_changes=True)
    return result.passed


@pytest.mark.parametrize(("source", "tests"), HONEST.values(), ids=HONEST)
def test_an_honest_solution_passes(zygote: Zygote, source: str, tests: str) -> None:
    assert _passes(zygote, source, tests)


@pytest.mark.parametrize(("source", "tests"), WRONG.values(), ids=WRONG)
def test_a_wrong_solution_fails(zygote: Zygote, source: str, tests: str) -> None:
    assert not _passes(zygote, source, tests)


@pytest.fixture(scope="module")
def with_arrays() -> Iterator[Zygote]:
    numpy = pytest.importorskip("numpy")
    packages = (str(Path(numpy.__file__).parents[1]),)
    running = Zygote(packages=packages, preloaded=("array", "numpy"))
    yield running
    running.close()


def _passes_isolated(zygote: Zygote, source: str, tests: str) -> bool:
    """Returns True if the two runs of `_passes` do, and neither has what takes the label."""
    code = "import numpy as np\ndef check(candidate):\n    f = candidate\n"
    code += textwrap.indent(tests, "    ")
    runs = [
        zygote.function(f"import numpy as np\n{source}", test_code=code, brings_changes=brings)
        for brings in (False, True)
    ]
    first, last = runs
    signals = first.report["signals"].keys() | last.report["signals"].keys()
    run = last if "withheld_change" in signals else first
    return run.passed and signals.isdisjoint(("out_of_step", "met_change"))


@pytest.mark.parametrize(("source", "tests"), HONEST_ARRAYS.values(), ids=HONEST_ARRAYS)
def test_an_array_that_an_honest_solution_changes_passes(
    with_arrays: Zygote, source: str, tests: str
) -> None:
    assert _passes_isolated(with_arrays, source, tests)


@pytest.mark.parametrize(("source", "tests"), WRONG_ARRAYS.values(), ids=WRONG_ARRAYS)
def test_an_array_that_a_wrong_solution_changes_costs_the_label(
    with_arrays: Zygote, source: str, tests: str
) -> None:
    assert not _passes_isolated(with_arrays, source, tests)


MALFORMED = {
    "a number of nothing": b'["return",{"again":0},null,0]',
    "a number inside itself": b'["return",{"shared":[0,[{"again":0}]]},null,0]',
    "a number twice": b'["return",[{"shared":[0,[]]},{"shared":[0,[]]}],null,0]',
    "a number out of turn": b'["return",{"shared":[7,[]]},null,0]',
    "a number for a text": b'["return",{"shared":[0,"a"]},null,0]',
    "a number for a tuple": b'["return",{"shared":[0,{"tuple":[]}]},null,0]',
    "a text for a number": b'["return",{"again":"0"},null,0]',
    "a truth value for a number": b'["return",{"shared":[false,[]]},null,0]',
    "no content": b'["return",{"shared":[0]},null,0]',
    "a number of nothing in an exception": b'["raise",["E"],[{"again":0}],"",null]',
    "a number out of turn in what more there is": b'["raise",["E"],[],"",null,[{"shared":[1,[]]}]]',
}


@pytest.mark.parametrize("message", MALFORMED.values(), ids=MALFORMED)
def test_numbers_that_no_encoder_gives_are_a_violation(message: bytes) -> None:
    for containers in (None, Containers()):
        with pytest.raises(ProtocolViolation):
            Decoder(DataOnly(), containers=containers).loads(message)


def test_a_message_stands_for_no_more_than_may_cross() -> None:
    level: object = [0]
    for _ in range(40):
        level = [level, level]
    with pytest.raises(TooLargeError):
        same_containers.check([level], {})
    row, rows = [0] * 2000, list[object]()
    with pytest.raises(TooLargeError):
        same_containers.check([], {id(rows): [row] * 2000})


def test_values_that_contain_themselves_are_refused() -> None:
    one, other = list[object](), list[object]()
    with pytest.raises(NotDataError):
        same_containers.check([], {id(one): [other], id(other): [one]})


@pytest.mark.parametrize(
    "value",
    [
        [[0]] * 3,
        {"a": (row := [1]), "b": (row, {"c": row})},
        deque([row, row]),
        [{1}, bytearray(b"a")] * 2,
    ],
)
def test_what_is_shared_is_shared_on_the_other_side(value: object) -> None:
    containers = Containers()
    encoder = Encoder(DataOnly(), 1 << 20, containers=containers)
    decoder = Decoder(DataOnly(), containers=Containers())
    decoded = decoder.loads(encoder.dumps([encoder.value(value)]))
    assert decoded == [value]
    assert len(changes.reachable([decoded])) == 1 + len(changes.reachable([value]))


NAMED: list[object] = [1]
HOLDERS: list[tuple[Callable[[], list[object]], bool]] = [
    (lambda: [[0], [0]], False),
    (lambda: [{"a": [1], "b": ([2], {3})}, deque([[1]]), bytearray(1)], False),
    (lambda: [[0]] * 2, True),
    (lambda: [([0],)] * 2, True),
    (lambda: [NAMED], True),
    (lambda: [[[NAMED]]], True),
    (lambda: [({"a": NAMED},)], True),
    (lambda: [OrderedDict(a=NAMED)], True),
    (lambda: [UserList([1])], True),
    (lambda: [1, "a", (1, 2), None, frozenset((1,)), Fraction(1, 2)], False),
]


@pytest.mark.parametrize(("made", "expected"), HOLDERS)
def test_who_holds_a_container_is_counted(made: Callable[[], list[object]], expected: bool) -> None:
    assert same_containers.must_be_shared(made()) is expected


def test_what_only_values_hold_is_not_held() -> None:
    row: list[object] = [1]
    values: list[object] = [[row], [[2]]]
    assert same_containers.held(values, {}) == {id(row)}
    kept = cast("list[object]", values[0])
    assert same_containers.held(values, {}) == {id(row), id(kept)}
    assert same_containers.held(values, {id(kept): 1}) == {id(row)}


class _Callee:
    def __call__(self, *args: object) -> bool:
        return literals.are_held(args, sys._getframe(1), self)


def test_a_literal_of_a_call_is_told_from_what_tests_hold() -> None:
    called, named = _Callee(), [3, 1]
    rows, case = [[1], [2]], ([1],)
    literal = [
        called([3, 1]),
        called([[1], {"a": {2}}], 4, "a", (1, 2)),
        called(list(named), named[:1], [*named]),
    ]
    held = [
        called(named),
        called([named]),
        called(rows[0]),
        called(*case),
        called([rows[0]], 1),
        called([[1]] * 2),
        *map(called, rows),
        *itertools.starmap(called, [([1],)]),
    ]
    assert not any(literal)
    assert all(held)


def test_more_containers_than_are_kept_in_step_are_told(zygote: Zygote) -> None:
    source = "known = []\ndef f(n):\n    known.append([n])\n    return known[-1]\n"
    for count, is_told in ((200, False), (300, True)):
        tests = f"assert [f(n) for n in range({count})] == [[n] for n in range({count})]"
        result = zygote.function(source, asserts=[tests])
        assert result.passed
        assert ("out_of_step" in result.report["signals"]) is is_told
