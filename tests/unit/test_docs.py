"""What the documents name exists: tests, files, commands, and code that compiles."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from trainer_client.trl.config import load_config
from trainer_client.trl.data import read_tasks, training_tasks

DOCUMENTS = (
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "docs/adapters.md",
    "docs/bottleneck.md",
    "docs/cluster.md",
    "docs/first-run.md",
    "docs/rewards.md",
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


def test_the_first_runs_configuration_is_one(repository: Path, tmp_path: Path):
    text = (repository / "docs" / "first-run.md").read_text()
    (block,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    file = tmp_path / "first.toml"
    file.write_text(block)
    config = load_config(file, {})
    assert config.server.target is None
    source = read_tasks(config.data)
    tasks = training_tasks(config.data, source, chat=True, count_tokens=len)
    assert len(tasks.records) == 4


def test_the_request_that_the_first_run_shows_is_one(repository: Path, tmp_path: Path):
    text = (repository / "docs" / "first-run.md").read_text()
    (block,) = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    (tmp_path / "own.jsonl").write_text(block)
    flags = {"model.path": "m", "data.kind": "requests", "data.path": tmp_path / "own.jsonl"}
    section = load_config(None, flags).data
    tasks = training_tasks(section, read_tasks(section), chat=True, count_tokens=len)
    assert tasks.templates["double"].function.entry_point == "double"
