"""What the documents name exists: tests, files, commands, and code that compiles."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

import trainer_client
from codereward.v1 import reward_service_pb2, session_service_pb2
from reward_server.settings import LimitSettings, Settings
from scripts import reference_pages, site_hook
from trainer_client.adapters.common.settings import PREFIX, AdapterSettings
from trainer_client.rewards.execution import RemoteRewardOptions
from trainer_client.trl.settings.configuration import TrainConfig, load_config
from trainer_client.trl.tasks.data import read_tasks, training_tasks

CONTRACTS = (reward_service_pb2.DESCRIPTOR, session_service_pb2.DESCRIPTOR)
CONTRACT_MESSAGES = {k: v for one in CONTRACTS for k, v in one.message_types_by_name.items()}
CONTRACT_ENUMS = {k: v for one in CONTRACTS for k, v in one.enum_types_by_name.items()}
REPOSITORY = Path(__file__).resolve().parents[3]
PAGES = tuple(
    str(file.relative_to(REPOSITORY / "docs")) for file in REPOSITORY.glob("docs/**/*.md")
)
DOCUMENTS = (
    "README.md",
    "AGENTS.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    *(f"docs/{page}" for page in PAGES if not page.startswith("decisions/")),
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


def test_every_promise_of_the_specification_names_what_enforces_it(repository: Path):
    text = (repository / "docs" / "concepts" / "specification.md").read_text()
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


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """Returns the reference pages as the code makes them, by path."""
    return reference_pages.pages()


def test_the_reference_pages_are_what_the_code_makes(repository: Path, pages):
    for path, text in pages.items():
        assert (repository / "docs" / path).read_text("utf-8") == text, f"{path}: `make reference`"


def test_the_server_settings_page_has_each_setting_with_its_meaning(pages):
    page = pages["reference/server-settings.md"]
    for model in (Settings, LimitSettings):
        described = reference_pages.attribute_docstrings(model)
        assert list(described) == list(model.model_fields)
        for name, meaning in described.items():
            assert re.search(rf"^\| `{name}` \|.*{re.escape(meaning[:20])}", page, re.M), name


def test_the_training_settings_page_has_each_setting_with_its_meaning(pages):
    page = pages["reference/train-settings.md"]
    for name in set(TrainConfig.model_fields) - {"training"}:
        section = TrainConfig.model_fields[name].annotation
        for setting in section.model_fields:
            assert re.search(rf"^\| `{setting}` \| [^|]+\. \|", page, re.M), setting


def test_the_contract_page_has_each_message_field_and_value(pages):
    page = pages["reference/contract.md"]
    for name, message in CONTRACT_MESSAGES.items():
        assert f"### {name}\n" in page
        for field in message.fields:
            if not message.GetOptions().map_entry:
                assert re.search(rf"^\| `{field.name}` \|.+\S \| {field.number} \|$", page, re.M), (
                    field
                )
    for name, enumeration in CONTRACT_ENUMS.items():
        assert f"### {name}\n" in page
        for value in enumeration.values:
            assert re.search(rf"^\| `{value.name}` \| .+ \| {value.number} \|$", page, re.M)


def test_the_adapters_page_has_each_variable(repository: Path):
    page = (repository / "docs" / "how-to" / "adapters.md").read_text()
    for name in AdapterSettings.model_fields:
        assert f"`{PREFIX}{name.upper()}`" in page


def test_the_python_page_has_each_public_name(pages):
    for name in trainer_client.__all__:
        assert f"\n### `trainer_client.{name}`\n" in pages["reference/python.md"]


def test_the_python_page_has_each_option_of_a_remote_reward_with_its_default(pages):
    for option in RemoteRewardOptions.__annotations__:
        assert re.search(rf"\b{option}: [^,]+ = [^,]+[,)]", pages["reference/python.md"]), option


def test_each_decision_has_a_number_of_its_own():
    numbers = [number for _, number, _ in site_hook.decisions()]
    assert len(numbers) == len(set(numbers))


def test_a_decision_in_a_text_becomes_a_link_unless_it_is_one():
    link = "[decision 20](../decisions/judging-python.md#decision-20)"
    page = SimpleNamespace(file=SimpleNamespace(src_uri="concepts/judge.md"))
    for text in ("See decision 20.", f"See {link}."):
        shown = site_hook.on_page_markdown(text, page=page, config=None, files=None)
        assert shown == f"See {link}."
