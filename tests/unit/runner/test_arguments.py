"""Which texts let a call change its arguments: those that take no expected value from them."""

from __future__ import annotations

import ast

import pytest

from reward_server.runner.arguments import are_apart

APART = {
    "an equality": "f(a)\nassert a == [1, 2]",
    "an order": "f(a)\nassert a == sorted(a)",
    "a helper": "f(a)\nassert is_sorted(a)",
    "a loop over the argument": "f(a)\nfor i in range(len(a) - 1):\n    assert a[i] <= a[i + 1]",
    "a value taken before": "w = sorted(a)\nf(a)\nassert a == w",
    "the argument handed back": "f(a, 1)\nassert g(a) == 1\nassert f(a) is None",
    "two things at once": "f(a)\nassert g(3) == 1 and a == []",
    "two arguments": "f(a)\nh(b)\nassert a == b",
    "a field": "f(self.a)\nself.assertEqual(self.a, [1])\nself.assertEqual(g(2), 3)",
    "each turn its own": "for a, w in rows:\n    assert g(a) == w\n    f(a)\n    assert a == w",
    "steps": "for i in range(len(a)):\n    f(a, i)\n    assert g(a)",
    "a record's answer": "assert values(f(a)) == [3, 2, 1]",
    "a record that is kept": "r = f(a)\nassert values(r) == [3, 2, 1]",
}
MEETING = {
    "a loop over what was handed over": "f(a)\nfor k in a:\n    assert g(k)",
    "a table": "f(a)\nassert all(c.get(k) == v for k, v in a.items())",
    "a whole": "f(a)\nassert {k: g(k) for k in a} == a",
    "a condition": "f(a)\nif a:\n    assert g(2) == 3",
    "a field of what was handed over": "assert f(a, b) == Point(a.x + b.x, a.y)",
    "a name computed later": "f(a)\nw = len(a)\nr = g(3)\nself.assertEqual(r, w)",
    "an answer computed from": "f(a)\nr = [g(k) for k in a]\nassert r == list(a.values())",
    "a field of the test": "c.put(self.a)\nself.assertEqual(c.all(), self.a)",
    "an earlier line of a loop": "for i in x:\n    assert g(i) == sum(a)\n    f(a)",
    "a while loop": "f(a)\nwhile a:\n    assert g(1) == a.pop()",
    "part of a list": "f([a, b])\nassert g(1) == len(b)",
}
HEARD = frozenset(("f", "g", "h", "c"))


def _are_apart(text: str) -> bool:
    calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    names = ("f", "c.put")
    call = min((one for one in calls if ast.unparse(one.func) in names), key=lambda one: one.lineno)
    position = (call.lineno, call.col_offset, call.end_lineno or 0, call.end_col_offset or 0)
    return are_apart(text, position, HEARD, ())


@pytest.mark.parametrize("text", APART.values(), ids=APART)
def test_changes_come_back_where_they_decide_nothing_of_an_answer(text: str) -> None:
    assert _are_apart(text)


@pytest.mark.parametrize("text", MEETING.values(), ids=MEETING)
def test_changes_stay_away_from_what_an_answer_is_compared_with(text: str) -> None:
    assert not _are_apart(text)


def test_other_texts_of_the_same_names_count() -> None:
    text = "a = [1]\nf(a)"
    assert are_apart(text, (2, 0, 2, 4), HEARD, ("assert a == [1]",))
    assert not are_apart(text, (2, 0, 2, 4), HEARD, ("assert g(1) == a[0]",))
    assert not are_apart("f(", (1, 0, 1, 2), HEARD, ())
