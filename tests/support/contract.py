"""Tests and solutions that are judged by the contract."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

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


def read_cases(path: Path) -> list[Case]:
    """Reads a file of cases: `=== NAME`, the prompt if any, the tests and the solution.

    Lines of three hyphens stand between; a name that ends in `[SHARED]` tells the label.
    """
    found = []
    for text in re.split(r"^=== ", path.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        name, _, body = text.partition("\n")
        *prompt, tests, solution = body.strip("\n").split("\n---\n")
        label = Integrity.SHARED if name.endswith("[SHARED]") else Integrity.ISOLATED
        code = "".join(f"{part}\n" for part in prompt)
        case = Case(name=name, tests=tests, solution=f"{solution}\n", label=label, prompt=code)
        found.append(case)
    return found
