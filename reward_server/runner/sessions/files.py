"""The files of a session, as its first process reads and writes them for the server.

What this stops: a path that leads to a file outside the session. The process that opens a path is
inside the session's walls. So a link or `..` leads only to files that a command of the session
could open.

What it does not: it protects no file of the session from the session's own commands.

A command may put a pipe, a device or a link to itself in the place of a file. So a file is opened
without waiting for it, and only a regular file is read or written.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .. import wire as documents
from .wire import FILE_PART_BYTES, Reason, Type

_EXECUTABLE, _PLAIN = 0o755, 0o644
_OPEN = os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_REASONS: Mapping[int, Reason] = {
    errno.ENOENT: Reason.FILE_NOT_FOUND,
    errno.EISDIR: Reason.FILE_IS_FOLDER,
    errno.ENOTDIR: Reason.FILE_NOT_A_FOLDER,
    errno.EEXIST: Reason.FILE_NOT_A_FOLDER,
    errno.ENXIO: Reason.FILE_NOT_REGULAR,
    errno.EACCES: Reason.FILE_NOT_PERMITTED,
    errno.EPERM: Reason.FILE_NOT_PERMITTED,
    errno.EROFS: Reason.FILE_NOT_PERMITTED,
    errno.ETXTBSY: Reason.FILE_NOT_PERMITTED,
    errno.EFBIG: Reason.FILE_TOO_LARGE,
    errno.ENOSPC: Reason.FILE_DISK_FULL,
}
_TYPES = (
    (stat.S_ISREG, Type.FILE),
    (stat.S_ISDIR, Type.FOLDER),
    (stat.S_ISLNK, Type.LINK),
)


class _NotRegularError(OSError):
    """A folder, a pipe, a device or a socket in the place of a file."""


def reason_of(error: OSError) -> Reason:
    """Returns why an operation on a file failed."""
    if isinstance(error, _NotRegularError):
        return Reason.FILE_NOT_REGULAR
    return _REASONS.get(error.errno or 0, Reason.FILE_FAILED)


def write(payload: bytes) -> bytes:
    """Writes a file, and makes its folders.

    Raises:
        OSError: the kernel refuses, or it is no regular file.
    """
    header, blobs = documents.unpack(payload)
    path, append = str(header["path"]), bool(header["append"])
    if folder := os.path.dirname(path):
        os.makedirs(folder, exist_ok=True)
    descriptor = os.open(path, _OPEN | os.O_WRONLY | os.O_CREAT, _PLAIN)
    try:
        _require_regular(descriptor)
        if append:
            os.lseek(descriptor, 0, os.SEEK_END)
        else:
            os.ftruncate(descriptor, 0)
        _write_all(descriptor, blobs["content"])
        if header["executable"]:
            os.fchmod(descriptor, _EXECUTABLE)
    finally:
        os.close(descriptor)
    return documents.pack({}, {})


def read(order: Mapping[str, Any]) -> bytes:
    """Reads a part of a file.

    Raises:
        OSError: the kernel refuses, or it is no regular file.
    """
    descriptor = os.open(order["path"], _OPEN | os.O_RDONLY)
    try:
        _require_regular(descriptor)
        size = os.fstat(descriptor).st_size
        content = os.pread(descriptor, min(order["length"], FILE_PART_BYTES), order["offset"])
    finally:
        os.close(descriptor)
    return documents.pack({"size": max(size, order["offset"] + len(content))}, {"content": content})


def entries(order: Mapping[str, Any]) -> bytes:
    """Lists a folder.

    Raises:
        OSError: the kernel refuses, or it is no folder.
    """
    folder, room = order["path"], order["path_bytes"]
    found: list[tuple[str, str, int, int]] = []
    is_cut = False
    for entry in _walk(folder, order["without"], recursive=order["recursive"]):
        name = _text(os.path.relpath(entry.path, folder))
        room -= len(name.encode())
        if len(found) == order["count"] or room < 0:
            is_cut = True
            break
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            continue  # a command has removed it meanwhile
        found.append((name, _type_of(status.st_mode), status.st_size, stat.S_IMODE(status.st_mode)))
    return documents.pack({"files": sorted(found), "truncated": is_cut}, {})


def _walk(folder: str, without: Sequence[str], *, recursive: bool) -> Iterator[os.DirEntry[str]]:
    todo = [folder]
    while todo:
        here = todo.pop()
        try:
            with os.scandir(here) as listing:
                for entry in listing:
                    if entry.name in without:
                        continue
                    yield entry
                    if recursive and entry.is_dir(follow_symlinks=False):
                        todo.append(entry.path)
        except OSError:
            if here == folder:
                raise


def _type_of(mode: int) -> str:
    return next((name for holds, name in _TYPES if holds(mode)), Type.OTHER)


def _text(name: str) -> str:
    return name.encode(errors="surrogateescape").decode(errors="replace")


def _require_regular(descriptor: int) -> None:
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):
        raise _NotRegularError(errno.EINVAL, "it is no regular file")


def _write_all(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
