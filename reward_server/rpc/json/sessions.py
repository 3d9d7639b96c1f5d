"""Reads what is asked of sessions from the JSON form of their messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from google.protobuf.message import Message

from codereward.request_json import RequestJsonError, parse_message
from codereward.v1 import session_service_pb2 as pb
from reward_server.errors import InvalidRequestError
from reward_server.rpc.convert import Bounds
from reward_server.rpc.sessions import convert
from reward_server.sessions.bounds import SessionBounds
from reward_server.sessions.session import CodeWanted, CommandWanted, Wanted

Given = Mapping[str, Any]
_M = TypeVar("_M", bound=Message)


def session_wanted(given: Given, owner: str, bounds: Bounds, sessions: SessionBounds) -> Wanted:
    """Reads a session to open, an `OpenSessionRequest`.

    Raises:
        InvalidRequestError: a field is wrong.
        UnsupportedError: the language is not on offer.
    """
    return convert.wanted(_message(given, pb.OpenSessionRequest), owner, bounds, sessions)


def command_wanted(given: Given, sessions: SessionBounds) -> CommandWanted:
    """Reads a command to run, an `ExecRequest`.

    Raises:
        InvalidRequestError: a field is wrong.
    """
    return convert.command(_message(given, pb.ExecRequest), sessions)


def code_wanted(given: Given, sessions: SessionBounds) -> CodeWanted:
    """Reads code to run, a `RunCodeRequest`.

    Raises:
        InvalidRequestError: a field is wrong.
    """
    return convert.code(_message(given, pb.RunCodeRequest), sessions)


def variables_wanted(given: Mapping[str, str]) -> dict[str, str]:
    """Reads environment variables.

    Raises:
        InvalidRequestError: there are too many, or one cannot be one.
    """
    return convert.environment(given)


def lifetime_wanted(seconds: float, sessions: SessionBounds) -> float:
    """Reads a new lifetime of a session, in seconds.

    Raises:
        InvalidRequestError: it is out of bounds.
    """
    found = convert.lifetime(pb.KeepAliveRequest(lifetime_seconds=seconds), sessions)
    assert found is not None
    return found


def path_wanted(path: str) -> str:
    """Reads the path of a file.

    Raises:
        InvalidRequestError: it cannot be one.
    """
    return convert.path(path)


def signal_wanted(number: int) -> int:
    """Reads the number of a signal.

    Raises:
        InvalidRequestError: there is no such signal.
    """
    return convert.signal(pb.SendSignalRequest(signal=number))


def _message(given: Given, kind: type[_M]) -> _M:
    try:
        return parse_message(given, kind)
    except RequestJsonError as error:
        raise InvalidRequestError(error.field or "request", error.problem) from None
