"""Exercise folders: what is read, and what is refused with the file and the remedy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from codereward.v1 import reward_service_pb2 as pb
from tests.client.rows.folders import CPP, GO, JAVA, JAVASCRIPT, PYTHON, RUST, Folder
from trainer_client import TaskError, tasks


def changed(folder: Folder, path: str, text: str) -> Folder:
    return replace(folder, files={**folder.files, path: text})


def test_an_exercise_has_what_a_prompt_needs(tmp_path: Path) -> None:
    found = tasks.exercise(PYTHON.write(tmp_path / "leap-year"))
    assert (found.name, found.path) == ("leap-year", "leap_year.py")
    assert "Is it a leap year?" in found.instructions
    assert found.stub == PYTHON.files["leap_year.py"]
    assert found.reference == PYTHON.files[".meta/example.py"]


@pytest.mark.parametrize(
    ("folder", "framework", "path", "files"),
    [
        (PYTHON, "UNITTEST", "leap_year.py", {"leap_year_test.py", "years.py"}),
        (GO, "GO_TEST", "leap.go", {"leap_test.go", "cases_test.go", "years_test.go"}),
        (RUST, "CARGO_TEST", "src/lib.rs", {"tests/leap-year.rs"}),
        (JAVA, "JUNIT", "Leap.java", {"LeapTest.java", "Year.java"}),
    ],
)
def test_tests_and_helpers_become_files_of_a_framework(
    tmp_path: Path, folder: Folder, framework: str, path: str, files: set[str]
) -> None:
    tests = tasks.exercise(folder.write(tmp_path)).template.unit
    assert pb.Framework.Name(tests.framework) == f"FRAMEWORK_{framework}"
    assert (tests.solution_path, set(tests.files)) == (path, files)


def test_tests_that_are_switched_off_for_learners_run(tmp_path: Path) -> None:
    rust = tasks.exercise(RUST.write(tmp_path / "rust")).template.unit.files
    java = tasks.exercise(JAVA.write(tmp_path / "java")).template.unit.files
    assert "#[ignore]" not in rust["tests/leap-year.rs"]
    assert "@Disabled" not in java["LeapTest.java"]


@pytest.mark.parametrize(
    ("folder", "field", "problem"),
    [
        (JAVASCRIPT, "leap.spec.js", "write it with node:test"),
        (CPP, ".meta/config.json", "only those of python, go, java, javascript, rust run here"),
        (
            changed(JAVA, "src/test/java/LeapTest.java",
                    "import static org.assertj.core.api.Assertions.assertThat;\n"),
            "src/test/java/LeapTest.java",
            "imports org.assertj.core.api.Assertions.assertThat",
        ),
        (
            changed(RUST, "Cargo.toml", '[package]\nname = "a"\n\n[dependencies]\nrand = "1"\n'),
            "Cargo.toml",
            "needs the crate rand",
        ),
        (
            changed(GO, "leap_test.go",
                    'package leap\n\nimport "github.com/stretchr/testify/assert"\n'),
            "leap_test.go",
            "imports github.com/stretchr/testify/assert",
        ),
        (replace(PYTHON, solution=("a.py", "b.py")), ".meta/config.json.files.solution", "2 files"),
        (replace(PYTHON, test=()), ".meta/config.json", "the tests are nothing"),
        (replace(PYTHON, test=("absent_test.py",)), "absent_test.py", "is absent"),
        (replace(PYTHON, test=("../x_test.py",)), "../x_test.py", ""),
    ],
)  # fmt: skip
def test_what_cannot_be_judged_is_refused_with_the_file(
    tmp_path: Path, folder: Folder, field: str, problem: str
) -> None:
    with pytest.raises(TaskError) as caught:
        tasks.exercise(folder.write(tmp_path / "leap"))
    assert (caught.value.field, caught.value.row) == (field, "leap")
    assert problem in caught.value.problem


@pytest.mark.parametrize("text", ["", "[]", "{", '{"files": []}', '{"files": {"test": "x.py"}}'])
def test_a_broken_config_is_refused(tmp_path: Path, text: str) -> None:
    folder = PYTHON.write(tmp_path)
    (folder / ".meta/config.json").write_text(text)
    with pytest.raises(TaskError, match=r"config\.json"):
        tasks.exercise(folder)
