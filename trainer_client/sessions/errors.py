"""Makes the errors of sessions from the statuses of calls."""

from __future__ import annotations

from typing import Any

import grpc
from google.rpc import (  # type: ignore[import-untyped]  # ships no types
    error_details_pb2,
    status_pb2,
)

from trainer_client.errors import (
    CallError,
    SessionEndedError,
    SessionFileError,
    SessionProcessError,
)
from trainer_client.transport.hints import explained

_DETAILS = "grpc-status-details-bin"
_DOMAIN = "codereward"


def error_of(error: grpc.aio.AioRpcError) -> CallError:
    """Returns the error for a call that failed."""
    status, message = error.code().name, explained(error.details() or "")
    reason = _reason(error)
    if reason.startswith("SESSION_"):
        return SessionEndedError(status, message, reason)
    if reason.startswith("FILE_"):
        return SessionFileError(status, message, reason)
    if reason.startswith("PROCESS_"):
        return SessionProcessError(status, message, reason)
    return CallError(status, message)


def _reason(error: grpc.aio.AioRpcError) -> str:
    """Returns the reason in a status' details, or an empty text."""
    trailers: Any = error.trailing_metadata() or ()
    for key, value in trailers:
        if key != _DETAILS:
            continue
        for detail in status_pb2.Status.FromString(value).details:
            info = error_details_pb2.ErrorInfo()
            if detail.Unpack(info) and info.domain == _DOMAIN:
                return str(info.reason)
    return ""
