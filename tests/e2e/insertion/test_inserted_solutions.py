"""Rows of DS-1000: a solution is a piece of text, and no piece but a right one earns a reward."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from codereward.v1 import reward_service_pb2 as pb
from tests.e2e.conftest import serving_with_packages
from tests.e2e.insertion.rows import INDENTED, NUMPY, Problem
from trainer_client import Integrity, RewardClient, Score, TaskError, Verdict, tasks

ALWAYS_EQUAL = """class Equal({base}):
        def __eq__(self, other): return True
        def __ne__(self, other): return False
        __hash__ = {base}.__hash__
"""


def _answering(result: str) -> str:
    """Returns a solution that writes an answer of its own in place of the harness."""
    return f"""import base64, json, os
def pack(number): return base64.b64encode(number.to_bytes(8, "little", signed=True)).decode()
text = json.dumps(["done", [["result", {result}]]]).encode()
for n in map(int, os.listdir("/proc/self/fd")):
    if n > 2:
        try: os.write(n, len(text).to_bytes(8, "big") + text)
        except OSError: pass
import time
time.sleep(1)
os._exit(0)
"""


CHEATS = {
    "nothing": "",
    "a statement": "pass",
    "an object that equals everything": (f"{ALWAYS_EQUAL.format(base='object')}\nresult = Equal()"),
    "an early end": "import os\nos._exit(0)",
    "an exception that skips tests": "import unittest\nraise unittest.SkipTest",
    "a patched library": "np.testing.assert_allclose = lambda *a, **k: None\nresult = 0",
    "names of the tests": (
        "exec_test = lambda *a: 1\ngenerate_test_case = lambda n: (0, 0)\nresult = 0"
    ),
    "the expected result from the stack": (
        "import sys\nresult = sys._getframe(2).f_locals['expected_result']"
    ),
    "the expected result from memory": (
        "import gc\nfound = [o for o in gc.get_objects() if type(o) is dict and 'ans' in o]\n"
        "result = found[0]['ans']"
    ),
    "a forged answer": (
        'import os\ntext = b\'["done", [["result", 0]]]\'\n'
        "head = len(text).to_bytes(8, 'big')\n"
        "list(map(lambda n: os.write(n, head + text), range(1, 12)))"
    ),
    "a forged answer and nothing more": (
        'import os\ntext = b\'["done", [["result", ["array", "O", [1], ""]]]]\'\n'
        "head = len(text).to_bytes(8, 'big')\nlinks = os.listdir('/proc/self/fd')\n"
        "def write(n):\n    try: os.write(n, head + text)\n    except OSError: pass\n"
        "list(map(write, map(int, links)))\nos._exit(0)"
    ),
    "a template that is closed": "'''\n\"\"\"\nresult = 0\n[insert]\n# \\",
    "a place in the place": "[insert]\nresult = [insert]",
    "a result that fills memory": _answering(
        '["sparse", "csr_matrix", [2**62, 1], ["array", "<i8", [0], ""], '
        '["array", "<i8", [0], ""], ["array", "<f8", [0], ""]]'
    ),
    "a result outside of its matrix": _answering(
        '["sparse", "csc_matrix", [2, 2], ["array", "<i8", [1], pack(1 << 40)], '
        '["array", "<i8", [1], pack(-9)], ["array", "<f8", [1], pack(1)]]'
    ),
    "a result that is a very long range": _answering('["range_index", 0, 2**62, 1, None]'),
    "booleans that are no booleans": _answering('["array", "|b1", [2], "AgM="]'),
    "a result of nothing": _answering('["array", "<f8", [0], ""]'),
    "an empty matrix": _answering('["array", "<f8", [0, 2], ""]'),
    "a right result by forbidden words": ("for _ in range(1):\n    result = np.nanmax(a, axis=1)"),
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RewardClient]:
    with serving_with_packages(tmp_path_factory.mktemp("server"), "numpy") as connected:
        yield connected


def judged(client: RewardClient, row: dict[str, Any], *completions: str) -> list[Score]:
    template = tasks.ds1000(row)
    return client.score([tasks.fill(template, each) for each in completions])


@pytest.mark.parametrize("problem", [NUMPY, INDENTED], ids=["statements", "a body"])
def test_a_right_piece_passes_and_a_wrong_one_does_not(
    client: RewardClient, problem: Problem
) -> None:
    fenced = f"It is:\n```python\n{problem.right}\n```\nIt has no loop."
    marked = f"<code>\n{problem.right}\n</code>\nfor the rest"
    *right, wrong, crashing = judged(
        client, problem.row, problem.right, fenced, marked, problem.wrong, "    1 / 0"
    )
    for score in right:
        assert (score.verdict, score.reward) == (Verdict.PASSED, 1.0), score
        assert score.integrity is Integrity.ISOLATED
    for score in (wrong, crashing):
        assert (score.verdict, score.reward) == (Verdict.FAILED, 0.0), score


def test_no_cheat_earns_a_reward_or_an_error(client: RewardClient) -> None:
    scores = judged(client, NUMPY.row, *CHEATS.values())
    told = dict(zip(CHEATS, scores, strict=True))
    assert {name: score.reward for name, score in told.items()} == dict.fromkeys(CHEATS, 0.0)


def test_values_of_own_classes_are_cast_to_data(client: RewardClient) -> None:
    equal = "    " + ALWAYS_EQUAL.format(base="list").replace("list.__hash__", "None")
    deep = "    x = []\n    for _ in range(100_000): x = [x]\n    return a.mean(), x"
    (cheat, nested) = judged(client, INDENTED.row, f"{equal}\n    return a.mean(), Equal()", deep)
    assert (cheat.verdict, cheat.reward) == (Verdict.FAILED, 0.0), cheat
    assert nested.reward == 0.0, nested


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("np.array([[1.0", "1 / 0, np.array([[1.0", "ZeroDivisionError"),
        ("return test_input, expected_result", "return test_input, lambda: 1", "function"),
        ('"test_input": test_input}', '"test_input": iter([])}', "list_iterator"),
        ("range(2)", "range(0)", "runs no code"),
    ],
)
def test_a_broken_row_is_no_failure_of_the_solution(
    client: RewardClient, old: str, new: str, told: str
) -> None:
    context = NUMPY.row["code_context"]
    assert old in context
    row = {**NUMPY.row, "code_context": context.replace(old, new)}
    for score in judged(client, row, NUMPY.right, "import os\nos._exit(0)"):
        assert (score.verdict, score.reward) == (Verdict.INVALID_TASK, None), score
        assert told in score.message


def test_a_row_that_reads_a_result_between_its_cases_is_judged(client: RewardClient) -> None:
    """Without a solution it ends at its first case."""
    context = NUMPY.row["code_context"]
    check = "assert exec_test("
    assert context.count(check) == 1
    row = {
        **NUMPY.row,
        "code_context": context.replace(check, f'assert test_env["result"].ndim == 1; {check}'),
    }
    right, wrong = judged(client, row, NUMPY.right, NUMPY.wrong)
    assert (right.verdict, right.reward) == (Verdict.PASSED, 1.0), right
    assert (wrong.verdict, wrong.reward) == (Verdict.FAILED, 0.0), wrong


def test_a_result_that_cannot_cross_is_told(client: RewardClient) -> None:
    [score] = judged(client, NUMPY.row, "result = map(abs, [1])")
    assert (score.verdict, score.reward) == (Verdict.FAILED, 0.0)
    assert "builtins.map, which cannot cross" in score.tests[0].message


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"harness": "def f(:"}, "stdio.harness"),
        ({"checker": pb.Checker()}, "stdio.harness"),
    ],
)
def test_a_harness_that_cannot_run_is_refused(
    client: RewardClient, change: dict[str, Any], field: str
) -> None:
    request = tasks.ds1000(NUMPY.row)
    for name in change:
        request.stdio.ClearField(name)
    request.stdio.MergeFrom(pb.StdioTests(**change))
    [score] = client.score([request])
    assert score.error is not None
    assert score.error.status == "INVALID_ARGUMENT"
    assert field in score.error.message


@pytest.mark.parametrize(
    ("context", "told"),
    [
        ("import numpy as np", "does not define generate_test_case()"),
        (NUMPY.row["code_context"].replace("[insert]", ""), "[insert]"),
        ("import matplotlib.pyplot as plt\n" + NUMPY.row["code_context"], "no figure can cross"),
        ("import tensorflow as tf\n" + NUMPY.row["code_context"], "metadata.library"),
    ],
)
def test_a_row_that_cannot_be_judged_is_refused_with_its_id(context: str, told: str) -> None:
    rows = [NUMPY.row, {**INDENTED.row, "code_context": context}]
    with pytest.raises(TaskError) as caught:
        tasks.templates("ds1000", rows)
    assert (caught.value.row, caught.value.field) == ("292", "code_context")
    assert told in caught.value.problem
