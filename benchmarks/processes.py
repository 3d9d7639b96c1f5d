"""Verdicts per second and CPU time per verdict of several processes over simulated slots.

    python -m benchmarks.processes 1 2 --requests 1500 --asserts 40

Executions end at once, so that only the serving path is measured. Each client is a process of its
own, whose requests are all different, and which knows the port of each serving process.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from pathlib import Path

from reward_server.processes.parent import running_processes
from reward_server.settings import load_settings
from tests.support.simulated_process import COMMAND
from trainer_client import AsyncRewardClient

CLIENTS = 2
SLOTS = 16  # of each process


async def measured(count: int, requests: int, asserts: int) -> dict[str, float]:
    """Starts the processes and the clients; returns the figures."""
    settings = load_settings({"port": 0, "workers": SLOTS * count, "queue_capacity": 4096})
    async with running_processes(settings, count, command=COMMAND) as processes:
        target = ",".join(f"127.0.0.1:{one['port']}" for one in processes.facts["processes"])
        before = {pid: cpu_seconds(pid) for pid in processes.pids.values()}
        rates = await asyncio.gather(
            *(client(target, number, requests, asserts) for number in range(CLIENTS))
        )
        used = [cpu_seconds(pid) - spent for pid, spent in before.items()]
    return {
        "processes": count,
        "verdicts_per_second": round(sum(rates), 1),
        "cpu_ms_per_verdict": round(1000 * sum(used) / (CLIENTS * requests), 3),
    }


async def client(target: str, number: int, requests: int, asserts: int) -> float:
    """Runs a client; returns its verdicts per second."""
    command = (sys.executable, "-m", "benchmarks.processes", "--load", target, str(number))
    sizes = ("--requests", str(requests), "--asserts", str(asserts))
    process = await asyncio.create_subprocess_exec(*command, *sizes, stdout=asyncio.subprocess.PIPE)
    output, _ = await process.communicate()
    return float(output)


async def load(target: str, number: str, requests: int, asserts: int) -> None:
    """Sends the requests of one client, and prints its verdicts per second."""
    todo = [
        {
            "completion": f"def f(x):\n    return x + {index}\n",
            "function": {
                "entry_point": "f",
                "asserts": [f"assert f({row}) == {number}{row}" for row in range(asserts)],
            },
        }
        for index in range(requests)
    ]
    async with AsyncRewardClient(target) as reward:
        begun = time.monotonic()
        scores = await reward.score(todo)
        seconds = time.monotonic() - begun
    if any(one.verdict is None for one in scores):
        raise SystemExit("a verdict was lost")
    print(requests / seconds)


def cpu_seconds(pid: int) -> float:
    """Returns the CPU time of a process, without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Prints one line of JSON for each number of processes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("processes", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--requests", type=int, default=1500)
    parser.add_argument("--asserts", type=int, default=40)
    parser.add_argument("--load", nargs=2, metavar=("TARGET", "NUMBER"))
    given = parser.parse_args()
    if given.load:
        asyncio.run(load(*given.load, given.requests, given.asserts))
        return
    for count in given.processes:
        print(json.dumps(asyncio.run(measured(count, given.requests, given.asserts))), flush=True)


if __name__ == "__main__":
    main()
