"""Solution and tests, as graders of other projects take them: one program, or its parts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from reward_server.audit.tasks import Task
from reward_server.audit.texts.parsing import fenced, parsed, unparsed
from reward_server.audit.texts.source import defined, reference_tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A solution with its tests.

    Args:
        name: the cheat's name; "" for the reference solution.
        solution: the solution, as a whole module.
        tests: the tests, which follow it in one program and raise if it is wrong.
    """

    name: str
    solution: str
    tests: str

    @property
    def program(self) -> str:
        """Solution and tests as one program, whose exit status is 0 if the solution is right."""
        return f"{self.solution}\n\n{self.tests}\n"


def tests_of(task: Task) -> str:
    """Returns the tests as the end of a program; "" if they cannot be written in that form."""
    if not task.is_python:
        return ""
    if task.kind == "function":
        tests = task.template.function
        parts = [tests.setup_code, tests.test_code, *tests.asserts]
        tree = parsed(tests.test_code)
        if tree is not None and "check" in defined(tree):
            parts.append(f"check({tests.entry_point})")
        return "\n".join(part for part in parts if part)
    if task.kind == "call":
        called = task.template.call.entry_point
        return "\n".join(
            f"assert {called}(*{_values(case.args_json)!r}) == {_values(case.expected_json)!r}"
            for case in task.template.call.cases
        )
    return ""


def _values(text: str) -> object:
    return json.loads(text)


def whole_solution(task: Task) -> str:
    """Returns the reference solution as a module, with the prompt if it continues that."""
    tree = reference_tree(task)
    return unparsed(tree) if tree is not None else fenced(task.reference)


def run_code(submission: Submission) -> dict[str, Any]:
    """Returns the body of a request to `/run_code` of SandboxFusion."""
    return {"code": submission.program, "language": "python", "run_timeout": 20}


def is_run_rewarded(answer: Any) -> bool:
    """Returns True if an answer of `/run_code` says that the program succeeded.

    Raises:
        ValueError: the answer does not have the form of `/run_code`.
    """
    match answer:
        case {"status": "SandboxError"}:
            raise ValueError("the sandbox failed")
        case {"status": "Success", "run_result": {"return_code": int(code)}}:
            return code == 0
        case {"status": str()}:
            return False
    raise ValueError("the answer has no status and no run_result.return_code")


def parts(submission: Submission) -> dict[str, Any]:
    """Returns the body of a request to a grader that takes JSON."""
    return {
        "language": "python",
        "solution": submission.solution,
        "tests": submission.tests,
        "program": submission.program,
    }


def is_field_rewarded(answer: Any, field: str) -> bool:
    """Returns True if a field of an answer says that the solution is right.

    Args:
        answer: the parsed answer.
        field: path of the field, such as `result.reward`.

    Raises:
        ValueError: there is no such field, or it is neither a truth value nor a number.
    """
    for name in field.split("."):
        if not isinstance(answer, dict) or name not in answer:
            raise ValueError(f"the answer has no field {field}")
        answer = answer[name]
    if not isinstance(answer, bool | int | float):
        raise ValueError(f"{field} is neither a truth value nor a number")
    return answer > 0
