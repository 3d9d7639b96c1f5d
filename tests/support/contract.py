"""Tests and solutions that are judged by the contract."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from reward_server.domain import Framework, FunctionTests, Integrity, Tests, UnitTests


@dataclass(frozen=True, kw_only=True)
class Case:
    """Tests and a solution.

    Attributes:
        name: what is tried.
        tests: the statements of `check(candidate)`, or a file of pytest.
        solution: the completion.
        label: the label of an honest pass.
        prompt: the task's code.
    """

    name: str
    tests: str
    solution: str
    label: Integrity = Integrity.ISOLATED
    prompt: str = ""


def as_tests(case: Case) -> Tests:
    """Returns the tests as a request has them."""
    text = textwrap.dedent(case.tests).strip("\n")
    if "def test" in text:
        return UnitTests(framework=Framework.PYTEST, files=(("test_it.py", text + "\n"),))
    body = textwrap.indent(text, "    ")
    head = "import numpy as np\n" if "np." in text else ""
    return FunctionTests(entry_point="f", test_code=f"{head}def check(candidate):\n{body}\n")
