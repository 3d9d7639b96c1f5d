"""Judges as the zygote sees them: children of a fork server, to which it speaks.

What this stops: a candidate that finds a judge's code, or any address of it, in its own memory:
the zygote, of which every candidate is a copy, never imports what a judge is made of.

What it does not: fork anything; see `fork_server`.

The zygote speaks to the fork server over a packet socket, the other one's standard input. First it
tells its landmarks (`kernel.landmarks`), with a channel for the rehearsal, which are answered by a
`Greeting` once the rehearsal is over. Then:

    FORK    answered by the judge's number, with the line to it and the socket of its notes
    KILL    kills that judge; not answered
    END     kills and reaps it; answered by `Ended`
"""

from __future__ import annotations

import os
import socket
import struct
from dataclasses import dataclass
from typing import NamedTuple

from . import children, kernel
from .children import NUMBER, ForkServer, ForkServerLostError, Process

LINE = 0
_NOTES_BYTES = 1 << 16
FORK, KILL, END = b"F", b"K", b"E"


class Greeting(NamedTuple):
    """What a fork server says once it is warm.

    Args:
        memory_bytes: that it shares with nobody.
        shares_landmarks: whether any of the zygote's landmarks lies here where it lies there.
    """

    memory_bytes: int
    shares_landmarks: bool


class Ended(NamedTuple):
    """How a judge ended; see `children.Process`."""

    status: int
    cpu_time_ns: int
    peak_memory_bytes: int


LANDMARKS = struct.Struct(">2Q")
GREETING = struct.Struct(">q?")
ENDED = struct.Struct(f">{len(Ended._fields)}q")


@dataclass(slots=True, kw_only=True)
class Judge(Process):
    """A judge, which is a child of the fork server's.

    Args:
        notes: a socket to which it writes what it announces, see `wire`.
        server: the fork server.
        is_killed: whether it was sent a signal, of which it may not know yet.
    """

    notes: socket.socket
    server: JudgeServer
    is_killed: bool = False

    def take_notes(self) -> bytes:
        """Returns what it has announced since it was asked last."""
        try:
            return self.notes.recv(_NOTES_BYTES, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return b""

    def kill(self) -> None:
        """See `Process.kill`."""
        if self.alive:
            self.is_killed = True
            self.server.send(KILL)

    def end(self) -> None:
        """See `Process.end`."""
        if self.alive:
            ended, _ = self.server.ask(END, ENDED.size)
            self.status, self.cpu_time_ns, self.peak_memory_bytes = ENDED.unpack(ended)
            self.line.close()
            self.notes.close()


class JudgeServer(ForkServer):
    """The zygote's end of the line to the fork server of judges.

    Args:
        command: that starts it.
    """

    def __init__(self, command: list[str]) -> None:
        ours, theirs = children.line()
        pid = os.posix_spawn(
            command[0],
            command,
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, theirs.fileno(), LINE),
                (os.POSIX_SPAWN_DUP2, 2, 1),  # the server would wait for the end of the other one
            ],
        )
        theirs.close()
        super().__init__("judges", pid, ours)

    def begin_rehearsal(self) -> socket.socket:
        """Returns the candidate's end of a channel on whose other end it rehearses.

        Raises:
            ForkServerLostError: it did not come up.
        """
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self.send(LANDMARKS.pack(*kernel.landmarks()), [theirs.fileno()])
            except ForkServerLostError:
                ours.close()
                raise
        return ours

    def await_warm(self) -> Greeting:
        """Waits until it can fork, once the rehearsal is over.

        Raises:
            ForkServerLostError: it did not come up.
        """
        return Greeting(*GREETING.unpack(self.hear(GREETING.size)[0]))

    def fork(self) -> Judge:
        """Has it fork a judge, once the last one was ended.

        Raises:
            ForkServerLostError: it is gone.
        """
        number, (line, notes) = self.ask(FORK, NUMBER.size, 2)
        return Judge(
            pid=NUMBER.unpack(number)[0],
            line=socket.socket(fileno=line),
            notes=socket.socket(fileno=notes),
            server=self,
        )
