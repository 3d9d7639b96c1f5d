"""The methods of `codereward.v1.SessionService`; see `rpc.service` for the form of bodies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import aclosing, contextmanager
from typing import Any, TypeVar

import grpc
from google.protobuf.message import Message

from codereward.revisions import revision
from codereward.v1 import reward_service_pb2 as reward_pb
from codereward.v1 import session_service_pb2 as pb
from reward_server.domain import LimitKind
from reward_server.errors import SessionEndedError
from reward_server.rpc import convert as requests
from reward_server.rpc import fields
from reward_server.rpc.answers import termination_of
from reward_server.rpc.callers import Context
from reward_server.rpc.convert import Bounds
from reward_server.rpc.interceptors import Gate, Work, handlers_of
from reward_server.rpc.service import RewardService, deadline_of
from reward_server.rpc.sessions import convert, scoring
from reward_server.runner.sessions.wire import Type
from reward_server.sandbox.sessions.running_command import RunningCommand
from reward_server.sandbox.sessions.values import (
    WORKING_FOLDER,
    CodeEnded,
    CodeEvent,
    Ended,
    Event,
    FileEntry,
    Output,
    SessionLimits,
    Shown,
    Started,
)
from reward_server.sessions.session import Session
from reward_server.sessions.sessions import Sessions, offered
from reward_server.telemetry import Telemetry

SERVICE = pb.DESCRIPTOR.services_by_name["SessionService"].full_name
_Event = TypeVar("_Event")
_TYPES = {
    Type.FILE: pb.FILE_TYPE_FILE,
    Type.FOLDER: pb.FILE_TYPE_FOLDER,
    Type.LINK: pb.FILE_TYPE_LINK,
    Type.OTHER: pb.FILE_TYPE_UNSPECIFIED,
}


class SessionService:
    """Answers RPCs about sessions.

    Args:
        sessions: the server's sessions; None if it offers none.
        bounds: bounds on requests.
        telemetry: counts calls.
        gate: the checks that calls must pass.
        judge: judges what sessions leave.
    """

    def __init__(
        self,
        sessions: Sessions | None,
        *,
        bounds: Bounds,
        telemetry: Telemetry,
        gate: Gate,
        judge: RewardService,
    ) -> None:
        self._judge = judge
        self._offered = sessions
        self._bounds = bounds
        self._telemetry = telemetry
        self._gate = gate

    def handlers(self) -> grpc.GenericRpcHandler[bytes, Message]:
        """Returns the methods in the form that gRPC takes."""
        unary = {
            "OpenSession": self.open_session,
            "SendInput": self.send_input,
            "SendSignal": self.send_signal,
            "WriteFiles": self.write_files,
            "ReadFile": self.read_file,
            "ListFiles": self.list_files,
            "KeepAlive": self.keep_alive,
            "ScoreSession": self.score_session,
            "CloseSession": self.close_session,
        }
        streamed = {"Exec": self.run_command, "RunCode": self.run_code}
        return handlers_of(SERVICE, unary, streamed, self._telemetry, self._gate, _work_of)

    async def open_session(
        self, body: bytes, context: Context, owner: str
    ) -> pb.OpenSessionResponse:
        """Opens a session."""
        request = requests.parse(pb.OpenSessionRequest, body, self._bounds)
        wanted = convert.wanted(request, owner, self._bounds, self._sessions.bounds)
        session = await self._sessions.open(wanted)
        return pb.OpenSessionResponse(
            session_id=session.id,
            working_folder=WORKING_FOLDER,
            lifetime_seconds=session.remaining_seconds,
            idle_seconds=wanted.idle_seconds,
            limits=_limits(wanted.place.limits),
            contract_revision=revision(),
        )

    async def run_command(self, body: bytes, context: Context, owner: str) -> None:
        """Runs a command, and sends what happens to it."""
        request = requests.parse(pb.ExecRequest, body, self._bounds)
        wanted = convert.command(request, self._sessions.bounds)
        self._sessions.check_draining()
        with self._session(owner, request.session_id) as session:
            self._sessions.commands_started += 1
            command = await session.run(wanted)
            feeding = asyncio.create_task(
                _feed(command, request.stdin, ends=not request.keep_stdin_open)
            )
            try:
                await _send_each(command.events(), _event, context)
            finally:
                feeding.cancel()
                await asyncio.gather(feeding, return_exceptions=True)

    async def run_code(self, body: bytes, context: Context, owner: str) -> None:
        """Runs code in an interpreter, and sends what happens to it."""
        request = requests.parse(pb.RunCodeRequest, body, self._bounds)
        wanted = convert.code(request, self._sessions.bounds)
        self._sessions.check_draining()
        with self._session(owner, request.session_id) as session:
            self._sessions.commands_started += 1
            async with aclosing(session.run_code(wanted)) as events:
                await _send_each(events, _code_event, context)

    async def send_input(self, body: bytes, context: Context, owner: str) -> pb.SendInputResponse:
        """Gives input to a running command."""
        request = requests.parse(pb.SendInputRequest, body, self._bounds)
        fields.data("input", request.input, convert.MOST_INPUT_BYTES)
        with self._session(owner, request.session_id) as session:
            command = session.command(request.pid)
            closed = await command.send_input(request.input, ends=request.end_of_input)
        return pb.SendInputResponse(stdin_closed=closed)

    async def send_signal(self, body: bytes, context: Context, owner: str) -> pb.SendSignalResponse:
        """Sends a signal to a running command."""
        request = requests.parse(pb.SendSignalRequest, body, self._bounds)
        number = convert.signal(request)
        with self._session(owner, request.session_id) as session:
            await session.command(request.pid).signal(number)
        return pb.SendSignalResponse()

    async def write_files(self, body: bytes, context: Context, owner: str) -> pb.WriteFilesResponse:
        """Writes files."""
        request = requests.parse(pb.WriteFilesRequest, body, self._bounds)
        files = convert.files(request.files)
        with self._session(owner, request.session_id) as session:
            for file in files:
                await session.write(file)
        return pb.WriteFilesResponse()

    async def read_file(self, body: bytes, context: Context, owner: str) -> pb.ReadFileResponse:
        """Reads a part of a file."""
        request = requests.parse(pb.ReadFileRequest, body, self._bounds)
        path, (offset, length) = convert.path(request.path), convert.part(request)
        with self._session(owner, request.session_id) as session:
            content, size = await session.read(path, offset, length)
        return pb.ReadFileResponse(content=content, size_bytes=size)

    async def list_files(self, body: bytes, context: Context, owner: str) -> pb.ListFilesResponse:
        """Lists a folder."""
        request = requests.parse(pb.ListFilesRequest, body, self._bounds)
        path = convert.path(request.path or ".")
        with self._session(owner, request.session_id) as session:
            entries, is_cut = await session.entries(path, recursive=request.recursive)
        return pb.ListFilesResponse(files=map(_entry, entries), truncated=is_cut)

    async def keep_alive(self, body: bytes, context: Context, owner: str) -> pb.KeepAliveResponse:
        """Keeps a session alive, and can move the end of its lifetime."""
        request = requests.parse(pb.KeepAliveRequest, body, self._bounds)
        seconds = convert.lifetime(request, self._sessions.bounds)
        with self._session(owner, request.session_id) as session:
            if seconds is not None:
                session.live_for(seconds)
            return pb.KeepAliveResponse(lifetime_seconds=session.remaining_seconds)

    async def score_session(
        self, body: bytes, context: Context, owner: str
    ) -> pb.ScoreSessionResponse:
        """Judges the files of a session."""
        request = requests.parse(pb.ScoreSessionRequest, body, self._bounds)
        convert.check_score(request)
        self._sessions.check_draining()
        with self._session(owner, request.session_id) as session:
            asked = fields.within("request", lambda: self._judge.submission(request.request, owner))
            place = convert.judged_place(request, asked)
            submission = await scoring.with_files(asked, session, place)
            told = await asyncio.to_thread(scoring.for_record, request.request, submission)
            response = await self._judge.judged(told, submission, deadline_of(context), owner)
        return pb.ScoreSessionResponse(response=response)

    async def close_session(
        self, body: bytes, context: Context, owner: str
    ) -> pb.CloseSessionResponse:
        """Ends a session."""
        request = requests.parse(pb.CloseSessionRequest, body, self._bounds)
        await self._sessions.end(owner, request.session_id)
        return pb.CloseSessionResponse()

    @property
    def _sessions(self) -> Sessions:
        return offered(self._offered)

    @contextmanager
    def _session(self, owner: str, session_id: str) -> Iterator[Session]:
        """Returns a session, which counts as in use during the block."""
        session = self._sessions.find(owner, session_id)
        with session.used():
            yield session


def _work_of(method: str) -> Work:
    return Work.REQUEST if method == "ScoreSession" else Work.BODY


async def _feed(command: RunningCommand, stdin: bytes, *, ends: bool) -> None:
    """Writes a command's first input while its output is read."""
    try:
        await command.send_input(stdin, ends=ends)
    except SessionEndedError:
        return  # the command's events tell of it


async def _send_each(
    events: AsyncIterator[_Event], converted: Callable[[_Event], Message | None], context: Context
) -> None:
    """Sends each event when the one before was accepted; ends with the caller."""
    async for event in events:
        message = converted(event)
        if message is None:
            continue
        try:
            await context.write(message)
        except Exception:  # noqa: BLE001  # gRPC raises several types for a caller that has gone
            raise asyncio.CancelledError from None


def _event(event: Event) -> pb.ExecResponse:
    match event:
        case Started():
            return pb.ExecResponse(started=pb.ExecStarted(pid=event.pid))
        case Output():
            kind = "stderr" if event.is_error else "stdout"
            piece: dict[str, Any] = {kind: event.data}
            return pb.ExecResponse(**piece)
        case Ended():
            return pb.ExecResponse(ended=_ended(event))


def _ended(event: Ended) -> pb.ExecEnded:
    return pb.ExecEnded(
        termination=termination_of(event.termination),
        start_error=event.problem,
        limits_hit=_limits_of(event.limits_hit),
        stdout_size_bytes=event.stdout_bytes,
        stderr_size_bytes=event.stderr_bytes,
        stdout_truncated=event.stdout_truncated,
        stderr_truncated=event.stderr_truncated,
        wall_time_seconds=event.wall_time_seconds,
    )


def _code_event(event: CodeEvent) -> pb.RunCodeResponse | None:
    """Returns a message; what code displays and is no image is part of its output."""
    match event:
        case Output():
            kind = "stderr" if event.is_error else "stdout"
            piece: dict[str, Any] = {kind: event.data}
            return pb.RunCodeResponse(**piece)
        case Shown(png=bytes(png)):
            return pb.RunCodeResponse(png=png)
        case Shown():
            # The end of the code has its value.
            shown = f"{event.text}\n".encode()
            return None if event.is_main else pb.RunCodeResponse(stdout=shown)
        case CodeEnded():
            return pb.RunCodeResponse(ended=_code_ended(event))


def _code_ended(event: CodeEnded) -> pb.RunCodeEnded:
    raised, termination = event.error, event.termination
    return pb.RunCodeEnded(
        outcome=pb.CodeOutcome.ValueType(event.outcome.value),
        value=event.value,
        value_truncated=event.value_truncated,
        error=None
        if raised is None
        else pb.CodeError(name=raised.name, message=raised.message, traceback=raised.traceback),
        termination=None if termination is None else termination_of(termination),
        limits_hit=_limits_of(event.limits_hit),
        stdout_size_bytes=event.stdout_bytes,
        stderr_size_bytes=event.stderr_bytes,
        stdout_truncated=event.stdout_truncated,
        stderr_truncated=event.stderr_truncated,
        dropped_images=event.dropped_images,
        wall_time_seconds=event.wall_time_seconds,
        execution_count=event.execution_count,
        restarted=event.restarted,
    )


def _limits_of(hit: Iterable[LimitKind]) -> list[reward_pb.LimitKind.ValueType]:
    return [reward_pb.LimitKind.ValueType(limit.value) for limit in hit]


def _entry(entry: FileEntry) -> pb.FileInfo:
    return pb.FileInfo(
        path=entry.path,
        type=_TYPES[entry.type],
        size_bytes=entry.size_bytes,
        mode=entry.mode & 0o7777,
    )


def _limits(limits: SessionLimits) -> pb.SessionLimits:
    return pb.SessionLimits(
        memory_bytes=limits.memory_bytes,
        processes=limits.processes,
        disk_bytes=limits.disk_bytes,
        file_size_bytes=limits.file_size_bytes,
        open_files=limits.open_files,
    )
