"""Which folder of prepared compilers a server uses, and what it tells its operator."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from reward_server.backends import compiler_circumstances
from reward_server.cli import compilers as command
from reward_server.errors import SettingsError
from reward_server.sandbox.local import compilers
from reward_server.settings import Settings
from tests.support.tools import needs


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns a folder as the command makes it, which is the usual one."""
    folder = tmp_path / "cache" / "compilers"
    (folder / "bin").mkdir(parents=True)
    (folder / "made-of.json").write_text(json.dumps(compilers._stamps(["/bin/sh"])))
    monkeypatch.setattr(compilers, "usual_folder", lambda: folder)
    return folder


def test_the_usual_folder_is_used_if_only_its_user_could_have_made_it(made: Path) -> None:
    folder, found = compilers.chosen(None)
    assert (folder, found.fine) == (made, True)


@pytest.mark.parametrize("place", ["", "..", "bin", "made-of.json"])
def test_a_folder_that_others_can_write_or_replace_is_not_used(made: Path, place: str) -> None:
    path = Path(os.path.normpath(made / place))
    path.chmod(path.stat().st_mode | 0o002)
    folder, found = compilers.chosen(None)
    assert (folder, found.fine) == (None, False)
    assert "others" in found.detail


def test_a_link_is_not_followed(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = made.with_name("link")
    link.symlink_to(made)
    monkeypatch.setattr(compilers, "usual_folder", lambda: link)
    assert compilers.chosen(None)[0] is None


@needs("root")  # which alone can give a folder away
@pytest.mark.parametrize("place", ["", ".."])
def test_a_folder_of_another_user_is_not_used(made: Path, place: str) -> None:
    os.chown(os.path.normpath(made / place), 12345, 12345)
    assert compilers.chosen(None)[0] is None


def test_a_folder_of_other_compilers_is_not_used_unless_it_is_named(made: Path) -> None:
    (made / "made-of.json").write_text(json.dumps({"/bin/sh": [1, 1]}))
    folder, found = compilers.chosen(None)
    assert folder is None
    assert "of other compilers" in found.detail
    with pytest.raises(SettingsError, match="of other compilers"):
        compilers.chosen(made)


def test_an_operator_learns_what_a_command_would_gain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compilers, "usual_folder", lambda: tmp_path / "none")
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    (found,) = compiler_circumstances(Settings(languages=("python", "java")))
    assert not found.fine
    assert "`reward-server compilers`" in found.remedy
    assert compiler_circumstances(Settings(languages=("python",))) == ()
    monkeypatch.setattr(shutil, "which", lambda name: None)
    (found,) = compiler_circumstances(Settings(languages=("c++",)))
    assert found.fine


def test_the_command_makes_the_folder_that_a_server_looks_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("HOME", str(tmp_path))
    wanted = tmp_path / ".cache/codereward/compilers"
    assert compilers.usual_folder() == wanted
    asked = list[Path]()

    def make(folder: Path, program: Path) -> tuple[str, ...]:
        asked.append(folder)
        return ("C++",)

    monkeypatch.setattr(command, "make", make)
    command.compilers(None)
    command.compilers(Path("mine"))
    assert asked == [wanted, Path("mine").absolute()]
