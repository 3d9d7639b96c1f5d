"""CPU time of metrics and of the audit log for each verdict, and what share of a verdict it is.

    python -m benchmarks.operation_costs                          # simulated slots alone
    python -m benchmarks.operation_costs --data HumanEval.jsonl   # also real sandboxes

The share is too small to be seen between two servers, whose CPU time differs by more from start to
start. So what a server counts while it answers requests is recorded, and this is done again in a
loop by the same code, without the server. The CPU time of a verdict is that of a serving process
over simulated slots, whose executions take no CPU time, and that of a server with its sandboxes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import isfunction
from pathlib import Path
from typing import Any
from unittest import mock

import grpc
from prometheus_client import generate_latest

from benchmarks.measure import load
from benchmarks.measure.served import served
from benchmarks.measure.tasks import read_tasks, requests
from benchmarks.processes import measured
from codereward.v1 import reward_service_pb2 as pb
from codereward.v1 import reward_service_pb2_grpc as pb_grpc
from reward_server.app import serving
from reward_server.backends import Backend
from reward_server.rpc.audit import AuditLog
from reward_server.settings import load_settings
from reward_server.telemetry import Telemetry
from tests.rpc.fakes import FakeExecutor

RECORDED, REPEATS, ROUNDS = 300, 20, 5
SCRAPE_SECONDS = 15.0
NOT_FOR_EACH_VERDICT = {"watch", "watch_each", "watch_count", "watch_counts", "state", "offers"}

Call = tuple[str, tuple[Any, ...], dict[str, Any]]


@contextmanager
def recorded() -> Iterator[list[Call]]:
    """Records what is counted during the block."""
    calls = list[Call]()

    def recording(name: str, method: Callable[..., None]) -> Callable[..., None]:
        def count(self: Telemetry, *args: Any, **kwargs: Any) -> None:
            calls.append((name, args, kwargs))
            method(self, *args, **kwargs)

        return count

    methods = {
        name: recording(name, method)
        for name, method in vars(Telemetry).items()
        if isfunction(method) and not name.startswith("_") and name not in NOT_FOR_EACH_VERDICT
    }
    with mock.patch.multiple(Telemetry, **methods):
        yield calls


async def answered() -> tuple[list[Call], list[tuple[pb.ScoreRequest, pb.ScoreResponse]]]:
    """Lets a server answer requests; returns what it counted, and the requests with answers."""
    backend = Backend(
        name="simulated", executor=FakeExecutor(), walls=(), language_versions={"python": "3.11"}
    )
    pairs = []
    with recorded() as calls:
        async with (
            serving(load_settings({"port": 0, "drain_seconds": 0}), backend) as app,
            grpc.aio.insecure_channel(app.address) as channel,
        ):
            stub: pb_grpc.RewardServiceAsyncStub = pb_grpc.RewardServiceStub(channel)
            calls.clear()
            for number in range(RECORDED):
                tests = pb.FunctionTests(entry_point="f", asserts=[f"assert f({number}) == 1"])
                request = pb.ScoreRequest(id=str(number), completion=SOLUTION, function=tests)
                pairs.append((request, await stub.Score(request)))
            found = list(calls)
    return found, pairs


SOLUTION = "def f(x):\n" + "    x += 1\n" * 40 + "    return x\n"


def milliseconds(action: Callable[[], object]) -> float:
    """Returns the least CPU time of some rounds for each verdict."""
    least = float("inf")
    for _ in range(ROUNDS):
        begun = time.process_time()
        action()
        least = min(least, time.process_time() - begun)
    return 1000 * least / (RECORDED * REPEATS)


def metrics_cost(calls: list[Call]) -> tuple[float, float]:
    """Returns the cost for each verdict, and that of a scrape, in milliseconds."""
    telemetry = Telemetry()
    bound = [(getattr(telemetry, name), args, kwargs) for name, args, kwargs in calls]

    def count() -> None:
        for _ in range(REPEATS):
            for method, args, kwargs in bound:
                method(*args, **kwargs)

    cost = milliseconds(count)
    begun = time.process_time()
    for _ in range(REPEATS):
        generate_latest(telemetry.registry)
    return cost, 1000 * (time.process_time() - begun) / REPEATS


def audit_cost(pairs: list[tuple[pb.ScoreRequest, pb.ScoreResponse]], folder: Path) -> float:
    """Returns the cost for each verdict, the thread that writes included, in milliseconds."""

    async def record(audit: AuditLog) -> None:
        for _ in range(REPEATS):
            for request, response in pairs:
                await audit.record("red", request, response)

    def write() -> None:
        lost = list[str]()

        def count(outcome: str) -> None:
            if outcome != "written":
                lost.append(outcome)

        audit = AuditLog(folder / "audit", file_bytes=64 << 20, files=1, count=count)
        asyncio.run(record(audit))
        audit.close()
        if lost:
            raise SystemExit(f"{len(lost)} lines were lost")

    return milliseconds(write)


async def with_sandboxes(data: Path) -> dict[str, float]:
    """Returns the CPU time of a verdict with real sandboxes, in milliseconds."""
    tasks = read_tasks(data)
    bodies = requests(tasks)
    async with served(()) as server, load.client(server.address) as client:
        await client.saturate(bodies, len(tasks), 2 * server.slots)  # warms the sandboxes up
        before = server.used()
        replies = await client.saturate(bodies, 3 * len(tasks), 2 * server.slots)
        used = server.used().since(before)
    if set(load.verdicts(replies)) != {"PASSED"}:
        raise SystemExit(f"reference solutions did not pass: {load.verdicts(replies)}")
    count = 3 * len(tasks)
    return {
        "process with real sandboxes": 1000 * used.server / count,
        "process and sandboxes": 1000 * used.total / count,
    }


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="HumanEval.jsonl")
    given = parser.parse_args()
    calls, pairs = asyncio.run(answered())
    metrics, scrape = metrics_cost(calls)
    with tempfile.TemporaryDirectory() as folder:
        audit = audit_cost(pairs, Path(folder))
    verdict = {
        "process over simulated slots": asyncio.run(measured(1, 1500, 1))["cpu_ms_per_verdict"]
    }
    if given.data is not None:
        verdict |= asyncio.run(with_sandboxes(given.data))
    costs = {"metrics": metrics, "audit log": audit}
    print(json.dumps({f"{name}, ms a verdict": round(cost, 4) for name, cost in costs.items()}))
    share = scrape / 1000 / SCRAPE_SECONDS
    print(f"a scrape takes {scrape:.1f} ms, {share:.2%} of a core each {SCRAPE_SECONDS:.0f} s")
    for name, whole in verdict.items():
        shares = ", ".join(f"{what} {cost / whole:.2%}" for what, cost in costs.items())
        print(f"{name}: {whole:.3f} ms a verdict, of which {shares}")


if __name__ == "__main__":
    main()
