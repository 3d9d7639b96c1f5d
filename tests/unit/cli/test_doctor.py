from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from reward_server.domain import Wall
from reward_server.errors import SettingsError
from reward_server.sandbox.local import backend as local_backend
from reward_server.sandbox.local.container import LocalOptions
from reward_server.sandbox.walls import WALLS

# The package offers the command under the module's name.
doctor_module = importlib.import_module("reward_server.cli.doctor")

Doctor = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Doctor:
    """Runs the command on a host on which some walls are missing."""
    app = typer.Typer()
    app.command()(doctor_module.doctor)
    monkeypatch.setenv("COLUMNS", "200")

    def runner(*arguments: str, missing: tuple[str, ...] = ()) -> Result:
        async def probe(_parent: str | None, _options: LocalOptions) -> tuple[Wall, ...]:
            return tuple(
                Wall(name=kind.name, standing=kind.name not in missing, detail="[Errno 1] because")
                for kind in WALLS
            )

        monkeypatch.setattr(local_backend, "probe", probe)
        return CliRunner().invoke(app, list(arguments))

    return runner


def test_a_safe_host_is_called_safe(run: Doctor) -> None:
    result = run()
    assert result.exit_code == 0
    assert "can be run safely" in result.output
    assert all(kind.name in result.output for kind in WALLS)


def test_a_missing_wall_is_named_with_its_reason_and_its_waiver(run: Doctor) -> None:
    result = run(missing=("memory-limit", "bubblewrap"))
    assert result.exit_code == 1
    assert "would refuse to start: bubblewrap, memory-limit missing" in result.output
    assert "--allow-missing memory-limit\n" in result.output
    assert "[Errno 1] because" in result.output
    assert "cannot be waived" in result.output


def test_an_extra_wall_is_not_missed(run: Doctor) -> None:
    result = run(missing=("landlock",))
    assert result.exit_code == 0
    assert "missing, accepted" in result.output


def test_an_accepted_risk_is_shown_and_passes(run: Doctor) -> None:
    result = run("--allow-missing", "memory-limit,seccomp", missing=("memory-limit", "seccomp"))
    assert result.exit_code == 0
    assert result.output.count("missing, accepted") == 2


def test_programs_get_one_json_object(run: Doctor) -> None:
    result = run("--json", missing=("process-limit",))
    told = json.loads(result.output)
    assert (result.exit_code, told["ok"], told["refused"]) == (1, False, ["process-limit"])
    wall = next(wall for wall in told["walls"] if wall["name"] == "process-limit")
    assert (wall["standing"], wall["need"]) == (False, "waivable")
    assert {one["name"] for one in told["timings"]} >= {"cores", "governor", "swap"}


def test_a_wall_that_cannot_be_waived_is_a_wrong_setting(run: Doctor) -> None:
    result = run("--allow-missing", "bubblewrap")
    assert isinstance(result.exception, SettingsError)
    assert "bubblewrap cannot be waived" in str(result.exception)


def test_the_container_tried_is_the_one_that_the_server_would_use(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tried = []

    async def probe(parent: str | None, options: LocalOptions) -> tuple[Wall, ...]:
        tried.append((parent, options))
        return ()

    monkeypatch.setattr(local_backend, "probe", probe)
    app = typer.Typer()
    app.command()(doctor_module.doctor)
    given = (f"sandbox_packages={tmp_path}", "sandbox_uid=4321", "cgroup_parent=/own")
    result = CliRunner().invoke(app, [text for one in given for text in ("--set", one)])
    assert result.exit_code == 0
    [(parent, options)] = tried
    assert (parent, options.packages, options.uid) == ("/own", (str(tmp_path),), 4321)
    assert "/usr/include" in options.paths


def test_a_folder_of_packages_that_is_none_is_a_wrong_setting(run: Doctor) -> None:
    result = run("--set", "sandbox_packages=/nonexistent")
    assert isinstance(result.exception, SettingsError)
    assert "/nonexistent is no folder" in str(result.exception)


def test_any_setting_can_be_given(run: Doctor) -> None:
    result = run("--json", "--workers", "1000", "--set", "cgroup_parent=/nowhere")
    cores = next(one for one in json.loads(result.output)["timings"] if one["name"] == "cores")
    assert not cores["fine"]
