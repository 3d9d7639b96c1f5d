"""Tests and solutions that are judged by the contract, and what judges them."""

from __future__ import annotations

import textwrap
from collections.abc import AsyncIterator
from dataclasses import dataclass

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
