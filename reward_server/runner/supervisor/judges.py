"""The zygote's view of judges: children of a fork server, to which it sends requests.

What this stops: a candidate that finds a judge's code, or any address of it, in its own memory. The
zygote, of which every candidate is a copy, never imports the judge's code.

What it does not do: it does not fork judges; see `fork_server`.

The zygote is connected to the fork server's standard input by a packet socket. It first sends its
landmarks (`kernel.landmarks`) with a channel for the warm-up, and gets a `Greeting` once the
warm-up is over. Then it sends these requests:
    FORK    answered by the judge's number, with the line to it and the socket of its notes
    KILL    kills that judge; not answered
    END     kills and reaps it; answered by `Ended`
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..channel import descriptors
from ..channel.descriptors import as_line, as_stream, receive
from ..walls import kernel
from .children import Process, process_time_ns

LINE = 0
_NOTES_BYTES = 1 << 16
FORK, KILL, END = b"F", b"K", b"E"


class Greeting(NamedTuple):
    """The fork server's message after its warm-up.

    Args:
        memory_bytes: the memory that it shares with no other process.
        shares_landmarks: whether any of the zygote's landmarks has the same address here.
    """

    memory_bytes: int
    shares_landmarks: bool


class Ended(NamedTuple):
    """How a judge ended; see `children.Process`."""

    status: int
    cpu_time_ns: int
    peak_memory_bytes: int


NUMBER = struct.Struct(">q")
LANDMARKS = struct.Struct(">2Q")
GREETING = struct.Struct(">q?")
ENDED = struct.Struct(f">{len(Ended._fields)}q")


class ForkServerLostError(Exception):
    """The fork server of judges has ended, so no further judge can be forked."""

    def __init__(self) -> None:
        super().__init__("the process that judges are forked from was lost")


@dataclass(slots=True, kw_only=True)
class Judge(Process):
    """A judge, which is a child of the fork server.

    Args:
        notes: a socket to which the judge writes its notes, see `wire`.
        server: the fork server.
        is_killed: whether KILL was sent; the judge may still be running.
    """

    notes: socket.socket
    server: ForkServer
    is_killed: bool = False

    def take_notes(self) -> bytes:
        """Returns the notes that it has written since the last call."""
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


class ForkServer:
    """The zygote's end of the line to the fork server of judges.

    Args:
        command: the command that starts it.
    """

    def __init__(self, command: list[str]) -> None:
        self._line, theirs = descriptors.line()
        self._pid = os.posix_spawn(
            command[0],
            command,
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, theirs.fileno(), LINE),
                (os.POSIX_SPAWN_DUP2, 2, 1),  # else it would hold the server's pipe open
            ],
        )
        theirs.close()

    def begin_warm_up(self) -> socket.socket:
        """Starts the warm-up, and returns the candidate's end of its channel.

        Raises:
            ForkServerLostError: the fork server did not start.
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
        """Waits until the warm-up is over and the fork server can fork.

        Raises:
            ForkServerLostError: the fork server did not start.
        """
        return Greeting(*GREETING.unpack(self._hear(GREETING.size)[0]))

    def fork(self) -> Judge:
        """Asks for a judge, once the last one was ended.

        Raises:
            ForkServerLostError: the fork server is gone.
        """
        number, (line, notes) = self.ask(FORK, NUMBER.size, 2)
        return Judge(
            pid=NUMBER.unpack(number)[0],
            line=as_line(line),
            notes=as_stream(notes),
            server=self,
        )

    def ask(self, request: bytes, size: int, descriptors: int = 0) -> tuple[bytes, list[int]]:
        """Returns the answer to a request, and the descriptors that come with it.

        Raises:
            ForkServerLostError: the fork server is gone.
        """
        self.send(request)
        return self._hear(size, descriptors)

    def send(self, request: bytes, handed: Sequence[int] = ()) -> None:
        """Sends a request, with copies of descriptors.

        Raises:
            ForkServerLostError: the fork server is gone.
        """
        try:
            descriptors.send(self._line, request, handed)
        except OSError as error:
            raise ForkServerLostError from error

    def _hear(self, size: int, descriptors: int = 0) -> tuple[bytes, list[int]]:
        try:
            answer, numbers = receive(self._line, size, descriptors)
        except OSError as error:
            raise ForkServerLostError from error
        if not answer:
            raise ForkServerLostError
        return answer, numbers

    def cpu_time_so_far_ns(self) -> int:
        """Returns the CPU time that the fork server itself has used."""
        return process_time_ns(self._pid)

    def close(self) -> None:
        """Ends the fork server and waits for it."""
        self._line.close()
        os.waitpid(self._pid, 0)
