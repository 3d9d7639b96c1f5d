"""What signals do to a server that starts."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from reward_server.processes.stop import Stop


async def serve(*, swallows: bool) -> str:
    stop = Stop()
    os.kill(os.getpid(), signal.SIGTERM)
    try:
        await asyncio.sleep(30)
    except asyncio.CancelledError:
        if not swallows:
            raise
    await stop.asked()
    return "served"


@pytest.mark.parametrize("swallows", [False, True])
def test_a_signal_during_the_start_ends_the_server_whatever_the_start_makes_of_it(
    swallows: bool,
) -> None:
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(asyncio.wait_for(serve(swallows=swallows), 20))
