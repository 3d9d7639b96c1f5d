"""The Connect protocol in JSON, as E2B's client speaks it: unary calls and streams of answers.

A message of a stream is a byte of flags, four bytes of length and JSON. The last message has the
flag 2, and holds an error if there is one.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Collection, Mapping
from typing import Any

from pydantic_core import from_json
from starlette.responses import JSONResponse, Response

from reward_server.errors import InvalidRequestError, SessionEndedError, UnsupportedError
from reward_server.http.bodies import check_size
from reward_server.http.failures import status_of
from reward_server.rpc import status

STREAM = "application/connect+json"
_FRAME = struct.Struct(">BI")
_MESSAGE, _END = 0, 2
_CODES = {"CANCELLED": "canceled"}
# By these words E2B's client knows that a sandbox has ended. In a stream, it asks after others.
_GONE_STATUS, _GONE_WORDS = 502, "the sandbox was not found"
_ENDED_WORDS = "the sandbox ended"
_NO_METHOD, _ALREADY_THERE = 501, 409
_NOTHING: tuple[object, ...] = (None, False, "", {}, [])
_KEY_CHARACTERS = 64


class AlreadyThereError(InvalidRequestError):
    """Something is at a path where something else is to be made."""


class NoMethodError(UnsupportedError):
    """A method of E2B that this server does not have."""


def message(value: Mapping[str, Any]) -> bytes:
    """Returns a message of a stream."""
    return _framed(_MESSAGE, value)


def end(error: Exception | None = None) -> bytes:
    """Returns the last message of a stream, which has begun."""
    return _framed(_END, {} if error is None else {"error": _told(error, _ENDED_WORDS)})


def unary_request(body: bytes) -> dict[str, Any]:
    """Reads the message of a unary call.

    Raises:
        InvalidRequestError: it is no JSON object.
    """
    check_size(body)
    try:
        # Other than `json`, it refuses lone surrogates and numbers that are not finite.
        found = from_json(body or b"{}", allow_inf_nan=False)
    except ValueError:
        raise InvalidRequestError("request", "is not JSON") from None
    if not isinstance(found, dict):
        raise InvalidRequestError("request", "is not a JSON object")
    return found


def only(given: Mapping[str, Any], known: Collection[str], place: str = "") -> None:
    """Refuses keys that this server does not know, unless they ask for nothing.

    Args:
        given: an object of a request.
        known: the keys that mean something here.
        place: where the object is, with a point behind it.

    Raises:
        InvalidRequestError: there is such a key.
    """
    for name, value in given.items():
        if name not in known and value not in _NOTHING:
            raise InvalidRequestError(f"{place}{name[:_KEY_CHARACTERS]}", "is not known")


def stream_request(body: bytes) -> dict[str, Any]:
    """Reads the one message that the caller of a stream sends.

    Raises:
        InvalidRequestError: it is not one message.
    """
    if len(body) < _FRAME.size:
        raise InvalidRequestError("request", "is no message of the Connect protocol")
    flags, size = _FRAME.unpack_from(body)
    if flags != _MESSAGE or size != len(body) - _FRAME.size:
        raise InvalidRequestError("request", "is not one message that is not compressed")
    return unary_request(body[_FRAME.size :])


def refused(error: Exception) -> Response:
    """Returns the answer of a unary call that failed."""
    told = _told(error)
    code = status_of(error)
    if isinstance(error, SessionEndedError):
        code = _GONE_STATUS
    elif isinstance(error, NoMethodError):
        code = _NO_METHOD
    elif isinstance(error, AlreadyThereError):
        code = _ALREADY_THERE
    return JSONResponse(told, code)


def refused_file(error: Exception) -> Response:
    """Returns the answer of a call about a file that failed."""
    code = _GONE_STATUS if isinstance(error, SessionEndedError) else status_of(error)
    return JSONResponse({"code": code, "message": _told(error)["message"]}, code)


def refused_stream(error: Exception) -> Response:
    """Returns the answer of a stream that failed before its first message."""
    return Response(_framed(_END, {"error": _told(error)}), media_type=STREAM)


def _told(error: Exception, gone: str = _GONE_WORDS) -> dict[str, str]:
    if isinstance(error, SessionEndedError):
        return {"code": "unavailable", "message": f"{gone}: {status.message_of(error)}"}
    if isinstance(error, NoMethodError):
        return {"code": "unimplemented", "message": status.message_of(error)}
    if isinstance(error, AlreadyThereError):
        return {"code": "already_exists", "message": status.message_of(error)}
    name = status.code_of(error).name
    return {"code": _CODES.get(name, name.lower()), "message": status.message_of(error)}


def _framed(flags: int, value: Mapping[str, Any]) -> bytes:
    text = json.dumps(value).encode()
    return _FRAME.pack(flags, len(text)) + text
