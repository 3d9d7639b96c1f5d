"""Converts failures of the server to HTTP answers, by the gRPC status that each has."""

from __future__ import annotations

import math
from typing import Any

from starlette.responses import JSONResponse, Response

from reward_server.errors import DeadlineError, InvalidRequestError, OverloadedError
from reward_server.rpc import status

_STATUSES = {
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "UNAUTHENTICATED": 401,
    "NOT_FOUND": 404,
    "RESOURCE_EXHAUSTED": 429,
    "DEADLINE_EXCEEDED": 504,
    "UNAVAILABLE": 503,
}
_TOO_SLOW, _TOO_LARGE, _INTERNAL = 408, 413, 500
_FIELD_CHARACTERS = 500  # of the name of a field, which the caller may have invented


class OversizeBodyError(InvalidRequestError):
    """A body that has more bytes than a request may have."""


class SlowBodyError(DeadlineError):
    """A body that did not arrive in time."""


def status_of(error: Exception) -> int:
    """Returns the HTTP status of a failure."""
    if isinstance(error, OversizeBodyError):
        return _TOO_LARGE
    if isinstance(error, SlowBodyError):
        return _TOO_SLOW
    return _STATUSES.get(status.code_of(error).name, _INTERNAL)


def refusal(error: Exception, code: int | None = None) -> Response:
    """Returns the answer of a failure: its code, its name, and an explanation.

    Args:
        error: the failure.
        code: the HTTP status; by default that of the failure.
    """
    code = status_of(error) if code is None else code
    told: dict[str, Any] = {
        "code": code,
        "status": status.code_of(error).name,
        "message": status.message_of(error),
    }
    headers = {}
    if isinstance(error, InvalidRequestError):
        told["field"] = error.field[:_FIELD_CHARACTERS]
    if isinstance(error, OverloadedError):
        told["retry_after_seconds"] = round(error.retry_after_seconds, 3)
        headers["Retry-After"] = str(math.ceil(error.retry_after_seconds))
    if code in (_TOO_SLOW, _TOO_LARGE):
        headers["Connection"] = "close"  # the rest of the body is not read
    return JSONResponse(told, code, headers)
