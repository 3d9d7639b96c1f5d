"""Large literals of numbers are shortened before the rules read them, and nothing else is."""

from __future__ import annotations

import ast

import pytest

from reward_server.domain import Framework, FunctionTests, UnitTests
from reward_server.evaluation.graders import python_test_files
from reward_server.evaluation.graders.python_test_files import plan
from reward_server.grading import syntax
from reward_server.grading.python_tests.isolation import function_tests
from reward_server.grading.python_tests.isolation.abridged import abridge
from reward_server.grading.python_tests.isolation.files import read_suite
from reward_server.grading.python_tests.isolation.function_tests import function_file

NUMBERS = ", ".join(map(str, range(1000)))
NODES = 160


@pytest.mark.parametrize(
    "text",
    [
        f"x = [{NUMBERS}]",
        f"x = (-1, {NUMBERS})",
        f"x = {{{NUMBERS}}}",
        f"x = [[{NUMBERS}], 2]",
        "x = [" + "(1, [2.5, -3]), " * 300 + "]",
        "x = {" + ", ".join(f"{n}: ({n}, 1)" for n in range(300)) + "}",
        f"f(g([{NUMBERS}]))",
    ],
    ids=["list", "tuple", "set", "list in a list", "list of tuples", "dictionary", "argument"],
)
def test_numbers_of_a_long_literal_are_left_out(text: str) -> None:
    tree = ast.parse(text)
    abridge(tree)
    assert sum(1 for _ in syntax.walk(tree)) < NODES
    ast.unparse(ast.fix_missing_locations(tree))


@pytest.mark.parametrize(
    "text",
    [
        "x = [" + "'solution.f', " * 40 + "]",
        "x = [" + "f(1), " * 40 + "]",
        "x = [" + "(1, 'a'), " * 40 + "]",
        "x = {" + "**y, " * 40 + "}",
        "x = {" + ", ".join(f"{n}: f({n})" for n in range(40)) + "}",
        "x = [" + "None, " * 40 + "]",
        "x = [1, 2, 3]",
        f"f({NUMBERS})",
        "x = [" + "[[[[[1]]]]], " * 40 + "]",
    ],
    ids=[
        *("texts", "calls", "texts in tuples", "unpacked", "values", "none", "short", "arguments"),
        "deep lists",
    ],
)
def test_all_else_stays(text: str) -> None:
    tree = ast.parse(text)
    before = ast.unparse(tree)
    abridge(tree)
    assert ast.unparse(tree) == before


NAMES = ", ".join(f"n{number}" for number in range(20))
VALUES = ", ".join(map(str, range(19)))


@pytest.mark.parametrize(
    "body",
    [
        f"{NAMES} = {VALUES}, time\n    n19.x = 3\n    f(n19)",
        f"{NAMES} = [{VALUES}, time]\n    n19.x = 3\n    f(n19)",
        f"(a, ({NAMES})) = 1, ({VALUES}, time)\n    n19.x = 3\n    f(n19)",
        f"assert type(f(1)) in ({'int, ' * 16}5, 6, f)",
        f"assert f([{VALUES}, *map(f, [1])]) == 1",
        f"assert f({{{', '.join(f'{n}: {n}' for n in range(20))}, 20: time.sleep}})",
        f"with pytest.raises(({VALUES}, StopIteration)):\n        f(1)",
        f"assert f([{VALUES}, (lambda: (y := Own()))])",
        f"assert isinstance(f(1), ({VALUES}, time.struct_time))",
        f"f([{VALUES}, [{VALUES}, open('a', 'w')]])",
        f"assert f(1) == ({VALUES}, sys.modules['time'])",
    ],
)
def test_rules_decide_as_by_the_whole_text(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    head = "import pytest, sys, time\nfrom solution import f\nclass Own:\n    def m(self): pass\n"
    text = f"{head}def test_f():\n    {body}\n"
    trees = [ast.parse(text), ast.parse(text)]
    abridge(trees[0])
    short, whole = (
        read_suite({"test_f.py": tree}, [("test_f.py", text)], "solution.py") for tree in trees
    )
    assert short.wanted == whole.wanted
    assert set(short.reasons) == set(whole.reasons)
    tests = FunctionTests(entry_point="f", test_code=f"def check(f):\n    {body}\n")
    found = function_file(tests, "")
    monkeypatch.setattr(function_tests, "abridge", lambda tree: None)
    assert found is not None
    assert found.reasons == getattr(function_file(tests, ""), "reasons", None)


async def test_a_large_file_is_read_once_and_tests_by_its_literals_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = (
        f"import pytest\nfrom solution import f\nDATA = [{', '.join(['12345'] * 20_000)}]\n"
        f"@pytest.mark.parametrize('x', [{NUMBERS}])\ndef test_f(x):\n    assert f(DATA, x) == x\n"
    )
    tests = UnitTests(
        framework=Framework.PYTEST, files=(("test_f.py", text),), solution_path="solution.py"
    )
    known = await plan(tests, "")
    assert known.inventory.rows == {"test_f.py::test_f": 1000}
    monkeypatch.setattr(python_test_files, "parse_files", None)
    again = UnitTests(
        framework=Framework.PYTEST, files=(("test_f.py", text),), solution_path="solution.py"
    )
    assert await plan(again, "") is known
