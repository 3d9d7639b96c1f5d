"""SandboxFusion's `POST /run_code` and `GET /v1/ping`, as its client and verl call them.

A program's failure is a value in the answer. If a program could not be run, the answer is 504 and
never a status of SandboxFusion: verl tries again after 504 alone, and takes everything else for a
failed test. While the queue is full, the door therefore waits as long as the caller does.
"""

from __future__ import annotations

import asyncio
import base64
from typing import Any

from pydantic import BaseModel, ConfigDict
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from reward_server.domain import (
    LEAST_LIMITS,
    MEBIBYTE,
    CapturedStream,
    Ending,
    Execution,
    Job,
    LimitKind,
    Limits,
    TerminationKind,
)
from reward_server.errors import InvalidRequestError
from reward_server.evaluation import Evaluation
from reward_server.evaluation.deduplication import SingleFlight
from reward_server.http.bodies import read_body
from reward_server.http.boundary import Boundary, Call
from reward_server.http.patience import patiently
from reward_server.http.sandbox_fusion.answers import (
    FAILED,
    FINISHED,
    SUCCESS,
    TIMED_OUT,
    Seconds,
    command_result,
    refused,
    told,
)
from reward_server.http.sandbox_fusion.modes import Mode, Tested, mode_named
from reward_server.languages import Language
from reward_server.rpc.convert import SOURCE_BYTES, Bounds
from reward_server.rpc.interceptors import Work
from reward_server.rpc.json.programs import program_job

RUN_CODE, PING = "/run_code", "/v1/ping"
# verl waits 10 s beyond the two time limits.
SPARE_SECONDS = 8.0
# A busy machine may take this much longer than a program's CPU time.
_WALL_SHARE, _WALL_SECONDS = 0.5, 4.0
_NAMES = {"nodejs": "javascript", "R": "r"}
# SandboxFusion compiles no programs of these languages: what is wrong with one is told of its run.
_INTERPRETED = frozenset(
    {"python", "javascript", "typescript", "bash", "php", "ruby", "perl", "lua", "r", "racket"}
    | {"csharp", "sql"}
)
_TIMES = {LimitKind.CPU_TIME, LimitKind.WALL_TIME}
_KILLED, _BAD_CALL = 9, 31  # SIGKILL, SIGSYS
_COMPILED = command_result(FINISHED, return_code=0)


class RunCodeRequest(BaseModel):
    """The body of `/run_code`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: str
    language: str
    compile_timeout: Seconds = 10.0
    run_timeout: Seconds = 10.0
    memory_limit_MB: int = -1  # noqa: N815  # the name in SandboxFusion
    stdin: str | None = None
    files: dict[str, str | None] = {}
    fetch_files: list[str] = []


def program_routes(evaluation: Evaluation, bounds: Bounds, boundary: Boundary) -> list[Route]:
    """Returns the routes of the door."""
    flights: SingleFlight[Execution] = SingleFlight()

    async def run_code(call: Call) -> Response:
        request = read_body(RunCodeRequest, call.body)
        if len(request.code.encode("utf-8", "surrogatepass")) > SOURCE_BYTES:
            return JSONResponse(_oversize())
        deadline = asyncio.get_running_loop().time() + _patience_seconds(request)
        mode = mode_named(request.language, bounds)
        job = _job(request, mode, bounds)

        async def run() -> Execution:
            return (await evaluation.execute(job, deadline=deadline, owner=call.owner))[0]

        async def run_once() -> Execution:
            return (await flights.join((call.owner, call.body), run))[0]

        execution = await patiently(run_once, deadline)
        return JSONResponse(_answer(execution, bounds.languages.find(job.language), mode))

    async def ping(_: object) -> Response:
        return JSONResponse("pong")

    return [
        Route(
            RUN_CODE,
            boundary.door(RUN_CODE, run_code, work=Work.BODY, refuse=refused),
            methods=["POST"],
        ),
        Route(PING, ping, methods=["GET"]),
    ]


def _patience_seconds(request: RunCodeRequest) -> float:
    return request.compile_timeout + request.run_timeout + SPARE_SECONDS


def _job(request: RunCodeRequest, mode: Mode | None, bounds: Bounds) -> Job:
    if request.fetch_files:
        raise InvalidRequestError("fetch_files", "files of a program cannot be fetched here")
    language = language_named(request.language if mode is None else mode.language, bounds)
    files = {path: text for path, text in request.files.items() if text is not None}
    tested = Tested(source=request.code) if mode is None else mode.tested(request.code)
    for path, text in tested.files.items():
        files[path] = base64.b64encode(text.encode("utf-8", "surrogatepass")).decode()
    return program_job(
        {
            "language": language.name,
            "source": tested.source,
            "stdin_text": request.stdin or "",
            "files": files,
            "limits": _limits(request, language, bounds),
        },
        bounds,
    )


def language_named(name: str, bounds: Bounds) -> Language:
    """Returns the language of a name of SandboxFusion or of this server.

    Raises:
        UnsupportedError: there is none.
    """
    return bounds.languages.find(_NAMES.get(name, name))


def is_compiled(language: Language) -> bool:
    """Returns True if SandboxFusion tells of a compiler apart from the program."""
    return language.name not in _INTERPRETED


def time_limits(run: float, bounds: Bounds) -> dict[str, float]:
    """Returns the limits that a `run_timeout` in seconds sets, within those of the server."""
    most = bounds.maximum_limits
    return {
        "cpu_time_seconds": min(max(run, LEAST_LIMITS.cpu_time_seconds), most.cpu_time_seconds),
        "wall_time_seconds": min(
            max(run + min(run * _WALL_SHARE, _WALL_SECONDS), LEAST_LIMITS.wall_time_seconds),
            most.wall_time_seconds,
        ),
    }


def _limits(request: RunCodeRequest, language: Language, bounds: Bounds) -> dict[str, float]:
    """Returns the limits that a request sets, within those of the server."""
    limits, most = time_limits(request.run_timeout, bounds), bounds.maximum_limits
    memory = request.memory_limit_MB * MEBIBYTE
    # A virtual machine does not start in what is enough for Python.
    own = language.default_limits(Limits(memory_bytes=LEAST_LIMITS.memory_bytes)).memory_bytes
    if memory > 0:
        limits["memory_bytes"] = min(max(memory, own), most.memory_bytes)
    return limits


# ------------------------------------------------------------------------------------- answers


def _answer(execution: Execution, language: Language, mode: Mode | None) -> dict[str, Any]:
    has_compiler = is_compiled(language)
    is_refused = execution.ending is Ending.COMPILE_ERROR
    result = _result(execution, "" if is_refused else execution.message)
    if is_refused and has_compiler:
        return told(FAILED, compile_result=result)
    is_success = result["status"] == FINISHED and result["return_code"] == 0
    if mode is not None and is_success:
        result["stdout"] += mode.passed
    return told(
        SUCCESS if is_success else FAILED,
        compile_result=_COMPILED if has_compiler else None,
        run_result=result,
    )


def _oversize() -> dict[str, Any]:
    """Returns the answer to a program that is too large; the model is its author."""
    problem = f"the program has more than {SOURCE_BYTES} bytes"
    return told(FAILED, run_result=command_result(FINISHED, return_code=1, stderr=problem))


def _result(execution: Execution, message: str) -> dict[str, Any]:
    """Returns what a command did, which has finished however it ended, unless its time was over."""
    stdout, stderr = execution.stdout, execution.stderr
    is_late = bool(_TIMES.intersection(execution.limits_hit))
    return command_result(
        TIMED_OUT if is_late else FINISHED,
        return_code=_return_code(execution),
        stdout=stdout.data.decode("utf-8", "replace"),
        stderr=_explained(stderr, message),
        wall_time_seconds=execution.usage.wall_time_seconds,
        cpu_time_seconds=execution.usage.cpu_time_seconds,
    )


def _return_code(execution: Execution) -> int:
    """Returns the exit code, or the number of the signal that ended the program; output that is
    cut counts as an end by SIGKILL, so that no caller takes a part of it for the whole."""
    ended = execution.termination
    if _is_cut(execution.stdout) or _is_cut(execution.stderr):
        return -_KILLED
    if ended.kind is TerminationKind.EXITED and (
        ended.value or execution.ending is Ending.COMPLETED
    ):
        return ended.value
    if ended.kind is TerminationKind.SIGNALED:
        return -ended.value
    return -_BAD_CALL if execution.ending is Ending.VIOLATION else -_KILLED


def _is_cut(stream: CapturedStream) -> bool:
    return len(stream.data) < stream.size_bytes


def _explained(stderr: CapturedStream, message: str) -> str:
    """Returns the standard error, and in a last line which limit ended the program, if one did."""
    text = stderr.data.decode("utf-8", "replace")
    return f"{text.rstrip()}\n{message}".lstrip() if message else text
