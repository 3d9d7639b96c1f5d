"""E2B's code interpreter: `POST /execute` runs code in an interpreter that keeps its state."""

from __future__ import annotations

import base64
import codecs
import json
import time
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

from pydantic import BaseModel, ConfigDict
from starlette.responses import Response
from starlette.routing import Route

from reward_server.errors import UnsupportedError
from reward_server.http.bodies import read_body
from reward_server.http.boundary import Boundary, Call, Emit, Streamed
from reward_server.http.e2b import connect
from reward_server.http.e2b.sandboxes import Sandboxes
from reward_server.rpc.interceptors import Work
from reward_server.rpc.json.sessions import code_wanted
from reward_server.sandbox.sessions.values import CodeEnded, CodeEvent, CodeOutcome, Figure, Output

EXECUTE = "/execute"
_LINES = "application/x-ndjson"
_PYTHON = (None, "python", "python3")
_LOST = "the interpreter ended, and its variables are lost"
_INTERRUPTED = "the time limit was reached"


class ExecuteRequest(BaseModel):
    """The body of `/execute`."""

    model_config = ConfigDict(frozen=True)

    code: str
    context_id: str | None = None
    language: str | None = None
    env_vars: dict[str, str] | None = None


def interpreter_routes(sandboxes: Sandboxes, boundary: Boundary) -> list[Route]:
    """Returns the routes of the code interpreter."""

    async def execute(call: Call) -> Response:
        request = read_body(ExecuteRequest, call.body)
        if request.language not in _PYTHON:
            raise UnsupportedError(f"language {request.language!r}: interpreters are of Python")
        if request.env_vars:
            raise UnsupportedError("env_vars: set them when the sandbox is created")
        asked = {"code": request.code, "context": request.context_id or ""}
        wanted = code_wanted(asked, sandboxes.bounds)
        with sandboxes.of(call) as sandbox:
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

    door = boundary.door(EXECUTE, execute, work=Work.BODY, refuse=connect.refused_file)
    return [Route(EXECUTE, door, methods=["POST"])]


def _lines(event: CodeEvent, decoders: Sequence[codecs.IncrementalDecoder]) -> list[dict[str, Any]]:
    match event:
        case Output():
            text = decoders[event.is_error].decode(event.data)
            kind = "stderr" if event.is_error else "stdout"
            return [{"type": kind, "text": text, "timestamp": time.time_ns() // 1000}]
        case Figure():
            return [{"type": "result", "png": base64.b64encode(event.png).decode()}]
        case CodeEnded():
            return [*_results(event), _count(event)]


def _results(ended: CodeEnded) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if ended.value is not None:
        found.append({"type": "result", "text": ended.value, "is_main_result": True})
    if ended.error is not None:
        error = ended.error
        found.append(_error(error.name, error.message, error.traceback))
    elif ended.outcome is CodeOutcome.INTERRUPTED:
        found.append(_error("TimeoutError", _INTERRUPTED, ""))
    elif ended.outcome is CodeOutcome.INTERPRETER_LOST:
        limits = ", ".join(limit.name.lower() for limit in ended.limits_hit)
        found.append(_error("SystemExit", f"{_LOST} ({limits})" if limits else _LOST, ""))
    return found


def _error(name: str, value: str, traceback: str) -> dict[str, Any]:
    return {"type": "error", "name": name, "value": value, "traceback": traceback}


def _count(ended: CodeEnded) -> dict[str, Any]:
    return {"type": "number_of_executions", "execution_count": ended.execution_count}
