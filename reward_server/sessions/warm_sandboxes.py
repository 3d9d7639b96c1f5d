"""Keeps sandboxes for sessions warm, hands each out once, and takes none back.

A sandbox that dies while it is warm is not handed out. If none is warm, one is started.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog

from reward_server.errors import SandboxError, SessionEndedError
from reward_server.sandbox.sessions.sandbox import SessionSandbox

FIRST_RETRY_SECONDS, LONGEST_RETRY_SECONDS = 0.1, 10.0

StartSession = Callable[[int], Awaitable[SessionSandbox]]
_log = structlog.get_logger("sessions")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Numbered:
    """A sandbox, and its number, which no other living one of its source has."""

    number: int
    sandbox: SessionSandbox
    home: WarmSandboxes


class WarmSandboxes:
    """The sandboxes that no session has yet.

    Args:
        start: starts a sandbox with a number that no other living one has; cancelling it must leave
            nothing behind.
        count: how many are kept warm.
    """

    def __init__(self, start: StartSession, count: int) -> None:
        self._start = start
        self._count = count
        self._warm: deque[Numbered] = deque()
        self._numbers: set[int] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._filling: asyncio.Task[None] | None = None
        self._is_closed = False

    @property
    def warm(self) -> int:
        """The number of sandboxes that are warm."""
        return len(self._warm)

    async def start(self) -> None:
        """Starts the warm sandboxes.

        Raises:
            SandboxError: one did not start; none is left behind.
        """
        try:
            for _ in range(self._count):
                self._warm.append(await self._make())
        except BaseException:
            await self.close()
            raise

    async def take(self) -> Numbered:
        """Returns a sandbox that nobody else gets.

        Raises:
            SandboxError: none is warm, and none can be started.
        """
        while self._warm:
            taken = self._warm.popleft()
            self._fill()
            if taken.sandbox.is_alive:
                return taken
            self._keep(self.end(taken))
        self._fill()
        return await self._make()

    async def end(self, numbered: Numbered, error: SessionEndedError | None = None) -> None:
        """Destroys a sandbox; see `SessionSandbox.close`."""
        try:
            await numbered.sandbox.close(error)
        except Exception as problem:  # noqa: BLE001 - its number must become free in any case
            _log.warning("a session's sandbox was not closed cleanly", error=str(problem))
        finally:
            self._numbers.discard(numbered.number)

    async def close(self) -> None:
        """Destroys the sandboxes that are warm, and starts no more."""
        self._is_closed = True
        if self._filling is not None:
            self._filling.cancel()
            await asyncio.gather(self._filling, return_exceptions=True)
        await asyncio.gather(*(self.end(one) for one in self._warm), *self._tasks)
        self._warm.clear()

    async def _make(self) -> Numbered:
        number = next(n for n in range(len(self._numbers) + 1) if n not in self._numbers)
        self._numbers.add(number)
        try:
            return Numbered(number=number, sandbox=await self._start(number), home=self)
        except BaseException:
            self._numbers.discard(number)
            raise

    def _fill(self) -> None:
        if not self._is_closed and (self._filling is None or self._filling.done()):
            self._filling = asyncio.create_task(self._make_missing())

    async def _make_missing(self) -> None:
        pause = FIRST_RETRY_SECONDS
        while len(self._warm) < self._count:
            try:
                self._warm.append(await self._make())
            except (SandboxError, OSError) as error:
                _log.warning("a session's sandbox did not start", error=str(error))
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_RETRY_SECONDS)
            else:
                pause = FIRST_RETRY_SECONDS

    def _keep(self, work: Awaitable[None]) -> None:
        """Does work in the background; the event loop alone would not keep it alive."""

        async def do() -> None:
            await work

        task = asyncio.create_task(do())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
