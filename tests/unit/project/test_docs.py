"""What the documents name exists: tests, files, commands, and code that compiles."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from trainer_client.adapters.common.settings import PREFIX, AdapterSettings
from trainer_client.trl.settings.configuration import load_config
from trainer_client.trl.tasks.data import read_tasks, training_tasks

REPOSITORY = Path(__file__).resolve().parents[3]
PAGES = tuple(
    str(file.relative_to(REPOSITORY / "docs")) for file in REPOSITORY.glob("docs/**/*.md")
)
DOCUMENTS = (
    "README.md",
    "AGENTS.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    *(f"docs/{page}" for page in PAGES),
)
TEST = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")
PATH = re.compile(
    r"`((?:benchmarks|docs|examples|experiments|proto|reward_server|sandbox_images|scripts|tests"
    r"|trainer_client)(?:/[\w.-]+)+/?)(?:::\w+)?`"
)
LINK = re.compile(r"\]\(([\w./-]+)\)")
PYTHON_BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
COMMAND = re.compile(r"\breward-server ([a-z]+)\b")
TARGET = re.compile(r"(?:^|`)make ([a-z]+)\b", re.MULTILINE)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_test_that_a_document_names_exists(document: str, repository: Path):
    for path, function in TEST.findall((repository / document).read_text()):
        source = (repository / path).read_text()
        assert not function or re.search(rf"def {function}\b", source), f"{path}::{function}"


def test_the_readmes_python_compiles(repository: Path):
    blocks = PYTHON_BLOCK.findall((repository / "README.md").read_text())
    assert blocks
    for block in blocks:
        ast.parse(block)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_path_that_a_document_names_exists(document: str, repository: Path):
    for path in PATH.findall((repository / document).read_text()):
        assert "NAME" in path or (repository / path).exists(), path


@pytest.mark.parametrize("document", ["README.md", "AGENTS.md", "CONTRIBUTING.md", "SECURITY.md"])
def test_every_link_of_a_document_outside_the_site_leads_to_a_file(document: str, repository: Path):
    for path in LINK.findall((repository / document).read_text()):
        assert (repository / path).is_file(), path


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_make_target_that_a_document_names_exists(document: str, repository: Path):
    makefile = (repository / "Makefile").read_text()
    for target in TARGET.findall((repository / document).read_text()):
        assert re.search(rf"^(?:[\w-]+ )*{target}(?: [\w-]+)*:", makefile, re.MULTILINE), target


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
    text = (repository / "docs" / "start" / "first-run.md").read_text()
    (block,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    file = tmp_path / "first.toml"
    file.write_text(block)
    config = load_config(file, {})
    assert config.server.target is None
    source = read_tasks(config.data)
    tasks = training_tasks(config.data, source, chat=True, count_tokens=len)
    assert len(tasks.records) == 4


def test_the_request_that_the_first_run_shows_is_one(repository: Path, tmp_path: Path):
    text = (repository / "docs" / "start" / "first-run.md").read_text()
    (block,) = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    (tmp_path / "own.jsonl").write_text(block)
    flags = {"model.path": "m", "data.kind": "requests", "data.path": tmp_path / "own.jsonl"}
    section = load_config(None, flags).data
    tasks = training_tasks(section, read_tasks(section), chat=True, count_tokens=len)
    assert tasks.templates["double"].function.entry_point == "double"


def navigation(part: object) -> list[str]:
    match part:
        case str():
            return [part]
        case dict():
            return [page for inner in part.values() for page in navigation(inner)]
        case list():
            return [page for inner in part for page in navigation(inner)]
    raise TypeError(part)


def test_every_page_is_in_the_navigation_once(repository: Path):
    listed = navigation(yaml.safe_load((repository / "mkdocs.yml").read_text())["nav"])
    assert sorted(listed) == sorted(PAGES)


def test_the_adapters_page_has_each_variable(repository: Path):
    page = (repository / "docs" / "how-to" / "adapters.md").read_text()
    for name in AdapterSettings.model_fields:
        assert f"`{PREFIX}{name.upper()}`" in page


def test_decisions_are_few_and_short(repository: Path):
    text = (repository / "docs" / "decisions.md").read_text()
    text = re.sub(r"^## .*", "", text, flags=re.MULTILINE)
    _, *records = re.split(r"^### ", text, flags=re.MULTILINE)
    assert 0 < len(records) <= 60
    for record in records:
        title, _, body = record.partition("\n")
        assert 60 <= len(body.split()) <= 100, title
        assert "Rejected: " in body, title
