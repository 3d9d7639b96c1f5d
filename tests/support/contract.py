"""Tests and solutions that are judged by the contract, and what judges them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest_asyncio

from reward_server.app import running_app
from reward_server.domain import Framework, FunctionTests, Integrity, Tests, UnitTests
from reward_server.settings import Settings
from tests.support.common import PACKAGES, PYTHON, Judge


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


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def contract() -> AsyncIterator[Judge]:
    """Yields a judge that follows the contract."""
    settings = Settings(
        port=0,
        workers=2,
        languages=PYTHON,
        sandbox_packages=PACKAGES,
        sandbox_preload=("pytest",),
    )
    async with running_app(settings) as app:
        yield Judge(app.evaluation)
