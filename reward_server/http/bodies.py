"""Reads, unpacks and echoes the bodies of requests, and names the field that is wrong."""

from __future__ import annotations

import re
import zlib
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from starlette.responses import JSONResponse, Response

from reward_server.errors import InvalidRequestError
from reward_server.http.failures import OversizeBodyError

_Model = TypeVar("_Model", bound=BaseModel)
_GZIP = 16 + zlib.MAX_WBITS
# An empty object takes 2 bytes of JSON, and hundreds of bytes of memory while it is read.
MOST_CONTAINERS, MOST_ITEMS = 100_000, 500_000
BATCH = 12  # a batch may have about a million cases, and so many times these numbers
_NEXT = re.compile(rb'(?:[^"{\[,]+|"[^"\\]*(?:\\.[^"\\]*)*")*+[{\[,]', re.DOTALL)
_COMMA = ord(",")
_FORBIDDEN, _UNKNOWN = "extra_forbidden", "is not known"


def read_body(kind: type[_Model], body: bytes) -> _Model:
    """Reads a body.

    Raises:
        InvalidRequestError: it is not such a body.
    """
    check_size(body)
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        raise wrong_field(error) from None


def wrong_field(error: ValidationError) -> InvalidRequestError:
    """Returns the refusal of the first field that is wrong or unknown."""
    first = error.errors(include_url=False, include_input=False)[0]
    field = ".".join(map(str, first["loc"])) or "request"
    return InvalidRequestError(field, _UNKNOWN if first["type"] == _FORBIDDEN else first["msg"])


def check_size(body: bytes, *, times: int = 1) -> None:
    """Refuses JSON that would take a large multiple of its size in memory.

    Args:
        body: the JSON.
        times: how many times as many parts are allowed as for other bodies.

    Raises:
        InvalidRequestError: it has too many objects, lists or items.
    """
    most_containers, most_items = times * MOST_CONTAINERS, times * MOST_ITEMS
    containers = body.count(b"{") + body.count(b"[")
    if containers <= most_containers and body.count(b",") <= most_items:
        return
    # Most of these may be in strings.
    containers = items = position = 0
    while found := _NEXT.match(body, position):
        position = found.end()
        if body[position - 1] == _COMMA:
            items += 1
        else:
            containers += 1
        if containers > most_containers or items > most_items:
            raise InvalidRequestError(
                "request",
                f"has more than {most_containers} objects and lists, or {most_items} items",
            )


def echo(value: object) -> Response:
    """Returns an answer that holds parts of a request.

    Raises:
        InvalidRequestError: they hold a number that JSON does not have, such as NaN.
    """
    try:
        return JSONResponse(value)
    except ValueError as error:
        raise InvalidRequestError("request", f"cannot be answered in JSON: {error}") from None


def unpacked(body: bytes, most_bytes: int) -> bytes:
    """Returns the content of gzip.

    Raises:
        InvalidRequestError: it is not gzip.
        OversizeBodyError: the content has more than `most_bytes`.
    """
    reader = zlib.decompressobj(_GZIP)
    try:
        content = reader.decompress(body, most_bytes)
    except zlib.error:
        raise InvalidRequestError("request", "is not gzip") from None
    if reader.unconsumed_tail:
        raise OversizeBodyError("request", f"has more than {most_bytes} bytes")
    if not reader.eof:
        raise InvalidRequestError("request", "is gzip without an end")
    return content
