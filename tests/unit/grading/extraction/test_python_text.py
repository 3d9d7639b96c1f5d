from __future__ import annotations

import ast

from hypothesis import given
from hypothesis import strategies as st

from reward_server.grading.extraction import python_text

SOURCE = '''\
import os, sys as system
from math import (
    floor as down,  # a comment, with a comma
    ceil,
)
TABLE = {
"a": 1,
}

@decorated
@twice
async def f(x):
    """
def not_me(): the docstring's own
    """
    return x

class C: pass
if f:
    a = 1
else:
    a = 2
value: int = 3
'''


def test_chunks_are_the_statements_of_the_top_level() -> None:
    chunks = python_text.chunks(SOURCE)
    assert "".join(chunk.text for chunk in chunks) == SOURCE
    assert [len(ast.parse(chunk.text).body) for chunk in chunks] == [1] * 7
    assert [sorted(chunk.binds) for chunk in chunks] == [
        ["os", "system"],
        ["ceil", "down"],
        ["TABLE"],
        ["f"],
        ["C"],
        [],
        ["value"],
    ]
    assert [chunk.movable for chunk in chunks] == [True] * 5 + [False] * 2


def test_names_are_those_of_the_first_line_s_level() -> None:
    assert python_text.defined_names("  def f(): pass\n    def g(): pass\n  x = 1\n") == {"f", "x"}


def test_a_comparison_defines_nothing() -> None:
    assert python_text.defined_names("x == 1\ny: int = 2") == {"y"}


def test_a_nested_return_does_not_count_as_one_of_the_top_level() -> None:
    assert not python_text.returns_at_top_level("def f():\n    return 1\nx = 2")
    assert python_text.returns_at_top_level("if x:\n    return 1\n")


def test_a_string_that_is_open_at_the_end_is_noticed() -> None:
    assert python_text.ends_in_string('def f():\n    """Text\n')
    assert not python_text.ends_in_string("def f():\n    '''\"\"\"'''\n    x = \"'''\"\n")
    assert python_text.ends_in_string('x = """ \\""" ')


def test_missing_helpers_come_from_other_blocks_with_what_they_need_themselves() -> None:
    others = [
        "import math\nimport os\n\nSCALE = 2\n",
        "def helper(x):\n    return inner(x) * SCALE\n",
        "def inner(x):\n    return math.floor(x)\n\nprint(helper(1))\n",
    ]
    main = "def f(x):\n    return helper(x)\n"
    text = python_text.with_missing_names(main, others)
    assert "import os" not in text
    assert "print" not in text
    scope: dict[str, object] = {}
    exec(text + "\nresult = f(2.5)", scope)
    assert scope["result"] == 4


def test_a_name_that_the_main_block_defines_is_not_taken_from_another() -> None:
    main = "def helper():\n    return 1\n\ndef f():\n    return helper()\n"
    assert python_text.with_missing_names(main, ["def helper():\n    return 2\n"]) == main


def test_variables_of_an_example_are_not_pulled_in() -> None:
    main = "def f(numbers):\n    result = sum(numbers)\n    return result\n"
    assert python_text.with_missing_names(main, ["numbers = [1]\nresult = f(numbers)\n"]) == main


def test_a_star_import_of_another_block_is_taken() -> None:
    text = python_text.with_missing_names("x = floor(1)", ["from math import *\n"])
    assert text == "from math import *\nx = floor(1)"


def test_future_imports_move_to_the_top() -> None:
    text = python_text.in_front(["import os"], "from __future__ import annotations\nx = 1\n")
    assert text == "from __future__ import annotations\nimport os\nx = 1\n"
    compile(text, "program", "exec")


@given(st.text(alphabet="\"'\\\n#()[]{} @abdef=:", max_size=200))
def test_chunks_lose_nothing(source: str) -> None:
    assert "".join(chunk.text for chunk in python_text.chunks(source)) == source


@given(st.text(alphabet=" \tab\n", max_size=100), st.integers(1, 8))
def test_what_is_indented_can_be_taken_back(source: str, columns: int) -> None:
    indented = python_text.indent(source, columns)
    if python_text.indentation(source) == 0 and "\t" not in source:
        lines = python_text.dedent(indented).split("\n")
        assert [line.strip() for line in lines] == [line.strip() for line in source.split("\n")]
