"""E2B's code interpreter: `POST /execute` runs code in an interpreter that keeps its state.

Each context has an interpreter, `/contexts` makes, lists and ends them. What code shows is told by
the names of E2B's results, and a text without its quotes, as there.
"""

from __future__ import annotations

import codecs
import json
import time
import uuid
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from reward_server.errors import InvalidRequestError, SessionProcessError, UnsupportedError
from reward_server.http.bodies import read_body
from reward_server.http.boundary import Behaviour, Boundary, Call, Emit, Streamed
from reward_server.http.e2b import connect
from reward_server.http.e2b.paths import place
from reward_server.http.e2b.sandboxes import DEFAULT_CONTEXT, Sandbox, Sandboxes
from reward_server.rpc.interceptors import Work
from reward_server.rpc.json.sessions import code_wanted, variables_wanted
from reward_server.sandbox.sessions.values import CodeEnded, CodeEvent, CodeOutcome, Output, Shown
from reward_server.sessions.contexts import MOST_CONTEXTS
from reward_server.sessions.session import CodeWanted

EXECUTE, CONTEXTS = "/execute", "/contexts"
CONTEXT = f"{CONTEXTS}/{{context_id}}"
_LINES = "application/x-ndjson"
_LANGUAGE = "python"
_PYTHON = (None, "", _LANGUAGE, "python3")
_LOST = "the interpreter ended, and its variables are lost"
_INTERRUPTED = "the time limit was reached"
_NAMES = {
    "text/plain": "text",
    "text/html": "html",
    "text/markdown": "markdown",
    "text/latex": "latex",
    "image/svg+xml": "svg",
    "image/png": "png",
    "image/jpeg": "jpeg",
    "application/pdf": "pdf",
    "application/json": "json",
    "application/javascript": "javascript",
    "e2b/data": "data",
    "e2b/chart": "chart",
}


class ExecuteRequest(BaseModel):
    """The body of `/execute`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: str
    context_id: str | None = None
    language: str | None = None
    env_vars: dict[str, str] | None = None


class NewContext(BaseModel):
    """The body of `/contexts`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cwd: str | None = None
    language: str | None = None


def interpreter_routes(sandboxes: Sandboxes, boundary: Boundary) -> list[Route]:
    """Returns the routes of the code interpreter."""

    async def execute(call: Call) -> Response:
        request = read_body(ExecuteRequest, call.body)
        _check_language(request.language)
        with sandboxes.of(call) as sandbox:
            wanted = _wanted(request, sandbox, sandboxes)
            sandboxes.begin_command()

        async def tell(emit: Emit) -> None:
            # A character may be in two pieces of the output.
            decoders = [codecs.getincrementaldecoder("utf-8")("replace") for _ in range(2)]
            with sandbox.session.used():
                async with aclosing(sandbox.session.run_code(wanted)) as events:
                    async for event in events:
                        for line in _lines(event, decoders):
                            await emit(json.dumps(line).encode() + b"\n")

        return Streamed(tell, _LINES)

    async def create(call: Call) -> Response:
        request = read_body(NewContext, call.body or b"{}")
        _check_language(request.language)
        with sandboxes.of(call) as sandbox:
            if len(sandbox.contexts) >= MOST_CONTEXTS:
                raise UnsupportedError(f"a sandbox has at most {MOST_CONTEXTS} contexts")
            name = str(uuid.uuid4())
            sandbox.contexts[name] = place(request.cwd or ".")
            return JSONResponse(_context(sandbox, name))

    async def show_all(call: Call) -> Response:
        with sandboxes.of(call) as sandbox:
            return JSONResponse([_context(sandbox, name) for name in sandbox.contexts])

    async def restart(call: Call) -> Response:
        with sandboxes.of(call) as sandbox:
            sandbox.session.end_context(_named(sandbox, call.request.path_params["context_id"]))
        return JSONResponse(None)

    async def remove(call: Call) -> Response:
        with sandboxes.of(call) as sandbox:
            name = _named(sandbox, call.request.path_params["context_id"])
            sandbox.session.end_context(name)
            del sandbox.contexts[name]
        return JSONResponse(None)

    def route(method: str, path: str, behaviour: Behaviour) -> Route:
        door = boundary.door(
            f"{method} {path}", behaviour, work=Work.BODY, refuse=connect.refused_file
        )
        return Route(path, door, methods=[method])

    return [
        route("POST", EXECUTE, execute),
        route("POST", CONTEXTS, create),
        route("GET", CONTEXTS, show_all),
        route("DELETE", CONTEXT, remove),
        route("POST", f"{CONTEXT}/restart", restart),
    ]


def _check_language(language: str | None) -> None:
    if language not in _PYTHON:
        raise UnsupportedError(f"language {language!r}: interpreters are of Python")


def _wanted(request: ExecuteRequest, sandbox: Sandbox, sandboxes: Sandboxes) -> CodeWanted:
    """Returns the code to run.

    Raises:
        InvalidRequestError: it cannot be run.
        SessionProcessError: there is no such context.
    """
    if request.context_id and request.language:
        raise InvalidRequestError("language", "must not come with context_id, which has its own")
    name = _named(sandbox, request.context_id or DEFAULT_CONTEXT)
    wanted = code_wanted({"code": request.code, "context": name}, sandboxes.bounds)
    variables = variables_wanted(request.env_vars or {})
    return replace(wanted, environment=variables, cwd=sandbox.contexts[name])


def _named(sandbox: Sandbox, name: str) -> str:
    if name not in sandbox.contexts:
        raise SessionProcessError(f"context {name[:64]!r} not found")
    return name


def _context(sandbox: Sandbox, name: str) -> dict[str, str]:
    return {"id": name, "language": _LANGUAGE, "cwd": sandbox.contexts[name]}


# ---------------------------------------------------------------------------------- what is told


def _lines(event: CodeEvent, decoders: Sequence[codecs.IncrementalDecoder]) -> list[dict[str, Any]]:
    match event:
        case Output():
            text = decoders[event.is_error].decode(event.data)
            kind = "stderr" if event.is_error else "stdout"
            return [{"type": kind, "text": text, "timestamp": time.time_ns() // 1000}]
        case Shown():
            return [_result(event)]
        case CodeEnded():
            return [*_errors(event), _count(event)]


def _result(shown: Shown) -> dict[str, Any]:
    told: dict[str, Any] = {"type": "result", "is_main_result": shown.is_main}
    told |= {_NAMES[kind]: value for kind, value in shown.data.items() if kind in _NAMES}
    if isinstance(told.get("text"), str):
        told["text"] = _bare(told["text"])
    others = {kind: value for kind, value in shown.data.items() if kind not in _NAMES}
    return {**told, "extra": others} if others else told


def _bare(text: str) -> str:
    """Returns a text without the quotes of its `repr`."""
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if is_quoted else text


def _errors(ended: CodeEnded) -> list[dict[str, Any]]:
    if ended.outcome is CodeOutcome.INTERRUPTED:
        return [_error("TimeoutError", _INTERRUPTED, "")]
    if ended.error is not None:
        error = ended.error
        return [_error(error.name, error.message, error.traceback)]
    if ended.outcome is CodeOutcome.INTERPRETER_LOST:
        limits = ", ".join(limit.name.lower() for limit in ended.limits_hit)
        return [_error("SystemExit", f"{_LOST} ({limits})" if limits else _LOST, "")]
    return []


def _error(name: str, value: str, traceback: str) -> dict[str, Any]:
    return {"type": "error", "name": name, "value": value, "traceback": traceback}


def _count(ended: CodeEnded) -> dict[str, Any]:
    return {"type": "number_of_executions", "execution_count": ended.execution_count}
