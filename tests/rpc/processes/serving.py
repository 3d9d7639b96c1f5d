"""The command `reward-server serve` with several processes, and what tests ask of these."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc

from codereward.v1 import reward_service_pb2_grpc as pb_grpc
from reward_server.processes.parent import Processes
from tests.rpc.conftest import function_request
from trainer_client import AsyncRewardClient, Verdict

SERVE = (sys.executable, "-c", "from reward_server.cli import main; main()", "serve")

Served = tuple[asyncio.subprocess.Process, dict[str, Any]]


@asynccontextmanager
async def serving(*flags: str) -> AsyncIterator[Served]:
    """Runs the command with two processes over real sandboxes; yields it and its description."""
    process = await asyncio.create_subprocess_exec(
        *SERVE,
        *("--port", "0", "--processes", "2", "--workers", "2", "--json"),
        *("--set", "languages=python", *flags),
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    facts = json.loads(await process.stdout.readline())
    yield process, facts
    if process.returncode is None:
        process.kill()
    # Reads to the end of standard output, which the processes share, and closes it.
    await process.communicate()


@asynccontextmanager
async def reached(address: str) -> AsyncIterator[pb_grpc.RewardServiceAsyncStub]:
    """Opens a connection of its own, shared with no other channel."""
    options = [("grpc.use_local_subchannel_pool", 1)]
    async with grpc.aio.insecure_channel(address, options=options) as channel:
        yield pb_grpc.RewardServiceStub(channel)


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Returns once a condition holds, of which nothing tells."""
    while not await condition():  # noqa: ASYNC110
        await asyncio.sleep(0.02)


async def figures(processes: Processes, name: str) -> list[int]:
    """Returns the sum of the values of a metric, for each process."""
    texts = await processes.metrics()
    pattern = re.compile(rf"^reward_server_{name}\b.* (\d+)", re.M)
    return [sum(map(int, pattern.findall(text))) for text in texts.values()]


async def spread(
    client: AsyncRewardClient, processes: Processes, hold: Path, count: int
) -> list[int]:
    """Sends requests at once; returns how many each process has while none is answered."""
    await asyncio.to_thread(hold.touch)
    requests = [function_request(number) for number in range(count)]
    scoring = asyncio.create_task(client.score(requests))
    while sum(found := await figures(processes, "admitted")) < count:  # noqa: ASYNC110
        await asyncio.sleep(0.02)
    await asyncio.to_thread(hold.unlink)
    assert {one.verdict for one in await scoring} == {Verdict.PASSED}
    return found


def lives(pid: int) -> bool:
    """Returns True if a process runs."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
