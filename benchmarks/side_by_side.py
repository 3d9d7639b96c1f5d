"""Compares the CPU time of a verdict on the servers of two checkouts that run at the same time.

    python -m benchmarks.side_by_side HumanEval.jsonl ../before .

Each checkout has its own `.venv`, in which its package is installed. Prints the CPU time of the
second divided by that of the first, for each start of both servers and for all: the total, that of
the server's process, and that of the sandboxes.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import load
from benchmarks.measure.served import Served, Used, served
from benchmarks.measure.tasks import Task, read_tasks, requests
from benchmarks.passes import used_for

IN_FLIGHT = 2  # of each server, whose slots together would be more than the cores
PARTS = ("total", "server", "sandboxes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """A server, its client, and an endless sequence of requests."""

    server: Served
    client: load.Client
    requests: Iterator[bytes]

    async def work(self, count: int) -> Used:
        """Sends requests; returns the CPU time that they used."""
        return await used_for(self.server, self.client, self.requests, count, IN_FLIGHT)


async def compared(
    checkouts: Sequence[Path], tasks: Sequence[Task], rounds: int
) -> tuple[float, ...]:
    """Starts both servers; returns the medians of the rounds' ratios, one for each of `PARTS`."""
    async with AsyncExitStack() as stack:
        arms = []
        for checkout in checkouts:
            server = await stack.enter_async_context(served((), checkout.resolve()))
            client = await stack.enter_async_context(load.client(server.address))
            arms.append(Arm(server=server, client=client, requests=requests(tasks)))
        found = [
            await asyncio.gather(*(arm.work(len(tasks)) for arm in arms)) for _ in range(rounds + 1)
        ]
    ratios = [
        [getattr(after, part) / getattr(before, part) for before, after in found[1:]]
        for part in PARTS
    ]
    return tuple(map(statistics.median, ratios))


async def main() -> None:
    """Compares and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="HumanEval.jsonl")
    parser.add_argument("before", type=Path, help="the checkout that the other is compared with")
    parser.add_argument("after", type=Path)
    parser.add_argument("--starts", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=6, help="passes over the data for each start")
    options = parser.parse_args()
    tasks, checkouts = read_tasks(options.data), (options.before, options.after)
    rows = []
    for start in range(1, options.starts + 1):
        rows.append(await compared(checkouts, tasks, options.rounds))
        print(start, *(f"{name} {one:.3f}" for name, one in zip(PARTS, rows[-1], strict=True)))
    for name, column in zip(PARTS, zip(*rows, strict=True), strict=True):
        error = statistics.stdev(column) / len(column) ** 0.5 if len(column) > 1 else 0.0
        print(f"{name}: {statistics.mean(column):.3f}, standard error {error:.3f}")


if __name__ == "__main__":
    asyncio.run(main())
