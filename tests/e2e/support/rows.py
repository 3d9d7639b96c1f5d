"""Tasks that a random model fails and a right answer passes, as rows of a data set."""

from __future__ import annotations


def times_rows(prefix: str) -> list[dict[str, str]]:
    """Returns four rows in HumanEval's form: multiply by 0, 1, 2 and 3."""
    return [
        {
            "task_id": f"{prefix}/{number}",
            "prompt": f"def times_{number}(x):\n",
            "test": f"def check(candidate):\n    assert candidate(3) == {3 * number}\n",
            "entry_point": f"times_{number}",
        }
        for number in range(4)
    ]
