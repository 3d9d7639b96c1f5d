"""A test that needs what is not here is skipped, and the end of a run counts the reasons."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import tools

SUITE = """
import pytest
from tests.support.tools import needs, require

@needs("no-such-program")
def test_marked(): pass

def test_asking(): require("sh", "no-such-program")

@needs("sh plugin-that-is-not-there")
def test_plugin(): pass

@pytest.fixture
def server(): require("sh", "other")

@pytest.mark.parametrize("number", range(3))
def test_of_a_fixture(server, number): pass

@needs("sh")
def test_running(): pass
"""


@pytest.mark.parametrize("processes", [(), ("-p", "xdist", "-n", "1")])
def test_the_last_lines_count_what_was_absent(
    processes: tuple[str, ...], tmp_path: Path, repository: Path
) -> None:
    (tmp_path / "test_suite.py").write_text(SUITE)
    options = ("-p", "tests.support.tools", "-p", "no:cacheprovider", "-c", os.devnull, *processes)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, f"--rootdir={tmp_path}", str(tmp_path)],
        cwd=repository,
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    *_, counted, ending = done.stdout.splitlines()
    reasons = "3 no other, 2 no no-such-program, 1 no sh plugin-that-is-not-there"
    assert counted == f"skipped: {reasons}"
    assert "1 passed, 6 skipped" in ending


def test_a_languages_program_counts_only_where_sandboxes_see_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("rustc", "haproxy"):
        shutil.copy("/bin/true", tmp_path / name)
    monkeypatch.setattr(tools, "FOLDERS", str(tmp_path))
    monkeypatch.setattr(tools, "shows_all", lambda programs: False)
    tools.find.cache_clear()
    assert tools.find("haproxy") == str(tmp_path / "haproxy")
    assert tools.find("rustc") is None
    assert tools.offered("python", "rust") == ("python",)
    tools.find.cache_clear()


def test_tests_ask_for_programs_at_one_place_alone(repository: Path) -> None:
    # One has kinds of work that it leaves out, the other looks at a linker that it may not use.
    apart = {"support/tools.py", "scale/soak_kinds.py", "languages/test_compilers.py"}
    asks = "shutil." + "which("
    found = {path for path in (repository / "tests").rglob("*.py") if asks in path.read_text()}
    assert {path.relative_to(repository / "tests").as_posix() for path in found} == apart
