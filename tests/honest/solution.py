"""What an honest but awkward solution is."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from reward_server.domain import (
    CallCase,
    CallTests,
    Checker,
    StdioCase,
    StdioTests,
    Tests,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """A right solution that a careless judge refuses.

    Attributes:
        name: what is awkward about it.
        completion: the solution.
        tests: tests that it passes.
        prompt: code in front of it.
    """

    name: str
    completion: str
    tests: Tests
    prompt: str = ""


def code(text: str) -> str:
    """Returns source text written with the indentation of what surrounds it."""
    return textwrap.dedent(text).lstrip("\n")


def called(
    name: str,
    completion: str,
    cases: dict[str, str],
    *,
    entry_point: str = "solve",
    prompt: str = "",
) -> Solution:
    """A solution of a problem with JSON arguments and results; the prompt has its signature."""
    listed = tuple(CallCase(args_json=args, expected_json=want) for args, want in cases.items())
    tests = CallTests(entry_point=entry_point, cases=listed)
    return Solution(name=name, completion=code(completion), tests=tests, prompt=code(prompt))


def program(
    name: str, completion: str, runs: dict[bytes, bytes], *, checker: Checker | None = None
) -> Solution:
    """A solution that is a whole program."""
    cases = tuple(StdioCase(stdin=given, expected_stdout=out) for given, out in runs.items())
    tests = StdioTests(cases=cases, checker=checker or Checker())
    return Solution(name=name, completion=code(completion), tests=tests)
