"""The clock of a test's event loop, which stands still until the test moves it."""

from __future__ import annotations

import asyncio


class Clock:
    """Stops the time of the running event loop, so that its timers end when a test says so.

    However slow the machine is, no deadline passes by itself. It suits a loop that ends with its
    test, since the time stays stopped.
    """

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self._seconds = loop.time()
        loop.time = self.time  # type: ignore[method-assign]  # what its timers read

    def time(self) -> float:
        """Returns the time of the loop."""
        return self._seconds

    def advance(self, seconds: float) -> None:
        """Moves the time forward."""
        self._seconds += seconds
