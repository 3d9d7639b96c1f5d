"""The description of the doors: an OpenAPI document, and a page that shows it without a network."""

from __future__ import annotations

import html
from typing import Any

from pydantic.json_schema import models_json_schema

from reward_server.http import nemo_gym, scoring
from reward_server.http.e2b.description import MODELS, e2b_paths
from reward_server.http.nemo_gym import AggregateRequest, VerifyRequest
from reward_server.http.operations import FAILURES, operation, post
from reward_server.http.sandbox_fusion import notebooks, programs, submissions
from reward_server.http.sandbox_fusion.notebooks import RunJupyterRequest
from reward_server.http.sandbox_fusion.programs import RunCodeRequest
from reward_server.http.sandbox_fusion.submissions import (
    GetPromptByIdRequest,
    GetPromptsRequest,
    SubmitRequest,
)
from reward_server.rpc.json import schema

DOCUMENT, PAGE = "/openapi.json", "/"
_MODELS = "#/components/schemas/{model}"
_TIMEOUT = {
    "name": "timeout_seconds",
    "in": "query",
    "description": "Time in which the caller needs an answer, in seconds.",
    "schema": {"type": "number", "exclusiveMinimum": 0},
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
            scoring.SCORE: post(
                "Judges one completion.",
                schema.reference(schema.SCORE_REQUEST),
                schema.reference(schema.SCORE_RESPONSE),
                [_TIMEOUT],
            ),
            scoring.SCORE_BATCH: post(
                "Judges many completions; each line is an answer, sent when it is known.",
                schema.reference(schema.SCORE_BATCH_REQUEST),
                schema.reference(schema.SCORE_BATCH_RESPONSE),
                [_TIMEOUT],
                scoring.LINES,
            ),
            scoring.INFO: {
                "get": operation(
                    "Describes the server: languages, limits and protections.",
                    schema.reference(schema.SERVER_INFO),
                )
            },
            programs.RUN_CODE: post(
                "Runs a program, as SandboxFusion does.",
                schema.reference(RunCodeRequest.__name__),
                {"type": "object"},
            ),
            notebooks.RUN_JUPYTER: post(
                "Runs the cells of a notebook, as SandboxFusion does.",
                schema.reference(RunJupyterRequest.__name__),
                {"type": "object"},
            ),
            submissions.SUBMIT: post(
                "Judges a completion by a row of a data set, as SandboxFusion does.",
                schema.reference(SubmitRequest.__name__),
                {"type": "object"},
            ),
            submissions.GET_PROMPTS: post(
                "Makes prompts of rows, as SandboxFusion does.",
                schema.reference(GetPromptsRequest.__name__),
                {"type": "array", "items": {"type": "object"}},
            ),
            submissions.GET_PROMPT: post(
                "Makes a prompt of a row, as SandboxFusion does.",
                schema.reference(GetPromptByIdRequest.__name__),
                {"type": "object"},
            ),
            submissions.LIST_DATASETS: {
                "get": operation(
                    "Names the data sets whose format follows from their name.",
                    {"type": "array", "items": {"type": "string"}},
                )
            },
            nemo_gym.VERIFY: post(
                "Judges the last message of a response, as NeMo-Gym's resources servers do.",
                schema.reference(VerifyRequest.__name__),
                {"type": "object"},
            ),
            nemo_gym.SEED_SESSION: post(
                "Begins a sample of NeMo-Gym; nothing is kept.",
                {"type": "object"},
                {"type": "object"},
            ),
            nemo_gym.AGGREGATE: post(
                "Tells the mean rewards of samples of NeMo-Gym.",
                schema.reference(AggregateRequest.__name__),
                {"type": "object"},
            ),
            nemo_gym.REVERIFY: {
                "get": operation(
                    "Tells NeMo-Gym that samples can be judged again.", {"type": "string"}
                )
            },
            programs.PING: _public("Answers `pong`."),
            DOCUMENT: _public("Describes the doors for programs."),
            PAGE: _public("Describes the doors for people."),
            **e2b_paths(),
        },
        "components": {
            "schemas": {**schema.schemas(), **_models(), "Failure": _FAILURE},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _public(summary: str) -> dict[str, Any]:
    """Returns a path that needs no credential."""
    told = {
        "summary": f"{summary.removesuffix('.')}; needs no credential.",
        "security": [],
        "responses": {"200": {"description": "the answer"}},
    }
    return {"get": told}


def _models() -> dict[str, Any]:
    """Returns the schemas of the bodies that are no messages of the contract."""
    kinds = (
        RunCodeRequest,
        RunJupyterRequest,
        SubmitRequest,
        GetPromptsRequest,
        GetPromptByIdRequest,
        VerifyRequest,
        AggregateRequest,
        *MODELS,
    )
    _, found = models_json_schema([(one, "validation") for one in kinds], ref_template=_MODELS)
    schemas: dict[str, Any] = found["$defs"]
    return schemas


def page(described: dict[str, Any]) -> str:
    """Returns a page of an OpenAPI document that needs no other file and no script."""
    paths = "".join(
        f"<tr><td><code>{method.upper()} {html.escape(path)}</code></td>"
        f"<td>{html.escape(told['summary'])}</td></tr>"
        for path, methods in described["paths"].items()
        for method, told in methods.items()
    )
    failures = "".join(
        f"<tr><td>{code}</td><td>{html.escape(meaning)}</td></tr>"
        for code, meaning in FAILURES.items()
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
