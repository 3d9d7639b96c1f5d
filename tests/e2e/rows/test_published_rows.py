"""Rows of ClassEval and CRUXEval as published, judged by a real server.

A run takes a sample; REWARD_SERVER_TEST_ALL=1 takes all rows that can be judged.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import serving_with_packages
from tests.support.sampling import TAKES_ALL
from trainer_client import Integrity, RewardClient, TaskError, Verdict, tasks

pytestmark = pytest.mark.timeout(3600)

# They need a package that need not be there, the author's host, the date of writing, NumPy 1, or
# more time than an execution has.
CLASSEVAL_UNJUDGED = {34, 38, 44, 52, 69, 93} | {48, 17, 51, 35}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RewardClient]:
    with serving_with_packages(tmp_path_factory.mktemp("server"), "pytest") as connected:
        yield connected


def sample(rows: list[Any], step: int) -> list[Any]:
    return rows if TAKES_ALL else rows[::step]


def test_solutions_of_classeval_pass_and_skeletons_do_not(
    client: RewardClient, data_folder: Path
) -> None:
    rows = json.loads((data_folder / "classeval.json").read_text("utf-8"))
    rows = [row for number, row in enumerate(rows) if number not in CLASSEVAL_UNJUDGED]
    templates = tasks.templates("classeval", rows := sample(rows, 15))
    pairs = [(templates[row["task_id"]], row) for row in rows]
    good = client.score([tasks.fill(one, row["solution_code"]) for one, row in pairs])
    bad = client.score([tasks.fill(one, row["skeleton"]) for one, row in pairs])
    assert {score.verdict for score in good} == {Verdict.PASSED}, good
    assert {score.reward for score in bad} == {0.0}, bad


def test_predictions_of_cruxeval_are_judged_by_value(
    client: RewardClient, data_folder: Path
) -> None:
    lines = (data_folder / "cruxeval.jsonl").read_text("utf-8").splitlines()
    rows = sample([json.loads(line) for line in lines], 80)
    refused: dict[str, TaskError] = {}
    outputs = tasks.templates("cruxeval_output", rows)
    inputs = tasks.templates("cruxeval_input", rows, left_out=refused)
    assert len(refused) <= 12
    known = {row["id"]: row for row in rows}
    answers = [
        *((one, f"assert f({known[key]['input']}) == {known[key]['output']}")
          for templates in (outputs, inputs) for key, one in templates.items()),
    ]  # fmt: skip
    good = client.score([tasks.fill(*answer) for answer in answers])
    bad = client.score([tasks.fill(one, "f('no', 1, 'such', None)") for one, _ in answers])
    assert {(score.verdict, score.integrity) for score in good} == {
        (Verdict.PASSED, Integrity.ISOLATED)
    }, good
    assert {score.reward for score in bad} == {0.0}, bad


ROW = {"code": "def f(n):\n    return [n] * 2\n", "input": "3", "output": "[3, 3]", "id": "0"}


@pytest.mark.parametrize(
    ("kind", "answer", "right"),
    [
        ("cruxeval_output", "[3, 3]", True),
        ("cruxeval_output", "```python\nassert f(3) == [3, 3]\n```", True),
        ("cruxeval_output", "[THOUGHT]It is 3 twice.[/THOUGHT]\n[ANSWER]\n[3, 3]\n[/ANSWER]", True),
        ("cruxeval_output", "[3, 3] # done\n\ndef f(n):\n    pass", True),
        ("cruxeval_output", "[3, 4]", False),
        ("cruxeval_output", "f(3)", False),
        ("cruxeval_output", "[3] * 2", False),
        ("cruxeval_output", "[3, 3] if __import__('os')._exit(0) else 1", False),
        ("cruxeval_output", "(" * 5000, False),
        ("cruxeval_output", "", False),
        ("cruxeval_input", "f(3)", True),
        ("cruxeval_input", "[ANSWER]assert f(n=3) == [3, 3][/ANSWER]", True),
        ("cruxeval_input", "f(4)", False),
        ("cruxeval_input", "3", False),
        ("cruxeval_input", "g(3)", False),
        ("cruxeval_input", "f(__import__('os')._exit(0))", False),
        ("cruxeval_input", "f(*[3])", False),
    ],
)
def test_an_answer_is_read_as_a_literal_and_never_executed(
    client: RewardClient, kind: str, answer: str, right: bool
) -> None:
    (score,) = client.score([tasks.fill(tasks.named(kind)(ROW), answer)])
    assert (score.reward, score.integrity) == (float(right), Integrity.ISOLATED), score
