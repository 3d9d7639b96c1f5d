"""The commands of a sandbox, which go on when nobody listens to them.

A command of a session is killed when its events are read no more. E2B's commands outlive their
callers, so each has a reader here until its end. While a listener does not take the next event, the
command waits; without a listener its output is dropped.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from reward_server.errors import RewardServerError, SessionProcessError
from reward_server.sandbox.sessions.running_command import RunningCommand
from reward_server.sandbox.sessions.values import Ended, Event
from reward_server.sessions.session import CommandWanted, Session

_Heard = Event | RewardServerError


@dataclass(eq=False, slots=True, kw_only=True)
class Process:
    """A command that runs in the background.

    Args:
        wanted: what runs.
        has_input: whether its standard input stays open.
        command: its state in the session.
        listeners: those who hear of its events.
        task: reads its events.
    """

    wanted: CommandWanted
    has_input: bool
    command: RunningCommand
    listeners: set[asyncio.Queue[_Heard]] = field(default_factory=set)
    task: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int:
        """The number of its process in the session."""
        return self.command.pid

    @contextmanager
    def heard(self) -> Iterator[AsyncIterator[Event]]:
        """Gives its events from now on, until its end, for the length of the block.

        Their iteration raises SessionEndedError if its session has ended.
        """
        queue = asyncio.Queue[_Heard](1)
        self.listeners.add(queue)
        try:
            yield _events(queue)
        finally:
            self.listeners.discard(queue)
            with suppress(asyncio.QueueEmpty):
                queue.get_nowait()  # lets go of a reader that waits to tell


class Processes:
    """The commands of one sandbox.

    Args:
        session: the session.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._running: set[Process] = set()

    @property
    def running(self) -> list[Process]:
        """Those that run, by their numbers."""
        return sorted((one for one in self._running if one.pid), key=lambda one: one.pid)

    async def start(self, wanted: CommandWanted, *, has_input: bool) -> Process:
        """Starts a command; its events wait until `follow`.

        Raises:
            SessionEndedError: the session has ended.
        """
        command = await self._session.run(wanted)
        process = Process(wanted=wanted, has_input=has_input, command=command)
        self._running.add(process)
        return process

    def follow(self, process: Process) -> None:
        """Reads a command's events until its end."""
        process.task = asyncio.create_task(self._follow(process))

    def find(self, pid: int) -> Process:
        """Returns a command that runs, by its number.

        Raises:
            SessionProcessError: there is none.
        """
        for process in self._running:
            if process.pid == pid:
                return process
        raise SessionProcessError(f"no command of the sandbox runs as process {pid}")

    async def _follow(self, process: Process) -> None:
        try:
            with self._session.used():
                if not process.has_input:
                    await process.command.send_input(b"", ends=True)
                async for event in process.command.events():
                    await _tell(process, event)
        except RewardServerError as error:
            await _tell(process, error)
        finally:
            self._running.discard(process)


async def _tell(process: Process, event: _Heard) -> None:
    for queue in tuple(process.listeners):
        if queue in process.listeners:
            await queue.put(event)


async def _events(queue: asyncio.Queue[_Heard]) -> AsyncIterator[Event]:
    while True:
        event = await queue.get()
        if isinstance(event, RewardServerError):
            raise event
        yield event
        if isinstance(event, Ended):
            return
