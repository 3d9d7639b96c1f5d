"""What tests may say is a list: each form on it is apart, each form beside it names its rule."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from reward_server.domain import Crossing, Framework, FunctionTests, UnitTests
from reward_server.grading.crossing.python.refusals import PAGE, RULES, Refusal, crossing_of
from reward_server.grading.crossing.python.texts import read_files, read_functions

NODES = """
    class ListNode:
        def __init__(self, val=0, next=None):
            self.val = val
            self.next = next

    def linked(values):
        head = ListNode(0)
        node = head
        for value in values:
            node.next = ListNode(value)
            node = node.next
        return head.next

    """
APART = {
    "plain data": "assert candidate([1, 2], key='a') == {'x': (1, 2.5, None)}",
    "a module that nobody imports": "assert candidate(4) == math.sqrt(16)",
    "a tolerance": "assert abs(candidate(2) - 1.5) < 1e-6",
    "a loop over a table": "for x, want in zip([1, 2], [3, 4]):\n    assert candidate(x) == want",
    "an index beside a row": "for i, row in enumerate([[1]]):\n    assert candidate(*row) == i",
    "a helper of the tests": "def twice(x):\n    return 2 * x\nassert candidate(2) == twice(2)",
    "an exception": "try:\n    candidate(0)\nexcept ValueError as e:\n    assert e.args == ('no',)",
    "an exception of the solution": "try:\n    candidate(0)\nexcept TooSmall:\n    pass",
    "an object": "box = Box(3)\nbox.add(1)\nassert box.items == [1] and len(box) == 1",
    "a method named like one of texts": "assert Coder(1).encode(candidate(1)) == 'a'",
    "objects that the tests link": "a = Node(1)\na.next = Node(2)\na.next.next = Node(3)",
    "types of data": "assert type(candidate(1)) is int and isinstance(candidate(2), (int, float))",
    "numpy's dtype": "import numpy as np\nassert candidate(3).dtype == np.float32",
    "arrays": "import numpy as np\nassert np.allclose(candidate(np.zeros(3)), [1.0])",
    "a copy that the tests change": (
        "xs = [3]\nys = xs.copy()\nys.sort()\nassert candidate(xs) == ys"
    ),
    "a function as a key": "assert sorted([2, 1], key=candidate) == [1, 2]",
    "a pattern that is a literal": "import re\nassert re.match('a+', candidate('a'))",
    "a variable named like a built-in": "str = 'a'\nassert candidate(str) == 'a'",
    "a constant of the solution": "assert LIMIT == 3 and ROWS[0] > LIMIT",
    "answers that are compared with numbers": (
        "s = Log()\na = s.add(1)\nb = s.add(2)\nassert a == 1 and b is None\n"
        "assert [s.pop(), s.pop()] == [2, 1]"
    ),
    "a list that is bound anew": (
        "for x in [[1], [2]]:\n    s = Log(x)\n    assert s.total() == 1\n"
        "    x = s.get()\n    assert x == [1]"
    ),
    "a list that is handed over again": ("xs = [1]\ns = Log(xs)\nassert s.total(xs) == 1"),
    "numbers that an object got": (
        "s = Log()\nfor n in [1, 2]:\n    s.add(n)\n    assert s.top() == n"
    ),
    "an attribute of an own exception": "try:\n    f(1)\nexcept Low as e:\n    assert e.least == 1",
    "an object in a helper": (
        "def grow(box, n):\n    box.grow(n)\n    return box.size\nassert grow(Box(1), n=2) == 3"
    ),
}
REFUSED = {
    "evaluation": ("names", "assert eval(candidate(1)) == 2"),
    "evaluation by another name": ("names", "assert list(map(eval, [candidate(1)])) == [2]"),
    "a built-in of no row that is given a class": ("names", "assert issubclass(Low, Exception)"),
    "a built-in of no row that is given a function": ("names", "assert callable(candidate)"),
    "a built-in of no row that is given a type": ("names", "assert vars(int)"),
    "built-ins as a dictionary": ("names", "__builtins__['sorted'] = None"),
    "globals": ("names", "globals()['x'] = candidate(1)"),
    "a frame": ("attributes", "g = (x for x in [1])\nassert g.gi_frame.f_globals"),
    "a special attribute": ("attributes", "assert candidate.__name__ == 'f'"),
    "a special attribute by text": ("attributes", "assert getattr(candidate, '__code__')"),
    "an attribute named by an answer": ("literals", "assert len(getattr([1], candidate(1)))"),
    "a pattern that is an answer": ("literals", "import re\nassert re.match(candidate(1), 'a')"),
    "a format that is an answer": ("attributes", "assert candidate(1).format(3) == '3'"),
    "a format by percent": ("literals", "assert candidate(1) % (3, 4) == '34'"),
    "a dtype that is an answer": (
        "literals",
        "import numpy as np\nnp.zeros(3, dtype=candidate(1))",
    ),
    "a narrow array": ("literals", "import numpy as np\nassert candidate(np.array([1], 'f2'))"),
    "a narrow number": ("data", "import numpy as np\nassert candidate(1) == np.float32(0.1)"),
    "a strided view": ("modules", "from numpy.lib.stride_tricks import as_strided\nas_strided(1)"),
    "a store in a module": ("stores", "math.pi = candidate(1)"),
    "a function handed over": ("arguments", "assert candidate(lambda x: x, 1) == 1"),
    "a method handed over": ("arguments", "xs = []\ncandidate(xs.append)"),
    "an own object handed over": ("arguments", "class A:\n    pass\ncandidate(A())"),
    "a generator handed over": ("arguments", "assert candidate(x for x in [1]) == 1"),
    "an identity": ("identity", "xs = [1]\nassert candidate(xs) is xs"),
    "an object compared in a helper": (
        "handles",
        "def same(a, b):\n    return a == b\nassert same(Point(1), b=Point(1))",
    ),
    "a frame in a helper": (
        "attributes",
        "def look(g):\n    return g.gi_frame\nassert look(x for x in [1])",
    ),
    "a traceback": (
        "attributes",
        "try:\n    candidate(1)\nexcept ValueError as e:\n    e.with_traceback(None)",
    ),
    "an exception by a parameter": (
        "raised",
        "def g(kind):\n    try:\n        f(1)\n    except kind:\n        pass\ng(Low)",
    ),
    "a constant that is changed": ("stores", "ROWS.append(candidate(1))"),
    "a field of a named tuple": ("attributes", "assert candidate(1).text == 'a'"),
    "a time by a format that is an answer": (
        "literals",
        "import datetime\nassert datetime.datetime.strptime('1', candidate(1)).day == 1",
    ),
    "a pattern of unittest": (
        "literals",
        "import unittest\ncase = unittest.TestCase()\ncase.assertRegex('a', candidate(1))",
    ),
    "equal objects": ("handles", "assert Point(1) == Point(1)"),
    "an object in a text": ("handles", "p = Point(1)\nassert f'{p}' == '1'"),
    "an object of a class": ("handles", "p = Point(1)\nassert isinstance(p, Point)"),
    "a change of an object's list": (
        "stores",
        "b = Box(1)\nb.items.append(3)\nassert b.items == [3]",
    ),
    "a list that an object may change": (
        "arguments",
        "log = []\ns = Log(log)\ns.write(1)\nassert log == [1]",
    ),
    "an answer that an object may change": (
        "arguments",
        "s = Log()\nr = s.get()\ns.add(3)\nassert r == []",
    ),
    "a part of an answer in a loop": (
        "arguments",
        "s = Log()\nr = s.get()[0]\nfor i in [1, 2]:\n    assert r == []\n    s.add(i)",
    ),
    "a list that a fixture gives away": (
        "arguments",
        "class T(unittest.TestCase):\n    def setUp(self):\n        self.log = []\n"
        "        self.s = Log(self.log)\n    def test_a(self):\n        self.s.write(1)\n"
        "        self.assertEqual(self.log, [1])",
    ),
    "answers in a comprehension": (
        "arguments",
        "s = Log()\nassert [s.add(i) for i in [1, 2]] == [[1], [1, 2]]",
    ),
    "a loop over what an object may change": (
        "arguments",
        "s = Log()\nfor x in s.get():\n    s.remove(x)",
    ),
    "an object that ends": ("stores", "s = Log()\ndel s"),
    "an object that another replaces": (
        "arguments",
        "log = []\ns = Log(log)\ns = None\nassert log == [1]",
    ),
    "a type that a variable names": ("identity", "k = int\nassert isinstance(candidate(1), k)"),
    "a list changed after it was kept": (
        "arguments",
        "def g():\n    xs = [1]\n    b = Box(xs)\n    xs.append(2)\n    assert b.total() == 3\ng()",
    ),
    "a field of an answer": ("attributes", "assert candidate(1).x == 1"),
    "a manager": ("handles", "with candidate(1):\n    pass"),
    "files": ("names", "open(candidate(1))"),
    "a seed": ("modules", "import random\nrandom.seed(1)\nassert candidate(1) == 3"),
    "the recursion limit": ("modules", "import sys\nsys.setrecursionlimit(10)\ncandidate(1)"),
    "the solution as a value": (
        "modules",
        "import solution\nassert candidate(1) and hasattr(solution, 'g')",
    ),
    "the solution handed over": ("modules", "import solution as s\nassert candidate(s)"),
    "the solution in a list": ("modules", "import solution\nassert [solution][0].f(1) == 1"),
    "a coroutine": ("syntax", "async def g():\n    await candidate(1)"),
    "an exception that ends programs": (
        "names",
        "try:\n    candidate(1)\nexcept SystemExit:\n    pass",
    ),
    "a subclass of the solution's": ("classes", "class B(Box):\n    pass\nassert B(1).x == 1"),
}


def _read(text: str, prompt: str = "") -> Crossing | Refusal:
    tests = FunctionTests(entry_point="f", test_code=textwrap.dedent(text))
    return read_functions(tests, textwrap.dedent(prompt))


def _in_check(text: str) -> str:
    return "def check(candidate):\n" + textwrap.indent(text, "    ")


@pytest.mark.parametrize("name", APART)
def test_what_is_on_the_list_is_apart(name: str) -> None:
    assert isinstance(_read(_in_check(APART[name])), Crossing), _read(_in_check(APART[name]))


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_on_the_list_names_its_rule_and_line(name: str) -> None:
    rule, text = REFUSED[name]
    found = _read(_in_check(text))
    assert isinstance(found, Refusal)
    assert (found.rule, found.line > 1) == (rule, True), found


def test_a_plan_says_what_is_constructed_and_what_is_caught() -> None:
    found = _read(_in_check("try:\n    Box(1).add(2)\nexcept TooSmall:\n    pass"))
    assert isinstance(found, Crossing)
    assert found.names == {"f", "Box", "TooSmall"}
    assert (found.classes, found.raised, found.form) == ({"Box"}, {"TooSmall"}, "check")


def test_what_tests_on_no_list_need_is_read_all_the_same() -> None:
    found = _read(_in_check("eval('1')\nassert Box(1).size == LIMIT"))
    assert isinstance(found, Refusal)
    assert str(found) == f"line 2: eval, by rule 2 (names) of {PAGE}"
    crossing = found.crossing
    assert (crossing.names, crossing.values) == ({"f", "Box", "LIMIT"}, {"LIMIT"})
    assert crossing.form == "check"


def test_the_page_to_which_refusals_point_has_a_row_for_each_rule() -> None:
    page = (Path(__file__).parents[4] / PAGE).read_text()
    rows = re.findall(r"^\| (\d+\. \*\*\w+\*\*) \|", page, re.MULTILINE)
    assert rows == [f"{number}. **{rule}**" for number, rule in enumerate(RULES, 1)]


def test_a_function_with_a_name_like_a_class_is_none() -> None:
    found = read_functions(FunctionTests(asserts=("assert Split([1, 2]) == [2]",)), "")
    assert isinstance(found, Crossing)
    assert (found.names, found.classes) == ({"Split"}, frozenset())


def test_a_solution_that_is_named_like_a_built_in_is_asked() -> None:
    found = read_functions(FunctionTests(asserts=("assert sum(10, 15) == 6",)), "")
    assert isinstance(found, Crossing)
    assert found.names == {"sum"}


def test_what_the_prompt_defines_in_full_runs_in_the_judge_and_its_nodes_are_data() -> None:
    text = _in_check("assert candidate(linked([1, 2])).val == 1")
    found = _read(text.replace(".val == 1", " == None"), NODES + "def f(head):\n        pass\n")
    assert isinstance(found, Crossing), found
    assert found.records == {"ListNode"}
    assert "def linked" in found.helpers
    assert found.names == {"f"}


@pytest.mark.parametrize(
    ("prompt", "is_whole"),
    [
        ("def half(x):\n    return x / 2\n", True),
        ("import math\ndef half(x):\n    y = x / 2\n    return y\n\n", True),
        ("def half(x):\n    x /= 2\n", False),
        ("def half(x):\n    if x:\n        return x / 2\n", False),
    ],
)
def test_a_last_definition_of_the_prompt_is_whole_if_nothing_can_continue_it(
    prompt: str, is_whole: bool
) -> None:
    found = crossing_of(_read(_in_check("assert half(candidate(1)) == 0.5"), prompt))
    assert ("def half" in found.helpers, "half" in found.names) == (is_whole, not is_whole)


def test_a_helper_of_the_prompt_is_read_by_the_same_rules() -> None:
    prompt = "def helper(x):\n    return eval(x)\n\ndef f(x):\n    pass\n"
    found = _read(_in_check("assert candidate(1) == helper('1')"), prompt)
    assert isinstance(found, Refusal)
    assert found.rule == "names"


@pytest.mark.parametrize(
    ("rule", "prompt"),
    [
        ("stores", "SEEN = []"),
        ("stores", "def SEEN():\n    global N\n    N = 1"),
        ("stores", "class SEEN:\n    made = []\n    def add(self):\n        self.made.append(1)"),
        ("stores", "SEEN = 0\ndef count():\n    global SEEN\n    SEEN += 1"),
        ("stores", "SEEN = 0\nSEEN = 1"),
        ("stores", "class SEEN:\n    made = 0\n    def __init__(self):\n        SEEN.made += 1"),
        ("stores", "class SEEN:\n    made = 0\n    def add(self):\n        type(self).made = 1"),
        ("stores", "def SEEN(x, found=[]):\n    found.append(x)\n    return found"),
        ("stores", "class SEEN:\n    def __init__(self, *, log={}):\n        self.log = log"),
        ("modules", "from time import process_time as SEEN"),
    ],
)
def test_a_state_of_the_prompt_is_on_no_list(rule: str, prompt: str) -> None:
    found = _read(_in_check("SEEN\nassert candidate(1) == 1"), f"{prompt}\n\ndef f(x):\n    pass\n")
    assert isinstance(found, Refusal), found
    assert found.rule == rule


@pytest.mark.parametrize(
    "prompt",
    [
        "LIMITS = (1, -2.5)",
        "LOW = 1\ndef LIMITS(x, low=LOW, high=2.5):\n    return x",
        "class LIMITS:\n    low = 1\n    def __init__(self, low=1):\n        self.low = low",
    ],
)
def test_a_constant_of_the_prompt_is_read(prompt: str) -> None:
    found = _read(_in_check("LIMITS\nassert candidate(1)"), f"{prompt}\n\ndef f(x):\n    pass\n")
    assert isinstance(found, Crossing), found


def _files(text: str) -> Crossing | Refusal:
    tests = UnitTests(framework=Framework.PYTEST, files=(("test_a.py", textwrap.dedent(text)),))
    return read_files(tests)


def test_a_file_of_pytest_is_apart_and_loses_imports_that_nothing_uses() -> None:
    found = _files(
        """
        import os
        import pytest
        from solution import f, Box

        @pytest.fixture
        def box():
            return Box(1)

        @pytest.mark.parametrize("x, want", [(1, 2), (3, 4)])
        def test_f(x, want):
            assert f(x) == want

        def test_box(box):
            box.add(3)
            with pytest.raises(ValueError, match="no"):
                box.add(-1)
        """
    )
    assert isinstance(found, Crossing), found
    assert (found.names, found.classes) == ({"f", "Box"}, {"Box"})
    [(_, text)] = found.files
    assert text.startswith("\npass\nimport pytest\n")


def test_a_line_of_several_imports_that_nothing_uses_stays_a_line() -> None:
    found = _files(
        "import os, re; import sys; x = 1; import gc\nfrom solution import f\ntry:"
        "\n    f(x)\nfinally:\n    pass\ndef test_f():\n    assert f(1) == 1\n"
    )
    assert isinstance(found, Crossing), found
    [(_, text)] = found.files
    assert text.startswith("pass; pass; x = 1; pass\nfrom solution import f\n")


@pytest.mark.parametrize(
    "rows",
    [
        "'a, e', [('x', ValueError), (None, TypeError)]",
        "['a', 'e'], ([[1], ValueError], [{}, TypeError])",
        "('a', 'e'), [pytest.param('x', ValueError, id='text'), (None, TypeError)]",
    ],
)
def test_each_parameter_of_a_test_has_its_own_column(rows: str) -> None:
    body = "def test_f(a, e):\n    with pytest.raises(e):\n        f(a)\n"
    found = _files(
        f"import pytest\nfrom solution import f\n@pytest.mark.parametrize({rows})\n{body}"
    )
    assert isinstance(found, Crossing), found


@pytest.mark.parametrize(
    "rows",
    [
        "'a, e', [(len, ValueError), (None, TypeError)]",
        "'a, e', [('x', ValueError), (lambda: 1, TypeError)]",
        "'a, e', [(*[len], *[ValueError])]",
    ],
)
def test_a_column_that_holds_functions_is_no_data(rows: str) -> None:
    body = "def test_f(a, e):\n    with pytest.raises(e):\n        f(a)\n"
    found = _files(
        f"import pytest\nfrom solution import f\n@pytest.mark.parametrize({rows})\n{body}"
    )
    assert isinstance(found, Refusal)
    assert found.rule == "arguments", found


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("frameworks", "def test_f(monkeypatch):\n    assert f(1) == 2"),
        ("frameworks", "def test_f(capsys):\n    f(1)"),
        ("frameworks", "@pytest.mark.xfail\ndef test_f():\n    assert f(1) == 2"),
        ("modules", "def test_f():\n    f(1)\n    pytest.skip('no')"),
        ("modules", "import os\ndef test_f():\n    os.environ['A'] = f(1)"),
        ("frameworks", "def pytest_runtest_call(item):\n    f(item)"),
        ("names", "def test_f():\n    assert g(1) == 2"),
        ("handles", "from solution import LIMIT\ndef test_f():\n    assert f(1) == LIMIT"),
        ("names", "pytest_plugins = ['a']\ndef test_f():\n    assert f(1) == 2"),
        ("frameworks", "class TestF:\n    def test_f(self, monkeypatch):\n        f(1)"),
        ("frameworks", "@pytest.fixture\ndef a(monkeypatch):\n    return f(1)"),
        ("frameworks", "@pytest.fixture(autouse=True)\ndef a(request):\n    f(request)"),
    ],
)
def test_a_file_that_does_more_than_ask_and_compare_is_shared(rule: str, text: str) -> None:
    found = _files(f"import pytest\nfrom solution import f\n{text}\n")
    assert isinstance(found, Refusal)
    assert found.rule == rule, found
