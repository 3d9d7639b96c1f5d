"""Which compiled tests run apart from the solution is decided from prompt and tests alone."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from reward_server.grading.compiled_tests.split import Task, taken_apart
from reward_server.grading.crossing import crossing
from reward_server.languages import load_languages

TEXTS = tomllib.loads(Path(__file__).with_name("texts.toml").read_text("utf-8"))
LANGUAGES = load_languages()


def rows(kind: str) -> list[object]:
    return [pytest.param(row, id=f"{row['language']} {row['name']}") for row in TEXTS[kind]]


def refusal_of(row: dict[str, str]) -> str:
    program = LANGUAGES.find(row["language"]).program
    assert program is not None
    assert program.assertions is not None
    task = Task(prompt=row["prompt"], tests=row["tests"], language=program.assertions)
    found = taken_apart(program.split, task)
    return found if isinstance(found, str) else ""


@pytest.mark.parametrize("row", rows("allowed"))
def test_tests_that_compare_data_run_apart(row: dict[str, str]) -> None:
    assert refusal_of(row) == ""


@pytest.mark.parametrize("row", rows("refused"))
def test_tests_that_need_the_solution_are_refused_by_a_rule(row: dict[str, str]) -> None:
    assert refusal_of(row).startswith(row["rule"])


JAVA = {
    "language": "java",
    "prompt": "class Solution {\n    int f(int[] a) {\n",
    "tests": (
        "class Main {\n  public static void main(String[] args) {\n    int[] a = {1};\n"
        "    new Solution().f(a);\n    assert a[0] == 1;\n  }\n}\n"
    ),
}


@pytest.mark.promise(
    "If tests do not run apart, the reason names the rule, the line and the construct.", "Languages"
)
def test_a_refusal_names_the_rule_the_line_and_the_construct() -> None:
    rule = "an argument is no fresh value of numbers and texts"
    assert refusal_of(JAVA) == f"{rule}: line 4: a"


def test_a_refusal_names_a_line_of_the_prompt() -> None:
    row = {**JAVA, "prompt": "class Solution {\n    static int n = 0;\n    int f(int[] a) {\n"}
    assert refusal_of(row) == "the prompt keeps a state: line 2 of the prompt: static int n = 0;"


def test_a_refusal_names_the_extra_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crossing, "find_spec", lambda name: None)
    assert refusal_of(JAVA).endswith("lacks the package tree_sitter: install the extra [compiled]")
    script = {"language": "javascript", "prompt": "", "tests": "console.assert(f(1) === 2)"}
    assert "install the extra [compiled]" in refusal_of(script)


def test_long_tests_are_refused_unread() -> None:
    row = {**JAVA, "tests": JAVA["tests"] + "// long\n" * (1 << 16)}
    assert refusal_of(row).startswith("prompt and tests are longer than")
