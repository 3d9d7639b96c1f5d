"""The tests' own text decides whether they are kept apart from the solution."""

from __future__ import annotations

import time

import pytest

from reward_server.domain import Framework
from reward_server.grading.python_tests.inventory import Inventory, Skips
from reward_server.grading.python_tests.isolation.files import Reading, parse_files, read_suite
from tests.honest.solution import code
from tests.honest.suites import ISOLATED, SUITES, Suite

UNITTEST, PYTEST = Framework.UNITTEST, Framework.PYTEST


def read(text: str, *, path: str = "solution.py", **files: str) -> Reading:
    texts = {"test_f.py": code(text), **{f"{name}.py": file for name, file in files.items()}}
    return read_suite(parse_files(texts.items()), list(texts.items()), path)


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)
def test_an_honest_suite_is_kept_apart_where_it_can_be(suite: Suite) -> None:
    files = suite.tests.files
    reading = read_suite(parse_files(files), files, suite.tests.solution_path)
    assert bool(reading.reasons) is (suite.integrity is not ISOLATED), reading.reasons


TOGETHER = {
    "patches its module by name": "@patch('solution.f')\ndef test_f(f):\n    pass",
    "patches its module by object": "def test_f():\n    with patch.object(solution, 'g'):\n"
    "        f()",
    "patches a library": "def test_f():\n    with patch('os.getcwd'):\n        f()",
    "patches in a preparation": "class TestF(TestCase):\n    def setUp(self):\n"
    "        patch('time.time').start()\n    def test_f(self):\n        f()",
    "sets an attribute of it": "def test_f():\n    solution.g = 3\n    f()",
    "uses setattr on it": "def test_f():\n    setattr(solution, 'g', 3)",
    "deletes one of its names": "def test_f():\n    del solution.g\n    f()",
    "monkeypatches it": "def test_f(monkeypatch):\n    monkeypatch.setattr(solution, 'g', 3)",
    "monkeypatches it by name": "def test_f(monkeypatch):\n"
    "    monkeypatch.setattr('solution.g', 3)",
    "monkeypatches a library": "def test_f(monkeypatch):\n"
    "    monkeypatch.setattr(time, 'time', f)\n    f()",
    "sets its environment": "def test_f(monkeypatch):\n    monkeypatch.setenv('A', 'b')\n    f()",
    "changes the environment": "def test_f():\n    os.environ['A'] = 'b'\n    f()",
    "captures its output": "def test_f(capsys):\n    f()\n    assert capsys.readouterr().out",
    "captures by a fixture": "@pytest.fixture\ndef made():\n    return f()\n"
    "def test_f(made, capfd):\n    made.go()",
    "redirects its output": "def test_f():\n    with redirect_stdout(io.StringIO()):\n        f()",
    "replaces standard output": "def test_f():\n    sys.stdout = io.StringIO()\n    f()",
    "expects its logs": "def test_f(caplog):\n    f()",
    "expects its warnings": "def test_f():\n    with pytest.warns(UserWarning):\n        f()",
    "expects it to leave": "def test_f():\n    with pytest.raises(SystemExit):\n        f()",
    "catches that it leaves": "def test_f():\n    try:\n        f()\n"
    "    except (KeyboardInterrupt, ValueError):\n        pass",
    "subclasses its class": "class Own(solution.Base):\n    pass",
    "compares its class": "def test_f():\n    assert type(f()) is solution.Base",
    "looks at its class": "def test_f():\n    assert f().__class__.__name__ == 'Base'",
    "looks at its docstring": "def test_f():\n    assert f.__doc__",
    "inspects it": "def test_f():\n    assert inspect.signature(f)",
    "reads its source": "def test_f():\n    assert 'x' in open('solution.py').read()",
    "runs its file": "def test_f():\n    subprocess.run(['python', 'solution.py'])\n    f()",
    "reloads it": "def test_f():\n    importlib.reload(solution)",
    "asks for instances of a library's class": "def test_f():\n"
    "    assert isinstance(f(), types.GeneratorType)",
    "uses a library whose objects cannot cross": "import pandas as pd\n"
    "def test_f():\n    assert f(pd.DataFrame())",
    "seeds it": "def test_f():\n    random.seed(1)\n    f()",
    "shares a temporary file": "def test_f(tmp_path):\n    file = tmp_path / 'a'\n"
    "    assert f(str(file))",
    "writes a file for it": "def test_f():\n    with open('a', 'w') as file:\n"
    "        file.write('x')\n    f('a')",
    "looks for its file": "def test_f():\n    f()\n    assert os.path.exists('a')",
    "hands over a path from a fixture": "@pytest.fixture\ndef path(tmp_path):\n"
    "    return tmp_path / 'a'\ndef test_f(path):\n    assert f(path)",
    "writes a file by a helper": "def put(text):\n    open('a', 'w').write(text)\n"
    "def test_f():\n    put('x')\n    f('a')",
    "goes to another folder": "def test_f(monkeypatch, tmp_path):\n"
    "    monkeypatch.chdir(tmp_path)\n    f()",
    "measures its CPU time": "def spent():\n    return time.process_time()\n"
    "def test_f():\n    start = spent()\n    f()\n    assert spent() - start < 1",
    "measures its CPU time by another name": "def test_f():\n"
    "    from time import process_time as t\n    start = t()\n    f()\n    assert t() - start < 1",
    "measures by two modules of one name": "def g():\n    from time import time\n    time()\n"
    "def test_f():\n    time.thread_time()\n    f()",
    "hands a module over": "def test_f():\n    clock = getattr(time, 'process_time')\n    f()",
    "measures its memory": "import resource\ndef test_f():\n    f()\n"
    "    resource.getrusage(resource.RUSAGE_SELF)",
    "counts its calls": "import cProfile\ndef test_f():\n    cProfile.Profile().runcall(f)",
    "traces it": "def test_f():\n    sys.settrace(print)\n    f()",
    "sets a limit": "def test_f():\n    sys.setrecursionlimit(20_000)\n    f()",
    "reads the environment": "def test_f():\n    f()\n    assert 'A' not in os.environ",
    "sets a precision in a preparation": "import decimal\nclass TestF(TestCase):\n"
    "    def setUp(self):\n        decimal.getcontext().prec = 5\n    def test_f(self):\n"
    "        f()",
    "sets a precision for all tests": "from decimal import getcontext\ngetcontext().prec = 5\n"
    "def test_f():\n    f()",
    "takes all of a module": "from sys import *\ndef test_f():\n    setprofile(f)",
    "sets the first day of a week": "import calendar\ndef test_f():\n"
    "    calendar.setfirstweekday(6)\n    f()",
    "sets what numpy does with errors": "import numpy as np\ndef test_f():\n"
    "    with np.errstate(all='raise'):\n        f()",
    "saves a file by numpy": "import numpy as np\ndef test_f():\n    np.save('a.npy', [1])\n"
    "    f('a.npy')",
    "saves a file by an array": "import numpy as np\ndef test_f():\n"
    "    np.zeros(3).tofile('a')\n    f('a')",
    "parses a file of it": "import xml.etree.ElementTree as ET\ndef test_f():\n    f('a')\n"
    "    ET.parse('a')",
    "reads settings of it": "import configparser\ndef test_f():\n    f('a')\n"
    "    configparser.ConfigParser().read('a')",
    "reads a path by another name": "from pathlib import Path as P\ndef test_f():\n    f('a')\n"
    "    assert P('a').read_text()",
    "registers a class with it": "class A: pass\ndef test_f():\n"
    "    @f.register(A)\n    def g(x): pass",
    "asks whether it has a special method": "def test_f():\n    assert hasattr(f, '__post_init__')",
    "calls it in a loop's threads": "async def main(loop):\n"
    "    return [await loop.run_in_executor(None, f, n) for n in range(3)]\n",
    "awaits it in tasks of a loop": "async def main(loop):\n"
    "    return await loop.create_task(f())\n",
    "awaits it in tasks of a group": "async def main(group):\n    group.create_task(f())\n",
    "awaits it from another thread": "import asyncio\ndef test_f(loop):\n"
    "    asyncio.run_coroutine_threadsafe(f(), loop)\n",
    "sets an attribute of a library's in a fixture": "@pytest.fixture(autouse=True)\n"
    "def no_roots():\n    real, math.sqrt = math.sqrt, None\n    yield\n    math.sqrt = real\n"
    "def test_f():\n    f()",
    "sets an element in a hook": "from collections import Counter as C\n"
    "def pytest_runtest_setup(item):\n    C.registry[0] = 1\ndef test_f():\n    f()",
    "patches in a preparation of another class": "class Base(TestCase):\n"
    "    def setUp(self):\n        patch('math.sqrt').start()\nclass TestF(Base):\n"
    "    def test_f(self):\n        f()",
    "patches in a fixture by its name": "@pytest.fixture\ndef banned(monkeypatch):\n"
    "    monkeypatch.setattr(math, 'sqrt', None)\n@pytest.mark.usefixtures('banned')\n"
    "def test_f():\n    f()",
    "seeds in a function that it calls": "def reset():\n    random.seed(1)\n"
    "def test_f():\n    reset()\n    f()",
    "executes a text before all tests": "exec('import math; math.sqrt = None')\n"
    "def test_f():\n    f()",
    "sets by a method of Python's": "math.__setattr__('sqrt', None)\ndef test_f():\n    f()",
    "sets in a loop": "for math.sqrt in [None]: pass\ndef test_f():\n    f()",
    "patches by another name": "from unittest.mock import patch as swap\ndef test_f():\n"
    "    with swap('math.sqrt'):\n        f()",
    "patches by a variable": "swap = unittest.mock.patch.object\ndef test_f():\n"
    "    with swap(math, 'sqrt'):\n        f()",
    "sets by a variable": "put, take = setattr, getattr\ndef test_f():\n"
    "    put(math, 'sqrt', None)\n    f()",
    "sets an attribute of a variable": "def test_f():\n    m = n = math\n"
    "    n.sqrt = None\n    f()",
    "hands over a library's module": "def ban(module):\n    module.sqrt = None\n"
    "def test_f():\n    ban(math)\n    f()",
    "hands over a module in a list": "import os.path\ndef test_f():\n"
    "    for one in [math, os.path]:\n        one.sqrt = None\n    f()",
    "hands over a module by default": "def ban(module=math):\n    module.sqrt = None\n"
    "def test_f():\n    ban()\n    f()",
    "hands over its module": "def ban(module):\n    module.g = None\n"
    "def test_f():\n    ban(solution)\n    f()",
    "keeps a module in an attribute": "class TestF(TestCase):\n    module = math\n"
    "    def test_f(self):\n        self.module.sqrt = None\n        f()",
    "hands over what sets": "import functools\nput = functools.partial(setattr, math)\n"
    "def test_f():\n    f()",
    "sets what another file imports": "import helper\ndef test_f():\n"
    "    helper.math.sqrt = None\n    f()",
    "patches what another file imports": "def test_f():\n    with patch('helper.math.sqrt'):\n"
    "        f()",
    "takes a module from another file": "from helper import math as m, math\n"
    "math.sqrt = None\ndef test_f():\n    f()",
    "finds a module by its name": "globals()['math'].sqrt = None\ndef test_f():\n    f()",
    "makes warnings errors by a mark": "pytestmark = [\n"
    "    pytest.mark.filterwarnings('error::Warning')]\ndef test_f():\n    f()",
    "makes warnings errors by a mark of a row": "@pytest.mark.parametrize('n', [\n"
    "    pytest.param(1, marks=pytest.mark.filterwarnings('ignore', 'err'))])\n"
    "def test_f(n):\n    f(n)",
    "makes warnings errors in a hook": "def pytest_configure(config):\n"
    "    config.addinivalue_line('filterwarnings', 'error')\ndef test_f():\n    f()",
    "calls it in threads": "def test_f():\n    threading.Thread(target=f).start()",
}
APART = {
    "calls it": "def test_f():\n    assert f(1) == 2",
    "catches its exceptions": "def test_f():\n    with pytest.raises(solution.Error):\n        f()",
    "asks for instances of its class": "def test_f():\n    assert isinstance(f(), solution.Base)",
    "hands over a mock": "def test_f():\n    assert f(Mock(return_value=3)) == 3",
    "patches its own helper": "import helper\ndef test_f():\n"
    "    with patch('helper.x', 3), patch.object(helper, 'y', 4):\n        assert f(helper.x)",
    "patches where it hears nothing": "def test_other():\n    with patch('os.getcwd'):\n"
    "        assert os.getcwd()\ndef test_f():\n    assert f()",
    "monkeypatches what it uses itself": "def test_f(monkeypatch):\n"
    "    monkeypatch.setattr(time, 'time', lambda: 3)\n    assert f(time.time()) == 3",
    "prints itself": "def test_f(capsys):\n    print(f())\n    assert capsys.readouterr().out",
    "reads its own data": "import helper\ndef test_f():\n"
    "    with open('helper.py') as file:\n        assert f(file.read())",
    "expects an error of a library's": "import configparser, sqlite3\ndef test_f():\n"
    "    with pytest.raises((configparser.NoSectionError, sqlite3.IntegrityError)):\n"
    "        f()",
    "reads its own data by a helper": "HERE = os.path.dirname(__file__)\nDATA = HERE + '/data'\n"
    "def load(name):\n    with open(os.path.join(DATA, name)) as file:\n"
    "        return file.read()\ndef test_f():\n    assert f(load('a'))",
    "hands over what a temporary file holds": "def test_f(tmp_path):\n"
    "    file = tmp_path / 'a'\n    file.write_text('x')\n    assert f(file.read_text())",
    "compiles a pattern": "def test_f():\n    assert re.compile('a').match(f())",
    "changes what is its own": "class TestF(TestCase):\n    def test_f(self):\n"
    "        self.x = f()\n        own = {}\n        own['a'] = 1\n        assert self.x",
    "measures wall time": "def test_f():\n    start = time.perf_counter()\n    f()\n"
    "    assert time.perf_counter() - start < 1",
    "measures CPU time where it hears nothing": "def test_other():\n"
    "    assert time.process_time()\ndef test_f():\n    assert f()",
    "names its own folder": "sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))\n"
    "def test_f():\n    assert f(os.sep)",
    "has data of a library's": "import decimal, calendar, xml.etree.ElementTree as ET\n"
    "def test_f():\n    assert f(ET.fromstring('<a/>').tag, calendar.monthrange(2024, 2)) =="
    " decimal.Decimal(3)",
    "takes all of many modules": "from random import *\nfrom sys import *\nfrom os.path import *\n"
    "def test_f():\n    assert f(randint(1, maxsize), join('a', 'b'))",
    "draws what it hands over": "def test_f():\n    assert f(random.randint(1, 9))",
    "asks whether it can be called": "def test_f():\n    assert hasattr(f, '__call__')",
    "sets attributes of what it makes": "class Node:\n    pass\ndef chain(node):\n"
    "    node.next = Node()\n    node.next.rows[0].value = 1\n    type(node).made = 1\n"
    "    setattr(node, 'x', 1)\n    return node\ndef test_f():\n    a = chain(Node())\n"
    "    f(1).next = 2\n    f(1).rows[0].value = 2\n    Node.made = 3\n    delattr(a, 'x')",
    "sets what its framework has": "TestCase.maxDiff = None\nunittest.TestCase.longMessage = True\n"
    "def test_f():\n    f()",
    "asks for a module that may be missing": "try:\n    import numpy as np\nexcept ImportError:\n"
    "    np = None\nn = np\n@pytest.mark.skipif(np is None or not n, reason='')\n"
    "def test_f():\n"
    "    assert hasattr(math, 'prod') and getattr(math, 'gcd')(1, f()) if np else f()",
    "names constants and functions of a library's": "pi, root = math.pi, math.sqrt\n"
    "m = math\ndef test_f():\n    assert f(m.floor(2.5), map(root, [pi])) == math.inf",
    "patches a name of its own files": "def test_f():\n    with patch('helper.math'):\n        f()",
    "hides warnings": "pytestmark = pytest.mark.filterwarnings('ignore::Warning', 'default')\n"
    "def pytest_configure(config):\n    config.addinivalue_line('filterwarnings', 'once')\n"
    "    config.addinivalue_line('markers', 'error')\ndef test_f():\n    f()",
    "compares a type of Python's": "def test_f():\n    assert type(f()) is int",
}
# Ways to the solution, in a module of its own name or beside one, and code that uses them.
WAYS = {
    "by a call": ("m = importlib.import_module('solution')", "m.f(4)"),
    "by a call of a computed name": ("m = importlib.import_module(NAMES[0])", "m.f(4)"),
    "by a call within": ("from importlib import import_module as load", "load('solution').f(4)"),
    "by importorskip": ("m = pytest.importorskip('solution')", "m.f(4)"),
    "by the table of modules": ("import solution as _", "sys.modules['solution'].f(4)"),
    "by an import within": ("", "__import__('solution').f(4)"),
    "by a text that is run": ("from solution import f", "eval('f(4)')"),
    "by another module": ("import helper", "helper.f(4)"),
    "by another module's name": ("from helper import f as g", "g(4)"),
    "by all of another module": ("from helper import *", "f(4)"),
    "by a name that no file explains": ("from helper import *", "found(4)"),
    "by a variable of a try": ("import solution\ntry:\n    g = solution.f\nexcept E: pass", "g(4)"),
    "by a list": ("import solution\ntable = []\ntable.append(solution.f)", "table[0](4)"),
    "by a function that keeps it": ("from solution import f\nput(table, f)", "table[0](4)"),
    "by a loop": ("from solution import f\nfor g in [f]: pass", "g(4)"),
    "by a function's global": (
        "import solution\ndef setup_module():\n    global g\n    h = solution.f\n    g = h",
        "g(4)",
    ),
    "by a hook": (
        "import solution\ndef pytest_generate_tests(metafunc):\n"
        "    metafunc.parametrize('g, n', [(solution.f, 4)])",
        "g(n)",
    ),
    "by a fixture's text": (
        "from solution import f\n@pytest.fixture\ndef g():\n    return f",
        "request.getfixturevalue('g')(4)",
    ),
    "by a fixture's other name": (
        "from solution import f\n@pytest.fixture(name='g')\ndef make():\n    return f",
        "g(4)",
    ),
    "by a class's attribute": (
        "from solution import f\nclass A:\n    a = staticmethod(f)",
        "A.a(4)",
    ),
    "by an object's attribute": (
        "from solution import f\nclass A:\n    def setUp(self):\n        found = []\n"
        "        found.append(f)\n        self.found = found\n    def go(self):\n"
        "        self.found[0](4)",
        "A().go()",
    ),
    "by an attribute that a fixture sets": (
        "from solution import f\n@pytest.fixture(autouse=True)\ndef given(request):\n"
        "    request.cls.subject = f",
        "request.cls.subject(4)",
    ),
    "by an attribute that no file explains": (
        "import solution\nfor name, value in vars(solution).items():\n"
        "    setattr(Test, name, value)",
        "self.sqrt(4)",
    ),
}
FORBIDS = "def test_f({given}):\n    with patch('math.sqrt'):\n        {use}\n"
PATCHES = "patches what the solution may use"
# What functions need that are given the solution.
GIVEN = {
    "expects that it leaves": "def leaves(function):\n    with pytest.raises(SystemExit):\n"
    "        function()\ndef test_f():\n    leaves(f)",
    "expects what a default says": "def leaves(function, kind=SystemExit):\n"
    "    with pytest.raises(kind):\n        function()\ndef test_f():\n    leaves(f)",
    "expects what a row says": "@pytest.mark.parametrize('kind', [KeyError, KeyboardInterrupt])\n"
    "def test_f(kind):\n    with pytest.raises(kind):\n        f()",
    "looks at its code": "def short(function):\n    return len(function.__code__.co_code) < 9\n"
    "def test_f():\n    assert short(f)",
    "looks at its code by two functions": "def code(one):\n    return one.__code__\n"
    "def short(one):\n    return len(code(one).co_code) < 9\ndef test_f():\n    assert short(f)",
    "looks at its source in a method": "class Look:\n    def __init__(self, one):\n"
    "        self.one = one\n    def source(self):\n        return inspect.getsource(self.one)\n"
    "def test_f():\n    assert Look(f).source()",
    "reads what an import prints": "def test_f(capsys):\n    import solution\n"
    "    assert capsys.readouterr().out",
}
ALOOF = {
    "is imported by a call": "m = importlib.import_module('solution')\ndef test_f():\n"
    "    assert m.f(1) == 2",
    "patches an object of its own": "class TestF(TestCase):\n    def setUp(self):\n"
    "        self.clock = Mock()\n        self.timer = f(self.clock)\n"
    "    def test_a(self):\n        with patch.object(self.clock, 'now'):\n"
    "            assert self.timer",
    "leaves as its main function does": "def test_f():\n    f()\ndef main():\n"
    "    raise SystemExit(unittest.main())\nif __name__ == '__main__':\n    main()",
    "patches where all is its own": "N = 3\ndef own(x):\n    return os.getcwd() + x\n"
    "class Kept:\n    x = 1\ndef test_own(tmp_path):\n    kept = [Kept(), N, own]\n"
    "    with patch('os.getcwd'):\n        assert kept[2](kept[0].x)\ndef test_f():\n    f(N)",
}
HEAD = code("""
    import importlib, inspect, io, math, os, random, re, subprocess, sys, threading, time, types
    import unittest.mock
    from contextlib import redirect_stdout
    from unittest import TestCase
    from unittest.mock import Mock, patch
    import pytest
    import solution
    from solution import f
""")


@pytest.mark.parametrize("text", [*TOGETHER.values(), *GIVEN.values()], ids=[*TOGETHER, *GIVEN])
def test_tests_live_with_the_solution_whose_text(text: str) -> None:
    assert read(f"{HEAD}{text}\n", helper="import math\nx = y = 1\n").reasons


@pytest.mark.parametrize(("way", "use"), WAYS.values(), ids=WAYS)
def test_a_way_to_the_solution_is_followed(way: str, use: str) -> None:
    text = (
        "import importlib, pytest, sys\nfrom unittest.mock import patch\nNAMES = []\ntable = []\n"
    )
    text += f"class Test: pass\ndef put(kept, one):\n    kept.append(one)\n{way}\n"
    helper = "from solution import f\n"
    used = FORBIDS.format(given="self, g, n, request", use=use)
    assert PATCHES in read(text + used, helper=helper).reasons
    unused = FORBIDS.format(given="self, request", use="pass")
    assert PATCHES not in read(text + unused, helper=helper).reasons


@pytest.mark.parametrize("text", [*APART.values(), *ALOOF.values()], ids=[*APART, *ALOOF])
def test_tests_are_kept_apart_whose_text(text: str) -> None:
    assert not read(f"{HEAD}{text}\n", helper="import math\nx = y = 1\n").reasons


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("from solution import f, g as h\n", {"f", "g"}),
        ("import solution as s\ns.f(s.C.x)\n", {"f", "C"}),
        ("from solution import *\nassert f(len([])) == g\n", {"f", "g"}),
        ("import other\nother.f()\n", set()),
    ],
)
def test_the_names_that_tests_take_are_found(text: str, wanted: set[str]) -> None:
    assert read(text).wanted == wanted


@pytest.mark.parametrize(
    "text",
    [
        "import pkg.core as c\nc.f()",
        "from pkg import core\ncore.f()",
        "from pkg.core import f",
        "import pkg.core\npkg.core.f()",
        "from .core import f",
        "import core\ncore.f()",
    ],
)
def test_the_solution_is_found_by_every_name_of_its_module(text: str) -> None:
    assert read(text + "\n", path="pkg/core.py").wanted == {"f"}


def test_a_file_that_is_no_python_is_left_to_the_judge() -> None:
    assert parse_files([("a.py", "def ("), ("b.py", "(" * 10_000), ("c.txt", "x")]) == {}


@pytest.mark.parametrize(
    ("path", "settings"),
    [
        ("pytest.ini", "[pytest]\nfilterwarnings =\n    ignore\n    error::ResourceWarning\n"),
        ("pytest.ini", "[pytest]\naddopts = -q -W error\n"),
        ("tox.ini", "[pytest]\naddopts = -We:old\n"),
        ("setup.cfg", "[tool:pytest]\naddopts = -o filterwarnings=error\n"),
        ("pyproject.toml", "[tool.pytest.ini_options]\nfilterwarnings = ['once', 'error']\n"),
        ("pytest.toml", "[pytest]\naddopts = ['--pythonwarnings=error']\n"),
        ("pytest.ini", "[pytest]\nusefixtures = banned\n"),
        ("pyproject.toml", f"a{'.a' * 3000} = 1\n"),
    ],
    ids=lambda given: given[:40],
)
def test_settings_of_a_process_take_tests_beside_the_solution(path: str, settings: str) -> None:
    texts = [("test_f.py", "from solution import f\ndef test_f():\n    f()\n"), (path, settings)]
    assert read_suite(parse_files(texts), texts, "solution.py").reasons


@pytest.mark.parametrize(
    ("path", "settings"),
    [
        ("pytest.ini", "[pytest]\nfilterwarnings = ignore:an error\naddopts = -q -W ignore\n"),
        ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = ['-ra', '-W', 'default']\n"),
        ("other.ini", "[pytest]\nfilterwarnings = error\n"),
    ],
)
def test_other_settings_leave_tests_apart(path: str, settings: str) -> None:
    texts = [("test_f.py", "from solution import f\ndef test_f():\n    f()\n"), (path, settings)]
    assert not read_suite(parse_files(texts), texts, "solution.py").reasons


def test_settings_with_many_spaces_are_read_in_little_time() -> None:
    # Python's reader would take minutes, in which no other thread runs.
    settings = f"[pytest]\na{' ' * 100_000}b\n"
    texts = [
        ("test_f.py", "from solution import f\ndef test_f():\n    f()\n"),
        ("pytest.ini", settings),
    ]
    began = time.process_time()
    assert read_suite(parse_files(texts), texts, "solution.py").reasons
    assert time.process_time() - began < 10


SUITE = code("""
    import pytest, unittest
    from solution import f
    class TestA(unittest.TestCase):
        def test_1(self): pass
        @unittest.skip("x")
        def test_2(self): pass
        def helper(self): pass
    class TestB:
        def test_3(self): pass
    @unittest.skip("x")
    class TestC(unittest.TestCase):
        def test_4(self): pass
    def test_5(): pass
    def test_6():
        pytest.skip("x")
    def test_7(): pass
    del test_7
""")
NAMES = {"TestA::test_1", "TestA::test_2", "TestB::test_3", "TestC::test_4", "test_5", "test_6"}


def inventory(text: str = SUITE, framework: Framework = PYTEST, **files: str) -> Inventory:
    texts = {"test_f.py": text, **{name.replace("_py", ".py"): one for name, one in files.items()}}
    return Inventory(parse_files(texts.items()), list(texts.items()), framework)


def test_an_inventory_holds_what_is_collected_for_certain() -> None:
    assert inventory().tests == {f"test_f.py::{name}" for name in NAMES}
    cases = {name for name in NAMES if name.startswith(("TestA", "TestC"))}
    assert inventory(framework=UNITTEST).tests == {f"test_f.py::{name}" for name in cases}
    assert inventory().complete


@pytest.mark.parametrize(
    "more",
    [
        "def load_tests(*_): pass\n",
        "def pytest_generate_tests(metafunc): pass\n",
        "class TestD(TestA): pass\n",
        "__test__ = False\n",
        "class TestE:\n    def __init__(self): pass\n    def test_8(self): pass\n",
        "class TestE:\n    class TestInner:\n        def test_8(self): pass\n",
        "class TestE(metaclass=Meta):\n    def test_8(self): pass\n",
        "test_8 = make()\n",
        "if x:\n    def test_8(): pass\n",
        "for n in range(3):\n    setattr(TestA, f'test_{n}', make(n))\n",
        "@given(integers())\ndef test_8(n): pass\n",
        "@parameterized.expand([1, 2])\ndef test_8(n): pass\n",
        "def pytest_collection_modifyitems(items): pass\n",
        "pytest_plugins = ['x']\n",
        "globals()['test_8'] = make()\n",
    ],
)
def test_an_inventory_is_open_where_more_decides_what_there_is(more: str) -> None:
    found = inventory(SUITE + more)
    assert not found.complete
    assert not found.tests


@pytest.mark.parametrize(
    ("marks", "count"),
    [
        ("@pytest.mark.parametrize('a', [1, 2, 3])", 3),
        ("@pytest.mark.parametrize('a', [1, 2])\n@pytest.mark.parametrize('b', range(3))", 6),
        ("@pytest.mark.parametrize('a', ROWS, ids=str)", 4),
        ("@pytest.mark.parametrize(argnames='a', argvalues=(1, 2))", 2),
        ("@pytest.mark.parametrize('a', [pytest.param(1, id='x'), 2])", 2),
        ("@pytest.mark.parametrize('a', list(range(2, 10, 3)))", 3),
        ("@pytest.mark.parametrize('a', [n * n for n in range(5)])", 5),
        ("@pytest.mark.parametrize('a', 'xyz')", 3),
        ("@pytest.mark.slow", 1),
        ("@pytest.mark.parametrize('a', [*ROWS])", None),
        ("@pytest.mark.parametrize('a', f.rows())", None),
        ("@pytest.mark.parametrize('a', [n for n in range(5) if n])", None),
        ("@pytest.mark.parametrize('a', GROWN)", None),
        ("@pytest.mark.parametrize('a', [])", None),
        ("@pytest.mark.parametrize(*GROWN)", None),
    ],
)
def test_an_inventory_knows_the_rows_of_a_test(marks: str, count: int | None) -> None:
    tables = "ROWS = [1, 2, 3, 4]\nGROWN = [1]\nGROWN.append(2)\n"
    found = inventory(f"import pytest\n{tables}{marks}\ndef test_a(a): pass\n")
    assert found.rows == {"test_f.py::test_a": count}


def test_marks_of_a_class_and_a_module_give_rows_to_each_test() -> None:
    text = code("""
        import pytest
        pytestmark = pytest.mark.parametrize("a", [1, 2])
        @pytest.mark.parametrize("b", [1, 2, 3])
        class TestB:
            pytestmark = [pytest.mark.slow]
            @pytest.mark.parametrize("c", [1, 2])
            def test_a(self, a, b, c): pass
    """)
    assert inventory(text).rows == {"test_f.py::TestB::test_a": 12}


def test_rows_are_unknown_where_a_fixture_has_parameters() -> None:
    text = "import pytest\n@pytest.fixture(params=[1, 2])\ndef x(): pass\ndef test_a(x): pass\n"
    assert inventory(text).rows == {"test_f.py::test_a": None}


SETTINGS = {
    "pytest.ini": "[pytest]\nmarkers = slow: takes long\naddopts = -q --tb=short -ra -p no:x\n",
    "pyproject.toml": "[project]\nname = 'x'\n[tool.pytest.ini_options]\npythonpath = ['.']\n",
    "setup.cfg": "[metadata]\nname = x\n[tool:pytest]\nfilterwarnings =\n    error\n",
    "tox.ini": "[tox]\nenvlist = py311\n[pytest]\nlog_cli = true\nminversion = 6.0\n",
    "conftest.py": "def pytest_configure(config):\n    config.addinivalue_line('markers', 'x')\n",
}


@pytest.mark.parametrize(("path", "text"), SETTINGS.items(), ids=SETTINGS)
def test_settings_that_leave_collection_alone_leave_the_inventory_whole(
    path: str, text: str
) -> None:
    assert inventory(**{path: text}).tests == inventory().tests


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("pytest.ini", "[pytest]\npython_files = check_*.py\n"),
        ("pytest.ini", "[pytest]\npython_classes = Check*\n"),
        ("pytest.ini", "[pytest]\naddopts = -k fast\n"),
        ("pytest.ini", "[pytest]\naddopts = -m 'not slow' -q\n"),
        ("pytest.ini", "[pytest]\naddopts = --deselect test_f.py::test_5\n"),
        ("pytest.ini", "[pytest]\naddopts = -p plugin\n"),
        ("pytest.ini", "[pytest]\nno_such_setting = 1\n"),
        ("pytest.ini", "no ini ["),
        ("setup.cfg", "[tool:pytest]\ntestpaths = tests\n"),
        ("tox.ini", "[pytest]\nnorecursedirs = sub\n"),
        ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = ['--ignore', 'test_f.py']\n"),
        ("pyproject.toml", "[tool.pytest.ini_options]\npython_functions = ['check']\n"),
        ("pyproject.toml", "[tool.pytest.ini_options\n"),
        ("conftest.py", "collect_ignore = ['test_f.py']\n"),
        ("conftest.py", "def pytest_runtest_call(item): pass\n"),
        ("conftest.py", "def pytest_configure(config):\n    config.option.keyword = 'x'\n"),
    ],
)
def test_settings_that_may_change_collection_leave_the_inventory_open(path: str, text: str) -> None:
    assert not inventory(**{path: text}).complete
    assert path == "conftest.py" or inventory(framework=UNITTEST, **{path: text}).complete


def test_tests_are_skipped_by_their_own_text_and_by_what_is_around_them() -> None:
    skips = Skips(parse_files([("test_f.py", SUITE)]))
    found = {name for name in NAMES if skips.may_skip(f"test_f.py::{name}")}
    assert found == {"TestA::test_2", "TestC::test_4", "test_6"}
    assert skips.may_skip("test_f.py::test_6[1-2]")
    assert skips.may_skip("test_f.py::TestX::test_unknown")


@pytest.mark.parametrize(
    "more",
    [
        "pytestmark = pytest.mark.skip\n",
        "@pytest.fixture\ndef x():\n    pytest.skip('no')\n",
        "pytest.importorskip('x')\n",
    ],
)
def test_a_file_may_skip_all_of_its_tests(more: str) -> None:
    assert Skips(parse_files([("test_f.py", SUITE + more)])).may_skip("test_f.py::test_5")


def test_a_conftest_may_skip_every_test() -> None:
    files = [("conftest.py", "import pytest\npytest.skip('x')\n"), ("test_f.py", SUITE)]
    assert Skips(parse_files(files)).may_skip("test_f.py::test_5")
