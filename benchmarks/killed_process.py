"""Compares the latency at the other processes while one is killed with that while none is.

    python -m benchmarks.killed_process --processes 3 --rounds 4

Starts a server over simulated slots, whose executions take a known time and no computing. A client
spreads its requests over all processes; when the first process is killed, its part moves to the
others, and the parent starts it again. Probes go to each of the others alone, and are what is
measured. Windows alternate: calm, killed, calm, and so on. Prints p50 and p99 of the probes of each
window, and the ratios over all windows. Ends with an error if a verdict is lost.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import chain, count

import grpc

from codereward.v1 import reward_service_pb2 as pb
from codereward.v1 import reward_service_pb2_grpc as pb_grpc
from reward_server.processes.parent import Processes, running_processes
from reward_server.settings import load_settings
from tests.support.simulated_process import COMMAND
from trainer_client import AsyncRewardClient

SLOTS = 8  # of each process
LOAD_PER_PROCESS, PROBES_PER_PROCESS = 4, 4  # which fill the slots
SETTLE_SECONDS = 2.0  # in which the client finds the process that was started again
EXECUTION_SECONDS = 0.02
KILLED = 0


@dataclass(slots=True)
class Windows:
    """The seconds that probes took, by window."""

    calm: list[list[float]] = field(default_factory=list)
    killed: list[list[float]] = field(default_factory=list)

    def ratio(self, share: float) -> float:
        """Returns a quantile of the windows with a kill divided by that of the others."""
        return at(share, [*chain(*self.killed)]) / at(share, [*chain(*self.calm)])


class Measurement:
    """A server under load, and probes of all its processes but the one that is killed."""

    def __init__(self, processes: Processes) -> None:
        self._processes = processes
        self._numbers = count()
        self._took = list[float]()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Sends load and probes for the length of the block.

        Raises:
            BaseExceptionGroup: a verdict was lost or wrong.
        """
        facts = self._processes.facts
        width = LOAD_PER_PROCESS * len(facts["processes"])
        async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
            client = await stack.enter_async_context(
                AsyncRewardClient(facts["address"], max_in_flight=width)
            )
            tasks = [group.create_task(self._load(client)) for _ in range(width)]
            for one in facts["processes"][KILLED + 1 :]:
                options = (("grpc.use_local_subchannel_pool", 1),)
                channel = grpc.aio.insecure_channel(f"127.0.0.1:{one['port']}", options=options)
                stub = pb_grpc.RewardServiceStub(await stack.enter_async_context(channel))
                tasks += [group.create_task(self._probe(stub)) for _ in range(PROBES_PER_PROCESS)]
            yield
            for task in tasks:
                task.cancel()

    async def window(self, seconds: float, *, kills: bool) -> list[float]:
        """Returns the seconds that the probes of a window took."""
        starts = self._processes.starts[KILLED]
        self._took.clear()
        if kills:
            os.kill(self._processes.pids[KILLED], signal.SIGKILL)
        await asyncio.sleep(seconds)
        took = list(self._took)
        if kills:
            await self._until_started_again(starts + 1)
        return took

    async def _until_started_again(self, starts: int) -> None:
        """Returns once the process was started so often and answers, of which nothing tells."""
        while self._processes.starts[KILLED] < starts:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        while KILLED not in await self._processes.metrics():
            pass
        await asyncio.sleep(SETTLE_SECONDS)

    async def _load(self, client: AsyncRewardClient) -> None:
        while True:
            [score] = await client.score([self._request()])
            if score.verdict is None:
                raise RuntimeError(f"a verdict was lost: {score.error}")

    async def _probe(self, stub: pb_grpc.RewardServiceAsyncStub) -> None:
        clock = asyncio.get_running_loop().time
        while True:
            began = clock()
            answer = await stub.Score(self._request())
            self._took.append(clock() - began)
            if answer.verdict != pb.VERDICT_PASSED:
                raise RuntimeError(f"a probe got {pb.Verdict.Name(answer.verdict)}")

    def _request(self) -> pb.ScoreRequest:
        tests = pb.FunctionTests(entry_point="f", asserts=[f"assert f() == {next(self._numbers)}"])
        return pb.ScoreRequest(completion="def f(): return 1", function=tests)


def at(share: float, values: list[float]) -> float:
    """Returns a quantile."""
    return sorted(values)[int(share * (len(values) - 1))]


async def compared(processes: int, rounds: int, seconds: float) -> Windows:
    """Measures windows without and with a kill."""
    settings = load_settings({"port": 0, "workers": SLOTS * processes, "drain_seconds": 5})
    windows = Windows()
    async with running_processes(settings, processes, command=COMMAND) as server:
        measurement = Measurement(server)
        async with measurement.running():
            await measurement.window(SETTLE_SECONDS, kills=False)
            for _ in range(rounds):
                windows.calm.append(await measurement.window(seconds, kills=False))
                windows.killed.append(await measurement.window(seconds, kills=True))
    return windows


def told(name: str, took: list[float]) -> str:
    """Describes a window."""
    p50, p99 = (1000 * at(share, took) for share in (0.5, 0.99))
    return f"{name}: {len(took)} probes, p50 {p50:.1f} ms, p99 {p99:.1f} ms"


def main() -> None:
    """Reads the arguments, measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=5.0, help="length of a window")
    given = parser.parse_args()
    os.environ["SIMULATED_SECONDS"] = str(EXECUTION_SECONDS)
    windows = asyncio.run(compared(given.processes, given.rounds, given.seconds))
    for calm, killed in zip(windows.calm, windows.killed, strict=True):
        print(told("calm", calm))
        print(told("killed", killed))
    for share in (0.5, 0.99):
        print(f"p{100 * share:.0f}: {windows.ratio(share):.2f} times as long")


if __name__ == "__main__":
    main()
