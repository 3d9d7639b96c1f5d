"""Rows of training sets in their published shape, judged by a real server."""

from __future__ import annotations

import json

import pytest

from tests.client.rows.samples import SAMPLES
from tests.e2e.conftest import serving_with_packages
from trainer_client import Integrity, TaskError, Verdict, tasks

SUM = "print(sum(map(int, input().split())))"
ADD = "def add(a, b):\n    return a + b"
NO_ADD = "def add(a, b):\n    return a - b"
METHOD = "class Solution:\n    def add(self, a: int, b: int) -> int:\n        "
PROGRAM = {"inputs": ["1 2\n", "3 4\n"], "outputs": ["3\n", "7\n"]}
FUNCTION = {"fn_name": "add", "inputs": [[1, 2], [5, 2]], "outputs": [[3], [7]]}
LIST = [
    {"type": "stdin_stdout", "input": "1 2\n", "output": "3\n", "fn_name": None},
    {"type": "stdin_stdout", "input": "3 4\n", "output": "7\n", "fn_name": None},
]
CALLS = [{"type": "function_call", "fn_name": "add", "input": [1, 2], "output": 3}]
LCB = [
    {
        "input": "1\n2",
        "output": "3",
        "testtype": "functional",
        "metadata": {"func_name": "add"},
    }
]
ACECODE = {"id": "oss_1", "question": "Add.", "test_cases": ["assert add(1, 2) == 3"]}
KODCODE = {
    "question_id": "Prefill_1_I",
    "question": "Add.",
    "solution": ADD,
    "test": "from solution import add\n\ndef test_adds():\n    assert add(1, 2) == 3\n",
    "test_info": [{"function_name": "add"}],
}
# Each number with the sum is right; open-r1's checkers print 1 for a right answer.
CHECKER = """
import sys
def main(given, expected, answered):
    total = int(open(expected).read())
    told = [int(word) for word in open(answered).read().split()]
    print(1 if len(told) == 2 and sum(told) == total == int(open(given).read()) else 0)
if __name__ == "__main__":
    main(*sys.argv[1:4])
"""
CODEFORCES = {
    "id": "1/A",
    "input_mode": "stdio",
    "official_tests": [{"input": "5\n", "output": "5\n"}, {"input": "9\n", "output": "9\n"}],
    "generated_checker": CHECKER,
}
PLAIN_CODEFORCES = {**CODEFORCES, "generated_checker": None}
EVALPLUS = {
    "task_id": "HumanEval/0",
    "prompt": 'def add(a, b):\n    """Adds."""\n',
    "canonical_solution": "    return a + b\n",
    "entry_point": "add",
    "base_input": [[1, 2]],
    "plus_input": [[0.1, 0.2], [[1], [2]]],
    "atol": 0,
}
MBPPPLUS = {
    "task_id": "Mbpp/2",
    "prompt": '"""Adds. assert half(4) == 2"""\n',
    "canonical_solution": "def half(a):\n    return a / 2\n",
    "entry_point": "half",
    "base_input": [[4]],
    "plus_input": [[1], [7]],
    "atol": 1e-6,
}


SHARED_ELEMENTS = {
    "task_id": "Mbpp/2",
    "prompt": '"""Finds what two tuples share."""\n',
    "canonical_solution": "def similar_elements(a, b):\n    return tuple(set(a) & set(b))\n",
    "entry_point": "similar_elements",
    "base_input": [[[3, 4, 5, 6], [5, 7, 4, 10]]],
    "plus_input": [[[1, 2], []]],
    "atol": 0,
}
NEEDS_TUPLES = {
    "task_id": "Mbpp/120",
    "prompt": '"""Returns the number of different pairs."""\n',
    "canonical_solution": "def different(pairs):\n    return len(set(map(tuple, pairs)))\n",
    "entry_point": "different",
    "base_input": [[[[1, 2], [1, 2], [2, 1]]]],
    "plus_input": [],
    "atol": 0,
}
FOUND = {
    "task_id": "Mbpp/434",
    "prompt": '"""Finds an a."""\n',
    "canonical_solution": "import re\ndef text_match_three(t):\n    return re.search('a', t)\n",
    "entry_point": "text_match_three",
    "base_input": [["cat"], ["dog"]],
    "plus_input": [],
    "atol": 0,
}
ROOTS = {
    "task_id": "HumanEval/32",
    "prompt": "def find_zero(xs: list):\n",
    "canonical_solution": "    return 1.0\n",
    "entry_point": "find_zero",
    "base_input": [[[-1, 0, 1]]],
    "plus_input": [],
    "atol": 1e-4,
}


def truth(value: object) -> dict:
    return {
        "data_source": "taco",
        "ability": "code",
        "reward_model": {"style": "rule", "ground_truth": json.dumps(value)},
    }


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with serving_with_packages(tmp_path_factory.mktemp("server"), "pytest") as connected:
        yield connected


@pytest.mark.parametrize(
    ("task", "row", "right", "wrong"),
    [
        ("verl", truth(PROGRAM), SUM, "print(3)"),
        ("verl", truth(FUNCTION), ADD, NO_ADD),
        ("verl", truth(LIST), SUM, "print(3)"),
        ("verl", truth({"inputs": ["1\n2"], "outputs": ["3"], "fn_name": "add"}), ADD, NO_ADD),
        ("verl", {"inputs": ["1\n2"], "outputs": ["3"], "fn_name": "add"},
         METHOD + "return a + b", METHOD + "return a - b"),
        ("verl", {"inputs": ["[1, 2]\n"], "outputs": ["3"], "fn_name": "total"},
         "def total(numbers):\n    return sum(numbers)", "def total(numbers):\n    return 2"),
        ("verl", PROGRAM, SUM, "print(3)"),
        ("verl", truth(["assert add(1, 2) == 3"]), ADD, NO_ADD),
        ("verl", {"reward_model": {"ground_truth": "assert add(1, 2) == 3\nassert add(0, 0) == 0"}},
         ADD, NO_ADD),
        ("verl", {"assert_case": ["assert add(1, 2) == 3"], "fn_name": "add"}, ADD, NO_ADD),
        ("apps", {"input_output": PROGRAM, "starter_code": METHOD}, SUM, "print(3)"),
        ("taco", {"input_output": PROGRAM, "starter_code": "#User function Template for python3\n"},
         SUM, "print(3)"),
        ("deepcoder", {"tests": json.dumps(LIST), "starter_code": METHOD}, SUM, "print(3)"),
        ("livecodebench", {"public_test_cases": [{"input": "1 2", "output": "3",
                                                  "testtype": "stdin"}],
                           "starter_code": METHOD}, SUM, "print(4)"),
        ("synthetic", {"verification_info": json.dumps({"language": "python", "test_cases": LIST})},
         SUM, "print(7)"),
        ("synthetic", {"verification_info": {"test_cases": CALLS}}, ADD, NO_ADD),
        ("deepcoder", {"tests": json.dumps(LIST)}, SUM, "print(3)"),
        ("deepcoder", {"tests": json.dumps(PROGRAM)}, SUM, "print(3)"),
        ("deepcoder", {"tests": json.dumps(LCB), "starter_code": METHOD},
         METHOD + "return a + b", METHOD + "return b - 1"),
        ("rstar_coder", {name: json.dumps(texts) for name, texts in PROGRAM.items()},
         SUM, "print(3)"),
        ("rstar_coder", {"inputs": "[[1, 2]]", "outputs": "[3]", "func_name": "add",
                         "class_name": "Solution"}, METHOD + "return a + b", METHOD + "return 2"),
        ("taco", {"input_output": json.dumps(PROGRAM)}, SUM, "print(3)"),
        ("acecode", ACECODE, ADD, NO_ADD),
        ("kodcode", KODCODE, ADD, NO_ADD),
        ("codeforces", CODEFORCES, "n = int(input())\nprint(n - 2, 2)", "print(int(input()))"),
        ("codeforces", PLAIN_CODEFORCES, "print(input())", "print(5)"),
        ("evalplus", EVALPLUS, "    total = a + b\n    return total\n", "    return 3\n"),
        ("evalplus", EVALPLUS, "    return a + b\n", "    return round(a + b)\n"),
        ("evalplus", SHARED_ELEMENTS,
         "def similar_elements(a, b):\n    return tuple(sorted(set(a) & set(b), reverse=True))",
         "def similar_elements(a, b):\n    return a"),
        ("evalplus", NEEDS_TUPLES, "def different(pairs):\n    return len(set(pairs))",
         "def different(pairs):\n    return len(pairs)"),
        ("evalplus", FOUND, "def text_match_three(text):\n    return 'a' in text",
         "def text_match_three(text):\n    return True"),
        ("evalplus", ROOTS, "    return -1.0\n", "    return 0.5\n"),
        ("evalplus", MBPPPLUS, "def half(x):\n    return 0.5 * x",
         "def half(x):\n    return x // 2"),
        ("stdio", {"inputs": PROGRAM["inputs"], "outputs": json.dumps(PROGRAM["outputs"])},
         SUM, "print(3)"),
        ("calls", {"entry_point": "add", "inputs": [[1, 2]], "outputs": "[3]"}, ADD, NO_ADD),
        ("asserts", {"asserts": "assert add(1, 2) == 3\nassert add(0, 0) == 0"}, ADD, NO_ADD),
        ("asserts", {"asserts": json.dumps(["assert add(one, 2) == 3"]), "setup": "one = 1"},
         ADD, NO_ADD),
        ("pytest", {"test": KODCODE["test"]}, ADD, NO_ADD),
    ],
)  # fmt: skip
def test_a_right_solution_passes_and_a_wrong_one_does_not(client, task, row, right, wrong):
    template = tasks.named(task)(row)
    good, bad = client.score([tasks.fill(template, right), tasks.fill(template, wrong)])
    assert (good.verdict, good.reward) == (Verdict.PASSED, 1.0), good
    assert good.integrity is Integrity.ISOLATED
    assert (bad.verdict, bad.reward) == (Verdict.FAILED, 0.0), bad


@pytest.mark.parametrize(
    "sample", [one for one in SAMPLES if one.right], ids=lambda sample: sample.kind
)
def test_a_row_of_each_format_is_judged_as_its_publisher_would(client, sample):
    template = tasks.named(sample.kind)(sample.row)
    good, bad = client.score([tasks.fill(template, one) for one in (sample.right, sample.wrong)])
    assert (good.verdict, good.reward, good.integrity.name) == (
        *(Verdict.PASSED, 1.0),
        "ISOLATED",
    ), good
    assert (bad.verdict, bad.reward) == (Verdict.FAILED, 0.0), bad


DEEP = "def depth(n):\n    return 0 if n == 0 else 1 + depth(n - 1)\n"


@pytest.mark.parametrize(
    ("task", "row", "solution"),
    [
        ("verl", {"inputs": ["40000\n"], "outputs": ["40000\n"]},
         DEEP + "print(depth(int(input())))"),
        ("verl", {"inputs": ["40000"], "outputs": ["40000"], "fn_name": "depth"}, DEEP),
        ("livecodebench", {"public_test_cases": [{"input": "40000", "output": "40000",
                                                  "testtype": "stdin"}]},
         DEEP + "print(depth(int(input())))"),
    ],
)  # fmt: skip
def test_solutions_may_recur_as_deeply_as_the_sets_own_graders_allow(client, task, row, solution):
    (score,) = client.score([tasks.fill(tasks.named(task)(row), solution)])
    assert score.verdict is Verdict.PASSED, score


@pytest.mark.parametrize(
    ("head", "imported"),
    [("", True), ("", False), ('"""Tests."""\nfrom __future__ import annotations\n', False)],
)
@pytest.mark.parametrize("field", ["test", "test_code"])
def test_tests_of_kodcode_need_not_import_the_solution(client, head, imported, field):
    text = "def test_adds():\n    assert add(1, 2) == 3\n"
    row = {field: head + ("from solution import add\n" if imported else "") + text}
    template = tasks.kodcode(row)
    good, bad = client.score([tasks.fill(template, ADD), tasks.fill(template, NO_ADD)])
    assert (good.verdict, bad.verdict) == (Verdict.PASSED, Verdict.FAILED), (good, bad)


@pytest.mark.parametrize(
    ("task", "row", "field"),
    [
        ("verl", {"reward_model": {"ground_truth": "42"}}, "reward_model.ground_truth"),
        ("verl", truth([{"type": "sql", "input": "", "output": ""}]),
         "reward_model.ground_truth[0].type"),
        ("verl", truth([*LIST, *CALLS]), "reward_model.ground_truth"),
        ("synthetic", {"verification_info": {"language": "rust", "test_cases": CALLS}},
         "verification_info.language"),
        ("verl", {"inputs": ["1"], "outputs": [], "fn_name": "f"}, "ground_truth.outputs"),
        ("verl", {"assert_case": []}, "ground_truth"),
        ("verl", truth([]), "reward_model.ground_truth"),
        ("stdio", {**FUNCTION, "inputs": ["1 2"]}, "fn_name"),
        ("stdio", {**PROGRAM, "entry_point": "add"}, "entry_point"),
        ("stdio", {**PROGRAM, "language": "pyhton"}, "language"),
        ("mceval", {"task_id": "Emacs Lisp/1", "prompt": "x", "test": "x"}, "task_id"),
        ("cruxeval_input", {"code": "def f(g): return g(1)", "input": "lambda x: x",
                            "output": "1"}, "input"),
        ("synthetic", {"verification_info": {"test_cases": [{"type": "function_call"}]}},
         "verification_info.test_cases[0].fn_name"),
        ("deepcoder", {}, "tests"),
        ("acecode", {"test_cases": []}, "test_cases"),
        ("kodcode", {"test": "def ("}, "test"),
        ("codeforces", {**CODEFORCES, "input_mode": "file"}, "input_mode"),
        ("codeforces", {**CODEFORCES, "interaction_format": "Ask."}, "interaction_format"),
        ("codeforces", {**CODEFORCES, "official_tests": []}, "examples"),
        ("evalplus", {**EVALPLUS, "plus_input": "x"}, "plus_input"),
        ("evalplus", {**EVALPLUS, "entry_point": "sub"}, "canonical_solution"),
        ("evalplus", {**EVALPLUS, "atol": "much"}, "atol"),
        ("evalplus", {**NEEDS_TUPLES, "base_input": [[5]]}, "base_input"),
        ("evalplus", {**NEEDS_TUPLES, "task_id": "Mbpp/252", "base_input": [["x"]]}, "base_input"),
        ("stdio", {"inputs": ["1"], "outputs": [2]}, "outputs[0]"),
        ("stdio", {}, "inputs"),
        ("calls", {"entry_point": "f", "inputs": [1], "outputs": [1]}, "inputs[0]"),
        ("asserts", {"asserts": ""}, "asserts"),
    ],
)  # fmt: skip
def test_a_wrong_row_is_refused_with_the_name_of_its_field(task, row, field):
    with pytest.raises(TaskError) as caught:
        tasks.named(task)(row)
    assert caught.value.field == field
