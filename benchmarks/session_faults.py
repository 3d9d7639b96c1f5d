"""Opens, uses and closes sessions while servers, first processes and containers are killed.

    python -m benchmarks.session_faults --count 10000
    python -m benchmarks.session_faults --count 1000 --set backend=docker --set runtime=runsc

A session runs a command, keeps files, runs code in an interpreter, or is scored with a right or a
wrong solution. Meanwhile a process of a session is killed a few times a second, on the backend
`docker` a container instead, and the server several times. A session that lost something may end
with an error or a signal, but never with a wrong result. The command exits with 1 if one did, or if
a control group with its processes, a container, a mount or a file is left at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import docker

from benchmarks.sessions import MEMORY_BYTES, cgroups_of, served
from reward_server.sandbox.docker.inventory import OWNER_LABEL
from reward_server.sandbox.owner import owner_id
from tests.scale.soak_server import files, mounts
from trainer_client import AsyncRewardClient, AsyncSession, CallError, CodeOutcome
from trainer_client.local_server import LocalServer

SERVER_KILLS = 5
KILL_EVERY_SECONDS = (0.2, 0.6)
SETTLED_SECONDS = 60.0
RIGHT, WRONG, KILLED = "right", "WRONG", "killed"
TESTS = {"function": {"entry_point": "f", "asserts": ["assert f(2) == 3"]}}


async def _command(session: AsyncSession, number: int) -> str:
    result = await session.exec(["bash", "-c", f"echo $(({number} * 7))"])
    if result.signal == signal.SIGKILL:
        return KILLED
    is_right = (result.exit_code, result.stdout) == (0, b"%d\n" % (7 * number))
    return RIGHT if is_right else f"{WRONG}: {result}"


async def _files(session: AsyncSession, number: int) -> str:
    text = f"{number}\n".encode() * 1000
    await session.write_files({"a/b.txt": text})
    result = await session.exec(["cp", "a/b.txt", "c.txt"])
    if result.signal == signal.SIGKILL:
        return KILLED
    read = await session.read_file("c.txt")
    return RIGHT if read == text else f"{WRONG}: {len(read)} bytes"


async def _code(session: AsyncSession, number: int) -> str:
    first = await session.run_code(f"x = {number}")
    result = await session.run_code("x + 1")
    if CodeOutcome.INTERPRETER_LOST in (first.outcome, result.outcome) or result.restarted:
        return KILLED
    return RIGHT if result.value == str(number + 1) else f"{WRONG}: {result}"


async def _right_solution(session: AsyncSession, number: int) -> str:
    return await _score(session, f"def f(x): return x + 1  # {number}", 1.0)


async def _wrong_solution(session: AsyncSession, number: int) -> str:
    return await _score(session, f"def f(x): return x  # {number}", 0.0)


async def _score(session: AsyncSession, solution: str, reward: float) -> str:
    await session.write_files({"f.py": solution})
    score = await session.score(TESTS, completion_path="f.py")
    if score.reward is None:
        return f"not judged: {score.error.status if score.error else None}"
    return RIGHT if score.reward == reward else f"{WRONG}: {score}"


# How often of a hundred a session is used in each way.
USES: Mapping[Callable[[AsyncSession, int], Awaitable[str]], int] = {
    _command: 50,
    _files: 15,
    _code: 15,
    _right_solution: 10,
    _wrong_solution: 10,
}


class Faults:
    """Kills what a server's sessions are made of, and the server several times.

    Args:
        server: the server.
        done: returns which part of the sessions has ended.
    """

    def __init__(self, server: LocalServer, done: Callable[[], float]) -> None:
        self._server = server
        self._done = done
        self._owners = [owner_id(server.pid)]
        self._chance = random.Random(1)
        self.kills: Counter[str] = Counter()

    async def cause(self, engine: docker.APIClient | None) -> None:
        """Causes faults until it is cancelled."""
        while True:
            await asyncio.sleep(self._chance.uniform(*KILL_EVERY_SECONDS))
            killed_servers = self.kills["server"]
            if killed_servers < SERVER_KILLS and self._done() > (killed_servers + 1) / (
                SERVER_KILLS + 1
            ):
                await asyncio.to_thread(self._server.kill)
                await asyncio.to_thread(self._server.start)
                self._owners.append(owner_id(self._server.pid))
                self.kills["server"] += 1
            if engine is None:
                self._kill_process()
            else:
                await asyncio.to_thread(self._kill_container, engine)

    def left(self, engine: docker.APIClient | None) -> list[str]:
        """Returns what is left of all servers."""
        found = [str(path) for owner in self._owners for path in cgroups_of(owner)]
        if engine is not None:
            for owner in self._owners:
                found += [one["Id"] for one in engine.containers(all=True, filters=_of(owner))]
        return found

    def _kill_process(self) -> None:
        found = set[int]()
        for group in cgroups_of(self._owners[-1], "*.session*"):
            with suppress(OSError):
                found |= set(map(int, (group / "cgroup.procs").read_text().split()))
        with suppress(IndexError, ProcessLookupError):
            os.kill(self._chance.choice(sorted(found - {0})), signal.SIGKILL)
            self.kills["process"] += 1

    def _kill_container(self, engine: docker.APIClient) -> None:
        with suppress(IndexError, docker.errors.APIError):
            running = engine.containers(filters=_of(self._owners[-1]))
            engine.kill(self._chance.choice(running)["Id"])
            self.kills["container"] += 1


def _of(owner: str) -> dict[str, str]:
    return {"label": f"{OWNER_LABEL}={owner}"}


async def run(count: int, at_once: int, changes: Sequence[str]) -> bool:
    """Runs sessions with faults, tells what happened, and returns whether all of it was right."""
    engine = docker.APIClient() if "backend=docker" in changes else None
    outcomes: Counter[str] = Counter()
    places = asyncio.Semaphore(at_once)
    before, began = mounts() | files(), time.monotonic()

    async def use(client: AsyncRewardClient, number: int) -> None:
        async with places:
            outcomes[await _outcome(client, number)] += 1

    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder), 4, 4 * at_once, changes) as running,
    ):
        faults = Faults(running.server, lambda: outcomes.total() / count)
        async with AsyncRewardClient(running.target, timeout_seconds=120) as client:
            causing = asyncio.create_task(faults.cause(engine))
            await asyncio.gather(*(use(client, number) for number in range(count)))
            causing.cancel()
            await asyncio.gather(causing, return_exceptions=True)
        is_open = running.metric('reward_server_sessions{state="open"}')
    seconds = time.monotonic() - began
    left = await _settled(lambda: [*faults.left(engine), *((mounts() | files()) - before)])
    print(f"{count} sessions in {seconds:.0f} s, {dict(faults.kills)} killed")
    for outcome, times in outcomes.most_common():
        print(f"{times:>8} {outcome}")
    print(f"open at the end: {is_open:.0f}; left: {left or 'nothing'}")
    wrong = [outcome for outcome in outcomes if outcome.startswith(WRONG)]
    return not (wrong or left or is_open)


async def _settled(left: Callable[[], list[str]]) -> list[str]:
    """Waits until nothing is left; returns what is left after `SETTLED_SECONDS`."""
    end = time.monotonic() + SETTLED_SECONDS
    while (found := left()) and time.monotonic() < end:  # noqa: ASYNC110  # nothing tells
        await asyncio.sleep(0.2)
    return found


async def _outcome(client: AsyncRewardClient, number: int) -> str:
    [use] = random.Random(number).choices(list(USES), list(USES.values()))
    try:
        async with client.session(memory_bytes=MEMORY_BYTES) as session:
            ended = await use(session, number)
    except CallError as error:
        return str(getattr(error, "reason", error.status))
    return ended


def main() -> None:
    """Reads the command line and runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    given = parser.parse_args()
    sys.exit(0 if asyncio.run(run(given.count, given.at_once, given.set)) else 1)


if __name__ == "__main__":
    main()
