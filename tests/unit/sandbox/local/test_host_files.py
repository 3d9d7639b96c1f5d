"""What a local container shows of a host: packages go, by whatever hands they were installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from reward_server.sandbox.local import host_files


def tree(root: Path, *files: str) -> None:
    for name in files:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")


def hidden(root: Path, *shown: str, closed: bool = False) -> set[str]:
    paths = [str(root / name) for name in shown]
    found = host_files._hidden(str(root), paths, closed=closed)
    return {str(Path(path).relative_to(root)) for path in found}


@pytest.fixture(autouse=True)
def no_memory_of_the_module_path() -> None:
    host_files._importable.cache_clear()


@pytest.mark.parametrize(
    "folder",
    [
        "python3/dist-packages",
        "python3.12/site-packages",
        "llvm-14/lib/python3/dist-packages",
        "sdk/platform/bundled/lib/python3.12/site-packages",
        "node_modules",
        "R/site-library",
        "ruby/vendor_ruby",
        "ruby/gems",
        "perl/vendor_perl",
        "haskell-packages",
    ],
)
def test_folders_of_packages_are_hidden_at_any_depth(tmp_path: Path, folder: str) -> None:
    tree(tmp_path, f"{folder}/solution/answers.py", "x/kept.so")
    assert hidden(tmp_path) == {folder}


def test_a_closed_folder_shows_what_is_listed_and_nothing_else(tmp_path: Path) -> None:
    tree(tmp_path, "gcc/12/cc1", "sdk/third_party/requests.py", "jvm/bin/java", "notes.txt")
    assert hidden(tmp_path, "gcc", "jvm", closed=True) == {"sdk", "notes.txt"}


def test_packages_inside_what_is_listed_are_hidden_all_the_same(tmp_path: Path) -> None:
    tree(tmp_path, "R/library/base/R", "R/site-library/answers/R")
    assert hidden(tmp_path, "R", closed=True) == {"R/site-library"}


def test_a_listed_package_is_shown_without_its_neighbours(tmp_path: Path) -> None:
    names = ("typescript/lib/tsc.js", "npm/index.js", "@types/node/index.d.ts", "@types/x/x.d.ts")
    tree(tmp_path, *(f"node_modules/{name}" for name in names))
    listed = ("node_modules/typescript", "node_modules/@types/node")
    assert hidden(tmp_path, *listed) == {"node_modules/npm", "node_modules/@types/x"}
    assert hidden(tmp_path, *listed, closed=True) == {"node_modules/npm", "node_modules/@types/x"}


def test_a_name_that_begins_like_a_listed_one_is_not_it(tmp_path: Path) -> None:
    tree(tmp_path, "node_modules/typescript/a", "node_modules/typescript-answers/a")
    assert hidden(tmp_path, "node_modules/typescript") == {"node_modules/typescript-answers"}


def test_what_the_server_imports_from_is_hidden_by_whatever_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as an editable installation, a path file's folder, PYTHONPATH."""
    tree(tmp_path, "work/src/answers.py", "work/docs/a")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "work/src")])
    assert hidden(tmp_path) == {"work/src"}


def test_a_link_is_neither_followed_nor_a_way_in(tmp_path: Path) -> None:
    tree(tmp_path, "python3/dist-packages/a.py")
    (tmp_path / "alias").symlink_to(tmp_path / "python3")
    assert hidden(tmp_path) == {"python3/dist-packages"}


def test_of_the_interpreter_its_program_its_libraries_and_its_modules_are_shown() -> None:
    seen = {view.target: view for view in host_files._interpreter_views()}
    if not host_files._is_moved():
        assert seen == {}
        return
    assert set(seen) == {"/opt/codereward/python/bin", "/opt/codereward/python/lib"}
    library = Path(host_files._standard_library()).name
    assert f"{library}/site-packages" in seen["/opt/codereward/python/lib"].hidden
    programs = Path(seen["/opt/codereward/python/bin"].source)
    left = {path.name for path in programs.iterdir()} - set(
        seen["/opt/codereward/python/bin"].hidden
    )
    assert all((programs / name).resolve() == Path(sys.executable).resolve() for name in left)


def test_every_library_that_a_program_can_load_from_the_interpreter_is_shown() -> None:
    """Such as a libssl of its own, beside which the interpreter was built."""
    code = (
        "import ctypes, decimal, lzma, sqlite3, ssl, zlib\n"
        "print(*(line.split(None, 5)[5] for line in open('/proc/self/maps') if '/' in line))\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {path for path in ran.stdout.split() if ".so" in path}
    own = {path for path in loaded if path.startswith(f"{host_files._prefix()}/")}
    assert own
    assert own <= set(host_files._own_libraries())


def test_an_interpreter_without_ctypes_lists_its_libraries_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with_ctypes = set(host_files._own_libraries())
    without = f"import sys; sys.modules['_ctypes'] = None\n{host_files._LIST_MAPPED}"
    monkeypatch.setattr(host_files, "_LIST_MAPPED", without)
    missed = with_ctypes - set(host_files._own_libraries.__wrapped__())
    assert not [path for path in missed if "ffi" not in path and "_ctypes" not in path]


def test_listed_paths_are_patterns_and_those_of_packages_are_no_views() -> None:
    seen = {view.source for view in host_files.views(("/usr/lib/gc*", "/usr/share/zone*"), ())}
    assert "/usr/share/zoneinfo" in seen
    assert "/usr/lib/gcc" not in seen
    gone = next(view for view in host_files.views((), ()) if view.source == "/usr/lib").hidden
    assert "gcc" not in gone
