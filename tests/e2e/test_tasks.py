"""Rows of each data set, through the client, judged by a real server."""

from __future__ import annotations

import base64
import json
import pickle
import zlib

import pytest

from trainer_client import Integrity, RewardClient, Verdict, tasks

HUMANEVAL = {
    "prompt": 'def twice(x):\n    """Doubles."""\n',
    "test": "def check(candidate):\n    assert candidate(2) == 4\n",
    "entry_point": "twice",
}
MBPP = {
    "code": "def twice(x):\n  return 2 * x",
    "test_list": ["assert twice(1) == 2", "assert math.isclose(twice(0.5), 1.0)"],
    "test_imports": ["import math"],
}
# In the form of EvalPlus's rows: inputs, results, assertion(), and a loop or check(candidate).
PLUS_HEAD = """import math

def is_floats(x) -> bool:
    if isinstance(x, float):
        return True
    return isinstance(x, (list, tuple)) and all(isinstance(i, float) for i in x)

def assertion(out, exp, atol):
    exact_match = {match}
    if atol == 0 and is_floats(exp):
        atol = 1e-6
    if not exact_match and atol != 0:
        assert math.isclose(out, exp, rel_tol=1e-7, abs_tol=atol)
    else:
        assert exact_match

"""
PLUS_LOOP = "for i, (inp, exp) in enumerate(zip(inputs, results)):\n"


def mbpp_plus(code: str, call: str, test: str, match: str = "out == exp") -> dict:
    row = {"task_id": 3, "source_file": "a.ipynb", "prompt": "Write a function.", "code": code}
    asserts = {"test_imports": [], "test_list": [f"assert {call}"]}
    return {**row, **asserts, "test": PLUS_HEAD.format(match=match) + test}


PLUS_FLOATS = mbpp_plus(
    "def half(x):\n  return x / 2",
    "half(4) == 2.0",
    f"inputs = [[4], [1], [0.2]]\nresults = [2.0, 0.5, 0.1000000001]\n{PLUS_LOOP}"
    "    assertion(half(*inp), exp, 0)\n",
)
PLUS_SETS = mbpp_plus(
    "def common(a, b):\n  return tuple(set(a) & set(b))",
    "set(common((1, 2), (2, 3))) == {2}",
    f"inputs = [[(1, 2, 5), (5, 2)], [[1], (1,)]]\nresults = [(2, 5), (1,)]\n{PLUS_LOOP}"
    "    assertion(common(*inp), exp, 0)\n",
    match="set(out) == set(exp)",
)
PLUS_REFERENCE = mbpp_plus(
    "def twice(x):\n  return 2 * x",
    "twice(1) == 2",
    "def ref_func(x):\n    return x + x\n\ninputs = [[1], [10**30]]\n"
    "for i, inp in enumerate(inputs):\n    assertion(twice(*inp), ref_func(*inp), 0)\n",
)
HUMANEVAL_PLUS = {
    **HUMANEVAL,
    "test": PLUS_HEAD.format(match="out == exp")
    + "def check(candidate):\n    inputs = [[2], [0.5], [[1]]]\n"
    + "    results = [4, 1.0, [1, 1]]\n    "
    + PLUS_LOOP
    + "        assertion(candidate(*inp), exp, 0)\n",
}  # fmt: skip
APPS_PROGRAM = {"input_output": json.dumps({"inputs": ["1 2\n"], "outputs": [["3"]]})}
APPS_FUNCTION = {
    "input_output": {"fn_name": "add", "inputs": [[1, 2], [3, 4]], "outputs": [[3], [7]]},
    "starter_code": "def add(a, b):\n\t",
}
SOLUTION = "class Solution:\n    def add(self, a: int, b: int) -> int:\n        "
APPS_METHOD = {
    "input_output": {"fn_name": "add", "inputs": [[1, 2]], "outputs": [3]},
    "starter_code": SOLUTION,
}
CONTEST = {
    "public_tests": {"input": ["2\n"], "output": ["4\n"]},
    "private_tests": {"input": ["3\n"], "output": ["6\n"]},
    "generated_tests": {"input": ["5\n"], "output": ["10\n"]},
}
DOUBLING = "print(2 * int(input()))"


def lcb(*tests: dict, **fields: object) -> dict:
    packed = base64.b64encode(zlib.compress(pickle.dumps(json.dumps(tests)))).decode()
    return {"public_test_cases": "[]", "private_test_cases": packed, **fields}


LCB_PROGRAM = lcb({"input": "1\n", "output": "0.50\n", "testtype": "stdin"})
LCB_METHOD = lcb(
    {"input": "1\n2", "output": "3", "testtype": "functional"},
    metadata='{"func_name": "add"}',
    starter_code=SOLUTION,
)
PAIRS = "class Solution:\n    def pairs(self, nums: List[int]) -> List[List[int]]:\n        "
LEETCODE = {
    "prompt": "from typing import *\nimport math\n",
    "starter_code": PAIRS,
    "entry_point": "Solution().pairs",
    "test": "def check(candidate):\n    assert candidate(nums = [1, 2]) == [[1, 2]]\n",
}
NODES = {
    "prompt": "from typing import *\n",
    "starter_code": (
        "class Solution:\n"
        "    def turn(self, head: Optional[ListNode]) -> Optional[ListNode]:\n        "
    ),
    "entry_point": "Solution().turn",
    "test": (
        "def check(candidate):\n"
        "    assert is_same_list(candidate(head = list_node([1, 2, 3])), list_node([3, 2, 1]))\n"
        "    assert candidate(head = None) == None\n"
    ),
}
TURN = NODES["starter_code"] + (
    "last = None\n        while head:\n"
    "            head.next, last, head = last, head, head.next\n        return last\n"
)
TREE = {
    "starter_code": (
        "class Solution:\n"
        "    def mirror(self, root: Optional[TreeNode]) -> Optional[TreeNode]:\n        "
    ),
    "entry_point": "Solution().mirror",
    "test": (
        "def check(candidate):\n"
        "    assert is_same_tree(candidate(root = tree_node([1, 2, None, 3])),\n"
        "                        tree_node([1, None, 2, None, 3]))\n"
    ),
}
MIRROR = TREE["starter_code"] + (
    "if root is None:\n            return None\n"
    "        left, right = self.mirror(root.right), self.mirror(root.left)\n"
    "        return TreeNode(root.val, left, right)\n"
)


def fenced(code: str) -> str:
    return f"Here it is:\n```python\n{code}\n```\nDone."


@pytest.fixture(scope="module")
def client(lasting_server):
    with RewardClient(lasting_server.target) as connected:
        yield connected


@pytest.mark.parametrize(
    ("task", "row", "right", "wrong"),
    [
        ("humaneval", HUMANEVAL, "    return 2 * x\n", "    return x\n"),
        ("humaneval", HUMANEVAL, fenced("def twice(x):\n    return x + x"), fenced("twice = abs")),
        ("mbpp", MBPP, fenced(MBPP["code"]), fenced("def twice(x):\n  return x")),
        ("mbpp", PLUS_FLOATS, PLUS_FLOATS["code"], "def half(x):\n  return 2.0 if x == 4 else 0.5"),
        ("mbpp", PLUS_SETS, PLUS_SETS["code"], "def common(a, b):\n  return (2, 5)"),
        ("mbpp", PLUS_REFERENCE, PLUS_REFERENCE["code"], "def twice(x):\n  return 2"),
        ("humaneval", HUMANEVAL_PLUS, "    return 2 * x\n", "    return 4 if x == 2 else 1.0\n"),
        ("humaneval", {**HUMANEVAL_PLUS, "test": HUMANEVAL_PLUS["test"] + "\ncheck(twice)\n"},
         "    return x + x\n", "    return 4\n"),
        ("apps", APPS_PROGRAM, "print(sum(map(int, input().split())))", "print(4)"),
        ("apps", APPS_FUNCTION, "def add(a, b):\n    return a + b", "def add(a, b):\n    return 3"),
        ("apps", APPS_METHOD, SOLUTION + "return a + b", SOLUTION + "return [3]"),
        ("code_contests", CONTEST, DOUBLING, "print(4)"),
        ("livecodebench", LCB_PROGRAM, "print(Fraction(1, 2) * 1.0 if 0 else 0.5)", "print(0.51)"),
        ("livecodebench", LCB_METHOD, SOLUTION + "return a + b", SOLUTION + "return a"),
        ("leetcode", LEETCODE, fenced(PAIRS + "return [nums]"),
         fenced(PAIRS + "return nums")),
        ("leetcode", NODES, TURN, NODES["starter_code"] + "return head"),
        ("leetcode", TREE, MIRROR, TREE["starter_code"] + "return root"),
    ],
)  # fmt: skip
def test_a_right_solution_passes_and_a_wrong_one_does_not(client, task, row, right, wrong):
    template = tasks.named(task)(row)
    good, bad = client.score([tasks.fill(template, right), tasks.fill(template, wrong)])
    assert (good.verdict, good.reward) == (Verdict.PASSED, 1.0), good
    assert good.integrity is Integrity.ISOLATED
    assert (bad.verdict, bad.reward) == (Verdict.FAILED, 0.0), bad
