"""Public tasks with their own solutions, and with bodies that solve nothing."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.sampling import sampled
from tests.unit.runner.harness import Zygote

SLOW = {123: "needs seconds of CPU time"}
NOT_SOLVED = {
    "pass": ("FAILED", "ERROR"),
    "return None": ("FAILED", "ERROR"),
    "raise SystemExit(0)": ("ERROR",),
    "import os\nos._exit(0)": ("ERROR",),
}

Row = dict[str, Any]


@pytest.fixture(scope="session")
def human_eval(data_folder: Path) -> list[Row]:
    lines = (data_folder / "HumanEval.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def _solution(row: Row) -> str:
    return str(row["prompt"] + row["canonical_solution"])


def _with_body(row: Row, body: str) -> str:
    tree = ast.parse(_solution(row))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == row["entry_point"]:
            node.body = ast.parse(body).body
    return ast.unparse(tree)


def _judged(zygote: Zygote, row: Row, source: str) -> Any:
    return zygote.function(
        source, entry_point=row["entry_point"], test_code=row["test"], prompt=row["prompt"]
    )


def test_every_human_eval_solution_passes(zygote: Zygote, human_eval: list[Row]) -> None:
    assert len(human_eval) == 164
    rows = sampled(human_eval, 3)
    results = {row["task_id"]: _judged(zygote, row, _solution(row)) for row in rows}
    assert [task for task, result in results.items() if not result.passed] == []
    assert [task for task, result in results.items() if result.report["signals"]] == []


@pytest.mark.parametrize("body", NOT_SOLVED)
def test_no_human_eval_task_passes_without_a_body(
    zygote: Zygote, human_eval: list[Row], body: str
) -> None:
    for row in sampled(human_eval, 12):
        result = _judged(zygote, row, _with_body(row, body))
        assert not result.passed, row["task_id"]
        assert result.outcomes[0] in NOT_SOLVED[body], row["task_id"]
        assert result.report["signals"].get("early_exit", 0) == (1 if "xit" in body else 0)


def _function_under_test(row: Row) -> str:
    defined = re.findall(r"^(?:def|class)\s+(\w+)", row["code"], re.MULTILINE)
    return [name for name in defined if re.search(rf"\b{name}\s*\(", row["test_list"][0])][-1]


def _mbpp_failures(zygote: Zygote, rows: list[Row]) -> list[int]:
    failed = []
    for row in rows:
        if row["task_id"] in SLOW:
            continue
        result = zygote.function(
            row["code"],
            entry_point=_function_under_test(row),
            asserts=[*row["test_list"], *row.get("challenge_test_list", [])],
            setup_code="\n".join([row.get("test_setup_code", ""), *row.get("test_imports", [])]),
        )
        if not result.passed:
            failed.append(row["task_id"])
    return failed


def test_mbpp_solutions_pass(zygote: Zygote, data_folder: Path) -> None:
    lines = (data_folder / "mbpp_full.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    with_setup = [row for row in rows if row["test_setup_code"]]
    assert len(rows) == 974
    assert _mbpp_failures(zygote, [*sampled(rows[::5], 5), *with_setup]) == []


@pytest.mark.promise(
    "Sanitized MBPP's reference solutions pass, except that of task 123, which is slow.", "Verdicts"
)
def test_sanitized_mbpp_solutions_pass(zygote: Zygote, data_folder: Path) -> None:
    rows = json.loads((data_folder / "mbpp_sanitized.json").read_text())
    assert len(rows) == 427
    assert _mbpp_failures(zygote, sampled(rows, 12)) == []
