"""Which texts let a call change its arguments: those that take no expected value from them."""

from __future__ import annotations

import ast

import pytest

from reward_server.runner.judge.text.arguments import are_apart

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
    "a function for both, one by one": (
        "def check(got, want): assert got == want\ncheck(g(b), 3)\nf(a)\ncheck(a, [1, 2])"
    ),
    "handed over by a function": "def run(x): return g(x)\nf(a)\nassert run(a) == 2",
    "answers that are collected": (
        "out = []\nf(a)\nassert a == [1]\nout.append(g(2))\nassert out == [4]"
    ),
    "a call that shows both": "f(a)\nr = g(1)\nprint(a, r)\nassert r == 3\nassert a == [1]",
    "a block that raises": (
        "f(a)\nwith pytest.raises(ValueError) as e: g(1)\nassert 'x' in str(e.value)\n"
        "assert a == [1]"
    ),
    "a library": (
        "import numpy as np\nf(a)\nassert np.allclose(a, [1.0])\nr = g(1)\n"
        "np.testing.assert_allclose(r, 3)"
    ),
    "an exception of its own": (
        "try: f(a)\nexcept ValueError as e: assert e.args == (3,)\nassert a == [1]"
    ),
    "a method for both": (
        "class T:\n    def same(self, x, y): self.assertEqual(x, y)\n    def test(self):\n"
        "        f(a)\n        self.same(a, [1])\n        self.same(g(2), 3)"
    ),
    "answers by a key": (
        "results = {}\nfor k in (1, 2):\n    results[k] = g(k)\nf(a)\nassert a == [1]\n"
        "assert results == {1: 1}"
    ),
    "a function of each": (
        "def is_sorted(xs): return all(x <= y for x, y in zip(xs, xs[1:]))\nf(a)\n"
        "assert is_sorted(a)\nassert is_sorted(g(3))"
    ),
    "a map": "f(a)\nassert list(map(g, a)) == [3]\nassert a == [[1]]",
    "a partial call": "p = partial(f, a)\nassert p() == 3\nassert a == [1]",
    "what an object is told to remove": "c.put(a)\nc.remove(a)\nassert a == [1]",
    "one of several objects": (
        "for s in [c, c]:\n    f(a)\n    s.put(a)\n    assert s.size() == 1\nassert a == [1]"
    ),
    "an answer that is walked through": (
        "r = g(1)\nf(a)\nwhile r:\n    r.put(a)\n    assert r.value == 3\n    r = r.next"
    ),
    "a function that makes": (
        "def make(n): return list(range(n))\na = make(3)\nf(a)\nassert a == make(3)\n"
        "assert g(make(2)) == 1"
    ),
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
    "an attribute that is set": "f(a)\nsetattr(x, 'n', g(1))\nassert x.n == len(a)",
    "an attribute that is set to it": "f(a)\nsetattr(x, 'n', len(a))\nassert x.n == g(1)",
    "an element": "f(a)\nout = []\nout.append(g(1))\nassert out[0] == len(a)",
    "an element of what is expected": "f(a)\nout = []\nout.append(len(a))\nassert out[0] == g(1)",
    "elements": "f(a)\nout = []\nout.extend(g(1))\nassert out == sorted(a)",
    "a value by a keyword": "f(a)\nd = {}\nd.update(x=g(1))\nassert d == {'x': len(a)}",
    "an answer in the argument": "f(a)\na.append(g(1))\nassert a[-1] == len(a)",
    "an element of the argument": "f(a)\na[0] = g(1)\nassert a[0] == len(a)",
    "a key": "f(a)\nd = {}\nd[g(1)] = 1\nassert list(d) == a",
    "a parameter": "def check(x, y): assert x == len(y)\nf(a)\ncheck(g(1), a)",
    "a parameter by name": "def check(x, y): assert x == len(y)\nf(a)\ncheck(y=a, x=g(1))",
    "parameters in a tuple": "def check(*xs): assert xs[0] == len(xs[1])\nf(a)\ncheck(g(1), a)",
    "arguments in a tuple": (
        "def check(x, y): assert x == len(y)\nf(a)\nargs = (g(1), a)\ncheck(*args)"
    ),
    "a function's function": (
        "def same(x, y): assert x == y\ndef check(x, y): same(x, len(y))\nf(a)\ncheck(g(1), a)"
    ),
    "a method's parameter": (
        "class T:\n    def check(self, x, y):\n        self.assertEqual(x, len(y))\n"
        "    def test(self):\n        f(a)\n        self.check(g(1), a)"
    ),
    "a function that answers": "def run(x): return g(x)\nf(a)\nassert run(1) == len(a)",
    "a function that expects": "def want(): return len(a)\nf(a)\nassert g(1) == want()",
    "a function that puts": (
        "def put(xs, x): xs.append(x)\nf(a)\nout = []\nput(out, g(1))\nassert out[0] == len(a)"
    ),
    "an object that keeps": (
        "class Box:\n    def __init__(self): self.items = []\n"
        "    def put(self, x): self.items.append(x)\nb = Box()\nf(a)\nb.put(g(1))\n"
        "assert b.items[0] == len(a)"
    ),
    "a library that puts": (
        "import heapq\nh = []\nf(a)\nheapq.heappush(h, g(1))\nassert h[0] == len(a)"
    ),
    "a method of a class": "out = []\nf(a)\nlist.append(out, g(1))\nassert out[0] == len(a)",
    "an exception's name": "f(a)\ntry: g(1)\nexcept ValueError as e: assert e.args[0] == len(a)",
    "a block's name": (
        "f(a)\nwith pytest.raises(ValueError) as e: g(1)\nassert e.value.args[0] == len(a)"
    ),
    "a pattern's name": "f(a)\nmatch g(1):\n    case [x]:\n        assert x == len(a)",
    "a pattern of the argument": (
        "f(a)\nmatch a:\n    case [x, *rest]: w = x\nassert g(1) == len(rest)"
    ),
    "a callback": (
        "f(a)\nout = []\nlist(map(lambda x: out.append(x), g(1)))\nassert out == sorted(a)"
    ),
    "a named callback": (
        "out = []\ndef keep(x): out.append(x)\nf(a)\nlist(map(keep, g(1)))\nassert out == sorted(a)"
    ),
    "a namespace": "f(a)\nx.__dict__.update(n=g(1))\nassert x.n == len(a)",
    "names that no text has": "f(a)\nglobals()['w'] = g(1)\nassert w == len(a)",
    "an output that is named": (
        "import numpy as np\nf(a)\nnp.add(g(1), 0, out=w)\nassert w.sum() == a.sum()"
    ),
    "an output": "import numpy as np\nf(a)\nnp.copyto(w, g(1))\nassert w.sum() == a.sum()",
    "a function inside": (
        "def test():\n    f(a)\n    def want(): return len(a)\n    assert g(1) == want()"
    ),
    "an index": "def pick(xs, i): return xs[g(i)]\nf(a)\nassert pick(a, 1) == 3",
    "a generator": "def each(xs):\n    for x in xs: yield x\nf(a)\nassert list(each(a)) == g(1)",
    "a global name": "def keep(x):\n    global W\n    W = x\nf(a)\nkeep(g(1))\nassert W == len(a)",
    "a default": "def want(xs=a): return len(xs)\nf(a)\nassert g(1) == want()",
    "a field of the argument": "f(x)\nx.n = g(1)\nassert x == P(1, 2)",
    "a guard": "match f(a):\n    case r if r == sorted(a): pass\n    case _: fail()",
    "a pattern": "match f(a):\n    case a.want: pass\n    case _: fail()",
    "a function that is called by another": "assert max(a, key=f) == max(a, key=len)",
    "a function of the tests' that calls both": (
        "def run(function, x): return function(x)\nassert run(f, a) == run(sorted, a)"
    ),
    "a function that is one of several": (
        "out = []\nfor f in (g, sorted): out.append(f(a))\nassert out[0] == out[1]"
    ),
    "a function in a table": "t = {1: g, 2: sorted}\nf(a)\nassert t[1](a) == t[2](a)",
    "fields of a class": "class C:\n    got = f(a)\n    want = sorted(a)\nassert C.got == C.want",
    "a property": (
        "class C:\n    @property\n    def got(self): return g(a)\nf(a)\nc1 = C()\n"
        "assert c1.got == sorted(a)"
    ),
    "an answer beside what is expected": "def both(a):\n    return f(a), sorted(a)",
    "answers, each beside what is expected": "def both(a):\n    yield f(a), sorted(a)",
    "lists that a function fills": (
        "def run(xs):\n    GOT.append(f(xs))\n    WANT.append(sorted(xs))\n"
        "run([3])\nassert GOT == WANT"
    ),
    "a choice": "f(a)\nok = None if g(1) == len(a) else fail()",
    "a condition in a comprehension": "f(a)\n[fail() for _ in 'a' if g(1) != len(a)]",
    "an unknown function": "f(a)\nverify(g(1), len(a))",
    "how often a loop turns": "f(a)\nfor _ in range(g(1) != len(a)):\n    fail()",
    "a count": "r = [f(a)]\nassert r.count(sorted(a)) == 1",
    "a search": "r = [f(a)]\nr.remove(sorted(a))",
    "a place": "r = []\nr.append(f(a))\nr.index(sorted(a))",
    "a method of an answer": "r = f(a)\nassert r.issuperset(a)",
    "what is chosen by a comparison": "f(a)\n{True: ok, False: fail}[g(1) == len(a)]()",
}
HEARD = frozenset(("f", "g", "h", "c"))


def _parts_of(call: ast.Call) -> list[ast.expr]:
    return [call.func, *call.args, *(one.value for one in call.keywords)]


def _are_apart(text: str) -> bool:
    calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    calling = (one for one in calls if {"f", "c.put"} & {*map(ast.unparse, _parts_of(one))})
    call = min(calling, key=lambda one: one.lineno)
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
