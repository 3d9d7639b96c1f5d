"""What a copy cannot show: views, memory and arrays that change; other names; first answers.

A completion of `WRONG` earns nothing, or its label is weaker than ISOLATED, since an ordinary run
refuses it. One of `HONEST` passes as ISOLATED.
"""

from __future__ import annotations

import textwrap
from dataclasses import replace

import pytest

from reward_server.app import App
from reward_server.domain import CallCase, CallTests, Integrity, Verdict
from reward_server.errors import UnsupportedError
from tests.attacks.python_tests import check, submission_of, suite
from tests.support.common import on_the_servers_loop

pytestmark = on_the_servers_loop
SHOWS = """
    import array, collections, types
    import numpy as np
    D, B, A = {}, bytearray(b"ab"), np.array([1, 2])
    T = array.array("i", [1])
    SHOWN = {
        "keys": D.keys, "values": D.values, "items": D.items,
        "maps": lambda: collections.ChainMap(D),
        "proxy": lambda: types.MappingProxyType(D), "memory": lambda: memoryview(B),
        "array": lambda: A, "part": lambda: A[:1], "typed": lambda: T, "inside": lambda: [D.keys()],
    }
    def f(kind): return SHOWN[kind]()
    def put(k): D[k], B[0], A[0], T[0] = k, k, k, k
"""
TAKES = """
    KEPT = []
    def f(x): KEPT.append(x); return 3
    def size(): return len(list(KEPT[0]))
    def spoil(a): a[0] = 9; return 3
"""
NODE = """
class Node:
    def __init__(self, rows): self.rows = rows
"""
EMPTIES = """
    def f(xs): xs.clear()
    def g(xs): return 0
    def keep(x): return 0
"""
LIVE = {
    **{
        f"{kind} of the solution's": (
            SHOWS,
            check(f"""
                def check(candidate):
                    shown = candidate("{kind}")
                    before = {text}
                    put(122)
                    assert {text} == before
            """),
        )
        for kind, text in {
            **dict.fromkeys(("keys", "values", "items", "proxy", "typed"), "list(shown)"),
            "memory": "bytes(shown)",
            "maps": "dict(shown)",
            "inside": "list(shown[0])",
            **dict.fromkeys(("array", "part"), "[int(x) for x in shown]"),
        }.items()
    },
    "a view of the tests'": (
        TAKES,
        check("""
            def check(candidate):
                d = {}
                candidate(d.keys())
                d[1] = 2
                assert size() == 0
        """),
    ),
    "an array that cannot be written": (
        TAKES,
        check(
            """
            import numpy as np
            def check(candidate):
                a = np.array([1, 2])
                a.flags.writeable = False
                assert candidate(a) == 3
        """,
            "spoil",
        ),
    ),
    **{
        f"an array of the tests' that must stay: {text}": (
            TAKES,
            check(
                f"""
                import array
                import numpy as np
                def check(candidate):
                    a = np.array([1, 2]); t = array.array("i", [1, 2])
                    assert candidate({text}) == 3
                    assert a.tolist() == t.tolist() == [1, 2]
            """,
                "spoil",
            ),
        )
        for text in ("a", "a[:1]", "t")
    },
}
NAMES = {
    name: (
        EMPTIES,
        check(f"""
            DATA = [4, 5]
            def helper(xs): f(xs)
            class Holder:
                def __init__(self, xs): self.xs = xs
            def check(candidate):
                y = data = [3, 1, 2]
                {text}
        """),
    )
    for name, text in {
        "an element": "[candidate(xs) for xs in [data]]; assert g(data) == sum(data)",
        "a helper's argument": "helper(data); assert g(data) == sum(data)",
        "a field": "h = Holder(data); candidate(h.xs); assert g(h) == sum(data)",
        "a closure": "want = lambda: sum(data); candidate(y); assert g(y) == want()",
        "an iterator": "rest = iter(y); candidate(y); assert g(y) == sum(rest)",
        "a global": "xs = DATA; candidate(xs); assert g(xs) == sum(DATA)",
        "a row": "rows = {'a': [data]}; xs = rows['a'][0]; candidate(xs); assert g(1) == sum(data)",
    }.items()
}
ANSWERS = """
    class Answers:
        def __init__(self, *said): self.said = list(said)
        def say(self): return self.said.pop(0) if len(self.said) > 1 else self.said[0]
    class Rows(Answers):
        def __iter__(self): return iter(self.say())
        def __getitem__(self, i): return 9
        def __len__(self): return 5
        @property
        def x(self): return self.say()
    def Factors(n): return Rows([n], [2])
    def Number(n): return Rows(n, 2)
"""
NAMED_LIKE_CLASSES = {
    name: (ANSWERS, check(f"def check(candidate):\n    {text}\n", "Factors"))
    for name, text in {
        "two iterations": "r = candidate(12); assert [*r] == [12]; assert max(r) == 2",
        "a field": "r = Number(12); assert r.x == 12; assert r.x == 2",
        "an element": "r = candidate(12); assert [*r] == [12]; assert r[0] == 9",
        "a length": "r = candidate(12); assert [x for x in r] == [12]; assert len(r) == 5",
    }.items()
}
RAISED = {
    "its arguments": "def give(): raise ValueError(data)",
    "inside them": "def give(): raise KeyError({'a': [data]})",
    "a tuple of them": "def give(): raise ValueError((data, 2))",
    "of a class of the tests'": "E = type('E', (Exception,), {})\n    def give(): raise E(data)",
}
TAKING = """
    def taken(x):
        try: x()
        except Exception as error: found = error.args[0]
        while type(found[0]) is not int if type(found) is not dict else True:
            found = found["a"] if type(found) is dict else found[0]
        return found
"""


def _raised(made: str, solution: str, want: str) -> tuple[str, object]:
    """Tests whose callback raises what they hold."""
    return f"{TAKING}{solution}", check(f"""
        def check(candidate):
            data = [3, 1, 2]
            {made.replace("    def", "            def")}
            assert candidate(give) == 1
            assert data == {want}
    """)


SORTED = "    def f(x): found = taken(x); found.sort(); return found[0]\n"
WRONG = {
    f"{kind}: {name}": row
    for kind, rows in {
        "raised": {name: _raised(made, SORTED, "[3, 1, 2]") for name, made in RAISED.items()},
        "live": LIVE,
        "names": NAMES,
        "answers": NAMED_LIKE_CLASSES,
    }.items()
    for name, row in rows.items()
}
HONEST = {
    **{
        f"a callback that raises {name}": _raised(
            made, "    def f(x): return min(taken(x))\n", "[3, 1, 2]"
        )
        for name, made in RAISED.items()
        if name != "of a class of the tests'"  # whose tests live with the solution
    },
    "views and arrays that stay, or that nobody looks at": (
        SHOWS,
        check("""
            import numpy as np
            def check(candidate):
                shown, a = candidate("keys"), candidate("array")
                assert list(shown) == [] and list(a) == [1, 2] and candidate("array") is a
                a = shown = None
                assert bytes(candidate("memory")) == b"ab"
                put(3)
                assert list(candidate("keys")) == [3] and candidate("array")[0] == 3
        """),
    ),
    "arrays that the tests change between calls": (
        "import numpy\ndef f(a): return a * 2",
        check("""
            import numpy as np
            def check(candidate):
                a = np.array([1, 2])
                for n in range(3):
                    assert candidate(a).tolist() == [2 * x for x in a]
                    a[0] = n
                r = candidate(a)
                r[0] = 7
                assert candidate(a)[1] == 4
        """),
    ),
    "arrays that are changed in place": (
        """
            import numpy as np
            def f(a): a[:] = a[::-1]
            def add(a, b): np.add(a, b, out=a)
            class Sums:
                def __init__(self, out): self.out = out
                def take(self, x): self.out += x
        """,
        check("""
            import numpy as np
            def check(candidate):
                m = np.array([[1, 2], [3, 4]])
                candidate(m)
                assert m.tolist() == [[3, 4], [1, 2]]
                for row in m:
                    candidate(row)
                assert m.tolist() == [[4, 3], [2, 1]]
                add(m[:, 0], m[:, 1])
                np.testing.assert_array_equal(m, [[7, 3], [3, 1]])
                out = np.zeros(2)
                s = Sums(out)
                s.take(2)
                s.take(np.ones(2))
                assert out.tolist() == [3, 3]
        """),
    ),
    "arguments under several names": (
        "def f(xs): xs.sort()\ndef g(xs): return len(xs)",
        check("""
            CASES = [([3, 1], [1, 3]), ([2], [2])]
            def sort(xs): f(xs)
            def check(candidate):
                for xs, want in CASES:
                    candidate(xs)
                    assert xs == want
                ys = rows = [2, 1]
                sort(ys)
                assert rows == [1, 2]
        """),
    ),
    "clocks, dice and things that are made by a class": (
        """
            import random, time
            class Timer:
                def __init__(self): self.t = time.monotonic()
                @property
                def elapsed(self): return time.monotonic() - self.t
            class Die:
                @property
                def face(self): return random.randint(1, 6)
            class Bag:
                def __init__(self, *xs): self.xs = list(xs)
                def __iter__(self): return iter(self.xs)
                def __len__(self): return len(self.xs)
                def add(self, x): self.xs.append(x)
            def start(): return Timer()
        """,
        suite("""
            from solution import Bag, Die, Timer, start
            def test_a():
                for t in (start(), Timer()):
                    assert t.elapsed >= 0 and t.elapsed >= 0
                assert all(1 <= d.face <= 6 for d in [Die()] for _ in range(20))
                b = Bag(1, 2)
                assert list(b) == [1, 2] and len(b) == 2
                b.add(3)
                assert list(b) == [1, 2, 3] and len(b) == 3
        """),
    ),
}

# What cannot change, and is kept or made anew.
KEEPS = """
    import datetime, functools
    from collections import namedtuple
    Point = namedtuple("Point", "x y")
    KEPT = {"point": Point(1000, 2), "lists": ([1], 2), "number": 10 ** 30,
            "day": datetime.date.max, "text": "ab cd " * 9, "set": frozenset("abc"),
            "float": 1.5, "nan": float("nan")}
    def kept(kind): return KEPT[kind]
    def new(n): return tuple(range(n))
    def same(x): return x
    def red(): return "red"
    def both(g, x): return [g(x), g(x)]
    class Node:
        def __init__(self): self.key = "some key"
        def get(self): return self.key
    NODE = Node()
    def node(): return NODE
"""
NAMES = "kept, new, same, red, both, node, KEPT"


def of_identity(text: str, *, in_file: bool) -> tuple[str, object]:
    lines = textwrap.indent(textwrap.dedent(text), "    ")
    if in_file:
        return KEEPS, suite(f"from solution import {NAMES}\ndef test_it():\n{lines}")
    return KEEPS, check(f"def check(candidate):\n{lines}", "same")


ONES = """
    for kind in KEPT:
        assert kept(kind) is kept(kind), kind
    assert new(3) is not new(3)
    key = ("a b", 2)
    assert same(key) is key and same([key])[0] is key
    want, nan = "red", float("nan")
    assert red() is want and same([nan]) == [nan]
    one, two = both(lambda x: x, key)
    assert one is two is key
    assert node().get() is node().key
    rows = kept("lists")
    rows[0].append(3)
    assert kept("lists") is rows and kept("lists")[0] == [1, 3]
"""
HONEST |= {
    f"one thing, {'in a file' if in_file else 'in a function'}": of_identity(ONES, in_file=in_file)
    for in_file in (False, True)
}
WRONG |= {
    f"must be another: {text}": of_identity(text, in_file=number % 2 == 0)
    for number, text in enumerate(
        (
            "assert kept('text') is not kept('text')",
            "a, b = kept('point'), kept('point')\nassert id(a) != id(b)",
            "assert node().get() is not node().key",
            "key = ([1], 2)\nassert same(key) is not key",
            "assert new(3) is new(3)",
            "import operator\nassert operator.is_not(kept('set'), kept('set'))",
        )
    )
}

HANDLERS = """
    handlers = []
    def on(f):
        if f not in handlers: handlers.append(f)
    def emit(x):
        for f in handlers: f(x)
    def printing(call):
        call()
        print("a")
"""
WRONG |= {
    f"what is equal is put on once: {made}": (
        HANDLERS,
        check(f"""
            class Own:
                def __init__(self): self.got = []
                def heard(self, x): self.got.append(x)
            def check(candidate):
                one = Own()
                on({made})
                on({made})
                emit(1)
                assert one.got == [1, 1]
        """),
    )
    for made in ("one.got.append", "one.heard")
}
WRONG["printed behind a callback"] = (
    HANDLERS,
    check("""
        import contextlib, io
        def check(candidate):
            with contextlib.redirect_stdout(io.StringIO()) as out:
                printing(lambda: print("b"))
            assert out.getvalue().split() == ["a", "b"]
    """),
)
HONEST["sources of random numbers"] = (
    """
    def drawn(*sources): return [s.random() for s in sources], [s.choice([5]) for s in sources]
    def shuffled(source, items):
        source.shuffle(items)
        return items
    """,
    check("""
        import random
        import numpy as np
        def made(): return random.Random(1), np.random.default_rng(1), np.random.RandomState(1)
        def check(candidate):
            wanted = [one.random() for one in made()], [5, 5, 5]
            assert drawn(*made()) == wanted
            for one, other in zip(made(), made()):
                items = [1, 2, 3, 4, 5, 6]
                other.shuffle(items)
                assert shuffled(one, [1, 2, 3, 4, 5, 6]) == items
    """),
)


@pytest.mark.parametrize(("completion", "tests"), WRONG.values(), ids=WRONG.keys())
async def test_it_earns_nothing(app: App, completion: str, tests: object) -> None:
    assessment = await app.evaluation.score(submission_of(completion, tests))
    assert assessment.verdict is not Verdict.INVALID_TASK, assessment
    assert assessment.reward == 0 or assessment.integrity is not Integrity.ISOLATED, assessment


@pytest.mark.parametrize(
    ("made", "change", "look"),
    [
        ("make()", "n.rows.append(1)", "rows == []"),
        ("Node(np.zeros(2))", "n.rows += 1", "rows.sum() == 0"),
        ("Node(a[:1])", "n.rows += 1", "a[0] == 0"),
    ],
)
async def test_a_field_of_a_prompts_object_that_is_replaced_behind_a_name_takes_the_label(
    app: App, made: str, change: str, look: str
) -> None:
    """The row brings a list of its own, and `rows` is another one from then on."""
    tests = check(f"""
        import numpy as np
        def check(candidate):
            a = np.zeros(2)
            n = {made}
            rows = n.rows
            candidate(n)
            assert {look}
    """)
    solution = f"import numpy as np\ndef make(): return Node([])\ndef f(n): {change}"
    assessment = await app.evaluation.score(submission_of(solution, tests, NODE))
    assert assessment.reward == 0 or assessment.integrity is not Integrity.ISOLATED, assessment


async def test_a_class_around_a_list_passes_calls_without_the_label(app: App) -> None:
    tests = CallTests(entry_point="f", cases=(CallCase(args_json="[1]", expected_json="[1]"),))
    solution = "import collections\ndef f(n): return collections.UserList([n])"
    assessment = await app.evaluation.score(submission_of(solution, tests))
    assert (assessment.reward, assessment.integrity) == (1, Integrity.SHARED), assessment


SORTS = "class Solution:\n    def f(self, nums: List[int]){arrow}:\n        {body}\n"
TURNS = "class Solution:\n    def f(self, head{hint}):\n        return head[::-1]\n"
TURNS_NODES = """
    class Solution:
        def f(self, head: Optional[ListNode]) -> Optional[ListNode]:
            last = None
            while head:
                head.next, last, head = last, head, head.next
            return last
"""
LISTS, NODES = "(self, nums: List[int]) -> List[int]", "(self, head: ListNode) -> ListNode"
TREES = NODES.replace("List", "Tree")
TYPED_BELOW = "(self, head):  # type: (ListNode) -> ListNode"
IN_PLACE = LISTS.replace("-> List[int]", "-> None")


@pytest.mark.parametrize(
    ("completion", "signature", "label"),
    [
        (SORTS.format(arrow=" -> List[int]", body="nums.sort()"), LISTS, None),
        (SORTS.format(arrow=" -> None", body="nums.sort()"), LISTS, None),
        (SORTS.format(arrow="", body="nums[:] = map(ListNode, [1, 2, 3])"), IN_PLACE, None),
        (TURNS.format(hint=""), NODES, None),
        (TURNS.format(hint=": List[int]"), NODES, None),
        (TURNS.format(hint=""), TREES, None),
        (TURNS_NODES.replace("return last", "return [1, 2, 3]"), NODES, None),
        (TURNS_NODES, LISTS, None),
        (SORTS.format(arrow="", body="return sorted(nums)"), IN_PLACE, Integrity.SHARED),
        (SORTS.format(arrow="", body="nums.sort()"), "", Integrity.SHARED),
        (TURNS_NODES, "", Integrity.SHARED),
        (TURNS_NODES, NODES, Integrity.ISOLATED),
        (TURNS_NODES.replace(": Optional[ListNode]", ""), NODES, Integrity.ISOLATED),
        (SORTS.format(arrow="", body="nums.sort()"), IN_PLACE, Integrity.ISOLATED),
        (TURNS.format(hint=""), "", Integrity.SHARED),
        (TURNS.format(hint=""), TYPED_BELOW, None),
        (TURNS_NODES.replace(": Optional[ListNode]", ""), TYPED_BELOW, Integrity.ISOLATED),
        (SORTS.format(arrow="", body="return sorted(nums)"), "(self, nums)", Integrity.SHARED),
    ],
)
async def test_the_prompts_signature_says_what_calls_take_and_give(
    app: App, completion: str, signature: str, label: Integrity | None
) -> None:
    cases = (CallCase(args_json="[[3, 2, 1]]", expected_json="[1, 2, 3]"),)
    tests = CallTests(entry_point="Solution().f", cases=cases)
    prompt = f"class Solution:\n    def f{signature}:\n" if signature else ""
    assessment = await app.evaluation.score(submission_of(completion, tests, prompt))
    assert assessment.verdict is not Verdict.INVALID_TASK, assessment
    assert assessment.reward == (label is not None), assessment
    assert label in (None, assessment.integrity), assessment


async def test_calls_whose_arrays_nobody_tells_of_are_refused_where_isolated_is_required(
    app: App,
) -> None:
    cases = (CallCase(args_json="[[3, 2, 1]]", expected_json="[1, 2, 3]"),)
    tests = CallTests(entry_point="Solution().f", cases=cases)
    submission = submission_of(TURNS.format(hint=""), tests, "class Solution:\n    def f(self, x):")
    with pytest.raises(UnsupportedError, match="no signature in the prompt"):
        await app.evaluation.score(replace(submission, require_integrity=Integrity.ISOLATED))


@pytest.mark.parametrize(("completion", "tests"), HONEST.values(), ids=HONEST.keys())
async def test_it_passes_isolated(app: App, completion: str, tests: object) -> None:
    submission = submission_of(completion, tests)
    assessment = await app.evaluation.score(
        replace(submission, require_integrity=Integrity.ISOLATED)
    )
    assert assessment.reward == 1, assessment
