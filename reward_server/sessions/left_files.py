"""Copies the files that a session leaves, within bounds, for an execution that judges them.

What this stops: files that are no files. A link is not followed, a pipe or a device is not opened,
and what git keeps for itself, with its hooks, is left out. Number and sizes are bounded.

What it does not: it believes nothing of the contents, which are the session's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reward_server.domain import MEBIBYTE
from reward_server.errors import SessionFileError
from reward_server.runner.sessions.wire import FILE_PART_BYTES, Reason, Type
from reward_server.sandbox.sessions.sandbox import LISTED_FILES, SessionSandbox

MOST_BYTES = 64 * MEBIBYTE
_WITHOUT = (".git",)
_NO_TEXT = "\N{REPLACEMENT CHARACTER}"  # stands for bytes of a path that are no text
_EXECUTABLE = 0o100
_GONE = (Reason.FILE_NOT_FOUND, Reason.FILE_NOT_PERMITTED, Reason.FILE_NOT_REGULAR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """The files of a folder.

    Args:
        files: contents, by path relative to the folder.
        executable: paths of those that may be executed.
        refusal: why they cannot be judged; empty if they can.
    """

    files: Mapping[str, bytes] = field(default_factory=dict)
    executable: tuple[str, ...] = ()
    refusal: str = ""


async def left_in(sandbox: SessionSandbox, folder: str) -> Left:
    """Copies the regular files of a folder of a session in which no command runs.

    Raises:
        SessionFileError: there is no such folder.
        SessionEndedError: the session has ended.
    """
    entries, is_cut = await sandbox.entries(folder, recursive=True, without=_WITHOUT)
    if is_cut:
        return Left(refusal=f"the session's folder has more than {LISTED_FILES} entries")
    files: dict[str, bytes] = {}
    executable = []
    room = MOST_BYTES
    for entry in entries:
        if entry.type is not Type.FILE or _NO_TEXT in entry.path:
            continue
        try:
            content = await content_of(sandbox, f"{folder}/{entry.path}", room)
        except SessionFileError as error:
            if error.reason in _GONE:
                continue
            raise
        if content is None:
            return Left(refusal=f"the session's files have more than {MOST_BYTES} bytes")
        files[entry.path] = content
        room -= len(content)
        if entry.mode & _EXECUTABLE:
            executable.append(entry.path)
    return Left(files=files, executable=tuple(executable))


async def content_of(sandbox: SessionSandbox, path: str, most_bytes: int) -> bytes | None:
    """Reads a file of a session; returns None if it is larger than allowed.

    Raises:
        SessionFileError: it cannot be read.
        SessionEndedError: the session has ended.
    """
    content = bytearray()
    while True:
        part, size = await sandbox.read(path, len(content), FILE_PART_BYTES)
        content += part
        if max(size, len(content)) > most_bytes:
            return None
        if len(part) < FILE_PART_BYTES:
            return bytes(content)
