"""Tasks and results as lines of JSON."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from typing import Any

import grpc
from google.protobuf import json_format

from codereward.v1 import reward_service_pb2 as pb

_FIELD = re.compile(r"Failed to parse (\w+) field")
_PATH = re.compile(r" at \"?ScoreRequest\.?([\w.\[\]]*)")
_UNKNOWN = re.compile(r"has no field named \"([^\"]+)\"")
_PLACE = re.compile(r"^[\w.\[\]]+(?=: )")
_BYTES_FIELDS = ("stdin", "expected_stdout", "expectedStdout")


class LineError(Exception):
    """A line that is no task.

    Args:
        field: path of the field that is wrong, or "".
        problem: what is wrong with it.
    """

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}" if field else problem)
        self.field = field
        self.problem = problem


def parse_task(line: bytes) -> pb.ScoreRequest:
    """Reads a task in protobuf's JSON form; names in snake case are taken too.

    Raises:
        LineError: it is no JSON object, or no task.
    """
    try:
        task = json.loads(line)
    except UnicodeDecodeError as error:
        raise LineError("", f"is not UTF-8: {error.reason} at byte {error.start}") from None
    except (ValueError, RecursionError) as error:
        raise LineError("", f"is not JSON: {error}") from None
    if not isinstance(task, dict):
        raise LineError("", "is not a JSON object")
    _check_bytes(task)
    try:
        return json_format.ParseDict(task, pb.ScoreRequest())
    except (json_format.ParseError, ValueError, TypeError, RecursionError) as error:
        raise _line_error(str(error)) from None


def identifier_of(line: bytes) -> str:
    """Returns the id of a line that may be no task, or ""."""
    try:
        task = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    given = task.get("id") if isinstance(task, dict) else None
    return given if isinstance(given, str) else ""


def result_of(response: pb.ScoreResponse) -> dict[str, Any]:
    """Describes an answer, with bare names of verdicts and outcomes."""
    return {
        "id": response.id,
        "verdict": _bare(pb.Verdict, response.verdict),
        "reward": response.reward if response.HasField("reward") else None,
        "integrity": _bare(pb.Integrity, response.integrity),
        "message": response.message,
        "tests": [_test(test) for test in response.tests],
        "error": None,
        "stdout": _stream(response.stdout),
        "stderr": _stream(response.stderr),
        "termination": _termination(response),
        "usage": _plain(response.usage),
        "limits_hit": [_bare(pb.LimitKind, kind) for kind in response.limits_hit],
        "signals": dict(response.signals),
        "deduplicated": response.deduplicated,
        "provenance": _plain(response.provenance),
    }


def result_of_line_error(line: bytes, number: int, error: LineError) -> dict[str, Any]:
    """Describes why a line was not sent."""
    return _unjudged(identifier_of(line), number, "INVALID_ARGUMENT", error.field, error.problem)


def result_of_status(identifier: str, number: int, error: grpc.aio.AioRpcError) -> dict[str, Any]:
    """Describes why a task was not judged."""
    problem = error.details() or "no reason was given"
    place = _PLACE.match(problem) if error.code() is grpc.StatusCode.INVALID_ARGUMENT else None
    field = place[0] if place else ""
    problem = problem.removeprefix(f"{field}: ") if field else problem
    return _unjudged(identifier, number, error.code().name, field, problem)


def _unjudged(
    identifier: str, number: int, status: str, field: str, problem: str
) -> dict[str, Any]:
    place = f"line {number}: {field}" if field else f"line {number}"
    return {
        "id": identifier,
        "verdict": None,
        "reward": None,
        "integrity": None,
        "message": "",
        "tests": [],
        "error": {
            "line": number,
            "status": status,
            "field": field,
            "message": f"{place}: {problem}",
        },
    }


def _check_bytes(task: Mapping[str, Any]) -> None:
    """Refuses plain text where protobuf's JSON form has base64, which decoders read as noise."""
    stdio = task.get("stdio")
    cases = stdio.get("cases") if isinstance(stdio, dict) else None
    for index, case in enumerate(cases if isinstance(cases, list) else []):
        for name in _BYTES_FIELDS if isinstance(case, dict) else ():
            if not _is_base64(case.get(name, "")):
                place = f"stdio.cases[{index}].{name}"
                raise LineError(place, "is not base64, which is the JSON form of bytes")


def _is_base64(value: object) -> bool:
    if not isinstance(value, str):
        return value is None
    text = value.rstrip("=").translate(str.maketrans("-_", "+/"))
    try:
        base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _line_error(text: str) -> LineError:
    """Reads the path of the wrong field out of what the JSON parser says."""
    first_line = text.partition("\n")[0]
    if unknown := _UNKNOWN.search(first_line):
        parent = _PATH.search(first_line)
        path = f"{parent[1] if parent else ''}.{unknown[1]}".lstrip(".")
        return LineError(path, "is not known")
    path = ".".join(_FIELD.findall(first_line))
    if place := _PATH.search(first_line):
        path = place[1].rstrip(".") or path
    problem = _PATH.sub("", _FIELD.sub("", first_line)).strip(": .")
    return LineError(path, problem or "cannot be read")


def _bare(kind: Any, number: int) -> str:
    """Returns a value's name without its enum's: VERDICT_PASSED is PASSED."""
    name: str = kind.Name(number)
    prefix = re.sub(r"(?<!^)(?=[A-Z])", "_", kind.DESCRIPTOR.name).upper()
    return name.removeprefix(f"{prefix}_")


def _test(test: pb.TestResult) -> dict[str, Any]:
    return {
        "name": test.name,
        "outcome": _bare(pb.TestOutcome, test.outcome),
        "message": test.message,
        "weight": test.weight,
        "wall_time_seconds": test.wall_time_seconds,
    }


def _stream(stream: pb.CapturedStream) -> dict[str, Any]:
    return {
        "text": stream.data.decode("utf-8", "replace"),
        "size_bytes": stream.size_bytes,
        "truncated": stream.truncated,
    }


def _termination(response: pb.ScoreResponse) -> dict[str, Any] | None:
    if not response.HasField("termination"):
        return None
    end = response.termination
    kind = _bare(pb.TerminationKind, end.kind)
    return {"kind": kind, "exit_code": end.exit_code, "signal": end.signal}


def _plain(message: Any) -> dict[str, Any]:
    return {field.name: getattr(message, field.name) for field in message.DESCRIPTOR.fields}
