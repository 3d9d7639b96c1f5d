from __future__ import annotations

import pytest

from tests.unit.runner.harness import Zygote

IDENTITY = "def f(x):\n    return x\n"


# ------------------------------------------------------------------------ forms of tests


def test_check_is_one_test(zygote: Zygote) -> None:
    result = zygote.function(
        IDENTITY, test_code="def check(candidate):\n    assert candidate(1) == 1"
    )
    assert result.passed
    assert [test["name"] for test in result.report["tests"]] == ["check"]


def test_each_assert_is_a_test(zygote: Zygote) -> None:
    result = zygote.function(
        IDENTITY, asserts=["assert f(1) == 1", "assert f(1) == 2", "assert f(2)"]
    )
    assert result.outcomes == ["PASSED", "FAILED", "PASSED"]
    assert "assert f(1) == 2" in result.report["tests"][1]["message"]


def test_statements_without_check_are_one_test(zygote: Zygote) -> None:
    tests = "import math\nfor number in range(3):\n    assert f(number) == number\n"
    assert zygote.function(IDENTITY, test_code=tests).outcomes == ["PASSED"]
    assert zygote.function("def f(x): return 2", test_code=tests).outcomes == ["FAILED"]


def test_a_called_test_function_is_a_test(zygote: Zygote) -> None:
    tests = "def test():\n    assert f(3) == 3\ntest()\n"
    assert zygote.function(IDENTITY, test_code=tests).outcomes == ["PASSED"]
    assert zygote.function("def f(x): return 2", test_code=tests).outcomes == ["FAILED"]


def test_check_may_take_nothing(zygote: Zygote) -> None:
    tests = "def check():\n    assert f(3) == 3\n"
    assert zygote.function(IDENTITY, test_code=tests, entry_point="").outcomes == ["PASSED"]
    assert zygote.function("def f(x): return 2", test_code=tests).outcomes == ["FAILED"]


def test_check_may_be_called_by_the_tests_too(zygote: Zygote) -> None:
    tests = "def check():\n    assert f(3) == 3\ncheck()\n"
    assert zygote.function(IDENTITY, test_code=tests, entry_point="").outcomes == ["PASSED"]
    tests = "def check(candidate):\n    assert candidate(3) == 3\ncheck(f)\n"
    assert zygote.function(IDENTITY, test_code=tests).outcomes == ["PASSED"]
    assert zygote.function("def f(x): return 2", test_code=tests).outcomes == ["FAILED"]


def test_candidate_is_the_entry_point(zygote: Zygote) -> None:
    assert zygote.function(IDENTITY, asserts=["assert candidate(3) == 3"]).passed


def test_a_check_that_nobody_would_run_does_not_pass(zygote: Zygote) -> None:
    tests = "def check(candidate):\n    yield candidate(3)\n"
    assert zygote.function(IDENTITY, test_code=tests).outcomes == ["ERROR"]


def test_the_solution_can_be_imported(zygote: Zygote) -> None:
    tests = (
        "from solution import f as g\nimport solution\n"
        "def check(candidate):\n    assert g(1) == solution.f(1) == candidate(1) == 1\n"
    )
    assert zygote.function(IDENTITY, test_code=tests).passed


def test_an_entry_point_may_hide_a_builtin(zygote: Zygote) -> None:
    source = "def sum(a, b):\n    return a * b\n"
    assert zygote.function(source, entry_point="sum", asserts=["assert sum(3, 4) == 12"]).passed


def test_a_method_may_be_the_entry_point(zygote: Zygote) -> None:
    source = (
        "class Solution:\n    count = 0\n"
        "    def f(self, nums: List[int]) -> int:\n"
        "        self.count += 1\n        return self.count + max(nums)\n"
    )
    tests = "def check(candidate):\n    assert candidate(nums=[3]) == candidate([3]) == 4\n"
    assert zygote.function(source, entry_point="Solution().f", test_code=tests).passed


def test_setup_code_may_use_the_solution(zygote: Zygote) -> None:
    source = (
        "class Node:\n    def __init__(self, value):\n        self.value, self.left = value, None\n"
        "def depth(node):\n    return 1 + depth(node.left) if node else 0\n"
    )
    setup = "root = Node(1)\nroot.left = Node(2)\nroot.left.left = Node(3)"
    asserts = ["assert depth(root) == 3", "assert depth(root.left) == 2"]
    result = zygote.function(source, entry_point="depth", setup_code=setup, asserts=asserts)
    assert result.passed


def test_asserts_share_what_setup_code_made(zygote: Zygote) -> None:
    source = "def push(stack, item):\n    stack.append(item)\n"
    asserts = ["push(stack, 1)\nassert stack == [1]", "push(stack, 2)\nassert stack == [1, 2]"]
    result = zygote.function(source, entry_point="push", setup_code="stack = []", asserts=asserts)
    assert result.passed


def test_a_helper_of_the_prompt_is_run_in_the_judge(zygote: Zygote) -> None:
    prompt = (
        "import math\n\ndef area(radius):\n    return math.pi * radius ** 2\n\n"
        "def f(radius):\n    '''Twice the area.'''\n"
    )
    tests = (
        "def check(candidate):\n    assert candidate(1) == 2 * area(1)\n    assert math.pi > 3\n"
    )
    honest = prompt + "    return 2 * area(radius)\n"
    assert zygote.function(honest, prompt=prompt, test_code=tests).passed
    forger = "class math: pi = 4\ndef area(r): return 0\ndef f(r): return 0\n"
    assert zygote.function(forger, prompt=prompt, test_code=tests).outcomes == ["FAILED"]


def test_a_prompt_that_ends_in_a_header_still_gives_its_helpers(zygote: Zygote) -> None:
    prompt = "def double(x):\n    return 2 * x\n\ndef f(x):\n"
    tests = "def check(candidate):\n    assert candidate(2) == double(2)\n"
    assert zygote.function(prompt + "    return 2 * x", prompt=prompt, test_code=tests).passed


def test_a_class_of_the_prompt_is_the_solutions(zygote: Zygote) -> None:
    prompt = (
        "class Box:\n    def __init__(self, item):\n        self.item = item\n\n"
        "def make(item):\n    return Box(item)\n\n"
        "def f(box):\n    '''Opens a box.'''\n"
    )
    tests = "def check(candidate):\n    assert candidate(Box(3)) == 3 == candidate(make(3))\n"
    source = prompt + "    assert isinstance(box, Box)\n    return box.item\n"
    assert zygote.function(source, prompt=prompt, test_code=tests).passed


def test_a_module_that_tests_use_is_the_judges(zygote: Zygote) -> None:
    source = "class sys:\n    def getsizeof(self): return 1\ndef f(x): return 1\n"
    assert zygote.function(source, asserts=["assert f(()) == sys.getsizeof(())"]).outcomes == [
        "FAILED"
    ]


def test_tests_may_define_classes(zygote: Zygote) -> None:
    tests = (
        "class Pair:\n    size = 2\n    twice = f(size)\n    def total(self): return f(self.size)\n"
        "def check(candidate):\n    assert Pair.twice == 2\n    assert Pair().total() == 2\n"
    )
    assert zygote.function(IDENTITY, test_code=tests).passed


# --------------------------------------------------------------------------- broken tests


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"test_code": "def check(candidate:"}, "compile"),
        (
            {"test_code": "def check(candidate):\n    assert candidate(1)\nraise ValueError(5)"},
            "ValueError: 5",
        ),
        ({"test_code": "import no_such_module\ndef check(c):\n    assert c(1)"}, "no_such_module"),
        ({"asserts": ["assert f(1) =="]}, "compile"),
        ({"asserts": ["assert f(1)"], "setup_code": "1 / 0"}, "ZeroDivisionError"),
        ({}, "no tests"),
        ({"test_code": "import math\ndef helper(): pass"}, "no tests"),
        ({"setup_code": "x = 1"}, "no tests"),
        ({"test_code": "def check(candidate):\n    pass"}, "never ask"),
        ({"test_code": "def check(candidate):\n    assert 1 == 1"}, "never ask"),
        ({"asserts": ["assert 1 + 1 == 2"]}, "never ask"),
        ({"test_code": "assert max(1, 2) == 2"}, "never ask"),
        ({"test_code": "assert [].count(1) == 0"}, "never ask"),
        ({"test_code": "def check(c):\n    assert c(1)", "entry_point": ""}, "entry point"),
        ({"test_code": "import sys; sys.exit(0)"}, "SystemExit"),
    ],
)
def test_broken_tests_are_the_tasks_fault(
    zygote: Zygote, settings: dict[str, object], message: str
) -> None:
    result = zygote.function(IDENTITY, **settings)  # type: ignore[arg-type]
    assert result.report["blame"] == "task"
    assert message in result.report["message"]
    assert not result.report["ready"]


def test_a_test_that_catches_everything_is_not_taken_for_broken(zygote: Zygote) -> None:
    tests = "try:\n    value = f(1)\nexcept:\n    value = None\nassert value == 1\n"
    assert zygote.function(IDENTITY, test_code=tests).passed


# --------------------------------------------------------------------------------- outcomes


def test_a_raising_solution_is_an_error(zygote: Zygote) -> None:
    result = zygote.function("def f(x): return 1 / 0", asserts=["assert f(1) == 1", "assert f(2)"])
    assert result.outcomes == ["ERROR", "ERROR"]
    assert "ZeroDivisionError: division by zero" in result.report["tests"][0]["message"]


def test_the_rest_is_not_run_after_the_first_failure_when_told(zygote: Zygote) -> None:
    asserts = ["assert f(1) == 1", "assert f(1) == 2", "assert f(2) == 2"]
    result = zygote.function(IDENTITY, asserts=asserts, stop_at_first_failure=True)
    assert result.outcomes == ["PASSED", "FAILED", "NOT_RUN"]


def test_what_no_text_can_hold_is_replaced_in_messages(zygote: Zygote) -> None:
    source = "def f(x): raise ValueError('\\ud800 bad')"
    result = zygote.function(source, asserts=["assert f(1)"])
    assert "ValueError: ? bad" in result.report["tests"][0]["message"]
    result = zygote.function("raise ValueError('\\ud800 bad')", asserts=["assert f(1)"])
    assert result.report["load"]["message"] == "ValueError: ? bad"


def test_an_absent_name_is_an_error(zygote: Zygote) -> None:
    result = zygote.function("def g(x): return x", asserts=["assert f(1) == 1"])
    assert result.outcomes == ["ERROR"]
    assert "NameError" in result.report["tests"][0]["message"]


def test_a_test_skipped_by_its_author_is_skipped(zygote: Zygote) -> None:
    tests = "import unittest\ndef check(c):\n    c(1)\n    raise unittest.SkipTest('old')\n"
    assert zygote.function(IDENTITY, test_code=tests).outcomes == ["SKIPPED"]


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("def f(x:", "compile"),
        ("x = '\0'", "compile"),
        (b"# -*- coding: nonsense -*-\n", "compile"),
        (b"\xff\xfe", "compile"),
        ("(" * 500 + ")" * 500, "compile"),
        ("import no_such_module", "raise"),
        ("raise KeyboardInterrupt", "raise"),
        ("input()", "raise"),
        ("import sys; sys.exit(0)", "exit"),
        ("exit()", "exit"),
        ("quit(3)", "exit"),
    ],
)
def test_a_solution_that_does_not_load_says_why(
    zygote: Zygote, source: str | bytes, kind: str
) -> None:
    result = zygote.function(source, asserts=["assert f(1) == 1"])
    assert result.report["load"]["kind"] == kind
    assert result.outcomes == ["ERROR"]
    assert kind == "exit" or result.stderr.strip()


def test_output_is_captured_and_counted(zygote: Zygote) -> None:
    source = (
        "import sys\nprint('loaded')\ndef f(x):\n    print('x' * 100_000)\n"
        "    print('oops', file=sys.stderr)\n    return x\n"
    )
    result = zygote.function(source, asserts=["assert f(1) == 1"])
    assert result.passed
    assert result.stdout.startswith(b"loaded\nxxx")
    assert len(result.stdout) == 64 * 1024
    assert result.report["stdout_size"] == 7 + 100_001
    assert result.stderr == b"oops\n"


def test_too_much_output_is_a_limit(zygote: Zygote) -> None:
    source = "def f(x):\n    while True: print('x' * 1000)\n"
    result = zygote.function(source, asserts=["assert f(1)", "assert f(2)"], output_bytes=100_000)
    assert result.report["limits"] == ["output"]
    assert result.outcomes == ["LIMIT", "NOT_RUN"]


def test_too_large_a_result_is_a_limit(zygote: Zygote) -> None:
    source = "def f(x): return 'x' * 1000_000"
    result = zygote.function(source, asserts=["assert f(1)", "assert f(2)"], result_bytes=100_000)
    assert result.report["limits"] == ["result"]
    assert result.outcomes == ["LIMIT", "NOT_RUN"]


def test_too_many_calls_are_a_limit(zygote: Zygote) -> None:
    tests = "def check(c):\n    for number in range(100):\n        assert c(number) == number\n"
    assert zygote.function(IDENTITY, test_code=tests, calls=100).passed
    result = zygote.function(IDENTITY, test_code=tests, calls=99)
    assert result.report["limits"] == ["calls"]
    assert result.outcomes == ["LIMIT"]


def test_a_test_may_print(zygote: Zygote) -> None:
    tests = "def check(candidate):\n    print('hello')\n    assert candidate(1) == 1"
    result = zygote.function(IDENTITY, test_code=tests)
    assert result.passed
    assert result.stdout == b""


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("queue = [1, 2]\ndef f(x): return x", "queue == [1, 2]"),
        ("token = 'a'\ndef f(x): return x", "'a' == token"),
        ("calendar = {1: 2}\ndef f(x): return x", "sorted(calendar) == [1]"),
        ("select = 4\ndef f(x): return x", "candidate(4) == select"),
        ("import string\ndef f(x): return x", "string.digits == '0123456789'"),
        ("math = 3\ndef f(x): return x", "math.floor(2.5) == 2"),
    ],
)
def test_data_of_the_solution_may_be_named_like_a_module(
    zygote: Zygote, source: str, line: str
) -> None:
    test_code = f"def check(candidate):\n    assert candidate(1) == 1\n    assert {line}"
    result = zygote.function(source, test_code=test_code)
    assert result.passed, result.explanation


def test_the_solutions_own_check_is_no_test(zygote: Zygote) -> None:
    tests = "TEXT = '''\ndef check(candidate):\n    candidate\n'''\n"
    source = IDENTITY + "def check(candidate): pass\n"
    result = zygote.function(source, test_code=tests)
    assert (result.report["blame"], result.report["message"]) == ("task", "there are no tests")


IMPORTS = "from solution import f, helper\n"


@pytest.mark.parametrize(
    ("setup", "test", "passes"),
    [
        (IMPORTS, "assert f(1) == 1 and helper(2) == 2", False),
        ("import solution\ntaken = solution.helper\n", "assert f(1) == 1 == taken(1)", False),
        ("from solution import f as g\n", "assert g(1) == 1", True),
    ],
)
def test_names_that_tests_import_are_there(
    zygote: Zygote, setup: str, test: str, passes: bool
) -> None:
    for tests in {"test_code": test}, {"asserts": [test]}:
        result = zygote.function(IDENTITY, setup_code=setup, **tests)
        assert result.passed is passes, result.explanation
        helped = IDENTITY + "def helper(x): return x\n"
        assert zygote.function(helped, setup_code=setup, **tests).passed
