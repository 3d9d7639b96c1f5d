"""Templates as JSON: one `ScoreRequest` in protobuf's JSON form, or a file of one a line, by `id`.

It is the form that `reward-server grade` reads, without a completion.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from google.protobuf import json_format

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.errors import TaskError

_FORM = "ScoreRequest"


def from_json(value: str | bytes | Mapping[str, Any]) -> pb.ScoreRequest:
    """Reads a request in protobuf's JSON form; names in snake case are taken too.

    Raises:
        TaskError: it is no JSON object, or no request.
    """
    task = value if isinstance(value, Mapping) else decoded(_FORM, value)
    _check_bytes(task)
    try:
        return json_format.ParseDict(dict(task), pb.ScoreRequest())
    except (json_format.ParseError, ValueError, TypeError, RecursionError) as error:
        raise TaskError(_FORM, "JSON", str(error).partition("\n")[0]) from None


def decoded(form: str, text: str | bytes) -> dict[str, Any]:
    """Reads a JSON object.

    Args:
        form: what it is to become, for messages.
        text: the object.

    Raises:
        TaskError: it is none.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TaskError(form, "JSON", f"cannot be read: {error}") from None
    if not isinstance(value, dict):
        raise TaskError(form, "JSON", f"must be an object, not {type(value).__name__}")
    return value


def write_templates(file: Path, templates: Mapping[str, pb.ScoreRequest]) -> None:
    """Writes templates, such as those of `templates`, with their keys as `id`."""
    with file.open("w", encoding="utf-8") as lines:
        for key, template in templates.items():
            request = pb.ScoreRequest()
            request.CopyFrom(template)
            request.id = key
            lines.write(_line(request) + "\n")


def read_templates(file: Path) -> dict[str, pb.ScoreRequest]:
    """Reads templates by `id`; blank lines count for nothing.

    Raises:
        TaskError: a line is no request, has no id, or has another line's.
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


def _check_bytes(task: Mapping[str, Any]) -> None:
    """Refuses plain text where protobuf's JSON form has base64, which decoders read as noise."""
    for path, value in _bytes_fields(task):
        if not _is_base64(value):
            raise TaskError(_FORM, path, "is not base64, which is the JSON form of bytes")


def _bytes_fields(task: Mapping[str, Any]) -> list[tuple[str, object]]:
    stdio = task.get("stdio")
    cases = stdio.get("cases") if isinstance(stdio, Mapping) else None
    found = [
        (f"stdio.cases[{index}].{name}", case.get(name))
        for index, case in enumerate(cases if isinstance(cases, list) else [])
        for name in ("stdin", "expected_stdout", "expectedStdout")
        if isinstance(case, Mapping)
    ]
    for field in ("files", "data_files", "dataFiles"):
        files = task.get(field)
        if isinstance(files, Mapping):
            found += [(f"{field}[{name!r}]", content) for name, content in files.items()]
    return found


def _is_base64(value: object) -> bool:
    if not isinstance(value, str):
        return value is None
    text = value.rstrip("=").translate(str.maketrans("-_", "+/"))
    try:
        base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True
