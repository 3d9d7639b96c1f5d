"""The memory of a process tree, and the process that listens at a port."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from benchmarks.measure.served import tree, tree_usage

_PSS = re.compile(r"^Pss:\s+(\d+) kB$", re.MULTILINE)
_LISTENING = "0A"
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def cpu_of(root: int, names: Collection[str] = (), pids: Collection[int] = ()) -> float | None:
    """Returns the CPU seconds of a process and its descendants; None if it has ended.

    Args:
        root: the process.
        names: names of processes that are counted too, with their descendants.
        pids: further processes that are counted so.
    """
    try:
        return tree_usage(root, names, pids).total
    except KeyError:
        return None


def memory_of(root: int, names: Collection[str] = ()) -> int | None:
    """Sums the memory of a process and its descendants; a page that several share counts once.

    Args:
        root: the process.
        names: names of processes that are counted too, with their descendants.

    Returns:
        Bytes, or None if a process may not be read.
    """
    total = 0
    for pid in tree(root, names):
        try:
            found = _PSS.search(Path(f"/proc/{pid}/smaps_rollup").read_text("ascii"))
        except (FileNotFoundError, ProcessLookupError):
            continue
        except PermissionError:
            return None
        total += int(found[1]) << 10 if found else 0
    return total


def listener(port: int) -> int | None:
    """Returns the process that listens at a port of this machine; None if it cannot be found.

    A proxy of a container's port is no such process.
    """
    sockets = {f"socket:[{inode}]" for inode in _listening(port)}
    if not sockets:
        return None
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal() and _holds(folder, sockets):
            is_proxy = (folder / "comm").read_text("ascii", "replace").startswith("docker-proxy")
            return None if is_proxy else int(folder.name)
    return None


def _listening(port: int) -> list[str]:
    rows = [
        line.split()
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{table}").read_text("ascii").splitlines()[1:]
    ]
    return [
        row[9]
        for row in rows
        if row[3] == _LISTENING and int(row[1].rpartition(":")[2], 16) == port
    ]


def _holds(folder: Path, sockets: Collection[str]) -> bool:
    try:
        return any(_target(one) in sockets for one in (folder / "fd").iterdir())
    except OSError:
        return False


def _target(descriptor: Path) -> str:
    try:
        return str(descriptor.readlink())
    except FileNotFoundError:
        return ""  # closed meanwhile, as is the one that lists the others
