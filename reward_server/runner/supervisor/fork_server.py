"""The fork server of judges: an interpreter of its own, from whose memory each judge is forked.

What this stops: a candidate that knows where things lie in a judge's memory. Forked from one
process, both would have the same addresses; this one is started anew, and the kernel lays its
memory out at random. Of addresses it tells the zygote, of which every candidate is a copy, nothing.

What it does not: hide the seed of hashes, see `start`. Move an interpreter's own code and types,
where that is not a position-independent executable; that it can't, it says. Confine anything
itself; see `walls.layers`.

What it is asked for is described in `judges`. It ends with the zygote, and its judge with it.
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
    """Warms up, and forks one judge after another, as long as the zygote lives.

    Args:
        privileges: what judges' walls stand on.
        walls: that each builds.

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
    """Answers the zygote; there is one judge at a time."""

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
