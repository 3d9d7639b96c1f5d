"""A client for programs with an event loop; `sync_client` has one for other programs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

import grpc

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.errors import CallError
from trainer_client.requests import AnyRequest, all_requests, execute_request
from trainer_client.score import Score
from trainer_client.sessions.async_session import AsyncSession
from trainer_client.sessions.requests import SessionOptions
from trainer_client.spelling import check_options
from trainer_client.transport import contract, deadlines, forks
from trainer_client.transport.call import Line, score_all
from trainer_client.transport.channel import Connection, ConnectionOptions, Target
from trainer_client.transport.hints import explained
from trainer_client.transport.processes import Process
from trainer_client.transport.retry import Failure, Patience

_INFO_SECONDS = 300.0

_T = TypeVar("_T")


class AsyncRewardClient:
    """A client for any number of event loops.

    A channel is created for each loop at the first call from it. The object can be pickled, and the
    copy opens its own connections. gRPC does not survive a fork: if a process is forked after a
    client was used, the child can use no client. Spawn workers instead, or use no client before you
    fork.

    Args:
        target: see `Connection`, also for the options.

    Examples:
        >>> import asyncio
        >>> from trainer_client import AsyncRewardClient
        >>> tests = {"entry_point": "double", "asserts": ["assert double(3) == 6"]}
        >>> async def rewards(*completions):
        ...     requests = [{"completion": text, "function": tests} for text in completions]
        ...     async with AsyncRewardClient("localhost:50051") as client:
        ...         return [score.reward for score in await client.score(requests)]
        >>> asyncio.run(rewards("def double(x): return 2 * x", "def double(x): return x"))
        [1.0, 0.0]
    """

    def __init__(self, target: Target, **options: Unpack[ConnectionOptions]) -> None:
        check_options("a client", options, ConnectionOptions.__annotations__)
        self._connection = Connection(target, **options)
        self._lines: dict[asyncio.AbstractEventLoop, Line] = {}
        self._lock = threading.Lock()

    async def score(self, requests: AnyRequest | Iterable[AnyRequest]) -> list[Score]:
        """Judges completions; returns one score for each, in the given order.

        Args:
            requests: one request or several, each a `ScoreRequest`, an object in its JSON form, or
                a `LazyRequest`, which is created when it is sent.

        Returns:
            A score for each request, which holds a verdict or an `error`.

        Raises:
            TaskError: an object is no request. Nothing was sent.
            TypeError: an item is neither a request nor an object. Nothing was sent.
            RuntimeError: a client was used before this process was forked.
        """
        todo = all_requests(requests)
        return await score_all(self._connection, self._line(), todo)

    async def execute(
        self, request: pb.ExecuteRequest | Mapping[str, Any], *, waits: bool = False
    ) -> pb.ExecuteResponse:
        """Runs a program in the sandbox, without grading.

        Args:
            request: an `ExecuteRequest`, or an object in its JSON form.
            waits: whether the call waits while the server is busy or cannot be reached, as `score`
                does, and then makes further attempts.

        Raises:
            TaskError: the object is no request.
            CallError: the program was not run.
        """
        made = execute_request(request)
        patience, attempt = self._patience(), 0
        while True:
            try:
                return await self._executed(made)
            except CallError as error:
                failure = Failure(status=grpc.StatusCode[error.status], message=error.message)
                pause = patience.pause(failure, attempt) if waits else None
                if pause is None:
                    raise
            await asyncio.sleep(pause)
            attempt += 1

    async def _executed(self, made: pb.ExecuteRequest) -> pb.ExecuteResponse:
        process = await self._any_process()
        _check(await process.contract.refusal(made))
        options = self._call_options(process, deadlines.execute_seconds(made))
        answer: pb.ExecuteResponse = await _answer(process.stub.Execute(made, **options))
        _check(contract.unreadable(made, answer.provenance.contract_revision))
        return answer

    def session(self, **options: Unpack[SessionOptions]) -> AsyncSession:
        """Returns a session, a sandbox that is open for the length of an `async with` block.

        Args:
            options: see `SessionOptions`.

        Examples:
            >>> import asyncio
            >>> from trainer_client import AsyncRewardClient
            >>> async def agent():
            ...     async with AsyncRewardClient("localhost:50051") as client:
            ...         async with client.session(files={"hello.txt": "hello"}) as session:
            ...             return (await session.exec(["cat", "hello.txt"])).stdout
            >>> asyncio.run(agent())
            b'hello'
        """
        forks.check()
        return AsyncSession(self._server_of_session, options)

    async def server_info(self) -> pb.GetServerInfoResponse:
        """Asks the server for its languages, limits, walls and versions.

        Raises:
            CallError: there was no answer.
        """
        process = await self._any_process()
        options = self._call_options(process, _INFO_SECONDS)
        return await _answer(process.stub.GetServerInfo(pb.GetServerInfoRequest(), **options))

    def _patience(self) -> Patience:
        """Returns how long a call that begins at this moment tries again."""
        return Patience(
            timeout_seconds=self._connection.timeout_seconds,
            outage_seconds=self._connection.outage_seconds,
        )

    async def close(self) -> None:
        """Closes the running loop's connections; a later call opens others."""
        with self._lock:
            line = self._lines.pop(asyncio.get_running_loop(), None)
        if line is not None:
            await line.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def __getstate__(self) -> Connection:
        return self._connection

    def __setstate__(self, state: Connection) -> None:
        self._connection = state
        self._lines = {}
        self._lock = threading.Lock()

    async def _any_process(self) -> Process:
        found = await self._line().any_process()
        if isinstance(found, Failure):
            raise CallError(found.status.name, found.message)
        return found

    async def _server_of_session(self) -> Connection:
        """Returns the connection to one server; the servers of a Ray name have addresses of their
        own."""
        if not self._connection.is_ray_name:
            return self._connection
        return (await self._any_process()).connection

    def _call_options(self, process: Process, needed_seconds: float) -> dict[str, Any]:
        chosen = self._connection.rpc_timeout_seconds
        return {
            "timeout": needed_seconds if chosen is None else chosen,
            "metadata": process.metadata,
        }

    def _line(self) -> Line:
        forks.check()
        loop = asyncio.get_running_loop()
        with self._lock:
            if loop not in self._lines:
                # Channels of closed loops can no longer be used and would accumulate.
                open_lines = {key: line for key, line in self._lines.items() if not key.is_closed()}
                self._lines = {**open_lines, loop: Line.open(self._connection)}
            return self._lines[loop]


def _check(failure: Failure | None) -> None:
    if failure is not None:
        raise CallError(failure.status.name, failure.message)


async def _answer(call: grpc.aio.UnaryUnaryCall[Any, _T]) -> _T:
    try:
        return await call
    except grpc.aio.AioRpcError as error:
        raise CallError(error.code().name, explained(error.details() or "")) from error
