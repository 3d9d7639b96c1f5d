"""The fork server of judges: a separate interpreter, from whose memory each judge is forked.

What this stops: a candidate that knows the memory layout of a judge. If both were forked from one
process, they would have the same addresses. So the fork server starts as a new process, and the
kernel chooses its addresses at random. It sends no address to the zygote, since every candidate is
a copy of the zygote.

What it does not do: it does not hide the hash seed; see `start`. If the interpreter is not a
position-independent executable, its code and types have fixed addresses; the `Greeting` reports
that. It confines nothing itself; see `walls.layers`.

`judges` describes the requests that it serves. When the zygote ends, the fork server and its judge
end too.
"""

from __future__ import annotations

import os
import socket
from functools import partial
from typing import NoReturn

from ..channel import descriptors
from ..channel.descriptors import receive
from ..judge import process as judge
from ..judge import warm_up
from ..walls import confine, kernel, policy
from ..walls.layers import Walls
from ..walls.privileges import Privileges
from . import preloading
from .children import Child, fork
from .judges import ENDED, FORK, GREETING, KILL, LANDMARKS, LINE, NUMBER, Greeting


def serve(privileges: Privileges, walls: Walls) -> NoReturn:
    """Warms up, then forks one judge after another as long as the zygote lives.

    Args:
        privileges: the privileges with which judges build their walls.
        walls: the walls that each judge builds.

    Raises:
        RuntimeError: the runner is broken.
    """
    with socket.socket(fileno=LINE) as line:
        landmarks, channels = receive(line, LANDMARKS.size, 1)
        for channel in channels:
            warm_up.run(channel)
            preloading.freeze()
            _greet(line, landmarks)
        serving = _Judges(privileges, walls)
        while request := receive(line, 1)[0]:
            serving.answer(request, line)
    os._exit(0)


def _greet(line: socket.socket, landmarks: bytes) -> None:
    theirs, ours = LANDMARKS.unpack(landmarks), kernel.landmarks()
    shares_landmarks = any(map(int.__eq__, theirs, ours))
    line.send(GREETING.pack(*Greeting(preloading.memory_bytes(), shares_landmarks)))


class _Judges:
    """Answers the zygote's requests; there is one judge at a time."""

    def __init__(self, privileges: Privileges, walls: Walls) -> None:
        self._privileges = privileges
        self._walls = walls
        self._judge: Child

    def answer(self, request: bytes, line: socket.socket) -> None:
        if request == FORK:
            self._fork(line)
        elif request == KILL:
            self._judge.kill()
        else:
            self._judge.end()
            ended = (self._judge.status, self._judge.cpu_time_ns, self._judge.peak_memory_bytes)
            line.send(ENDED.pack(*ended))

    def _fork(self, line: socket.socket) -> None:
        # No pipe: through /proc a judge could open its own end for reading, and take notes back.
        heard, noted = socket.socketpair()
        with heard, noted:
            self._judge = fork(partial(self._body, noted), self._privileges)
            handed = [self._judge.line.fileno(), heard.fileno()]
            descriptors.send(line, NUMBER.pack(self._judge.pid), handed)

    def _body(self, notes: socket.socket, line: socket.socket) -> NoReturn:
        null = os.open("/dev/null", os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        self._walls.close_all_but(line.fileno(), notes.fileno())
        self._walls.enter(self._privileges, policy.USUAL_DISK_BYTES)
        confine.limit_judge()
        self._walls.close(self._privileges)
        judge.serve(line, notes)
