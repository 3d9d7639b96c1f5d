"""A host with something to steal, to disturb and to reach, for programs that try."""

from __future__ import annotations

import contextlib
import ctypes
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SECRET_VARIABLE = "CODEREWARD_TEST_SECRET"
_IPC_CREAT, _IPC_RMID = 0o1000, 0
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, kw_only=True)
class Host:
    """What a program must not get at.

    Args:
        secret: stands in a file, in the environment and on a victim's command line.
        folder: anybody may write there.
        listener, abstract: sockets that nobody should connect to; the second has no file.
        victim: a process that should live.
        memory_key: a System V shared memory segment's key.
        leak: a descriptor that programs might inherit.
    """

    secret: str
    folder: Path
    listener: socket.socket
    abstract: socket.socket
    victim: subprocess.Popen[bytes]
    memory_key: int
    leak: int

    @property
    def secret_file(self) -> Path:
        """A file that anybody may read."""
        return self.folder / "secret"

    @property
    def port(self) -> int:
        """Where the listener listens on the loopback interface."""
        return int(self.listener.getsockname()[1])

    def was_connected(self, listener: socket.socket) -> bool:
        """Returns True if anybody has come."""
        try:
            listener.accept()[0].close()
        except BlockingIOError:
            return False
        return True


def processes_marked(marker: str) -> list[int]:
    """Finds processes of this machine by something on their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if marker.encode() in (path / "cmdline").read_bytes():
                found.append(int(path.name))
    return found


@contextlib.contextmanager
def inhabited(folder: Path) -> Iterator[Host]:
    """Sets the host up in a folder; what is to be found only by inheritance comes first."""
    secret = secrets.token_hex(16)
    folder.chmod(0o777)
    (folder / "secret").write_text(secret)
    os.environ[SECRET_VARIABLE] = secret
    with contextlib.ExitStack() as stack:
        stack.callback(os.environ.pop, SECRET_VARIABLE, None)
        leak = os.memfd_create("leak", 0)
        stack.callback(os.close, leak)
        os.set_inheritable(leak, True)
        yield Host(
            secret=secret,
            folder=folder,
            listener=stack.enter_context(_listen(socket.AF_INET, ("127.0.0.1", 0))),
            abstract=stack.enter_context(_listen(socket.AF_UNIX, f"\0{secret}")),
            victim=stack.enter_context(_victim(secret)),
            memory_key=stack.enter_context(_shared_memory()),
            leak=leak,
        )


def _listen(family: int, address: tuple[str, int] | str) -> socket.socket:
    listener = socket.socket(family)
    listener.setblocking(False)
    listener.bind(address)
    listener.listen()
    return listener


@contextlib.contextmanager
def _victim(secret: str) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", "input()", secret], stdin=subprocess.PIPE) as one:
        try:
            yield one
        finally:
            one.kill()


@contextlib.contextmanager
def _shared_memory() -> Iterator[int]:
    key = secrets.randbelow(1 << 30) + 1
    identifier = _libc.shmget(key, 4096, _IPC_CREAT | 0o666)
    assert identifier >= 0
    try:
        yield key
    finally:
        _libc.shmctl(identifier, _IPC_RMID, None)
