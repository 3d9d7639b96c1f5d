"""The forms of requests that a client accepts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from codereward.request_json import RequestJsonError, parse_message, parse_request
from codereward.v1 import reward_service_pb2 as pb
from trainer_client.errors import TaskError


@dataclass(frozen=True, slots=True, kw_only=True)
class LazyRequest:
    """A request that is created when it is sent, so that not all large requests exist at once.

    Args:
        id: the request's id.
        make: creates the request; called again for another attempt.

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
    """Converts one request or several to a list.

    Args:
        given: an `AnyRequest` or several; callers without type checks may pass anything.

    Raises:
        TaskError: an object is no request; the message names its place and the field.
        TypeError: an item is neither a request nor a mapping.
    """
    if isinstance(given, Request | Mapping):
        return [_request(given, "request")]
    is_text = isinstance(given, str | bytes)  # text can be iterated, but its items are no requests
    if is_text or not isinstance(given, Iterable):
        raise TypeError(f"requests: {_WANTED}, or several, not {type(given).__name__}")
    return [_request(item, f"requests[{index}]") for index, item in enumerate(given)]


def execute_request(given: pb.ExecuteRequest | Mapping[str, Any]) -> pb.ExecuteRequest:
    """Converts an object to a request to run a program.

    Raises:
        TaskError: the object is no such request; the message names the field.
        TypeError: the argument is neither a request nor a mapping.
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
