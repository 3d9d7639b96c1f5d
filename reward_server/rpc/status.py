"""Converts failures of the server to gRPC statuses; no other module chooses a status.

An RPC that judged a program has the status OK, even if the program failed. Every status here means
that nothing was judged, or that a session did not do what was asked. A retry can help after three
statuses: after RESOURCE_EXHAUSTED with a pushback, after UNAVAILABLE, and after NOT_FOUND if the
task was stored again before the retry.
"""

from __future__ import annotations

import re
from typing import NoReturn

import grpc
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]  # no stubs
from grpc_status import rpc_status

from reward_server.errors import (
    DeadlineError,
    DrainingError,
    InvalidRequestError,
    OverloadedError,
    QuotaError,
    SandboxError,
    SessionEndedError,
    SessionFileError,
    SessionProcessError,
    UnauthenticatedError,
    UnknownTaskError,
    UnsupportedError,
)

TASK_TYPE = "codereward.v1.Task"
_INTERNAL = "internal"
ERROR_DOMAIN = "codereward"
_FILE_NOT_FOUND = "FILE_NOT_FOUND"
PROCESS_NOT_FOUND = "PROCESS_NOT_FOUND"
PUSHBACK = "grpc-retry-pushback-ms"

_CODES: dict[type[Exception], grpc.StatusCode] = {
    InvalidRequestError: grpc.StatusCode.INVALID_ARGUMENT,
    UnsupportedError: grpc.StatusCode.FAILED_PRECONDITION,
    UnauthenticatedError: grpc.StatusCode.UNAUTHENTICATED,
    UnknownTaskError: grpc.StatusCode.NOT_FOUND,
    OverloadedError: grpc.StatusCode.RESOURCE_EXHAUSTED,
    QuotaError: grpc.StatusCode.RESOURCE_EXHAUSTED,
    DeadlineError: grpc.StatusCode.DEADLINE_EXCEEDED,
    DrainingError: grpc.StatusCode.UNAVAILABLE,
    SandboxError: grpc.StatusCode.UNAVAILABLE,
    SessionEndedError: grpc.StatusCode.NOT_FOUND,
    SessionProcessError: grpc.StatusCode.NOT_FOUND,
    SessionFileError: grpc.StatusCode.FAILED_PRECONDITION,
}
# A message is sent in headers, of which a client accepts 8 KiB by default. It is sent twice, and
# every byte that is not ASCII becomes three bytes.
_MESSAGE_CHARACTERS = 300


def _cause(kind: type[Exception]) -> str:
    words = re.findall("[A-Z][a-z]+", kind.__name__.removesuffix("Error"))
    return "_".join(words).lower()


def code_of(error: Exception) -> grpc.StatusCode:
    """Returns the status of a failure, or INTERNAL for an unknown exception."""
    if isinstance(error, SessionFileError) and error.reason == _FILE_NOT_FOUND:
        return grpc.StatusCode.NOT_FOUND
    for kind in type(error).__mro__:
        if kind in _CODES:
            return _CODES[kind]
    return grpc.StatusCode.INTERNAL


CAUSES = (*(_cause(kind) for kind in _CODES), _INTERNAL)


def cause_of(error: Exception) -> str:
    """Returns a short name of a failure's kind for counting, one of `CAUSES`."""
    return next((_cause(kind) for kind in type(error).__mro__ if kind in _CODES), _INTERNAL)


def message_of(error: Exception) -> str:
    """Returns the explanation that a caller gets; it tells nothing of an unknown exception."""
    if code_of(error) is grpc.StatusCode.INTERNAL:
        return "internal error; the server's log tells more"
    return _text(str(error))


def from_error(error: Exception) -> status_pb2.Status:
    """Returns the status of a failure, with details such as the wrong field or a time to retry."""
    status = status_pb2.Status(code=code_of(error).value[0], message=message_of(error))
    detail = _detail(error)
    if detail is not None:
        status.details.add().Pack(detail)
    if isinstance(error, QuotaError):
        violation = error_details_pb2.QuotaFailure.Violation(
            subject=error.quota, description=_text(str(error))
        )
        status.details.add().Pack(error_details_pb2.QuotaFailure(violations=[violation]))
    return status


async def abort(context: grpc.aio.ServicerContext[bytes, Message], error: Exception) -> NoReturn:
    """Ends an RPC with the status of a failure."""
    answer = rpc_status.to_status(from_error(error))
    pushback: tuple[tuple[str, str], ...] = ()
    if isinstance(error, OverloadedError):
        pushback = ((PUSHBACK, str(round(error.retry_after_seconds * 1000))),)
    await context.abort(answer.code, answer.details, (*answer.trailing_metadata, *pushback))


def _detail(error: Exception) -> Message | None:
    if isinstance(error, InvalidRequestError):
        violation = error_details_pb2.BadRequest.FieldViolation(
            field=error.field, description=_text(error.problem)
        )
        bad_request: Message = error_details_pb2.BadRequest(field_violations=[violation])
        return bad_request
    if isinstance(error, OverloadedError):
        delay = Duration()
        delay.FromMilliseconds(round(error.retry_after_seconds * 1000))
        retry_info: Message = error_details_pb2.RetryInfo(retry_delay=delay)
        return retry_info
    if isinstance(error, UnknownTaskError):
        missing: Message = error_details_pb2.ResourceInfo(
            resource_type=TASK_TYPE, resource_name=error.digest.hex()
        )
        return missing
    return _session_detail(error)


def _session_detail(error: Exception) -> Message | None:
    reason = ""
    if isinstance(error, SessionEndedError | SessionFileError):
        reason = str(error.reason)
    elif isinstance(error, SessionProcessError):
        reason = PROCESS_NOT_FOUND
    if not reason:
        return None
    info: Message = error_details_pb2.ErrorInfo(reason=reason, domain=ERROR_DOMAIN)
    return info


def _text(text: str) -> str:
    return text[:_MESSAGE_CHARACTERS].encode("utf-8", "replace").decode()
