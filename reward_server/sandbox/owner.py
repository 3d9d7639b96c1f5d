"""Names of server processes, by which a later server identifies what a dead one left behind."""

from __future__ import annotations

import os
from pathlib import Path


def owner_id(pid: int | None = None) -> str:
    """Returns a name of a process that no later process can have."""
    pid = os.getpid() if pid is None else pid
    return f"{_pid_namespace()}.{pid}.{_start_time(pid)}"


def owner_lives(owner: str) -> bool:
    """Returns True if a process named by `owner_id` may still run."""
    namespace, _, rest = owner.partition(".")
    pid, _, start = rest.partition(".")
    if namespace != str(_pid_namespace()):
        return True  # it is not visible from this pid namespace
    return bool(start) and pid.isdecimal() and str(_start_time(int(pid))) == start


def _pid_namespace() -> int:
    return os.stat("/proc/self/ns/pid").st_ino


def _start_time(pid: int) -> int:
    """Returns the start time of a process in clock ticks since boot, or -1 if it is dead."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return -1
    return -1 if fields[0] in "ZX" else int(fields[19])
