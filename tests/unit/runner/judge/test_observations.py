"""Which tests see what a call made of an argument, and which compute from it what they expect."""

from __future__ import annotations

import ast

import pytest

from reward_server.runner.judge.text.observations import are_observed, raises_by_itself

OBSERVING = {
    "a part compared": "a = [1]\nk = f(a)\nassert a[:k] == [1]",
    "an element in a loop": "a = [1]\nk = f(a)\nfor i in range(k):\n    assert a[i] == w[i]",
    "sorted before it is compared": "a = [1]\nk = f(a)\na[:k] = sorted(a[:k])\nassert a == [1]",
    "sorted in place": "a = [1]\nk = f(a)\na.sort()\nassert a == [1]",
    "a name of the part": "a = [1]\nk = f(a)\nb = a[:k]\nassert b == [1]",
    "a length": "a = [1]\nk = f(a)\nassert len(a) == 1",
    "emptiness": "a = [1]\nk = f(a)\nassert not a",
    "a member": "a = [1]\nk = f(a)\nassert 5 not in a and 1 in a",
    "a method of unittest": "a = [1]\nk = f(a)\nself.assertEqual(a[:k], [1])",
    "another method of unittest": "a = [1]\nk = f(a)\nself.assertListEqual([1], sorted(a))",
    "a chain": "a = [1]\nr = f(a)\nassert r == a == [1]",
    "a copy taken before": "a = [1]\nb = a[:]\nr = f(a)\nassert a == [2] and b == [1]",
    "a message": "a = [1]\nr = f(a)\nassert a == [2], f'{a}'",
    "handed over twice": "a = [1]\nr = f(a)\nassert a == [2]\nr = f(a)\nassert a == [3]",
    "a loop that binds it": "for a, want in cases:\n    r = f(a)\n    assert a == want",
    "in a function": "def check(f):\n    a = [1]\n    r = f(a)\n    assert a == [1]",
}
COMPUTING = {
    "nothing looked at": "a = [1]\nr = f(a)\nassert r == [1]",
    "the expected value": "a = [1]\nr = f(a)\nassert r == sorted(a)",
    "both sides": "a = [1]\nr = f(a)\nassert a == r",
    "the length of the result": "a = [1]\nr = f(a)\nassert len(a) == r",
    "a call in a comparison": "a = [1]\nassert f(a) == len(a)",
    "a loop over it": "a = [1]\nr = f(a)\nfor x in a:\n    assert r[x] == 1\nassert a == [1]",
    "a loop over its length": "a = [1]\nr = f(a)\nassert a != [0]\nfor i in range(len(a)):\n"
    "    assert r[i] == 1",
    "pairs": "a = [1]\nr = f(a)\nassert all(x == y for x, y in zip(a, want))",
    "a condition": "a = [1]\nr = f(a)\nif a:\n    assert r == 1\nassert a != [0]",
    "another name": "a = [1]\nb = a\nr = f(a)\nassert a == [2]",
    "another name inside a list": "a = [1]\nb = [a]\nr = f(a)\nassert a == [2]",
    "a name computed later": "a = [1]\nr = f(a)\nw = sorted(a)\nassert a != [0]\nassert r == w",
    "what was filled later": "a = [1]\nr = f(a)\nw.append(a[0])\nassert a != [0]\nassert r == w",
    "an element set later": "a = [1]\nr = f(a)\nwant[0] = a[0]\nassert a != [0]\nassert r == want",
    "a function": "a = [1]\ndef g():\n    return a\nr = f(a)\nassert a == [1]",
    "a filter": "a = [1]\nr = f(a)\nassert [x for x in a if x not in r] == []",
    "a part in common": "a = [1]\nr = f(a)\nassert a[0] + r[0] == 1",
    "an earlier turn": "a = [1]\nfor i in x:\n    w = sum(a)\n    r = f(a)\n    assert a != [0]\n"
    "    assert r == w",
    "sortedness alone": "a = [1]\nr = f(a)\nassert all(a[i] < a[i + 1] for i in range(len(a) - 1))",
    "a name computed from the result": "a = [1]\nr = f(a)\nb = r[0]\nassert a == b",
    "a walrus": "a = [1]\nr = f(a)\nassert (b := a) and r == b",
    "a while loop": "a = [1]\nr = f(a)\nwhile a:\n    assert r == a.pop()\nassert a == []",
}


def _is_observed(text: str, *, nested: bool = False) -> bool:
    call = next(
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "f"
    )
    position = (call.lineno, call.col_offset, call.end_lineno or 0, call.end_col_offset or 0)
    return are_observed(text, position, ("a",), nested)


@pytest.mark.parametrize("text", OBSERVING.values(), ids=OBSERVING)
def test_a_test_that_looks_at_an_argument_sees_its_changes(text: str) -> None:
    assert _is_observed(text)


@pytest.mark.promise(
    "A test that computes from an argument does not see the solution's changes of it.", "Labels"
)
@pytest.mark.parametrize("text", COMPUTING.values(), ids=COMPUTING)
def test_a_test_that_computes_from_an_argument_sees_none(text: str) -> None:
    assert not _is_observed(text)


def test_a_shallow_copy_of_rows_is_no_copy() -> None:
    text = "a = [[1]]\nb = a[:]\nr = f(a)\nassert a == [[2]]"
    assert _is_observed(text)
    assert not _is_observed(text, nested=True)
    assert _is_observed(text.replace("a[:]", "copy.deepcopy(a)"), nested=True)


def test_a_call_that_is_not_there_is_not_observed() -> None:
    assert not are_observed("a = [1]\nassert a == [1]", (1, 0, 1, 3), ("a",), False)
    assert not are_observed("a = (", (1, 0, 1, 3), ("a",), False)


@pytest.mark.parametrize(
    ("line", "raises"),
    [
        ("raise ValueError('x')", True),
        ("int('x')", True),
        ("x = 1 / 0", True),
        ("int(r)", False),
        ("assert r == 1", False),
        ("if r: raise ValueError", False),
        ("found.append(r[0])", False),
        ("for x in r: raise ValueError", False),
    ],
)
def test_only_what_a_block_raises_by_itself_may_be_swallowed(line: str, raises: bool) -> None:
    assert raises_by_itself(f"with f() as r:\n    {line}\n", 2) is raises
    assert not raises_by_itself(line, 1)
