"""Signals that end a server."""

from __future__ import annotations

import asyncio
import os
import signal


class Stop:
    """Handles SIGTERM and SIGINT. The first signal while the server serves asks for a drain; any
    other ends the task."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self._request: asyncio.Future[None] = loop.create_future()
        self._is_serving = self._is_told = False
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.hear)

    async def asked(self) -> None:
        """Returns when the server is asked to stop.

        Raises:
            CancelledError: it was told to stop while it started, and its start went on.
        """
        if self._is_told:
            raise asyncio.CancelledError
        self._is_serving = True
        await self._request

    def hear_the_end_of(self, pipe: int) -> None:
        """Treats the end of a pipe as a signal; ignores data that arrives before it."""
        loop = asyncio.get_running_loop()

        def read() -> None:
            if not os.read(pipe, 4096):
                loop.remove_reader(pipe)
                self.hear()

        loop.add_reader(pipe, read)

    def hear(self) -> None:
        """Does what a signal does."""
        if self._is_serving and not self._request.done():
            self._request.set_result(None)
        else:
            self.now()

    def now(self) -> None:
        """Ends the task, without a drain."""
        self._is_told = True
        if self._task is not None:
            self._task.cancel()
