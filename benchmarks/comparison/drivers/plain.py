"""A process for each submission, without any isolation."""

from __future__ import annotations

import platform
from collections.abc import Sequence

from .serving import Judge, Told, program_of, run


def judging(options: Sequence[str]) -> tuple[Judge, str]:
    """Returns the function that judges, and the version.

    Args:
        options: the interpreter.
    """
    command = [*options, "-I", "-S", "-"]

    def judge(solution: str, tests: str, seconds: float) -> Told:
        return run(command, program_of(solution, tests), seconds, grace_seconds=0.0)

    return judge, f"Python {platform.python_version()}"
