"""A server refuses a host without a wall, and works without it once somebody accepts the risk."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest

from reward_server.backends import running_backend
from reward_server.domain import Ending, Execution, Job, LimitKind, Limits, Program
from reward_server.errors import MissingWallError, SandboxError
from reward_server.executor import Executor
from reward_server.sandbox.local import container
from reward_server.sandbox.local.cgroup import WALLS
from reward_server.sandbox.local.container import LocalOptions, start_local
from reward_server.sandbox.runner_sandbox import ContainedSandbox
from reward_server.settings import Settings, load_settings

NO_CGROUPS = "/no-such-cgroup"


def settings(*allow_missing: str) -> Settings:
    given = {"workers": 1, "cgroup_parent": NO_CGROUPS, "allow_missing": ",".join(allow_missing)}
    return load_settings(given)


async def run(executor: Executor, source: str, **limits: float) -> Execution:
    job = Job(work=Program(source=source), limits=dataclasses.replace(Limits(), **limits))
    return await executor.run(job)


async def start(settings: Settings) -> None:
    async with running_backend(settings):
        pass


@pytest.mark.parametrize("allowed", [(), ("memory-limit",), ("memory-limit", "cpu-limit")])
async def test_a_host_without_cgroups_is_refused(allowed: tuple[str, ...]) -> None:
    with pytest.raises(MissingWallError, match=r"process-limit: .*cgroup_parent") as caught:
        await start(settings(*allowed))
    assert {name for name, _ in caught.value.missing} == set(WALLS) - set(allowed)


async def test_without_cgroups_programs_run_and_clocks_still_end_them() -> None:
    async with running_backend(settings(*WALLS)) as backend:
        executor = backend.executor
        execution = await run(executor, "print(1)")
        assert (execution.ending, execution.stdout.data) == (Ending.COMPLETED, b"1\n")
        assert execution.usage.cpu_time_seconds > 0
        assert execution.usage.peak_memory_bytes > 0
        busy = await run(executor, "while True: pass", cpu_time_seconds=0.5)
        assert (busy.ending, busy.limits_hit) == (Ending.LIMIT, (LimitKind.CPU_TIME,))
        asleep = await run(executor, "import time; time.sleep(60)", wall_time_seconds=1.0)
        assert asleep.limits_hit == (LimitKind.WALL_TIME,)


@pytest.fixture
def forbidden_proc(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[LocalOptions]]:
    """A host on which no container with a /proc of its own comes up."""
    tried: list[LocalOptions] = []
    really_start = start_local

    async def refuse(
        slot: int, options: LocalOptions, parent: object, name: str
    ) -> ContainedSandbox:
        tried.append(options)
        if options.private_proc:
            raise SandboxError("the sandbox did not start: mount /proc: not permitted")
        return await really_start(slot, options, parent, name)  # type: ignore[arg-type]  # handed on

    monkeypatch.setattr(container, "start_local", refuse)
    return tried


async def test_without_a_private_proc_other_processes_still_cannot_be_looked_into(
    forbidden_proc: list[LocalOptions],
) -> None:
    with pytest.raises(MissingWallError, match=r"private-proc: .*mount /proc: not permitted"):
        await start(Settings(workers=1))
    source = """
import os
status = open('/proc/self/status').read().split()
# Process 1 of the execution has the program's memory and rights, and nothing else.
mine = (os.readlink('/proc/self'), status[status.index('PPid:') + 1])
names = [name for name in os.listdir('/proc') if name.isdecimal() and name not in mine]
print(len(names))
for name in names:
    for part in ('mem', 'maps', 'environ', 'fd/0', 'root/etc', 'cwd/x'):
        try: os.close(os.open(f'/proc/{name}/{part}', os.O_RDONLY))
        except OSError: continue
        print('read', name, part)
"""
    async with running_backend(Settings(workers=1, allow_missing=("private-proc",))) as backend:
        execution = await run(backend.executor, source)
    assert execution.ending is Ending.COMPLETED
    count, *found = execution.stdout.data.decode().splitlines()
    assert int(count) >= 2  # the machinery's processes are seen, which is why this is a wall
    assert found == []
    assert not forbidden_proc[-1].private_proc
