"""Compares the latency of a tenant while another sends 16 times as much with its latency alone.

    python -m benchmarks.two_tenants HumanEval.jsonl

Starts a server with two tenants of one weight. The quiet tenant keeps as many requests in flight as
there are slots, the other 16 times as many. Phases alternate: alone, flooded, alone, and so on.
Prints p50 and p99 of each phase's requests, and the ratios over all phases.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc

from benchmarks.measure.served import served
from benchmarks.measure.tasks import read_tasks, requests
from codereward.v1 import reward_service_pb2 as pb
from codereward.v1 import reward_service_pb2_grpc as pb_grpc

FLOOD = 16
CALLS_ON_A_CONNECTION = 16
TOKENS = """
[[tenants]]
name = "quiet"
tokens = ["quiet-token"]
[[tenants]]
name = "flood"
tokens = ["flood-token"]
"""


class Load:
    """A closed loop of requests on as many connections as they need."""

    def __init__(self, address: str, name: str, bodies: Iterator[bytes], width: int) -> None:
        options = (("grpc.use_local_subchannel_pool", 1),)
        count = -(-width // CALLS_ON_A_CONNECTION)
        self._channels = [grpc.aio.insecure_channel(address, options=options) for _ in range(count)]
        self._stubs: list[pb_grpc.RewardServiceAsyncStub] = [
            pb_grpc.RewardServiceStub(channel) for channel in self._channels
        ]
        self._metadata = (("authorization", f"Bearer {name}-token"),)
        self._bodies = bodies
        self._width = width

    async def run(self, count: int) -> list[float]:
        """Sends requests; returns the seconds that each took.

        Raises:
            SystemExit: an answer was not `PASSED`.
        """
        rest, found = iter(range(count)), list[float]()
        clock = asyncio.get_running_loop().time

        async def work(stub: pb_grpc.RewardServiceAsyncStub) -> None:
            for _ in rest:
                request = pb.ScoreRequest.FromString(next(self._bodies))
                began = clock()
                answer = await stub.Score(request, metadata=self._metadata, timeout=120)
                found.append(clock() - began)
                if answer.verdict != pb.VERDICT_PASSED:
                    raise SystemExit(f"a reference solution got {pb.Verdict.Name(answer.verdict)}")

        stubs = (self._stubs[number % len(self._stubs)] for number in range(self._width))
        await asyncio.gather(*(work(stub) for stub in stubs))
        return found

    async def close(self) -> None:
        """Closes the connections."""
        await asyncio.gather(*(channel.close() for channel in self._channels))


@asynccontextmanager
async def flooding(load: Load) -> AsyncIterator[None]:
    """Keeps a load running for the length of the block."""
    task = asyncio.create_task(load.run(1 << 30))
    await asyncio.sleep(1.0)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def at(share: float, values: list[float]) -> float:
    """Returns a quantile."""
    return sorted(values)[int(share * (len(values) - 1))]


async def compared(data: Path, rounds: int, calls: int, tokens: Path) -> None:
    """Measures and prints."""
    bodies = requests(read_tasks(data))
    alone, flooded = list[float](), list[float]()
    async with served(("--token-file", str(tokens))) as server:
        quiet = Load(server.address, "quiet", bodies, server.slots)
        flood = Load(server.address, "flood", bodies, FLOOD * server.slots)
        await quiet.run(calls)  # warms the sandboxes up
        for _ in range(rounds):
            rows = [await quiet.run(calls)]
            async with flooding(flood):
                rows.append(await quiet.run(calls))
            for name, row in zip(("alone", "flooded"), rows, strict=True):
                print(
                    f"{name}: p50 {1000 * at(0.5, row):.1f} ms, p99 {1000 * at(0.99, row):.1f} ms"
                )
            alone += rows[0]
            flooded += rows[1]
        await quiet.close()
        await flood.close()
    for share in (0.5, 0.99):
        print(f"p{100 * share:.0f}: {at(share, flooded) / at(share, alone):.2f} times as long")


def main() -> None:
    """Reads the arguments and measures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="HumanEval.jsonl")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--calls", type=int, default=300, help="requests of each phase")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tokens = Path(folder) / "tokens.toml"
        tokens.write_text(TOKENS)
        asyncio.run(compared(options.data, options.rounds, options.calls, tokens))


if __name__ == "__main__":
    main()
