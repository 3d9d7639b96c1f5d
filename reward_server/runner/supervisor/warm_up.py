"""The steps of a program's process, run in the zygote without effect before anything is forked.

Each program runs in a new child of the zygote. The child builds its walls, waits for its limits and
loads the program. An interpreter optimises code and fills its caches while it runs the code.
Without this warm-up every child would do so again, in memory that the kernel has to copy for it.

What this stops: nothing. It builds no wall and lifts none: meanwhile, all functions that would
change this process or its files are replaced by ones that do nothing. Afterwards they are in their
places again.
"""

from __future__ import annotations

import builtins
import dataclasses
import io
import os
import resource
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from .. import requests, wire
from ..candidate import process as candidate
from ..channel import descriptors
from ..channel.files import MODULE_NAME
from ..channel.frames import LOADED, READY
from ..requests import SolutionProgram
from ..walls import kernel, policy
from ..wire import Kind, Start
from .candidates import CANDIDATE, Candidates, Handed
from .namespace_init import Aside

_ROUNDS = 10  # the interpreter optimises a function after 8 calls
_SOURCE = b"def f(x):\n    return x\n"
_LIMIT_BYTES = 1 << 20
_SECONDS = 10**9
_ANSWER = b"".join(wire.LENGTH.pack(len(frame)) + frame for frame in (READY, LOADED))


def _nothing(*_: object, **__: object) -> int:
    return 0


def _written(_: int, data: bytes) -> int:
    return len(data)


def _opened(*_: object) -> io.BytesIO:
    return io.BytesIO()


_OF_OS = ("chdir", "close", "closerange", "dup2", "mkdir", "open", "register_at_fork", "setsid")
_OF_KERNEL = ("_mount", "_prctl", "_syscall", "_umount2", "_unshare")
_REPLACED: tuple[tuple[dict[str, Any], Mapping[str, Callable[..., object]]], ...] = (
    (vars(os), {**dict.fromkeys((*_OF_OS, "_exit"), _nothing), "write": _written}),
    (vars(kernel), dict.fromkeys(_OF_KERNEL, _nothing)),
    (vars(resource), {"setrlimit": _nothing}),
    (vars(candidate), {"_handle": _nothing}),
    (vars(builtins), {"open": _opened}),
)


@contextmanager
def _without_effect() -> Iterator[None]:
    """Replaces the functions for the length of the block, and restores what the block changes."""
    places = (*(place for place, _ in _REPLACED), sys.modules)
    before = [dict(place) for place in places]
    path, limit = [*sys.path], sys.getrecursionlimit()
    try:
        for place, functions in _REPLACED:
            place.update(functions)
        yield
    finally:
        for place, content in zip(places, before, strict=True):
            place.update(content)
        sys.modules.pop(MODULE_NAME, None)
        sys.path[:] = path
        sys.setrecursionlimit(limit)


def run(candidates: Candidates) -> None:
    """Runs the steps of a candidate, from the fork to the end of a solution without calls.

    Args:
        candidates: those whose walls are built in a user namespace.

    Raises:
        RuntimeError: a step failed, so the runner is broken.
    """
    practising = dataclasses.replace(candidates, aside=Aside(_nothing))
    for _ in range(_ROUNDS):
        if _answer_of(practising) != _ANSWER:
            raise RuntimeError("the warm-up of a program's process failed")


def _answer_of(candidates: Candidates) -> bytes:
    """Returns all that the steps send to the judge."""
    # It returns, since `os._exit` does nothing.
    steps: Callable[[bytes, Handed], None] = candidates.run
    line, its_line = descriptors.line()
    judge, channel = socket.socketpair()
    with line, its_line, judge:
        line.send(wire.START.pack(*_start()))
        program = requests.pack(SolutionProgram(False, _LIMIT_BYTES), {"source": _SOURCE})
        judge.send(wire.LENGTH.pack(len(program)) + program)
        judge.shutdown(socket.SHUT_WR)
        with _without_effect():
            kernel.die_with_parent()
            steps(CANDIDATE, Handed(its_line.fileno(), channel.detach(), 0, 1, 2))
        try:
            return judge.recv(_LIMIT_BYTES, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return b""


def _start() -> Start:
    return Start(
        kind=Kind.EXECUTE,
        cpu_time_ns=_SECONDS,
        processes=1,
        file_size_bytes=_LIMIT_BYTES,
        disk_bytes=policy.USUAL_DISK_BYTES,
        open_files=1,
    )
