"""What users install: a wheel that is complete, small to import, and split along its seams."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from codereward import build

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
    added = {Path(build.RECORD)} if name == "codereward" else set()
    assert sources(wheel / name) == sources(repository / PACKAGES[name]) | added


def test_the_wheel_knows_the_commit_that_it_was_built_of(wheel: Path, repository: Path):
    program = "from codereward import build; print(build.commit())"
    assert run_python(program, wheel).strip() == str(build.commit_of(repository))


@pytest.mark.parametrize(
    ("given", "known"), [("", "commit unknown"), ("abc 2026-11-28", "commit abc, 2026-11-28")]
)
def test_a_copy_without_the_repository_knows_only_the_commit_that_it_is_given(
    repository: Path, tmp_path: Path, given: str, known: str
):
    copy = tmp_path / "copy"
    kept = shutil.ignore_patterns("__pycache__", "site-packages")
    for name in (*PACKAGES.values(), "sandbox_images"):
        shutil.copytree(repository / name, copy / name, ignore=kept)
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(repository / name, copy)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path]
    environment = {**os.environ, "BUILD_COMMIT": given}
    subprocess.run(command, cwd=copy, check=True, capture_output=True, env=environment)
    zipfile.ZipFile(next(tmp_path.glob("*.whl"))).extractall(tmp_path / "unpacked")
    program = "from codereward import build; print(build.commit())"
    assert run_python(program, tmp_path / "unpacked").strip() == known


def test_the_wheel_of_a_source_distribution_knows_its_commit(repository: Path, tmp_path: Path):
    build_it = [sys.executable, "-m", "hatchling", "build", "-d", tmp_path, "-t"]
    subprocess.run([*build_it, "sdist"], cwd=repository, check=True, capture_output=True)
    archive = next(tmp_path.glob("*.tar.gz"))
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path, filter="data")
    folder = tmp_path / archive.name.removesuffix(".tar.gz")
    subprocess.run([*build_it, "wheel"], cwd=folder, check=True, capture_output=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel_file:
        record = wheel_file.read(f"codereward/{build.RECORD}").decode()
    assert record == " ".join(build.commit_of(repository))


@pytest.mark.parametrize("name", PACKAGES)
def test_type_checkers_are_told_of_the_annotations(name: str, wheel: Path):
    assert (wheel / name / "py.typed").is_file()


def test_the_wheel_holds_nothing_but_the_packages_the_images_and_the_licence(wheel: Path):
    metadata = "codereward-0.2.0.dist-info"
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
    drivers = {"pytest_driver.py": {"pytest", "_pytest"}}
    for source in (repository / "reward_server" / "runner").rglob("*.py"):
        assert imported_modules(source) <= allowed | drivers.get(source.name, set()), source.name
