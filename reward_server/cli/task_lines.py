"""Tasks and results as lines of JSON."""

from __future__ import annotations

import json
import re
from typing import Any

import grpc

from codereward.request_json import RequestJsonError
from codereward.v1 import reward_service_pb2 as pb

_PLACE = re.compile(r"^[\w.\[\]]+(?=: )")


def identifier_of(line: bytes) -> str:
    """Returns the id of a line, which may be no task; "" if it has none."""
    try:
        task = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    given = task.get("id") if isinstance(task, dict) else None
    return given if isinstance(given, str) else ""


def result_of(response: pb.ScoreResponse) -> dict[str, Any]:
    """Describes an answer, with the short names of verdicts and outcomes."""
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
        "missing_modules": list(response.missing_modules),
        "signals": dict(response.signals),
        "deduplicated": response.deduplicated,
        "provenance": _plain(response.provenance),
    }


def result_of_line_error(line: bytes, number: int, error: RequestJsonError) -> dict[str, Any]:
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


def _bare(kind: Any, number: int) -> str:
    """Returns a value's name without its enum's prefix: VERDICT_PASSED becomes PASSED."""
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
