"""What fails on our side, at whatever step, leaves nothing, and is over when its cause is."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import resource
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from reward_server.domain import Ending, Execution, Job, Limits, Program
from reward_server.errors import SandboxError
from reward_server.sandbox.local import container
from reward_server.sandbox.local.cgroup import CgroupParent, SlotCgroup, owner_id
from reward_server.sandbox.local.container import LocalOptions, LocalSandboxes
from reward_server.sandbox.local.janitor import OUR_PREFIX
from reward_server.sandbox.pool import Pool
from reward_server.sandbox.retries import RetryingExecutor
from tests.conformance.suite.checks import judgement, output_of, run
from tests.support.sampling import sampled

FEWEST_SPARE_FILES, MOST_SPARE_FILES = 0, 40


@pytest.fixture
def parent() -> CgroupParent:
    return CgroupParent.detect()


def cgroups() -> list[str]:
    places = set(CgroupParent.detect().directories.values())
    found = (path for place in places for path in place.glob(f"{OUR_PREFIX}{owner_id()}-*"))
    return sorted(path.name for path in found)


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def children() -> list[str]:
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()


class Host:
    """What this process has, to be no more afterwards: what was ending before may be gone."""

    def __init__(self) -> None:
        self._cgroups, self._open_files, self._children = cgroups(), open_files(), children()

    def added_children(self) -> set[str]:
        return set(children()) - set(self._children)

    def _added(self) -> tuple[set[str], int, set[str]]:
        more = max(0, open_files() - self._open_files)
        return set(cgroups()) - set(self._cgroups), more, self.added_children()

    async def assert_unchanged(self) -> None:
        for _ in range(100):
            if not any(self._added()):
                return
            await asyncio.sleep(0.02)  # the loop closes pipes, and reaps, in its own time
        assert not any(self._added()), self._added()


STEPS: list[tuple[object, str]] = [
    *((SlotCgroup, name) for name in ("set_memory", "set_processes", "set_cpu", "open_fds")),
    *((container, name) for name in ("_memory_file", "views", "bubblewrap_path", "runner_command")),
    (os, "memfd_create"),
    (Path, "mkdir"),
    (asyncio, "create_subprocess_exec"),
]
NUMBERS = (errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.ENOMEM, errno.EAGAIN)


def failing_at(
    monkeypatch: pytest.MonkeyPatch, owner: object, name: str, *, call: int, number: int
) -> None:
    """Has one call of a function fail as the kernel would."""
    real: Callable[..., Any] = getattr(owner, name)
    calls = iter(range(1, 1000))

    def failing(*arguments: Any, **named: Any) -> Any:
        if next(calls) == call:
            raise OSError(number, os.strerror(number))
        return real(*arguments, **named)

    monkeypatch.setattr(owner, name, failing)


@pytest.mark.parametrize(
    ("owner", "name", "call"),
    sampled([(owner, name, call) for owner, name in STEPS for call in (1, 2, 3)], 5),
    ids=lambda one: getattr(one, "__name__", one),
)
async def test_a_start_that_fails_at_a_step_leaves_nothing_and_the_next_works(
    parent: CgroupParent, monkeypatch: pytest.MonkeyPatch, owner: object, name: str, call: int
) -> None:
    start = LocalSandboxes(LocalOptions(), parent)
    host = Host()
    with monkeypatch.context() as patch:
        failing_at(patch, owner, name, call=call, number=NUMBERS[call % len(NUMBERS)])
        with contextlib.suppress(SandboxError, OSError):
            await (await start(0)).close()
    await host.assert_unchanged()
    sandbox = await start(0)
    await sandbox.close()
    await host.assert_unchanged()


@contextlib.contextmanager
def few_files(spare: int) -> Iterator[None]:
    """Lets this process open no more than some files on top of those that it has."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(map(int, os.listdir("/proc/self/fd")))
    taken = [os.open("/dev/null", os.O_RDONLY) for _ in range(highest + 1 - open_files())]
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 1 + spare, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for descriptor in taken:
            os.close(descriptor)


async def test_a_full_table_of_files_at_each_step_leaves_nothing(parent: CgroupParent) -> None:
    start = LocalSandboxes(LocalOptions(), parent)
    await (await start(0)).close()
    host = Host()
    failed = 0
    for spare in range(FEWEST_SPARE_FILES, MOST_SPARE_FILES, 3):
        try:
            with few_files(spare):
                sandbox = await start(0)
        except (SandboxError, OSError):
            failed += 1
        else:
            await sandbox.close()
            break
    assert failed >= 3
    await (await start(0)).close()
    await host.assert_unchanged()


async def test_a_pool_recovers_when_the_table_has_room_again(parent: CgroupParent) -> None:
    works: list[bool] = []
    pool = Pool(LocalSandboxes(LocalOptions(), parent), slots=1, spares=0, tell_works=works.append)
    host = Host()
    await pool.start()
    try:
        with few_files(6):
            for pid in host.added_children():
                os.kill(int(pid), signal.SIGKILL)
            with contextlib.suppress(SandboxError):
                await pool.run(Job(work=Program(source="print(1)")))
        execution = await told(pool)
        assert execution.stdout.data == b"1\n"
    finally:
        await pool.close()
    await host.assert_unchanged()


async def told(pool: Pool) -> Execution:
    while True:
        with contextlib.suppress(SandboxError):
            return await pool.run(Job(work=Program(source="print(1)")))
        await asyncio.sleep(0.1)


async def test_what_could_not_be_removed_is_removed_later(
    parent: CgroupParent, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = Host()
    slot = parent.create("stuck")
    with monkeypatch.context() as patch:
        for call in (1, 2):
            failing_at(patch, SlotCgroup, "remove", call=1, number=errno.EMFILE)
            parent.remove([slot] if call == 1 else [])
            assert list(parent.left) == [slot]
    parent.remove([])
    assert not parent.left
    await host.assert_unchanged()


async def test_a_cgroup_that_is_left_of_a_slot_does_not_stop_the_slots_next(
    parent: CgroupParent,
) -> None:
    start = LocalSandboxes(LocalOptions(), parent)
    leftovers = [parent.create(f"0.{part}") for part in ("supervisor", "candidate")]
    try:
        await (await start(0)).close()
    finally:
        parent.remove(leftovers)


# ----------------------------------------------------------------- the loop, and what is left


async def test_limits_are_set_off_the_event_loop(
    parent: CgroupParent, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = await LocalSandboxes(LocalOptions(), parent)(0)
    threads = set()
    real = SlotCgroup.set_memory

    def noting(self: SlotCgroup, limit_bytes: int) -> None:
        threads.add(threading.current_thread())
        real(self, limit_bytes)

    monkeypatch.setattr(SlotCgroup, "set_memory", noting)
    try:
        for mebibytes in (64, 65):
            limits = Limits(memory_bytes=mebibytes << 20)
            await sandbox.run(Job(work=Program(source=""), limits=limits))
    finally:
        await sandbox.close()
    assert threads
    assert threading.main_thread() not in threads


async def test_no_file_of_a_cgroup_is_touched_in_the_event_loop(
    parent: CgroupParent, monkeypatch: pytest.MonkeyPatch
) -> None:
    touched = []
    for name in ("set_memory", "set_processes", "set_cpu", "open_fds", "kill_all", "remove"):
        real = getattr(SlotCgroup, name)

        def noting(*arguments: Any, real: Callable[..., Any] = real, name: str = name) -> Any:
            if threading.current_thread() is threading.main_thread():
                touched.append(name)
            return real(*arguments)

        monkeypatch.setattr(SlotCgroup, name, noting)
    sandbox = await LocalSandboxes(LocalOptions(), parent)(0)
    await output_of(sandbox, "print(1)")
    await sandbox.close()
    assert touched == []


NAMES = """
import os
for number in range(400_000): os.path.exists(f'/usr/lib/none-{number}')
"""


async def test_what_an_execution_leaves_is_no_memory_of_the_next(parent: CgroupParent) -> None:
    sandbox = await LocalSandboxes(LocalOptions(), parent)(0)
    try:
        limits = Limits(cpu_time_seconds=60, wall_time_seconds=60)
        first = await sandbox.run(Job(work=Program(source=NAMES), limits=limits))
        assert first.ending is Ending.COMPLETED, first
        assert first.usage.peak_memory_bytes > 40 << 20
        assert not sandbox.is_alive
        second = await sandbox.run(Job(work=Program(source="print(1)")))
        assert second.usage.peak_memory_bytes < 32 << 20
    finally:
        await sandbox.close()


async def test_an_honest_program_leaves_its_container_fit(parent: CgroupParent) -> None:
    sandbox = await LocalSandboxes(LocalOptions(), parent)(0)
    try:
        for source in (
            "print(1)",
            "bytearray(200 << 20)",
            "open('f', 'wb').write(bytes(50 << 20))",
        ):
            await output_of(sandbox, source)
            assert sandbox.is_alive, source
    finally:
        await sandbox.close()


@pytest.fixture
def signals_of_a_background_job() -> Iterator[tuple[signal.Signals, ...]]:
    """Ignores and blocks signals, as a shell's `&` and `nohup` do, and gives them."""
    ignored = (signal.SIGQUIT, signal.SIGHUP, signal.SIGUSR1)
    before = {number: signal.signal(number, signal.SIG_IGN) for number in ignored}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM,))
    yield (*ignored, signal.SIGTERM)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    for number, handler in before.items():
        signal.signal(number, handler)


async def test_a_signal_that_the_server_does_not_heed_ends_a_program(
    parent: CgroupParent, signals_of_a_background_job: tuple[signal.Signals, ...]
) -> None:
    sandbox = await LocalSandboxes(LocalOptions(), parent)(0)
    try:
        for number in signals_of_a_background_job:
            source = f"import os, time\nos.kill(os.getpid(), {number:d})\ntime.sleep(1)"
            assert (await run(sandbox, source)).ending is Ending.CRASHED, number
    finally:
        await sandbox.close()


# ------------------------------------------------------------------------- killed from outside


def processes_of(part: str) -> list[tuple[int, int, bytes]]:
    """Returns depth in namespaces, number and command line of the processes of control groups."""
    folders = set(CgroupParent.detect().directories.values())
    groups = [path for one in folders for path in one.glob(f"{OUR_PREFIX}{owner_id()}-*.{part}")]
    pids = {pid for path in groups for pid in (path / "cgroup.procs").read_text().split()}
    return sorted(map(process, map(int, pids)))


def process(pid: int) -> tuple[int, int, bytes]:
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("NSpid:"))
    return len(line.split()), pid, Path(f"/proc/{pid}/cmdline").read_bytes()


def candidate() -> int:
    return processes_of("candidate")[-1][1]


def judge() -> int:
    return processes_of("supervisor")[-1][1]


def judge_server() -> int:
    return next(pid for _, pid, command in processes_of("supervisor") if b"--judges" in command)


def zygote() -> int:
    running = processes_of("supervisor")
    runner = [one for one in running if b"/start.py" in one[2] and b"bwrap" not in one[2]]
    return next(pid for _, pid, command in runner if b"--judges" not in command)


@pytest.mark.parametrize(
    ("victim", "most_kills", "ending"),
    [
        (judge, 1, Ending.COMPLETED),
        (judge_server, 1, Ending.COMPLETED),
        (zygote, 1, Ending.COMPLETED),
        (candidate, 1, Ending.COMPLETED),
        (candidate, 9, Ending.CRASHED),
    ],
)
async def test_one_kill_from_outside_costs_nothing_and_kills_without_end_buy_no_run_without_end(
    parent: CgroupParent, victim: Callable[[], int], most_kills: int, ending: Ending
) -> None:
    host = Host()
    pool = Pool(LocalSandboxes(LocalOptions(), parent), slots=1, spares=0)
    await pool.start()
    seconds = 3 if ending is Ending.COMPLETED else 15  # no run ends before it is killed
    source = f"import time\ndef f(x): time.sleep({seconds}); return x"
    job = Job(work=judgement(source, "assert f(1) == 1"))
    try:
        running = asyncio.ensure_future(RetryingExecutor(pool).run(job))
        kills = 0
        while not running.done() and kills < most_kills:
            await asyncio.sleep(1.2)
            with contextlib.suppress(OSError, LookupError, StopIteration):
                os.kill(victim(), signal.SIGKILL)
                kills += 1
        execution = await running
    finally:
        await pool.close()
    assert execution.ending is ending, execution
    await host.assert_unchanged()


@pytest.mark.parametrize("victim", [judge_server, zygote])
async def test_a_container_that_lost_a_process_of_the_runners_while_idle_is_replaced(
    parent: CgroupParent, victim: Callable[[], int]
) -> None:
    host = Host()
    pool = Pool(LocalSandboxes(LocalOptions(), parent), slots=1, spares=0)
    await pool.start()
    try:
        os.kill(victim(), signal.SIGKILL)
        for _ in range(3):
            job = Job(work=judgement("def f(x): return x", "import os\nassert f(1) == 1"))
            assert (await RetryingExecutor(pool).run(job)).ending is Ending.COMPLETED
    finally:
        await pool.close()
    await host.assert_unchanged()
