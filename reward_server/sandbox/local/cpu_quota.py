"""Counts the CPUs that this process can use at once: its affinity, and the quotas of its cgroups.

A container engine limits a container's CPU time with a quota and leaves its affinity alone, so the
affinity alone would count all cores of the node.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from reward_server.sandbox.local.cgroup import CPU, Mount, mounts_of, own_paths

PROCESS = Path("/proc/self")


def usable_cpus(process: Path = PROCESS, *, affinity: int | None = None) -> int:
    """Returns the number of CPUs that can be used at once, rounded down, and at least 1.

    Args:
        process: folder with the `cgroup` and `mountinfo` files to use.
        affinity: number of CPUs on which the process may run; the process's own by default.
    """
    allowed = len(os.sched_getaffinity(0)) if affinity is None else affinity
    quotas = [int(cores) for cores in _quotas(process)]
    return max(1, min([allowed, *quotas]))


def _quotas(process: Path) -> Iterator[float]:
    """Yields the quota of each cgroup from the process's own to the top, in cores."""
    try:
        mounts, own = mounts_of(process), own_paths(process)
    except OSError:
        return
    if CPU in mounts.get(1, {}) and CPU in own:
        for folder in _upwards(mounts[1][CPU], own[CPU]):
            yield from _cores(
                _text(folder / "cpu.cfs_quota_us"), _text(folder / "cpu.cfs_period_us")
            )
    if 2 in mounts and "" in own:
        for folder in _upwards(mounts[2][""], own[""]):
            yield from _cores(*(_text(folder / "cpu.max").split() or ["max"]))


def _upwards(mount: Mount, path: str) -> Iterator[Path]:
    """Yields a cgroup's folder and those above it that are mounted."""
    folder = mount.directory(path)
    while folder != mount.point and folder.is_relative_to(mount.point):
        yield folder
        folder = folder.parent
    yield mount.point


def _cores(quota: str, period: str = "") -> Iterator[float]:
    if quota.isdecimal() and period.isdecimal() and int(period):
        yield int(quota) / int(period)


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
