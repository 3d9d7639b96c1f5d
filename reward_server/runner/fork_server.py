"""The fork server of judges: an interpreter of its own, from whose memory each judge is forked.

What this stops: a candidate that knows where things lie in a judge's memory. Forked from one
process, both would have the same addresses; this one is started anew, and the kernel lays its
memory out at random. Of addresses it tells the zygote, of which every candidate is a copy, nothing.

What it does not: hide the seed of hashes, see `start`. Move an interpreter's own code and types,
where that is not a position-independent executable; that it can't, it says. Confine anything
itself; see `walls`.

The zygote speaks to it over a packet socket, its standard input. First it tells its landmarks
(`kernel.landmarks`), which are answered by a `Greeting`. Then:

    FORK    answered by the judge's number, with a copy of the line to it
    KILL    kills that judge; not answered
    END     kills and reaps it; answered by `Ended`

It ends with the zygote, and its judge with it.
"""

from __future__ import annotations

import os
import socket
import struct
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

from . import children, confine, judge, kernel, policy
from .children import Child, Process, fork, process_time_ns, receive
from .footing import Footing
from .walls import Walls

_LINE = 0
_FORK, _KILL, _END = b"F", b"K", b"E"
_NUMBER = struct.Struct(">q")


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


_LANDMARKS = struct.Struct(">2Q")
_GREETING = struct.Struct(">q?")
_ENDED = struct.Struct(f">{len(Ended._fields)}q")


class ForkServerLostError(Exception):
    """The fork server of judges has ended, so there will be no judge."""

    def __init__(self) -> None:
        super().__init__("the process that judges are forked from was lost")


# ------------------------------------------------------------------------- the zygote's side


@dataclass(slots=True, kw_only=True)
class Judge(Process):
    """A judge, which is a child of the fork server's."""

    server: ForkServer

    def kill(self) -> None:
        """See `Process.kill`."""
        if self.alive:
            self.server.send(_KILL)

    def end(self) -> None:
        """See `Process.end`."""
        if self.alive:
            ended, _ = self.server.ask(_END, _ENDED.size)
            self.status, self.cpu_time_ns, self.peak_memory_bytes = _ENDED.unpack(ended)
            self.line.close()


class ForkServer:
    """The zygote's end of the line to the fork server.

    Args:
        command: that starts it.
    """

    def __init__(self, command: list[str]) -> None:
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._pid = os.posix_spawn(
            command[0],
            command,
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, theirs.fileno(), _LINE),
                (os.POSIX_SPAWN_DUP2, 2, 1),  # the server would wait for the end of the other one
            ],
        )
        theirs.close()

    def await_warm(self) -> Greeting:
        """Waits until it can fork.

        Raises:
            ForkServerLostError: it did not come up.
        """
        landmarks = _LANDMARKS.pack(*kernel.landmarks())
        return Greeting(*_GREETING.unpack(self.ask(landmarks, _GREETING.size)[0]))

    def fork(self) -> Judge:
        """Has it fork a judge, once the last one was ended.

        Raises:
            ForkServerLostError: it is gone.
        """
        number, (line,) = self.ask(_FORK, _NUMBER.size, 1)
        return Judge(pid=_NUMBER.unpack(number)[0], line=socket.socket(fileno=line), server=self)

    def ask(self, request: bytes, size: int, descriptors: int = 0) -> tuple[bytes, list[int]]:
        """Returns its answer to a request, and the descriptors that come with it.

        Raises:
            ForkServerLostError: it is gone.
        """
        self.send(request)
        return self._hear(size, descriptors)

    def send(self, request: bytes) -> None:
        """Sends a request.

        Raises:
            ForkServerLostError: it is gone.
        """
        try:
            children.send(self._line, request)
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
        """Returns the CPU time that it has used itself."""
        return process_time_ns(self._pid)

    def close(self) -> None:
        """Has it end, and waits for that."""
        self._line.close()
        os.waitpid(self._pid, 0)


# ----------------------------------------------------------------------------- the fork server


def serve(footing: Footing, walls: Walls, memory_bytes: int) -> NoReturn:
    """Forks one judge after another, as long as the zygote lives.

    Args:
        footing: what judges' walls stand on.
        walls: that each builds.
        memory_bytes: that this process shares with nobody.
    """
    with socket.socket(fileno=_LINE) as line:
        _greet(line, memory_bytes)
        serving = _Judges(footing, walls)
        while request := receive(line, 1)[0]:
            serving.answer(request, line)
    os._exit(0)


def _greet(line: socket.socket, memory_bytes: int) -> None:
    message, _ = receive(line, _LANDMARKS.size)
    if message:
        theirs, ours = _LANDMARKS.unpack(message), kernel.landmarks()
        shares_landmarks = any(map(int.__eq__, theirs, ours))
        line.send(_GREETING.pack(*Greeting(memory_bytes, shares_landmarks)))


class _Judges:
    """Answers the zygote; there is one judge at a time."""

    def __init__(self, footing: Footing, walls: Walls) -> None:
        self._footing = footing
        self._walls = walls
        self._judge: Child

    def answer(self, request: bytes, line: socket.socket) -> None:
        if request == _FORK:
            self._judge = fork(self._body, self._footing)
            number = _NUMBER.pack(self._judge.pid)
            children.send(line, number, [self._judge.line.fileno()])
        elif request == _KILL:
            self._judge.kill()
        else:
            self._judge.end()
            ended = (self._judge.status, self._judge.cpu_time_ns, self._judge.peak_memory_bytes)
            line.send(_ENDED.pack(*ended))

    def _body(self, line: socket.socket) -> NoReturn:
        null = os.open("/dev/null", os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        self._walls.close_all_but(line.fileno())
        self._walls.enter(self._footing, policy.USUAL_DISK_BYTES)
        confine.limit_judge()
        self._walls.close(self._footing)
        judge.serve(line)
