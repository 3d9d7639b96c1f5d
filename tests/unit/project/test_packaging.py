"""What users install: a wheel that is complete, small to import, and split along its seams."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

PACKAGES = {
    "codereward": "proto/codereward",
    "codereward_env": "codereward_env",
    "reward_server": "reward_server",
    "trainer_client": "trainer_client",
}


@pytest.fixture(scope="module")
def wheel(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder which holds the unpacked wheel of this checkout."""
    built = tmp_path_factory.mktemp("built")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", built]
    subprocess.run(command, cwd=repository, check=True, capture_output=True)
    unpacked = tmp_path_factory.mktemp("unpacked")
    zipfile.ZipFile(next(built.glob("codereward-*.whl"))).extractall(unpacked)
    return unpacked


def run_python(code: str, folder: Path) -> str:
    """Runs code in an interpreter that looks into `folder` first; answers with its output."""
    start = f"import sys; sys.path.insert(0, {str(folder)!r})\n"
    command = [sys.executable, "-I", "-c", start + code]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def sources(folder: Path) -> set[Path]:
    """Lists a package's files, but for caches."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder) for path in files if "__pycache__" not in path.parts}


@pytest.mark.parametrize("name", PACKAGES)
def test_the_wheel_holds_every_file_of_a_package(name: str, wheel: Path, repository: Path):
    assert sources(wheel / name) == sources(repository / PACKAGES[name])


@pytest.mark.parametrize("name", PACKAGES)
def test_type_checkers_are_told_of_the_annotations(name: str, wheel: Path):
    assert (wheel / name / "py.typed").is_file()


def test_the_wheel_holds_nothing_but_the_packages_the_images_and_the_licence(wheel: Path):
    metadata = "codereward-0.1.0.dist-info"
    assert {path.name for path in wheel.iterdir()} == {*PACKAGES, "sandbox_images", metadata}
    assert (wheel / metadata / "licenses" / "LICENSE").is_file()


def test_an_installed_package_finds_the_files_that_images_are_built_of(
    wheel: Path, repository: Path
):
    assert sources(wheel / "sandbox_images") == sources(repository / "sandbox_images")
    program = "from reward_server.sandbox.docker import images; print(images.IMAGES)"
    printed = run_python(program, wheel)
    assert Path(printed.strip()) == wheel / "sandbox_images"


@pytest.mark.parametrize("name", sorted(PACKAGES.keys() - {"codereward_env"}))
def test_the_packages_of_the_wheel_are_imported_from_the_wheel(name: str, wheel: Path):
    printed = run_python(f"import {name}; print({name}.__file__)", wheel)
    assert Path(printed.strip()) == wheel / name / "__init__.py"


def test_each_command_names_something_that_can_be_called(wheel: Path, repository: Path):
    scripts = tomllib.loads((repository / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts.pop("codereward-env") == "codereward_env.server.app:main"
    with pytest.raises(subprocess.CalledProcessError) as failed:  # without its extra
        run_python("import codereward_env.server.app", wheel)
    assert "pip install 'codereward[openenv]'" in failed.value.stderr
    for target in scripts.values():
        module, function = target.split(":")
        assert run_python(f"import {module} as m; print(callable(m.{function}))", wheel) == "True\n"


@pytest.mark.parametrize("module", ["reward_server.cli", "trainer_client"])
def test_the_core_imports_nothing_that_an_extra_brings(module: str, wheel: Path):
    extras = {"datasets", "docker", "numpy", "opentelemetry", "ray", "torch", "transformers", "trl"}
    printed = run_python(f"import sys, {module}; print(*sorted(sys.modules))", wheel)
    assert extras.isdisjoint(printed.split())


def test_the_client_does_not_load_the_server(wheel: Path):
    printed = run_python("import sys, trainer_client; print(*sorted(sys.modules))", wheel)
    assert "reward_server" not in printed.split()


def imported_modules(source: Path) -> set[str]:
    """Lists the top-level modules that a file imports anywhere in it; "" for a relative import."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").split(".")[0] if node.level == 0 else "")
    return found


def test_the_runner_imports_only_the_standard_library_and_itself(repository: Path):
    allowed = {*sys.stdlib_module_names, "reward_server", ""}
    # It is imported where pytest is there to be driven, and nowhere else.
    drivers = {"pytest_driver.py": {"pytest"}}
    for source in (repository / "reward_server" / "runner").rglob("*.py"):
        assert imported_modules(source) <= allowed | drivers.get(source.name, set()), source.name
