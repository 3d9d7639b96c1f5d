"""Scores groups of completions while a trainer does its own work, in plain asyncio.

    python -m examples.asyncio_client [HOST:PORT]

Without an address it starts its own reward server.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codereward.v1 import reward_service_pb2 as pb
from trainer_client import AsyncRewardClient, Score, tasks
from trainer_client.local_server import LocalServer

TASKS = {
    name: pb.ScoreRequest(function=pb.FunctionTests(entry_point=name, asserts=[f"assert {test}"]))
    for name, test in {"double": "double(3) == 6", "square": "square(3) == 9"}.items()
}
# The server does not support this language, so completions for this task are never judged.
TASKS["cube"] = pb.ScoreRequest(language="cobol", function=TASKS["double"].function)
GROUPS: Mapping[str, Sequence[str]] = {
    "double": ["def double(x): return 2 * x", "def double(x): return x", "def double(x):"],
    "square": ["def square(x): return x * x", "def square(x): return 2 * x", "no code"],
    "cube": ["CUBE.", "DOUBLE."],
}
ENDLESS = "def double(x):\n    while True: pass"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The results of the example.

    Args:
        rewards: rewards of each group; None if a completion was not judged.
        advantages: advantages of each group; None if there is none.
        late: score of the endless program from a client with a short deadline.
        cancelled: whether a cancelled call ended as cancelled.
        longest_gap_seconds: longest time in which the trainer's own work made no progress.
    """

    rewards: Mapping[str, list[float | None]]
    advantages: Mapping[str, list[float | None]]
    late: Score
    cancelled: bool
    longest_gap_seconds: float


async def run(target: str) -> Outcome:
    """Scores all groups at once, then shows a deadline and a cancelled call."""
    work = Work()
    working = asyncio.create_task(work.go_on())
    async with AsyncRewardClient(target, timeout_seconds=60.0) as client:
        scored = await asyncio.gather(*(score_group(client, name) for name in GROUPS))
        cancelled = await cancel_a_call(client)
    late = await score_in_a_hurry(target)
    working.cancel()
    rewards = dict(zip(GROUPS, scored, strict=True))
    return Outcome(
        rewards=rewards,
        advantages={name: advantages(found) for name, found in rewards.items()},
        late=late,
        cancelled=cancelled,
        longest_gap_seconds=work.longest_gap_seconds,
    )


async def score_group(client: AsyncRewardClient, name: str) -> list[float | None]:
    """Scores a task's completions; a completion that cannot be judged raises no exception."""
    scores = await client.score(tasks.fill(TASKS[name], text) for text in GROUPS[name])
    return [score.reward for score in scores]


def advantages(rewards: Sequence[float | None]) -> list[float | None]:
    """Compares each reward with the mean of its group; ignores those that were not judged."""
    known = [reward for reward in rewards if reward is not None]
    mean = sum(known) / len(known) if known else 0.0
    return [None if reward is None else reward - mean for reward in rewards]


async def score_in_a_hurry(target: str) -> Score:
    """Scores an endless program with a deadline of half a second, including queue and network."""
    async with AsyncRewardClient(target, timeout_seconds=0.5) as client:
        (score,) = await client.score([tasks.fill(TASKS["double"], ENDLESS)])
        return score


async def cancel_a_call(client: AsyncRewardClient) -> bool:
    """Cancels a call that is in progress; the server then stops its executions."""
    call = asyncio.create_task(client.score([tasks.fill(TASKS["double"], ENDLESS)]))
    await asyncio.sleep(0.2)
    call.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await call
    return call.cancelled()


class Work:
    """Stands for other work of a trainer on its loop, such as sampling."""

    def __init__(self) -> None:
        self.longest_gap_seconds = 0.0

    async def go_on(self) -> None:
        """Runs every few milliseconds, and records the longest gap between two runs."""
        last = time.perf_counter()
        while True:
            await asyncio.sleep(0.005)
            now = time.perf_counter()
            self.longest_gap_seconds = max(self.longest_gap_seconds, now - last)
            last = now


@contextlib.contextmanager
def server(arguments: Sequence[str]) -> Iterator[str]:
    """Yields the address in the arguments, or the address of a new server."""
    if arguments:
        yield arguments[0]
        return
    with tempfile.TemporaryDirectory() as folder, LocalServer(Path(folder) / "log") as running:
        yield running.target


def main() -> None:
    """Prints the results of the example."""
    with server(sys.argv[1:]) as target:
        outcome = asyncio.run(run(target))
    for name, rewards in outcome.rewards.items():
        print(f"{name}: rewards {rewards}, advantages {outcome.advantages[name]}")  # noqa: T201
    print(f"half a second for an endless program: {outcome.late.error}")  # noqa: T201
    print(f"the cancelled call ended as cancelled: {outcome.cancelled}")  # noqa: T201
    print(f"longest pause of the loop: {outcome.longest_gap_seconds * 1000:.0f} ms")  # noqa: T201


if __name__ == "__main__":
    main()
