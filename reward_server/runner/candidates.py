"""Candidates as the zygote sees them: its children, which a fork server forks for it.

A tests' program that runs beside a candidate is forked in the same way.

What this stops: memory that is copied because the zygote works. Who forks shares all its memory
with the child, and pays with a copy for each page that it writes to afterwards. So the zygote forks
once, a server that has only to take descriptors, to clone and to tell a number, and that never
holds a judge's end of anything. Whom it forks is the zygote's own child (CLONE_PARENT): the zygote
waits for it, and it ends with the zygote. Debian's gVisor does not know that flag; there the zygote
forks candidates itself.

What it does not: confine anything itself; a candidate's process builds its `walls`.

A request is the kind of program, with the program's ends: of its line, of its channel, of its
standard input, output and errors. It is answered by the number of its process.
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

from . import candidate, children, confine, kernel, policy, wire
from .aside import Aside
from .children import NUMBER, Child, ForkServer, receive
from .footing import Footing
from .walls import Walls
from .wire import Start

CANDIDATE, TESTS = b"C", b"T"
_PIPE_BYTES = 1 << 18


class Ends(NamedTuple):
    """The judge's ends of what connects it with a program."""

    channel: int
    stdin: int
    stdout: int
    stderr: int


class _Handed(NamedTuple):
    """The program's own ends."""

    line: int
    channel: int
    stdin: int
    stdout: int
    stderr: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Programs:
    """Where programs run.

    Args:
        footings: what the walls of each kind stand on.
        walls: around each.
        joins: descriptors to which a process writes 0 to enter the candidate's control group.
    """

    footings: Mapping[bytes, Footing]
    walls: Walls
    joins: tuple[int, ...] = ()
    aside: Aside = field(default_factory=Aside)

    def run(self, kind: bytes, ends: _Handed) -> NoReturn:
        """Builds walls, waits for an execution and serves it; in a process of its own."""
        for descriptor in self.joins:
            os.write(descriptor, b"0")
        for number, end in enumerate((ends.stdin, ends.stdout, ends.stderr)):
            os.dup2(end, number)
        self.walls.close_all_but(ends.line, ends.channel)
        footing = self.footings[kind]
        if kind == CANDIDATE:
            footing.become_victim()
        self.walls.enter(footing, policy.USUAL_DISK_BYTES)
        line, channel = socket.socket(fileno=ends.line), socket.socket(fileno=ends.channel)
        start = _wait_for_start(line)
        if start.disk_bytes != policy.USUAL_DISK_BYTES:
            footing.resize_box(start.disk_bytes)
        if start.loopback:
            confine.raise_loopback()
        confine.limit_candidate(start)
        self.walls.close(footing, loopback=bool(start.loopback))
        candidate.run(channel, lambda: self.aside.step(line.detach()))


def _wait_for_start(line: socket.socket) -> Start:
    message, _ = receive(line, wire.START.size)
    return Start(*wire.START.unpack(message))


class Candidates:
    """Forks candidates from this process.

    Args:
        programs: where those run that it forks.
    """

    def __init__(self, programs: Programs) -> None:
        self._programs = programs

    def fork(self, kind: bytes) -> tuple[Child, Ends]:
        """Forks a process, which builds its walls and waits for its execution.

        Args:
            kind: `CANDIDATE` or `TESTS`.

        Raises:
            ForkServerLostError: the fork server is gone, if there is one.
        """
        line, theirs = children.line()
        trusted, untrusted = socket.socketpair()
        inputs, outputs, errors = os.pipe(), os.pipe(), os.pipe()
        for _, end in (outputs, errors):
            with contextlib.suppress(OSError):  # a smaller pipe is slower, nothing else
                fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        os.set_blocking(inputs[1], False)
        handed = _Handed(theirs.detach(), untrusted.detach(), inputs[0], outputs[1], errors[1])
        pid = self._spawn(kind, handed)
        for descriptor in handed:
            os.close(descriptor)
        child = Child(pid=pid, watch=self._programs.footings[kind].watch(pid), line=line)
        return child, Ends(trusted.detach(), inputs[1], outputs[0], errors[0])

    def _spawn(self, kind: bytes, handed: _Handed) -> int:
        return _spawn(self._programs, kind, handed)

    def cpu_time_so_far_ns(self) -> int:
        """Returns the CPU time that the fork server has used."""
        return 0

    def close(self) -> None:
        """Has the fork server end, if there is one."""


class ServedCandidates(Candidates):
    """Has candidates forked by a server, a copy of this process.

    Args:
        programs: where those run that it forks.
    """

    def __init__(self, programs: Programs) -> None:
        super().__init__(programs)
        ours, theirs = children.line()
        pid = os.fork()
        if pid == 0:
            _serve(programs, theirs)
        theirs.close()
        self._server = ForkServer("candidates", pid, ours)

    def _spawn(self, kind: bytes, handed: _Handed) -> int:
        number, _ = self._server.ask(kind, NUMBER.size, handed=handed)
        return int(NUMBER.unpack(number)[0])

    def cpu_time_so_far_ns(self) -> int:
        """See `Candidates.cpu_time_so_far_ns`."""
        return self._server.cpu_time_so_far_ns()

    def close(self) -> None:
        """See `Candidates.close`."""
        self._server.close()


def _spawn(programs: Programs, kind: bytes, handed: _Handed, flags: int = 0) -> int:
    body = partial(programs.run, kind, handed)
    return children.spawn(body, programs.footings[kind], flags)


def _serve(programs: Programs, line: socket.socket) -> NoReturn:
    """Forks one program after another, as long as the zygote lives."""
    try:
        kernel.die_with_parent()
        _leave_standard_streams()
        programs.walls.close_all_but(line.fileno(), *programs.joins)
        while True:
            kind, handed = receive(line, len(CANDIDATE), len(_Handed._fields))
            if not kind:
                os._exit(0)
            pid = _spawn(programs, kind, _Handed(*handed), kernel.CLONE_PARENT)
            line.send(NUMBER.pack(pid))
            for descriptor in handed:
                os.close(descriptor)
    except BaseException as error:  # noqa: BLE001 - nothing may return into the zygote's loop
        os.write(2, f"fork server: {type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(wire.BROKEN_STATUS)


def _leave_standard_streams() -> None:
    """Gives up the zygote's line to the server, whose end would not be seen otherwise."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1):
        os.dup2(null, number)
