"""Reads the JSON bodies of requests, names the field that is wrong, and echoes parts of bodies."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, ValidationError
from starlette.responses import JSONResponse, Response

from reward_server.errors import InvalidRequestError

_Model = TypeVar("_Model", bound=BaseModel)


def read_body(kind: type[_Model], body: bytes) -> _Model:
    """Reads a body.

    Raises:
        InvalidRequestError: it is not such a body.
    """
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"])) or "request"
        raise InvalidRequestError(field, first["msg"]) from None


def echo(value: object) -> Response:
    """Returns an answer that holds parts of a request.

    Raises:
        InvalidRequestError: they hold a number that JSON does not have, such as NaN.
    """
    try:
        return JSONResponse(value)
    except ValueError as error:
        raise InvalidRequestError("request", f"cannot be answered in JSON: {error}") from None
