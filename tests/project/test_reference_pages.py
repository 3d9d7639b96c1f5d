"""The committed reference pages are what the code makes, and have all of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import trainer_client
from codereward.v1 import reward_service_pb2, session_service_pb2
from reward_server.settings import LimitSettings, Settings
from scripts import promises_page, reference_pages
from trainer_client.rewards.execution import RemoteRewardOptions
from trainer_client.trl.settings.configuration import TrainConfig

CONTRACTS = (reward_service_pb2.DESCRIPTOR, session_service_pb2.DESCRIPTOR)
CONTRACT_MESSAGES = {k: v for one in CONTRACTS for k, v in one.message_types_by_name.items()}
CONTRACT_ENUMS = {k: v for one in CONTRACTS for k, v in one.enum_types_by_name.items()}


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """Returns the reference pages as the code makes them, by path."""
    return reference_pages.pages()


def test_the_reference_pages_are_what_the_code_makes(repository: Path, pages):
    for path, text in pages.items():
        assert (repository / "docs" / path).read_text("utf-8") == text, f"{path}: `make reference`"


def test_the_specification_has_few_words_for_each_promise_and_names_a_test(pages):
    page = pages["concepts/specification.md"]
    assert len(page.split()) <= 1500
    lines = [line for line in page.splitlines() if line.startswith("- ")]
    assert len(lines) > 70
    for line in lines:
        assert re.fullmatch(r"- \S.*\. (`tests/[\w/]+\.py(::\w+)?`(, )?)+", line), line


def test_a_promise_of_an_unknown_area_or_without_one_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(promises_page, "REPOSITORY", tmp_path)
    file = tmp_path / "tests" / "test_it.py"
    file.parent.mkdir()
    for arguments in ('"It holds.", "Nowhere"', '"It holds."', "TEXT, AREA"):
        file.write_text(f"@pytest.mark.promise({arguments})\ndef test_it(): pass\n")
        with pytest.raises((KeyError, ValueError)):
            promises_page.promises_page()


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


def test_the_python_page_has_each_public_name(pages):
    for name in trainer_client.__all__:
        assert f"\n### `trainer_client.{name}`\n" in pages["reference/python.md"]


def test_the_python_page_has_each_option_of_a_remote_reward_with_its_default(pages):
    for option in RemoteRewardOptions.__annotations__:
        assert re.search(rf"\b{option}: [^,]+ = [^,]+[,)]", pages["reference/python.md"]), option
