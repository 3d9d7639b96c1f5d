"""Changes of tests and of what decides how they run do not count; other changes do."""

from __future__ import annotations

import iniconfig
import pytest

from codereward.toml_text import MOST_CHARACTERS
from reward_server.grading.repository.protection import composed
from reward_server.grading.repository.tree import Tree

BASE = Tree(
    files={
        "pkg/__init__.py": b"",
        "pkg/core.py": b"old",
        "tests/test_core.py": b"base test",
        "tests/data.json": b"{}",
        "setup.cfg": b"[metadata]\nname = a\n",
        "pyproject.toml": b"[project]\nname = 'a'\n"
        b"[tool.pytest.ini_options]\nxfail_strict = true\n",
        "run.sh": b"#!/bin/sh\n",
    },
    executable=frozenset({"run.sh"}),
)
HIDDEN = {"tests/test_core.py": b"hidden test"}


def _composed(changes: dict[str, bytes], **options: object) -> dict[str, bytes]:
    changed = Tree(files={**BASE.files, **changes}, executable=BASE.executable)
    return dict(composed(BASE, changed, HIDDEN, **options).files)  # type: ignore[arg-type]


USUAL = _composed({})


def test_hidden_files_are_laid_over_the_repository() -> None:
    assert {**BASE.files, **HIDDEN} == USUAL


@pytest.mark.parametrize(
    "path",
    [
        *("conftest.py", "pkg/conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml"),
        *("sitecustomize.py", "pkg/usercustomize.py", "site/x.pth", "tests/helper.py"),
        *("tests/data.json", "pkg/test_new.py", "pkg/new_test.py", "pkg/tests/x.py"),
        *("test/x.py", "testing/x.py", "src/test/X.java", "src/AppTest.java", "web/a.spec.ts"),
        *("web/__tests__/a.js", "a_test.go", ".git/hooks/pre-commit", "jest.config.js"),
        *("pytest.py", "_pytest/config.py", "src/pytest/__init__.py", "unittest/__init__.py"),
        *("sitecustomize/__init__.py", "src/usercustomize/__init__.py", "sitecustomize.abi3.so"),
        *("x.egg-info/entry_points.txt", "src/x-1.dist-info/entry_points.txt", "vitest.config.mts"),
        *(".rspec", "phpunit.xml.dist", "ava.config.mjs", "web/.mocharc.jsonc"),
        *("pluggy.py", "pkg/__pycache__/core.cpython-311.pyc", ".cargo/config.toml"),
    ],
)
def test_what_decides_tests_does_not_count(path: str) -> None:
    assert _composed({path: b"forged"}) == USUAL


@pytest.mark.parametrize(
    "path",
    [
        *("pkg/core.py", "pkg/new.py", "pkg/test/client.py", "pkg/testing/tools.py", "README.md"),
        *("entry_points.txt", "x.egg-info/PKG-INFO", "vite.config.ts"),
        *("pkg/contest.py", "pkg/latest.py", "attests.py", "pkg/unittest/x.py", "web/spec.ts"),
    ],
)
def test_other_changes_count(path: str) -> None:
    assert _composed({path: b"solved"}) == {**USUAL, path: b"solved"}


def test_a_deleted_test_is_restored_and_a_deleted_module_is_not() -> None:
    kept = Tree(files={"pkg/core.py": b"new"})
    files = composed(BASE, kept, HIDDEN).files
    assert "tests/data.json" in files
    assert "pkg/__init__.py" not in files


def test_of_shared_settings_only_the_part_for_tests_is_protected() -> None:
    project = BASE.files["pyproject.toml"]
    renamed = project.replace(b"'a'", b"'b'")
    assert _composed({"pyproject.toml": renamed})["pyproject.toml"] == renamed
    for forged in (project.replace(b"true", b"false"), b"[project]\n", b"not toml ["):
        assert _composed({"pyproject.toml": forged})["pyproject.toml"] == project
    moved = b"[metadata]\nname = a\n[tool:pytest]\naddopts = -k nothing\n"
    assert _composed({"setup.cfg": moved})["setup.cfg"] == BASE.files["setup.cfg"]
    assert "tox.ini" not in _composed({"tox.ini": b"[pytest]\naddopts = -k nothing\n"})
    assert "tox.ini" in _composed({"tox.ini": b"[tox]\nenvlist = py\n"})


@pytest.mark.parametrize(
    "text",
    [f"a{'.a' * 3000} = 1\n", f"a = [{'[' * 9999}", f"# {'x' * MOST_CHARACTERS}"],
    ids=["parts", "depth", "size"],
)
def test_settings_that_cost_too_much_to_read_do_not_count(text: str) -> None:
    assert (
        _composed({"pyproject.toml": text.encode(), "pkg/pyproject.toml": text.encode()}) == USUAL
    )


@pytest.mark.parametrize(
    "head", ["[pytest]", "[pytest] # ]", "[pytest];", "[a]\n[pytest]", "[pytest]\nx =\n [tox]"]
)
def test_settings_are_found_as_pytest_finds_them(head: str) -> None:
    text = f"{head}\npython_functions = nothing\n"
    assert "pytest" in iniconfig.IniConfig("tox.ini", text).sections
    assert _composed({"tox.ini": text.encode(), "pkg/tox.ini": text.encode()}) == USUAL


PACKAGE = b'{"name": "a", "scripts": {"test": "jest", "build": "tsc"}, "jest": {"bail": true}}'


@pytest.mark.parametrize(
    ("new", "counts"),
    [
        (PACKAGE.replace(b"tsc", b"rollup"), True),
        (PACKAGE.replace(b'"a"', b'"b"'), True),
        (PACKAGE.replace(b'"jest"', b'"true"', 1), False),
        (PACKAGE.replace(b"test", b"pretest"), False),
        (PACKAGE.replace(b"bail", b"globalSetup"), False),
        (b'{"mocha": {"require": "./forged.js"}, ' + PACKAGE[1:], False),
        (b'{"name": "a"}', False),
        (b"[" * 100_000, False),
        (b"[]", False),
        (PACKAGE + b" " * MOST_CHARACTERS, False),
    ],
    ids=map(str, range(10)),
)
def test_in_a_package_of_node_the_settings_and_scripts_of_tests_are_protected(
    new: bytes, counts: bool
) -> None:
    base = Tree(files={"package.json": PACKAGE})
    found = composed(base, Tree(files={"package.json": new}), {}).files
    assert found == {"package.json": new if counts else PACKAGE}
    assert composed(Tree(), Tree(files={"package.json": b"{}"}), {}).files == {
        "package.json": b"{}"
    }


def test_deleted_settings_are_restored_unless_no_test_needs_them() -> None:
    files = {path: text for path, text in BASE.files.items() if path != "tests/data.json"}
    del files["pyproject.toml"], files["setup.cfg"]
    found = composed(BASE, Tree(files=files), HIDDEN).files
    assert found["pyproject.toml"] == BASE.files["pyproject.toml"]
    assert "setup.cfg" not in found


def test_comments_and_other_sections_around_settings_can_be_changed() -> None:
    old = b"[tool:pytest]\nx = 1\n\n[a]\ny = 1\n"
    new = b"[tool:pytest]\n# said\nx = 1\n\n\n[new]\nz = 1\n[a]\ny = 2\n"
    base = Tree(files={"setup.cfg": old})
    assert composed(base, Tree(files={"setup.cfg": new}), {}).files == {"setup.cfg": new}


def test_a_file_in_the_way_of_a_hidden_one_is_left_out() -> None:
    changed = Tree(files={"pkg/core.py": b"", "tests": b"no folder"})
    files = composed(Tree(files={"pkg/core.py": b""}), changed, HIDDEN).files
    assert files == {"pkg/core.py": b"", **HIDDEN}
    changed = Tree(files={"tests/test_core.py/x": b"no file"})
    assert composed(Tree(), changed, HIDDEN).files == HIDDEN


def test_a_repository_of_a_framework_can_be_changed() -> None:
    base = Tree(files={"src/_pytest/config.py": b"old"})
    changed = Tree(files={"src/_pytest/config.py": b"new"})
    assert composed(base, changed, HIDDEN).files["src/_pytest/config.py"] == b"new"


def test_further_paths_are_protected_by_patterns() -> None:
    files = _composed({"pkg/core.py": b"x", "tools/a/run.py": b"x"}, patterns=["tools/*"])
    assert files == {**USUAL, "pkg/core.py": b"x"}


HELPERS = {"checks.py": b"hidden", "cases/values.py": b"hidden"}


@pytest.mark.parametrize(
    "path",
    [
        *("checks/__init__.py", "checks.so", "checks.cpython-311-x86_64-linux-gnu.so"),
        *("src/checks.py", "src/checks/__init__.py", "own/checks.py", "cases.py", "cases.abi3.so"),
        *("cases/values/__init__.py", "lib/cases/values.py"),
    ],
)
def test_what_would_be_imported_in_place_of_a_hidden_file_does_not_count(path: str) -> None:
    changed = Tree(files={**BASE.files, path: b"forged"})
    found = composed(BASE, changed, HELPERS, import_paths=["own"])
    assert dict(found.files) == {**BASE.files, **HELPERS}


@pytest.mark.parametrize(
    "path",
    [
        *("pkg/checks.py", "checks/data.json", "checks/other.py", "checks_more.py", "pkg.py"),
        *("cases/__init__.py", "cases/more.py", "values.py", "checks.txt", "lib/cases.txt"),
    ],
)
def test_what_takes_the_place_of_no_hidden_file_counts(path: str) -> None:
    changed = Tree(files={**BASE.files, path: b"new"})
    found = composed(BASE, changed, HELPERS, import_paths=["own"])
    assert found.files[path] == b"new"


def test_a_module_that_the_repository_has_may_change_though_a_hidden_file_has_its_name() -> None:
    base = Tree(files={"src/checks.py": b"old"})
    changed = Tree(files={"src/checks.py": b"new"})
    assert composed(base, changed, HELPERS).files["src/checks.py"] == b"new"


CHECKS = {
    "checks/conftest.py": b"hidden",
    "checks/helper.py": b"hidden",
    "checks/unit/test_x.py": b"hidden",
    "pkg/test_y.py": b"hidden",
    "new/test_z.py": b"hidden",
}


@pytest.mark.parametrize(
    "path",
    ["checks/unit/helper.py", "checks/unit/helper/__init__.py", "checks/__init__.py"],
)
def test_what_pytest_would_import_in_place_of_a_hidden_helper_does_not_count(path: str) -> None:
    changed = Tree(files={**BASE.files, path: b"forged"})
    assert dict(composed(BASE, changed, CHECKS).files) == {**BASE.files, **CHECKS}


@pytest.mark.parametrize(
    "path", ["helper.py", "src/helper.py", "pkg/helper.py", "new/__init__.py", "new/helpers.py"]
)
def test_what_pytest_imports_under_another_name_counts(path: str) -> None:
    changed = Tree(files={**BASE.files, path: b"solved"})
    assert composed(BASE, changed, CHECKS).files[path] == b"solved"
