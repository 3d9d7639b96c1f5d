"""Docker: a container for each submission, or a command in a container that runs already."""

from __future__ import annotations

from collections.abc import Sequence

from .serving import Judge, Told, program_of, run

# The command's own failure, and a program that the container lacks.
_BROKEN = (125, 126, 127)
_GRACE_SECONDS = 60.0


def judging(options: Sequence[str]) -> tuple[Judge, str]:
    """Returns the function that judges, and the version.

    Args:
        options: the engine's version, and the command up to the image or container.
    """
    version, *begin = options

    def judge(solution: str, tests: str, seconds: float) -> Told:
        # The time ends inside of the container, where a killed client would leave the program.
        limited = ("timeout", "-s", "KILL", f"{seconds:.0f}", "python3", "-I", "-S", "-")
        program = program_of(solution, tests)
        return run(
            [*begin, *limited], program, seconds, broken=_BROKEN, grace_seconds=_GRACE_SECONDS
        )

    return judge, f"Docker {version}"
