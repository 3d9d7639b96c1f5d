"""Containers keep their identity between the tests and the solution."""

from __future__ import annotations

import itertools
import sys
import textwrap
from collections import OrderedDict, UserList, deque
from collections.abc import Callable
from fractions import Fraction
from typing import cast

import pytest

from reward_server.runner import changes, literals, sharing
from reward_server.runner.codec import DataOnly, NotDataError, ProtocolViolation, TooLargeError
from reward_server.runner.containers import Containers
from reward_server.runner.decoding import Decoder
from reward_server.runner.encoding import Encoder
from tests.unit.runner.harness import Zygote

EMPTIES = "def f(xs):\n    s = 0\n    while xs: s += xs.pop()\n    return s\n"
GRID = "def f(n): return [[0] * n] * n\n"

HONEST = {
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
        sharing.check([level], {})
    row, rows = [0] * 2000, list[object]()
    with pytest.raises(TooLargeError):
        sharing.check([], {id(rows): [row] * 2000})


def test_values_that_contain_themselves_are_refused() -> None:
    one, other = list[object](), list[object]()
    with pytest.raises(NotDataError):
        sharing.check([], {id(one): [other], id(other): [one]})


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
    assert sharing.must_be_shared(made()) is expected


def test_what_only_values_hold_is_not_held() -> None:
    row: list[object] = [1]
    values: list[object] = [[row], [[2]]]
    assert sharing.held(values, {}) == {id(row)}
    kept = cast("list[object]", values[0])
    assert sharing.held(values, {}) == {id(row), id(kept)}
    assert sharing.held(values, {id(kept): 1}) == {id(row)}


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
