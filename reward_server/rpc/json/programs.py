"""Reads a program to run from the JSON form of an `ExecuteRequest`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codereward.v1 import reward_service_pb2 as pb
from reward_server.domain import Job
from reward_server.rpc import convert
from reward_server.rpc.convert import Bounds


def program_job(request: Mapping[str, Any], bounds: Bounds) -> Job:
    """Returns the job that runs a program, with the checks of every `ExecuteRequest`.

    Args:
        request: the fields of an `ExecuteRequest`.
        bounds: bounds on it.

    Raises:
        InvalidRequestError: a field is malformed or too large.
        UnsupportedError: the server does not offer the language.
    """
    return convert.job(convert.from_json(pb.ExecuteRequest, request, bounds), bounds)
