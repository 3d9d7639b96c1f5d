"""What a request costs to send and to serve: whole or by digest, alone or with others in an RPC.

Executions end at once, so that only the client, the wire and the server are measured. Each round
takes the ways of sending in turn, so that a drift of the machine affects all alike.

    python -m benchmarks.sent_requests --count 512 --task-bytes 5242880 --rounds 3
    python -m benchmarks.sent_requests --count 512 --task-bytes 1000 --rounds 10
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import time
from collections import defaultdict

from codereward.v1 import reward_service_pb2 as pb
from reward_server.app import serving
from reward_server.backends import Backend
from reward_server.domain import Wall
from reward_server.settings import load_settings
from tests.rpc.fakes import FakeExecutor
from tests.support.counting_proxy import counting_proxy
from trainer_client import AsyncRewardClient, LazyRequest
from trainer_client.transport.channel import ConnectionOptions

_CASES = 20
_WAYS: dict[str, ConnectionOptions] = {
    "whole, alone": {"store_from_bytes": None, "batch_size": 1},
    "whole, together": {"store_from_bytes": None},
    "by digest, alone": {"store_from_bytes": 1, "batch_size": 1},
    "by digest, together": {"store_from_bytes": 1},
}


async def _serve() -> None:
    executor = FakeExecutor(slots=8)
    backend = Backend(
        name="none",
        executor=executor,
        walls=(Wall(name="kernel", standing=True, detail="Linux"),),
        language_versions={"python": "3"},
    )
    async with serving(load_settings({"port": 0}), backend) as app:
        print(app.address, flush=True)
        while True:
            await asyncio.sleep(1.0)
            executor.started.clear()


def _cpu_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def _turn(
    address: str, pid: int, way: str, round_number: int, options: argparse.Namespace
) -> tuple[float, float, float, float]:
    """Returns the CPU time of server and client, time and bytes for one request of a turn."""
    numbers = [round_number, len(way), *[1] * (options.task_bytes // _CASES // 3)]
    case = pb.CallCase(args_json=json.dumps([numbers]), expected_json="1")
    tests = pb.CallTests(entry_point="f", cases=[case] * _CASES)

    def request(number: int) -> LazyRequest:
        completion = f"def f(x): return {number}".ljust(1000, "#")
        return LazyRequest(id="", make=lambda: pb.ScoreRequest(completion=completion, call=tests))

    async with (
        counting_proxy(address) as proxy,
        AsyncRewardClient(proxy.address if options.bytes else address, **_WAYS[way]) as client,
    ):
        await client.server_info()
        before = _cpu_seconds(pid), time.process_time(), time.perf_counter()
        scores = await client.score([request(number) for number in range(options.count)])
        after = _cpu_seconds(pid), time.process_time(), time.perf_counter()
        assert all(score.reward == 1.0 for score in scores)
    server, own, wall = ((b - a) / options.count for a, b in zip(before, after, strict=True))
    return server, own, wall, proxy.sent_bytes / options.count


async def _measure(options: argparse.Namespace) -> None:
    command = (sys.executable, "-m", "benchmarks.sent_requests", "--serve")
    server = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert server.stdout is not None
    found = defaultdict(list)
    try:
        address = (await server.stdout.readline()).decode().strip()
        for round_number in range(options.rounds):
            for way in _WAYS:
                found[way].append(await _turn(address, server.pid, way, round_number, options))
    finally:
        server.terminate()
        await server.wait()
    columns = ("server ms", "client ms", "wall ms", "bytes")
    print("medians of one request  ", *(f"{column:>11}" for column in columns))
    for way, turns in found.items():
        *seconds, size = (statistics.median(column) for column in zip(*turns, strict=True))
        print(f"{way:24}", *(f"{1e3 * one:11.2f}" for one in seconds), f"{size:11.0f}")


def main() -> None:
    """Measures, or serves what is measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--count", type=int, default=512, help="requests of a turn")
    parser.add_argument("--task-bytes", type=int, default=5 << 20, help="size of a task's tests")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bytes", action="store_true", help="count bytes; costs the client CPU")
    options = parser.parse_args()
    asyncio.run(_serve() if options.serve else _measure(options))


if __name__ == "__main__":
    main()
