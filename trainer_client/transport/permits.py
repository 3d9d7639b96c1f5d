"""Bounds how many requests are in progress, for all calls of one event loop together."""

from __future__ import annotations

import asyncio


class Permits:
    """A number of permits, which are taken several at once and given back one by one.

    Permits are given in the order of the requests for them, so that a task that needs many is not
    overtaken by tasks that need few.

    Args:
        count: number of permits.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._free = count
        self._turn = asyncio.Lock()
        self._given = asyncio.Event()

    async def take(self, wanted: int) -> Held:
        """Waits until this number of permits is free, and takes them; takes at most all that
        exist."""
        async with self._turn:
            while self._free < min(wanted, self.count):
                self._given.clear()
                await self._given.wait()
            self._free -= wanted
        return Held(self, wanted)

    def give(self, count: int) -> None:
        """Gives permits back."""
        self._free += count
        self._given.set()


class Held:
    """Permits that were taken together.

    Args:
        permits: where they belong.
        count: how many they are.
    """

    def __init__(self, permits: Permits, count: int) -> None:
        self._permits = permits
        self._count = count

    def give_one(self) -> None:
        """Gives one of them back."""
        self._count -= 1
        self._permits.give(1)

    def give_rest(self) -> None:
        """Gives all that are left back."""
        count, self._count = self._count, 0
        self._permits.give(count)
