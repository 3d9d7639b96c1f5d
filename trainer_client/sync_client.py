"""A client for programs without an event loop; it runs its own loop in a thread."""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import Callable, Coroutine, Iterable, Mapping
from concurrent import futures
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.async_client import AsyncRewardClient
from trainer_client.requests import AnyRequest
from trainer_client.score import Score
from trainer_client.sessions.requests import SessionOptions
from trainer_client.sessions.sync_session import Session
from trainer_client.transport import forks
from trainer_client.transport.channel import ConnectionOptions, Target

_T = TypeVar("_T")
_Close = Callable[[], Coroutine[Any, Any, None]]
_ENDINGS_SECONDS = 3.0  # for what began to end before its loop
_STOP_SECONDS = 5.0


class RewardClient:
    """`AsyncRewardClient` for callers without an event loop; safe to share between threads.

    Its calls raise RuntimeError if another thread closes it before they end.

    Args:
        target: see `Connection`, also for the options.

    Examples:
        >>> from trainer_client import RewardClient
        >>> request = {
        ...     "completion": "def double(x): return 2 * x",
        ...     "function": {"entry_point": "double", "asserts": ["assert double(3) == 6"]},
        ... }
        >>> with RewardClient("localhost:50051") as client:
        ...     [score] = client.score(request)
        >>> score.verdict.name, score.reward, score.integrity.name
        ('PASSED', 1.0, 'ISOLATED')
    """

    def __init__(self, target: Target, **options: Unpack[ConnectionOptions]) -> None:
        self._client = AsyncRewardClient(target, **options)
        self._thread: _LoopThread | None = None
        self._lock = threading.Lock()

    @classmethod
    def around(cls, client: AsyncRewardClient) -> Self:
        """Returns a client that calls by means of another one."""
        made = cls.__new__(cls)
        made.__setstate__(client)
        return made

    def score(self, requests: AnyRequest | Iterable[AnyRequest]) -> list[Score]:
        """Judges completions; see `AsyncRewardClient.score`."""
        return self.run(self._client.score(requests))

    def execute(
        self, request: pb.ExecuteRequest | Mapping[str, Any], *, waits: bool = False
    ) -> pb.ExecuteResponse:
        r"""Runs a program; see `AsyncRewardClient.execute`.

        Examples:
            >>> from trainer_client import RewardClient
            >>> with RewardClient("localhost:50051") as client:
            ...     answer = client.execute({"source": "print(input()[::-1])", "stdin_text": "abc"})
            >>> answer.stdout.data
            b'cba\n'
        """
        return self.run(self._client.execute(request, waits=waits))

    def session(self, **options: Unpack[SessionOptions]) -> Session:
        r"""Returns a session for a `with` block; see `AsyncRewardClient.session`.

        Examples:
            >>> from trainer_client import RewardClient
            >>> with RewardClient("localhost:50051") as client, client.session() as session:
            ...     session.write_files({"add.py": "print(1 + 1)"})
            ...     result = session.exec(["python3", "add.py"], time_limit_seconds=10)
            >>> result.exit_code, result.stdout
            (0, b'2\n')
        """
        return Session(self._client.session(**options), self.run, self._end)

    def server_info(self) -> pb.GetServerInfoResponse:
        """Asks the server about itself; see `AsyncRewardClient.server_info`.

        Examples:
            >>> from trainer_client import RewardClient
            >>> with RewardClient("localhost:50051") as client:
            ...     info = client.server_info()
            >>> "python" in [language.name for language in info.languages]
            True
        """
        return self.run(self._client.server_info())

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Runs a coroutine in the client's event loop, and returns its result.

        Raises:
            RuntimeError: the client was closed during the call, or used before a fork.
        """
        try:
            forks.check()
        except RuntimeError:
            work.close()
            raise
        with self._lock:
            if self._thread is None or self._thread.process != os.getpid():
                self._thread = _LoopThread(self._client.close)
            # If a thread closes the client after this point, it finds the call among the loop's
            # tasks.
            future = self._thread.begin(work)
        return _result(future)

    def _end(self, work: Coroutine[Any, Any, None]) -> None:
        """Begins a coroutine that ends something, and waits for nothing, not even for a lock: a
        finalizer calls it, in any thread and at any moment."""
        thread = self._thread
        if thread is None or thread.process != os.getpid():
            work.close()
        else:
            thread.end(work)

    def close(self) -> None:
        """Cancels all calls, closes the channel and ends the thread; a later call starts anew."""
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __getstate__(self) -> AsyncRewardClient:
        return self._client

    def __setstate__(self, state: AsyncRewardClient) -> None:
        self._client = state
        self._thread = None
        self._lock = threading.Lock()


class _LoopThread:
    """An event loop in a thread, which ends with its owner or with the program.

    Args:
        close: the last coroutine that the loop runs.
    """

    def __init__(self, close: _Close) -> None:
        self.process = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._endings: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(
            target=_run_loop,
            args=(self._loop, self._endings, close),
            name="RewardClient",
            daemon=True,
        )
        self._thread.start()
        self._finalizer = weakref.finalize(self, _stop_loop, self._loop, self._thread, self.process)

    def begin(self, work: Coroutine[Any, Any, _T]) -> futures.Future[_T]:
        """Runs a coroutine in the loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def end(self, work: Coroutine[Any, Any, None]) -> None:
        """Runs a coroutine in the loop, also if the loop is about to stop."""

        def begin() -> None:
            task = self._loop.create_task(work)
            self._endings.add(task)
            task.add_done_callback(self._endings.discard)

        try:
            self._loop.call_soon_threadsafe(begin)
        except RuntimeError:  # the loop is closed
            work.close()

    def stop(self) -> None:
        """Stops the loop, and waits for its end."""
        self._finalizer()
        _wait_for(self._thread, self.process)


def _result(future: futures.Future[_T]) -> _T:
    """Waits for the result; an interrupt of the caller cancels the coroutine."""
    try:
        return future.result()
    except futures.CancelledError:
        raise RuntimeError("the client was closed during this call") from None
    except BaseException:
        future.cancel()
        raise


def _run_loop(
    loop: asyncio.AbstractEventLoop, endings: set[asyncio.Task[None]], close: _Close
) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()
    loop.run_until_complete(_wind_up(endings, close))
    loop.close()


async def _wind_up(endings: set[asyncio.Task[None]], close: _Close) -> None:
    """Lets end what began to end, and cancels all other tasks, for which callers wait."""
    if endings:  # first, since a call consists of tasks that nothing tells from others
        await asyncio.wait(endings, timeout=_ENDINGS_SECONDS)
    calls = asyncio.all_tasks() - {asyncio.current_task()}
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    await close()
    await asyncio.get_running_loop().shutdown_asyncgens()


def _stop_loop(loop: asyncio.AbstractEventLoop, thread: threading.Thread, process: int) -> None:
    """Stops a loop; waits for its end if the program ends, since nothing else would.

    Otherwise it may be a search for garbage that calls this, in any thread: in one on which the
    loop's end depends, or in the loop's own.
    """
    # A forked child does not have this thread, and would wake the parent's loop.
    if process == os.getpid():
        loop.call_soon_threadsafe(loop.stop)
        if not threading.main_thread().is_alive():
            _wait_for(thread, process)


def _wait_for(thread: threading.Thread, process: int) -> None:
    if process == os.getpid() and thread is not threading.current_thread():
        thread.join(timeout=_STOP_SECONDS)
