"""The CPU time that a server uses for reference solutions, which all have to pass."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.measure import load
from benchmarks.measure.served import Served, Used


async def used_for(
    server: Served, client: load.Client, requests: Iterator[bytes], count: int, in_flight: int = 1
) -> Used:
    """Sends requests; returns the CPU time that they used.

    Args:
        server: whose CPU time is measured.
        client: sends the requests.
        requests: encoded requests, all different.
        count: how many are sent.
        in_flight: how many of them at once.

    Raises:
        SystemExit: an answer was not `PASSED`.
    """
    before = server.used()
    replies = await client.saturate(requests, count, in_flight)
    if set(load.verdicts(replies)) != {"PASSED"}:
        raise SystemExit(f"reference solutions did not pass: {load.verdicts(replies)}")
    return server.used().since(before)
