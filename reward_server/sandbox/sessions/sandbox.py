"""The sandbox of one session, for every kind of container.

What this stops: a session that harms the server by its messages. Each message is bounded in size
and checked against a schema. If a session breaks the rules, or does not answer in time, the server
ends it. If a reader of a command's output is slow, at most one window of this output is kept.

What it does not: it does not confine the session. The container and the kernel do; see
`runner.sessions`.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from reward_server.domain import Limits, Network
from reward_server.errors import (
    SandboxError,
    SessionEnd,
    SessionEndedError,
    SessionFileError,
    cause_of,
)
from reward_server.runner import wire as documents
from reward_server.runner.sessions import wire
from reward_server.runner.sessions.wire import FILE_PART_BYTES, Order, Reason, Report, Type
from reward_server.sandbox.runner_sandbox import Container
from reward_server.sandbox.sessions.interpreter import Interpreter
from reward_server.sandbox.sessions.running_command import RunningCommand
from reward_server.sandbox.sessions.values import (
    Command,
    Counters,
    File,
    FileEntry,
    Place,
    SessionLimits,
)

START_SECONDS = 30.0
OPEN_SECONDS = 10.0
FILE_SECONDS = 60.0
LISTED_FILES = 10_000
LISTED_PATH_BYTES = 1 << 20
_MESSAGE_CHARACTERS = 200
_MOST_SIZE = 1 << 62
_FAILURES = (OSError, asyncio.IncompleteReadError, ValueError)
_ABOUT_FILES = (Report.DONE, Report.FAILED)
_OWN_PROCESSES = 1  # the first process of the session, in the session's control group


_T = TypeVar("_T")


class SessionContainer(Container, Protocol):
    """A container for one session."""

    def counters(self, told: Counters) -> Counters:
        """Returns the counters of the session's control group.

        Args:
            told: what the session says of them, for a container whose control group the server
                cannot read.
        """


class SessionSandbox:
    """A container with the first process of a session; used for one session and then closed.

    Attributes:
        tell_lost: called once if the session breaks.
    """

    def __init__(self, container: SessionContainer) -> None:
        self._container = container
        self._told = Counters()
        self.tell_lost: Callable[[SessionEndedError], None] = lambda _: None
        self._failure: SessionEndedError | None = None
        self._numbers = itertools.count(1)
        self._commands: dict[int, RunningCommand] = {}
        self._answers: dict[int, asyncio.Future[tuple[Report, bytes]]] = {}
        self._listener: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, container: SessionContainer) -> SessionSandbox:
        """Waits until the first process of a container's session is ready for its limits.

        Raises:
            SandboxError: it did not start; the message quotes its error output, and the container
                is destroyed.
        """
        sandbox = cls(container)
        try:
            async with asyncio.timeout(START_SECONDS):
                await sandbox._expect(Report.READY)
        except BaseException as error:
            said = await container.destroy()
            if isinstance(error, (TimeoutError, *_FAILURES)):
                raise SandboxError(
                    f"the session did not start: {said or cause_of(error)}"
                ) from error
            raise
        return sandbox

    @property
    def is_alive(self) -> bool:
        """Returns True if its container was last known to be alive."""
        return self._failure is None and not self._container.output.at_eof()

    @property
    def commands(self) -> tuple[RunningCommand, ...]:
        """The commands that run."""
        return tuple(self._commands.values())

    async def open(self, place: Place) -> None:
        """Applies the session's limits; commands can run from then on.

        Raises:
            SandboxError: the session broke.
        """
        limits = place.limits
        try:
            async with asyncio.timeout(OPEN_SECONDS):
                await self._container.set_limits(_for_container(limits), 0)
                await self._container.send(wire.message(Order.OPEN, 0, _for_processes(place)))
                await self._expect(Report.OPENED)
        except (TimeoutError, *_FAILURES) as error:
            raise SandboxError(f"the session did not open: {cause_of(error)}") from error
        self._listener = asyncio.create_task(self._listen())

    async def run(self, command: Command) -> RunningCommand:
        """Sends a command to the session.

        Raises:
            SessionEndedError: the session has ended.
        """
        order = wire.as_json(
            argv=command.argv,
            cwd=command.cwd,
            environment=dict(command.environment),
            output_bytes=command.output_bytes,
        )
        return await self._start(Order.RUN, order, command)

    async def interpret(
        self, environment: Mapping[str, str], lifetime_seconds: float, cwd: str
    ) -> Interpreter:
        """Starts an interpreter of Python in the session.

        Args:
            environment: variables added to those of all programs.
            lifetime_seconds: time after which it is killed.
            cwd: the folder that it starts in.

        Raises:
            SessionEndedError: the session has ended.
        """
        command = Command(
            argv=(),
            environment=environment,
            time_limit_seconds=lifetime_seconds,
            output_bytes=_MOST_SIZE,
        )
        order = wire.as_json(environment=dict(environment), cwd=cwd)
        running = await self._start(Order.INTERPRET, order, command)
        return Interpreter(running, self._counters)

    async def _start(self, kind: Order, order: bytes, command: Command) -> RunningCommand:
        number = next(self._numbers)
        running = RunningCommand(
            number, command, send=self._order, counters=self._counters, lose=self._lose
        )
        self._commands[number] = running
        await self._order(kind, number, order)
        return running

    async def write(self, file: File) -> None:
        """Writes a file.

        Raises:
            SessionFileError: it cannot be written.
            SessionEndedError: the session has ended.
        """
        header: dict[str, object] = {"path": file.path, "executable": file.executable}
        for start in range(0, len(file.content) or 1, FILE_PART_BYTES):
            header["append"] = file.append or start > 0
            part = file.content[start : start + FILE_PART_BYTES]
            await self._ask(Order.WRITE, file.path, documents.pack(header, {"content": part}))

    async def read(self, path: str, offset: int, length: int) -> tuple[bytes, int]:
        """Reads at most `FILE_PART_BYTES` of a file; returns them and the file's size.

        Raises:
            SessionFileError: it cannot be read.
            SessionEndedError: the session has ended.
        """
        order = wire.as_json(path=path, offset=offset, length=length)
        told, blobs = await self._ask(Order.READ, path, order)
        content = blobs.get("content", b"")
        if len(content) > length:
            raise self._lose("a part of a file is longer than asked for")
        return content, self._checked(lambda: _number(told["size"]))

    async def entries(
        self, path: str, *, recursive: bool, without: Sequence[str] = ()
    ) -> tuple[Sequence[FileEntry], bool]:
        """Lists a folder; returns its entries, and whether there are more.

        Args:
            path: the folder.
            recursive: whether folders below it are listed too.
            without: names of entries that are left out.

        Raises:
            SessionFileError: it cannot be listed.
            SessionEndedError: the session has ended.
        """
        order = wire.as_json(
            path=path,
            recursive=recursive,
            count=LISTED_FILES,
            path_bytes=LISTED_PATH_BYTES,
            without=list(without),
        )
        told, _ = await self._ask(Order.LIST, path, order)
        return self._checked(lambda: (_entries(told["files"]), bool(told["truncated"])))

    async def freeze(self) -> None:
        """Kills all processes of the session but its first.

        Raises:
            SessionEndedError: the session has ended.
        """
        await self._ask(Order.FREEZE, "", b"")

    async def close(self, error: SessionEndedError | None = None) -> None:
        """Destroys the container with everything in it.

        Args:
            error: what calls that wait for the session raise.
        """
        self._fail(error or SessionEndedError(SessionEnd.CLOSED, "the session was closed"))
        if self._listener is not None:
            self._listener.cancel()
            await asyncio.gather(self._listener, return_exceptions=True)
        await self._container.destroy()

    # ------------------------------------------------------------------------------------ messages

    async def _order(self, kind: Order, number: int, payload: bytes) -> None:
        if self._failure is not None:
            raise self._failure
        try:
            await self._container.send(wire.message(kind, number, payload))
        except OSError as error:
            raise self._lose(f"it does not listen: {error}") from None

    async def _ask(
        self, kind: Order, path: str, payload: bytes
    ) -> tuple[dict[str, Any], dict[str, bytes]]:
        """Sends an order about a file, and returns the answer."""
        number = next(self._numbers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        await self._order(kind, number, payload)
        try:
            async with asyncio.timeout(FILE_SECONDS):
                report, content = await asyncio.shield(answer)
        except TimeoutError:
            raise self._lose("it does not answer") from None
        if report is Report.FAILED:
            raise self._checked(lambda: _file_error(path, wire.from_json(content)))
        return self._checked(lambda: documents.unpack(content))

    async def _listen(self) -> None:
        try:
            while True:
                self._take(*await self._receive())
        except asyncio.IncompleteReadError:
            self._lose("its processes ended")
        except Exception as error:  # noqa: BLE001 - whatever the session sent, its callers must hear
            self._lose(f"it broke the protocol: {error}"[:_MESSAGE_CHARACTERS])

    async def _receive(self) -> tuple[Report, int, bytes]:
        output = self._container.output
        kind, number, length = wire.HEAD.unpack(await output.readexactly(wire.HEAD.size))
        if length > wire.MOST_MESSAGE_BYTES:
            raise ValueError(f"a message of {length} bytes")
        return Report(kind), number, await output.readexactly(length)

    async def _expect(self, expected: Report) -> None:
        kind, _, _ = await self._receive()
        if kind is not expected:
            raise ValueError(f"{kind.name} in the place of {expected.name}")

    def _take(self, kind: Report, number: int, payload: bytes) -> None:
        if kind in _ABOUT_FILES:
            answer = self._answers.pop(number, None)
            if answer is None:
                raise ValueError(f"an answer {kind.name} to nothing")
            if not answer.done():
                answer.set_result((kind, payload))
            return
        if number not in self._commands:
            raise ValueError(f"a report {kind.name} about nothing")
        if kind in (Report.STARTED, Report.ENDED):
            self._told = _counters(wire.from_json(payload))
        self._commands[number].take(kind, payload)
        if kind is Report.ENDED:
            del self._commands[number]

    def _counters(self) -> Counters:
        return self._container.counters(self._told)

    def _checked(self, read: Callable[[], _T]) -> _T:
        """Reads an answer; gives the session up if it breaks the protocol."""
        try:
            return read()
        except (ValueError, KeyError, TypeError) as error:
            raise self._lose(f"it broke the protocol: {error}"[:_MESSAGE_CHARACTERS]) from None

    def _lose(self, why: str) -> SessionEndedError:
        """Gives the session up, once; returns the error for those who wait for it."""
        if self._failure is not None:
            return self._failure
        if self._counters().oom_kills:
            why = f"{why}, and the kernel had killed processes of it for memory"
        error = SessionEndedError(SessionEnd.LOST, f"the session is lost: {why}; open another")
        self._fail(error)
        self.tell_lost(error)
        return error

    def _fail(self, error: SessionEndedError) -> None:
        """Ends all that waits for the session, and refuses what follows."""
        if self._failure is not None:
            return
        self._failure = error
        for command in self._commands.values():
            command.fail(self._failure)
        self._commands.clear()
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(self._failure)
                answer.exception()  # nobody may be waiting for it
        self._answers.clear()


def _for_container(limits: SessionLimits) -> Limits:
    return Limits(memory_bytes=limits.memory_bytes, processes=limits.processes + _OWN_PROCESSES)


def _for_processes(place: Place) -> bytes:
    limits = place.limits
    processes = limits.processes + _OWN_PROCESSES
    return wire.as_json(
        memory_bytes=limits.memory_bytes,
        group_processes=processes,
        processes=2 * processes,  # the control group refuses forks first, because it reports them
        file_size_bytes=limits.file_size_bytes,
        disk_bytes=limits.disk_bytes,
        open_files=limits.open_files,
        loopback=place.network is Network.LOOPBACK,
    )


def _counters(told: Mapping[str, Any]) -> Counters:
    return Counters(
        oom_kills=_number(told["oom_kills"]),
        process_limit_hits=_number(told["process_limit_hits"]),
    )


def _file_error(path: str, told: Mapping[str, Any]) -> SessionFileError:
    message = str(told["message"])[:_MESSAGE_CHARACTERS]
    return SessionFileError(Reason(told["reason"]), f"{path[:_MESSAGE_CHARACTERS]}: {message}")


def _entries(told: Sequence[Any]) -> tuple[FileEntry, ...]:
    if len(told) > LISTED_FILES:
        raise ValueError("more files than asked for")
    return tuple(
        FileEntry(path=_path(path), type=Type(kind), size_bytes=_number(size), mode=_number(mode))
        for path, kind, size, mode in told
    )


def _path(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("a path is no text")
    return value.encode(errors="replace").decode()


def _number(value: object) -> int:
    if type(value) is not int or not 0 <= value <= _MOST_SIZE:
        raise ValueError("no number")
    return value
