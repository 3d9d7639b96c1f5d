"""One client attacks, and those who hold a token are served throughout.

Each of their calls passes, and the server stays small. `REWARD_SERVER_EDGE_SECONDS=60` makes each
attack that long and asks besides that the calls take no longer than it allows: two servers are
called in turns, one of which is attacked, so that what else the machine does slows both. `-s`
prints the figures.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest

from codereward.v1 import reward_service_pb2 as pb
from codereward.v1 import reward_service_pb2_grpc as pb_grpc
from tests.scale.edge_attacks import ATTACKS, request

SECONDS = float(os.environ.get("REWARD_SERVER_EDGE_SECONDS", "0"))
LEAST_CALLS = 100 if SECONDS else 20
MOST_TIMES = 5
MOST_RECOVERY_SECONDS = 10.0
MOST_MEMORY_KIBIBYTES = 300 << 10
MOST_OF_BODIES_KIBIBYTES = 128 << 10  # what is refused is not kept
TOKEN = (("authorization", "Bearer good"),)


@asynccontextmanager
async def program(*arguments: str) -> AsyncIterator[Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", *arguments, stdout=PIPE, env={**os.environ, "PYTHONPATH": _paths()}
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


def _paths() -> str:
    return os.pathsep.join(path for path in [str(Path.cwd()), *sys.path] if path)


async def line_of(process: Process) -> bytes:
    assert process.stdout is not None
    return await process.stdout.readline()


async def address_of(server: Process) -> str:
    return f"127.0.0.1:{int(await line_of(server))}"


class Pair:
    """Two servers, of which the first is attacked."""

    def __init__(self, attacked: str, quiet: str) -> None:
        self._addresses = (attacked, quiet)
        self._numbers = iter(range(1_000_000, 2_000_000))

    async def called(self, calls: int, seconds: float) -> tuple[list[float], list[float]]:
        """Calls one after the other, on a connection to each, so often and so long.

        Returns:
            How long the calls to each took, in order of their length.
        """
        attacked, quiet = list[float](), list[float]()
        async with AsyncExitStack() as stack:
            channels = [
                await stack.enter_async_context(grpc.aio.insecure_channel(address))
                for address in self._addresses
            ]
            begun = time.monotonic()
            while len(quiet) < calls or time.monotonic() < begun + seconds:
                attacked.append(await self._took(channels[0]))
                quiet.append(await self._took(channels[1]))
        return sorted(attacked), sorted(quiet)

    async def recovered(self) -> float:
        """Returns after how many seconds the first server is seen to answer like the second."""
        begun = time.monotonic()
        attacked, quiet = await self.called(5, 0)
        while at(0.5, attacked) > 2 * at(0.5, quiet) and not _is_over(begun):
            attacked, quiet = await self.called(5, 0)
        return time.monotonic() - begun

    async def _took(self, channel: grpc.aio.Channel) -> float:
        stub: pb_grpc.RewardServiceAsyncStub = pb_grpc.RewardServiceStub(channel)
        begun = time.monotonic()
        answer = await stub.Score(request(next(self._numbers)), metadata=TOKEN, timeout=20)
        assert answer.verdict == pb.VERDICT_PASSED
        return time.monotonic() - begun


def _is_over(begun: float) -> bool:
    return time.monotonic() - begun > MOST_RECOVERY_SECONDS


def at(share: float, sorted_values: list[float]) -> float:
    return sorted_values[int(share * (len(sorted_values) - 1))]


def peak_kibibytes(process: Process) -> int:
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmHWM")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """How long honest calls took, in order of their length, and what else an attack cost."""

    attacked: list[float]
    quiet: list[float]
    recovery_seconds: float
    memory_kibibytes: int

    @property
    def is_fair(self) -> bool:
        """Whether an attack slowed honest calls no more than it may, and not for longer."""
        return self.times(0.99) <= MOST_TIMES and self.recovery_seconds < MOST_RECOVERY_SECONDS

    def times(self, share: float) -> float:
        """Returns how many times as long calls took as without the attack."""
        return at(share, self.attacked) / at(share, self.quiet)

    def row(self, attack: str) -> str:
        """Returns a line of a table."""
        cells = [
            attack,
            f"{len(self.attacked)} calls",
            *(
                f"p{100 * share:.0f} {at(share, self.quiet) * 1000:.0f} -> "
                f"{at(share, self.attacked) * 1000:.0f} ms, {self.times(share):.2f} times"
                for share in (0.5, 0.99)
            ),
            f"{self.memory_kibibytes >> 10} MiB",
            f"recovered in {self.recovery_seconds:.1f} s",
        ]
        return f"| {' | '.join(cells)} |"


async def measured(attack: str, tokens: Path) -> Figures:
    """Measures honest calls during an attack, and when it leaves no trace."""
    async with AsyncExitStack() as stack:
        servers = [
            await stack.enter_async_context(program("tests.scale.edge_server", str(tokens)))
            for _ in range(2)
        ]
        addresses = [await address_of(server) for server in servers]
        pair = Pair(*addresses)
        async with program("tests.scale.edge_attacks", attack, addresses[0]) as attacker:
            await line_of(attacker)
            await asyncio.sleep(1.0)
            attacked, quiet = await pair.called(LEAST_CALLS, SECONDS)
            assert attacker.returncode is None
        return Figures(
            attacked=attacked,
            quiet=quiet,
            recovery_seconds=await pair.recovered(),
            memory_kibibytes=peak_kibibytes(servers[0]),
        )


@pytest.mark.promise(
    "While a client attacks the server in known ways, no call of others fails.", "Service"
)
@pytest.mark.timeout(600 + 3 * SECONDS)
@pytest.mark.parametrize("attack", ATTACKS)
async def test_holders_of_a_token_are_served_while_a_client_attacks(
    attack: str, tmp_path: Path
) -> None:
    tokens = tmp_path / "tokens"
    await asyncio.to_thread(tokens.write_text, "good\nother\n")
    figures = await measured(attack, tokens)
    print(figures.row(attack))  # noqa: T201  # the figures
    is_bodies = attack == "bodies"
    most = MOST_OF_BODIES_KIBIBYTES if is_bodies else MOST_MEMORY_KIBIBYTES
    assert figures.memory_kibibytes < most
    assert figures.is_fair or not SECONDS
