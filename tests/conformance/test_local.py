"""The local sandbox, with the rights that the tests run with (root, in continuous integration)."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from reward_server.domain import Ending, Job, Limits, Program
from reward_server.errors import SandboxError
from reward_server.sandbox.base import Sandbox
from reward_server.sandbox.local.cgroup import CgroupParent, owner_id
from reward_server.sandbox.local.container import LocalOptions, start_local
from reward_server.sandbox.local.janitor import OUR_PREFIX
from tests.conformance.suite import checks
from tests.conformance.suite.checks import CHECKS, Check, judge, judgement, output_of, run
from tests.conformance.suite.conversations import CONVERSATIONS
from tests.conformance.suite.executables import EXECUTABLES
from tests.conformance.suite.host import Host, inhabited, processes_marked
from tests.conformance.suite.reach import REACH
from tests.conformance.suite.shelf import Shelf
from tests.conformance.suite.two_programs import TWO_PROGRAMS

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    with inhabited(tmp_path_factory.mktemp("host")) as made:
        yield made


def shelf_of(name: str) -> Shelf:
    return Shelf(lambda: start_local(0, LocalOptions(), CgroupParent.detect(), name))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shelf(host: Host) -> AsyncIterator[Shelf]:
    made = shelf_of("conformance")
    yield made
    await made.clear()


@pytest.mark.promise(
    "Local sandboxes, containers of runc, and runners at sockets pass the conformance suite.",
    "Confinement",
)
@pytest.mark.parametrize(
    "check",
    [*CHECKS, *EXECUTABLES, *TWO_PROGRAMS, *CONVERSATIONS, *REACH],
    ids=lambda check: check.__name__,
)
async def test_the_local_sandbox_keeps(check: Check, shelf: Shelf, host: Host) -> None:
    await shelf.pass_check(check, host)


@pytest.mark.promise("A fork or memory bomb changes no verdict of a neighbour.", "Confinement")
async def test_a_neighbours_bombs_do_not_change_a_verdict(shelf: Shelf, host: Host) -> None:
    """One sandbox runs what hits limits while another runs honest work."""
    neighbour = shelf_of("neighbour")
    bombs = (
        checks.memory_is_bounded,
        checks.processes_are_bounded,
        checks.output_is_bounded,
        checks.the_disk_is_bounded,
        checks.processor_time_is_bounded,
    )

    async def drop(sandbox: Sandbox) -> None:
        for bomb in bombs:
            await bomb(sandbox, host)

    honest = judgement("def f(n): return sum(range(n))", "assert f(1000) == 499500")
    dropping = asyncio.create_task(drop(await neighbour.take()))
    judged = 0
    try:
        while not dropping.done():
            execution = await judge(await shelf.take(), honest)
            assert execution.ending is Ending.COMPLETED
            judged += 1
        await dropping
    finally:
        await neighbour.clear()
    assert judged >= 3


async def started(sandbox: Sandbox, marker: str) -> asyncio.Task[object]:
    """Starts a program that shows itself on its command line, and waits until it does."""
    source = f"import os; os.execv('/usr/bin/sleep', [{marker!r}, '20'])"
    task: asyncio.Task[object] = asyncio.create_task(run(sandbox, source))
    while not processes_marked(marker):
        assert not task.done()
        await asyncio.sleep(0.01)
    return task


async def test_cancelling_kills_and_leaves_the_sandbox_fit(shelf: Shelf, host: Host) -> None:
    sandbox = await shelf.take()
    marker = f"cancelled-{host.secret}"
    task = await started(sandbox, marker)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert processes_marked(marker) == []
    assert await output_of(sandbox, "print('alive')") == "alive\n"


async def test_closing_kills_the_job_and_removes_the_cgroups(host: Host) -> None:
    shelf = shelf_of("closing")
    sandbox = await shelf.take()
    marker = f"closed-{host.secret}"
    task = await started(sandbox, marker)
    await shelf.clear()
    with pytest.raises(SandboxError):
        await task
    assert processes_marked(marker) == []
    assert cgroups_named("closing") == []


def cgroups_named(name: str) -> list[Path]:
    return [
        path
        for place in set(CgroupParent.detect().directories.values())
        for path in place.glob(f"{OUR_PREFIX}{owner_id()}-*.{name}*")
    ]


async def test_a_dead_runner_is_a_failure_of_ours(host: Host) -> None:
    shelf = shelf_of("killed")
    sandbox = await shelf.take()
    marker = f"killed-{host.secret}"
    task = await started(sandbox, marker)
    sandbox._container._process.kill()
    with pytest.raises(SandboxError, match="the sandbox failed"):
        await task
    await shelf.clear()
    assert processes_marked(marker) == []


async def test_a_start_that_is_cancelled_leaves_nothing() -> None:
    task = asyncio.create_task(shelf_of("unborn").take())
    while not cgroups_named("unborn"):
        assert not task.done()
        await asyncio.sleep(0)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    assert cgroups_named("unborn") == []


async def test_a_job_with_other_limits_than_the_last_gets_its_own(shelf: Shelf) -> None:
    sandbox = await shelf.take()
    work = Program(source="bytearray(100 << 20)")
    endings = []
    for mebibytes in (64, 256, 64):
        limits = Limits(memory_bytes=mebibytes << 20)
        endings.append((await sandbox.run(Job(work=work, limits=limits))).ending)
    assert endings == [Ending.LIMIT, Ending.COMPLETED, Ending.LIMIT]


@pytest.fixture
def package_below_tmp() -> Iterator[str]:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        Path(folder, "found_there.py").write_text("VALUE = 7")
        yield folder


async def test_packages_are_found_wherever_they_lie_on_the_host(
    package_below_tmp: str, tmp_path: Path
) -> None:
    """The folder for temporary files is a program's own in the sandbox."""
    options = LocalOptions(packages=(package_below_tmp, str(tmp_path)))
    shelf = Shelf(lambda: start_local(0, options, CgroupParent.detect(), "packages"))
    try:
        source = "import found_there, os; print(found_there.VALUE, os.listdir('/tmp'))"
        assert await output_of(await shelf.take(), source) == "7 []\n"
    finally:
        await shelf.clear()
