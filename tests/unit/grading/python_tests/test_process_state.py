"""Published tests stay apart from the solution: they use nothing of their own process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from reward_server.domain import FunctionTests
from reward_server.grading.python_tests.isolation.function_tests import (
    function_file,
    may_need_solution,
)


def human_eval(folder: Path) -> Iterator[tuple[FunctionTests, str]]:
    for line in (folder / "HumanEval.jsonl").read_text().splitlines():
        row = json.loads(line)
        yield FunctionTests(entry_point=row["entry_point"], test_code=row["test"]), row["prompt"]


def mbpp(folder: Path) -> Iterator[tuple[FunctionTests, str]]:
    for line in (folder / "mbpp_full.jsonl").read_text().splitlines():
        row = json.loads(line)
        asserts = (*row["test_list"], *row["challenge_test_list"])
        yield FunctionTests(asserts=asserts, setup_code=row["test_setup_code"]), ""


def mbpp_sanitized(folder: Path) -> Iterator[tuple[FunctionTests, str]]:
    for row in json.loads((folder / "mbpp_sanitized.json").read_text()):
        setup = "\n".join(row["test_imports"])
        yield FunctionTests(asserts=tuple(row["test_list"]), setup_code=setup), ""


@pytest.mark.parametrize(
    ("rows", "count", "reasons"),
    [
        (human_eval, 164, []),
        (mbpp, 974, [("calls getsizeof()",)]),
        (mbpp_sanitized, 427, [("calls getsizeof()",)]),
    ],
)
def test_published_tests_are_kept_apart(
    rows: object, count: int, reasons: list[object], data_folder: Path
) -> None:
    assert callable(rows)
    tests = list(rows(data_folder))
    assert len(tests) == count
    files = [function_file(one, prompt) for one, prompt in tests if may_need_solution(one)]
    assert [file.reasons for file in files if file is not None and file.reasons] == reasons
