"""What the documents name exists: tests, files, commands, and code that compiles."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCUMENTS = (
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "docs/adapters.md",
    "docs/specification.md",
    "docs/threat-model.md",
)
TEST = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")
PYTHON_BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
COMMAND = re.compile(r"\breward-server ([a-z]+)\b")
TARGET = re.compile(r"\bmake ([a-z]+)\b")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_test_that_a_document_names_exists(document: str, repository: Path):
    for path, function in TEST.findall((repository / document).read_text()):
        source = (repository / path).read_text()
        assert not function or re.search(rf"def {function}\b", source), f"{path}::{function}"


def test_every_promise_of_the_specification_names_what_enforces_it(repository: Path):
    text = (repository / "docs" / "specification.md").read_text()
    rows = [line for line in text.splitlines() if re.match(r"\| (?!promise|---)", line)]
    assert rows
    for row in rows:
        *_, enforced, _ = row.split("|")
        assert (
            TEST.search(enforced) or "`reward-server" in enforced or "not measured" in enforced
        ), row


def test_the_readmes_python_compiles(repository: Path):
    blocks = PYTHON_BLOCK.findall((repository / "README.md").read_text())
    assert blocks
    for block in blocks:
        ast.parse(block)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_make_target_that_a_document_names_exists(document: str, repository: Path):
    makefile = (repository / "Makefile").read_text()
    for target in TARGET.findall((repository / document).read_text()):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_every_command_that_a_document_names_exists(repository: Path):
    text = "".join((repository / document).read_text() for document in DOCUMENTS)
    help_text = subprocess.run(
        [Path(sys.executable).with_name("reward-server"), "--help"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for command in set(COMMAND.findall(text)):
        assert re.search(rf"\b{command}\b", help_text), command
