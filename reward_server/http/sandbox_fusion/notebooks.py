"""SandboxFusion's `POST /run_jupyter`: cells that run in turn in one interpreter of a session.

The session is opened for the request, and is closed before the answer, also if the caller goes.
What cells do is a value in the answer: an exception, a time limit, or an interpreter that ended. If
no cell could be run, the answer is 504.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from reward_server.domain import MEBIBYTE
from reward_server.errors import InvalidRequestError, SessionEndedError, SessionFileError
from reward_server.http.bodies import read_body
from reward_server.http.boundary import Boundary, Call
from reward_server.http.patience import patiently
from reward_server.http.sandbox_fusion.answers import (
    FAILED,
    FINISHED,
    KILLED,
    SUCCESS,
    TIMED_OUT,
    Seconds,
    command_result,
    refused,
)
from reward_server.rpc import fields
from reward_server.rpc.convert import Bounds
from reward_server.rpc.interceptors import Work
from reward_server.rpc.json.sessions import code_wanted, path_wanted, session_wanted
from reward_server.sandbox.sessions.values import (
    CodeEnded,
    CodeEvent,
    CodeOutcome,
    Output,
    Shown,
)
from reward_server.sessions.bounds import LEAST_LIMITS, SessionBounds
from reward_server.sessions.session import CodeWanted, Session, Wanted
from reward_server.sessions.sessions import Sessions, offered

RUN_JUPYTER = "/run_jupyter"
# The client has no time limit of its own; the wait for a session ends after this time.
PATIENCE_SECONDS = 8.0
MOST_CELLS, MOST_FETCHED_FILES = 1024, 1024
# Of the output, the values and the figures of all cells, and of all files that are fetched.
MOST_OUTPUT_BYTES, MOST_FETCHED_BYTES = 16 * MEBIBYTE, 16 * MEBIBYTE
_LEAST_SECONDS = 0.05
_SPARE_SECONDS = 60.0  # of the session's lifetime, to fetch the files
_LOST = "the interpreter ended, and the cells that follow were not run"


class RunJupyterRequest(BaseModel):
    """The body of `/run_jupyter`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cells: list[str]
    memory_limit_MB: int = -1  # noqa: N815  # the name in SandboxFusion
    cell_timeout: Annotated[float, Field(ge=0, le=3600, allow_inf_nan=False)] = 0.0
    total_timeout: Seconds = 45.0
    kernel: Literal["python3"] = "python3"
    files: dict[str, str | None] = {}
    fetch_files: list[str] = []


@dataclass(slots=True, kw_only=True)
class _Cell:
    """What a cell has written, shown and raised."""

    streams: tuple[bytearray, bytearray] = field(default_factory=lambda: (bytearray(), bytearray()))
    display: list[Mapping[str, Any]] = field(default_factory=list)
    error: list[dict[str, Any]] = field(default_factory=list)

    def fail(self, name: str, message: str, traceback: str = "") -> None:
        lines = traceback.splitlines() or [f"{name}: {message}"]
        self.error.append({"ename": name, "evalue": message, "traceback": lines})

    def told(self) -> dict[str, Any]:
        stdout, stderr = (one.decode("utf-8", "replace") for one in self.streams)
        return {
            "stdout": stdout,
            "stderr": stderr,
            "display": self.display,
            "error": self.error,
            "status": "error" if self.error else "ok",
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _End:
    """How the cells ended: the status of the driver, and why not all of them ran."""

    status: str
    reason: str = ""


_DONE = _End(status=FINISHED)


def notebook_routes(sessions: Sessions | None, bounds: Bounds, boundary: Boundary) -> list[Route]:
    """Returns the routes of the door."""

    async def run_jupyter(call: Call) -> Response:
        request, door = read_body(RunJupyterRequest, call.body), offered(sessions)
        wanted = _session(request, call.owner, bounds, door)
        cells = fields.each("cells", request.cells, lambda one: _code(one, door.bounds))
        async with _opened(door, wanted) as session:
            notebook = _Notebook(session, request)
            try:
                await notebook.run(cells, door)
                files, problems = await _fetched(session, request.fetch_files)
            except SessionEndedError as error:
                door.check_draining()
                notebook.end = _End(status=FINISHED, reason=str(error))
                files, problems = {}, []
        return JSONResponse({**notebook.told(), "files": files, "message": "; ".join(problems)})

    door = boundary.door(RUN_JUPYTER, run_jupyter, work=Work.BODY, refuse=refused)
    return [Route(RUN_JUPYTER, door, methods=["POST"])]


def _session(request: RunJupyterRequest, owner: str, bounds: Bounds, sessions: Sessions) -> Wanted:
    """Returns the session that the cells need.

    Raises:
        InvalidRequestError: a field is wrong.
    """
    longest = sessions.bounds.maximum_lifetime_seconds - _SPARE_SECONDS
    fields.number("total_timeout", request.total_timeout, _LEAST_SECONDS, longest)
    fields.at_most("cells", len(request.cells), MOST_CELLS)
    fields.at_most("fetch_files", len(request.fetch_files), MOST_FETCHED_FILES)
    fields.each("fetch_files", request.fetch_files, path_wanted)
    given = ((path, content) for path, content in request.files.items() if content is not None)
    asked: dict[str, Any] = {
        "files": [{"path": path, "content": content} for path, content in given],
        "lifetime_seconds": request.total_timeout + _SPARE_SECONDS,
    }
    if request.memory_limit_MB > 0:
        most = sessions.bounds.maximum_limits.memory_bytes
        memory = max(request.memory_limit_MB * MEBIBYTE, LEAST_LIMITS.memory_bytes)
        asked["limits"] = {"memory_bytes": min(memory, most)}
    return session_wanted(asked, owner, bounds, sessions.bounds)


def _code(source: str, bounds: SessionBounds) -> CodeWanted:
    return code_wanted({"code": source}, bounds)


@asynccontextmanager
async def _opened(sessions: Sessions, wanted: Wanted) -> AsyncIterator[Session]:
    """Opens a session, and closes it at the end of the block."""
    deadline = asyncio.get_running_loop().time() + PATIENCE_SECONDS
    try:
        session = await patiently(lambda: sessions.open(wanted), deadline)
    except SessionFileError as error:
        raise InvalidRequestError("files", str(error)) from None
    try:
        with session.used():
            yield session
    finally:
        with suppress(SessionEndedError):
            await sessions.end(wanted.owner, session.id)


class _Notebook:
    """One run of the cells of a request.

    Args:
        session: where they run.
        request: their limits.
    """

    def __init__(self, session: Session, request: RunJupyterRequest) -> None:
        self.end = _DONE
        self._session = session
        self._request = request
        self._cells: list[_Cell] = []
        self._room = MOST_OUTPUT_BYTES
        self._clock = asyncio.get_running_loop().time
        self._begun = self._clock()

    async def run(self, cells: Sequence[CodeWanted], sessions: Sessions) -> None:
        """Runs the cells until their end, or until one cannot follow.

        Raises:
            SessionEndedError: the session has ended.
        """
        for wanted in cells:
            self._end_if_spent()
            if self.end is not _DONE:
                return
            sessions.commands_started += 1
            cell = await self._run_cell(wanted)
            if cell.error:
                self._end_if_spent()

    def _end_if_spent(self) -> None:
        """Ends the cells if their time or their room for output is spent."""
        if self.end is not _DONE:
            return
        if self._left_seconds < _LEAST_SECONDS:
            total = self._request.total_timeout
            self.end = _End(status=TIMED_OUT, reason=f"all cells together had {total:g} s")
        elif self._room <= 0:
            reason = f"the cells put out more than {MOST_OUTPUT_BYTES} bytes"
            self.end = _End(status=FINISHED, reason=reason)

    async def _run_cell(self, wanted: CodeWanted) -> _Cell:
        cell_seconds = self._request.cell_timeout or self._left_seconds
        seconds = max(min(cell_seconds, self._left_seconds), _LEAST_SECONDS)
        limited = replace(wanted, time_limit_seconds=seconds, output_bytes=self._room)
        cell = _Cell()
        self._cells.append(cell)
        async with aclosing(self._session.run_code(limited)) as events:
            async for event in events:
                self._take(cell, event, seconds)
        return cell

    def _take(self, cell: _Cell, event: CodeEvent, seconds: float) -> None:
        match event:
            case Output():
                self._room -= len(event.data)
                cell.streams[event.is_error].extend(event.data)
            case Shown():
                self._room -= len(json.dumps(event.data))
                if self._room >= 0:
                    cell.display.append(event.data)
            case CodeEnded():
                self._end_cell(cell, event, seconds)

    def _end_cell(self, cell: _Cell, ended: CodeEnded, seconds: float) -> None:
        if ended.error is not None and ended.outcome is not CodeOutcome.INTERRUPTED:
            error = ended.error
            self._room -= len(error.message) + len(error.traceback)
            cell.fail(error.name, error.message, error.traceback)
        elif ended.outcome is CodeOutcome.INTERRUPTED:
            cell.fail("TimeoutError", f"stopped after {seconds:.3g} s")
        elif ended.outcome is CodeOutcome.INTERPRETER_LOST:
            limits = ", ".join(limit.name.lower() for limit in ended.limits_hit)
            reason = f"{_LOST} ({limits})" if limits else _LOST
            cell.fail("DeadKernelError", reason)
            self.end = _End(status=FINISHED, reason=reason)
        is_cut = ended.stdout_truncated or ended.stderr_truncated or ended.value_truncated
        if is_cut or ended.dropped_images or self._room < 0:
            cell.fail("OutputLimitExceeded", "a part of the output was dropped")

    def told(self) -> dict[str, Any]:
        """Returns the answer, without files."""
        is_done = self.end is _DONE
        driver = command_result(
            self.end.status,
            return_code=0 if is_done else KILLED,
            stderr=self.end.reason,
            wall_time_seconds=self._clock() - self._begun,
        )
        return {
            "status": SUCCESS if is_done else FAILED,
            "driver": driver,
            "cells": [cell.told() for cell in self._cells],
            "executor_pod_name": None,
        }

    @property
    def _left_seconds(self) -> float:
        return self._begun + self._request.total_timeout - self._clock()


async def _fetched(session: Session, paths: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Returns the contents of files in base64, and why some are left out."""
    files: dict[str, str] = {}
    problems: list[str] = []
    room = MOST_FETCHED_BYTES
    for path in paths:
        try:
            content = await session.content(path, room)
        except SessionFileError as error:
            problems.append(str(error))
            continue
        if content is None:
            problems.append(f"{path}: files of one answer have {MOST_FETCHED_BYTES} bytes")
            continue
        room -= len(content)
        files[path] = base64.b64encode(content).decode()
    return files, problems
