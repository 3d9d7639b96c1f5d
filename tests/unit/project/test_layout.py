"""The tree stays one in which a reader finds the room by its name."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

MOST_MODULES = 16
ROOTS = ("reward_server", "trainer_client", "tests", "benchmarks", "scripts", "experiments")


def modules(repository: Path) -> list[Path]:
    return [path for root in ROOTS for path in (repository / root).rglob("*.py")]


def test_no_folder_has_more_modules_than_a_reader_can_look_over(repository: Path) -> None:
    counts: dict[Path, int] = {}
    for path in modules(repository):
        counts[path.parent] = counts.get(path.parent, 0) + 1
    assert {str(folder): count for folder, count in counts.items() if count > MOST_MODULES} == {}


@pytest.mark.parametrize("package", ["reward_server", "trainer_client"])
def test_every_package_says_what_it_holds(repository: Path, package: str) -> None:
    files = (repository / package).rglob("__init__.py")
    assert [str(file) for file in files if not ast.get_docstring(ast.parse(file.read_text()))] == []
