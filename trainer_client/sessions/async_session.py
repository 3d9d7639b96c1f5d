"""A session for programs with an event loop; `sync_session` has one for other programs.

A session has a connection of its own, which stays with one server: a session lives in the server
that opened it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, Unpack

import grpc
from google.protobuf.message import Message

from codereward.v1 import reward_service_pb2 as pb_reward
from codereward.v1 import session_service_pb2 as pb
from codereward.v1 import session_service_pb2_grpc as rpc
from trainer_client.errors import CallError, SessionFileError
from trainer_client.score import Score, from_response
from trainer_client.sessions import requests
from trainer_client.sessions.errors import error_of
from trainer_client.sessions.requests import (
    CodeOptions,
    Content,
    ExecOptions,
    SessionOptions,
)
from trainer_client.sessions.results import (
    CodeResult,
    ExecResult,
    FileInfo,
    OutputChunk,
    code_result_of,
    file_info_of,
    result_of,
)
from trainer_client.transport import contract, retry
from trainer_client.transport.channel import Connection
from trainer_client.transport.retry import Patience

_CALL_SECONDS = 120.0
_MARGIN_SECONDS = 30.0  # of a command's deadline above its time limit
_PART_BYTES = 1 << 20
_INPUT_BYTES = 8 << 20  # of standard input, in one message


class AsyncSession:
    """A sandbox that is open for the length of an `async with` block.

    `AsyncRewardClient.session` makes it. Nothing in a session can reach another session, the server
    or the network. It ends with the block, and after its lifetime or its idle limit.

    Args:
        find: returns the address of a server to ask for a session, and the options of calls.
        options: the options of the session.

    Attributes:
        id: its name on the server; empty before it is open.
        working_folder: the folder in which commands run.
    """

    def __init__(self, find: Callable[[], Awaitable[Connection]], options: SessionOptions) -> None:
        self.id = ""
        self.working_folder = ""
        self._find = find
        self._metadata: tuple[tuple[str, str], ...] = ()
        self._options = options
        self._channel: grpc.aio.Channel | None = None
        self._timeout_seconds = _CALL_SECONDS
        self._stated_revision = 0

    async def __aenter__(self) -> Self:
        """Opens the session; waits while the server has no room.

        Raises:
            CallError: it was not opened.
        """
        try:
            await self._open()
            await self.write_files(self._options.get("files", {}))
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def exec(self, argv: Sequence[str], **options: Unpack[ExecOptions]) -> ExecResult:
        """Runs a command to its end, and returns its output.

        Args:
            argv: the executable and its arguments; no shell reads them.
            options: see `ExecOptions`.

        Raises:
            SessionEndedError: the session is gone; open another.
            CallError: the command was not run.
        """
        given = requests.as_bytes(options.get("stdin", b""))
        if len(given) <= _INPUT_BYTES or options.get("keep_stdin_open"):
            async with self.start(argv, **options) as command:
                return await command.wait()
        options["stdin"], options["keep_stdin_open"] = given[:_INPUT_BYTES], True
        async with self.start(argv, **options) as command:
            feeding = asyncio.create_task(_feed(command, memoryview(given)[_INPUT_BYTES:]))
            try:
                return await command.wait()
            finally:
                feeding.cancel()
                await asyncio.wait([feeding])

    def start(self, argv: Sequence[str], **options: Unpack[ExecOptions]) -> AsyncCommand:
        """Returns a command that runs for the length of an `async with` block.

        At the end of the block it is killed if it still runs.

        Args:
            argv: the executable and its arguments.
            options: see `ExecOptions`.
        """
        limit = options.get("time_limit_seconds")
        request = requests.exec_request(self.id, list(argv), options)
        self._check_readable(request)
        call = self._stub.Exec(
            request,
            timeout=None if limit is None else limit + _MARGIN_SECONDS,
            metadata=self._metadata,
        )
        return AsyncCommand(self, call)

    async def run_code(self, code: str, **options: Unpack[CodeOptions]) -> CodeResult:
        """Runs Python code in an interpreter that keeps its state for the next call.

        Args:
            code: the code; if it ends with an expression, the result has its value.
            options: see `CodeOptions`.

        Raises:
            SessionEndedError: the session is gone; open another.
            CallError: the code was not run.
        """
        request = requests.code_request(self.id, code, options)
        self._check_readable(request)
        call = self._stub.RunCode(request, metadata=self._metadata)
        streams, images = (bytearray(), bytearray()), list[bytes]()
        try:
            async for event in call:
                if event.HasField("ended"):
                    stdout, stderr = map(bytes, streams)
                    return code_result_of(event.ended, stdout, stderr, images)
                if event.HasField("png"):
                    images.append(event.png)
                else:
                    is_error = event.HasField("stderr")
                    streams[is_error].extend(event.stderr if is_error else event.stdout)
        except grpc.aio.AioRpcError as error:
            raise error_of(error) from error
        finally:
            call.cancel()
        raise CallError("UNAVAILABLE", "the server ended the call before the code's end")

    async def write_files(self, files: Mapping[str, Content], *, executable: bool = False) -> None:
        """Writes files, by path; text is written in UTF-8.

        Args:
            files: contents by path, absolute or relative to the working folder.
            executable: whether they may be executed.

        Raises:
            SessionFileError: a file cannot be written.
            SessionEndedError: the session is gone.
            CallError: the server did not answer.
        """
        for request in requests.write_requests(self.id, files, executable=executable):
            await self._answer(self._stub.WriteFiles, request)

    async def read_file(self, path: str, *, most_bytes: int | None = None) -> bytes:
        """Reads a file.

        Args:
            path: its path, absolute or relative to the working folder.
            most_bytes: the greatest size of a file that is read.

        Raises:
            SessionFileError: it cannot be read, or it is larger than `most_bytes`, with the reason
                `FILE_TOO_LARGE`.
            SessionEndedError: the session is gone.
            CallError: the server did not answer.
        """
        content = bytearray()
        while True:
            request = pb.ReadFileRequest(session_id=self.id, path=path, offset=len(content))
            answer = await self._answer(self._stub.ReadFile, request)
            content += answer.content
            if most_bytes is not None and max(answer.size_bytes, len(content)) > most_bytes:
                problem = f"{path!r} has more than {most_bytes} bytes"
                raise SessionFileError("FAILED_PRECONDITION", problem, "FILE_TOO_LARGE")
            if len(answer.content) < _PART_BYTES:
                return bytes(content)

    async def list_files(self, path: str = ".", *, recursive: bool = False) -> list[FileInfo]:
        """Lists a folder, at most 10,000 entries of it.

        Raises:
            SessionFileError: it cannot be listed.
            SessionEndedError: the session is gone.
            CallError: the server did not answer.
        """
        request = pb.ListFilesRequest(session_id=self.id, path=path, recursive=recursive)
        answer = await self._answer(self._stub.ListFiles, request)
        return [file_info_of(entry) for entry in answer.files]

    async def score(
        self,
        request: pb_reward.ScoreRequest | Mapping[str, Any],
        *,
        folder: str = "",
        completion_path: str = "",
        timeout_seconds: float | None = None,
    ) -> Score:
        """Judges the files of the session, in a fresh execution. All its processes are killed.

        Args:
            request: a `ScoreRequest` without completion and files, or its JSON form.
            folder: for tests of a repository, the folder that is the repository with the session's
                changes; the working folder if empty.
            completion_path: for other tests, the file that is the completion.
            timeout_seconds: how long to wait, also while the server is busy; the client's time-out
                if absent.

        Raises:
            TaskError: the request is no such object.
            SessionEndedError: the session is gone.
            CallError: the files were not judged.
        """
        asked = pb.ScoreSessionRequest(
            session_id=self.id,
            request=requests.score_request(request),
            folder=folder,
            completion_path=completion_path,
        )
        self._check_readable(asked)
        seconds = self._timeout_seconds if timeout_seconds is None else timeout_seconds
        patience = Patience(timeout_seconds=seconds, outage_seconds=seconds)
        attempt = 0
        while True:
            try:
                answer = await self._stub.ScoreSession(
                    asked, timeout=patience.remaining(), metadata=self._metadata
                )
            except grpc.aio.AioRpcError as error:
                pause = patience.pause(retry.from_rpc_error(error), attempt)
                if pause is None:
                    raise error_of(error) from error
                await asyncio.sleep(pause)
                attempt += 1
            else:
                return from_response(answer.response)

    async def keep_alive(self, lifetime_seconds: float | None = None) -> float:
        """Tells the server that the session is still needed; returns its remaining lifetime in
        seconds.

        Args:
            lifetime_seconds: a new lifetime, counted from this call.

        Raises:
            SessionEndedError: the session is gone.
            CallError: the server did not answer, or does not allow that lifetime.
        """
        request = pb.KeepAliveRequest(session_id=self.id, lifetime_seconds=lifetime_seconds)
        answer: pb.KeepAliveResponse = await self._answer(self._stub.KeepAlive, request)
        return answer.lifetime_seconds

    async def close(self) -> None:
        """Ends the session; it may have ended already. If this call does not reach the server, the
        session ends by its idle limit or its lifetime."""
        channel, self._channel = self._channel, None
        if channel is None:
            return
        if self.id:
            request = pb.CloseSessionRequest(session_id=self.id)
            with contextlib.suppress(grpc.aio.AioRpcError):
                await _stub_of(channel).CloseSession(
                    request, timeout=_CALL_SECONDS, metadata=self._metadata
                )
        await channel.close(None)

    async def _open(self) -> None:
        request = requests.open_request(self._options)
        connection = await self._find()
        self._timeout_seconds = connection.timeout_seconds
        patience = Patience(
            timeout_seconds=connection.timeout_seconds, outage_seconds=connection.outage_seconds
        )
        attempt = 0
        while True:
            self._metadata = connection.metadata
            self._channel = connection.open_alone()
            try:
                answer = await self._stub.OpenSession(
                    request,
                    timeout=min(patience.remaining(), _CALL_SECONDS),
                    metadata=self._metadata,
                )
            except grpc.aio.AioRpcError as error:
                pause = patience.pause(retry.from_rpc_error(error), attempt)
                if pause is None:
                    raise error_of(error) from error
                await self._channel.close(None)
                await asyncio.sleep(pause)
                connection = await self._find()
                attempt += 1
            else:
                self.id, self.working_folder = answer.session_id, answer.working_folder
                self._stated_revision = answer.contract_revision
                self._check_readable(request)
                return

    def _check_readable(self, request: Message) -> None:
        failure = contract.unreadable(request, self._stated_revision)
        if failure is not None:
            raise CallError(failure.status.name, failure.message)

    async def _answer(self, method: Any, request: Any) -> Any:
        self._check_readable(request)
        try:
            return await method(request, timeout=_CALL_SECONDS, metadata=self._metadata)
        except grpc.aio.AioRpcError as error:
            raise error_of(error) from error

    @property
    def _stub(self) -> rpc.SessionServiceAsyncStub:
        if self._channel is None:
            raise RuntimeError("the session is not open: use it inside of its `with` block")
        return _stub_of(self._channel)


class AsyncCommand:
    """A command of a session; `AsyncSession.start` makes it.

    Iterating yields `OutputChunk`s as they are written. While nobody iterates, a command that
    writes much has to wait.
    """

    def __init__(
        self, session: AsyncSession, call: grpc.aio.UnaryStreamCall[pb.ExecRequest, pb.ExecResponse]
    ) -> None:
        self.pid = 0
        self._session = session
        self._call = call
        self._ended: pb.ExecEnded | None = None

    async def __aenter__(self) -> Self:
        """Waits until the command has started.

        Raises:
            SessionEndedError: the session is gone.
            CallError: the command was not run.
        """
        event = await self._next()
        if event.HasField("started"):
            self.pid = event.started.pid
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._ended is None:
            self._call.cancel()

    async def __aiter__(self) -> AsyncIterator[OutputChunk]:
        while (chunk := await self.next_chunk()) is not None:
            yield chunk

    async def next_chunk(self) -> OutputChunk | None:
        """Returns the next piece of output, or None at the command's end."""
        if self._ended is not None:
            return None
        event = await self._next()
        if event.HasField("ended"):
            return None
        is_error = event.HasField("stderr")
        return OutputChunk(data=event.stderr if is_error else event.stdout, is_error=is_error)

    async def wait(self) -> ExecResult:
        """Waits for the command's end; returns the result, with the output that no iteration has
        taken.

        Raises:
            SessionEndedError: the session is gone.
            CallError: the server did not answer.
        """
        streams = bytearray(), bytearray()
        async for chunk in self:
            streams[chunk.is_error].extend(chunk.data)
        assert self._ended is not None
        return result_of(self._ended, *map(bytes, streams))

    async def send_input(self, data: Content, *, end: bool = False) -> bool:
        """Writes to standard input; returns False if the command had closed it.

        Args:
            data: the bytes, or text to write in UTF-8.
            end: whether the input ends after it.

        Raises:
            SessionProcessError: the command has ended.
            SessionEndedError: the session is gone.
            CallError: the server did not answer.
        """
        request = pb.SendInputRequest(
            session_id=self._session.id,
            pid=self.pid,
            input=requests.as_bytes(data),
            end_of_input=end,
        )
        answer = await self._session._answer(self._session._stub.SendInput, request)
        return not answer.stdin_closed

    async def send_signal(self, number: int) -> None:
        """Sends a signal, by its number, to the command's process group.

        Raises:
            SessionProcessError: the command has ended.
            SessionEndedError: the session is gone.
            CallError: the server did not answer.
        """
        request = pb.SendSignalRequest(session_id=self._session.id, pid=self.pid, signal=number)
        await self._session._answer(self._session._stub.SendSignal, request)

    async def _next(self) -> pb.ExecResponse:
        try:
            event = await self._call.read()
        except grpc.aio.AioRpcError as error:
            raise error_of(error) from error
        if not isinstance(event, pb.ExecResponse):
            raise CallError("UNAVAILABLE", "the server ended the call before the command's end")
        if event.HasField("ended"):
            self._ended = event.ended
        return event


async def _feed(command: AsyncCommand, data: memoryview) -> None:
    """Writes the rest of a command's standard input, and ends it."""
    with contextlib.suppress(CallError):  # the command's end says what happened
        for start in range(0, len(data), _INPUT_BYTES):
            part = data[start : start + _INPUT_BYTES]
            is_last = start + _INPUT_BYTES >= len(data)
            if not await command.send_input(bytes(part), end=is_last):
                return


def _stub_of(channel: grpc.aio.Channel) -> rpc.SessionServiceAsyncStub:
    stub: rpc.SessionServiceAsyncStub = rpc.SessionServiceStub(channel)
    return stub
