"""Tries again while the server has no room, for callers that take a refusal for a failure."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from reward_server.errors import OverloadedError

_T = TypeVar("_T")


async def patiently(run: Callable[[], Awaitable[_T]], deadline: float) -> _T:
    """Runs something; while there is no room, tries again until the deadline.

    Args:
        run: begins an attempt.
        deadline: on the running loop's clock.

    Raises:
        OverloadedError: there was no room in time.
    """
    clock = asyncio.get_running_loop().time
    while True:
        try:
            return await run()
        except OverloadedError as error:
            if clock() + error.retry_after_seconds >= deadline:
                raise
            await asyncio.sleep(error.retry_after_seconds)
