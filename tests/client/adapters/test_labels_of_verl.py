"""Labels in the form of verl's ground truth, which a judge reads with and without a format."""

from __future__ import annotations

import json

import pytest

from trainer_client import TaskError
from trainer_client.adapters.common.judge import Judge

PROGRAM = {"inputs": ["3\n"], "outputs": ["6\n"]}
FUNCTION = {"inputs": ["[3]\n4"], "outputs": ["7"], "fn_name": "add"}
ASSERTIONS = ["assert twice(3) == 6", "assert twice(0) == 0"]


def judge(task_format: str | None) -> Judge:
    return Judge("127.0.0.1:1", task_format=task_format)


@pytest.mark.parametrize("task_format", [None, "verl"])
@pytest.mark.parametrize(
    ("label", "kind"),
    [
        (PROGRAM, "stdio"),
        (FUNCTION, "call"),
        (ASSERTIONS, "function"),
        ({"assert_case": ASSERTIONS, "fn_name": "twice"}, "function"),
    ],
)
def test_tests_of_verl_are_a_label_as_object_and_as_json(
    task_format: str | None, label: object, kind: str
) -> None:
    template = judge(task_format).template(label)
    assert template.WhichOneof("tests") == kind
    assert judge(task_format).template(json.dumps(label)) == template


def test_arguments_are_one_json_value_on_each_line() -> None:
    (case,) = judge(None).template(FUNCTION).call.cases
    assert (json.loads(case.args_json), json.loads(case.expected_json)) == ([[3], 4], 7)


def test_assertions_may_be_lines_of_a_text() -> None:
    template = judge(None).template("\n".join(ASSERTIONS))
    assert list(template.function.asserts) == ASSERTIONS


@pytest.mark.parametrize("form", ["object", "json"])
def test_calls_are_never_judged_as_programs(form: str) -> None:
    label = FUNCTION if form == "object" else json.dumps(FUNCTION)
    with pytest.raises(TaskError, match="fn_name: names a function"):
        judge("stdio").template(label)


@pytest.mark.parametrize("label", [[], [1], 7.5, None, "[1, 2]"])
def test_what_is_no_label_is_refused_in_plain_words(label: object) -> None:
    with pytest.raises(TaskError) as caught:
        judge(None).template(label)
    assert "NoneType" not in str(caught.value)
    assert "float" not in str(caught.value)
