"""Runs executables for a program in another language, in the candidate's process.

What this stops: nothing; the process was confined before. The program runs in a child process. This
process reports the child's status, so that the program's messages and its end remain distinct. Like
everything from the candidate, the status is only an observation.

The program does not replace this process, for two reasons. The first process of a namespace cannot
end itself by a signal, and it must reap the processes that the program leaves behind.
"""

from __future__ import annotations

import contextlib
import fcntl
import fnmatch
import json
import os
import signal
import stat
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from .. import wire
from ..channel.files import write_files
from ..channel.frames import Frames
from ..requests import CommandsRequest
from . import streams

_NOT_STARTED = 127  # a shell's exit status for a command that does not exist
_SUCCESS = 0
_EXECUTABLE = 0o755
_FILE, _DATA = "file/", "data/"  # kinds of blobs
_PIPE_NUMBERS = (3, 4)  # to read and to write, in one of two joined programs
_OUT_OF_THEIR_WAY = 10


def run(frames: Frames, request: CommandsRequest, blobs: Mapping[str, bytes]) -> NoReturn:
    """Runs the commands of a request, or of one of two programs, and exits."""
    pipes = _pipes(frames) if request.joined else []
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _write(blobs)
    environment = {**os.environ, **request.environment}
    status = _SUCCESS
    for command in request.commands:
        status = _run_one(command, environment, pipes)
        if status != _SUCCESS:
            break
    report_end(frames, status)
    if request.keep and (status == _SUCCESS or request.keeps_failed):
        frames.send(_pack(request.keep, blobs))
    os._exit(0)


def _write(blobs: Mapping[str, bytes]) -> None:
    """Writes the given files, then the product, which wins over them, and at last the data."""
    write_files({name: blob for name, blob in blobs.items() if name.startswith(_FILE)})
    if product := blobs["product"]:
        _unpack(product)
    write_files({name: blob for name, blob in blobs.items() if name.startswith(_DATA)})


def _pipes(frames: Frames) -> list[int]:
    """Returns the ends of two pipes, with other numbers than those that a command expects."""
    ends = frames.receive_pipes()
    moved = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _OUT_OF_THEIR_WAY) for end in ends]
    for end in ends:
        os.close(end)
    return moved


def report_end(frames: Frames, status: int) -> None:
    """Kills all that a program left running, and sends its status, as of `os.waitpid`.

    The status is sent before the output ends, so that the judge knows it when it sees the end.
    """
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    frames.send(json.dumps(status).encode())
    os.closerange(0, 3)


def _run_one(command: list[str], environment: Mapping[str, str], pipes: list[int]) -> int:
    """Runs a command to its end, reaps its descendants and returns its status.

    The command gets the pipes' ends, and this process closes its own.
    """
    try:
        child = os.posix_spawnp(
            command[0],
            command,
            environment,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, end, number)
                for end, number in zip(pipes, _PIPE_NUMBERS, strict=False)
            ],
            setsigdef=(signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ),
        )
    except OSError as error:
        streams.complain(f"{command[0]}: {error.strerror}")
        streams.flush_streams()
        return _NOT_STARTED << 8
    while pipes:
        os.close(pipes.pop())
    return await_end(child)


def await_end(child: int) -> int:
    """Reaps processes until a child has ended, and returns its status."""
    while True:
        ended, status = os.wait()
        if ended == child:
            return status


def _pack(patterns: Sequence[str], given: Container[str]) -> bytes:
    """Packs the files below the working folder whose path matches a pattern, except given data."""
    names = [
        name
        for name in _files(".")
        if any(fnmatch.fnmatch(name, one) for one in patterns) and _DATA + name not in given
    ]
    executable = [name for name in names if os.access(name, os.X_OK)]
    return wire.pack({"executable": executable}, {name: _read(name) for name in sorted(names)})


def _files(folder: str) -> Iterator[str]:
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            if stat.S_ISREG(os.lstat(path).st_mode):
                yield os.path.relpath(path, folder)


def _read(name: str) -> bytes:
    with open(name, "rb") as file:
        return file.read()


def _unpack(product: bytes) -> None:
    header, files = wire.unpack(product)
    write_files({_FILE + name: content for name, content in files.items()})
    executable: Any = header["executable"]
    for name in executable:
        os.chmod(name, _EXECUTABLE)
