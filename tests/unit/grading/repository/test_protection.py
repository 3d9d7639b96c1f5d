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
    return dict(composed(BASE, changed, HIDDEN, **options).tree.files)  # type: ignore[arg-type]


def _listed(changes: dict[str, bytes]) -> dict[str, bytes]:
    """Returns the files after changes whose paths the task lists."""
    return _composed(changes, changeable=["*"])


USUAL = _composed({})


def test_hidden_files_are_laid_over_the_repository() -> None:
    assert {**BASE.files, **HIDDEN} == USUAL


BASES = {
    "python": {
        **BASE.files,
        "main.py": b"from pkg.core import x\nimport flat\n",
        "flat.py": b"import deeper\n",
        "deeper.py": b"",
        "noxfile.py": b"",
        "setup.py": b"",
        "conftest.py": b"import shared_helper",
        "shared_helper.py": b"",
        "tests/test_flat.py": b"from flat import y\n",
        "pkg/data/words.json": b"[]",
        "pkg/test_beside.py": b"",
        "src/other/__init__.py": b"",
        "src/single.py": b"",
        "tests/test_single.py": b"import single",
        "part/pyproject.toml": b"",
        "part/fabfile.py": b"",
        "part/inner/__init__.py": b"",
        "pkg.egg-info/entry_points.txt": b"",
        "tools/run.sh": b"",
    },
    "javascript": {
        "package.json": b"{}",
        "index.js": b"require('./lib/a')\n",
        "jest.config.js": b"module.exports = require('./vite.config')",
        "vite.config.ts": b"",
        "lib/a.js": b"",
        "lib/__tests__/a.js": b"const a = require('../..')",
        "lib/__snapshots__/a.snap": b"",
        "src/view/A.tsx": b"import x from './style'",
        "src/view/style.css": b"",
        "packages/b/package.json": b"{}",
        "packages/b/rollup.config.mjs": b"",
        "packages/b/src/b.ts": b"",
        "node_modules/assert/index.js": b"",
        "vendor/x.js": b"",
    },
    "go": {
        "go.mod": b"module a",
        "main.go": b"package main",
        "main_test.go": b"package main",
        "internal/b/b.go": b"package b",
        "internal/b/table.json": b"{}",
        "internal/b/testdata/golden.json": b"{}",
        "vendor/github.com/stretchr/testify/assert/assertions.go": b"package assert",
        "Makefile": b"test:",
    },
    "rust": {
        "Cargo.toml": b"",
        "build.rs": b"",
        "src/lib.rs": b"mod a;",
        "src/a.rs": b"",
        "tests/all.rs": b"",
        "crates/b/Cargo.toml": b"",
        "crates/b/build.rs": b"",
        "crates/b/src/lib.rs": b"",
        ".cargo/config.toml": b"",
    },
    "java": {
        "pom.xml": b"",
        "src/main/java/a/App.java": b"",
        "src/main/resources/a/words.txt": b"",
        "src/test/java/a/AppTest.java": b"",
    },
}
APART = {
    "python": "conftest.py pkg/conftest.py pytest.ini .pytest.ini pytest.toml tox.ini setup.cfg "
    "setup.py "
    "noxfile.py sitecustomize.py usercustomize.py pkg/x.pth site/x.pth tests/helper.py new.py "
    "tests/data.json pkg/test_new.py pkg/new_test.py pkg/tests/x.py pkg/testing/x.py test/x.py "
    "pytest.py _pytest/config.py src/pytest/__init__.py unittest/__init__.py src/pytest.py "
    "src/new/__init__.py pluggy.py pkg/__pycache__/core.cpython-311.pyc pkg/core/__init__.py "
    "pkg/core.so pkg.py tests.py pkg/data.py pkg.egg-info/entry_points.txt part/fabfile.py "
    "part/sitecustomize.py tools/run.sh run.sh README.md Makefile .coveragerc "
    ".github/workflows/a.yml pkg/.hidden.py pyproject.toml new/__init__.py pkg/data/__init__.py "
    "venv/lib/python3.11/site-packages/x.py",
    "javascript": "package.json jest.config.js vite.config.ts vitest.config.mts .mocharc.json "
    ".npmrc "
    ".yarnrc.yml bunfig.toml node_modules/assert/index.js node_modules/new/index.js vendor/x.js "
    "lib/__tests__/a.js lib/a.test.js src/view/A.spec.tsx __mocks__/fs.js lib/__snapshots__/a.snap "
    "babel.config.js packages/b/package.json packages/b/rollup.config.mjs new.js lib/a.ts e2e/a.js",
    "go": "go.mod go.sum go.work main_test.go internal/b/b_test.go internal/b/testdata/golden.json "
    "vendor/github.com/stretchr/testify/assert/assertions.go Makefile vendor/modules.txt",
    "rust": "Cargo.toml Cargo.lock build.rs tests/all.rs tests/new.rs .cargo/config.toml "
    "crates/b/build.rs crates/b/Cargo.toml rust-toolchain.toml nextest.toml src/tests.rs",
    "java": "pom.xml build.gradle src/test/java/a/AppTest.java src/test/resources/x.txt "
    "src/main/java/a/AppTest.java src/main/java/a/AppIT.java .mvn/extensions.xml",
}
OF_PACKAGES = {
    "python": "pkg/core.py pkg/new.py pkg/sub/__init__.py pkg/sub/deep/x.py pkg/data/words.json "
    "pkg/data/more.json src/other/__init__.py src/other/new.py pkg/contest.py pkg/latest.py "
    "pkg/attests.py pkg/unittest/x.py flat.py deeper.py src/single.py part/inner/x.py "
    "shared_helper.py pkg/inspection.py",
    "javascript": "index.js lib/a.js lib/new.js lib/deep/x.mjs src/view/A.tsx src/view/style.css "
    "src/view/more.css packages/b/src/b.ts packages/b/src/new/c.ts src/view/contest.tsx",
    "go": "main.go other.go internal/b/b.go internal/b/new.go internal/c/c.go "
    "internal/b/table.json",
    "rust": "src/lib.rs src/a.rs src/new.rs src/deep/mod.rs crates/b/src/lib.rs src/latest.rs",
    "java": "src/main/java/a/App.java src/main/java/a/New.java src/main/java/b/Other.java",
}


def _rows(paths: dict[str, str]) -> list[tuple[str, str]]:
    return [(language, path) for language, named in paths.items() for path in named.split()]


def _after(language: str, path: str, **options: object) -> dict[str, bytes]:
    base = Tree(files=BASES[language])
    changed = Tree(files={**base.files, path: b"changed"})
    return dict(composed(base, changed, {}, language=language, **options).tree.files)  # type: ignore[arg-type]


@pytest.mark.parametrize(("language", "path"), _rows(APART))
def test_what_is_no_source_of_a_package_does_not_count(language: str, path: str) -> None:
    assert _after(language, path) == BASES[language]


@pytest.mark.parametrize(("language", "path"), _rows(OF_PACKAGES))
def test_source_and_data_of_packages_count(language: str, path: str) -> None:
    assert _after(language, path) == {**BASES[language], path: b"changed"}


@pytest.mark.parametrize(("language", "path"), _rows(APART))
def test_what_the_task_lists_counts_and_settings_of_frameworks_do_not(
    language: str, path: str
) -> None:
    has_settings = path.endswith(("package.json", "pyproject.toml", "pytest.ini", "pytest.toml"))
    expected = {} if has_settings else {path: b"changed"}
    files = _after(language, path, changeable=[path])
    assert files == {**BASES[language], **expected}
    assert _after(language, path, changeable=["*"], protected=[path]) == BASES[language]


@pytest.mark.parametrize(
    ("language", "changes", "counted"),
    [
        ("python", {"main.py": b"import util", "util.py": b"", "other.py": b""}, 2),
        ("python", {"main/__init__.py": b"from . import a", "main/a.py": b""}, 2),
        ("python", {"main.py": b"import x_y", "x_y/z.py": b"", "noxfile.py": b""}, 2),
        ("python", {"other.py": b"import main", "test_x.py": b"import other"}, 0),
        ("javascript", {"main.js": b"require('./util')", "util.js": b"", "x.config.js": b""}, 2),
        ("javascript", {"main.js": b"require('./x.config')", "x.config.js": b""}, 1),
        ("go", {"main.go": b"", "part/part.go": b""}, 2),
    ],
)
def test_in_an_empty_repository_what_tests_import_counts(
    language: str, changes: dict[str, bytes], counted: int
) -> None:
    hidden = {"tests/all.py": b"import main", "tests/all.js": b"import m from '../main.js'"}
    base = Tree(files={"README.md": b""})
    told = composed(base, Tree(files={**base.files, **changes}), hidden, language=language)
    assert set(told.tree.files) == {*base.files, *hidden, *list(changes)[:counted]}
    assert told.uncounted == len(changes) - counted


def test_a_wildcard_names_no_tests() -> None:
    base = Tree(files={"tests/data.txt": b""})
    changes = {"out.txt": b"1", "conftest.py": b"1", "tests/data.txt": b"1", "a/b/result.bin": b"1"}
    files = composed(base, Tree(files=changes), {}, changeable=["*"]).tree.files
    assert sorted(files) == ["a/b/result.bin", "out.txt", "tests/data.txt"]
    assert files["tests/data.txt"] == b""


def test_in_an_unknown_language_only_what_the_task_lists_counts() -> None:
    base = Tree(files={"a/x.zz": b""})
    changed = Tree(files={"a/x.zz": b"new", "a/y.zz": b"new"})
    files = composed(base, changed, {}, language="zz", changeable=["a/y*"]).tree.files
    assert files == {"a/x.zz": b"", "a/y.zz": b"new"}


def test_a_deleted_test_is_restored_and_a_deleted_module_is_not() -> None:
    kept = Tree(files={"pkg/core.py": b"new"})
    files = composed(BASE, kept, HIDDEN).tree.files
    assert "tests/data.json" in files
    assert "pkg/__init__.py" not in files


def test_of_shared_settings_only_the_part_for_tests_is_protected() -> None:
    project = BASE.files["pyproject.toml"]
    renamed = project.replace(b"'a'", b"'b'")
    assert _listed({"pyproject.toml": renamed})["pyproject.toml"] == renamed
    for forged in (project.replace(b"true", b"false"), b"[project]\n", b"not toml ["):
        assert _listed({"pyproject.toml": forged})["pyproject.toml"] == project
    moved = b"[metadata]\nname = a\n[tool:pytest]\naddopts = -k nothing\n"
    assert _listed({"setup.cfg": moved})["setup.cfg"] == BASE.files["setup.cfg"]
    assert "tox.ini" not in _listed({"tox.ini": b"[pytest]\naddopts = -k nothing\n"})
    assert "tox.ini" in _listed({"tox.ini": b"[tox]\nenvlist = py\n"})


@pytest.mark.parametrize(
    "text",
    [f"a{'.a' * 3000} = 1\n", f"a = [{'[' * 9999}", f"# {'x' * MOST_CHARACTERS}"],
    ids=["parts", "depth", "size"],
)
def test_settings_that_cost_too_much_to_read_do_not_count(text: str) -> None:
    assert _listed({"pyproject.toml": text.encode(), "pkg/pyproject.toml": text.encode()}) == USUAL


@pytest.mark.parametrize(
    "head", ["[pytest]", "[pytest] # ]", "[pytest];", "[a]\n[pytest]", "[pytest]\nx =\n [tox]"]
)
def test_settings_are_found_as_pytest_finds_them(head: str) -> None:
    text = f"{head}\npython_functions = nothing\n"
    assert "pytest" in iniconfig.IniConfig("tox.ini", text).sections
    assert _listed({"tox.ini": text.encode(), "pkg/tox.ini": text.encode()}) == USUAL


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
    found = composed(base, Tree(files={"package.json": new}), {}, changeable=["*"]).tree.files
    assert found == {"package.json": new if counts else PACKAGE}


def test_deleted_settings_of_tests_are_restored() -> None:
    kept = Tree(files={"pkg/core.py": b"new"})
    found = composed(BASE, kept, HIDDEN, changeable=["setup.cfg", "pyproject.toml"]).tree.files
    assert found["pyproject.toml"] == BASE.files["pyproject.toml"]
    assert "setup.cfg" not in found


def test_comments_and_other_sections_around_settings_can_be_changed() -> None:
    old = b"[tool:pytest]\nx = 1\n\n[a]\ny = 1\n"
    new = b"[tool:pytest]\n# said\nx = 1\n\n\n[new]\nz = 1\n[a]\ny = 2\n"
    base = Tree(files={"setup.cfg": old})
    changed = Tree(files={"setup.cfg": new})
    assert composed(base, changed, {}, changeable=["setup.cfg"]).tree.files == changed.files


def test_a_file_in_the_way_of_a_hidden_one_is_left_out() -> None:
    changed = Tree(files={"pkg/core.py": b"", "tests": b"no folder"})
    files = composed(Tree(files={"pkg/core.py": b""}), changed, HIDDEN).tree.files
    assert files == {"pkg/core.py": b"", **HIDDEN}
    changed = Tree(files={"tests/test_core.py/x": b"no file"})
    assert composed(Tree(), changed, HIDDEN).tree.files == HIDDEN


def test_a_repository_of_a_framework_can_be_changed() -> None:
    base = Tree(files={"src/_pytest/config.py": b"old"})
    changed = Tree(files={"src/_pytest/config.py": b"new"})
    assert composed(base, changed, HIDDEN).tree.files["src/_pytest/config.py"] == b"new"


def test_whether_a_file_may_be_executed_counts_as_its_content_does() -> None:
    base = Tree(files={"pkg/a.py": b"", "run.sh": b""}, executable=frozenset({"run.sh"}))
    changed = Tree(files=base.files, executable=frozenset({"pkg/a.py"}))
    assert composed(base, changed, {}).tree.executable == {"pkg/a.py", "run.sh"}


def test_folders_from_which_tests_import_take_no_new_modules() -> None:
    base = Tree(
        files={"own/known.py": b"", "own/pkg/__init__.py": b"", "tests/test_a.py": b"import known"}
    )
    changed = {
        f"own/{one}": b"new" for one in ("known.py", "new.py", "pkg/new.py", "other/__init__.py")
    }
    files = composed(
        base, Tree(files={**base.files, **changed}), {}, import_paths=["own/"]
    ).tree.files
    counted = {path: changed[path] for path in ("own/known.py", "own/pkg/new.py")}
    assert files == {**base.files, **counted}
