"""Serves connections to a socket, one at a time. Each connection gets a new zygote (supervisor).

What this stops: two servers that use one container at the same time, so that their executions are
counted and limited together. The second server waits. When a connection ends, its zygote and all
processes that it forked end too.

What it does not do: it confines nothing, and it does not authenticate the client. The permissions
of the socket's folder decide who can connect.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

_MODE = 0o660
_WAITING = 16


def listen(path: str, zygote: Sequence[str]) -> NoReturn:
    """Listens until SIGTERM or SIGINT.

    Args:
        path: where the socket is made; an existing one is replaced.
        zygote: the command line of a zygote, which uses its standard input and output as control
            pipes.

    Raises:
        OSError: the socket cannot be made there.
    """
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(path)
        try:
            os.chmod(path, _MODE)
            door.listen(_WAITING)
            while True:
                connection, _ = door.accept()
                with connection:
                    _serve(connection, zygote)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)


def _serve(connection: socket.socket, zygote: Sequence[str]) -> None:
    descriptor = connection.fileno()
    with subprocess.Popen(zygote, stdin=descriptor, stdout=descriptor) as process:
        try:
            process.wait()
        except BaseException:
            process.kill()
            raise


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(0)
