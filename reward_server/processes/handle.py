"""The parent's handle of one serving process, from its start to its end."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Self

from reward_server.errors import SettingsError, StartError
from reward_server.processes.description import Description
from reward_server.processes.line import Line, Message

SCRAPE_SECONDS = 2.0
# Time in which a process that is told to end kills its executions and closes its sandboxes.
_STOP_SECONDS = 30.0


class Handle:
    """A process that was started, and the connection (`line`) to it; made by `spawn`.

    Args:
        process: the process.
        line: the line to it.
        changed: called when it reports that it can do work, or that it cannot.
    """

    def __init__(
        self, process: asyncio.subprocess.Process, line: Line, changed: Callable[[], None]
    ) -> None:
        self._process = process
        self._line = line
        self._changed = changed
        self._begun = self._heard = time.monotonic()
        self._works = False
        self._facts: asyncio.Future[Description] = asyncio.get_running_loop().create_future()
        self._scrapes: list[asyncio.Future[str]] = []
        self._reading = asyncio.create_task(self._read())
        self.replaced: asyncio.Future[bool] | None = None
        """Set by a restart that was asked for; its result tells whether another process serves."""

    @classmethod
    async def spawn(
        cls, command: Sequence[str], order: Message, changed: Callable[[], None]
    ) -> Self:
        """Starts a process.

        Args:
            command: the program; the descriptor of its line is added to the arguments.
            order: the first message to it.
            changed: see the class.

        Raises:
            OSError: the process cannot be started.
        """
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                process = await asyncio.create_subprocess_exec(
                    *command,
                    str(theirs.fileno()),
                    pass_fds=(theirs.fileno(),),
                    stdin=asyncio.subprocess.DEVNULL,
                    # A terminal sends its signals to the parent alone, which passes them on.
                    start_new_session=True,
                )
            except BaseException:
                ours.close()
                raise
        line = await Line.open(ours)
        line.send(order)
        return cls(process, line, changed)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def works(self) -> bool:
        """Returns True if the process lives and can do work."""
        return self._works and self._process.returncode is None

    @property
    def _serves(self) -> bool:
        """Returns True from the time when the process has begun to serve until it ends."""
        has_begun = self._facts.done() and self._facts.exception() is None
        return has_begun and self._process.returncode is None

    @property
    def age_seconds(self) -> float:
        """Time since the start."""
        return time.monotonic() - self._begun

    @property
    def silent_seconds(self) -> float:
        """Time since the process last said something; 0 if it has ended."""
        if self._process.returncode is not None:
            return 0.0
        return time.monotonic() - self._heard

    @property
    def facts(self) -> Description:
        """The description of the server, once the process serves."""
        return self._facts.result()

    async def serving(self) -> None:
        """Returns when the process serves.

        Raises:
            SettingsError: a setting cannot be followed.
            StartError: it cannot start, or it ended.
        """
        await asyncio.shield(self._facts)

    async def ended(self) -> int:
        """Returns the exit code when the process has ended."""
        return await self._process.wait()

    async def metrics(self) -> str | None:
        """Asks for the metrics, in Prometheus's format.

        Returns:
            None if the process is silent, or does not serve yet or any more.
        """
        if not self._serves:
            return None
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._scrapes.append(answer)
        self.send({"do": "metrics"})
        try:
            async with asyncio.timeout(SCRAPE_SECONDS):
                return await answer
        except TimeoutError:
            return None
        finally:
            if answer in self._scrapes:
                self._scrapes.remove(answer)

    def send(self, message: Message) -> None:
        """Sends a message."""
        self._line.send(message)

    def kill(self) -> None:
        """Kills the process."""
        with suppress(ProcessLookupError):
            self._process.kill()

    async def stop(self) -> None:
        """Ends the process at once, and returns when it has ended."""
        self.send({"do": "stop"})
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await self._process.wait()
        except TimeoutError:
            self.kill()
            await self._process.wait()
        await asyncio.gather(self._reading, return_exceptions=True)
        self._line.close()

    async def _read(self) -> None:
        while (message := await self._line.receive()) is not None:
            self._heard = time.monotonic()
            self._take(message)
        self._works = False
        code = await self._process.wait()
        self._fail(StartError(f"a serving process ended with {code}; its log tells more"))
        self._changed()

    def _take(self, message: Message) -> None:
        match message["event"]:
            case "serving":
                self._works = True
                if not self._facts.done():
                    self._facts.set_result(message["facts"])
                self._changed()
            case "failed":
                kind = SettingsError if message["is_setting"] else StartError
                self._fail(kind(message["error"]))
            case "alive":
                if message["serving"] is not self._works:
                    self._works = message["serving"]
                    self._changed()
            case "metrics" if self._scrapes:
                answer = self._scrapes.pop(0)
                if not answer.done():
                    answer.set_result(message["text"])

    def _fail(self, error: StartError) -> None:
        if not self._facts.done():
            self._facts.set_exception(error)
            self._facts.exception()  # nobody may be waiting
