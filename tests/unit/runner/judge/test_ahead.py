"""Calls that are sent with the solution: what tests see is what they would see without that."""

from __future__ import annotations

from tests.unit.runner.harness import Zygote

COUNTED = """
count = 0
def f(x):
    global count
    count += 1
    return count
"""
THREE = ("assert f(1) == 1", "assert f(2) == 2", "assert f(3) == 3")


def test_each_call_is_made_once_in_its_order(zygote: Zygote) -> None:
    result = zygote.function(COUNTED, asserts=THREE)
    assert result.passed, result.explanation


def test_a_solution_that_answers_an_object_waits_for_each_question(zygote: Zygote) -> None:
    """Else what the tests ask of an object would come after the calls that follow it."""
    source = (
        "count = 0\nclass Thing:\n    def __bool__(self): return count == 1\n"
        "def f(x):\n    global count\n    count += 1\n    return Thing()\n"
    )
    result = zygote.function(source, test_code="def check(c):\n    assert c(1)\n    c(2)")
    assert result.passed, result.explanation
    again = zygote.function(source, test_code="def check(c):\n    assert c(1)\n    assert c(2)")
    assert "count" not in again.report["tests"][0]["message"]
    assert again.outcomes == ["FAILED"], again.explanation


def test_a_wrong_answer_decides_though_a_later_call_never_ends(zygote: Zygote) -> None:
    source = "def f(x):\n    while x == 3: pass\n    return 0"
    code = "def check(c):\n    assert c(1) == 1\n    assert c(3) == 3"
    result = zygote.function(source, test_code=code)
    assert result.outcomes == ["FAILED"], result.explanation
    assert not result.reply.timed_out


def test_no_question_about_imports_waits_for_calls_that_nobody_needs(zygote: Zygote) -> None:
    source = "def f(x):\n    while x == 3: pass\n    return 0"
    code = "def check(c):\n    assert c(1) == 1\n    assert c(3) == 3"
    imports = "from solution import f"
    result = zygote.function(source, test_code=code, setup_code=imports)
    assert result.outcomes == ["FAILED"], result.explanation
    assert not result.reply.timed_out


def test_what_was_answered_before_the_end_counts(zygote: Zygote) -> None:
    source = "import os\ndef f(x):\n    if x == 3: os._exit(0)\n    return x"
    result = zygote.function(source, asserts=THREE)
    assert result.outcomes == ["PASSED", "PASSED", "ERROR"], result.explanation


def test_a_test_that_fails_leaves_its_answers_to_nobody(zygote: Zygote) -> None:
    code = "def check(c):\n    assert c(1) == 0\n    assert c(2) == 2"
    result = zygote.function("def f(x): return x", test_code=code, asserts=["assert f(3) == 3"])
    assert result.outcomes == ["FAILED", "PASSED"], result.explanation


def test_long_answers_to_many_questions_block_nobody(zygote: Zygote) -> None:
    lines = "\n".join(f"    assert len(c({number})) == 900000" for number in range(64))
    result = zygote.function("def f(x): return 'a' * 900000", test_code=f"def check(c):\n{lines}")
    assert result.passed, result.explanation
