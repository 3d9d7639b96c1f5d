"""A sandbox without walls fails every check of a wall, so that none of them is a dud."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from reward_server.domain import (
    MEBIBYTE,
    CapturedStream,
    Ending,
    Execution,
    Job,
    Program,
    Termination,
    TerminationKind,
)
from reward_server.sandbox.local.cgroup import CgroupParent, SlotCgroup
from tests.conformance.suite import checks
from tests.conformance.suite.checks import PROMISES, WALLS, Check, a_program_reads_writes_and_exits
from tests.conformance.suite.host import inhabited
from tests.support.sampling import sampled

PATIENCE_SECONDS = 5.0


class WeakSandbox:
    """Runs a program as a plain child process, with the host's files, network and environment.

    A cgroup far above every job's limits keeps this machine from harm, and nothing else does.
    """

    def __init__(self, folder: Path, cgroup: SlotCgroup) -> None:
        self._folder = folder
        self._cgroup = cgroup
        cgroup.set_memory(1024 * MEBIBYTE)
        cgroup.set_processes(100)

    async def run(self, job: Job) -> Execution:
        assert isinstance(job.work, Program)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", job.work.source),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self._folder,
            close_fds=False,
            preexec_fn=self._join,
        )
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                out, err = await process.communicate(job.work.stdin)
        except TimeoutError:
            process.kill()
            out, err = await process.communicate()
        code = process.returncode or 0
        kind = TerminationKind.SIGNALED if code < 0 else TerminationKind.EXITED
        return Execution(
            ending=Ending.COMPLETED,
            termination=Termination(kind=kind, value=abs(code)),
            stdout=CapturedStream(data=out, size_bytes=len(out)),
            stderr=CapturedStream(data=err, size_bytes=len(err)),
        )

    async def close(self) -> None:
        self._cgroup.kill_all()
        self._cgroup.remove()

    def _join(self) -> None:
        for path in self._cgroup.procs_paths:
            with open(path, "w") as file:
                file.write("0")


@pytest.fixture
def cgroup() -> Iterator[SlotCgroup]:
    made = CgroupParent.detect().create("weak")
    yield made
    made.kill_all()
    made.remove()


@pytest.mark.promise("A sandbox without walls fails each check of a wall.", "Confinement")
@pytest.mark.parametrize("check", sampled(WALLS, 3), ids=lambda check: check.__name__)
async def test_a_sandbox_without_walls_fails(
    check: Check, cgroup: SlotCgroup, tmp_path: Path
) -> None:
    (tmp_path / "host").mkdir()
    (tmp_path / "work").mkdir()
    with inhabited(tmp_path / "host") as host, pytest.raises(AssertionError):
        await check(WeakSandbox(tmp_path / "work", cgroup), host)


async def test_a_sandbox_without_walls_still_runs_programs(
    cgroup: SlotCgroup, tmp_path: Path
) -> None:
    with inhabited(tmp_path) as host:
        await a_program_reads_writes_and_exits(WeakSandbox(tmp_path, cgroup), host)


def test_every_check_is_listed_once() -> None:
    names = [check.__name__ for check in (*WALLS, *PROMISES)]
    defined = [
        name
        for name, value in vars(checks).items()
        if asyncio.iscoroutinefunction(value)
        and value.__code__.co_varnames[:2] == ("sandbox", "host")
    ]
    assert sorted(names) == sorted(defined)
