"""Finds the modules that a failed program or its tests lacked, in the interpreter's messages.

A program can forge such a message, so nothing is decided by it. It shows the operator that a module
may be missing in the sandbox, and that this may be the reason for a reward of 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reward_server.grading.verdict import Run

MOST_MODULES = 4
_MOST_TESTS = 100
_TAIL_BYTES = 4096
_NAME = r"[A-Za-z_@][A-Za-z0-9_./@-]{0,63}"
_SAID = re.compile(
    rf"(?:ModuleNotFoundError: No module named|Error: Cannot find (?:module|package)) '({_NAME})'"
)


def missing_modules(runs: Sequence[Run]) -> tuple[str, ...]:
    """Returns the names of missing packages, without their submodules."""
    found: dict[str, None] = {}
    for text in _said(runs):
        for match in _SAID.finditer(text):
            name = match[1]
            found.setdefault(name if name.startswith("@") else re.split(r"[./]", name)[0])
    return tuple(found)[:MOST_MODULES]


def _said(runs: Sequence[Run]) -> Iterator[str]:
    for run in runs:
        yield run.execution.message
        for test in run.tests[:_MOST_TESTS]:
            yield test.message
        yield run.execution.stderr.data[-_TAIL_BYTES:].decode("utf-8", "replace")
