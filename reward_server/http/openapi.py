"""The description of the doors: an OpenAPI document, and a page that shows it without a network."""

from __future__ import annotations

import html
from typing import Any

from pydantic.json_schema import models_json_schema

from reward_server.http import nemo_gym, scoring
from reward_server.http.nemo_gym import VerifyRequest
from reward_server.http.sandbox_fusion import notebooks, programs, submissions
from reward_server.http.sandbox_fusion.notebooks import RunJupyterRequest
from reward_server.http.sandbox_fusion.programs import RunCodeRequest
from reward_server.http.sandbox_fusion.submissions import (
    GetPromptByIdRequest,
    GetPromptsRequest,
    SubmitRequest,
)
from reward_server.rpc.json import schema

_TYPE = "application/json"
_MODELS = "#/components/schemas/{model}"
_TIMEOUT = {
    "name": "timeout_seconds",
    "in": "query",
    "description": "Time in which the caller needs an answer, in seconds.",
    "schema": {"type": "number", "exclusiveMinimum": 0},
}
_FAILURES = {
    400: "the request is wrong, or the server does not offer what it asks for",
    401: "no valid bearer token was shown",
    404: "no such stored task, session or path",
    408: "the body did not arrive in time",
    413: "the body is too large",
    429: "there is no room; retry after `Retry-After` seconds",
    503: "the server's machinery failed or shuts down; retry elsewhere",
    504: "the deadline passed",
}
_FAILURE = {
    "type": "object",
    "properties": {
        "code": {"type": "integer"},
        "status": {"type": "string"},
        "message": {"type": "string"},
        "field": {"type": "string"},
        "retry_after_seconds": {"type": "number"},
    },
}


def document(version: str) -> dict[str, Any]:
    """Returns the OpenAPI document.

    Args:
        version: version of the server.
    """
    return {
        "openapi": "3.1.0",
        "info": {"title": "Reward Server", "version": version},
        "security": [{"token": []}],
        "paths": {
            scoring.SCORE: _post(
                "Judges one completion.",
                schema.reference(schema.SCORE_REQUEST),
                schema.reference(schema.SCORE_RESPONSE),
                [_TIMEOUT],
            ),
            scoring.SCORE_BATCH: _post(
                "Judges many completions; each line is an answer, sent when it is known.",
                schema.reference(schema.SCORE_BATCH_REQUEST),
                schema.reference(schema.SCORE_BATCH_RESPONSE),
                [_TIMEOUT],
                scoring.LINES,
            ),
            scoring.INFO: {
                "get": _operation(
                    "Describes the server: languages, limits and protections.",
                    schema.reference(schema.SERVER_INFO),
                )
            },
            programs.RUN_CODE: _post(
                "Runs a program, as SandboxFusion does.",
                schema.reference(RunCodeRequest.__name__),
                {"type": "object"},
            ),
            notebooks.RUN_JUPYTER: _post(
                "Runs the cells of a notebook, as SandboxFusion does.",
                schema.reference(RunJupyterRequest.__name__),
                {"type": "object"},
            ),
            submissions.SUBMIT: _post(
                "Judges a completion by a row of a data set, as SandboxFusion does.",
                schema.reference(SubmitRequest.__name__),
                {"type": "object"},
            ),
            submissions.GET_PROMPTS: _post(
                "Makes prompts of rows, as SandboxFusion does.",
                schema.reference(GetPromptsRequest.__name__),
                {"type": "array", "items": {"type": "object"}},
            ),
            submissions.GET_PROMPT: _post(
                "Makes a prompt of a row, as SandboxFusion does.",
                schema.reference(GetPromptByIdRequest.__name__),
                {"type": "object"},
            ),
            submissions.LIST_DATASETS: {
                "get": _operation(
                    "Names the data sets whose format follows from their name.",
                    {"type": "array", "items": {"type": "string"}},
                )
            },
            nemo_gym.VERIFY: _post(
                "Judges the last message of a response, as NeMo-Gym's resources servers do.",
                schema.reference(VerifyRequest.__name__),
                {"type": "object"},
            ),
            programs.PING: {
                "get": {
                    "summary": "Answers `pong`; needs no credential.",
                    "security": [],
                    "responses": {"200": {"description": "the server listens"}},
                }
            },
        },
        "components": {
            "schemas": {**schema.schemas(), **_models(), "Failure": _FAILURE},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _models() -> dict[str, Any]:
    """Returns the schemas of the bodies that are no messages of the contract."""
    kinds = (
        RunCodeRequest,
        RunJupyterRequest,
        SubmitRequest,
        GetPromptsRequest,
        GetPromptByIdRequest,
        VerifyRequest,
    )
    _, found = models_json_schema([(one, "validation") for one in kinds], ref_template=_MODELS)
    schemas: dict[str, Any] = found["$defs"]
    return schemas


def _post(
    summary: str,
    request: dict[str, Any],
    answer: dict[str, Any],
    parameters: list[dict[str, Any]] | None = None,
    kind: str = _TYPE,
) -> dict[str, Any]:
    operation = _operation(summary, answer, kind)
    operation["requestBody"] = {"required": True, "content": {_TYPE: {"schema": request}}}
    if parameters:
        operation["parameters"] = parameters
    return {"post": operation}


def _operation(summary: str, answer: dict[str, Any], kind: str = _TYPE) -> dict[str, Any]:
    failures = {
        str(code): {
            "description": meaning,
            "content": {_TYPE: {"schema": schema.reference("Failure")}},
        }
        for code, meaning in _FAILURES.items()
    }
    answered = {"description": "the answer", "content": {kind: {"schema": answer}}}
    return {"summary": summary, "responses": {"200": answered, **failures}}


def page(described: dict[str, Any]) -> str:
    """Returns a page of an OpenAPI document that needs no other file and no script."""
    paths = "".join(
        f"<tr><td><code>{method.upper()} {html.escape(path)}</code></td>"
        f"<td>{html.escape(operation['summary'])}</td></tr>"
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    )
    failures = "".join(
        f"<tr><td>{code}</td><td>{html.escape(meaning)}</td></tr>"
        for code, meaning in _FAILURES.items()
    )
    messages = "".join(
        f"<h3 id='{name}'>{name}</h3>{_table(one)}"
        for name, one in sorted(described["components"]["schemas"].items())
    )
    return (
        "<!doctype html><html lang='en'><meta charset='utf-8'><title>Reward Server</title>"
        "<style>body{font:15px sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
        "td{padding:.2em 1em .2em 0;vertical-align:top}</style>"
        f"<h1>Reward Server {html.escape(described['info']['version'])}</h1>"
        "<p>The same description for programs: <a href='openapi.json'>openapi.json</a>.</p>"
        f"<h2>Doors</h2><table>{paths}</table><h2>Failures</h2><table>{failures}</table>"
        f"<h2>Messages</h2>{messages}</html>"
    )


def _table(one: dict[str, Any]) -> str:
    if "enum" in one:
        return f"<p>{', '.join(f'<code>{value}</code>' for value in one['enum'])}</p>"
    rows = "".join(
        f"<tr><td><code>{name}</code></td><td>{_kind(field)}</td></tr>"
        for name, field in one["properties"].items()
    )
    return f"<table>{rows}</table>"


def _kind(field: dict[str, Any]) -> str:
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        return f"<a href='#{name}'>{name}</a>"
    if "items" in field:
        return f"list of {_kind(field['items'])}"
    if isinstance(field.get("additionalProperties"), dict):
        return f"map of {_kind(field['additionalProperties'])}"
    if field.get("format") == "byte":
        return "base64"
    if "anyOf" in field:
        return " or ".join(map(_kind, field["anyOf"]))
    return str(field["type"])
