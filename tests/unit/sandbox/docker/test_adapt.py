"""What an image has to be like for its repository to be moved, and for its packages to be read."""

from __future__ import annotations

import ast
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from reward_server.runner.walls import policy
from reward_server.sandbox.docker import images
from reward_server.sandbox.docker.repositories import REPOSITORY_FOLDER


@pytest.fixture
def adapt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Returns the script, with the folders of an image in a temporary one."""
    spec = importlib.util.spec_from_file_location("adapt", images.IMAGES / "adapt.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert (script.KEPT, script.WORK_FOLDER) == (REPOSITORY_FOLDER, policy.WORK_FOLDER)
    monkeypatch.setattr(script, "HOME", str(tmp_path / "home"))
    monkeypatch.setattr(script, "KEPT", str(tmp_path / "home" / "repository"))
    (tmp_path / "home").mkdir()
    return script


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns the only folder of packages of this interpreter, which others can read."""
    folder = tmp_path / "packages"
    folder.mkdir()
    folder.chmod(0o755)
    monkeypatch.setattr(sys, "path", [str(folder), str(tmp_path / "absent")])
    return folder


def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "testbed"
    for path in ("src/shop.py", ".git/HEAD", "src/__pycache__/shop.pyc", "run.sh"):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(path)
        file.chmod(0o700 if path == "run.sh" else 0o600)
    (folder / "link").symlink_to("run.sh")
    return folder


def test_a_repository_is_moved_and_its_place_leads_to_the_working_folder(
    adapt: ModuleType, packages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = repository(tmp_path)
    monkeypatch.setattr(adapt, "check_readable", lambda path: None)
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder / "src")])
    adapt.main(str(folder), ["pytest"])
    assert str(folder.readlink()) == policy.WORK_FOLDER
    kept = Path(adapt.KEPT)
    found = {path.relative_to(kept).as_posix() for path in kept.rglob("*")}
    assert found == {"src", "src/shop.py", "run.sh", "link"}
    modes = [(kept / path).lstat().st_mode & 0o777 for path in ("src/shop.py", "run.sh", "src")]
    assert modes == [0o644, 0o755, (kept / "src").stat().st_mode & 0o777 | 0o555]
    assert (kept / "link").is_symlink()
    # What lies in the repository is no folder of packages: it is that of each execution.
    assert json.loads((tmp_path / "home" / "image.json").read_text()) == {
        "packages": [str(packages)],
        "preload": ["pytest"],
        "environment": {},
    }
    with pytest.raises(SystemExit, match="has a repository already"):
        adapt.main(str(repository(tmp_path / "other")), [])


def test_what_cannot_be_moved_is_refused(
    adapt: ModuleType, packages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapt, "check_readable", lambda path: None)
    folder = repository(tmp_path)
    monkeypatch.setattr(sys, "prefix", str(folder / ".venv"))
    with pytest.raises(SystemExit, match="install the interpreter and packages elsewhere"):
        adapt.main(str(folder), [])
    for place in ("/", "/usr", "/etc/apt", "/opt"):
        with pytest.raises(SystemExit, match=r"belongs to the system|is no folder"):
            adapt.main(place, [])
    with pytest.raises(SystemExit, match="is no folder of the image"):
        adapt.main(str(folder / "link"), [])
    assert folder.is_dir()
    assert not folder.is_symlink()


def test_packages_that_programs_cannot_read_are_refused(adapt: ModuleType, packages: Path) -> None:
    packages.parent.chmod(0o700)
    with pytest.raises(SystemExit, match=f"since {packages.parent} is closed"):
        adapt.main("", [])


def test_an_interpreter_that_is_too_old_is_refused_in_its_own_words(
    adapt: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 18))
    with pytest.raises(SystemExit, match=r"needs 3\.11 or later: name one by --python"):
        adapt.main("", [])
    ast.parse((images.IMAGES / "adapt.py").read_text(), feature_version=(3, 6))
