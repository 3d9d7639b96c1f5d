"""Lines of a file become tasks, or an error that names the line and the field."""

from __future__ import annotations

import json

import pytest
from google.protobuf import json_format

from codereward.v1 import reward_service_pb2 as pb
from reward_server.audit.duplicates import repeats
from reward_server.audit.tasks import Task, TaskLineError, read_tasks

REQUEST = {"function": {"entry_point": "f", "asserts": ["assert f(2) == 7"]}}

VALUES = {
    "language": "c++",
    "prompt": "def g(x):",
    "extraction": "EXTRACTION_NONE",
    "files": {"a": "eA=="},
    "data_files": {"a": "eA=="},
    "text_files": {"b": "x"},
    "text_data_files": {"b": "x"},
    "function": {"entry_point": "g"},
    "call": {"entry_point": "g"},
    "stdio": {"cases": []},
    "unit": {"solution_path": "a.py"},
    "program": {"test_code": "x"},
    "repository": {"folder": "shop"},
    "limits": {"calls": 9},
    "reward_policy": {"first_k": 2},
    "require_integrity": "INTEGRITY_ISOLATED",
    "tags": {"a": "b"},
    "completion_size_bytes": 5,
    "time_budget_seconds": 5.0,
    "network": "NETWORK_LOOPBACK",
    "task_digest": "eA==",
}


def tasks(*lines: object) -> list[Task]:
    return list(read_tasks(json.dumps(line).encode() for line in lines))


def test_a_request_and_a_row_of_the_same_task_have_the_same_digest_and_reference() -> None:
    as_request, as_row, as_text = tasks(
        {"id": "a", "completion": "def f(x): ...", "limits": {"memory_bytes": 1 << 27}, **REQUEST},
        {"task_id": "b", "prompt": "Write f.", "request": REQUEST, "reference": "def f(x): ..."},
        {"task_id": 3, "request": json.dumps(REQUEST)},
    )
    assert as_request.digest == as_row.digest == as_text.digest
    assert as_request.reference == as_row.reference == "def f(x): ..."
    assert (as_text.id, as_text.reference, as_text.shown) == ("3", "", "")
    assert as_request.template.completion == ""
    assert as_row.filled("x").completion == "x"


def test_messages_of_a_chat_are_what_a_model_reads_and_code_is_not_repeated() -> None:
    request = {"prompt": "def f(x):\n", **REQUEST}
    turns = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Write f."}]
    one, two = tasks(
        {"task_id": "a", "prompt": turns, "request": request},
        {"task_id": "b", "prompt": "Complete:\ndef f(x):\n", "request": request},
    )
    assert one.question == "Be brief.\nWrite f.\ndef f(x):\n"
    assert two.question == "Complete:\ndef f(x):\n"


def test_a_task_without_an_id_is_named_by_its_line() -> None:
    lines = [b"\n", json.dumps(REQUEST).encode()]
    assert [task.id for task in read_tasks(lines)] == ["line 2"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("[]", "line 1: is not a JSON object"),
        ('{"reqest": {}}', "line 1: reqest: is not known"),
        ('{"request": 5}', "line 1: request: must be an object or JSON text"),
        ('{"request": {"functions": {}}}', "line 1: request.functions: is not known"),
        ('{"request": {}, "reference": 5}', "line 1: reference: must be text"),
    ],
)
def test_a_line_that_is_no_task_is_named(line: str, problem: str) -> None:
    with pytest.raises(TaskLineError, match=problem):
        list(read_tasks([line.encode()]))


def test_a_task_is_repeated_by_the_same_tests_and_by_the_same_prompt() -> None:
    question = "Write a function that triples a number and adds one."
    other = {"function": {"entry_point": "f", "asserts": ["assert f(3) == 10"]}}
    lines = [
        {"task_id": "a", "prompt": question, "request": REQUEST},
        {"task_id": "b", "prompt": f"  {question.upper()}\n", "request": REQUEST},
        {"task_id": "c", "prompt": question, "request": other},
        {"task_id": "d", "prompt": "Another question.", "request": REQUEST},
        {"task_id": "e", "request": REQUEST},
        {"task_id": "f", "request": other},
        {"task_id": "g", "prompt": question, "request": {**REQUEST, "language": "javascript"}},
    ]
    found = {key: (one.of, one.whole) for key, one in repeats(tasks(*lines)).items()}
    assert found == {"b": ("a", True), "c": ("a", False)}


def test_the_digest_is_of_what_a_stored_task_has_and_of_nothing_else() -> None:
    (task,) = tasks({"id": "a", **REQUEST})
    for name, field in pb.ScoreRequest.DESCRIPTOR.fields_by_name.items():
        if name in ("id", "completion"):
            continue  # never part of a template
        other = pb.ScoreRequest()
        other.CopyFrom(task.template)
        other.MergeFrom(json_format.ParseDict({name: VALUES[field.name]}, pb.ScoreRequest()))
        changed = Task(id="a", line={}, template=other, shown="", reference="")
        is_of_the_task = name in pb.Task.DESCRIPTOR.fields_by_name
        assert (changed.digest != task.digest) is is_of_the_task, name
