"""Function tests written as test files, and which of them need the solution."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from reward_server.domain import Framework, FunctionTests
from reward_server.grading.copies.copies import Copies
from reward_server.grading.python_tests.inventory import Inventory
from reward_server.grading.python_tests.isolation import function_tests, policy
from reward_server.grading.python_tests.isolation.files import parse_files
from reward_server.grading.python_tests.isolation.function_tests import (
    PATH,
    function_file,
    may_need_solution,
)


def check_of(*lines: str, head: str = "") -> FunctionTests:
    body = "".join(f"    {line}\n" for line in lines)
    return FunctionTests(entry_point="f", test_code=f"{head}\ndef check(candidate):\n{body}")


@pytest.mark.parametrize(
    "tests",
    [
        check_of("assert candidate(1) == 2", "assert candidate([1]) == [2]"),
        check_of("import math", "assert math.isclose(candidate(1), 2.0)"),
        check_of("assert candidate(1).__doc__ == 'text'"),
        check_of("assert candidate().__class__ is list"),
        check_of("assert inspect.signature(candidate)", head="import inspect"),
        check_of("assert asdict(candidate(1)) == {}", head="from dataclasses import asdict"),
        check_of("random.seed(1)", "assert candidate(1) == 2", head="import random"),
        check_of("sys.setrecursionlimit(10 ** 6)", "assert candidate(1)", head="import sys"),
        check_of("sys.set_int_max_str_digits(0)", "assert candidate(1)", head="import sys"),
        check_of("assert type(candidate(1)) in (int, float)"),
        check_of("began = time.time()", "assert candidate(1) > began", head="import time"),
        check_of("q = Queue()", "q.put(candidate(q))", head="from queue import Queue"),
        check_of("assert candidate().get() == 1"),
        check_of("assert candidate(1)", head="import time\ndef other(): time.sleep(1)"),
    ],
)
def test_what_proxies_can_do_needs_no_solution(tests: FunctionTests) -> None:
    file = function_file(tests, "")
    assert file is not None
    assert file.reasons == ()


@pytest.mark.parametrize(
    "tests",
    [
        check_of("class Own(candidate): pass", "assert Own()"),
        check_of("assert candidate().__class__.__name__ == 'A'"),
        check_of("assert len(set(map(type, candidate()))) == 1"),
        check_of("assert not isinstance(candidate(), (map, filter))"),
        check_of("assert candidate() is not operator.add", head="import operator"),
        check_of("thing = candidate()", "del thing"),
        check_of("thing = candidate()", "thing = None"),
        check_of("class Own: pass", "assert candidate(Own())"),
        check_of("assert inspect.getsource(candidate)", head="import inspect"),
        check_of("assert candidate.__code__.co_argcount == 1"),
        check_of("with patch('time.time'): candidate()", head="from unittest.mock import patch"),
        check_of("assert pickle.dumps(candidate())", head="import pickle"),
        check_of("sys.stdin = None", "candidate()", head="import sys"),
        check_of("try: candidate()", "except SystemExit: pass"),
        check_of("assert gc.collect() and candidate()", head="import gc"),
        check_of("assert isinstance(candidate(), pd.DataFrame)", head="import pandas as pd"),
        check_of("sys.setrecursionlimit(150)", "assert candidate(1)", head="import sys"),
        check_of("before = time.process_time()", "assert candidate(1)"),
        check_of("candidate()", "time.sleep(0.1)", head="import time"),
        check_of("pause(0.1)", "candidate()", head="from time import sleep as pause"),
        check_of("async def g(): await asyncio.sleep(0)", "candidate(g)", head="import asyncio"),
        check_of("while time.time() < candidate(): pass", head="import time"),
        check_of("q = queue.Queue()", "candidate(q)", "assert q.get() == 1", head="import queue"),
        check_of("q = Queue()", "candidate(q)", "q.get(timeout=1)", head="from queue import Queue"),
        check_of("getcontext().prec = 3", "assert candidate(1)", head="from decimal import *"),
        check_of("random.seed(1)", "assert candidate(random.random())", head="import random"),
        check_of("state = np.random.get_state()", "candidate(1)", head="import numpy as np"),
        FunctionTests(asserts=("import pickle", "assert pickle.dumps(Point(1))")),
    ],
)
def test_what_needs_the_solution_is_found_by_the_text(tests: FunctionTests) -> None:
    assert may_need_solution(tests)
    file = function_file(tests, "")
    assert file is not None
    assert file.reasons


@pytest.mark.parametrize("name", sorted(policy.NAMES))
def test_a_name_of_the_policy_is_looked_for_without_an_import(name: str) -> None:
    assert may_need_solution(FunctionTests(asserts=(f"assert f(1) == x.{name}",)))


def test_plain_tests_are_not_even_parsed() -> None:
    assert not may_need_solution(FunctionTests(asserts=("assert f(1) == 2",)))
    assert not may_need_solution(
        check_of("assert candidate(1) == 2", "assert candidate('a') == {}")
    )


@pytest.mark.parametrize(
    ("prompt", "needs"),
    [
        ("LOG = []", False),
        ("LOG = []\ndef log(x): LOG.append(x)", False),
        ("LOG = []\ndef h(x): return LOG", True),
        ("def h(x, seen=[]): return seen", True),
        ("def h(x): h.calls += 1\nh.calls = 0", True),
        ("class A:\n    made = 0", True),
        ("class A:\n    rows: list = []", True),
        ("class A:\n    KIND = 'a'\n    def __init__(self): self.rows = []", False),
        ("from enum import Enum\nclass A(Enum):\n    red = 1", False),
        ("from enum import Enum\nh = Enum('h', 'red')", True),
        ("h = lambda x: x\nLIMIT = 10 ** 9 + 7\nPAIRS = ((0, 1), (1, 0))", False),
        ("import time\ndef h(x): return time.time()", False),
        ("import time\ndef h(x): return time.process_time()", True),
        ("import time\ndef other(x): return time.process_time()", False),
        ("from time import process_time as h", True),
        ("if True:\n    def h(x): return x", True),
        ("try:\n    import numpy as np\nexcept ImportError:\n    np = None", False),
        ("LIMITS = [1]\nprint(LIMITS)", False),
        ("Prose, which is no code.", False),
        ("class A:\n    '''Its destructor closes the file.'''", True),
        ("class A:\n    '''Its trucks collect the garbage.'''", False),
    ],
)
def test_a_prompt_that_keeps_what_tests_lead_to_needs_the_solution(
    prompt: str, *, needs: bool
) -> None:
    task = f'{prompt}\ndef f(x):\n    """As told."""\n'
    tests = check_of("assert candidate(1) == h(1)")
    file = function_file(tests, task)
    assert file is not None
    assert bool(file.reasons) is needs, file.reasons
    assert may_need_solution(tests, task) or not needs


class _CountedSearch:
    """A pattern that counts how often it reads each text."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern
        self.texts: Counter[str] = Counter()

    def search(self, text: str) -> re.Match[str] | None:
        self.texts[text] += 1
        return self._pattern.search(text)


@pytest.mark.parametrize("length", [0, 1 << 14])
def test_texts_of_any_length_are_read_once(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = _CountedSearch(function_tests._TRIGGERS)
    monkeypatch.setattr(function_tests, "_TRIGGERS", counted)
    plain, telling = f"assert f({length}) == 2", f"assert type(f({length})) is int"
    for _ in range(2):
        for text, found in ((plain, False), (telling, True)):
            tests = FunctionTests(test_code=f"# {'x' * length}", asserts=(plain, text))
            assert may_need_solution(tests) is found
    assert len(counted.texts) >= 3
    assert set(counted.texts.values()) == {1}


def test_a_file_holds_helpers_of_the_prompt_and_takes_the_rest_from_the_solution() -> None:
    prompt = "import math\ndef half(x):\n    return x / 2\ndef f(x):\n    '''Doubles.'''\n"
    tests = check_of(
        "assert half(candidate(1)) == g(1) + math.pi + string.digits", head="def h(): 1"
    )
    file = function_file(tests, prompt)
    assert file is not None
    ((path, text),) = file.tests.files
    assert path == PATH
    assert "from solution import f, g\n" in text
    assert "import string\n" in text
    assert "def half(x)" in text
    assert "def f(x)" not in text
    assert "def check" not in text


def test_a_true_value_stands_in_one_place_alone_where_a_twin_can_change_it() -> None:
    file = function_file(check_of("assert candidate(1) == 1234567"), "")
    assert file is not None
    ((path, text),) = file.tests.files
    assert text.count("1234567") == 1
    trees = parse_files(file.tests.files)
    rows = Inventory(trees, file.tests.files, Framework.UNITTEST).rows
    copies = Copies(trees, file.tests.files, "", rows)
    assert {unit.test for unit in copies.units} == {f"{path}::TestSolution::test_0000"}


@pytest.mark.parametrize(
    "tests",
    [
        FunctionTests(test_code="def check(:"),
        FunctionTests(asserts=("assert f(",)),
        FunctionTests(asserts=("assert f()",), setup_code="\0"),
    ],
)
def test_what_is_no_python_is_no_file(tests: FunctionTests) -> None:
    assert function_file(tests, "") is None
