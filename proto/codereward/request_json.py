"""The JSON form of a request: protobuf's, with errors that name the field.

Bytes fields hold base64. Many texts are base64 by chance, so a text that is meant for a bytes field
may be decoded to something else without an error: `stdin_text`, `expected_stdout_text`,
`text_files` and `text_data_files` take text as it is.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from codereward.v1 import reward_service_pb2 as pb

_FIELD = re.compile(r"Failed to parse (\w+) field")
_PATH = re.compile(r" at \"?(?:Score|Execute)Request\.?([\w.\[\]]*)")
_UNKNOWN = re.compile(r"has no field named \"([^\"]+)\"")
# The text field that stands beside a bytes field.
_TEXT_FIELDS = {
    "stdin": "stdin_text",
    "expected_stdout": "expected_stdout_text",
    "files": "text_files",
    "data_files": "text_data_files",
    "test_files": "text_test_files",
}


_M = TypeVar("_M", bound=Message)


class RequestJsonError(ValueError):
    """A text or an object that is no request.

    Args:
        field: path of the field that is wrong, or "".
        problem: what is wrong with it.
    """

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}" if field else problem)
        self.field = field
        self.problem = problem


def parse_object(text: str | bytes) -> dict[str, Any]:
    """Reads a JSON object.

    Raises:
        RequestJsonError: it is none.
    """
    try:
        value = json.loads(text)
    except UnicodeDecodeError as error:
        problem = f"is not UTF-8: {error.reason} at byte {error.start}"
        raise RequestJsonError("", problem) from None
    except (ValueError, RecursionError) as error:
        raise RequestJsonError("", f"is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise RequestJsonError("", "is not a JSON object")
    return value


def parse_request(value: str | bytes | Mapping[str, Any]) -> pb.ScoreRequest:
    """Reads a request to judge a completion; see `parse_message`."""
    return parse_message(value, pb.ScoreRequest)


def parse_message(value: str | bytes | Mapping[str, Any], kind: type[_M]) -> _M:
    """Reads a message; names in snake case and in camel case are taken.

    Raises:
        RequestJsonError: it is no JSON object, or no such message.
    """
    task = value if isinstance(value, Mapping) else parse_object(value)
    for path, name, found in _bytes_values(task, kind.DESCRIPTOR, ""):
        if not _is_base64(found):
            problem = "is not base64, the JSON form of bytes"
            if name in _TEXT_FIELDS:
                problem = f"{problem}; for text there is {_TEXT_FIELDS[name]}"
            raise RequestJsonError(path, problem)
    try:
        return json_format.ParseDict(dict(task), kind())
    except (json_format.ParseError, ValueError, TypeError, RecursionError) as error:
        raise _named_error(str(error)) from None


def _bytes_values(
    value: Mapping[str, Any], kind: Descriptor, path: str
) -> Iterator[tuple[str, str, object]]:
    """Yields path, field name and value wherever the form has base64."""
    for name, content in value.items():
        field = kind.fields_by_camelcase_name.get(name) or kind.fields_by_name.get(name)
        if field is None:
            continue
        yield from _bytes_within(content, field, f"{path}{name}")


def _bytes_within(
    content: object, field: FieldDescriptor, path: str
) -> Iterator[tuple[str, str, object]]:
    if field.type == FieldDescriptor.TYPE_BYTES:
        yield path, field.name, content
        return
    kind = field.message_type
    if kind is None:
        return
    if kind.GetOptions().map_entry:
        if kind.fields_by_name["value"].type == FieldDescriptor.TYPE_BYTES:
            items = content.items() if isinstance(content, Mapping) else ()
            yield from ((f"{path}[{key!r}]", field.name, item) for key, item in items)
    elif isinstance(content, Mapping):
        yield from _bytes_values(content, kind, f"{path}.")
    elif isinstance(content, Sequence) and not isinstance(content, str):
        for index, item in enumerate(content):
            if isinstance(item, Mapping):
                yield from _bytes_values(item, kind, f"{path}[{index}].")


def _is_base64(value: object) -> bool:
    if not isinstance(value, str):
        return value is None
    text = value.rstrip("=").translate(str.maketrans("-_", "+/"))
    try:
        base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _named_error(text: str) -> RequestJsonError:
    """Reads the path of the wrong field out of what the JSON parser says."""
    first_line = text.partition("\n")[0]
    if unknown := _UNKNOWN.search(first_line):
        parent = _PATH.search(first_line)
        path = f"{parent[1] if parent else ''}.{unknown[1]}".lstrip(".")
        return RequestJsonError(path, "is not known")
    path = ".".join(_FIELD.findall(first_line))
    if place := _PATH.search(first_line):
        path = place[1].rstrip(".") or path
    problem = _PATH.sub("", _FIELD.sub("", first_line)).strip(": .")
    return RequestJsonError(path, problem or "cannot be read")
