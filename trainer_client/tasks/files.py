"""Reads and writes templates in protobuf's JSON form, one `ScoreRequest` on each line of a file.

The form is the one that `reward-server grade` reads, without a completion.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from google.protobuf import json_format

from codereward.request_json import RequestJsonError, parse_object, parse_request
from codereward.v1 import reward_service_pb2 as pb
from trainer_client.errors import TaskError

_FORM = "ScoreRequest"


def from_json(value: str | bytes | Mapping[str, Any]) -> pb.ScoreRequest:
    """Reads a request in protobuf's JSON form; field names may be in camel case or snake case.

    Raises:
        TaskError: the value is no JSON object, or no request.

    Examples:
        >>> from trainer_client import tasks
        >>> case = {"stdin_text": "1 2", "expected_stdout_text": "3"}
        >>> request = tasks.from_json({"language": "c", "stdio": {"cases": [case]}})
        >>> request.stdio.cases[0].stdin_text
        '1 2'
    """
    try:
        return parse_request(value)
    except RequestJsonError as error:
        raise TaskError(_FORM, error.field or "JSON", error.problem) from None


def decoded(form: str, text: str | bytes) -> dict[str, Any]:
    """Reads a JSON object.

    Args:
        form: name of the expected content, for messages.
        text: the object.

    Raises:
        TaskError: the text is no JSON object.
    """
    try:
        return parse_object(text)
    except RequestJsonError as error:
        raise TaskError(form, "JSON", error.problem) from None


def write_templates(file: Path, templates: Mapping[str, pb.ScoreRequest]) -> None:
    """Writes templates, such as those of `templates`, with their keys as `id`."""
    with file.open("w", encoding="utf-8") as lines:
        for key, template in templates.items():
            request = pb.ScoreRequest()
            request.CopyFrom(template)
            request.id = key
            lines.write(_line(request) + "\n")


def read_templates(file: Path) -> dict[str, pb.ScoreRequest]:
    """Reads templates by `id`; ignores blank lines.

    Raises:
        TaskError: a line is no request, has no id, or has the same id as another line.
        OSError: the file cannot be read.
    """
    found: dict[str, pb.ScoreRequest] = {}
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                template = _template(f"{file.name} line {number}", line)
                _keep(found, template, f"{file.name} line {number}")
    return found


def _template(place: str, line: bytes) -> pb.ScoreRequest:
    try:
        return from_json(line)
    except TaskError as error:
        raise TaskError(place, error.field, error.problem) from None


def _keep(found: dict[str, pb.ScoreRequest], template: pb.ScoreRequest, place: str) -> None:
    if not template.id or template.id in found:
        problem = f"{template.id!r} is another line's" if template.id else "is absent"
        raise TaskError(place, "id", problem)
    found[template.id] = template


def _line(request: pb.ScoreRequest) -> str:
    return json_format.MessageToJson(
        request, indent=None, preserving_proto_field_name=True, ensure_ascii=False
    )
