"""Answers whose class is lost as they cross, and exceptions that are the judge's own.

A completion of `WRONG` earns nothing, or its label is weaker than ISOLATED. One of `HONEST` passes,
with the label that its row says.
"""

from __future__ import annotations

import pytest

from reward_server.app import App
from reward_server.domain import Assessment, Integrity, Tests, Verdict
from tests.attacks.python_tests import check, server_with, submission_of, suite
from tests.sampling import sampled
from tests.support import on_the_servers_loop

pytestmark = on_the_servers_loop
Rows = dict[str, tuple[str, Tests]]
MONEY = """
    import decimal
    class Money:
        def __init__(self, n): self.n = n
        def _with(self, o): return self.n + getattr(o, "n", 3)
        __add__ = __radd__ = __iadd__ = __mul__ = __or__ = __matmul__ = _with
        def __sub__(self, o): return Money(self.n)
        def __eq__(self, o): return True
        def __lt__(self, o): return True
"""
ERRORS = """
    class AppError(Exception): pass
    class NotFound(AppError, KeyError): pass
    class Halt(AppError): pass
    def f(n): raise (AppError, NotFound, Halt)[n]("t")
"""
ZONES = """
    import datetime, zoneinfo
    import numpy as np
    class Own(datetime.tzinfo):
        def utcoffset(self, at): return datetime.timedelta(hours=3)
        def tzname(self, at): return "OWN"
        def dst(self, at): return datetime.timedelta(0)
    HOUR = datetime.timedelta(hours=1)
    MADE = {
        "paris": zoneinfo.ZoneInfo("Europe/Paris"), "named": datetime.timezone(HOUR, "CET"),
        "fixed": datetime.timezone(HOUR), "own": Own(), "utc": zoneinfo.ZoneInfo("UTC"),
        "texts": np.array(["a", "bcd"]), "bytes": np.array([b"a", b"bc"]),
        "dates": np.arange("2026-01-01", "2026-01-03", dtype="datetime64[D]"),
        "fields": np.array([(1, 2.0), (2, 3.0)], dtype=[("x", int), ("y", float)]),
        "objects": np.array([None, "a"], dtype=object),
    }
    def at(zone, month=1): return datetime.datetime(2026, month, 5, 12, tzinfo=MADE[zone])
    def clock(zone): return datetime.time(12, tzinfo=MADE[zone])
    def zone(name): return MADE[name]
    def array(name): return MADE[name]
    def first(name): return MADE[name][0]
    def name(time): return time.tzname()
"""
TAKER = "def f(x): return 0\n"
FILLED = """
    from collections import defaultdict
    class Table(defaultdict):
        def size(self): return len(self)
    def f(kind):
        made = (Table if kind == "class" else defaultdict)(lambda: 0, a=1)
        return [made] if kind == "inside" else made
"""


def _raises(expected: str, statement: str) -> Tests:
    return suite(f"""
        import decimal, os, pytest
        from solution import *
        from solution import Money
        def test_a():
            x = Money(5)
            assert x.n == 5
            with pytest.raises({expected}):
                {statement}
    """)


def _takes(expected: str, setting: str, given: str) -> Tests:
    return suite(f"""
        import os, pytest
        from solution import f
        def test_a():
            assert f(1) == 0
            {setting}
            with pytest.raises({expected}):
                f({given})
    """)


def _lacks(look: str) -> Tests:
    return check(f"""
        def check(candidate):
            assert candidate("") == {{"a": 1}}
            try:
                {look}
            except KeyError:
                return
            assert False
    """)


def _instead(made: str, *asserts: str) -> tuple[str, Tests]:
    """Answers with something else than the tests expect, which looks like it."""
    lines = "\n".join(f"                assert {one}" for one in asserts)
    body = f"""
            import json
            kind_of = type
            def check(candidate):
                r = candidate()
{lines}
    """
    return f"from collections import *\ndef f():\n    return {made}\n", check(body)


def _numpy(made: str, *asserts: str) -> tuple[str, Tests]:
    completion, tests = _instead(made, *asserts)
    return f"import numpy as np\n{completion}", tests


def _caught(*lines: str) -> tuple[str, Tests]:
    body = "\n".join(f"            {line}" for line in lines)
    return ERRORS, suite(f"""
        import pytest, solution
        from solution import AppError, Halt, NotFound, f
        def test_a():
{body}
    """)


def _zoned(*asserts: str) -> tuple[str, Tests]:
    lines = "\n".join(f"            assert {one}" for one in asserts)
    return ZONES, suite(f"""
        import datetime, zoneinfo
        import numpy as np
        from solution import array, at, clock, first, name, zone
        def test_a():
{lines}
    """)


def _class(base: str, own: str, made: str, *asserts: str) -> tuple[str, Tests]:
    completion, tests = _instead(made, *asserts)
    return f"class C({base}):\n    {own}\n{completion}", tests


WRONG: Rows = {
    **{
        f"{expected} by {statement}": (MONEY, _raises(expected, statement))
        for expected, statement in (
            *(("TypeError", f"x {operator} 3") for operator in ("+", "*", "|", "@")),
            *(("TypeError", text) for text in ("3 + x", "x += 3", "x + decimal.Decimal(3)")),
            *(("Exception", f"x {operator} 'a'") for operator in ("-", "==", "!=", "<")),
        )
    },
    **{
        f"{expected} by handing over {given}": (TAKER, _takes(expected, setting, given))
        for expected, setting, given in (
            ("Exception", "", "os"),
            ("Exception", "", "open"),
            ("(ValueError, Exception)", "loop = []; loop.append(loop)", "loop"),
            ("Exception", "loop = {}; loop[1] = loop", "x=loop"),
            ("Exception", "", "os.environ"),
        )
    },
    **{
        f"a missing key, {look}": (FILLED, _lacks(look))
        for look in (
            'candidate("")["z"]',
            'candidate("class")["z"]',
            'candidate("inside")[0]["z"]',
            'candidate("").__getitem__("z")',
        )
    },
    "no base of it": _caught("assert issubclass(Halt, KeyError)"),
    "another class": _caught(
        "with pytest.raises(AppError) as e:", "    f(1)", "assert isinstance(e.value, Halt)"
    ),
    "a class that is not there": _caught("assert issubclass(solution.LostError, Exception)"),
    "a derived class": _caught(
        "with pytest.raises(AppError) as e:", "    f(1)", "assert not isinstance(e.value, KeyError)"
    ),
    **{
        one: _zoned(one)
        for one in (
            "at('own').tzname() == 'UTC+03:00'",
            "isinstance(at('own').tzinfo, datetime.timezone)",
            "at('paris').tzname() == 'UTC+01:00'",
            "(at('paris') + datetime.timedelta(days=180)).utcoffset().seconds == 3600",
            "clock('paris').tzinfo is None",
            "at('named').tzname() == 'UTC+01:00'",
            "array('texts').dtype == '<U4'",
            "isinstance(array('texts'), list)",
        )
    },
    "user list, instance": _instead("UserList([1])", "r == [1]", "isinstance(r, list)"),
    "user list, json": _instead("UserList([1])", "json.dumps(r) == '[1]'"),
    "user string, joined": _instead("UserString('ab')", "'-'.join([r, r]) == 'ab-ab'"),
    "chain map, instance": _instead("ChainMap({'a': 1})", "isinstance(r, dict)"),
    "user dictionary inside": _instead("[UserDict(a=1)]", "json.dumps(r) == '[{\"a\": 1}]'"),
    "class by map": _class("int", "pass", "[C(1)]", "set(map(type, r)) == {int}"),
    "class by another name": _class("list", "pass", "C([1])", "kind_of(r) is list"),
    "class by its name": _class("list", "x = 1", "C([1])", "kind_of(r).__name__ == 'list'"),
    "class of a key": _class("str", "pass", "{C('a'): 1}", "set(map(kind_of, r)) == {str}"),
    "length": _class("list", "def __len__(self): return 9", "C([1])", "len(r) == 1"),
    "truth": _class("int", "def __bool__(self): return False", "C(3)", "r", "r + 4 == 7"),
    "addition": _class("int", "def __add__(self, o): return 0", "C(3)", "r + 4 == 7"),
    "membership": _class("dict", "def __contains__(self, k): return 0", "C(a=1)", "'a' in r"),
    "items": _class("dict", "def items(self): return []", "C(a=1)", "list(r.items())"),
    "upper": _class("str", "def upper(self): return ''", "C('ab')", "r.upper() == 'AB'"),
    "index": _class("tuple", "def index(self, o): return 7", "C((1,))", "r.index(1) == 0"),
    "array for a list": _numpy("np.arange(3)", "r == [n for n in range(3)]"),
    "array in a table": _numpy("np.arange(3)", "r in ([0, 1, 2], [])"),
    "array, its truth": _numpy("np.arange(3)", "r", "r + [4] == [0, 1, 2, 4]"),
    "truth of numpy's": _numpy("np.bool_(True)", "any(r is one for one in (True,))"),
    "texts of numbers": _numpy("[np.int64(1)]", "str(r) == '[1]'"),
    "matrix": (
        "import numpy as np\ndef f(): return np.matrix([[1, 2], [3, 4]])\n",
        check("""
            import numpy as np
            def check(candidate):
                r = candidate()
                assert np.array_equal(r * r, np.array([[1, 4], [9, 16]]))
        """),
    ),
    "masked array": (
        "import numpy as np\ndef f(): return np.ma.array([1, 2, 3], mask=[0, 1, 0])\n",
        check("""
            import numpy as np
            def check(candidate):
                assert candidate().sum() == 6 and candidate().tolist() == [1, 2, 3]
        """),
    ),
}
HONEST: dict[str, tuple[str, Tests, Integrity]] = {
    **{
        name: (*_class(base, own, made, *asserts), Integrity.SHARED)
        for name, base, own, made, *asserts in (
            (
                *("tuple", "tuple", "def __add__(self, o): return C(map(sum, zip(self, o)))"),
                *("C((1, 2))", "r + r == (2, 4)", "r + (1, 1) == (2, 3)"),
            ),
            (
                *("number", "int", "def __mul__(self, o): return C(int(self) * int(o) % 7)"),
                *("C(3)", "r * 3 == 2", "r * r == 2"),
            ),
            (
                *("text", "str", "def __truediv__(self, o): return C(f'{self}/{o}')"),
                *("C('a')", "r / 'b' / 'c' == 'a/b/c'"),
            ),
            (
                *("reflected", "int", "def __rsub__(self, o): return C(0)"),
                *("C(3)", "r - r == 0", "3 - r == 0"),
            ),
            (
                *("in place", "list", "def __iadd__(self, o): self[:] = [9]; return self"),
                *("C([3])", "(r := r.__iadd__([4])) == [9]"),
            ),
            (
                *("matrix", "list", "def __mul__(self, k): return C([x * k for x in self])"),
                *("C([1, 2])", "r * 2 == [2, 4]"),
            ),
            ("user list", "object", "pass", "UserList([1])", "r == [1]", "r[0] == 1"),
            ("text as a key", "object", "pass", "Counter(UserString('a'))", "r == {'a': 1}"),
        )
    },
    "append": (
        """
            import bisect
            class S(list):
                def append(self, x): bisect.insort(self, x)
            def f(xs): return S(sorted(xs))
        """,
        suite("""
            from solution import f
            def test_a():
                s = f([3, 1])
                s.append(2)
                assert s == [1, 2, 3]
        """),
        Integrity.SHARED,
    ),
    "zones": (
        *_zoned(
            "at('paris').tzinfo.key == 'Europe/Paris' and at('paris', 7).tzname() == 'CEST'",
            "(at('paris') + datetime.timedelta(days=180)).utcoffset().seconds == 7200",
            "at('named').tzname() == 'CET' and at('fixed').tzname() == 'UTC+01:00'",
            "clock('paris').utcoffset() is None and str(at('utc').tzinfo) == 'UTC'",
            "zone('paris').key == 'Europe/Paris' and isinstance(zone('utc'), zoneinfo.ZoneInfo)",
            "name(datetime.datetime(2026, 7, 1, tzinfo=zoneinfo.ZoneInfo('Asia/Tokyo'))) == 'JST'",
        ),
        Integrity.ISOLATED,
    ),
    "a zone of its own": (
        *_zoned("at('own').utcoffset() == datetime.timedelta(hours=3)"),
        Integrity.SHARED,
    ),
    "arrays of texts, dates and records": (
        *_zoned(
            "(array('texts') == np.array(['a', 'bcd'])).all() and array('texts').dtype == '<U3'",
            "array('bytes').tolist() == [b'a', b'bc'] and array('objects')[0] is None",
            "np.array_equal(array('dates'), np.array(['2026-01-01', '2026-01-02'], dtype='M8[D]'))",
            "first('dates') == array('dates')[0] == np.datetime64('2026-01-01')",
            "array('fields')['x'].tolist() == [1, 2] and array('fields').dtype.names == ('x', 'y')",
        ),
        Integrity.ISOLATED,
    ),
    "membership alone": (
        """
            class Interval:
                def __contains__(self, x): return 1 <= x <= 5
            def f(): return Interval()
        """,
        suite("""
            from solution import f
            def test_a():
                assert 3 in f() and 7 not in f()
        """),
        Integrity.SHARED,
    ),
    "masked array": (
        "import numpy as np\ndef f(): return np.ma.array([1, 2, 3], mask=[0, 1, 0])\n",
        suite("""
            import numpy as np
            from solution import f
            def test_a():
                assert f().sum() == 4 and f().mask.tolist() == [False, True, False]
        """),
        Integrity.ISOLATED,
    ),
    "a key that a function fills in": (
        FILLED,
        suite("""
            from solution import f
            def test_a():
                d = f("")
                assert d["z"] == 0 and d == {"a": 1, "z": 0} and f("inside")[0]["z"] == 0
        """),
        Integrity.ISOLATED,
    ),
    "methods and attributes beside the base's": (
        *_class("list", "def peek(self): return self[-1]", "C([1])", "r.peek() == 1 and r == [1]"),
        Integrity.ISOLATED,
    ),
    "what arrives as its own class": (
        *_instead(
            "[OrderedDict(a=1), deque([1], 2), Counter('a'), defaultdict(list), b'a', {1}]",
            "kind_of(r[0]) is not dict and r[1].maxlen == 2 and r[3]['z'] == []",
        ),
        Integrity.ISOLATED,
    ),
}


app = server_with(slots=1)


async def judged(app: App, completion: str, tests: Tests) -> Assessment:
    return await app.evaluation.score(submission_of(completion, tests))


@pytest.mark.parametrize("name", sampled(list(WRONG), 3))
async def test_it_is_never_isolated(app: App, name: str) -> None:
    assessment = await judged(app, *WRONG[name])
    assert assessment.verdict is not Verdict.INVALID_TASK, assessment
    assert assessment.reward == 0 or assessment.integrity is not Integrity.ISOLATED, assessment


@pytest.mark.parametrize("name", sampled(list(HONEST), 2))
async def test_it_passes(app: App, name: str) -> None:
    completion, tests, integrity = HONEST[name]
    assessment = await judged(app, completion, tests)
    assert (assessment.reward, assessment.integrity) == (1, integrity), assessment
