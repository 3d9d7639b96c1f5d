"""A written configuration names every setting, reads as the defaults, and fits its schema."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from typer.testing import CliRunner

from trainer_client.errors import ConfigError
from trainer_client.trl.command import _app
from trainer_client.trl.settings.configuration import TrainConfig, load_config
from trainer_client.trl.settings.template import described_schema, meanings, write_template


@pytest.fixture
def given(tmp_path: Path) -> dict[str, str]:
    rows = tmp_path / "rows.jsonl"
    rows.write_text("")
    return {"model.path": "a/model", "data.kind": "mbpp", "data.path": str(rows)}


def test_a_written_configuration_is_read_as_the_defaults(
    tmp_path: Path, given: dict[str, str], jsonschema: ModuleType
) -> None:
    schema = write_template(tmp_path / "run.toml", given)
    read = load_config(tmp_path / "run.toml", {})
    assert read.model_dump(exclude={"training"}) == load_config(None, given).model_dump(
        exclude={"training"}
    )
    text = (tmp_path / "run.toml").read_text()
    jsonschema.validate(tomllib.loads(text), json.loads(schema.read_text()))
    assert text.startswith("#:schema ./run.schema.json\n")


def test_every_setting_is_named_with_its_meaning(tmp_path: Path, given: dict[str, str]) -> None:
    write_template(tmp_path / "run.toml", given)
    lines = (tmp_path / "run.toml").read_text().splitlines()
    assert max(map(len, lines)) <= 120
    for section, field in TrainConfig.model_fields.items():
        if section == "training":
            continue
        assert f"[{section}]" in lines
        assert isinstance(field.annotation, type)
        for key in field.annotation.model_fields:
            assert meanings(field.annotation)[key]
            (line,) = [one for one in lines if one.startswith((f"{key} = ", f"# {key} = "))][:1]
            assert line


@pytest.mark.parametrize(
    "wrong",
    [
        {"model": {"path": 1}},
        {"model": {"path": "m"}, "data": {"kind": "nothing"}},
        {"model": {"path": "m"}, "data": {"kind": "mbpp"}, "rewards": {}},
        {"model": {"path": "m"}, "data": {"kind": "mbpp"}, "reward": {"compile_bonus": 2}},
    ],
)
def test_the_schema_refuses_what_the_command_refuses(
    wrong: dict[str, object], jsonschema: ModuleType
) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, described_schema())


def test_each_setting_in_the_schema_is_described() -> None:
    for name, model in described_schema()["$defs"].items():
        assert model["description"], name
        for key, setting in model["properties"].items():
            assert setting["description"], f"{name}.{key}"


def test_an_existing_file_stays(tmp_path: Path) -> None:
    for name in ("run.toml", "run.schema.json"):
        (tmp_path / name).write_text("mine")
        with pytest.raises(ConfigError, match=f"{name}: exists already"):
            write_template(tmp_path / "run.toml", {})
        assert [one.name for one in tmp_path.iterdir()] == [name]
        assert (tmp_path / name).read_text() == "mine"
        (tmp_path / name).unlink()


def test_the_command_writes_both_files_and_names_what_is_missing(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    done = CliRunner().invoke(_app, ["init", str(file), "--model", "m"])
    assert done.exit_code == 0, done.output
    with pytest.raises(ConfigError, match=r"data\.kind"):
        load_config(file, {})
    refused = CliRunner().invoke(_app, ["init", str(tmp_path / "run.yaml")])
    assert refused.exit_code == 2
