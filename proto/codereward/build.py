"""The build that runs: its version, and the commit that it was made of.

`hatch_build.py` writes the commit into packages that are built of a repository. In a checkout, git
is asked, once and only when somebody wants to know. Elsewhere the commit is unknown. This module
imports nothing else of ours, since the build runs it too.
"""

from __future__ import annotations

import functools
import os
import subprocess
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

DISTRIBUTION = "codereward"
UNKNOWN = "unknown"
RECORD = "build.txt"
_GIT_SECONDS = 10.0


class Commit(NamedTuple):
    """A commit: its abbreviated hash, with `-modified` after it if files differ, and its date.

    Args:
        hash: the hash, or "unknown".
        date: the day of the commit in UTC, as YYYY-MM-DD; "" if it is not known.
    """

    hash: str = UNKNOWN
    date: str = ""

    def __str__(self) -> str:
        return f"commit {self.hash}, {self.date}" if self.date else f"commit {self.hash}"


def version() -> str:
    """Returns the version of the installed distribution."""
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return UNKNOWN


@functools.cache
def commit() -> Commit:
    """Returns the commit that runs."""
    folder = Path(__file__).resolve().parent
    record = folder / RECORD
    if record.is_file():
        return Commit(*record.read_text("ascii").split())
    return commit_of(folder.parent.parent)


def described() -> str:
    """Returns version and commit in words."""
    return f"{version()} ({commit()})"


def commit_of(checkout: Path) -> Commit:
    """Returns the commit of a repository's top folder, or an unknown one."""
    if not (checkout / ".git").exists():
        return Commit()
    try:
        name = _git(
            checkout, "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty=-modified"
        )
        return Commit(name, _git(checkout, "log", "-1", "--format=%cd", "--date=format-local:%F"))
    except (OSError, subprocess.SubprocessError):
        return Commit()


def _git(checkout: Path, *arguments: str) -> str:
    ran = subprocess.run(
        ["git", "-C", checkout, *arguments],
        env={**os.environ, "TZ": "UTC0"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
        timeout=_GIT_SECONDS,
    )
    return ran.stdout.strip()
