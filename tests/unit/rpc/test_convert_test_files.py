"""Test files are refused, with the field that is wrong, before they cost an execution."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codereward.v1 import reward_service_pb2 as pb
from reward_server.domain import Framework, Limits, RewardPolicyKind, UnitTests
from reward_server.errors import InvalidRequestError, UnsupportedError
from reward_server.languages import Languages, load_languages
from reward_server.rpc import convert
from reward_server.rpc.convert import Bounds

TEXT = "import solution\n"


def bounds(*frameworks: str) -> Bounds:
    languages = (language.with_frameworks(frameworks) for language in load_languages().all)
    return Bounds(languages=Languages(languages), default_limits=Limits(), maximum_limits=Limits())


BOUNDS = bounds("unittest", "pytest")


def request(
    files: dict[str, str] | None = None, framework: int = pb.FRAMEWORK_UNITTEST, path: str = ""
) -> pb.ScoreRequest:
    tests = pb.UnitTests(
        framework=framework,  # type: ignore[arg-type]  # a number
        files={"test_f.py": TEXT} if files is None else files,
        solution_path=path,
    )
    return pb.ScoreRequest(completion="x = 1", unit=tests)


def refusal(wrong: pb.ScoreRequest) -> InvalidRequestError:
    with pytest.raises(InvalidRequestError) as caught:
        convert.submission(wrong, BOUNDS)
    return caught.value


def test_files_come_sorted_and_the_solution_has_a_usual_path() -> None:
    asked = request({"test_f.py": TEXT, "a/b.json": "{}"}, pb.FRAMEWORK_PYTEST)
    assert convert.submission(asked, BOUNDS).tests == UnitTests(
        framework=Framework.PYTEST,
        files=(("a/b.json", "{}"), ("test_f.py", TEXT)),
        solution_path="solution.py",
    )


def test_a_path_of_the_solution_is_kept() -> None:
    tests = convert.submission(request(path="pkg/core/solution.py"), BOUNDS).tests
    assert isinstance(tests, UnitTests)
    assert tests.solution_path == "pkg/core/solution.py"


@pytest.mark.parametrize(
    "path",
    [
        *("../x", "a/../x", "/etc/passwd", "", "a//b", "a/", "./a", "a/.", "a\\b", "a\0b", "a\nb"),
        *("..", "x" * 257, "/".join("a" * 17)),
    ],
)
def test_a_path_that_is_not_safe_is_refused_by_its_name(path: str) -> None:
    error = refusal(request({path: TEXT}))
    assert error.field.startswith('unit.files["')
    assert error.problem
    assert refusal(request(path=f"{path}/")).field == "unit.solution_path"


def test_a_wrong_path_is_quoted_in_the_field() -> None:
    assert refusal(request({"../x": TEXT})).field == 'unit.files["../x"]'


@given(st.text(max_size=30))
def test_a_path_that_is_accepted_stays_below_its_folder(path: str) -> None:
    try:
        convert.submission(request({path: ""}), BOUNDS)
    except InvalidRequestError:
        return
    parts = path.split("/")
    assert all(part not in ("", ".", "..") for part in parts)
    assert "\\" not in path
    assert path.isprintable()


@pytest.mark.parametrize(
    ("files", "path"),
    [
        ({"solution.py": ""}, ""),
        ({"pkg/a.py": ""}, "pkg/a.py"),
        ({"solution/__init__.py": ""}, "solution.py"),
        ({"solution.py/x": ""}, "solution.py"),
        ({"pkg": ""}, "pkg/solution.py"),
    ],
)
def test_no_file_takes_the_solutions_place(files: dict[str, str], path: str) -> None:
    error = refusal(request(files, path=path))
    assert error.field == "unit.solution_path"
    assert next(iter(files)) in error.problem


@pytest.mark.parametrize("path", ["solution", "a-b.py", "1.py", "pkg.x/a.py", "a/.py", "x.txt"])
def test_a_solutions_path_is_that_of_a_module(path: str) -> None:
    assert refusal(request(path=path)).field == "unit.solution_path"


def test_a_file_is_not_also_a_folder() -> None:
    assert refusal(request({"a": "", "a/b": ""})).field == 'unit.files["a"]'


Change = Callable[[pb.ScoreRequest], object]


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        (lambda: request({}), "unit.files"),
        (lambda: request({f"{number}.py": "" for number in range(257)}), "unit.files"),
        (lambda: request({"test_f.py": "x" * ((8 << 20) + 1)}), 'unit.files["test_f.py"]'),
        (lambda: request({f"{n}.py": "x" * (6 << 20) for n in range(3)}), "unit.files"),
        (lambda: request(framework=0), "unit.framework"),
        (lambda: request(framework=99), "unit.framework"),
    ],
)
def test_what_is_missing_unknown_or_too_large_is_named(
    wrong: Callable[[], pb.ScoreRequest], field: str
) -> None:
    assert refusal(wrong()).field == field


@pytest.mark.parametrize(
    ("offered", "framework"),
    [
        (bounds("unittest"), pb.FRAMEWORK_PYTEST),
        (bounds(), pb.FRAMEWORK_UNITTEST),
        (bounds(), pb.FRAMEWORK_PYTEST),
    ],
)
def test_a_framework_that_sandboxes_cannot_import_is_unsupported(
    offered: Bounds, framework: int
) -> None:
    with pytest.raises(UnsupportedError, match="offered"):
        convert.submission(request(framework=framework), offered)


def test_unit_tests_are_a_kind_only_where_a_framework_is_there() -> None:
    assert "unit" in BOUNDS.languages.find("python").info("3").test_kinds
    assert BOUNDS.languages.find("python").info("3").frameworks == ("unittest", "pytest")
    assert "unit" not in bounds().languages.find("python").info("3").test_kinds


@pytest.mark.parametrize(
    "kind", [kind for kind in RewardPolicyKind if kind is not RewardPolicyKind.SUBTASKS]
)
def test_every_reward_policy_without_subtasks_goes_with_unit_tests(kind: RewardPolicyKind) -> None:
    asked = request()
    asked.reward_policy.kind = kind.value
    asked.reward_policy.first_k = 3 if kind is RewardPolicyKind.FIRST_K else 0
    assert convert.submission(asked, BOUNDS).reward_policy.kind is kind


# ------------------------------------------------------------------ frameworks of other languages


def suite(
    files: dict[str, str], framework: pb.Framework.ValueType, language: str, path: str = ""
) -> pb.ScoreRequest:
    tests = pb.UnitTests(framework=framework, files=files, solution_path=path)
    return pb.ScoreRequest(completion="x", language=language, unit=tests)


SUITE_BOUNDS = bounds("junit", "node_test", "go_test", "cargo_test")


@pytest.mark.parametrize(
    ("framework", "language", "path", "solution"),
    [
        (pb.FRAMEWORK_JUNIT, "java", "ATest.java", ""),
        (pb.FRAMEWORK_NODE_TEST, "javascript", "a.test.js", "solution.js"),
        (pb.FRAMEWORK_GO_TEST, "go", "a_test.go", "solution.go"),
        (pb.FRAMEWORK_CARGO_TEST, "rust", "tests/a.rs", "src/lib.rs"),
    ],
)
def test_each_framework_has_a_usual_path_for_the_solution(
    framework: pb.Framework.ValueType, language: str, path: str, solution: str
) -> None:
    asked = convert.submission(suite({path: ""}, framework, language), SUITE_BOUNDS)
    assert asked.tests == UnitTests(
        framework=Framework(framework), files=((path, ""),), solution_path=solution
    )


@pytest.mark.parametrize(
    ("files", "path", "field", "problem"),
    [
        ({"a.go": ""}, "", "unit.files", "hold no tests"),
        ({"b/a_test.go": ""}, "", "unit.files", "hold no tests"),
        ({"a_test.go": "package a_test\n"}, "", 'unit.files["a_test.go"]', "package a_test"),
        ({"a_test.go": "func TestMain(m *testing.M) {"}, "", 'unit.files["a_test.go"]', "TestMain"),
        ({"a_test.go": "", "solution.go": ""}, "", 'unit.solution_path["solution.go"]', "place"),
        ({"a_test.go": ""}, "a_test.go", 'unit.solution_path["a_test.go"]', "place"),
        ({"a_test.go": ""}, "../a.go", "unit.solution_path", "working folder"),
        ({"a_test.go": ""}, "a.txt", "unit.solution_path", ".go"),
    ],
)
def test_test_files_that_cannot_be_run_are_refused(
    files: dict[str, str], path: str, field: str, problem: str
) -> None:
    with pytest.raises(InvalidRequestError, match=problem) as caught:
        convert.submission(suite(files, pb.FRAMEWORK_GO_TEST, "go", path), SUITE_BOUNDS)
    assert caught.value.field == field


def test_a_framework_of_another_language_is_not_offered() -> None:
    asked = suite({"a_test.go": ""}, pb.FRAMEWORK_GO_TEST, "rust")
    with pytest.raises(UnsupportedError, match="FRAMEWORK_GO_TEST is not offered"):
        convert.submission(asked, bounds("cargo_test"))
