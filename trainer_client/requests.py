"""The forms in which a client takes requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from codereward.request_json import RequestJsonError, parse_message, parse_request
from codereward.v1 import reward_service_pb2 as pb
from trainer_client.errors import TaskError


@dataclass(frozen=True, slots=True, kw_only=True)
class LazyRequest:
    """A request that is made when it is sent, so that many large ones never exist at once.

    Args:
        id: that of the request.
        make: makes it; called again for another attempt.

    Examples:
        >>> from trainer_client import LazyRequest, RewardClient, tasks
        >>> def large():
        ...     case = {"stdin_text": "1 " * 1_000_000, "expected_stdout_text": "1000000"}
        ...     completion = "print(len(input().split()))"
        ...     return tasks.from_json({"completion": completion, "stdio": {"cases": [case]}})
        >>> with RewardClient("localhost:50051") as client:
        ...     [score] = client.score(LazyRequest(id="large", make=large))
        >>> score.verdict.name
        'PASSED'
    """

    id: str
    make: Callable[[], pb.ScoreRequest]


Request = pb.ScoreRequest | LazyRequest
AnyRequest = Request | Mapping[str, Any]


def all_requests(given: object) -> list[Request]:
    """Reads one request or several.

    Args:
        given: an `AnyRequest`, or several; whoever calls without type checks may give anything.

    Raises:
        TaskError: an object is no request; names its place and the field.
        TypeError: one is neither a request nor an object.
    """
    if isinstance(given, Request | Mapping):
        return [_request(given, "request")]
    is_text = isinstance(given, str | bytes)  # it can be iterated, but not into requests
    if is_text or not isinstance(given, Iterable):
        raise TypeError(f"requests: {_WANTED}, or several, not {type(given).__name__}")
    return [_request(item, f"requests[{index}]") for index, item in enumerate(given)]


def execute_request(given: pb.ExecuteRequest | Mapping[str, Any]) -> pb.ExecuteRequest:
    """Reads a request to run a program.

    Raises:
        TaskError: the object is no such request; names the field.
        TypeError: it is neither a request nor an object.
    """
    if isinstance(given, pb.ExecuteRequest):
        return given
    if not isinstance(given, Mapping):
        problem = "must be an ExecuteRequest or an object in its JSON form"
        raise TypeError(f"request: {problem}, not {type(given).__name__}")
    try:
        return parse_message(given, pb.ExecuteRequest)
    except RequestJsonError as error:
        raise TaskError("request", error.field, error.problem) from None


_WANTED = "must be a ScoreRequest, an object in its JSON form, or a LazyRequest"


def _request(given: object, place: str) -> Request:
    if isinstance(given, Request):
        return given
    if not isinstance(given, Mapping):
        raise TypeError(f"{place}: {_WANTED}, not {type(given).__name__}")
    try:
        return parse_request(given)
    except RequestJsonError as error:
        raise TaskError(place, error.field, error.problem) from None
