from __future__ import annotations

import importlib
import json
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from reward_server.domain import Wall
from reward_server.errors import SettingsError
from reward_server.grading.crossing import crossing
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


def test_tests_that_are_shared_for_want_of_a_package_are_named(
    run: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert json.loads(run("--json").output)["shared"] == ""
    monkeypatch.setattr(crossing, "find_spec", lambda name: None)
    told = run("--set", "languages=python,java,go")
    assert told.exit_code == 0
    assert "Integrity: test programs in java, go run beside the solution" in told.output
    assert "install the extra [compiled]" in told.output
    assert "Integrity" not in run("--set", "languages=python").output


def test_a_folder_of_packages_that_is_none_is_a_wrong_setting(run: Doctor) -> None:
    result = run("--set", "sandbox_packages=/nonexistent")
    assert isinstance(result.exception, SettingsError)
    assert "/nonexistent is no folder" in str(result.exception)


def test_any_setting_can_be_given(run: Doctor) -> None:
    result = run("--json", "--workers", "1000", "--set", "cgroup_parent=/nowhere")
    cores = next(one for one in json.loads(result.output)["timings"] if one["name"] == "cores")
    assert not cores["fine"]


def test_without_a_port_there_are_no_doors_to_examine(run: Doctor) -> None:
    (finding,) = json.loads(run("--json").output)["http_doors"]
    assert (finding["name"], finding["fine"]) == ("http_port", True)


def test_doors_that_can_be_opened_are_fine(run: Doctor) -> None:
    result = run("--json", "--set", "http_port=0")
    assert result.exit_code == 0
    found = {one["name"]: one["fine"] for one in json.loads(result.output)["http_doors"]}
    assert found == {"packages": True, "http_port": True, "access": True}


def test_a_port_that_is_taken_is_named_with_a_remedy(run: Doctor) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = run("--json", "--set", f"http_port={taken.getsockname()[1]}")
        shown = run("--set", f"http_port={taken.getsockname()[1]}")
    assert (result.exit_code, shown.exit_code) == (1, 1)
    (wrong,) = (one for one in json.loads(result.output)["http_doors"] if not one["fine"])
    assert wrong["name"] == "http_port"
    assert "another http_port" in wrong["remedy"]
    assert "The HTTP doors would not open: http_port." in shown.output
    assert "can be run safely" in shown.output


def test_an_address_of_another_machine_is_named_with_a_remedy(run: Doctor) -> None:
    options = ("http_port=0", "http_host=192.0.2.1", "insecure_public=true")
    result = run("--json", *(word for one in options for word in ("--set", one)))
    (wrong,) = (one for one in json.loads(result.output)["http_doors"] if not one["fine"])
    assert "http_host" in wrong["remedy"]


def test_doors_to_other_machines_have_the_rules_of_serve(run: Doctor) -> None:
    result = run("--set", "http_port=0", "--set", "http_host=0.0.0.0")
    assert isinstance(result.exception, SettingsError)
    assert "tls_certificate" in str(result.exception)


def test_a_token_file_without_tokens_keeps_doors_shut(run: Doctor, tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text("")
    result = run("--json", "--set", "http_port=0", "--set", f"token_file={tmp_path / 'tokens'}")
    (wrong,) = (one for one in json.loads(result.output)["http_doors"] if not one["fine"])
    assert (wrong["name"], result.exit_code) == ("access", 1)


def test_a_missing_extra_is_named_with_its_command(
    run: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "reward_server.http.doors", None)
    result = run("--json", "--set", "http_port=0")
    (wrong,) = (one for one in json.loads(result.output)["http_doors"] if not one["fine"])
    assert wrong["remedy"] == "pip install 'codereward[http]'"
