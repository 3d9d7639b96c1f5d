"""Containers keep their identity between the tests and the solution."""

from __future__ import annotations

import textwrap
from collections import deque

import pytest

from reward_server.runner import changes, sharing
from reward_server.runner.codec import DataOnly, ProtocolViolation, TooLargeError
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
    "no content": b'["return",{"shared":[0]},null,0]',
}


@pytest.mark.parametrize("message", MALFORMED.values(), ids=MALFORMED)
def test_numbers_that_no_encoder_gives_are_a_violation(message: bytes) -> None:
    with pytest.raises(ProtocolViolation):
        Decoder(DataOnly()).loads(message)


def test_a_message_stands_for_no_more_than_may_cross() -> None:
    level: object = [0]
    for _ in range(40):
        level = [level, level]
    encoder = Encoder(DataOnly(), 1 << 16)
    nested: object = {"shared": [0, [0]]}
    for number in range(1, 40):
        nested = {"shared": [number, [nested, {"again": number - 1}]]}
    with pytest.raises(TooLargeError):
        sharing.check(["return", nested, None, 0], {})
    with pytest.raises(TooLargeError):
        sharing.check(["return", None, [[0, [{"again": 1}] * 2000]], 0], {0: [], 1: [0] * 2000})
    with pytest.raises(TooLargeError):
        encoder.sharing(lambda: encoder.value(level))


def test_changes_that_contain_themselves_are_a_violation() -> None:
    changed = [[0, [{"again": 1}]], [1, [{"again": 0}]]]
    with pytest.raises(ProtocolViolation):
        sharing.check(["return", None, changed, 0], {0: [], 1: []})


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
    encoder, decoder = Encoder(DataOnly(), 1 << 20), Decoder(DataOnly())
    decoded = decoder.loads(encoder.dumps([encoder.sharing(lambda: encoder.value(value))]))
    assert decoded == [value]
    assert len(changes.reachable([decoded])) == 1 + len(changes.reachable([value]))


def test_what_is_not_shared_has_no_numbers() -> None:
    encoder = Encoder(DataOnly(), 1 << 20)
    assert encoder.sharing(lambda: encoder.value([[0], [0]])) == [[0], [0]]
