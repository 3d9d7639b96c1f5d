"""The command line lists its commands without importing what they need."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest
from typer.testing import CliRunner

from reward_server.cli import COMMANDS, application

# What a verdict needs and a container does not.
_REST = ("grpc", "google.protobuf", "reward_server.app", "reward_server.evaluation")
HEAVY = ("grpc", "pydantic", "prometheus_client", "docker", "reward_server.app")


def said(*arguments: str) -> str:
    result = CliRunner().invoke(application(list(arguments)), list(arguments))
    assert result.exit_code == 0, result.output
    return result.output


def test_every_command_is_listed_as_it_describes_itself() -> None:
    for name, summary in COMMANDS.items():
        command = getattr(import_module(f"reward_server.cli.{name}"), name, None)
        if command is not None:
            described = " ".join((command.__doc__ or "").partition("\n\n")[0].split())
            assert described == summary, name
        assert name in said("--help")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_is_named_shows_its_own_options(name: str) -> None:
    assert "--help" in said(name, "--help")
    options = {"serve": "--port", "grade": "--timeout", "images": "build"}
    assert options.get(name, "") in said(name, "--help")


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_the_version_is_told(option: str) -> None:
    assert "reward-server" in said(option)


def test_a_server_starts_containers_before_it_imports_the_rest_of_itself() -> None:
    code = (
        "import sys\nimport reward_server.cli.serve as serve\n"
        f"print(*(name for name in {_REST!r} if name in sys.modules))\n"
        "__import__(serve._REST)\n"
        f"print(*(name for name in {_REST!r} if name in sys.modules))\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["", " ".join(_REST)]


def test_no_search_for_garbage_looks_at_what_a_command_imports() -> None:
    code = (
        "import gc, sys\nsys.argv = ['reward-server', 'doctor', '--help']\n"
        "from reward_server.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(gc.isenabled(), gc.get_freeze_count() > len(gc.get_objects()))\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "True True"


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_the_list_of_commands_and_the_version_import_nothing_heavy(option: str) -> None:
    code = (
        f"import sys\nsys.argv = ['reward-server', {option!r}]\n"
        "from reward_server.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        f"print('heavy:', *(name for name in {HEAVY!r} if name in sys.modules))\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1].strip() == "heavy:"
