"""Reads what the candidate's control group used, through descriptors opened before the wall closed.

The server names them on the command line by format: `cpu_v1` (cpuacct.usage), `cpu_v2` (cpu.stat),
`memory_peak_v1` (memory.max_usage_in_bytes), `memory_peak_v2` (memory.peak), `memory_events_v1`
(memory.oom_control), `memory_events_v2` (memory.events), `pids_events`. A control group that the
server could not have (a waived wall) has no descriptors; its figures are 0.

In a container that an engine made, the group is the container's own (`find_own`), in which the
zygote and the judge are counted too, and of which nothing can be reset from inside.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

_READ_BYTES = 4096
_OWN_FIGURES = 4
_OWN_FILES = (
    ("cpu_v1", "/sys/fs/cgroup/cpuacct/cpuacct.usage"),
    ("memory_events_v1", "/sys/fs/cgroup/memory/memory.oom_control"),
    ("memory_usage", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ("pids_events", "/sys/fs/cgroup/pids/pids.events"),
    ("cpu_v2", "/sys/fs/cgroup/cpu.stat"),
    ("memory_events_v2", "/sys/fs/cgroup/memory.events"),
    ("memory_usage", "/sys/fs/cgroup/memory.current"),
    ("pids_events", "/sys/fs/cgroup/pids.events"),
)


class Reading(NamedTuple):
    """Figures of one moment, counted since the control group was made."""

    oom_kills: int
    process_limit_hits: int


def find_own() -> dict[str, int]:
    """Opens the files of the control group that this container is in.

    Raises:
        FileNotFoundError: they are not to be seen in the container.
    """
    found = {key: os.open(path, os.O_RDONLY) for key, path in _OWN_FILES if os.path.exists(path)}
    if len(found) < _OWN_FIGURES:
        raise FileNotFoundError("the container's control group is not at /sys/fs/cgroup")
    return found


def _field(text: bytes, name: bytes) -> int:
    for line in text.splitlines():
        key, _, value = line.partition(b" ")
        if key == name:
            return int(value)
    return 0


class Meters:
    """Reads one control group."""

    def __init__(self, descriptors: Mapping[str, int]) -> None:
        self._descriptors = dict(descriptors)

    def _read(self, name: str) -> bytes:
        descriptor = self._descriptors.get(name)
        return b"" if descriptor is None else os.pread(descriptor, _READ_BYTES, 0)

    def cpu_time_ns(self) -> int:
        """Returns the CPU time of all processes, dead ones included."""
        if "cpu_v1" in self._descriptors:
            return int(self._read("cpu_v1"))
        return _field(self._read("cpu_v2"), b"usage_usec") * 1000

    def reading(self) -> Reading:
        """Returns what was counted."""
        events = self._read("memory_events_v1") or self._read("memory_events_v2")
        return Reading(
            _field(events, b"oom_kill"),
            _field(self._read("pids_events"), b"max"),
        )

    def memory_bytes(self) -> int:
        """Returns the memory that is in use."""
        return int(self._read("memory_usage") or 0)

    def reset_peak(self) -> None:
        """Starts a new peak, where the kernel can (v1; v2 since Linux 6.12)."""
        for name, text in (("memory_peak_v1", b"0"), ("memory_peak_v2", b"reset\n")):
            if name in self._descriptors:
                try:
                    os.pwrite(self._descriptors[name], text, 0)
                except OSError:
                    continue

    def peak_memory_bytes(self) -> int:
        """Returns the greatest memory use since `reset_peak`."""
        return int(self._read("memory_peak_v1") or self._read("memory_peak_v2") or 0)
