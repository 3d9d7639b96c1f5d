"""Tests that no answer can fail are told by their text, and nothing else is taken for one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from reward_server.domain import Framework, FunctionTests, UnitTests
from reward_server.grading.python_tests.inventory import Inventory
from reward_server.grading.python_tests.vacuous import rules
from reward_server.grading.syntax import parse_files

TEXTS = Path(__file__).with_name("vacuous_python.txt").read_text("utf-8")
HEAD = "import unittest\nimport pytest\nfrom solution import double, Stack\n"


def texts_of(kind: str) -> list[str]:
    """Returns the texts below `=== KIND`, between which lines of three hyphens stand."""
    _, _, rest = TEXTS.partition(f"=== {kind}\n")
    return [text.strip("\n") for text in rest.partition("=== ")[0].split("---\n")]


def check(body: str) -> FunctionTests:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return FunctionTests(entry_point="f", test_code=f"def check(candidate):\n{lines}")


def flaw_of(tests: FunctionTests, prompt: str = "") -> str:
    read = rules.asserting(tests, prompt)
    flaw = rules.flaw_of_functions(read, prompt)
    assert rules.read_functions(tests, prompt) == (read, flaw)
    return flaw


def flaw_in(text: str, framework: Framework, **others: str) -> str:
    files = (("test_a.py", text), *others.items())
    tests = UnitTests(framework=framework, files=files)
    trees = parse_files(files)
    return rules.flaw_of_files(trees, tests, Inventory(trees, files, framework))


@pytest.mark.parametrize("body", texts_of("idle checks"))
def test_a_check_that_no_answer_can_fail_is_found(body: str) -> None:
    assert "cannot fail" in flaw_of(check(body))


@pytest.mark.parametrize("body", texts_of("checks"))
def test_a_check_that_an_answer_may_fail_is_not(body: str) -> None:
    assert flaw_of(check(body)) == ""


@pytest.mark.parametrize("text", texts_of("idle files"))
def test_a_file_of_pytest_that_no_answer_can_fail_is_found(text: str) -> None:
    assert flaw_in(HEAD + text, Framework.PYTEST)


@pytest.mark.parametrize(
    "text", [f"class TestA(unittest.TestCase):\n{one}" for one in texts_of("idle cases")]
)
def test_a_file_of_unittest_that_no_answer_can_fail_is_found(text: str) -> None:
    assert flaw_in(HEAD + text, Framework.UNITTEST)


@pytest.mark.parametrize("text", texts_of("files"))
def test_a_file_that_an_answer_may_fail_is_not(text: str) -> None:
    assert flaw_in(HEAD + text, Framework.PYTEST) == ""


def test_a_file_whose_tests_are_in_another_one_is_left_open() -> None:
    text = "from other import *\n"
    assert (
        flaw_in(
            text, Framework.PYTEST, **{"test_b.py": HEAD + "def test_b():\n    assert double(1)\n"}
        )
        == ""
    )
    assert flaw_in("def test_a(:", Framework.PYTEST) == ""


def test_a_function_of_the_prompt_may_assert() -> None:
    prompt = "def agree(a, b):\n    assert a == b\n\ndef f(x):\n"
    assert flaw_of(check("agree(candidate(1), 1)"), prompt) == ""
    assert flaw_of(check("agree(candidate(1), 1)"))
    listed = FunctionTests(entry_point="f", asserts=("agree(f(1), 1)", "f(1)"))
    assert rules.asserting(listed, prompt).asserts == ("agree(f(1), 1)", "assert (f(1))")


@pytest.mark.parametrize(
    ("entry", "read"),
    [
        ("f(1) == 1", "assert (f(1) == 1)"),
        ("  \nf(1) == 1  # one", "assert (f(1) == 1)"),
        ("not f(1);", "assert (not f(1))"),
        ("f(1)", "assert (f(1))"),
        ("isinstance(f(1), int)", "assert (isinstance(f(1), int))"),
        ("f(1) in (\n    1,\n    2,\n)", "assert (f(1) in (\n    1,\n    2,\n))"),
        ("f('ü') == 'ü' and f(2) == 2", "assert (f('ü') == 'ü' and f(2) == 2)"),
        ("assert f(1) == 1", "assert f(1) == 1"),
        ("x = f(1)", "x = f(1)"),
        ("same(f(1), 1)", "same(f(1), 1)"),
        ("print(f(1))", "print(f(1))"),
    ],
)
def test_an_entry_that_is_a_bare_expression_is_an_assertion(entry: str, read: str) -> None:
    setup = "from helpers import same"
    tests = FunctionTests(entry_point="f", asserts=(entry,), setup_code=setup)
    assert rules.asserting(tests).asserts == (read,)


def test_a_call_of_what_the_entries_made_stays_a_preparation() -> None:
    tests = FunctionTests(asserts=("s = Stack()", "s.push(1)", "assert s.pop() == 1"))
    assert rules.asserting(tests) == tests
    assert flaw_of(tests) == ""
    assert flaw_of(FunctionTests(asserts=tests.asserts[:2]))


def test_an_entry_that_cannot_fail_is_named() -> None:
    tests = FunctionTests(asserts=("assert f(1) == 1", "assert (f(2) == 2, 'two')"))
    assert "assert 2: line 1 asserts a tuple" in flaw_of(tests)


def test_what_is_nested_too_deeply_is_left_open() -> None:
    long = " + ".join(["x"] * 3000)
    assert flaw_of(check(f"x = candidate(1)\ny = {long}\ny == 1")) == ""
    assert (
        flaw_in(f"{HEAD}def test_a():\n    x = double\n    ({long}).y(1)\n", Framework.PYTEST) == ""
    )


def test_what_does_not_compile_is_left_to_the_judge() -> None:
    assert flaw_of(FunctionTests(asserts=("f(1) ==",))) == ""
    assert flaw_of(check("assert (")) == ""


def published(data_folder: Path) -> Iterator[tuple[FunctionTests, str]]:
    for line in (data_folder / "HumanEval.jsonl").read_text().splitlines():
        row = json.loads(line)
        yield FunctionTests(entry_point=row["entry_point"], test_code=row["test"]), row["prompt"]
    for line in (data_folder / "mbpp_full.jsonl").read_text().splitlines():
        row = json.loads(line)
        yield FunctionTests(asserts=tuple(row["test_list"]), setup_code=row["test_setup_code"]), ""
    for row in json.loads((data_folder / "mbpp_sanitized.json").read_text()):
        setup = "\n".join(row["test_imports"])
        yield FunctionTests(asserts=tuple(row["test_list"]), setup_code=setup), ""


def test_no_test_of_the_published_sets_is_refused_or_changed(data_folder: Path) -> None:
    rows = list(published(data_folder))
    assert len(rows) > 1500
    for tests, prompt in rows:
        assert rules.asserting(tests, prompt) == tests
        assert rules.flaw_of_functions(tests, prompt) == ""
