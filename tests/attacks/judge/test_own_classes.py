"""Python's tests judged apart: what they hand over, raise or drop of classes of their own.

Each row states what must hold. A completion of `WRONG` fails in an ordinary process and earns
nothing as ISOLATED, and the right one beside it passes both. Those of `HONEST` pass an ordinary
process, and pass here. Those of `APART` do so as ISOLATED.
"""

from __future__ import annotations

from pathlib import Path

from reward_server.app import App
from reward_server.domain import Integrity
from tests.attacks.attack import code
from tests.attacks.judge.test_prompts_apart import checks, told
from tests.attacks.judge.test_waiting_apart import Row, assess, both, ordinary
from tests.support.common import on_the_servers_loop
from tests.support.sampling import each_row

pytestmark = on_the_servers_loop

NOTES = """
    class S:
        def __enter__(self): return self
        def __exit__(self, kind, error, traceback):
            self.told = f"{kind.__name__}: {error}" if kind else ""
            self.args = error.args if error else ()
            self.has_traceback = traceback is not None
            return kind is not None and issubclass(kind, RuntimeError)
"""
RAISES = """
    MINE
    s = candidate()
    try:
        with s:
            BODY
    except Exception:
        pass
    assert s.told == TOLD
"""


def raises(body: str, shown: str, mine: str = "") -> str:
    return code(RAISES).replace("MINE", mine).replace("BODY", body).replace("TOLD", shown)


SWALLOWS = """
    class Boom(Exception): pass
    s = candidate()
    try:
        with s:
            raise Boom('x')
    except Boom:
        left = True
    else:
        left = False
    assert s.told == 'RuntimeError: x'
"""
RETRY = """
    def retry(times, exceptions):
        def decorate(function):
            def wrapped(*args):
                for left in reversed(range(times)):
                    try:
                        return function(*args)
                    except exceptions:
                        if not left:
                            raise
            return wrapped
        return decorate
"""
RETRIES = """
    class Mine(Exception): pass
    calls = []
    @candidate(3, exceptions=(Mine,))
    def work():
        calls.append(1)
        if len(calls) < 3:
            raise Mine('again')
        return 7
    assert work() == 7 and len(calls) == 3
"""
TELLS = "def f(g):\n    try:\n        return g()\n    except Exception as e:\n        return WHAT\n"
OWN_ERROR = """
    class Mine(Exception):
        def __init__(self, code):
            super().__init__('mine')
            self.code = code
    def g(): raise Mine(5)
    assert candidate(g) == WANTED
"""
TWO_BASES = """
    class Mine(KeyError, ValueError): pass
    def g(): raise Mine('x')
    assert candidate(g) == 'key'
"""
FIRST = "def f(g):\n    try:\n        return g()\n    except {}:\n        return '{}'\n"
LATE = """
    class Early(ValueError): pass
    def deeper(): raise Early('x')
    def g(): return deeper()
    assert candidate(g) == 'Early'
"""
RAISED_BY_TESTS = {
    "a manager that is told of a class of the tests'": Row(
        right="class S:\n    told = 'RuntimeError: x'\n    def __enter__(self): return self\n"
        "    def __exit__(self, *_): return False\n",
        wrong=NOTES,
        tests=checks(SWALLOWS, "S"),
    ),
    **both(
        "an error of the tests' with two bases",
        right=FIRST.format("KeyError", "key"),
        wrong=FIRST.format("ValueError", "value") + "    except KeyError:\n        return 'key'\n",
        body=TWO_BASES,
    ),
    **both(
        "an error that a helper of a callback raises",
        right=TELLS.replace("WHAT", "type(e).__name__"),
        wrong=TELLS.replace("WHAT", "'Early' if type(e) is ValueError else ''"),
        body=LATE,
    ),
}
GUARDS = """
    class Boom(ValueError): pass
    def spoils(): raise Boom('x')
    s = candidate()
    try:
        with s:
            spoils()
    except Boom:
        pass
    assert s.told == 'Boom: x'
"""
OWN_OF_SOLUTION = """
    class Halt(Exception): pass
    class S:
        def __enter__(self): return self
        def __exit__(self, kind, error, traceback): self.is_halt = kind is Halt
        def stop(self, why): raise Halt(why)
"""
STOPS = """
    s = candidate()
    try:
        with s:
            s.stop('x')
    except Exception:
        pass
    assert s.is_halt
"""
TOLD_OF_ERRORS = {
    **both(
        "a manager, an error of the tests'",
        right=NOTES,
        entry="S",
        body=raises("raise Boom('x')", "'Boom: x'", "class Boom(Exception): pass"),
    ),
    **both("a manager, an error of a function of the tests'", right=NOTES, entry="S", body=GUARDS),
    **both("a class of the tests' to be caught", right=RETRY, body=RETRIES, entry="retry"),
    **both(
        "a class of a library's to be caught",
        right=RETRY,
        entry="retry",
        body="import json\n@candidate(2, exceptions=json.JSONDecodeError)\n"
        "def work(): return json.loads('{}')\nassert work() == {}\n",
    ),
    **both(
        "the name of an error of the tests'",
        right=TELLS.replace("WHAT", "type(e).__name__"),
        body=code(OWN_ERROR).replace("WANTED", "'Mine'"),
    ),
    **both(
        "a field of an error of the tests'",
        right=TELLS.replace("WHAT", "e.code"),
        body=code(OWN_ERROR).replace("WANTED", "5"),
    ),
}
TOLD_APART = {
    **both(
        "a manager, an error of a library's",
        right=NOTES,
        entry="S",
        body=raises("json.loads('{')", "s.told", "import json")
        + "assert s.told.startswith('JSONDecodeError')\n",
    ),
    **both(
        "a manager, an error with several arguments",
        right=NOTES,
        entry="S",
        body=raises(r"b'\xff'.decode()", "s.told")
        + "assert s.told.startswith('UnicodeDecodeError')\n",
    ),
    **both(
        "a manager, an error's arguments",
        right=NOTES,
        entry="S",
        body=raises("raise KeyError('k')", "\"KeyError: 'k'\"") + "assert s.args == ('k',)\n",
    ),
    **both(
        "a manager, an error's traceback",
        right=NOTES,
        entry="S",
        body=raises("1 / 0", "'ZeroDivisionError: division by zero'") + "assert s.has_traceback\n",
    ),
    "an error of a class of the prompt's that a callback raises": Row(
        prompt=told("class Halt(Exception): pass", "f(g)"),
        right="class Halt(Exception): pass\n"
        "def f(g):\n    try:\n        g()\n    except Halt as e:\n        return str(e)\n",
        tests=checks("def g(): raise Halt('x')\nassert candidate(g) == 'x'\n"),
    ),
    "a manager, an error of a class of the prompt's": Row(
        prompt=told("class Halt(Exception): pass", "f()"),
        right=code(OWN_OF_SOLUTION) + "def f(): return S()\n",
        tests=checks(
            "s = candidate()\ntry:\n    with s:\n        raise Halt('x')\n"
            "except Halt:\n    pass\nassert s.is_halt\n"
        ),
    ),
    **both("a manager, an error of its own", right=OWN_OF_SOLUTION, entry="S", body=STOPS),
    **both(
        "the name of a library's error that a callback raises",
        right=TELLS.replace("WHAT", "type(e).__name__"),
        body="import json\ndef g(): return json.loads('{')\n"
        "assert candidate(g) == 'JSONDecodeError'\n",
    ),
}

TYPE_IS = "def f(x):\n    return type(x) is list\n"
LATE_OWN = """
    class Own(list): pass
    def make(n):
        made = Own()
        made.append(n)
        return made
    assert candidate(make(1)) and not candidate((1,))
"""
HANDED = {
    **both(
        "a list of a derived class",
        right="def f(x):\n    return isinstance(x, list)\n",
        wrong=TYPE_IS,
        body="class Own(list): pass\nassert candidate(Own([1]))\nassert not candidate((1,))\n",
    ),
    **both(
        "a list of a derived class that a function makes",
        right="def f(x):\n    return isinstance(x, list)\n",
        wrong=TYPE_IS,
        body=LATE_OWN,
    ),
    **both(
        "a list of a derived class that a callback gives",
        right="def f(g):\n    return isinstance(g(), list)\n",
        wrong="def f(g):\n    return type(g()) is list\n",
        body="class Own(list): pass\nassert candidate(lambda: Own([1]))\n",
    ),
    **both(
        "a text of a derived class, put into an object of the solution's",
        right="class S:\n    def get(self): return isinstance(self.x, str)\n",
        wrong="class S:\n    def get(self): return type(self.x) is str\n",
        entry="S",
        body="class Own(str): pass\ns = candidate()\ns.x = Own('a')\nassert s.get()\n",
    ),
    **both(
        "a dictionary of a derived class",
        right="def f(x):\n    return list(x.items()) if isinstance(x, dict) else None\n",
        wrong="def f(x):\n    return list(x.items()) if type(x) is dict else None\n",
        body="class Own(dict): pass\nassert candidate(Own(a=1)) == [('a', 1)]\n",
    ),
    **both(
        "a number of an enumeration",
        right="def f(x):\n    return x + 1 if isinstance(x, int) else None\n",
        wrong="def f(x):\n    return x + 1 if type(x) is int else None\n",
        body="from enum import IntEnum\nclass N(IntEnum):\n    ONE = 1\n"
        "assert candidate(N.ONE) == 2\n",
    ),
    **both(
        "a number of a library's enumeration",
        right="def f(x):\n    return x + 1 if isinstance(x, int) else None\n",
        wrong="def f(x):\n    return x + 1 if type(x) is int else None\n",
        body="from http import HTTPStatus\nassert candidate(HTTPStatus.OK) == 201\n",
    ),
}
POINT = "class A:\n    def __init__(self): self.a = 1\n"
SHOUT = "class Loud(str):\n    def shout(self): return self.upper() + '!'\n"
LOOKS = {
    name: Row(
        right=f"import dataclasses, inspect\ndef f(x, *more):\n    return {expression}\n",
        tests=checks(body),
    )
    for name, expression, body in (
        ("the name of an object's class", "type(x).__name__", POINT + "assert f(A()) == 'A'"),
        ("an object's fields", "vars(x)", POINT + "assert f(A()) == {'a': 1}"),
        ("an object's dictionary", "x.__dict__", POINT + "assert f(A()) == {'a': 1}"),
        ("a class to be an instance of", "isinstance(x, more[0])", POINT + "assert f(A(), A)"),
        ("what cannot be called", "callable(x)", POINT + "assert not f(A())"),
        ("what has no length", "hasattr(x, '__len__')", POINT + "assert not f(A())"),
        (
            "an object of a data class",
            "dataclasses.asdict(x)",
            "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n"
            "assert f(P(1)) == {'x': 1}",
        ),
        (
            "an enumeration",
            "[one.value for one in x]",
            "from enum import Enum\nclass C(Enum):\n    A = 1\n    B = 2\nassert f(C) == [1, 2]",
        ),
        ("a method of a text's class", "x.shout()", SHOUT + "assert f(Loud('a')) == 'A!'"),
        (
            "fields of a namespace",
            "vars(x)",
            "from types import SimpleNamespace\nassert f(SimpleNamespace(a=1)) == {'a': 1}",
        ),
        (
            "a base of a class",
            "issubclass(x, more[0])",
            POINT + "class B(A): pass\nassert f(B, A) and not f(A, B)",
        ),
    )
}
LOOKS_APART = {
    name: Row(
        right=f"import inspect, types\ndef f(x):\n    return {expression}\n", tests=checks(body)
    )
    for name, expression, body in (
        (
            "a function's parameters",
            "list(inspect.signature(x).parameters)",
            "def g(a, b): pass\nassert f(g) == ['a', 'b']",
        ),
        (
            "how many arguments a function takes",
            "x.__code__.co_argcount",
            "assert f(lambda a, b: a + b) == 2",
        ),
        (
            "how many arguments a function needs",
            "len(inspect.getfullargspec(x).args) - len(x.__defaults__)",
            "def g(a, b, c=1): pass\nassert f(g) == 2",
        ),
        (
            "a function's annotations",
            "x.__annotations__",
            "def g(a: int) -> str: pass\nassert f(g) == {'a': int, 'return': str}",
        ),
        ("what is a function", "isinstance(x, types.FunctionType)", "assert f(lambda: 1)"),
        ("the name of its class", "type(x).__name__", "assert f(lambda: 1) == 'function'"),
        (
            "the parameters of a function with a wrapper",
            "list(inspect.signature(x).parameters)",
            "import functools\ndef w(g):\n    @functools.wraps(g)\n"
            "    def inner(*args): return g(*args)\n    return inner\n"
            "def g(a, b): pass\nassert f(w(g)) == ['a', 'b']",
        ),
    )
}
CURRY = """
    import inspect
    def curry(g, *given):
        def more(*args):
            both = (*given, *args)
            needed = len(inspect.signature(g).parameters)
            return g(*both) if len(both) >= needed else curry(g, *both)
        return more
"""
LOOKS_APART |= both(
    "a function that is curried",
    right=CURRY,
    entry="curry",
    body="def add(a, b, c): return a + b + c\nassert candidate(add)(1)(2)(3) == 6\n"
    "assert candidate(add)(1, 2)(3) == 6\n",
)

DIES = "class S:\n    def __init__(self, log): self.log = log\n"
ENDS = "    def __del__(self): self.log.append('end')\n"
CLOSES = "def f(log):\n    try:\n        yield 1\n    finally:\n        log.append('end')\n"
STARTED = "log = []\ng = candidate(log)\nassert next(g) == 1\ndel g\n"
DROPPED = {
    **both(
        "a generator that is dropped",
        right="def f(log):\n    yield 1\n",
        wrong=CLOSES,
        body=STARTED + "assert log == []\n",
    ),
    **both(
        "an object that is dropped",
        right=DIES,
        wrong=DIES + ENDS,
        entry="S",
        body="log = []\ns = candidate(log)\ndel s\nassert log == []\n",
    ),
    **both(
        "an object whose name means nothing any more",
        right=DIES,
        wrong=DIES + ENDS,
        entry="S",
        body="log = []\ns = candidate(log)\ns = None\nassert log == []\n",
    ),
}
DROPS = {
    **both("a generator that is dropped", right=CLOSES, body=STARTED + "assert log == ['end']\n"),
    **both(
        "an object that is dropped",
        right=DIES + ENDS,
        entry="S",
        body="log = []\ns = candidate(log)\ndel s\nassert log == ['end']\n",
    ),
    **both(
        "an object whose name means nothing any more",
        right=DIES + ENDS,
        entry="S",
        body="log = []\ns = candidate(log)\ns = None\nassert log == ['end']\n",
    ),
    "a prompt that speaks of the end of an object": Row(
        right=DIES + ENDS,
        prompt="class S:\n    '''Its destructor appends 'end' to the log.'''\n",
        tests=checks(
            "log = []\ndef use():\n    s = candidate(log)\nuse()\nassert log == ['end']\n", "S"
        ),
    ),
}

WRONG = {
    **{f"raised, {name}": row for name, row in RAISED_BY_TESTS.items()},
    **{f"handed over, {name}": row for name, row in HANDED.items()},
    **{f"dropped, {name}": row for name, row in DROPPED.items()},
}
HONEST = {
    **{f"raised, {name}": row for name, row in TOLD_OF_ERRORS.items()},
    **{f"handed over, {name}": row for name, row in LOOKS.items()},
    **{f"dropped, {name}": row for name, row in DROPS.items()},
}
APART = {
    **{f"raised, {name}": row for name, row in TOLD_APART.items()},
    **{f"handed over, {name}": row for name, row in LOOKS_APART.items()},
}


# What an ordinary process says of a row is said of the row alone: a run asks it of some.
@each_row(WRONG, 16)
async def test_an_ordinary_process_tells_right_from_wrong(row: Row, tmp_path: Path) -> None:
    for name in ("wrong", "right"):
        tmp_path.joinpath(name).mkdir()
    assert await ordinary(row, row.wrong, tmp_path / "wrong")
    assert not await ordinary(row, row.right, tmp_path / "right")


@each_row(HONEST | APART, 8)
async def test_an_ordinary_process_passes_an_honest_solution(row: Row, tmp_path: Path) -> None:
    assert not await ordinary(row, row.right, tmp_path)


@each_row(WRONG)
async def test_a_wrong_solution_earns_nothing(app: App, row: Row) -> None:
    found = await assess(app, row, row.wrong)
    assert found is not None
    assert not found.reward or found.integrity is not Integrity.ISOLATED, found


@each_row(WRONG, 6)
async def test_the_right_solution_beside_it_passes(app: App, row: Row) -> None:
    found = await assess(app, row, row.right)
    assert found is not None
    assert found.reward == 1, found


@each_row(HONEST, 6)
async def test_an_honest_solution_passes(app: App, row: Row) -> None:
    found = await assess(app, row, row.right)
    assert found is not None
    assert found.reward == 1, found


@each_row(APART)
async def test_an_honest_solution_passes_apart(app: App, row: Row) -> None:
    found = await assess(app, row, row.right)
    assert found is not None
    assert (found.reward, found.integrity) == (1, Integrity.ISOLATED), found
