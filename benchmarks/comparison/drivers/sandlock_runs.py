"""sandlock: Landlock, seccomp and its notifications for each submission."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import version

from sandlock import ExitReason, Sandbox

from .serving import ACCEPTED, FAILED, REJECTED, TIMED_OUT, Judge, Told, program_of

_READABLE = ("/usr", "/lib", "/lib64", "/etc")


def judging(options: Sequence[str]) -> tuple[Judge, str]:
    """Returns the function that judges, and the version.

    Args:
        options: the interpreter.
    """
    (python,) = options

    def judge(solution: str, tests: str, seconds: float) -> Told:
        with tempfile.NamedTemporaryFile("w", suffix=".py", encoding="utf-8") as file:
            file.write(program_of(solution, tests))
            file.flush()
            sandbox = Sandbox(
                fs_readable=[*_READABLE, sys.base_prefix, file.name],
                max_memory="512M",
                max_processes=16,
                clean_env=True,
            )
            result = sandbox.run([python, "-I", "-S", file.name], timeout=seconds)
        if result.error is not None:
            return FAILED, str(result.error)
        if result.success:
            return ACCEPTED, ""
        detail = bytes(result.stderr).decode("utf-8", "replace").strip()[-300:]
        return (TIMED_OUT if result.reason == ExitReason.TIMEOUT else REJECTED), detail

    return judge, f"sandlock {version('sandlock')}"
