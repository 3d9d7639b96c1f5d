"""Builds the parts of the OpenAPI document that describe one path."""

from __future__ import annotations

from typing import Any

from reward_server.rpc.json import schema

JSON = "application/json"
FAILURES = {
    400: "the request is wrong, or the server does not offer what it asks for",
    401: "no valid bearer token was shown",
    404: "no such stored task, session or path",
    408: "the body did not arrive in time",
    413: "the body is too large",
    429: "there is no room; retry after `Retry-After` seconds",
    503: "the server's machinery failed or shuts down; retry elsewhere",
    504: "the deadline passed",
}


def post(
    summary: str,
    request: dict[str, Any],
    answer: dict[str, Any],
    parameters: list[dict[str, Any]] | None = None,
    kind: str = JSON,
) -> dict[str, Any]:
    """Returns a path with the method POST.

    Args:
        summary: what it does.
        request: the schema of its body.
        answer: the schema of its answer.
        parameters: its parameters.
        kind: the type of its answer.
    """
    told = operation(summary, answer, kind)
    told["requestBody"] = body(request)
    if parameters:
        told["parameters"] = parameters
    return {"post": told}


def body(request: dict[str, Any], kind: str = JSON) -> dict[str, Any]:
    """Returns the description of a body."""
    return {"required": True, "content": {kind: {"schema": request}}}


def operation(
    summary: str, answer: dict[str, Any] | None, kind: str = JSON, code: int = 200
) -> dict[str, Any]:
    """Returns one method of a path.

    Args:
        summary: what it does.
        answer: the schema of its answer; None for an answer without content.
        kind: the type of its answer.
        code: the status of its answer.
    """
    failures = {
        str(code): {
            "description": meaning,
            "content": {JSON: {"schema": schema.reference("Failure")}},
        }
        for code, meaning in FAILURES.items()
    }
    answered: dict[str, Any] = {"description": "the answer"}
    if answer is not None:
        answered["content"] = {kind: {"schema": answer}}
    return {"summary": summary, "responses": {str(code): answered, **failures}}
