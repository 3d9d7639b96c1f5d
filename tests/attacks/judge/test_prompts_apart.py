"""Python's tests judged apart: what prompts define, what surrounds the tests, and parts of rewards.

Each row states what must hold. A completion of `WRONG` fails in an ordinary process and earns
nothing as ISOLATED. One of `CHEATS` solves nothing, and earns nothing where an honest one's label
is ISOLATED. Those of `HONEST` pass an ordinary process, and pass here.
"""

from __future__ import annotations

import asyncio
import textwrap
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from reward_server.app import App
from reward_server.domain import (
    CallCase,
    CallTests,
    Extraction,
    Framework,
    FunctionTests,
    Integrity,
    RewardPolicy,
    RewardPolicyKind,
    Submission,
    Tests,
    UnitTests,
    Verdict,
)
from tests.attacks.attack import code
from tests.attacks.python_tests import LIMITS, submission_of
from tests.honest.ordinary import run_files, run_functions
from tests.support.common import on_the_servers_loop
from tests.support.sampling import each_row

pytestmark = on_the_servers_loop


@dataclass(frozen=True, kw_only=True)
class Row:
    """A completion and what judges it.

    Args:
        prompt: the task's.
        solution: the completion.
        tests: the task's.
        is_prose: whether the prompt is no part of the program.
    """

    solution: str
    tests: Tests
    prompt: str = ""
    is_prose: bool = False


def checks(body: str, entry: str = "f") -> FunctionTests:
    text = "def check(candidate):\n" + textwrap.indent(code(body), "    ")
    return FunctionTests(entry_point=entry, test_code=text)


def asserts(*lines: str, entry: str = "") -> FunctionTests:
    return FunctionTests(entry_point=entry, test_code="", asserts=lines)


def files(body: str, framework: Framework = Framework.PYTEST, **others: str) -> UnitTests:
    more = ((name.replace("_dot_", "."), code(text)) for name, text in others.items())
    return UnitTests(
        framework=framework,
        files=(("test_s.py", code(body)), *more),
        solution_path="solution.py",
    )


def told(definitions: str, name: str = "f(x)") -> str:
    return code(definitions) + f"\ndef {name}:\n    '''As the task says.'''\n"


SLOW = """
    import time
    def f(x):
        began = time.process_time()
        while time.process_time() - began < 0.5:
            pass
        return x
"""
SORTS = "def f(xs):\n    print('noise')\n    return sorted(xs)\n"
ROOT = "import math\ndef f(x):\n    return math.sqrt(x)\n"
DRAW = "import random\ndef f():\n    return random.random()\n"
WARNS = "import warnings\ndef f():\n    warnings.warn('old')\n    return 1\n"
SAME = "def f(x):\n    return x\n"
EMPTIES = "def f(xs):\n    xs.clear()\n    return []\n"
IS_SORTED = "def f(xs):\n    return sorted(xs)\n"
DOG = "class Dog(Animal):\n    pass\ndef f(x):\n    return Dog(x)\n"
ANIMAL = told("""
    class Animal:
        def __init__(self, name):
            self.name = name
""")
BANNED = "def no(*args): raise RuntimeError('forbidden')\n"
TWO = "def double(x):\n    return x + x\n\ndef quad(x):\n    return double(double(x))\n"
OPTIMIZE = "Make it faster:\n\n```python\ndef add(a, b):\n    return a + b\n```\n"
ROOT_TEST = "from solution import f\ndef test_a():\n    assert f(4) == 2\n"
WARNS_TEST = "from solution import f\ndef test_a():\n    assert f() == 1\n"
DRAW_TEST = "from solution import f\ndef test_a():\n    assert f() == 0.8444218515250481\n"

LISTENS = """
    import contextlib, io
    def heard(*args):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            candidate(*args)
        return out.getvalue()
"""
# What prints where tests that exchange `sys.stdout` do not listen.
ELSEWHERE = {
    "past all streams": "import os\ndef f(n):\n    os.write(1, b'%d\\n' % n)\n",
    "to the stream of before": "from sys import stdout\ndef f(n):\n    print(n, file=stdout)\n",
    "to what the stream of before writes with": """
        import sys
        write = sys.stdout.write
        def f(n):
            write(f"{n}\\n")
    """,
    "to the process's own stream": """
        import sys
        def f(n):
            print(n, file=sys.__stdout__, flush=True)
    """,
    "in a child": "import os\ndef f(n):\n    os.system(f'echo {n}')\n",
    "to the errors": "import sys\ndef f(n):\n    print(n, file=sys.stderr)\n",
}


WRONG = {
    **{
        f"prints {name}": Row(
            solution=solution, tests=checks(LISTENS + "    assert heard(3) == '3\\n'")
        )
        for name, solution in ELSEWHERE.items()
    },
    "prints noise behind what is kept": Row(
        solution="print(' ' * 70000)\n" + SORTS,
        tests=checks(LISTENS + "    assert candidate([2, 1]) == [1, 2] and heard([2, 1]) == ''"),
    ),
    "changes a list of the prompt's": Row(
        prompt=told("LOG = []"),
        solution="def f(x):\n    LOG.append(x)\n    return x\n",
        tests=checks("assert f(1) == 1\nassert LOG == []"),
    ),
    "makes objects that a class of the prompt's counts": Row(
        prompt=told("""
            class Node:
                made = 0
                def __init__(self):
                    Node.made += 1
        """),
        solution="def f(x):\n    Node()\n    return x\n",
        tests=checks("assert f(1) == 1\nassert Node.made == 0"),
    ),
    "changes an object that the prompt made": Row(
        prompt=told("""
            class Config:
                def __init__(self):
                    self.debug = False
            config = Config()
        """),
        solution="def f(x):\n    config.debug = True\n    return x\n",
        tests=checks("assert f(1) == 1\nassert config.debug is False"),
    ),
    "writes by a class method of the prompt's": Row(
        prompt=told("""
            class Log:
                lines = []
                @classmethod
                def write(cls, line):
                    cls.lines.append(line)
        """),
        solution="def f(x):\n    Log.write(x)\n    return x\n",
        tests=checks("assert f(1) == 1\nassert Log.lines == []"),
    ),
    "calls a counted function of the prompt's too often": Row(
        prompt=told("""
            calls = 0
            def is_bad(version):
                global calls
                calls += 1
                return version >= 700
            def spent():
                return calls
        """),
        solution="def f(x):\n    return next(i for i in range(x) if is_bad(i))\n",
        tests=checks("assert f(1000) == 700\nassert spent() <= 12"),
    ),
    "calls too often, counted in the function's attribute": Row(
        prompt=told("""
            def is_bad(version):
                is_bad.calls += 1
                return version >= 700
            is_bad.calls = 0
        """),
        solution="def f(x):\n    return next(i for i in range(x) if is_bad(i))\n",
        tests=checks("assert f(1000) == 700\nassert is_bad.calls <= 12"),
    ),
    "calls a cached function of the prompt's too often": Row(
        prompt=told("""
            from functools import lru_cache
            @lru_cache(None)
            def slow(x):
                return x
        """),
        solution="def f(x):\n    return sum(map(slow, range(9))) and x\n",
        tests=checks("assert f(1) == 1\nassert slow.cache_info().misses <= 1"),
    ),
    "calls a built-in function that the prompt counts": Row(
        prompt=told("""
            import builtins
            COUNTS = {"sorted": 0}
            real = builtins.sorted
            def counted(*args):
                COUNTS["sorted"] += 1
                return real(*args)
            builtins.sorted = counted
        """),
        solution="def f(x):\n    return sorted([x])[0]\n",
        tests=checks("assert f(1) == 1\nassert COUNTS['sorted'] == 0"),
    ),
    "takes CPU time that a function of the prompt's measures": Row(
        prompt=told("""
            import time
            def timed(function):
                began = time.process_time()
                function()
                return time.process_time() - began
        """),
        solution=SLOW,
        tests=checks("assert timed(lambda: f(3)) < 0.2"),
    ),
    "takes CPU time that a class of the prompt's measures": Row(
        prompt=told("""
            import time
            class Timer:
                def __enter__(self):
                    self.began = time.process_time()
                    return self
                def __exit__(self, *_):
                    self.spent = time.process_time() - self.began
        """),
        solution=SLOW,
        tests=checks("with Timer() as timer:\n    assert f(3) == 3\nassert timer.spent < 0.2"),
    ),
    "takes CPU time by a name that the prompt imports": Row(
        prompt=told("from time import process_time as clock"),
        solution=SLOW,
        tests=checks("began = clock()\nassert f(3) == 3\nassert clock() - began < 0.2"),
    ),
    "takes CPU time by a module that the prompt imports": Row(
        prompt=told("import time as t"),
        solution=SLOW,
        tests=checks("a = t.process_time()\nassert f(3) == 3\nassert t.process_time() - a < 0.2"),
    ),
    "takes memory that a function of the prompt's traces": Row(
        prompt=told("""
            import tracemalloc
            def peak(function):
                tracemalloc.start()
                function()
                found = tracemalloc.get_traced_memory()[1]
                tracemalloc.stop()
                return found
        """),
        solution="def f(x):\n    return len([0] * 10**6)\n",
        tests=checks("assert peak(lambda: f(1)) < 10**5"),
    ),
    "leaves a file that a function of the prompt's finds": Row(
        prompt=told("""
            import os
            def leftover():
                return os.path.exists("out.txt")
        """),
        solution="def f(x):\n    open('out.txt', 'w').close()\n    return x\n",
        tests=checks("assert f(1) == 1\nassert not leftover()"),
    ),
    "sets a variable that a function of the prompt's reads": Row(
        prompt=told("""
            import os
            def mode():
                return os.environ.get("MODE")
        """),
        solution="import os\ndef f(x):\n    os.environ['MODE'] = 'bad'\n    return x\n",
        tests=checks("assert f(1) == 1\nassert mode() is None"),
    ),
    "uses what a function of the prompt's forbids": Row(
        prompt=told("""
            import builtins, contextlib
            @contextlib.contextmanager
            def forbidden(name):
                real = getattr(builtins, name)
                def no(*args):
                    raise RuntimeError("forbidden")
                setattr(builtins, name, no)
                try:
                    yield
                finally:
                    setattr(builtins, name, real)
        """),
        solution="def f(x):\n    return sorted([x])[0]\n",
        tests=checks("with forbidden('sorted'):\n    assert f(1) == 1"),
    ),
    "has names in its code that a function of the prompt's looks for": Row(
        prompt=told("""
            def calls(function, name):
                return name in getattr(getattr(function, "__code__", None), "co_names", ())
        """),
        solution="def f(x):\n    return sorted([x])[0]\n",
        tests=checks("assert f(1) == 1 and not calls(f, 'sorted')"),
    ),
    "prints what a function of the prompt's captures": Row(
        prompt=told("""
            import contextlib, io
            def captured(function):
                out = io.StringIO()
                with contextlib.redirect_stdout(out):
                    function()
                return out.getvalue()
        """),
        solution="def f(x):\n    print('noise')\n    return x\n",
        tests=checks("assert captured(lambda: f(1)) == ''"),
    ),
    "a function that the prompt's prose has, no entry point": Row(
        prompt=OPTIMIZE,
        is_prose=True,
        solution="def add(a, b):\n    return 7\n",
        tests=asserts("assert add(1, 2) == 3", "assert add(2, 2) == 4"),
    ),
    "functions that the prompt defines, no entry point": Row(
        prompt=TWO,
        solution="def double(x):\n    return 1\ndef quad(x):\n    return 4\n",
        tests=asserts("assert quad(1) == 4", "assert quad(2) == 8"),
    ),
    "a function of the prompt's beside the entry point": Row(
        prompt=TWO,
        solution="def double(x):\n    return 0\n\ndef quad(x):\n    return 4 * x\n",
        tests=checks("assert quad(1) == 4\nassert double(2) == 4", "quad"),
    ),
    "an entry point that a function of the prompt's calls": Row(
        prompt=TWO,
        solution="def double(x):\n    return 0\n",
        tests=checks("assert quad(3) == 12", "double"),
    ),
    "an object of a class that it must not be of": Row(
        prompt=ANIMAL,
        solution=DOG,
        tests=checks("x = f('a')\nassert x.name == 'a'\nassert not isinstance(x, Animal)"),
    ),
    "uses what an autouse fixture patches by assignment": Row(
        solution=ROOT,
        tests=files(
            ROOT_TEST,
            conftest_dot_py=BANNED
            + """
import math, pytest
@pytest.fixture(autouse=True)
def banned():
    real, math.sqrt = math.sqrt, no
    yield
    math.sqrt = real
""",
        ),
    ),
    "uses what an autouse fixture patches by monkeypatch": Row(
        solution=ROOT,
        tests=files(
            ROOT_TEST,
            conftest_dot_py=BANNED
            + """
import math, pytest
@pytest.fixture(autouse=True)
def banned(monkeypatch):
    monkeypatch.setattr(math, "sqrt", no)
""",
        ),
    ),
    "uses what an autouse fixture patches by mock": Row(
        solution=ROOT,
        tests=files(
            ROOT_TEST,
            conftest_dot_py=BANNED
            + """
import pytest
from unittest.mock import patch
@pytest.fixture(autouse=True)
def banned():
    with patch("math.sqrt", no):
        yield
""",
        ),
    ),
    "uses what conftest patches": Row(
        solution=ROOT,
        tests=files(ROOT_TEST, conftest_dot_py=BANNED + "import math\nmath.sqrt = no\n"),
    ),
    "uses what a module beside the tests patches": Row(
        solution=ROOT,
        tests=files(
            "import helper\n" + ROOT_TEST, helper_dot_py=BANNED + "import math\nmath.sqrt = no\n"
        ),
    ),
    "uses what a fixture patches that is asked for by its name": Row(
        solution=ROOT,
        tests=files(
            BANNED
            + """
import math, pytest
from solution import f
@pytest.fixture
def banned():
    real, math.sqrt = math.sqrt, no
    yield
    math.sqrt = real
@pytest.mark.usefixtures("banned")
def test_a():
    assert f(4) == 2
"""
        ),
    ),
    "uses what a function patches that is given the module": Row(
        solution=ROOT,
        tests=files(
            BANNED
            + """
import math
from solution import f
def swap(module, new):
    old, module.sqrt = module.sqrt, new
    return old
def test_a():
    real = swap(math, no)
    try:
        assert f(4) == 2
    finally:
        swap(math, real)
"""
        ),
    ),
    "uses what is patched by a variable": Row(
        solution=ROOT,
        tests=files(
            BANNED
            + """
import math
from solution import f
def test_a():
    module = math
    real, module.sqrt = module.sqrt, no
    try:
        assert f(4) == 2
    finally:
        module.sqrt = real
"""
        ),
    ),
    "uses what setattr by another name patches": Row(
        solution=ROOT,
        tests=files(
            BANNED
            + """
import math
from solution import f
put = setattr
def test_a():
    real = math.sqrt
    put(math, "sqrt", no)
    try:
        assert f(4) == 2
    finally:
        put(math, "sqrt", real)
"""
        ),
    ),
    "uses what an imported patch by another name patches": Row(
        solution=ROOT,
        tests=files(
            BANNED
            + """
from unittest.mock import patch as swap
from solution import f
def test_a():
    with swap("math.sqrt", no):
        assert f(4) == 2
"""
        ),
    ),
    "uses what a variable that holds patch patches": Row(
        solution=ROOT,
        tests=files(
            BANNED
            + """
from unittest import mock
from solution import f
swap = mock.patch
def test_a():
    with swap("math.sqrt", no):
        assert f(4) == 2
"""
        ),
    ),
    "uses what a test patches that calls what another module hands on": Row(
        solution=ROOT,
        tests=files(
            BANNED
            + """
from unittest.mock import patch
from helper import *
def test_a():
    with patch("math.sqrt", no):
        assert f(4) == 2
""",
            helper_dot_py="from solution import f\n",
        ),
    ),
    "uses what a test patches that calls what its class keeps": Row(
        solution=ROOT,
        tests=files(
            BANNED
            + """
import unittest
from unittest.mock import patch
from solution import f
class T(unittest.TestCase):
    subject = staticmethod(f)
    def test_a(self):
        with patch("math.sqrt", no):
            self.assertEqual(self.subject(4), 2)
"""
        ),
    ),
    "warns where a mark makes warnings errors": Row(
        solution=WARNS,
        tests=files(
            "import pytest\npytestmark = pytest.mark.filterwarnings('error')\n" + WARNS_TEST
        ),
    ),
    "warns where pytest.ini makes warnings errors": Row(
        solution=WARNS,
        tests=files(WARNS_TEST, pytest_dot_ini="[pytest]\nfilterwarnings = error\n"),
    ),
    "warns where an option makes warnings errors": Row(
        solution=WARNS,
        tests=files(WARNS_TEST, pytest_dot_ini="[pytest]\naddopts = -W error\n"),
    ),
    "warns where pyproject.toml makes warnings errors": Row(
        solution=WARNS,
        tests=files(
            WARNS_TEST,
            pyproject_dot_toml="[tool.pytest.ini_options]\nfilterwarnings = ['error']\n",
        ),
    ),
    "has a thread that raises where warnings are errors": Row(
        solution="""
            import threading
            def boom():
                raise ValueError
            def f():
                thread = threading.Thread(target=boom)
                thread.start()
                thread.join()
                return 1
        """,
        tests=files(WARNS_TEST, pytest_dot_ini="[pytest]\nfilterwarnings = error\n"),
    ),
    "lacks a name that a file of unittest imports": Row(
        solution=SAME,
        tests=files(
            """
            import unittest
            from solution import f, helper
            class T(unittest.TestCase):
                def test_a(self):
                    self.assertEqual(f(1), 1)
            """,
            Framework.UNITTEST,
        ),
    ),
    "lacks a name that function tests import": Row(
        solution=SAME, tests=checks("from solution import f, helper\nassert f(1) == 1")
    ),
    "lacks a name that a file of pytest imports": Row(
        solution=SAME,
        tests=files("from solution import f, helper\ndef test_a():\n    assert f(1) == 1\n"),
    ),
    "prints what a fixture captures by another name": Row(
        solution=SORTS,
        tests=files("""
            import pytest
            from solution import f
            @pytest.fixture
            def out(capsys):
                return capsys
            def test_a(out):
                assert f([2, 1]) == [1, 2]
                assert out.readouterr().out == ""
        """),
    ),
    "prints what is captured, of a module that is imported by a call": Row(
        solution=SORTS,
        tests=files("""
            import pytest
            solution = pytest.importorskip("solution")
            def test_a(capsys):
                assert solution.f([2, 1]) == [1, 2]
                assert capsys.readouterr().out == ""
        """),
    ),
    "is wrong in one of several subtests": Row(
        solution="def f(x):\n    return 0\n",
        tests=files("""
            from solution import f
            def test_a(subtests):
                for i in range(3):
                    with subtests.test(i=i):
                        assert f(i) == i
        """),
    ),
}


@dataclass(frozen=True, kw_only=True)
class Cheat:
    """A completion that solves nothing, and an honest one beside it."""

    tests: Tests
    prompt: str = ""


CHEATS = {
    "empties what a function of the prompt's compares": Cheat(
        prompt=told("def verify(function, xs):\n    return function(xs) == sorted(xs)\n", "f(xs)"),
        tests=checks("assert verify(candidate, [3, 1, 2])"),
    ),
    "empties what a class of the prompt's compares": Cheat(
        prompt=told(
            """
            class Verifier:
                def __init__(self, function):
                    self.function = function
                def is_right(self, xs):
                    return self.function(xs) == sorted(xs)
            """,
            "f(xs)",
        ),
        tests=checks("assert Verifier(f).is_right([3, 1, 2])"),
    ),
    "empties what a guard compares": Cheat(
        tests=checks("""
            xs = [3, 1, 2]
            match f(xs):
                case found if found == sorted(xs):
                    pass
                case _:
                    assert False
        """)
    ),
    "empties what two maps compare": Cheat(
        tests=checks("""
            rows = [[3, 1, 2], [2, 1]]
            assert list(map(f, rows)) == list(map(sorted, rows))
        """)
    ),
    "empties what a cached property compares": Cheat(
        tests=checks("""
            import functools
            class Case:
                xs = [3, 1, 2]
                @functools.cached_property
                def found(self):
                    return f(self.xs)
            case = Case()
            assert case.found == sorted(case.xs)
        """)
    ),
    "empties what an inner function gives beside the answer": Cheat(
        tests=files("""
            from solution import f
            def both(function):
                def run(xs):
                    return function(xs), sorted(xs)
                return run
            def test_a():
                found, wanted = both(f)([3, 1, 2])
                assert found == wanted
        """)
    ),
    "empties what a function of the tests' own compares": Cheat(
        tests=files(
            "from helper import verify\nfrom solution import f\n"
            "def test_a():\n    assert verify(f, [3, 1, 2])\n",
            helper_dot_py="def verify(function, xs):\n    return function(xs) == sorted(xs)\n",
        )
    ),
}


HONEST = {
    "prints more than 64 KiB": Row(
        solution="def f(n):\n    for i in range(n):\n        print(i, 'ä')\n",
        tests=checks(
            LISTENS + "    assert heard(20000) == ''.join(f'{i} ä\\n' for i in range(20000))"
        ),
    ),
    "prints behind the debugging output of earlier tests": Row(
        solution="def f(n):\n    print('debug ' * n)\n",
        tests=checks(
            "    for n in range(10):\n        candidate(2000)"
            + LISTENS
            + "    assert heard(1) == 'debug \\n'"
        ),
    ),
    "wraps the stream as it is loaded": Row(
        solution="""
            import io, sys
            sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8")
            def f(n):
                sys.stdout.write(str(n))
        """,
        tests=checks(LISTENS + "    assert heard(1) == '1' and candidate(2) is None"),
    ),
    "prints in a call within a call, to another stream": Row(
        solution="""
            def f(x):
                print("before")
                print("got", x() if callable(x) else x)
        """,
        tests=checks(
            LISTENS
            + "    inner = []\n"
            + "    assert heard(lambda: inner.append(heard(1))) == 'before\\ngot None\\n'\n"
            + "    assert inner == ['before\\ngot 1\\n']"
        ),
    ),
    "prints to a stream that a function of the tests' exchanges": Row(
        solution="def f(x):\n    print('before')\n    x()\n    print('behind')\n",
        tests=checks("""
            import io, sys
            own, out = sys.stdout, io.StringIO()
            def listen():
                sys.stdout = out
            candidate(listen)
            candidate(int)
            sys.stdout = own
            candidate(int)
            assert out.getvalue() == 'behind\\nbefore\\nbehind\\n'
        """),
    ),
    "leaves, as a function of the tests' expects": Row(
        solution="import sys\ndef f():\n    sys.exit(2)\n",
        tests=files("""
            import pytest
            from solution import f
            def leaves(function, kind=SystemExit):
                with pytest.raises(kind):
                    function()
            def test_a():
                leaves(f)
        """),
    ),
    "reads a variable that tests set, which import it by a call": Row(
        solution="import os\ndef f():\n    return os.environ['MODE']\n",
        tests=files("""
            import importlib
            m = importlib.import_module("solution")
            def test_a(monkeypatch):
                monkeypatch.setenv("MODE", "fast")
                assert m.f() == "fast"
        """),
    ),
    "appends to a list of the prompt's": Row(
        prompt=told("LOG = []"),
        solution="def f(x):\n    LOG.append(x)\n",
        tests=checks("f(1)\nassert LOG == [1]"),
    ),
    "takes from a dictionary of the prompt's": Row(
        prompt=told("STOCK = {'a': 1}"),
        solution="def f(x):\n    STOCK[x] -= 1\n",
        tests=checks("f('a')\nassert STOCK['a'] == 0"),
    ),
    "changes an account that the prompt made": Row(
        prompt=told("""
            class Account:
                def __init__(self):
                    self.balance = 0
            ACCOUNT = Account()
        """),
        solution="def f(x):\n    ACCOUNT.balance += x\n",
        tests=checks("f(5)\nassert ACCOUNT.balance == 5"),
    ),
    "gets numbers from a counter of the prompt's": Row(
        prompt=told("""
            import itertools
            class Item:
                ids = itertools.count()
                def __init__(self):
                    self.id = next(Item.ids)
        """),
        solution="def f(x):\n    return [Item() for _ in range(x)]\n",
        tests=checks("first = Item()\nassert len({first.id, *[x.id for x in f(2)]}) == 3"),
    ),
    "returns a sentinel of the prompt's": Row(
        prompt=told("MISSING = object()", "f(d, k)"),
        solution="def f(d, k):\n    return d.get(k, MISSING)\n",
        tests=checks("assert f({1: 2}, 1) == 2\nassert f({}, 1) is MISSING"),
    ),
    "adds data that the prompt draws": Row(
        prompt=told("import random\nDATA = [random.random() for _ in range(5)]", "f()"),
        solution="def f():\n    return sum(DATA)\n",
        tests=checks("assert f() == sum(DATA)"),
    ),
    "draws after a function of the prompt's has set a seed": Row(
        prompt=told("import random\ndef reset(n):\n    random.seed(n)\n"),
        solution="import random\ndef f(x):\n    return random.random()\n",
        tests=checks("reset(3)\nfirst = f(1)\nreset(3)\nassert f(1) == first"),
    ),
    "writes a file that a function of the prompt's reads": Row(
        prompt=told("def text():\n    with open('out.txt') as file:\n        return file.read()\n"),
        solution="def f(x):\n    with open('out.txt', 'w') as file:\n        file.write(x)\n",
        tests=checks("f('a')\nassert text() == 'a'"),
    ),
    "is registered by a decorator of the prompt's": Row(
        prompt=code("""
            REGISTRY = {}
            def register(function):
                REGISTRY[function.__name__] = function
                return function

            @register
            def f(x):
                '''Doubles.'''
        """),
        solution="@register\ndef f(x):\n    return 2 * x\n",
        tests=checks("assert f(1) == 2\nassert REGISTRY['f'](3) == 6"),
    ),
    "mends a function of the prompt's prose, no entry point": Row(
        prompt=OPTIMIZE.replace("a + b", "a - b"),
        is_prose=True,
        solution="def add(a, b):\n    return a + b\n",
        tests=asserts("assert add(1, 2) == 3", "assert add(2, 2) == 4"),
    ),
    "mends a function of the prompt's beside the entry point": Row(
        prompt=TWO.replace("x + x", "x * x"),
        solution=TWO,
        tests=checks("assert quad(3) == 12\nassert double(3) == 6", "quad"),
    ),
    "mends an entry point that a function of the prompt's calls": Row(
        prompt=TWO.replace("x + x", "x * x"),
        solution="def double(x):\n    return x + x\n",
        tests=checks("assert double(3) == 6\nassert quad(3) == 12", "double"),
    ),
    "gives a class of the prompt's a method": Row(
        prompt=told("class Point:\n    def __init__(self, x):\n        self.x = x\n", "f(a, b)"),
        solution="""
            class Point:
                def __init__(self, x):
                    self.x = x
                def to(self, other):
                    return abs(self.x - other.x)
            def f(a, b):
                return a.to(b)
        """,
        tests=checks("assert f(Point(0), Point(3)) == 3\nassert Point(0).to(Point(1)) == 1"),
    ),
    "an object of a class derived from the prompt's": Row(
        prompt=ANIMAL,
        solution=DOG,
        tests=checks("assert isinstance(f('a'), Animal)"),
    ),
    "a class derived from the prompt's": Row(
        prompt=ANIMAL, solution=DOG, tests=checks("assert issubclass(Dog, Animal)")
    ),
    "an object of a class within a class of the prompt's": Row(
        prompt=told("""
            class Tree:
                class Node:
                    def __init__(self, v):
                        self.v = v
        """),
        solution="def f(x):\n    return Tree.Node(x)\n",
        tests=checks("assert f(1).v == 1 and isinstance(f(1), Tree.Node)"),
    ),
    "an object of a class under a condition": Row(
        prompt=told("""
            if True:
                class Node:
                    def __init__(self, v):
                        self.v = v
        """),
        solution="def f(x):\n    return Node(x)\n",
        tests=checks("assert f(1).v == 1 and isinstance(f(1), Node)"),
    ),
    "a member of an enumeration that a call makes": Row(
        prompt=told("from enum import Enum\nColor = Enum('Color', 'RED BLUE')"),
        solution="def f(x):\n    return Color(x)\n",
        tests=checks("assert f(1) is Color.RED"),
    ),
    "an object of a class that make_dataclass makes": Row(
        prompt=told("from dataclasses import make_dataclass\nPair = make_dataclass('Pair', ['v'])"),
        solution="def f(x):\n    return Pair(x)\n",
        tests=checks("assert f(1) == Pair(1)"),
    ),
    "uses an object of the prompt's that has a lock": Row(
        prompt=told("""
            import threading
            class Counter:
                def __init__(self):
                    self.lock, self.n = threading.Lock(), 0
        """),
        solution="def f(x):\n    with x.lock:\n        x.n += 1\n    return x.n\n",
        tests=checks("assert f(Counter()) == 1"),
    ),
    "wraps a function of the tests', whose text they look at": Row(
        solution="""
            import functools
            def f(function):
                @functools.wraps(function)
                def run(*args):
                    return function(*args)
                return run
        """,
        tests=checks("""
            @f
            def g(x):
                'text'
                return x + 1
            assert g(1) == 2 and g.__name__ == "g" and g.__doc__ == "text"
        """),
    ),
    "draws after a fixture of conftest's has set a seed": Row(
        solution=DRAW,
        tests=files(
            DRAW_TEST,
            conftest_dot_py="import pytest, random\n@pytest.fixture(autouse=True)\n"
            "def seeded():\n    random.seed(0)\n",
        ),
    ),
    "draws after a hook of conftest's has set a seed": Row(
        solution=DRAW,
        tests=files(
            DRAW_TEST,
            conftest_dot_py="import random\ndef pytest_runtest_setup(item):\n    random.seed(0)\n",
        ),
    ),
    "draws after a module's function has set a seed": Row(
        solution=DRAW,
        tests=files(
            "from helper import reset\nfrom solution import f\n"
            "def test_a():\n    reset()\n    assert f() == 0.8444218515250481\n",
            helper_dot_py="import random\ndef reset():\n    random.seed(0)\n",
        ),
    ),
    "is called by several threads": Row(
        solution="import time\ndef f(x):\n    time.sleep(0.02)\n    return x\n",
        tests=files("""
            import asyncio
            from solution import f
            async def main():
                loop = asyncio.get_running_loop()
                waiting = [loop.run_in_executor(None, f, i) for i in range(5)]
                return [await one for one in waiting]
            def test_a():
                assert asyncio.run(main()) == [0, 1, 2, 3, 4]
        """),
    ),
    "passes a test of which one part is skipped": Row(
        solution=SAME,
        tests=files(
            """
            import unittest
            from solution import f
            class T(unittest.TestCase):
                def test_a(self):
                    for i in range(3):
                        with self.subTest(i=i):
                            if i == 1:
                                self.skipTest("not here")
                            self.assertEqual(f(i), i)
            """,
            Framework.UNITTEST,
        ),
    ),
    "is awaited in a test that pytest.ini marks": Row(
        solution="async def f(x):\n    return x\n",
        tests=files(
            "from solution import f\nasync def test_a():\n    assert await f(1) == 1\n",
            pytest_dot_ini="[pytest]\nasyncio_mode = auto\n",
        ),
    ),
    "has not what tests are skipped without, by hasattr": Row(
        solution=SAME,
        tests=files("""
            import pytest, solution
            @pytest.mark.skipif(not hasattr(solution, "extra"), reason="optional")
            def test_extra():
                assert solution.extra(1) == 2
            def test_a():
                assert solution.f(1) == 1
        """),
    ),
    "has not what tests are skipped without, by getattr": Row(
        solution=SAME,
        tests=files("""
            import pytest, solution
            extra = getattr(solution, "extra", None)
            @pytest.mark.skipif(extra is None, reason="optional")
            def test_extra():
                assert extra(1) == 2
            def test_a():
                assert solution.f(1) == 1
        """),
    ),
    "has not what tests are skipped without, by an import": Row(
        solution=SAME,
        tests=files("""
            import pytest
            from solution import f
            try:
                from solution import extra
            except ImportError:
                extra = None
            @pytest.mark.skipif(extra is None, reason="optional")
            def test_extra():
                assert extra(1) == 2
            def test_a():
                assert f(1) == 1
        """),
    ),
    "calls back from threads": Row(
        solution="""
            from concurrent.futures import ThreadPoolExecutor
            def f(function, xs):
                with ThreadPoolExecutor(4) as pool:
                    return list(pool.map(function, xs))
        """,
        tests=checks("""
            seen = []
            assert f(lambda x: x * 2, [1, 2, 3]) == [2, 4, 6]
            f(seen.append, [1, 2])
            assert sorted(seen) == [1, 2]
        """),
    ),
    "works in processes of its own": Row(
        solution="""
            from concurrent.futures import ProcessPoolExecutor
            def square(x):
                return x * x
            def f(xs):
                with ProcessPoolExecutor(2) as pool:
                    return list(pool.map(square, xs))
        """,
        tests=checks("assert f([1, 2, 3]) == [1, 4, 9]"),
    ),
    "acts at its end, and keeps a thread": Row(
        solution="""
            import atexit, threading, time
            class Last:
                def __del__(self):
                    print("gone")
            last = Last()
            atexit.register(print, "end")
            def spin():
                while True:
                    time.sleep(0.01)
            threading.Thread(target=spin, daemon=True).start()
            def f(x):
                return x
        """,
        tests=checks("assert f(1) == 1"),
    ),
    "gives large numbers, zeros, lone surrogates and keys of several kinds": Row(
        solution="""
            def f(x):
                return {
                    "big": 10**5000, "zero": -0.0, "least": 5e-324, "half": "a\\ud800",
                    "keys": {1: "a", "1": "b", (1, 2): "c", None: "d", frozenset([1]): "e"},
                }[x]
        """,
        tests=checks("""
            import math
            assert f("big") == 10**5000 and math.copysign(1, f("zero")) == -1 and f("least") > 0
            assert f("half") == "a" + chr(0xd800)
            assert f("keys") == {1: "a", "1": "b", (1, 2): "c", None: "d", frozenset([1]): "e"}
        """),
    ),
    "recurses almost as deep as an ordinary process": Row(
        solution="def f(n):\n    return 0 if n == 0 else 1 + f(n - 1)\n",
        tests=checks("assert f(975) == 975"),
    ),
    "turns a list of 5,000 nodes of the prompt's": Row(
        prompt=told(
            """
            class Node:
                def __init__(self, val, next=None):
                    self.val, self.next = val, next
            def build(values):
                head = None
                for value in values:
                    head = Node(value, head)
                return head
            """
        ),
        solution="""
            def f(x):
                out = None
                while x:
                    x.next, out, x = out, x, x.next
                return out
        """,
        tests=checks("""
            head, seen = f(build(range(5000))), []
            while head:
                seen.append(head.val)
                head = head.next
            assert seen == list(range(5000))
        """),
    ),
    "is judged by fixtures with parameters, indirect ones, classes and approx": Row(
        solution="""
            class Stack:
                def __init__(self, items=()):
                    self.items = list(items)
                def push(self, x):
                    self.items.append(x)
                    return self
                def pop(self):
                    if not self.items:
                        raise IndexError("empty")
                    return self.items.pop()
            def f(xs):
                return sum(xs) / len(xs)
        """,
        tests=files("""
            import pytest
            from solution import Stack, f
            @pytest.fixture(params=[(), (1, 2)], ids=["empty", "two"])
            def stack(request):
                yield Stack(request.param)
            @pytest.fixture
            def given(request):
                return Stack(request.param)
            class TestStack:
                def setup_method(self, method):
                    self.own = Stack([1])
                def test_push(self, stack):
                    assert stack.push(7).pop() == 7
                def test_own(self):
                    assert self.own.pop() == 1
                    with pytest.raises(IndexError, match="emp.y") as info:
                        self.own.pop()
                    assert info.type is IndexError
            @pytest.mark.parametrize("given", [[1], [1, 2]], indirect=True)
            def test_given(given):
                assert given.pop() == len(given.items) + 1
            @pytest.mark.parametrize("x", [1, pytest.param(0, marks=pytest.mark.xfail)])
            def test_marks(x):
                assert f([x, x]) == 1
            def test_approx():
                assert {"a": f([0.1, 0.2])} == pytest.approx({"a": 0.15})
        """),
    ),
}


TYPED = "Optional[ListNode]) -> Optional[ListNode]"
STARTER = code("""
    class Solution(object):
        def reverse(self, head):
            '''
            :type head: Optional[ListNode]
            :rtype: Optional[ListNode]
            '''
""")
PROSE = "Write a class Solution whose method reverse(head) reverses a linked list of ListNode.\n"
IN_PLACE = code("""
    class Solution(object):
        def reverse(self, nums):
            '''
            :type nums: List[int]
            :rtype: None Do not return anything, modify nums in-place instead.
            '''
""")
REVERSES = """
    class Solution(object):
        def reverse(self, head):
            out = None
            while head:
                head.next, out, head = out, head, head.next
            return out
"""
SLICES = "class Solution(object):\n    def reverse(self, head):\n        return head[::-1]\n"
WRONG_CALLS = {
    "a list for a linked list, whose type a docstring tells": (STARTER, SLICES),
    "a list for a linked list, whose type a comment tells": (
        "class Solution:\n    def reverse(self, head):  # type: (ListNode) -> ListNode\n",
        SLICES,
    ),
    "a list for a linked list, whose type prose tells": (PROSE, SLICES),
    "a new list for one changed in place, as a docstring tells": (IN_PLACE, SLICES),
    "a list for a linked list, another class has the name": (
        f"class Solution:\n    def reverse(self, head: {TYPED}:\n        pass\n\n"
        "class Format:\n    def reverse(self, head):\n        pass\n",
        SLICES,
    ),
    "a list for a linked list": (
        f"class Solution:\n    def reverse(self, head: {TYPED}:\n",
        SLICES,
    ),
}
HONEST_CALLS = {
    "a linked list, whose type a docstring tells": (STARTER, REVERSES),
    "a linked list without an annotation": (
        f"class Solution:\n    def reverse(self, head: {TYPED}:\n",
        REVERSES,
    ),
}


FRACTION = RewardPolicy(kind=RewardPolicyKind.FRACTION)
THREE = """
    from solution import f
    def test_a():
        assert f(1) == 1
    def test_b():
        assert f(2) == 2
    def test_c():
        assert f(3) == 3
"""
THREE_OBJECTS = asserts("assert f(1).v == 1", "assert f(2).v == 2", "assert f(3).v == 3", entry="f")
OBJECT = """
    class A:
        def __init__(self, v):
            self.v = v
    def f(x):
        while x == 3:
            pass
        return A(x)
"""
FRACTIONS = {
    "an object, and a time limit in the last test": (OBJECT, THREE_OBJECTS),
    "test files, and a memory limit in the last test": (
        "def f(x):\n    return x if x < 3 else len(bytearray(800 << 20))\n",
        files(THREE),
    ),
    "test files, and a crash in the last test": (
        "import ctypes\ndef f(x):\n    return x if x < 3 else ctypes.string_at(0)\n",
        files(THREE),
    ),
    "test files, and too large a result in the last test": (
        "def f(x):\n    return x if x < 3 else 'a' * (200 << 20)\n",
        files(THREE),
    ),
    "plain data, and a crash in the last test": (
        "import ctypes\ndef f(x):\n    return x if x < 3 else ctypes.string_at(0)\n",
        asserts("assert f(1) == 1", "assert f(2) == 2", "assert f(3) == 3", entry="f"),
    ),
    "test files, and a recursion without end in the last test": (
        "def f(x):\n    return x if x < 3 else f(x)\n",
        files(THREE),
    ),
    "calls, and a crash in the last one": (
        "import ctypes\ndef f(x):\n    return x if x < 3 else ctypes.string_at(0)\n",
        CallTests(
            entry_point="f",
            cases=tuple(CallCase(args_json=f"[{n}]", expected_json=f"{n}") for n in (1, 2, 3)),
        ),
    ),
}


RIGHT = "def inc_all(xs):\n    return [x + 1 for x in xs]\n"
ASKED = "Write a function inc_all that adds one to each element.\n"
STUB = "def inc_all(xs):\n    '''Adds one to each.'''\n"
ANSWERS = {
    "a fence behind words": f"Here it is: ```python\n{RIGHT}```\n",
    "a fence in a quotation": "> ```python\n> " + RIGHT.replace("\n", "\n> ") + "```\n",
    "a signature behind the solution": f"```python\n{RIGHT}```\nSignature:\n"
    "```python\ndef inc_all(xs): ...\n```\n",
    "a fence that nobody closes": f"Sure.\n```python\n{RIGHT}",
    "a fence within a docstring": "```python\ndef inc_all(xs):\n    '''Adds.\n\n    ```python\n"
    "    inc_all([1])\n    ```\n    '''\n    return [x + 1 for x in xs]\n```\n",
    "an example behind the solution": f"```python\n{RIGHT}```\n```python\ninc_all([1])\n```\n",
    "unit tests behind the solution": f"```python\n{RIGHT}```\n```python\nimport unittest\n"
    "class T(unittest.TestCase):\n    def test(self):\n        self.assertTrue(inc_all([1]))\n"
    "unittest.main()\n```\n",
    "a tag with a file's name": f"```python:solution.py\n{RIGHT}```\n",
    "a fence in a list": "1. Code:\n\n   ```python\n" + textwrap.indent(RIGHT, "   ") + "   ```\n",
    "a helper in a later block": "```python\ndef inc_all(xs):\n    return [h(x) for x in xs]\n```\n"
    "with\n```python\ndef h(x):\n    return x + 1\n```\n",
}


async def _score(app: App, row: Row) -> tuple[float | None, Integrity, str]:
    submission = submission_of(row.solution, row.tests, row.prompt)
    assessment = await app.evaluation.score(submission)
    assert assessment.verdict is not Verdict.INVALID_TASK, assessment
    return assessment.reward, assessment.integrity, str(assessment)


async def _ordinary(row: Row, folder: Path) -> str:
    prompt = "" if row.is_prose else row.prompt
    if isinstance(row.tests, FunctionTests):
        arguments = (code(row.solution), row.tests, prompt, folder)
        return await asyncio.to_thread(run_functions, *arguments)
    assert isinstance(row.tests, UnitTests)
    return await asyncio.to_thread(run_files, code(row.solution), row.tests, folder)


# What an ordinary process says of a row is said of the row alone: a run asks it of some.
@each_row(WRONG, 8)
async def test_an_ordinary_process_fails_a_wrong_solution(row: Row, tmp_path: Path) -> None:
    assert await _ordinary(row, tmp_path)


@each_row(HONEST, 8)
async def test_an_ordinary_process_passes_an_honest_solution(row: Row, tmp_path: Path) -> None:
    if "asyncio_mode" not in str(row.tests):  # which an ordinary run needs a plug-in for
        assert not await _ordinary(row, tmp_path)


@each_row(WRONG)
async def test_a_wrong_solution_earns_nothing(app: App, row: Row) -> None:
    reward, integrity, shown = await _score(app, row)
    assert reward == 0 or integrity is not Integrity.ISOLATED, shown


@pytest.mark.parametrize("cheat", CHEATS.values(), ids=CHEATS.keys())
async def test_a_cheat_earns_nothing_where_honest_ones_are_isolated(app: App, cheat: Cheat) -> None:
    honest = Row(prompt=cheat.prompt, solution=IS_SORTED, tests=cheat.tests)
    reward, integrity, shown = await _score(app, honest)
    assert reward == 1, shown
    paid, _, shown = await _score(app, replace(honest, solution=EMPTIES))
    assert paid == 0 or integrity is not Integrity.ISOLATED, shown


@each_row(HONEST, 4)
async def test_an_honest_solution_passes(app: App, row: Row) -> None:
    reward, _, shown = await _score(app, row)
    assert reward == 1, shown


def _calls(prompt: str, solution: str) -> Submission:
    case = CallCase(args_json="[[1, 2, 3]]", expected_json="[3, 2, 1]")
    tests = CallTests(entry_point="Solution().reverse", cases=(case,))
    return submission_of(solution, tests, prompt)


@pytest.mark.parametrize(("prompt", "solution"), WRONG_CALLS.values(), ids=WRONG_CALLS.keys())
async def test_a_wrong_kind_of_value_earns_nothing(app: App, prompt: str, solution: str) -> None:
    assessment = await app.evaluation.score(_calls(prompt, solution))
    assert assessment.reward == 0 or assessment.integrity is not Integrity.ISOLATED, assessment


@pytest.mark.parametrize(("prompt", "solution"), HONEST_CALLS.values(), ids=HONEST_CALLS.keys())
async def test_a_right_kind_of_value_passes(app: App, prompt: str, solution: str) -> None:
    assessment = await app.evaluation.score(_calls(prompt, solution))
    assert assessment.reward == 1, assessment


@pytest.mark.parametrize(("solution", "tests"), FRACTIONS.values(), ids=FRACTIONS.keys())
async def test_what_passed_before_a_limit_counts(app: App, solution: str, tests: Tests) -> None:
    limits = replace(LIMITS, wall_time_seconds=4.0, cpu_time_seconds=3.0)
    submission = replace(submission_of(solution, tests), limits=limits, reward_policy=FRACTION)
    assessment = await app.evaluation.score(submission)
    assert assessment.reward == pytest.approx(2 / 3), assessment


@pytest.mark.parametrize("prompt", [ASKED, STUB], ids=["prose", "code"])
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS.keys())
async def test_code_is_found_in_an_answer(app: App, answer: str, prompt: str) -> None:
    tests = checks("assert candidate([1, 2]) == [2, 3]\nassert candidate([]) == []", "inc_all")
    submission = Submission(
        prompt=prompt,
        completion=answer,
        tests=tests,
        limits=LIMITS,
        extraction=Extraction.AUTO,
    )
    assessment = await app.evaluation.score(submission)
    assert assessment.reward == 1, assessment
