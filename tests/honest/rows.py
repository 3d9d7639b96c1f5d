"""Right solutions with unusual answers or tests, read from the folder that is named by their label.

A row is `=== NAME`, the prompt if it has one, the tests, and the solution; lines of three hyphens
stand between. Tests are files, each behind `@@ PATH`, or statements: those that name `candidate`
are the body of `check(candidate)`. A solution elsewhere than in solution.py has its `@@ PATH` too.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

from reward_server.domain import Framework, FunctionTests, Integrity, Tests, UnitTests

_FOLDERS = {"isolated": Integrity.ISOLATED, "shared": Integrity.SHARED}
_FILE = re.compile(r"^@@ (.+)\n", re.MULTILINE)
_OF_UNITTEST = re.compile(r"^import .*\bunittest\b", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Row:
    """A right solution and its tests.

    Attributes:
        name: what is unusual.
        prompt: the task's code.
        tests: the tests.
        solution: what passes them.
        label: the label of its pass.
    """

    name: str
    prompt: str
    tests: Tests
    solution: str
    label: Integrity


def _files(text: str) -> tuple[tuple[str, str], ...]:
    """Returns the files that a text holds, by their path."""
    parts = _FILE.split(text)
    return tuple(sorted(zip(parts[1::2], parts[2::2], strict=True)))


def _tests(text: str, solution_path: str) -> Tests:
    if text.startswith("@@ "):
        is_unittest = _OF_UNITTEST.search(text) and "pytest" not in text
        framework = Framework.UNITTEST if is_unittest else Framework.PYTEST
        return UnitTests(framework=framework, files=_files(text), solution_path=solution_path)
    if "candidate" not in text:
        return FunctionTests(test_code=text)
    check = f"def check(candidate):\n{textwrap.indent(text, '    ')}"
    return FunctionTests(entry_point="f", test_code=check)


def _row(text: str, label: Integrity) -> Row:
    name, _, body = text.partition("\n")
    *prompt, tests, solution = f"{body.strip()}\n".split("\n---\n")
    (path, code), *_ = _files(solution) or (("solution.py", solution),)
    return Row(
        name=name,
        prompt="".join(f"{part}\n" for part in prompt),
        tests=_tests(f"{tests}\n", path),
        solution=code,
        label=label,
    )


def rows(file: str) -> list[Row]:
    """Returns the rows of a file of each label."""
    found = []
    for folder, label in _FOLDERS.items():
        path = Path(__file__).parent / folder / file
        if path.exists():
            texts = re.split(r"^=== ", path.read_text(), flags=re.MULTILINE)[1:]
            found += [_row(text, label) for text in texts]
    return found


COMPUTING, FUNCTIONS, FILES = map(rows, ("computing.txt", "functions.txt", "files.txt"))
ROWS = (*COMPUTING, *FUNCTIONS, *FILES)
