"""A session for programs without an event loop."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.score import Score
from trainer_client.sessions.async_session import AsyncCommand, AsyncSession
from trainer_client.sessions.requests import CodeOptions, Content, ExecOptions
from trainer_client.sessions.results import CodeResult, ExecResult, FileInfo, OutputChunk

_T = TypeVar("_T")


class Session:
    """`AsyncSession` for callers without an event loop; `RewardClient.session` makes it.

    Args:
        session: the session with an event loop that does the work.
        run: runs a coroutine on the client's event loop.
        end: begins a coroutine on that loop, and waits for nothing.
    """

    def __init__(
        self,
        session: AsyncSession,
        run: Callable[[Coroutine[Any, Any, _T]], _T],
        end: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self._session = session
        self._run: Callable[[Coroutine[Any, Any, Any]], Any] = run
        self._end = end

    @property
    def id(self) -> str:
        """Its name on the server."""
        return self._session.id

    @property
    def working_folder(self) -> str:
        """The folder in which commands run."""
        return self._session.working_folder

    def exec(self, argv: Sequence[str], **options: Unpack[ExecOptions]) -> ExecResult:
        """Runs a command to its end; see `AsyncSession.exec`."""
        result: ExecResult = self._run(self._session.exec(argv, **options))
        return result

    def start(self, argv: Sequence[str], **options: Unpack[ExecOptions]) -> Command:
        """Returns a command for a `with` block; see `AsyncSession.start`."""

        async def begin() -> AsyncCommand:
            return self._session.start(argv, **options)  # on the loop of the session's connection

        return Command(self._run(begin()), self._run)

    def run_code(self, code: str, **options: Unpack[CodeOptions]) -> CodeResult:
        """Runs Python code in an interpreter; see `AsyncSession.run_code`."""
        result: CodeResult = self._run(self._session.run_code(code, **options))
        return result

    def write_files(self, files: Mapping[str, Content], *, executable: bool = False) -> None:
        """Writes files; see `AsyncSession.write_files`."""
        self._run(self._session.write_files(files, executable=executable))

    def read_file(self, path: str, *, most_bytes: int | None = None) -> bytes:
        """Reads a file; see `AsyncSession.read_file`."""
        content: bytes = self._run(self._session.read_file(path, most_bytes=most_bytes))
        return content

    def list_files(self, path: str = ".", *, recursive: bool = False) -> list[FileInfo]:
        """Lists a folder; see `AsyncSession.list_files`."""
        found: list[FileInfo] = self._run(self._session.list_files(path, recursive=recursive))
        return found

    def score(
        self,
        request: pb.ScoreRequest | Mapping[str, Any],
        *,
        folder: str = "",
        completion_path: str = "",
        timeout_seconds: float | None = None,
    ) -> Score:
        """Judges the files of the session; see `AsyncSession.score`."""
        score: Score = self._run(
            self._session.score(
                request,
                folder=folder,
                completion_path=completion_path,
                timeout_seconds=timeout_seconds,
            )
        )
        return score

    def keep_alive(self, lifetime_seconds: float | None = None) -> float:
        """Keeps the session alive; see `AsyncSession.keep_alive`."""
        seconds: float = self._run(self._session.keep_alive(lifetime_seconds))
        return seconds

    def close(self) -> None:
        """Ends the session; see `AsyncSession.close`."""
        self._run(self._session.close())

    def abandon(self) -> None:
        """Ends the session, and does not wait for its end; finalizers may call it."""
        self._end(self._session.close())

    def __enter__(self) -> Self:
        """Opens the session; see `AsyncSession`."""
        self._run(self._session.__aenter__())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Command:
    """`AsyncCommand` for callers without an event loop; `Session.start` makes it."""

    def __init__(
        self, command: AsyncCommand, run: Callable[[Coroutine[Any, Any, Any]], Any]
    ) -> None:
        self._command = command
        self._run = run

    @property
    def pid(self) -> int:
        """The number of its process in the session."""
        return self._command.pid

    def __enter__(self) -> Self:
        """Waits until the command has started; see `AsyncCommand`."""
        self._run(self._command.__aenter__())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._run(self._command.__aexit__(kind, error, trace))

    def __iter__(self) -> Iterator[OutputChunk]:
        while (chunk := self._run(self._command.next_chunk())) is not None:
            yield chunk

    def wait(self) -> ExecResult:
        """Waits for the end; see `AsyncCommand.wait`."""
        result: ExecResult = self._run(self._command.wait())
        return result

    def send_input(self, data: Content, *, end: bool = False) -> bool:
        """Writes to standard input; see `AsyncCommand.send_input`."""
        taken: bool = self._run(self._command.send_input(data, end=end))
        return taken

    def send_signal(self, number: int) -> None:
        """Sends a signal; see `AsyncCommand.send_signal`."""
        self._run(self._command.send_signal(number))
