"""Reads the files of a task's folder, which may come from a stranger.

What this stops: links out of the part of the folder that is read, such as from the files that an
agent sees to the solution, the hidden tests or a file of this machine; special files; and folders
that are too large.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MOST_FILES = 20_000
MOST_BYTES = 64 << 20


class FolderError(ValueError):
    """A part of a task's folder that cannot be used.

    Args:
        place: the file, and the line if there is one, such as `environment/Dockerfile:3`.
        problem: what is wrong with it, and how to mend it.
    """

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(f"{place}: {problem}")
        self.place = place
        self.problem = problem


@dataclass(frozen=True, slots=True)
class File:
    """A regular file of a task."""

    content: bytes
    executable: bool = False


def files_below(folder: Path, name: str) -> dict[str, File]:
    """Reads all files of one part of a task, such as `tests`, by their paths below it.

    Raises:
        FolderError: a file is no regular file, a link leads out of the part, or there is too much.
    """
    top = folder / name
    if top.is_symlink():
        raise FolderError(name, "is a link: replace it by a copy")
    found: dict[str, File] = {}
    size = 0
    for path in _paths(top):
        place = f"{name}/{path}"
        status = _status(top, path, place)
        size += status.st_size
        if len(found) == MOST_FILES or size > MOST_BYTES:
            raise FolderError(name, f"has more than {MOST_FILES} files or {MOST_BYTES} bytes")
        found[path] = File((top / path).read_bytes(), bool(status.st_mode & stat.S_IXUSR))
    return found


def text_of(folder: Path, name: str) -> str:
    """Reads a file of text at the top of a task.

    Raises:
        FolderError: it is absent, is no regular file below the folder, or is not UTF-8.
    """
    if not os.path.lexists(folder / name):
        raise FolderError(name, "is absent")
    if _status(folder, name, name).st_size > MOST_BYTES:
        raise FolderError(name, f"has more than {MOST_BYTES} bytes")
    return decoded(name, (folder / name).read_bytes())


def decoded(place: str, content: bytes) -> str:
    """Decodes a file of text.

    Raises:
        FolderError: it is not UTF-8.
    """
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise FolderError(place, f"is not UTF-8: {error.reason}") from error


def _paths(top: Path) -> Iterator[str]:
    for parent, folders, names in os.walk(top):
        folders.sort()
        links = [name for name in folders if os.path.islink(os.path.join(parent, name))]
        for name in sorted((*names, *links)):
            yield Path(os.path.relpath(os.path.join(parent, name), top)).as_posix()


def _status(top: Path, path: str, place: str) -> os.stat_result:
    real = Path(os.path.realpath(top / path))
    if not real.is_relative_to(os.path.realpath(top)):
        raise FolderError(place, "is a link that leads out of its folder: replace it by a copy")
    try:
        status = os.stat(real, follow_symlinks=False)
    except OSError as error:
        raise FolderError(place, f"cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(status.st_mode):
        raise FolderError(place, "is no regular file, or is a link to a folder: remove it")
    return status
