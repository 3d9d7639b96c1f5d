"""A checker that raises is the task's fault only if the expected output makes it raise too."""

from __future__ import annotations

import pytest

from reward_server.domain import Checker, CheckerKind, StdioCase, StdioTests, Verdict
from tests.support.common import Judge, on_the_servers_loop

pytestmark = on_the_servers_loop

EVEN = """
import sys
number = int(open(sys.argv[2]).read())
sys.exit(number % 2)
"""


def checked(program: str, expected: bytes = b"4\n") -> StdioTests:
    checker = Checker(kind=CheckerKind.PROGRAM, program=program)
    return StdioTests(cases=(StdioCase(stdin=b"", expected_stdout=expected),), checker=checker)


@pytest.mark.parametrize(
    "program",
    [
        "raise ValueError('broken')",
        "import sys\nfloat(open(sys.argv[3]).read().strip() + ' points')",
        "def check():\n    return missing\ncheck()",
    ],
)
@pytest.mark.parametrize("printed", ["4", "5", "Traceback (most recent call last):", ""])
async def test_a_checker_that_always_raises_makes_the_task_invalid(
    program: str, printed: str, judge: Judge
) -> None:
    answer = await judge(f"print({printed!r})", checked(program))
    assert answer.verdict is Verdict.INVALID_TASK
    assert answer.message.startswith("the checker program fails on the expected output")


@pytest.mark.parametrize(
    ("printed", "verdict"),
    [("4", Verdict.PASSED), ("3", Verdict.FAILED), ("many", Verdict.FAILED), ("", Verdict.FAILED)],
)
@pytest.mark.parametrize("expected", [b"4\n", b""])
async def test_output_that_makes_a_checker_raise_is_wrong(
    printed: str, verdict: Verdict, expected: bytes, judge: Judge
) -> None:
    answer = await judge(f"print({printed!r})", checked(EVEN, expected))
    assert answer.verdict is verdict


async def test_a_rejection_that_quotes_a_traceback_stays_one(judge: Judge) -> None:
    program = "import sys\nsys.exit(open(sys.argv[2]).read())"
    quoting = "print('Traceback (most recent call last):')"
    answer = await judge(quoting, checked(program))
    assert answer.verdict is Verdict.FAILED
