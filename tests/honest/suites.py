"""Test files of honest authors, awkward in one way each, with solutions that are right."""

from __future__ import annotations

from dataclasses import dataclass, field

from reward_server.domain import Framework, Integrity, UnitTests
from tests.honest.solution import code

PYTEST, UNITTEST = Framework.PYTEST, Framework.UNITTEST
ISOLATED, SHARED = Integrity.ISOLATED, Integrity.SHARED


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """Test files with a right solution.

    Attributes:
        name: what is awkward about them.
        tests: the files.
        solution: what passes them.
        integrity: how they are judged.
        skipped: how many tests their author skips.
    """

    name: str
    tests: UnitTests
    solution: str
    integrity: Integrity = ISOLATED
    skipped: int = 0
    prompt: str = field(default="")


def suite(
    name: str,
    framework: Framework,
    solution: str,
    files: str | dict[str, str],
    *,
    solution_path: str = "solution.py",
    integrity: Integrity = ISOLATED,
    skipped: int = 0,
) -> Suite:
    """Makes a suite; a single text is the only file."""
    texts = {"test_solution.py": files} if isinstance(files, str) else files
    tests = UnitTests(
        framework=framework,
        files=tuple(sorted((path, code(text)) for path, text in texts.items())),
        solution_path=solution_path,
    )
    return Suite(
        name=name,
        tests=tests,
        solution=code(solution),
        integrity=integrity,
        skipped=skipped,
    )


ADD = "def add(a, b):\n    return a + b\n"
STACK = """
    class EmptyError(Exception):
        pass

    class Stack:
        def __init__(self, items=()):
            self._items = list(items)

        def push(self, item):
            self._items.append(item)

        def pop(self):
            if not self._items:
                raise EmptyError("the stack is empty")
            return self._items.pop()

        def __len__(self):
            return len(self._items)

        def __iter__(self):
            return iter(self._items)

        def __eq__(self, other):
            return isinstance(other, Stack) and self._items == other._items
"""

WITH_UNITTEST = (
    suite(
        "preparations of tests, classes and modules",
        UNITTEST,
        STACK,
        """
        import unittest
        from solution import Stack

        def setUpModule():
            global LOG
            LOG = ["module"]

        def tearDownModule():
            LOG.append("done")

        class TestStack(unittest.TestCase):
            @classmethod
            def setUpClass(cls):
                cls.shared = Stack([1, 2])
                LOG.append("class")

            @classmethod
            def tearDownClass(cls):
                del cls.shared

            def setUp(self):
                self.stack = Stack()
                self.addCleanup(LOG.append, "cleaned")

            def tearDown(self):
                self.stack = None

            def test_length(self):
                self.assertEqual(len(self.stack), 0)
                self.assertEqual(len(self.shared), 2)
                self.assertEqual(LOG[:2], ["module", "class"])

            def test_push(self):
                self.stack.push("x")
                self.assertEqual(list(self.stack), ["x"])
        """,
    ),
    suite(
        "parts of tests",
        UNITTEST,
        ADD,
        """
        import unittest
        import solution

        class TestAdd(unittest.TestCase):
            def test_many(self):
                for a in range(5):
                    for b in range(3):
                        with self.subTest(a=a, b=b):
                            self.assertEqual(solution.add(a, b), a + b)
        """,
    ),
    suite(
        "parts of tests that are skipped",
        UNITTEST,
        ADD,
        """
        import unittest
        from solution import add

        class TestAdd(unittest.TestCase):
            def test_some(self):
                for a in range(3):
                    with self.subTest(a=a):
                        if a == 1:
                            self.skipTest("not here")
                        self.assertEqual(add(a, 1), a + 1)

            def test_last(self):
                with self.subTest("first"):
                    self.assertEqual(add(1, 1), 2)
                with self.subTest("last"):
                    self.skipTest("not here")

            def test_none(self):
                with self.subTest("only"):
                    self.skipTest("not here")

            def test_rest(self):
                with self.subTest("first"):
                    self.assertEqual(add(1, 1), 2)
                self.skipTest("the rest")
        """,
        skipped=2,
    ),
    suite(
        "names that the solution may lack",
        UNITTEST,
        ADD,
        """
        import unittest
        import solution
        from solution import add
        try:
            from solution import sub
        except ImportError:
            sub = None

        class TestAdd(unittest.TestCase):
            def test_add(self):
                self.assertEqual(add(1, 2), 3)

            @unittest.skipUnless(hasattr(solution, "scale"), "optional")
            def test_scale(self):
                self.assertEqual(solution.scale(2), 4)

            @unittest.skipIf(sub is None, "optional")
            def test_sub(self):
                self.assertEqual(sub(2, 1), 1)

            if hasattr(solution, "mul"):
                def test_mul(self):
                    self.assertEqual(solution.mul(2, 1), 2)
        """,
        skipped=2,
    ),
    suite(
        "exceptions of the solution's own and of Python's",
        UNITTEST,
        STACK + "\n    def parse(text):\n        return int(text)\n",
        """
        import unittest
        import solution
        from solution import EmptyError, Stack, parse

        class TestErrors(unittest.TestCase):
            def test_own(self):
                with self.assertRaises(EmptyError) as caught:
                    Stack().pop()
                self.assertEqual(str(caught.exception), "the stack is empty")
                self.assertRaises(solution.EmptyError, Stack().pop)
                with self.assertRaisesRegex(EmptyError, "is empty$"):
                    Stack().pop()

            def test_pythons(self):
                with self.assertRaises(ValueError):
                    parse("x")
                self.assertRaises((TypeError, KeyError), parse, None)
        """,
    ),
    suite(
        "mocks handed over as callbacks",
        UNITTEST,
        """
        def notify(callback, items, *, store=None):
            for item in items:
                callback(item, size=len(item))
            if store is not None:
                store.save(list(items))
            return len(items)
        """,
        """
        import unittest
        from unittest.mock import MagicMock, Mock, call
        from solution import notify

        class TestNotify(unittest.TestCase):
            def test_calls(self):
                callback, store = Mock(), MagicMock()
                self.assertEqual(notify(callback, ["a", "bc"], store=store), 2)
                self.assertEqual(
                    callback.call_args_list, [call("a", size=1), call("bc", size=2)]
                )
                store.save.assert_called_once_with(["a", "bc"])

            def test_failing_callback(self):
                with self.assertRaises(KeyError):
                    notify(Mock(side_effect=KeyError("x")), ["a"])
        """,
    ),
    suite(
        "helpers and data among several files",
        UNITTEST,
        "def total(rows):\n    return sum(row['amount'] for row in rows)\n",
        {
            "tests/__init__.py": "",
            "tests/helpers.py": """
                import json, os

                def rows():
                    with open(os.path.join(os.path.dirname(__file__), "rows.json")) as file:
                        return json.load(file)
            """,
            "tests/rows.json": '[{"amount": 3}, {"amount": 4}]',
            "tests/test_total.py": """
                import unittest
                from solution import total
                from tests.helpers import rows

                class TestTotal(unittest.TestCase):
                    def test_total(self):
                        self.assertEqual(total(rows()), 7)
            """,
            "tests/test_empty.py": """
                import unittest
                from solution import total
                from .helpers import rows

                class TestEmpty(unittest.TestCase):
                    def test_empty(self):
                        self.assertEqual(total([]), 0)
                        self.assertEqual(total(rows()[:1]), 3)
            """,
        },
    ),
    suite(
        "tests that their author skips",
        UNITTEST,
        ADD,
        """
        import sys, unittest
        from solution import add

        class TestAdd(unittest.TestCase):
            def test_add(self):
                self.assertEqual(add(1, 2), 3)

            @unittest.skip("not yet")
            def test_later(self):
                self.fail()

            @unittest.skipIf(sys.version_info > (3,), "old")
            def test_old(self):
                self.fail()

            def test_elsewhere(self):
                self.skipTest("not here")

            @unittest.expectedFailure
            def test_known_flaw(self):
                self.assertEqual(1, 2)

        @unittest.skip("a whole class")
        class TestMore(unittest.TestCase):
            def test_more(self):
                self.fail()
        """,
        skipped=5,
    ),
    suite(
        "a solution in a package",
        UNITTEST,
        ADD,
        """
        import unittest
        import pkg.core.solution as s
        from pkg.core import solution
        from pkg.core.solution import add
        import pkg.core.solution

        class TestAdd(unittest.TestCase):
            def test_all_ways(self):
                for way in (s.add, solution.add, add, pkg.core.solution.add):
                    self.assertEqual(way(2, 3), 5)
        """,
        solution_path="pkg/core/solution.py",
    ),
    suite(
        "a solution that is found by a changed path",
        UNITTEST,
        ADD,
        {
            "tests/test_add.py": """
                import os, sys, unittest
                sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "src"))
                from calc import add

                class TestAdd(unittest.TestCase):
                    def test_add(self):
                        self.assertEqual(add(2, 3), 5)
            """,
        },
        solution_path="src/calc.py",
    ),
    suite(
        "a solution that is a package's own file",
        PYTEST,
        ADD,
        {
            "pkg/more.py": "def three():\n    return 3\n",
            "test_add.py": """
                import pkg
                from pkg import add
                from pkg.more import three

                def test_all_ways():
                    assert add(1, 2) == pkg.add(2, 1) == three()
            """,
        },
        solution_path="pkg/__init__.py",
    ),
    suite(
        "a solution that is a package's own file, beside what is patched",
        PYTEST,
        "import math\ndef root(x):\n    return math.sqrt(x)\n",
        """
        import math
        from pkg import root

        def test_root(monkeypatch):
            monkeypatch.setattr(math, "sqrt", lambda x: 7)
            assert root(4) == 7
        """,
        solution_path="pkg/__init__.py",
        integrity=SHARED,
    ),
    suite(
        "modules of the tests' that take everything and hand it on",
        PYTEST,
        ADD + "def sub(a, b):\n    return a - b\ndef double(a):\n    return a + a\n"
        "def half(a):\n    return a // 2\n",
        {
            "helper.py": "from solution import *\nONE = 1\ndef same(a, b):\n    assert a == b\n",
            "more.py": "from helper import *\n",
            "tests/__init__.py": "from solution import *\n",
            "tests/test_add.py": """
                import helper as h, more
                from helper import ONE, add, same
                from . import double

                def test_all():
                    same(add(1, 2), 3)
                    same(h.sub(2, 1), ONE)
                    same(double(2), more.half(8))
            """,
        },
    ),
    suite(
        "everything imported from the solution",
        UNITTEST,
        ADD + "LIMITS = [1, 2]\nNAME = 'sum'\n",
        """
        import unittest
        from solution import *

        class TestAdd(unittest.TestCase):
            def test_add(self):
                self.assertEqual(add(1, 2), 3)
                self.assertEqual(LIMITS, [1, 2])
                self.assertEqual(NAME.upper(), "SUM")
        """,
    ),
    suite(
        "constants of the solution's",
        UNITTEST,
        "LIMIT = 7\nTABLE = {'a': 1}\nnames = ('x', 'y')\n_seen = []\n"
        "def see(x):\n    _seen.append(x)\n    return len(_seen)\n",
        """
        import unittest
        import solution
        from solution import LIMIT, TABLE, names

        class TestConstants(unittest.TestCase):
            def test_values(self):
                self.assertEqual(LIMIT, 7)
                self.assertEqual(TABLE, {"a": 1})
                self.assertEqual(names, ("x", "y"))
                self.assertEqual(solution.LIMIT + 1, 8)
                self.assertTrue(hasattr(solution, "LIMIT"))
                self.assertFalse(hasattr(solution, "nothing"))
                self.assertIsNone(getattr(solution, "nothing", None))

            def test_changes(self):
                self.assertEqual(solution.see(3), 1)
                self.assertEqual(solution._seen, [3])
        """,
    ),
    suite(
        "instances, equality and truth of the solution's objects",
        UNITTEST,
        STACK,
        """
        import unittest
        from solution import Stack

        class TestObjects(unittest.TestCase):
            def test_objects(self):
                stack = Stack([1])
                self.assertIsInstance(stack, Stack)
                self.assertNotIsInstance(3, Stack)
                self.assertEqual(stack, Stack([1]))
                self.assertNotEqual(stack, Stack([2]))
                self.assertTrue(stack)
                self.assertFalse(Stack())
                self.assertIn(1, stack)
                self.assertIs(stack, stack)
        """,
    ),
    suite(
        "asynchronous tests",
        UNITTEST,
        "import asyncio\nasync def fetch(x):\n    await asyncio.sleep(0)\n    return x * 2\n",
        """
        import unittest
        from solution import fetch

        class TestFetch(unittest.IsolatedAsyncioTestCase):
            async def asyncSetUp(self):
                self.base = 2

            async def test_fetch(self):
                self.assertEqual(await fetch(self.base), 4)
        """,
    ),
    suite(
        "tests inherited from a class that knows no solution",
        UNITTEST,
        "def small(x):\n    return x + 1\ndef large(x):\n    return x + 100\n",
        """
        import unittest
        import solution

        class Checks:
            step = 0
            def test_step(self):
                self.assertEqual(self.function(1), 1 + self.step)

        class TestSmall(Checks, unittest.TestCase):
            step = 1
            def function(self, x):
                return solution.small(x)

        class TestLarge(Checks, unittest.TestCase):
            step = 100
            def function(self, x):
                return solution.large(x)
        """,
    ),
    suite(
        "a suite that collects by its own rules",
        UNITTEST,
        ADD,
        """
        import unittest
        from solution import add

        def make(a, b, want):
            class TestMade(unittest.TestCase):
                def runTest(self):
                    self.assertEqual(add(a, b), want)
            return TestMade()

        def load_tests(loader, tests, pattern):
            return unittest.TestSuite([make(1, 2, 3), make(0, 0, 0)])
        """,
    ),
    suite(
        "floats, containers, order and long differences",
        UNITTEST,
        "def f(x):\n    return x\n",
        """
        import unittest
        from solution import f

        class TestAll(unittest.TestCase):
            maxDiff = None
            def test_all(self):
                self.assertAlmostEqual(f(0.1 + 0.2), 0.3)
                self.assertCountEqual(f([3, 1, 2]), [1, 2, 3])
                self.assertDictEqual(f({"a": [1]}), {"a": [1]})
                self.assertSetEqual(f({1, 2}), {2, 1})
                self.assertGreater(f(3), 2)
                self.assertRegex(f("abc"), "^a")
                self.assertIsNone(f(None))
                self.assertListEqual(f(list(range(500))), list(range(500)))
                self.assertMultiLineEqual(f("a\\nb"), "a\\nb")
        """,
    ),
)

WITH_PYTEST = (
    suite(
        "fixtures of every scope, and conftest.py",
        PYTEST,
        STACK,
        {
            "conftest.py": """
                import pytest
                from solution import Stack

                @pytest.fixture(scope="session")
                def log():
                    return []

                @pytest.fixture(scope="module")
                def shared():
                    yield Stack([1, 2])

                @pytest.fixture
                def stack(log):
                    made = Stack()
                    yield made
                    log.append(len(made))

                @pytest.fixture(autouse=True)
                def tidy(log):
                    log.append("tidy")
            """,
            "test_stack.py": """
                import pytest

                @pytest.fixture(scope="class")
                def number():
                    return 5

                class TestStack:
                    def setup_method(self):
                        self.item = "x"

                    def test_push(self, stack, number):
                        stack.push(self.item)
                        assert list(stack) == ["x"] and number == 5

                    def test_shared(self, shared, log):
                        assert len(shared) == 2
                        assert log[:2] == ["tidy", 1]
            """,
        },
    ),
    suite(
        "parameters, with ids, marks and products",
        PYTEST,
        ADD,
        """
        import pytest
        from solution import add

        @pytest.mark.parametrize("a", [1, 2])
        @pytest.mark.parametrize("b", [10, pytest.param(20, id="twenty")])
        def test_product(a, b):
            assert add(a, b) == a + b

        @pytest.mark.parametrize(
            ("a", "b", "want"), [(1, 2, 3), pytest.param(1, 1, 3, marks=pytest.mark.xfail)]
        )
        def test_rows(a, b, want):
            assert add(a, b) == want

        @pytest.fixture(params=["x", "y"])
        def letter(request):
            return request.param

        def test_letters(letter):
            assert add(letter, "!") == letter + "!"
        """,
        skipped=1,
    ),
    suite(
        "parameters computed by the solution",
        PYTEST,
        "SIZES = [1, 2, 3]\n"
        "def names():\n    return ['a', 'b']\n"
        "def double(x):\n    return x * 2\n",
        """
        import pytest
        import solution

        @pytest.mark.parametrize("name", solution.names())
        def test_names(name):
            assert solution.double(name) == name + name

        @pytest.mark.parametrize("size", solution.SIZES)
        def test_sizes(size):
            assert solution.double(size) == size + size

        def test_count():
            assert len(solution.names()) == 2
        """,
    ),
    suite(
        "raises, approx and warnings of its own",
        PYTEST,
        STACK + "\n    def half(x):\n        return x / 2\n",
        """
        import warnings
        import pytest
        from solution import EmptyError, Stack, half

        def test_raises():
            with pytest.raises(EmptyError, match="is empty") as caught:
                Stack().pop()
            assert "empty" in str(caught.value)
            with pytest.raises(TypeError):
                half("x")

        def test_approx():
            assert half(0.6) == pytest.approx(0.3)
            assert [half(1), half(3)] == pytest.approx([0.5, 1.5])
            assert half(1) == pytest.approx(0.5, abs=1e-9)

        def test_own_warning():
            with pytest.warns(UserWarning):
                warnings.warn("mine", UserWarning)
        """,
    ),
    suite(
        "what the test itself prints",
        PYTEST,
        "def greet(name):\n    return f'hello {name}'\n",
        """
        from contextlib import redirect_stdout
        from io import StringIO
        from solution import greet

        def test_printed(capsys):
            print(greet("you"))
            assert capsys.readouterr().out == "hello you\\n"

        def test_redirected():
            buffer = StringIO()
            with redirect_stdout(buffer):
                print(greet("me"))
            assert buffer.getvalue() == "hello me\\n"
        """,
    ),
    suite(
        "temporary files whose text is handed over",
        PYTEST,
        "def count(text):\n    return len(text.split())\n",
        """
        from solution import count

        def test_count(tmp_path):
            file = tmp_path / "text"
            file.write_text("a b c")
            assert count(file.read_text()) == 3

        def test_made(tmp_path_factory):
            folder = tmp_path_factory.mktemp("x")
            (folder / "y").write_text("a")
            text = (folder / "y").read_text()
            assert count(text) == 1
        """,
    ),
    suite(
        "patches of the tests' own things",
        PYTEST,
        "def scale(x, factor):\n    return x * factor\n",
        {
            "settings_of_tests.py": "FACTOR = 2\ndef factor():\n    return FACTOR\n",
            "test_scale.py": """
                import settings_of_tests
                from unittest import mock
                from solution import scale

                def test_setattr(monkeypatch):
                    monkeypatch.setattr(settings_of_tests, "FACTOR", 10)
                    assert scale(3, settings_of_tests.factor()) == 30

                @mock.patch("settings_of_tests.FACTOR", 5)
                def test_patch():
                    assert scale(2, settings_of_tests.factor()) == 10
            """,
        },
    ),
    suite(
        "TestCases, subtests and plain classes in one file",
        PYTEST,
        ADD,
        """
        import unittest
        import pytest
        from solution import add

        class TestOld(unittest.TestCase):
            def setUp(self):
                self.one = 1

            def test_old(self):
                for b in range(3):
                    with self.subTest(b=b):
                        self.assertEqual(add(self.one, b), 1 + b)

        class TestNew:
            @pytest.fixture(autouse=True)
            def two(self):
                self.number = 2

            def test_new(self):
                assert add(self.number, 2) == 4

            @staticmethod
            def test_static():
                assert add("a", "b") == "ab"
        """,
    ),
    suite(
        "tests that their author skips or expects to fail",
        PYTEST,
        ADD,
        """
        import sys
        import pytest
        from solution import add

        def test_add():
            assert add(1, 2) == 3

        @pytest.mark.skip(reason="later")
        def test_later():
            assert False

        @pytest.mark.skipif(sys.version_info > (3,), reason="old")
        def test_old():
            assert False

        def test_inside():
            pytest.skip("not here")

        def test_missing():
            pytest.importorskip("no_such_module_anywhere")

        @pytest.mark.xfail
        def test_flaw():
            assert add(1, 2) == 4
        """,
        skipped=5,
    ),
    suite(
        "several files of which one is skipped",
        PYTEST,
        ADD,
        {
            "test_one.py": "from solution import add\ndef test_a():\n    assert add(1, 1) == 2\n",
            "sub/test_two.py": """
                from solution import add
                def test_b():
                    assert add(2, 2) == 4
            """,
            "test_three.py": """
                import pytest
                pytest.skip("not on this machine", allow_module_level=True)
            """,
        },
    ),
    suite(
        "settings of its own",
        PYTEST,
        ADD,
        {
            "pytest.ini": "[pytest]\npython_files = check_*.py\npython_functions = check_*\n"
            "markers = slow: takes long\npythonpath = lib\n",
            "lib/helping.py": "ONE = 1\n",
            "check_add.py": """
                import pytest
                from helping import ONE
                from solution import add

                @pytest.mark.slow
                def check_add():
                    assert add(ONE, 1) == 2
            """,
        },
    ),
    suite(
        "callbacks, iterators and generators both ways",
        PYTEST,
        """
        def pairs(items, key):
            for item in items:
                yield key(item), item
        def compose(f, g):
            return lambda x: f(g(x))
        """,
        """
        from solution import compose, pairs

        def test_generator():
            assert list(pairs(iter("ab"), str.upper)) == [("A", "a"), ("B", "b")]

        def test_closure():
            assert compose(lambda x: x + 1, lambda x: x * 2)(5) == 11
        """,
    ),
    suite(
        "objects of a class of the tests' own",
        PYTEST,
        """
        def pairs(items, key):
            for item in items:
                yield key(item), item
        """,
        """
        from dataclasses import dataclass
        from solution import pairs

        @dataclass
        class Item:
            name: str
            def key(self):
                return self.name.upper()

        def test_objects():
            items = [Item("x"), Item("y")]
            assert [key for key, _ in pairs(items, lambda item: item.key())] == ["X", "Y"]
            assert [item for _, item in pairs(items, Item.key)] == items
        """,
        integrity=SHARED,
    ),
    suite(
        "coroutines that a setting marks for pytest-asyncio",
        PYTEST,
        "async def add(a, b):\n    return a + b\n",
        {
            "pyproject.toml": "[tool.pytest.ini_options]\nasyncio_mode = 'auto'\n",
            "test_add.py": """
                import pytest
                from solution import add

                @pytest.fixture
                async def three():
                    return await add(1, 2)

                async def test_add(three):
                    assert await add(three, 1) == 4
            """,
        },
    ),
    suite(
        "coroutines that are marked for pytest-asyncio",
        PYTEST,
        "async def add(a, b):\n    return a + b\n",
        """
        import pytest
        from solution import add

        pytestmark = pytest.mark.filterwarnings("ignore")

        @pytest.fixture
        def one():
            return 1

        @pytest.mark.asyncio
        async def test_addition(one):
            assert await add(one, 2) == 3

        @pytest.mark.asyncio
        @pytest.mark.parametrize("a", [1, 2])
        async def test_rows(a):
            assert await add(a, a) == 2 * a

        def test_beside():
            assert callable(add)
        """,
    ),
    suite(
        "one hundred and twenty tests",
        PYTEST,
        ADD,
        """
        import pytest
        from solution import add

        @pytest.mark.parametrize("n", range(120))
        def test_add(n):
            assert add(n, n) == 2 * n
        """,
    ),
)

TOGETHER = (
    suite(
        "an environment, a file of numpy's, and a path from a fixture",
        PYTEST,
        """
        import os
        import numpy as np
        def scale(x): return x * int(os.environ["FACTOR"])
        def total(path): return int(np.load(path).sum())
        def words(path):
            with open(path) as file:
                return file.read().split()
        """,
        {
            "conftest.py": """
                import pytest

                @pytest.fixture
                def poem(tmp_path):
                    path = tmp_path / "poem.txt"
                    path.write_text("so much depends")
                    return str(path)
            """,
            "test_scale.py": """
                import os
                import numpy as np
                from solution import scale, total, words

                def test_environment(monkeypatch):
                    monkeypatch.setenv("FACTOR", "4")
                    assert scale(3) == 12
                    assert int(os.environ["FACTOR"]) == 4

                def test_array():
                    np.save("numbers.npy", np.arange(5))
                    assert total("numbers.npy") == 10

                def test_poem(poem):
                    assert words(poem) == ["so", "much", "depends"]
            """,
        },
        integrity=SHARED,
    ),
    suite(
        "the solution's output is captured",
        PYTEST,
        "def greet(name):\n    print(f'hello {name}')\n    return len(name)\n",
        """
        from solution import greet

        def test_output(capsys):
            assert greet("you") == 3
            assert capsys.readouterr().out == "hello you\\n"

        def test_more(capsys):
            greet("")
            assert capsys.readouterr().out == "hello \\n"
        """,
        integrity=SHARED,
    ),
    suite(
        "standard output is redirected around calls",
        UNITTEST,
        "def show(n):\n    print(n * n)\n",
        """
        import io, unittest
        from contextlib import redirect_stdout
        from unittest.mock import patch
        import solution

        class TestShow(unittest.TestCase):
            def test_redirected(self):
                buffer = io.StringIO()
                with redirect_stdout(buffer):
                    solution.show(4)
                self.assertEqual(buffer.getvalue(), "16\\n")

            @patch("sys.stdout", new_callable=io.StringIO)
            def test_patched(self, out):
                solution.show(5)
                self.assertEqual(out.getvalue().strip(), "25")
        """,
        integrity=SHARED,
    ),
    suite(
        "the module is patched",
        UNITTEST,
        """
        import random
        def roll():
            return random.randint(1, 6)
        def rolls(n):
            return [roll() for _ in range(n)]
        """,
        """
        import unittest
        from unittest import mock
        import solution

        class TestRolls(unittest.TestCase):
            @mock.patch("solution.roll", return_value=4)
            def test_patched(self, roll):
                self.assertEqual(solution.rolls(3), [4, 4, 4])
                self.assertEqual(roll.call_count, 3)

            def test_library(self):
                with mock.patch("random.randint", return_value=2):
                    self.assertEqual(solution.roll(), 2)

            def test_object(self):
                with mock.patch.object(solution, "roll", side_effect=[1, 2]):
                    self.assertEqual(solution.rolls(2), [1, 2])
        """,
        integrity=SHARED,
    ),
    suite(
        "the module is changed by monkeypatch",
        PYTEST,
        "RATE = 2\ndef price(x):\n    return x * RATE\n",
        """
        import solution

        def test_changed(monkeypatch):
            monkeypatch.setattr(solution, "RATE", 10)
            assert solution.price(3) == 30

        def test_unchanged():
            assert solution.price(3) == 6
        """,
        integrity=SHARED,
    ),
    suite(
        "a class of the solution's is subclassed",
        UNITTEST,
        """
        class Shape:
            def area(self):
                raise NotImplementedError
            def describe(self):
                return f"{type(self).__name__} of {self.area()}"
        """,
        """
        import unittest
        from solution import Shape

        class Square(Shape):
            def __init__(self, side):
                self.side = side
            def area(self):
                return self.side ** 2

        class TestShape(unittest.TestCase):
            def test_describe(self):
                self.assertEqual(Square(3).describe(), "Square of 9")

            def test_abstract(self):
                with self.assertRaises(NotImplementedError):
                    Shape().area()
        """,
        integrity=SHARED,
    ),
    suite(
        "signatures, annotations and docstrings are inspected",
        UNITTEST,
        "def f(a: int, b: str = 'x') -> str:\n    '''Repeats.'''\n    return b * a\n",
        """
        import inspect, unittest
        import solution

        class TestShape(unittest.TestCase):
            def test_signature(self):
                self.assertEqual(list(inspect.signature(solution.f).parameters), ["a", "b"])

            def test_documented(self):
                self.assertTrue(solution.f.__doc__)
                self.assertEqual(solution.f.__annotations__["return"], str)

            def test_source(self):
                self.assertIn("return", inspect.getsource(solution.f))

            def test_result(self):
                self.assertEqual(solution.f(2, "ab"), "abab")
        """,
        integrity=SHARED,
    ),
    suite(
        "files are shared with the solution",
        PYTEST,
        "def lines(path):\n    with open(path) as file:\n        return file.read().splitlines()\n"
        "def save(path, text):\n    with open(path, 'w') as file:\n        file.write(text)\n",
        """
        import os, tempfile
        from solution import lines, save

        def test_read(tmp_path):
            (tmp_path / "a.txt").write_text("x\\ny")
            assert lines(tmp_path / "a.txt") == ["x", "y"]

        def test_written():
            path = os.path.join(tempfile.mkdtemp(), "b.txt")
            save(path, "hello")
            with open(path) as file:
                assert file.read() == "hello"
        """,
        integrity=SHARED,
    ),
    suite(
        "logs and warnings of the solution are expected",
        UNITTEST,
        """
        import logging, warnings
        def old(x):
            warnings.warn("old", DeprecationWarning)
            logging.getLogger("solution").warning("x is %s", x)
            return x - 1
        """,
        """
        import unittest, warnings
        import solution

        class TestOld(unittest.TestCase):
            def test_logs(self):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    with self.assertLogs("solution", level="WARNING") as logs:
                        solution.old(3)
                self.assertEqual(logs.output, ["WARNING:solution:x is 3"])

            def test_warns(self):
                with self.assertWarns(DeprecationWarning):
                    result = solution.old(3)
                self.assertEqual(result, 2)
        """,
        integrity=SHARED,
    ),
    suite(
        "input is answered and the program left",
        UNITTEST,
        """
        import sys
        def ask():
            answer = input("name? ")
            if not answer:
                sys.exit(3)
            return answer.title()
        """,
        """
        import unittest
        from unittest.mock import patch
        import solution

        class TestAsk(unittest.TestCase):
            def test_answer(self):
                with patch("builtins.input", return_value="ann lee"):
                    self.assertEqual(solution.ask(), "Ann Lee")

            def test_leaves(self):
                with patch("builtins.input", return_value=""):
                    with self.assertRaises(SystemExit) as left:
                        solution.ask()
                self.assertEqual(left.exception.code, 3)
        """,
        integrity=SHARED,
    ),
    suite(
        "rows of parameters beside a seeded solution",
        PYTEST,
        "import random\ndef pick(items):\n    return random.choice(items)\n"
        "def square(x):\n    return x * x\n",
        """
        import random
        import pytest
        from solution import pick, square

        ROWS = [(1, 1), (4, 16)]

        @pytest.mark.parametrize("x,want", [(2, 4), (3, 9), (5, 25), pytest.param(7, 49)])
        def test_square(x, want):
            assert square(x) == want

        def test_pick():
            random.seed(1)
            assert pick(["a"]) == "a"

        def test_loop():
            for _ in range(2):
                for x, want in ROWS:
                    assert square(x) == want, "squares"
        """,
        integrity=SHARED,
    ),
    suite(
        "results of a seeded solution are compared with each other",
        PYTEST,
        "import random\ndef pick(items):\n    return random.choice(items)\n",
        """
        import random
        import pytest
        from solution import pick

        @pytest.mark.parametrize("seed", range(3))
        def test_pick(seed):
            random.seed(seed)
            first = pick(list("abc"))
            random.seed(seed)
            assert pick(list("abc")) == first
            assert len(first) == 1
        """,
        integrity=SHARED,
    ),
    suite(
        "equalities of its own, and an error of two kinds",
        PYTEST,
        """
        import io

        class Version:
            def __init__(self, text):
                self.text = text

            def __eq__(self, other):
                return self.text.rstrip(".0") == str(other).rstrip(".0")

        class Name(str):
            def __eq__(self, other):
                return self.lower() == other.lower()

            __hash__ = None

        def parse(text):
            return Version(text)

        def key(text):
            return Name(text)

        def write():
            raise io.UnsupportedOperation("write")
        """,
        """
        import inspect
        import pytest
        import solution

        def test_version():
            assert inspect.getmodule(solution) is not None
            assert solution.parse("1.0") == "1.0.0"
            assert solution.parse("2") == "2.0"
            assert solution.parse("1.0.0") == "1.0"

        def test_name():
            assert solution.key("Content-Type") == "content-type"
            assert solution.key("Content-Type") == "CONTENT-TYPE"

        def test_error():
            with pytest.raises(OSError):
                solution.write()
            with pytest.raises(ValueError):
                solution.write()
        """,
        integrity=SHARED,
    ),
    suite(
        "what comes after one test is needed by another",
        UNITTEST,
        "STATE = []\ndef add(x):\n    STATE.append(x)\n    return len(STATE)\n",
        """
        import unittest
        import solution

        class TestState(unittest.TestCase):
            def setUp(self):
                solution.STATE = []

            def test_1(self):
                self.assertEqual(solution.add(1), 1)
                solution.STATE.clear()

            def test_2(self):
                self.assertEqual(solution.add(1), 1)
                self.assertEqual(solution.add(5), 2)

            def test_3(self):
                result = solution.add("x")
                expected = 1
                self.assertEqual(result, expected)
        """,
        integrity=SHARED,
    ),
    suite(
        "nothing in it can be made wrong",
        UNITTEST,
        "def f():\n    return 1\n",
        """
        import unittest
        import solution

        class TestNothing(unittest.TestCase):
            def check(self, value):
                if value != 1:
                    raise AssertionError(value)

            def test_f(self):
                self.check(vars(solution)["f"]())
        """,
        integrity=SHARED,
    ),
)

# Forms that only one process can judge, each with its solution and the body of its test.
PARTS = tuple(
    suite(
        f"parts of tests that are skipped {name}",
        UNITTEST,
        ADD,
        f"""
        import unittest
        from solution import add

        class TestAdd(unittest.TestCase):
            def test_beside(self):
                self.assertEqual({asked}, 2)

            def test_some(self):
                for a in range(3):
                    with self.subTest(a=a):
                        {text}
                        self.assertEqual(add(a, 1), a + 1)

            def test_last(self):
                with self.subTest("first"):
                    a = 1
                    {text}
                    self.assertEqual(add(1, 1), 2)
                with self.subTest("last"):
                    self.assertEqual(add(1, 2), 3)
        """,
        integrity=integrity,
    )
    for integrity, asked in (
        (Integrity.ISOLATED, "add(1, 1)"),
        (SHARED, "add.__code__.co_argcount"),
    )
    for name, text in {
        f"by a method, {integrity.name}": "if a == 1: self.skipTest('not here')",
        f"by an exception, {integrity.name}": "if a == 1: raise unittest.SkipTest('not here')",
        f"in a match, {integrity.name}": "match a:\n                            case 1: "
        "self.skipTest('not here')",
    }.items()
)
ONE_PROCESS = tuple(
    suite(
        name,
        PYTEST,
        solution,
        f"import asyncio, pytest\nfrom solution import {names}\n{code(text)}",
        integrity=SHARED,
    )
    for name, names, solution, text in (
        (
            "coroutines that wait for each other",
            "Chan",
            """
            import asyncio
            class Chan:
                def __init__(self): self.q = asyncio.Queue()
                async def put(self, x): await self.q.put(x)
                async def get(self): return await self.q.get()
            """,
            """
            def test_a():
                async def main():
                    c = Chan()
                    return await asyncio.gather(c.get(), c.put(5))
                assert asyncio.run(main()) == [5, None]
            """,
        ),
        (
            "a coroutine function and a mock of one",
            "apply",
            "async def apply(f, x): return await f(x)",
            """
            from unittest.mock import AsyncMock
            def test_a():
                async def inc(x): return x + 1
                assert asyncio.run(apply(inc, 3)) == 4
            def test_b():
                f = AsyncMock(return_value=7)
                assert asyncio.run(apply(f, 3)) == 7
                f.assert_awaited_once_with(3)
            """,
        ),
        (
            "a generator that catches, and a group of exceptions",
            "f, g",
            """
            def g():
                try: yield 1
                except ValueError: yield "caught"
            def f(): raise ExceptionGroup("many", [ValueError(1), TypeError(2)])
            """,
            """
            def test_a():
                x = g()
                assert next(x) == 1
                assert x.throw(ValueError("a")) == "caught"
            def test_b():
                with pytest.raises(ExceptionGroup) as e: f()
                assert len(e.value.exceptions) == 2
            """,
        ),
        (
            "patterns, classes that are compared, and descriptors",
            "Bad, P, Positive, f",
            """
            from dataclasses import dataclass
            @dataclass
            class P:
                x: int
                y: int
                @property
                def double(self): return 2 * self.x
            class Bad(Exception): pass
            class Positive:
                def __set_name__(self, o, n): self.n = "_" + n
                def __get__(self, o, t=None): return self if o is None else getattr(o, self.n)
                def __set__(self, o, v):
                    if v <= 0: raise ValueError("positive")
                    setattr(o, self.n, v)
            def f(n):
                if n < 0: raise Bad(n)
                return P(n, n + 1)
            """,
            """
            class Box:
                size = Positive()
            def test_a():
                match f(1):
                    case P(x=1, y=found): pass
                assert found == 2
                assert isinstance(P.double, property)
            def test_b():
                with pytest.raises(Bad) as e: f(-1)
                assert e.type is Bad
            def test_c():
                b = Box()
                b.size = 5
                assert b.size == 5
                with pytest.raises(ValueError): b.size = -1
            """,
        ),
        (
            "a manager that writes into a list, a docstring that a decorator keeps",
            "tag, twice",
            """
            import contextlib, functools
            @contextlib.contextmanager
            def tag(out, n):
                out.append("<" + n)
                try: yield out
                finally: out.append(n + ">")
            def twice(fn):
                @functools.wraps(fn)
                def g(*a): return fn(fn(*a))
                return g
            """,
            """
            def test_a():
                out = []
                with tag(out, "a") as o: o.append("x")
                assert out == ["<a", "x", "a>"]
            def test_b():
                @twice
                def inc(x):
                    "adds"
                    return x + 1
                assert inc(1) == 3
                assert inc.__doc__ == "adds"
            """,
        ),
    )
)

SUITES = (*WITH_UNITTEST, *WITH_PYTEST, *TOGETHER, *PARTS, *ONE_PROCESS)
