"""Describes E2B's door for the OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reward_server.http.e2b import commands, files, interpreter
from reward_server.http.e2b.connect import STREAM
from reward_server.http.e2b.control import SANDBOX, SANDBOXES, Connection, Lifetime, NewSandbox
from reward_server.http.e2b.interpreter import ExecuteRequest, NewContext
from reward_server.http.e2b.listing import Query
from reward_server.http.e2b.sandboxes import HEADER
from reward_server.http.operations import JSON, body, operation
from reward_server.rpc.json import schema

MODELS = (NewSandbox, Lifetime, Connection, ExecuteRequest, NewContext)
_OBJECT = {"type": "object"}
_LIST = {"type": "array", "items": _OBJECT}
_BYTES, _LINES = "application/octet-stream", "application/x-ndjson"
_CONTENT = {"type": "string", "format": "binary"}
_ID = {"name": "sandbox_id", "in": "path", "required": True, "schema": {"type": "string"}}
_CONTEXT = {"name": "context_id", "in": "path", "required": True, "schema": {"type": "string"}}
_SANDBOX = {"name": HEADER, "in": "header", "required": True, "schema": {"type": "string"}}
_PATH = {"name": "path", "in": "query", "required": False, "schema": {"type": "string"}}
_METHOD = {"name": "method", "in": "path", "required": True, "schema": {"type": "string"}}
_STREAMS = {
    "Start": "Starts a command, and streams its events; its end does not depend on the caller.",
    "Connect": "Streams the events of a command that runs.",
}
_COMMANDS = {
    "List": "Lists the commands that run.",
    "SendSignal": "Sends a signal to a command.",
    "SendInput": "Writes to the standard input of a command.",
    "CloseStdin": "Closes the standard input of a command.",
}
_FILES = {
    "Stat": "Describes a file.",
    "MakeDir": "Makes a folder.",
    "Move": "Moves a file or a folder.",
    "ListDir": "Lists a folder.",
    "Remove": "Removes a file or a folder.",
}
_OTHER = "Answers that this server does not have the method."


def e2b_paths() -> dict[str, Any]:
    """Returns the paths of E2B's door."""
    create = {**operation("Creates a sandbox.", _OBJECT, code=201), **_takes(NewSandbox.__name__)}
    show_all = operation("Lists the sandboxes of the caller.", _LIST)
    show_all["parameters"] = [
        {"name": name, "in": "query", "required": False, "schema": one}
        for name, one in Query.model_json_schema()["properties"].items()
    ]
    connect = operation("Describes a sandbox, and keeps it for some time.", _OBJECT)
    keep = operation("Sets the time after which a sandbox ends.", None, code=204)
    execute = operation("Runs code in an interpreter that keeps its state.", _OBJECT, _LINES)
    return {
        **{path: {"post": create, "get": show_all} for path in (SANDBOXES, "/sandboxes")},
        SANDBOX: {
            "get": _of(_ID, operation("Describes a sandbox.", _OBJECT)),
            "delete": _of(_ID, operation("Ends a sandbox.", None, code=204)),
        },
        f"{SANDBOX}/timeout": {"post": _of(_ID, {**keep, **_takes(Lifetime.__name__)})},
        **{
            path: {"post": _of(_ID, {**connect, **_takes(Connection.__name__)})}
            for path in (f"{SANDBOX}/connect", f"/v2{SANDBOX}/connect")
        },
        files.FILES: {
            "post": _of(
                _SANDBOX,
                {**operation("Writes files.", _LIST), "requestBody": body(_CONTENT, _BYTES)},
                _PATH,
            ),
            "get": _of(_SANDBOX, operation("Reads a file.", _CONTENT, _BYTES), _PATH),
        },
        "/health": {
            "get": _of(_SANDBOX, operation("Tells that a sandbox is open.", None, code=204))
        },
        interpreter.EXECUTE: {
            "post": _of(_SANDBOX, {**execute, **_takes(ExecuteRequest.__name__)})
        },
        **_contexts(),
        **_service(commands.SERVICE, _STREAMS, STREAM),
        **_service(commands.SERVICE, _COMMANDS, JSON),
        **_service(files.SERVICE, _FILES, JSON),
    }


def _contexts() -> dict[str, Any]:
    create = {**operation("Makes a context of code.", _OBJECT), **_takes(NewContext.__name__)}
    end = operation("Ends a context, and its interpreter.", _OBJECT)
    restart = operation("Ends the interpreter of a context; the next code gets another.", _OBJECT)
    return {
        interpreter.CONTEXTS: {
            "post": _of(_SANDBOX, create),
            "get": _of(_SANDBOX, operation("Lists the contexts of a sandbox.", _LIST)),
        },
        interpreter.CONTEXT: {"delete": _of(_CONTEXT, end, _SANDBOX)},
        f"{interpreter.CONTEXT}/restart": {"post": _of(_CONTEXT, restart, _SANDBOX)},
    }


def _service(service: str, methods: Mapping[str, str], kind: str) -> dict[str, Any]:
    """Returns the paths of methods of the Connect protocol."""
    found = {
        f"{service}/{name}": {
            "post": _of(
                _SANDBOX, {**operation(summary, _OBJECT, kind), "requestBody": body(_OBJECT, kind)}
            )
        }
        for name, summary in methods.items()
    }
    other = _of(_METHOD, operation(_OTHER, _OBJECT, code=501))
    return {**found, f"{service}/{{method}}": {"post": other}}


def _takes(model: str) -> dict[str, Any]:
    return {"requestBody": body(schema.reference(model))}


def _of(where: dict[str, Any], told: dict[str, Any], *others: dict[str, Any]) -> dict[str, Any]:
    """Returns a method with its parameters."""
    return {**told, "parameters": [where, *others]}
