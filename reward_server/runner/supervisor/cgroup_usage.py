"""Reads the candidate's cgroup usage, through descriptors opened before the walls were built.

The server names the descriptors on the command line by format: `cpu_v1` (cpuacct.usage), `cpu_v2`
(cpu.stat), `memory_peak_v1` (memory.max_usage_in_bytes), `memory_peak_v2` (memory.peak),
`memory_events_v1` (memory.oom_control), `memory_events_v2` (memory.events), `pids_events`. If the
server could not make a cgroup (a waived wall), there are no descriptors and the figures are 0.

In a container that an engine made, the cgroup is the container's own (`find_own`). It also counts
the zygote, the fork server and the judge, and nothing in it can be reset from inside. If that
container runs under gVisor, which is a separate kernel, the zygote makes a cgroup there
(`make_own`). It limits the processes and counts the CPU time of the candidate alone. Its figure for
memory is that of the whole container.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import NamedTuple

from ..walls import kernel, policy

_READ_BYTES = 4096
_EMPTY_SECONDS = 10.0
_EMPTY_LOOK_SECONDS = 0.001
_SENTRY_MEMORY = "/proc/sentry-meminfo"
_SANDBOX_CONTROLLERS = "cpuacct,pids"
_SANDBOX_FILES = (
    ("cpu_v1", "cpuacct.usage"),
    ("pids_current", "pids.current"),
)
_OWN_FIGURES = 5
_OWN_FILES = (
    ("cpu_v1", "/sys/fs/cgroup/cpuacct/cpuacct.usage"),
    ("memory_events_v1", "/sys/fs/cgroup/memory/memory.oom_control"),
    ("memory_usage", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ("pids_events", "/sys/fs/cgroup/pids/pids.events"),
    ("pids_max", "/sys/fs/cgroup/pids/pids.max"),
    ("cpu_v2", "/sys/fs/cgroup/cpu.stat"),
    ("memory_events_v2", "/sys/fs/cgroup/memory.events"),
    ("memory_usage", "/sys/fs/cgroup/memory.current"),
    ("pids_events", "/sys/fs/cgroup/pids.events"),
    ("pids_max", "/sys/fs/cgroup/pids.max"),
)
_MACHINERY_PROCESSES = 3  # the zygote, the fork server and the judge


class Reading(NamedTuple):
    """Counters at one moment, since the cgroup was made."""

    oom_kills: int
    process_limit_hits: int


def find_own() -> SharedCgroupUsage:
    """Finds the cgroup of this container.

    Raises:
        FileNotFoundError: the container does not show its cgroup's files.
    """
    found = {key: os.open(path, os.O_RDONLY) for key, path in _OWN_FILES if os.path.exists(path)}
    if len(found) < _OWN_FIGURES:
        raise FileNotFoundError("the container's control group is not at /sys/fs/cgroup")
    return SharedCgroupUsage(found)


def make_own() -> tuple[SandboxKernelUsage, int]:
    """Makes a cgroup for candidates, as root of gVisor.

    One hierarchy has all controllers: if a process is in several, gVisor asks one of them, picked
    at random, whether the process may have a child. A kernel has one such hierarchy for all of its
    containers, so each zygote takes a name of its own in it.

    Returns:
        Its usage, and a descriptor to which a process writes 0 to enter it.

    Raises:
        OSError: this kernel has no cgroups, or this process is not its root.
    """
    hierarchy = f"{policy.STAGE}/cgroup"
    os.mkdir(hierarchy)
    kernel.mount("none", hierarchy, "cgroup", 0, _SANDBOX_CONTROLLERS)
    os.chmod(hierarchy, 0o755)
    group = f"{hierarchy}/candidate-{os.urandom(8).hex()}"
    os.mkdir(group)
    found = {key: os.open(f"{group}/{name}", os.O_RDONLY) for key, name in _SANDBOX_FILES}
    found["sentry"] = os.open(_SENTRY_MEMORY, os.O_RDONLY)
    found["pids_max"] = os.open(f"{group}/pids.max", os.O_WRONLY)
    return SandboxKernelUsage(found), os.open(f"{group}/cgroup.procs", os.O_WRONLY)


def _field(text: bytes, name: bytes) -> int:
    for line in text.splitlines():
        key, _, value = line.partition(b" ")
        if key == name:
            return int(value)
    return 0


class CgroupUsage:
    """Reads one cgroup.

    Attributes:
        counts_machinery: whether CPU time and memory include the runner's.
        polls_memory: whether the zygote has to check the memory, because no limit is set.
    """

    counts_machinery = False
    polls_memory = False

    def __init__(self, descriptors: Mapping[str, int]) -> None:
        self._descriptors = dict(descriptors)

    @property
    def descriptors(self) -> tuple[int, ...]:
        """The descriptors that it reads."""
        return tuple(self._descriptors.values())

    def _read(self, name: str) -> bytes:
        descriptor = self._descriptors.get(name)
        return b"" if descriptor is None else os.pread(descriptor, _READ_BYTES, 0)

    def limit_processes(self, processes: int) -> None:
        """Limits the next execution's processes, if the server has not."""

    def user_processes(self, processes: int) -> int:
        """Returns how many processes the candidate's user may have, by the kernel's count per user.

        The kernel counts a fork for the user when it begins and for the cgroup when it ends. Each
        process may be in a fork, so a user limit below twice the cgroup's would refuse a fork
        first, and the kernel does not report that refusal.

        Args:
            processes: how many the next execution may have.
        """
        at_forks = processes if self._refuses_beyond(processes) else 0
        return processes + at_forks + policy.PROCESS_MARGIN

    def _refuses_beyond(self, processes: int) -> bool:
        return "pids_events" in self._descriptors  # in a cgroup that the server limits

    def await_empty(self) -> None:
        """Waits until the last execution's processes are gone, if its end does not imply that."""

    def cpu_time_ns(self) -> int:
        """Returns the CPU time of all processes, dead ones included."""
        if "cpu_v1" in self._descriptors:
            return int(self._read("cpu_v1"))
        return _field(self._read("cpu_v2"), b"usage_usec") * 1000

    def reading(self) -> Reading:
        """Returns the counters."""
        events = self._read("memory_events_v1") or self._read("memory_events_v2")
        return Reading(
            _field(events, b"oom_kill"),
            _field(self._read("pids_events"), b"max"),
        )

    def memory_bytes(self) -> int:
        """Returns the memory in use."""
        return int(self._read("memory_usage") or 0)

    def residue_bytes(self) -> int:
        """Returns the memory still in use after an execution; waits a moment if it is much."""
        deadline = time.monotonic() + policy.RESIDUE_SECONDS
        while (left := self.group_bytes()) > policy.RESIDUE_BYTES and time.monotonic() < deadline:
            time.sleep(_EMPTY_LOOK_SECONDS)
        return left

    def group_bytes(self) -> int:
        """Returns the memory in use if the cgroup is the candidate's alone, else 0."""
        return int(self._read("memory_current") or 0)

    def reset_peak(self) -> None:
        """Resets the peak, if the kernel can (v1; v2 since Linux 6.12)."""
        for name, text in (("memory_peak_v1", b"0"), ("memory_peak_v2", b"reset\n")):
            if name in self._descriptors:
                try:
                    os.pwrite(self._descriptors[name], text, 0)
                except OSError:
                    continue

    def peak_memory_bytes(self) -> int:
        """Returns the greatest memory use since `reset_peak`."""
        return int(self._read("memory_peak_v1") or self._read("memory_peak_v2") or 0)


class SharedCgroupUsage(CgroupUsage):
    """Reads the cgroup of a container, which includes the runner."""

    counts_machinery = True
    polls_memory = True

    def _refuses_beyond(self, processes: int) -> bool:
        most = self._read("pids_max").strip()
        return most.isdigit() and int(most) <= processes + _MACHINERY_PROCESSES


class SandboxKernelUsage(CgroupUsage):
    """Reads and limits a cgroup that the zygote made in gVisor."""

    polls_memory = True

    def limit_processes(self, processes: int) -> None:
        """Limits the next execution's processes."""
        os.pwrite(self._descriptors["pids_max"], b"%d" % processes, 0)

    def _refuses_beyond(self, processes: int) -> bool:
        return True

    def processes(self) -> int:
        """Returns how many processes and threads there are."""
        return int(self._read("pids_current"))

    def await_empty(self) -> None:
        """Waits for the processes of an execution whose first process has ended.

        Raises:
            TimeoutError: some processes remain.
        """
        deadline = time.monotonic() + _EMPTY_SECONDS
        while self.processes():
            if time.monotonic() > deadline:
                raise TimeoutError("processes outlived their execution")
            time.sleep(_EMPTY_LOOK_SECONDS)

    def memory_bytes(self) -> int:
        """Returns the memory in use, including the kernel's.

        In this memory gVisor also stores data about programs, such as file names, and does not
        limit their number. Its cgroups count memory, too, but take seconds to answer while several
        processes allocate.
        """
        return kernel.memory_in_use_bytes() + _heap_bytes(self._read("sentry"))


def _heap_bytes(text: bytes) -> int:
    _, _, rest = text.partition(b"HeapAlloc:")
    return int(rest.split(maxsplit=1)[0]) << 10
