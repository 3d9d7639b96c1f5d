"""CPUs and control groups of several processes over real sandboxes, and what is left of the killed.

The control groups are those that this machine has; `scripts/test_on_cgroup2.sh` runs the same on a
kernel with version 2 alone.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from codereward.v1 import reward_service_pb2 as pb
from reward_server.sandbox.local.cgroup import CgroupParent
from reward_server.sandbox.local.janitor import OUR_PREFIX
from reward_server.sandbox.owner import owner_id
from tests.conformance.suite.host import processes_marked
from tests.rpc.processes.serving import Served, lives, reached, serving, until

AFFINITY = "import os; print(sorted(os.sched_getaffinity(0)))"


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    """Two processes, each with CPUs of its own where there are two."""
    own = len(os.sched_getaffinity(0)) > 1
    async with serving(*(("--set", "process_cpus=own") if own else ())) as running:
        yield running


def addresses(served: Served) -> list[str]:
    return [f"127.0.0.1:{one['port']}" for one in served[1]["processes"]]


def pids(served: Served) -> list[int]:
    return [one["pid"] for one in served[1]["processes"]]


def cgroups_of(owner: str) -> list[Path]:
    places = set(CgroupParent.look(None).directories.values())
    return [path for place in places for path in place.glob(f"{OUR_PREFIX}{owner}-*")]


def cgroups_with(pid: int) -> str:
    return Path(f"/proc/{pid}/cgroup").read_text()


def children_of(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


async def output(address: str, source: str) -> str:
    async with reached(address) as stub:
        request = pb.ExecuteRequest(language="python", source=source)
        return (await stub.Execute(request)).stdout.data.decode()


@asynccontextmanager
async def program_in(address: str) -> AsyncIterator[str]:
    """Runs a program that shows itself on its command line; yields what it shows."""
    marker = f"marked-{secrets.token_hex(8)}"
    source = f"import os; os.execv('/usr/bin/sleep', [{marker!r}, '20'])"
    call = asyncio.create_task(output(address, source))

    async def runs() -> bool:
        assert not call.done()
        return bool(processes_marked(marker))

    await until(runs)
    try:
        yield marker
    finally:
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)


async def test_each_process_and_its_programs_keep_to_their_cpus_and_cgroups(served: Served) -> None:
    allowed = [os.sched_getaffinity(pid) for pid in pids(served)]
    if len(os.sched_getaffinity(0)) > 1:
        assert allowed[0].isdisjoint(allowed[1])
    assert allowed[0] | allowed[1] == os.sched_getaffinity(0)
    for address, cpus in zip(addresses(served), allowed, strict=True):
        assert await output(address, AFFINITY) == f"{sorted(cpus)}\n"
    owners = [owner_id(pid) for pid in pids(served)]
    assert all(cgroups_of(owner) for owner in owners)
    for address, owner in zip(addresses(served), owners, strict=True):
        async with program_in(address) as marker:
            [sleeper] = processes_marked(marker)
            assert f"{OUR_PREFIX}{owner}-" in cgroups_with(sleeper)


async def test_neither_a_killed_process_nor_a_killed_parent_leaves_anything(
    served: Served,
) -> None:
    killed, other = pids(served)
    owners = [owner_id(killed), owner_id(other)]
    first, second = addresses(served)
    async with program_in(first) as program, program_in(second) as another:
        os.kill(killed, signal.SIGKILL)

        async def nothing_is_left_of_one() -> bool:
            return not processes_marked(program) and not cgroups_of(owners[0])

        await until(nothing_is_left_of_one)
        assert lives(other)
        assert cgroups_of(owners[1])
        assert processes_marked(another)
        children = children_of(served[0].pid)  # the one that is started again among them
        owners = [owner_id(child) for child in children]
        served[0].kill()

        async def nothing_is_left() -> bool:
            left = [path for owner in owners for path in cgroups_of(owner)]
            return not left and not processes_marked(another) and not any(map(lives, children))

        await until(nothing_is_left)
