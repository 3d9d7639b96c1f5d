"""A small row of each format in its published shape, with a right and a wrong answer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

ADD = "def add(a, b):\n    return a + b\n"
NO_ADD = "def add(a, b):\n    return a - b\n"
SUM = "print(sum(map(int, input().split())))\n"
NO_SUM = "print(3)\n"
METHOD = "class Solution:\n    def add(self, a: int, b: int) -> int:\n        "
PROGRAM = {"inputs": ["1 2\n", "3 4\n"], "outputs": ["3\n", "7\n"]}
TESTS = [
    {"type": "stdin_stdout", "input": "1 2\n", "output": "3\n", "fn_name": None},
    {"type": "stdin_stdout", "input": "3 4\n", "output": "7\n", "fn_name": None},
]
PYTEST = "from solution import add\n\ndef test_adds():\n    assert add(1, 2) == 3\n"
UNITTEST = (
    "import unittest\n\nclass TestCases(unittest.TestCase):\n"
    "    def test_adds(self):\n        self.assertEqual(add(1, 2), 3)\n"
)
CLASS = (
    "class Counter:\n    def __init__(self):\n        self.total = 0.0\n\n"
    "    def add(self, area):\n        self.total += math.floor(area)\n        return self.total\n"
)
CONTEXT = '''\
def generate_test_case(number):
    return 3, 6

def exec_test(result, ans):
    return int(result == ans)

exec_context = """
value = test_input
[insert]
"""

def test_execution(solution):
    code = exec_context.replace("[insert]", solution)
    given, wanted = generate_test_case(1)
    environment = {"test_input": given}
    exec(code, environment)
    assert exec_test(environment["result"], wanted)
'''


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A row, and answers to it; `right` is empty if it needs a language that need not be there."""

    kind: str
    row: dict[str, Any]
    right: str = ""
    wrong: str = ""


def _function(kind: str, row: dict[str, Any]) -> Sample:
    return Sample(kind=kind, row=row, right=ADD, wrong=NO_ADD)


def _program(kind: str, row: dict[str, Any]) -> Sample:
    return Sample(kind=kind, row=row, right=SUM, wrong=NO_SUM)


def _truth(value: object) -> dict[str, Any]:
    truth = {"style": "rule", "ground_truth": json.dumps(value)}
    return {"data_source": "taco", "ability": "code", "reward_model": truth}


HUMANEVAL = {
    "task_id": "HumanEval/0",
    "prompt": 'def add(a, b):\n    """Adds."""\n',
    "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n",
    "entry_point": "add",
}
CASES = [
    {"input": "1\n2", "output": "3", "testtype": "functional", "metadata": {"func_name": "add"}}
]
CRUXEVAL = {"code": "def f(n):\n    return n * 2\n", "input": "3", "output": "6", "id": "sample_0"}

SAMPLES = (
    _function("humaneval", HUMANEVAL),
    _function(
        "mbpp",
        {
            "task_id": 7,
            "text": "Add.",
            "code": ADD,
            "test_list": ["assert add(1, 2) == 3"],
            "test_setup_code": "import math",
            "challenge_test_list": ["assert add(0, 0) == 0"],
        },
    ),
    _function(
        "apps",
        {
            "problem_id": 1,
            "input_output": {"fn_name": "add", "inputs": [[1, 2], [5, 2]], "outputs": [[3], [7]]},
            "starter_code": "def add(a, b):\n",
        },
    ),
    _program("taco", {"input_output": json.dumps(PROGRAM), "starter_code": METHOD}),
    _program(
        "code_contests",
        {
            "name": "1_A",
            "public_tests": {"input": ["1 2\n"], "output": ["3\n"]},
            "private_tests": {"input": ["3 4\n"], "output": ["7\n"]},
            "generated_tests": {"input": [], "output": []},
        },
    ),
    Sample(
        kind="livecodebench",
        row={
            "question_id": "1",
            "public_test_cases": json.dumps(CASES),
            "private_test_cases": CASES,
            "starter_code": METHOD,
            "metadata": json.dumps({"func_name": "add"}),
        },
        right=METHOD + "return a + b",
        wrong=METHOD + "return a - b",
    ),
    Sample(
        kind="leetcode",
        row={
            "task_id": "add",
            "prompt": "from typing import *\n",
            "starter_code": METHOD,
            "entry_point": "Solution().add",
            "test": "def check(candidate):\n    assert candidate(a = 1, b = 2) == 3\n",
            "input_output": [{"input": "a = 1, b = 2", "output": "3"}],
        },
        right=METHOD + "return a + b",
        wrong=METHOD + "return a - b",
    ),
    _function(
        "bigcodebench",
        {"task_id": "B/0", "complete_prompt": HUMANEVAL["prompt"], "test": UNITTEST},
    ),
    Sample(
        kind="classeval",
        row={
            "task_id": "ClassEval_0",
            "skeleton": "class Counter:\n    pass\n",
            "import_statement": ["import math"],
            "test": UNITTEST.replace("add(1, 2)", "Counter().add(math.pi)"),
        },
        right=CLASS,
        wrong=CLASS.replace("floor", "ceil"),
    ),
    Sample(
        kind="humaneval_x",
        row={
            "task_id": "CPP/0",
            "prompt": "#include <cassert>\nint add(int a, int b){\n",
            "test": "int main(){\n    assert (add(1, 2) == 3);\n}\n",
        },
    ),
    Sample(
        kind="multipl_e",
        row={
            "name": "HumanEval_0",
            "language": "lua",
            "prompt": "local function add(a, b)\n",
            "tests": "assert(add(1, 2) == 3)\n",
        },
    ),
    Sample(
        kind="mceval",
        row={
            "task_id": "Python/1",
            "prompt": HUMANEVAL["prompt"],
            "test": "def check(add):\n    assert add(1, 2) == 3\n\ncheck(add)\n",
            "entry_point": "add",
        },
        right=ADD,
        wrong=NO_ADD,
    ),
    Sample(kind="cruxeval_output", row=CRUXEVAL, right="[ANSWER]6[/ANSWER]", wrong="7"),
    Sample(kind="cruxeval_input", row=CRUXEVAL, right="assert f(3) == 6", wrong="f(4)"),
    _function("acecode", {"id": "oss_1", "test_cases": ["assert add(1, 2) == 3"]}),
    _function("kodcode", {"question_id": "1_I", "test": PYTEST, "solution": ADD}),
    _program("verl", _truth(PROGRAM)),
    _program("synthetic", {"problem_id": "1", "verification_info": {"test_cases": TESTS}}),
    _program("deepcoder", {"tests": json.dumps(TESTS), "starter_code": ""}),
    _function(
        "rstar_coder",
        {"question_id": "1", "inputs": "[[1, 2]]", "outputs": "[3]", "func_name": "add"},
    ),
    _program(
        "codeforces",
        {
            "id": "1/A",
            "input_mode": "stdio",
            "official_tests": [
                {"input": "1 2\n", "output": "3\n"},
                {"input": "3 4\n", "output": "7\n"},
            ],
            "examples": [{"input": "3 4\n", "output": "7\n"}],
            "generated_checker": "import sys\nwords = [open(path).read().split() for path in "
            "sys.argv[2:4]]\nprint(int(words[0] == words[1]))\n",
        },
    ),
    _function(
        "evalplus",
        {
            "task_id": "HumanEval/0",
            "prompt": HUMANEVAL["prompt"],
            "canonical_solution": "    return a + b\n",
            "entry_point": "add",
            "base_input": [[1, 2]],
            "plus_input": [[0.1, 0.2]],
            "atol": 0,
        },
    ),
    Sample(
        kind="ds1000",
        row={"prompt": "Double it.", "code_context": CONTEXT, "metadata": {"problem_id": 0}},
        right="result = value * 2",
        wrong="result = value",
    ),
    _program("stdio", {"task_id": "1", **PROGRAM, "language": "python"}),
    _function(
        "calls",
        {"task_id": "1", "entry_point": "add", "inputs": [[1, 2]], "outputs": [3], "starter": ""},
    ),
    _function("asserts", {"task_id": "1", "asserts": ["assert add(1, 2) == 3"], "setup": "x = 1"}),
    _function("pytest", {"task_id": "1", "test": PYTEST, "solution_path": "solution.py"}),
)
