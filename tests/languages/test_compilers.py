"""Compilers of the host with a folder of prepared files: what a local container shows and uses."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from reward_server.app import App, running_app
from reward_server.backends import compiler_circumstances
from reward_server.domain import StdioCase, StdioTests, Verdict
from reward_server.errors import SettingsError
from reward_server.languages import load_languages
from reward_server.sandbox.local import compilers
from reward_server.settings import Settings
from tests.languages.test_languages import judge
from tests.support.tools import needs

pytestmark = [
    needs("g++", "javac"),
]
in_loop = pytest.mark.asyncio(loop_scope="module")
WARM = Path(__file__).parents[2] / "sandbox_images/jvm/warm/Warm.java"
CPP = """#include <string>
#include <cstdio>
#ifdef READ_BEFOREHAND
#define WORD "read beforehand"
#else
#define WORD "read"
#endif
int main() { std::string word = WORD; std::puts(word.c_str()); }
"""
JAVA = """import java.nio.file.*;
public class Main {
    public static void main(String[] arguments) throws Exception {
        System.out.println(Files.readString(Path.of("/proc/self/maps")).contains("java.jsa"));
    }
}
"""
LOOK = """import os
print(os.access({folder!r} + "/java.jsa", os.W_OK), {host!r} in open("/proc/self/mountinfo").read())
print(sorted(os.listdir({folder!r})))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Makes a folder of prepared files, with one header, which also defines a name."""
    made = tmp_path_factory.mktemp("prepared") / "compilers"
    mark = made.with_name("mark.hpp")
    mark.write_text("#define READ_BEFOREHAND\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compilers, "HEADERS", ("string",))
        patch.setattr(compilers, "_PRECOMPILE", (*compilers._PRECOMPILE, "-include", str(mark)))
        assert compilers.make(made, WARM) == ("C++", "Java")
    return made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def app(folder: Path) -> AsyncIterator[App]:
    async with running_app(Settings(port=0, workers=1, compiler_folder=folder)) as app:
        yield app


async def passes(app: App, language: str, source: str, expected: str) -> bool:
    tests = StdioTests(cases=(StdioCase(stdin=b"", expected_stdout=expected.encode()),))
    said = await judge(app, load_languages().find(language), source, tests)
    assert said.verdict in (Verdict.PASSED, Verdict.FAILED), said
    return said.verdict is Verdict.PASSED


@in_loop
async def test_a_header_is_not_parsed_again_if_the_dialect_is_the_same(app: App) -> None:
    assert await passes(app, "c++17", CPP, "read beforehand\n")
    assert await passes(app, "c++20", CPP, "read\n")


@in_loop
async def test_a_header_is_parsed_if_a_macro_before_it_may_change_it(app: App) -> None:
    assert await passes(app, "c++17", f"#define _GLIBCXX_ASSERTIONS 1\n{CPP}", "read\n")


@in_loop
async def test_javas_classes_come_from_the_archive(app: App) -> None:
    assert await passes(app, "java", JAVA, "true\n")


@in_loop
async def test_programs_see_neither_where_the_files_lie_nor_can_they_change_them(
    app: App, folder: Path
) -> None:
    source = LOOK.format(folder=compilers.FOLDER, host=str(folder))
    files = ["bin", "java.jsa", "linker", "made-of.json"]
    assert await passes(app, "python", source, f"False False\n{files}\n")


def test_programs_are_linked_by_gold(folder: Path) -> None:
    gold = shutil.which("ld.gold")
    assert os.path.lexists(folder / "linker/ld") == (gold is not None)


@pytest.mark.parametrize("part", ["", "bin", "bin/javac", "java.jsa"])
def test_a_folder_that_others_can_write_is_refused(folder: Path, part: str) -> None:
    path = folder / part
    mode = path.stat().st_mode
    compilers.check(folder)
    path.chmod(mode | 0o002)
    try:
        with pytest.raises(SettingsError, match="others can write"):
            compilers.check(folder)
    finally:
        path.chmod(mode)


def test_a_folder_that_others_can_replace_is_refused(folder: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(folder)
    compilers.check(link)
    for place, mode in ((folder, 0o777), (folder.parent, 0o777)):
        before = place.stat().st_mode
        place.chmod(mode)
        try:
            with pytest.raises(SettingsError, match="others can write"):
                compilers.check(link)
        finally:
            place.chmod(before)
    before = folder.parent.stat().st_mode
    folder.parent.chmod(0o1777)
    try:
        compilers.check(link)
    finally:
        folder.parent.chmod(before)


def test_a_folder_of_other_compilers_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="reward-server compilers"):
        compilers.check(tmp_path)
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-a", folder, copy], check=True)
    (copy / "made-of.json").write_text('{"/usr/bin/g++": [1, 1]}')
    with pytest.raises(SettingsError, match="is of other compilers"):
        compilers.check(copy)


def test_only_an_earlier_folder_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("")
    with pytest.raises(SettingsError, match="holds something else"):
        compilers.make(tmp_path, WARM)
    assert (tmp_path / "mine").exists()


@in_loop
async def test_a_server_finds_the_folder_that_its_user_made(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compilers, "usual_folder", lambda: folder)
    settings = Settings(port=0, workers=1, languages=("c++17", "python"))
    (found,) = compiler_circumstances(settings)
    assert (found.fine, found.remedy) == (True, "")
    async with running_app(settings) as app:
        assert await passes(app, "c++17", CPP, "read beforehand\n")


@in_loop
async def test_a_server_does_without_a_folder_that_others_can_write(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "shared" / "copy"
    copy.parent.mkdir()
    shutil.copytree(folder, copy, symlinks=True)
    monkeypatch.setattr(compilers, "usual_folder", lambda: copy)
    assert compilers.chosen(None)[0] == copy
    copy.parent.chmod(0o777)
    settings = Settings(port=0, workers=1, languages=("c++17", "python"))
    (found,) = compiler_circumstances(settings)
    assert not found.fine
    assert "others could replace" in found.detail
    assert "reward-server compilers" in found.remedy
    async with running_app(settings) as app:
        assert await passes(app, "c++17", CPP, "read\n")
