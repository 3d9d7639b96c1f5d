"""The processes that the zygote and the fork server fork, each into new namespaces.

What this stops: a child that outlives its use or its parent. It is the first process of its pid
namespace, so killing it kills all its descendants.

What it does not do: it does not confine the child. The child does that itself, with `confine`.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NoReturn

from .. import wire
from ..channel.descriptors import line, send
from ..walls import kernel
from ..walls.privileges import ExitWatch, Privileges
from . import fork_hooks, namespace_init

_STATUS_BITS = 0xFFFF
_PROCESS_CLOCK = 2  # selects the CPU clock of a process number; see clock_getcpuclockid


@dataclass(slots=True, kw_only=True)
class Process(ABC):
    """A forked process, and a socket to it.

    Args:
        pid: its number in this process's pid namespace.
        line: a packet socket.
        status: as of `os.waitpid`, -1 until it was reaped.
        cpu_time_ns: the CPU time that it used, once it was reaped.
        peak_memory_bytes: its peak memory, once it was reaped.
    """

    pid: int
    line: socket.socket
    status: int = -1
    cpu_time_ns: int = 0
    peak_memory_bytes: int = 0

    def cpu_time_so_far_ns(self) -> int:
        """Returns the CPU time that the process itself has used."""
        return process_time_ns(self.pid) if self.alive else self.cpu_time_ns

    @property
    def alive(self) -> bool:
        """Returns True if it has not been reaped."""
        return self.status == -1

    def send(self, message: bytes, descriptors: Sequence[int] = ()) -> None:
        """Sends a message with copies of descriptors; kills the process if it cannot be reached."""
        try:
            send(self.line, message, descriptors)
        except OSError:
            self.kill()

    @abstractmethod
    def kill(self) -> None:
        """Kills it and all its descendants."""

    @abstractmethod
    def end(self) -> None:
        """Kills and reaps it."""


@dataclass(slots=True, kw_only=True)
class Child(Process):
    """A process that this one forked.

    Args:
        watch: becomes readable on its exit.
    """

    watch: ExitWatch

    def kill(self) -> None:
        """See `Process.kill`."""
        if self.alive:
            os.kill(self.pid, signal.SIGKILL)  # no other process gets its number until it is reaped

    def end(self) -> None:
        """See `Process.end`."""
        self.kill()
        self.reap()

    def reap(self) -> None:
        """Waits for it and records its status and usage."""
        if self.alive:
            _, status, usage = os.wait4(self.pid, 0)
            self.status = status or self._told_status()
            self.cpu_time_ns = round((usage.ru_utime + usage.ru_stime) * 1e9)
            self.peak_memory_bytes = usage.ru_maxrss << 10
            os.close(self.watch.descriptor)
            self.line.close()

    def _told_status(self) -> int:
        """Returns the status that the namespace's first process sent; see `namespace_init`."""
        try:
            told = self.line.recv(namespace_init.STATUS.size + 1, socket.MSG_DONTWAIT)
        except OSError:
            return 0
        return (
            namespace_init.STATUS.unpack(told)[0] & _STATUS_BITS
            if len(told) == namespace_init.STATUS.size
            else 0
        )


def process_time_ns(pid: int) -> int:
    """Returns the CPU time that a process has used, without its children."""
    return time.clock_gettime_ns(~pid << 3 | _PROCESS_CLOCK)


def fork(body: Callable[[socket.socket], NoReturn], privileges: Privileges) -> Child:
    """Forks a process that runs `body` with its end of the line.

    Args:
        body: the function that it runs.
        privileges: how it gets its namespaces.
    """
    ours, theirs = line()
    with theirs:
        pid = spawn(partial(body, theirs), privileges)
    return Child(pid=pid, watch=privileges.watch(pid), line=ours)


def spawn(body: Callable[[], NoReturn], privileges: Privileges) -> int:
    """Forks a process that runs `body`, and returns its number.

    Args:
        body: the function that it runs.
        privileges: how it gets its namespaces.
    """
    privileges.clear()
    pid = kernel.clone(privileges.namespaces)
    if pid == 0:
        try:
            kernel.die_with_parent()
            fork_hooks.hand_over_handlers()
            body()
        except BaseException as error:  # noqa: BLE001 - no child returns into its parent's loop
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(wire.BROKEN_STATUS)
    return pid
