"""Rows of data sets, and tasks made of them."""

from __future__ import annotations

from typing import Any


def times_rows(prefix: str) -> list[dict[str, str]]:
    """Returns four rows in HumanEval's form: multiply by 0, 1, 2 and 3.

    A random model fails these tasks, and a right answer passes them.
    """
    return [
        {
            "task_id": f"{prefix}/{number}",
            "prompt": f"def times_{number}(x):\n",
            "test": f"def check(candidate):\n    assert candidate(3) == {3 * number}\n",
            "entry_point": f"times_{number}",
        }
        for number in range(4)
    ]


def solved_task(row: dict[str, str]) -> dict[str, Any]:
    """Returns a row of HumanEval with its reference solution, as `reward-server grade` reads it."""
    return {
        "id": row["task_id"],
        "prompt": row["prompt"],
        "completion": row["canonical_solution"],
        "function": {"entry_point": row["entry_point"], "test_code": row["test"]},
    }
