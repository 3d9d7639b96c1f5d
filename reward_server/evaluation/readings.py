"""Reads what tasks need once, for all callers that ask for it at the same time or soon after."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from reward_server.evaluation.deduplication import SingleFlight
from reward_server.recent import Recent

T = TypeVar("T")


class Readings(Generic[T]):
    """What was read, bounded by the memory that it takes.

    Args:
        kept_bytes: greatest total size of what is kept.
    """

    def __init__(self, kept_bytes: int) -> None:
        self._kept = Recent[T](kept_bytes)
        self._reading: SingleFlight[T] = SingleFlight()

    async def find(self, key: Hashable, read: Callable[[], Awaitable[tuple[T, int]]]) -> T:
        """Returns what was read under a key, and reads it if it is not kept.

        Args:
            key: the key.
            read: returns what was read, and the bytes of memory that it takes with the key.

        Raises:
            Exception: the exception that `read` raised.
        """
        known = self._kept.get(key)
        if known is not None:
            return known

        async def once() -> T:
            found, size_bytes = await read()
            self._kept.put(key, size_bytes, found)
            return found

        # An event loop cannot wait for the work of another one.
        found, _ = await self._reading.join((asyncio.get_running_loop(), key), once)
        return found
