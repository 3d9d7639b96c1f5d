"""Keeps the limits of a session's memory and processes in a kernel that does not: gVisor.

What this stops: a session that takes more memory than its limit. The container's runner, which is
outside of the session and root of that kernel, looks at the memory in use. Each look that finds it
above the limit kills the session's largest process. The runner gets the limits from the session's
first process, before that process has started any command.

What it does not: between two looks, a session can exceed its limit. The container as a whole has a
limit of the host's kernel.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import signal
import socket
import struct
import time

from ..supervisor.cgroup_usage import SandboxKernelUsage

_LOOK_SECONDS = 0.05
_IDLE_SECONDS = 0.25  # between looks at a session without commands; a look takes CPU time
_FIRST = 1  # the processes of a session without commands: only its first one
_LIMITS = struct.Struct(">QQ")
_COUNT = struct.Struct("Q")
_APPLIED = b"A"


class MemoryGuard:
    """Watches a session from outside.

    Args:
        meters: the control group of the session's processes.
    """

    def __init__(self, meters: SandboxKernelUsage) -> None:
        self._meters = meters
        self._outside, self.inside = socket.socketpair()
        self._kills = mmap.mmap(-1, _COUNT.size)

    @property
    def kills(self) -> int:
        """How many processes were killed because memory ran out."""
        return int(_COUNT.unpack_from(self._kills)[0])

    def limit(self, memory_bytes: int, processes: int) -> None:
        """Makes the runner apply the limits, and waits for that; called once, by the first process.

        Raises:
            EOFError: the runner has ended.
        """
        with self.inside:
            self.inside.sendall(_LIMITS.pack(memory_bytes, processes))
            if self.inside.recv(1) != _APPLIED:
                raise EOFError("the runner of the session has ended")

    def watch(self, first: int) -> int:
        """Keeps the limits until the first process ends; returns its status, as of `os.waitpid`.

        Args:
            first: the number of the session's first process.
        """
        self.inside.close()
        with self._outside:
            wanted = self._outside.recv(_LIMITS.size)
            if len(wanted) == _LIMITS.size:
                memory_bytes, processes = _LIMITS.unpack(wanted)
                memory_bytes += self._meters.memory_bytes()
                self._meters.limit_processes(processes)
                self._outside.sendall(_APPLIED)
                return self._watch(first, memory_bytes)
        return os.waitpid(first, 0)[1]

    def _watch(self, first: int, most_bytes: int) -> int:
        while True:
            pid, status = os.waitpid(first, os.WNOHANG)
            if pid:
                return status
            if self._meters.processes() <= _FIRST:
                time.sleep(_IDLE_SECONDS)
                continue
            if self._meters.memory_bytes() > most_bytes:
                self._kill_largest({os.getpid(), first})
            time.sleep(_LOOK_SECONDS)

    def _kill_largest(self, spared: set[int]) -> None:
        pids = {int(name) for name in os.listdir("/proc") if name.isdecimal()} - spared
        if pids:
            _COUNT.pack_into(self._kills, 0, self.kills + 1)
            with contextlib.suppress(ProcessLookupError):
                os.kill(max(pids, key=_resident_pages), signal.SIGKILL)


def _resident_pages(pid: int) -> int:
    """Returns the memory of a process in pages, 0 if it has ended."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1])
    except OSError:
        return 0
