"""The processes that run programs: the candidate, and in mode "split" the tests' program.

A process is forked and builds its walls before its execution is known, and then waits for the
limits. So an execution does not wait for a fork.

What this stops: nothing itself; `walls.layers` confines the processes.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, NoReturn

from .. import wire
from ..candidate import process as candidate
from ..candidate import streams
from ..channel import descriptors
from ..channel.descriptors import receive
from ..walls import confine, policy
from ..walls.layers import Walls
from ..walls.privileges import Privileges
from ..wire import Start
from . import children
from .children import Child
from .memory_streams import MemoryStreams
from .namespace_init import Aside

CANDIDATE, TESTS = b"C", b"T"
_PIPE_BYTES = 1 << 18


class Ends(NamedTuple):
    """The judge's ends of its connections with a program."""

    channel: int
    stdin: int
    stdout: int
    stderr: int

    def with_files(self, files: MemoryStreams) -> Ends:
        """Returns the ends with memory files in place of the pipes, which are closed."""
        for end in (self.stdin, self.stdout, self.stderr):
            os.close(end)
        return Ends(self.channel, *files)


class Handed(NamedTuple):
    """The program's own ends."""

    line: int
    channel: int
    stdin: int
    stdout: int
    stderr: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Forks processes for programs from this process.

    Args:
        privileges_of: the privileges with which each kind of process builds its walls.
        walls: the walls that each process builds.
        joins: descriptors to which a process writes 0 to enter the candidate's cgroup.
    """

    privileges_of: Mapping[bytes, Privileges]
    walls: Walls
    joins: tuple[int, ...] = ()
    aside: Aside = field(default_factory=Aside)

    def fork(self, kind: bytes) -> tuple[Child, Ends]:
        """Forks a process, which builds its walls and waits for its execution.

        Args:
            kind: `CANDIDATE` or `TESTS`.
        """
        line, theirs = descriptors.line()
        trusted, untrusted = socket.socketpair()
        inputs, outputs, errors = os.pipe(), os.pipe(), os.pipe()
        for _, end in (outputs, errors):
            with contextlib.suppress(OSError):  # a smaller pipe is only slower
                fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        # The judge holds this end, and must not wait for a program that does not read.
        os.set_blocking(inputs[1], False)
        handed = Handed(theirs.detach(), untrusted.detach(), inputs[0], outputs[1], errors[1])
        privileges = self.privileges_of[kind]
        pid = children.spawn(partial(self.run, kind, handed), privileges)
        for descriptor in handed:
            os.close(descriptor)
        child = Child(pid=pid, watch=privileges.watch(pid), line=line)
        return child, Ends(trusted.detach(), inputs[1], outputs[0], errors[0])

    def run(self, kind: bytes, ends: Handed) -> NoReturn:
        """Builds the walls, waits for an execution and serves it, in the forked process.

        If memory files come with the execution, they take the place of the pipes.

        Args:
            kind: `CANDIDATE` or `TESTS`.
            ends: the process's own ends of its connections.
        """
        for descriptor in self.joins:
            os.write(descriptor, b"0")
        for number, end in enumerate((ends.stdin, ends.stdout, ends.stderr)):
            os.dup2(end, number)
        self.walls.close_all_but(ends.line, ends.channel)
        privileges = self.privileges_of[kind]
        if kind == CANDIDATE:
            privileges.become_victim()
        self.walls.enter(privileges, policy.USUAL_DISK_BYTES)
        line, channel = descriptors.as_line(ends.line), descriptors.as_stream(ends.channel)
        start, files = _wait_for_start(line)
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        if files:
            streams.open_streams.cache_clear()
        if start.disk_bytes != policy.USUAL_DISK_BYTES:
            privileges.resize_box(start.disk_bytes)
        if start.loopback:
            confine.raise_loopback()
        confine.limit_candidate(start)
        self.walls.close(privileges, loopback=bool(start.loopback))
        candidate.run(channel, lambda: self.aside.step(line.detach()))


def _wait_for_start(line: socket.socket) -> tuple[Start, list[int]]:
    message, files = receive(line, wire.START.size, len(MemoryStreams._fields))
    return Start(*wire.START.unpack(message)), files
