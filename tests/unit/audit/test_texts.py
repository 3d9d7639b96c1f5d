"""What the text of a task shows: examples, expectations, leaks, and tests in another order."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest

from reward_server.audit.tasks import Task, read_tasks
from reward_server.audit.texts.emptiness import why_no_tests
from reward_server.audit.texts.examples import call_examples, run_examples
from reward_server.audit.texts.expectations import expectations
from reward_server.audit.texts.leaks import answers_in_data, leaks_in_prompt
from reward_server.audit.texts.reordering import reordered
from reward_server.audit.texts.source import hollowed, reference_tree, statements


def task(prompt: str = "", reference: str = "", **request: Any) -> Task:
    line = {"task_id": "a", "prompt": prompt, "request": request, "reference": reference}
    (found,) = read_tasks([json.dumps(line).encode()])
    return found


def asserting(*asserts: str) -> dict[str, Any]:
    return {"function": {"entry_point": "f", "asserts": list(asserts)}}


@pytest.mark.parametrize(
    ("prompt", "call", "value"),
    [
        (">>> f([1, 2])\n[2, 1]", "f([1, 2])", [2, 1]),
        ("    >>> f(2)\n    7\n    >>> f(5)", "f(2)", 7),
        ("f(2) == 7", "f(2)", 7),
        ("- `f(2)` -> `7`", "f(2)", 7),
        ("f('a b') ➞ 'b a'.", "f('a b')", "b a"),
        ("f(2) => 7  # three times two", "f(2)", 7),
        ("f(1, key=[]) returns (1, 2)", "f(1, key=[])", (1, 2)),
        ("assert f(-1) == -2", "f(-1)", -2),
        (">>> round(f(2), 1) # near\n7.0", "round(f(2), 1)", 7.0),
    ],
)
def test_an_example_of_a_call_is_read(prompt: str, call: str, value: object) -> None:
    (found,) = call_examples(task(prompt, **asserting("assert f(1) == 4")))
    assert (found.text, found.value) == (call, value)


@pytest.mark.parametrize(
    "prompt",
    [
        "def f(x) -> int:",
        ">>> f(items)\n[1]",
        ">>> g(2)\n7",
        "f(2) == x",
        "f returns 7",
        ">>> f(2)\n>>> f(3)",
        "f(2) -> an int",
    ],
)
def test_text_that_is_no_example_is_none(prompt: str) -> None:
    assert call_examples(task(prompt, **asserting("assert f(1) == 4"))) == []


@pytest.mark.parametrize(
    "prompt",
    [
        "Add.\n\nInput\n\n1 2\n\nOutput\n\n3\n",
        "Add.\n\n-----Sample Input-----\n1 2\n\n-----Sample Output-----\n3\n\n-----Note-----\nx",
        "Sample Input 1:\n```\n1 2\n```\nSample Output 1:\n```\n3\n```\nExplanation: 1+2",
    ],
)
def test_an_example_of_a_run_is_read(prompt: str) -> None:
    case = {"stdin_text": "4 5", "expected_stdout_text": "9"}
    (found,) = run_examples(task(prompt, stdio={"cases": [case]}))
    assert (found.given, found.output) == ("1 2\n", "3\n")


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("assert f(2) == 7", 7),
        ("assert 7 == f(2)", 7),
        ("assert f(2) == [1, -2]", [1, -2]),
        ("assert not f(2)", False),
        ("assert f(2)", True),
        ("assert f(2) is None", None),
        ("self.assertEqual(f(2), 'x')", "x"),
        ("self.assertTrue(f(2))", True),
        ("assert f(2) == 7 and f(2) != 8", 7),
    ],
)
def test_an_expected_value_is_read(line: str, value: object) -> None:
    (found,) = expectations(task(**asserting(line)))
    assert (found.asked, found.value) == ("2", value)


def test_tests_that_cannot_be_read_as_one_text_are_read_one_by_one() -> None:
    assert [
        one.value for one in expectations(task(**asserting("assert f(", "assert f(2) == 7")))
    ] == [7]


LEAKING = ("assert f(2) == 7", "assert f(1234) == 3703", "assert f(3) == 10")


@pytest.mark.parametrize(
    ("prompt", "leaks"),
    [
        ("Write f. The answer for 1234 is 3703.", True),
        ("A hidden test wants 3703.", True),
        (">>> f(1234)\n3703", False),
        ("f(1234) should return 3703", False),
        ("Numbers are at most 3703.", False),
        ("It runs: assert f(1234) == 3703", True),
        (">>> assert f(1234) == 3703", False),
        ("The answer is 13703 or 37030.", False),
    ],
)
def test_a_distinctive_value_leaks_outside_of_examples(prompt: str, leaks: bool) -> None:
    assert bool(leaks_in_prompt(task(prompt, **asserting(*LEAKING)))) is leaks


def test_words_that_may_be_returned_do_not_leak() -> None:
    prompt = "The answer is 'not possible' or 'possible'."
    asserts = ("assert f(2) == 'not possible'", "assert f(3) == 'possible'")
    assert leaks_in_prompt(task(prompt, **asserting(*asserts))) == []


def test_a_data_file_that_prompt_or_reference_name_is_the_tasks_own() -> None:
    tests = {"function": {"entry_point": "f", "test_code": "open('a.json')\nassert f(1) == 2"}}
    request = {"text_data_files": {"data/a.json": "[]"}, **tests}
    assert answers_in_data(task(**request))
    assert answers_in_data(task("Read a.json.", **request)) == []
    assert answers_in_data(task(reference="open('a.json')", **request)) == []


@pytest.mark.parametrize(
    ("request_", "empty"),
    [
        ({"language": "python"}, True),
        (asserting(), True),
        (asserting("f(2)"), True),
        (asserting("assert f(2) == 7"), False),
        ({"function": {"entry_point": "f", "test_code": "def check(c):\n    c(1)"}}, True),
        (
            {"function": {"entry_point": "f", "test_code": "if f(1) != 2:\n    raise ValueError"}},
            False,
        ),
        ({"function": {"entry_point": "f", "test_code": "helper.assert_all(f)"}}, False),
        ({"call": {"entry_point": "f"}}, True),
        ({"stdio": {}}, True),
        ({"language": "c++", "program": {"test_code": "int main() { return f(1) != 2; }"}}, False),
        ({"language": "c++", "program": {"test_code": " "}}, True),
    ],
)
def test_tests_in_which_nothing_can_fail_are_none(request_: dict[str, Any], empty: bool) -> None:
    assert bool(why_no_tests(task(**request_))) is empty


def test_a_repository_may_have_its_tests_where_the_text_does_not_show_them() -> None:
    tests = {"image": "shop", "image_folder": "/testbed", "fail_to_pass": ["test_x.py::test_y"]}
    assert why_no_tests(task(repository=tests)) == ""
    assert why_no_tests(task(repository={**tests, "text_test_files": {"test_x.py": "1"}}))


def test_tests_are_turned_around_where_they_have_an_order() -> None:
    request = reordered(task(**asserting("assert f(1) == 4", "assert f(2) == 7")))
    assert request is not None
    assert list(request.function.asserts) == ["assert f(2) == 7", "assert f(1) == 4"]
    cases = [{"args_json": "[1]", "expected_json": "4"}, {"args_json": "[2]", "expected_json": "7"}]
    request = reordered(task(call={"entry_point": "f", "cases": cases}))
    assert request is not None
    assert [case.args_json for case in request.call.cases] == ["[2]", "[1]"]
    check = "def check(f):\n    'Tests.'\n    assert f(1) == 4\n    assert f(2) == 7\n"
    request = reordered(task(function={"entry_point": "f", "test_code": check}))
    assert request is not None
    assert request.function.test_code.index("f(2)") < request.function.test_code.index("f(1)")


def test_methods_are_turned_around_also_where_they_are_sorted_by_name() -> None:
    text = "class A:\n    def test_a(self): a\n    def help(self): b\n    def test_b(self): c\n"
    files = {"test_f.py": text}
    request = reordered(task(unit={"framework": "FRAMEWORK_UNITTEST", "files": files}))
    assert request is not None
    (found,) = ast.parse(request.unit.files["test_f.py"]).body
    assert isinstance(found, ast.ClassDef)
    names = [method.name for method in found.body if isinstance(method, ast.FunctionDef)]
    assert names == ["test_000_b", "help", "test_001_a"]


@pytest.mark.parametrize(
    "request_",
    [
        asserting("assert f(1) == 4"),
        {
            "function": {
                "entry_point": "f",
                "test_code": "def check(f):\n    x = 1\n    assert f(x)",
            }
        },
        {"stdio": {"cases": [{"stdin_text": "1"}, {"stdin_text": "2"}]}},
        {"language": "c++", "program": {"test_code": "int main() {}"}},
    ],
)
def test_tests_without_an_order_stay(request_: dict[str, Any]) -> None:
    assert reordered(task(**request_)) is None


def test_a_reference_is_whole_or_continues_the_prompt() -> None:
    tests = {"function": {"entry_point": "f", "test_code": "def check(c):\n    assert c(1) == 2"}}
    prompt = "import math\ndef f(x):\n"
    for reference in ("    return x + 1\n", "def f(x):\n    return x + 1\n"):
        line = {"task_id": "a", "request": {"prompt": prompt, **tests}, "reference": reference}
        (found,) = read_tasks([json.dumps(line).encode()])
        tree = reference_tree(found)
        assert tree is not None
        text = hollowed(tree, lambda _: statements("pass"))
        assert "def f(x):\n    pass" in text
        assert "x + 1" not in text
