from __future__ import annotations

import base64
import json

import grpc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codereward.request_json import RequestJsonError, parse_request
from codereward.v1 import reward_service_pb2 as pb
from reward_server.cli.task_lines import (
    result_of,
    result_of_line_error,
    result_of_status,
)
from tests.support.sampling import times


def line(**task: object) -> bytes:
    return json.dumps(task).encode()


def refused(text: bytes) -> RequestJsonError:
    with pytest.raises(RequestJsonError) as raised:
        parse_request(text)
    return raised.value


def test_names_in_snake_case_and_in_camel_case_are_taken() -> None:
    snake = parse_request(
        line(require_integrity="INTEGRITY_ISOLATED", function={"entry_point": "f"})
    )
    camel = parse_request(line(requireIntegrity="INTEGRITY_ISOLATED", function={"entryPoint": "f"}))
    assert snake == camel
    assert snake.function.entry_point == "f"


def test_bytes_are_base64() -> None:
    text = base64.b64encode(b"\xff\xfe?").decode()
    for value in (text, text.rstrip("="), text.replace("/", "_")):
        task = parse_request(line(stdio={"cases": [{"stdin": value, "expectedStdout": value}]}))
        assert task.stdio.cases[0].stdin == b"\xff\xfe?"


@pytest.mark.parametrize("name", ["stdin", "expected_stdout", "expectedStdout"])
@pytest.mark.parametrize("text", ["1 2\n", "5", "yes\n", "über"])
def test_plain_text_in_place_of_bytes_is_refused_and_not_read_as_noise(
    name: str, text: str
) -> None:
    error = refused(line(stdio={"cases": [{}, {name: text}]}))
    assert error.field == f"stdio.cases[1].{name}"
    assert "base64" in error.problem
    assert "_text" in error.problem


@pytest.mark.parametrize(
    ("task", "field"),
    [
        ({"files": {"a.txt": "plain text"}}, "files['a.txt']"),
        ({"data_files": {"a/b": "1 2"}}, "data_files['a/b']"),
        ({"dataFiles": {"a": 1}}, "dataFiles['a']"),
    ],
)
def test_plain_text_in_place_of_a_files_bytes_is_refused(
    task: dict[str, object], field: str
) -> None:
    assert refused(line(**task)).field == field


def test_text_that_is_base64_by_chance_stays_text_in_the_fields_of_text() -> None:
    case = {"stdin_text": "abcd", "expectedStdoutText": "YWJj"}
    task = parse_request(
        line(stdio={"cases": [case]}, text_files={"a": "abcd"}, textDataFiles={"b": "abcd"})
    )
    assert task.stdio.cases[0].stdin_text == "abcd"
    assert task.stdio.cases[0].expected_stdout_text == "YWJj"
    assert dict(task.text_files) == {"a": "abcd"}
    assert dict(task.text_data_files) == {"b": "abcd"}


@pytest.mark.parametrize(
    ("text", "field", "problem"),
    [
        (b"{", "", "is not JSON"),
        (b"[" * 100_000, "", "is not JSON"),
        (b'{"id": "\xff"}', "", "is not UTF-8"),
        (b"[1]", "", "is not a JSON object"),
        (line(bogus=1), "bogus", "is not known"),
        (line(limits={"bogus": 1}), "limits.bogus", "is not known"),
        (line(limits={"calls": "many"}), "limits.calls", "many"),
        (line(completion=3), "completion", ""),
        (line(completion="\ud800"), "completion", ""),
        (line(extraction="EXTRACTION_BOGUS"), "extraction", "EXTRACTION_BOGUS"),
        (line(stdio={"cases": [{"stdin": 3}]}), "stdio.cases[0].stdin", ""),
        (line(function={}, call={}), "", "oneof"),
        (line(task_digest="not a digest"), "task_digest", "is not base64"),
    ],
)
def test_a_line_that_is_no_task_is_refused_by_field(text: bytes, field: str, problem: str) -> None:
    error = refused(text)
    assert error.field == field
    assert problem in error.problem


@given(st.binary(max_size=200))
def test_no_line_crashes_it(text: bytes) -> None:
    try:
        parse_request(text)
    except RequestJsonError as error:
        json.dumps(result_of_line_error(text, 1, error))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


fields = dict.fromkeys(pb.ScoreRequest.DESCRIPTOR.fields_by_name, json_values)


@settings(max_examples=times(100, by_default=40))
@given(st.fixed_dictionaries({}, optional=fields))
def test_no_object_crashes_it(task: dict[str, object]) -> None:
    text = json.dumps(task).encode()
    try:
        parse_request(text)
    except RequestJsonError as error:
        json.dumps(result_of_line_error(text, 1, error))


def test_a_result_has_bare_names_and_readable_streams() -> None:
    response = pb.ScoreResponse(
        id="a",
        verdict=pb.VERDICT_TIME_LIMIT_EXCEEDED,
        reward=0.0,
        integrity=pb.INTEGRITY_ISOLATED,
        tests=[pb.TestResult(name="check", outcome=pb.TEST_OUTCOME_NOT_RUN, weight=1.0)],
        stdout=pb.CapturedStream(data=b"a\xff", size_bytes=9, truncated=True),
        termination=pb.Termination(kind=pb.TERMINATION_KIND_LIMIT),
        usage=pb.Usage(executions=1),
        limits_hit=[pb.LIMIT_KIND_CPU_TIME],
        signals={"early_exit": 2},
    )
    result = json.loads(json.dumps(result_of(response)))
    assert result["verdict"] == "TIME_LIMIT_EXCEEDED"
    assert result["reward"] == 0.0
    assert result["integrity"] == "ISOLATED"
    assert result["tests"][0]["outcome"] == "NOT_RUN"
    assert result["error"] is None
    assert result["stdout"] == {"text": "a\ufffd", "size_bytes": 9, "truncated": True}
    assert result["termination"]["kind"] == "LIMIT"
    assert result["limits_hit"] == ["CPU_TIME"]
    assert result["signals"] == {"early_exit": 2}
    assert result["usage"]["executions"] == 1


def test_a_missing_reward_is_null_and_not_zero() -> None:
    result = result_of(pb.ScoreResponse(verdict=pb.VERDICT_INVALID_TASK))
    assert result["reward"] is None
    assert result["termination"] is None


def status(code: grpc.StatusCode, details: str) -> grpc.aio.AioRpcError:
    nothing = grpc.aio.Metadata()
    return grpc.aio.AioRpcError(code, nothing, nothing, details)


def test_an_unjudged_result_names_line_status_and_field() -> None:
    error = status(grpc.StatusCode.INVALID_ARGUMENT, "limits.calls: is 0; it must be at least 1")
    result = result_of_status("a", 7, error)
    assert result["verdict"] is None
    assert result["reward"] is None
    assert result["error"] == {
        "line": 7,
        "status": "INVALID_ARGUMENT",
        "field": "limits.calls",
        "message": "line 7: limits.calls: is 0; it must be at least 1",
    }


def test_a_status_that_is_about_no_field_names_none() -> None:
    result = result_of_status("a", 7, status(grpc.StatusCode.UNAVAILABLE, "gone: away"))
    assert result["error"]["field"] == ""
    assert result["error"]["message"] == "line 7: gone: away"
