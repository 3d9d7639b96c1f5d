"""One open session: its owner, its lifetimes and its commands."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from reward_server.errors import SessionEnd, SessionProcessError
from reward_server.sandbox.sessions.running_command import RunningCommand
from reward_server.sandbox.sessions.values import (
    Code,
    CodeEvent,
    Command,
    File,
    FileEntry,
    Place,
)
from reward_server.sessions.contexts import Contexts
from reward_server.sessions.left_files import Left, content_of, left_in
from reward_server.sessions.warm_sandboxes import Numbered


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A session to open.

    Args:
        owner: whose it is.
        language: canonical name of its language.
        image: name of its image; empty for the first that has the language.
        place: the limits and the network of its sandbox.
        environment: variables of its commands.
        files: the files to write at its begin.
        lifetime_seconds: time after which it ends.
        idle_seconds: time after which it ends if nothing happens.
    """

    owner: str
    language: str
    image: str
    place: Place
    environment: Mapping[str, str]
    files: Sequence[File]
    lifetime_seconds: float
    idle_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandWanted:
    """A command to run in a session; the time limit is None for the session's lifetime."""

    argv: tuple[str, ...]
    cwd: str
    environment: Mapping[str, str]
    time_limit_seconds: float | None
    output_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeWanted:
    """Code to run in a context; the time limit is None for the session's lifetime.

    Args:
        environment: variables that this code sees beside those of the session.
        cwd: the folder in which the context's interpreter starts.
    """

    source: str
    context: str
    restart: bool
    time_limit_seconds: float | None
    output_bytes: int
    environment: Mapping[str, str] = field(default_factory=dict)
    cwd: str = "."


class Session:
    """An open session.

    Args:
        session_id: its name, which nobody can guess.
        wanted: the request that opened it.
        numbered: its sandbox.
        longest_seconds: the greatest lifetime.
        end: called when its lifetime or its idle limit is over.
    """

    def __init__(
        self,
        session_id: str,
        wanted: Wanted,
        numbered: Numbered,
        *,
        longest_seconds: float,
        end: Callable[[Session, SessionEnd], None],
    ) -> None:
        self.id = session_id
        self.owner = wanted.owner
        self.wanted = wanted
        self.numbered = numbered
        self._sandbox = numbered.sandbox
        self._end = end
        self._loop = asyncio.get_running_loop()
        self._uses = 0
        self._opened = self._last_use = self._loop.time()
        self._latest_end = self._last_use + longest_seconds
        self._expiry = self._last_use + wanted.lifetime_seconds
        self._contexts = Contexts(
            lambda cwd: self._sandbox.interpret(wanted.environment, longest_seconds, cwd)
        )
        self._timer = self._loop.call_at(self._due, self._look)

    @property
    def remaining_seconds(self) -> float:
        """Time until the end of its lifetime."""
        return max(self._expiry - self._loop.time(), 0.0)

    @property
    def age_seconds(self) -> float:
        """Time since it was opened."""
        return self._loop.time() - self._opened

    @property
    def lifetime_seconds(self) -> float:
        """Time from its opening to the end of its lifetime."""
        return self._expiry - self._opened

    @property
    def running_commands(self) -> int:
        """Number of commands that run, without interpreters that wait for code."""
        return len(self._sandbox.commands) - self._contexts.idle

    @contextmanager
    def used(self) -> Iterator[None]:
        """Counts the session as in use for the length of the block."""
        self._uses += 1
        try:
            yield
        finally:
            self._uses -= 1
            self._last_use = self._loop.time()

    def live_for(self, seconds: float) -> None:
        """Moves the end of its lifetime, within the greatest lifetime."""
        self._expiry = min(self._loop.time() + seconds, self._latest_end)
        self._watch()

    async def run(self, wanted: CommandWanted) -> RunningCommand:
        """Starts a command.

        Raises:
            SessionEndedError: the session has ended.
        """
        limit = wanted.time_limit_seconds
        command = Command(
            argv=wanted.argv,
            cwd=wanted.cwd or ".",
            environment={**self.wanted.environment, **wanted.environment},
            time_limit_seconds=self.remaining_seconds if limit is None else limit,
            output_bytes=wanted.output_bytes,
        )
        return await self._sandbox.run(command)

    def run_code(self, wanted: CodeWanted) -> AsyncGenerator[CodeEvent]:
        """Runs code in an interpreter; see `Contexts.run`."""
        limit = wanted.time_limit_seconds
        code = Code(
            source=wanted.source,
            time_limit_seconds=self.remaining_seconds if limit is None else limit,
            output_bytes=wanted.output_bytes,
            environment=wanted.environment,
        )
        return self._contexts.run(wanted.context, code, restart=wanted.restart, cwd=wanted.cwd)

    def end_context(self, name: str) -> None:
        """Ends the interpreter of a context; see `Contexts.end`."""
        self._contexts.end(name)

    def command(self, pid: int) -> RunningCommand:
        """Returns a command that runs, by the number of its process.

        Raises:
            SessionProcessError: there is none.
        """
        for command in self._sandbox.commands:
            if command.pid == pid and not self._contexts.has(command):
                return command
        raise SessionProcessError(f"no command of the session runs as process {pid}")

    async def write(self, file: File) -> None:
        """Writes a file; see `SessionSandbox.write`."""
        await self._sandbox.write(file)

    async def read(self, path: str, offset: int, length: int) -> tuple[bytes, int]:
        """Reads a part of a file; see `SessionSandbox.read`."""
        return await self._sandbox.read(path, offset, length)

    async def entries(self, path: str, *, recursive: bool) -> tuple[Sequence[FileEntry], bool]:
        """Lists a folder; see `SessionSandbox.entries`."""
        return await self._sandbox.entries(path, recursive=recursive)

    async def left(self, folder: str) -> Left:
        """Kills the session's processes, and copies its files; see `left_files.left_in`.

        Raises:
            SessionFileError: there is no such folder.
            SessionEndedError: the session has ended.
        """
        await self._sandbox.freeze()
        return await left_in(self._sandbox, folder)

    async def content(self, path: str, most_bytes: int) -> bytes | None:
        """Reads a file; see `left_files.content_of`.

        Raises:
            SessionFileError: it cannot be read.
            SessionEndedError: the session has ended.
        """
        return await content_of(self._sandbox, path, most_bytes)

    async def left_file(self, path: str, most_bytes: int) -> bytes | None:
        """Kills the session's processes, and reads a file; see `left_files.content_of`.

        Raises:
            SessionFileError: it cannot be read.
            SessionEndedError: the session has ended.
        """
        await self._sandbox.freeze()
        return await self.content(path, most_bytes)

    def stop_watching(self) -> None:
        """Stops looking at its lifetimes."""
        self._timer.cancel()

    @property
    def _due(self) -> float:
        """When to look whether it is over."""
        if self._uses:
            return min(self._expiry, self._loop.time() + self.wanted.idle_seconds)
        return min(self._expiry, self._last_use + self.wanted.idle_seconds)

    def _watch(self) -> None:
        self._timer.cancel()
        self._timer = self._loop.call_at(self._due, self._look)

    def _look(self) -> None:
        now = self._loop.time()
        if now >= self._expiry:
            self._end(self, SessionEnd.EXPIRED)
        elif not self._uses and now >= self._last_use + self.wanted.idle_seconds:
            self._end(self, SessionEnd.IDLE)
        else:
            self._watch()
