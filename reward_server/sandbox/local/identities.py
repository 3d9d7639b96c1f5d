"""Chooses the user ids of containers among those that exist in this user namespace.

A pod with users of its own (`hostUsers: false`) has 65,536 ids, so that the high ids of a host,
which nothing else uses, do not exist there.
"""

from __future__ import annotations

from pathlib import Path

PROCESS = Path("/proc/self")
# Accounts of the distribution are below; 65534 stands for every id that is not mapped.
LEAST, NOBODY = 1000, 65_534


def first_identity(wanted: int, count: int, process: Path = PROCESS) -> int:
    """Returns the first of `count` consecutive ids that exist as users and as groups.

    Args:
        wanted: the id to take if it and the following ones exist.
        count: number of ids.
        process: folder with the `uid_map` and `gid_map` files to use.

    Returns:
        `wanted` if these ids exist, otherwise the highest ids that exist. If there are too few,
        also `wanted`, because the probe then explains that it cannot be used.
    """
    users, groups = (_mapped(process / name) for name in ("uid_map", "gid_map"))
    both = [(max(first, start), min(last, end)) for first, last in users for start, end in groups]
    if any(first <= wanted and wanted + count - 1 <= last for first, last in both):
        return wanted
    parts = [part for first, last in both for part in _usable(first, last)]
    fitting = [last - count + 1 for first, last in parts if last - first + 1 >= count]
    return max(fitting, default=wanted)


def _usable(first: int, last: int) -> list[tuple[int, int]]:
    first = max(first, LEAST)
    if first <= NOBODY <= last:
        return [(first, NOBODY - 1), (NOBODY + 1, last)]
    return [(first, last)]


def _mapped(file: Path) -> list[tuple[int, int]]:
    """Returns the first and the last id of each range that a map has; none if it is unreadable."""
    try:
        rows = [list(map(int, line.split())) for line in file.read_text().splitlines()]
    except OSError:
        return []
    return [(inside, inside + length - 1) for inside, _, length in rows]
