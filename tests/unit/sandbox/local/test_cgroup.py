"""Real cgroups of this machine, whichever version it has."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from reward_server.errors import MissingWallError, SandboxError
from reward_server.sandbox.local.cgroup import CgroupParent, SlotCgroup, remove_stale
from reward_server.sandbox.owner import owner_id, owner_lives

MEBIBYTE = 1 << 20
JOIN = "import sys\nfor path in sys.argv[2:]: open(path, 'w').write('0')\nexec(sys.argv[1])"


@pytest.fixture
def parent() -> CgroupParent:
    return CgroupParent.detect()


@pytest.fixture
def slot(parent: CgroupParent) -> Iterator[SlotCgroup]:
    made = parent.create("test")
    yield made
    made.kill_all()
    made.remove()


def join_and_run(slot: SlotCgroup, code: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", JOIN, code, *slot.procs_paths],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def finish(process: subprocess.Popen[bytes]) -> int:
    process.communicate(timeout=30)
    return process.returncode


def field(text: str, name: str) -> int:
    return next(int(line.split()[1]) for line in text.splitlines() if line.split()[0] == name)


def read(descriptor: int) -> str:
    return os.pread(descriptor, 4096, 0).decode()


@pytest.fixture
def meter(slot: SlotCgroup) -> Iterator[Callable[[str], str]]:
    descriptors = slot.open_fds()
    yield lambda kind: next(read(fd) for key, fd in descriptors.items() if key.startswith(kind))
    for descriptor in descriptors.values():
        os.close(descriptor)


def test_a_memory_limit_can_be_raised_and_lowered_between_executions(slot: SlotCgroup) -> None:
    for limit, status in ((32, -signal.SIGKILL), (256, 0), (32, -signal.SIGKILL)):
        slot.set_memory(limit * MEBIBYTE)
        assert finish(join_and_run(slot, "x = bytearray(100 << 20)")) == status


def test_the_peak_of_memory_starts_anew_when_reset(slot: SlotCgroup) -> None:
    descriptors = slot.open_fds()
    try:
        peaks = [fd for key, fd in descriptors.items() if key.startswith("memory_peak")]
        if slot.version == 2 and not peaks:
            return  # before Linux 6.12: no peak is offered rather than a wrong one
        assert finish(join_and_run(slot, "x = bytearray(40 << 20)")) == 0
        assert int(read(peaks[0])) > 40 * MEBIBYTE
        os.pwrite(peaks[0], b"0", 0)
        assert int(read(peaks[0])) < 20 * MEBIBYTE
    finally:
        for descriptor in descriptors.values():
            os.close(descriptor)


def test_everything_the_zygote_reads_is_opened(slot: SlotCgroup) -> None:
    descriptors = slot.open_fds()
    for descriptor in descriptors.values():
        assert not os.get_inheritable(descriptor)
        os.close(descriptor)
    expected = {"memory_current", "pids_events"}
    expected |= {f"{name}_v{slot.version}" for name in ("cpu", "memory_events")}
    assert expected <= set(descriptors) <= expected | {f"memory_peak_v{slot.version}"}


def test_removing_waits_for_the_killed_to_be_gone(parent: CgroupParent) -> None:
    slot = parent.create("removed")
    code = "x = bytearray(64 << 20)\nprint(flush=True)\nwhile True: pass"
    process = join_and_run(slot, code)
    assert process.stdout is not None
    process.stdout.readline()
    slot.kill_all()
    slot.remove()
    process.communicate(timeout=30)
    assert not any(path.exists() for path in slot.directories.values())


def test_a_slot_is_made_once(parent: CgroupParent, slot: SlotCgroup) -> None:
    with pytest.raises(SandboxError, match="File exists"):
        parent.create("test")


def test_a_living_owner_is_told_from_a_dead_one() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    name = owner_id(process.pid)
    assert owner_lives(name)
    assert owner_lives(owner_id())
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not owner_lives(name)  # a zombie
    process.communicate()
    assert not owner_lives(name)


def test_a_process_number_used_again_is_another_owner() -> None:
    namespace, pid, start = owner_id().split(".")
    assert not owner_lives(f"{namespace}.{pid}.{int(start) + 1}")


def test_an_owner_of_another_pid_namespace_is_not_ours_to_judge() -> None:
    assert owner_lives("1.1.1")


@pytest.mark.parametrize("name", ["", "server", ".", "..", "x.y.z"])
def test_a_name_that_is_no_owner_is_left_alone_or_dead(name: str) -> None:
    namespace = owner_id().split(".")[0]
    assert owner_lives(name)
    assert not owner_lives(f"{namespace}.{name}")


def dead_owner() -> str:
    process = subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.PIPE)
    name = owner_id(process.pid)
    process.communicate()
    return name


def test_what_a_dead_server_left_is_killed_and_removed(parent: CgroupParent) -> None:
    left = CgroupParent(
        version=parent.version, directories=parent.directories, absent={}, owner=dead_owner()
    ).create("slot")
    process = join_and_run(left, "print(flush=True)\nimport time\ntime.sleep(60)")
    assert process.stdout is not None
    process.stdout.readline()
    alive = parent.create("alive")
    try:
        removed = remove_stale(parent)
        assert set(removed) >= {str(path) for path in left.directories.values()}
        assert finish(process) == -signal.SIGKILL
        assert all(path.exists() for path in alive.directories.values())
    finally:
        alive.remove()


def test_detecting_twice_gives_the_same_place() -> None:
    assert CgroupParent.detect() == CgroupParent.detect()


def test_a_parent_that_does_not_exist_is_refused_with_its_remedy() -> None:
    with pytest.raises(MissingWallError, match=r"not a cgroup here.*--set cgroup_parent") as caught:
        CgroupParent.detect("/no-such-cgroup")
    names = {name for name, _ in caught.value.missing}
    assert names == {"memory-limit", "process-limit", "cpu-limit"}


def test_walls_that_may_be_missing_leave_limits_unset() -> None:
    allowed = frozenset({"memory-limit", "process-limit", "cpu-limit"})
    found = CgroupParent.detect("/no-such-cgroup", allow_missing=allowed)
    slot = found.create("weak")
    slot.set_memory(1)
    slot.set_processes(1)
    slot.set_cpu(1)
    assert (slot.procs_paths, slot.open_fds()) == ((), {})
    slot.kill_all()
    slot.remove()


def test_the_prefixes_are_the_beginning_of_every_path(parent: CgroupParent) -> None:
    slot = parent.create("prefixed")
    slot.remove()
    paths = {str(path) for path in slot.directories.values()}
    assert len(parent.prefixes) == len(paths)
    assert all(any(path.startswith(prefix) for path in paths) for prefix in parent.prefixes)


def test_a_cgroup_that_stays_busy_is_reported(slot: SlotCgroup) -> None:
    process = join_and_run(slot, "print(flush=True)\nimport time\ntime.sleep(60)")
    assert process.stdout is not None
    process.stdout.readline()
    with pytest.raises(SandboxError, match="cannot remove"):
        slot.remove(seconds=0.05)
    slot.kill_all()
    process.communicate(timeout=30)
