"""The files of a repository, and how they are read from an archive."""

from __future__ import annotations

import io
import posixpath
import tarfile
import zlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import IO

MOST_FILES = 20_000
MOST_BYTES = 64 << 20
PATH_BYTES = 1024
_NAME_BYTES = 255  # of a file or folder on Linux
_MOST_ARCHIVE_BYTES = MOST_BYTES + 1536 * MOST_FILES  # a header, padding and a long name of each
_GZIP = b"\x1f\x8b"
_GZIP_WINDOW = 31
_EXECUTABLE = 0o100
_LEFT_OUT = frozenset({".git"})
# What tarfile raises for an archive that is malformed.
_FAULTS = (tarfile.TarError, OSError, EOFError, ValueError, OverflowError, RecursionError)


class TreeError(ValueError):
    """Files that make no repository."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """Regular files of a folder, by relative path.

    Args:
        files: their contents.
        executable: paths of those that may be executed.
    """

    files: Mapping[str, bytes] = field(default_factory=dict)
    executable: frozenset[str] = frozenset()

    @property
    def size_bytes(self) -> int:
        """Size of all contents."""
        return sum(map(len, self.files.values()))


def check_path(path: str) -> None:
    """Checks that a path leads to a file below a folder.

    Raises:
        TreeError: it does not.
    """
    parts = path.split("/")
    if path.startswith("/") or not {"", ".", ".."}.isdisjoint(parts):
        raise TreeError(f"{path[:PATH_BYTES]!r} is no path of a file below the repository")
    try:
        sizes = [len(part.encode()) for part in parts]
    except UnicodeEncodeError:
        raise TreeError(f"{path[:80]!r} is not UTF-8") from None
    if "\0" in path or sum(sizes) + len(parts) - 1 > PATH_BYTES:
        raise TreeError(f"{path[:80]!r}... is longer than {PATH_BYTES} bytes, or has a null byte")
    if max(sizes) > _NAME_BYTES:
        raise TreeError(f"{path[:80]!r}... has a part that is longer than {_NAME_BYTES} bytes")


def is_left_out(path: str) -> bool:
    """Returns True if a path is part of what git keeps for itself."""
    return not _LEFT_OUT.isdisjoint(path.split("/"))


class TreeBuilder:
    """Collects the files of a repository, within the bounds on their number and size."""

    def __init__(self) -> None:
        self._files: dict[str, bytes] = {}
        self._executable: set[str] = set()
        self._links: dict[str, str] = {}
        self._room = MOST_BYTES

    def make_room(self, path: str, size: int) -> None:
        """Checks that a file of this size fits, before its content is read.

        Raises:
            TreeError: it does not.
        """
        check_path(path)
        if size < 0:
            raise TreeError(f"{path!r} has a negative size")
        self._room -= size
        if self._room < 0:
            raise TreeError(f"its files have more than {MOST_BYTES} bytes together")
        if len(self._files) + len(self._links) >= MOST_FILES:
            raise TreeError(f"it has more than {MOST_FILES} files")

    def add(self, path: str, content: bytes, *, executable: bool) -> None:
        """Adds a file for which room was made."""
        self._files[path] = content
        self._executable.discard(path)
        if executable:
            self._executable.add(path)

    def link(self, path: str, target: str) -> None:
        """Adds a link; the target is a path from the top."""
        self.make_room(path, 0)
        self._links[path] = target

    def tree(self) -> Tree:
        """Returns the repository, with copies of files in the place of links to them.

        Raises:
            TreeError: a link leads to no file of it, or a file is a folder of another.
        """
        for path, target in self._links.items():
            seen = {path}
            while target in self._links and target not in seen:
                seen.add(target)
                target = self._links[target]
            if target not in self._files:
                raise TreeError(f"the link {path!r} leads to no file of it")
            content = self._files[target]
            self.make_room(path, len(content))
            self.add(path, content, executable=target in self._executable)
        check_apart(self._files)
        return Tree(files=self._files, executable=frozenset(self._executable))


def check_apart(paths: Collection[str]) -> None:
    """Checks that no path is a folder of another one.

    Raises:
        TreeError: one is.
    """
    folders = folders_of(paths)
    for path in paths:
        if path in folders:
            raise TreeError(f"{path!r} is a file and a folder")


def folders_of(paths: Iterable[str]) -> set[str]:
    """Returns all folders on paths."""
    found: set[str] = set()
    for path in paths:
        folder = posixpath.dirname(path)
        while folder and folder not in found:
            found.add(folder)
            folder = posixpath.dirname(folder)
    return found


def read_archive(archive: bytes) -> Tree:
    """Reads a tar archive, which may be compressed with gzip.

    Raises:
        TreeError: the bytes are no archive, or exceed a bound.
    """
    plain = _unpacked(archive) if archive.startswith(_GZIP) else archive
    builder = TreeBuilder()
    try:
        with tarfile.open(fileobj=io.BytesIO(plain), mode="r:", errors="strict") as members:
            for member in members:
                _take(builder, members, member)
    except TreeError:
        raise
    except _FAULTS as error:
        raise TreeError(f"is no tar archive: {error}") from None
    tree = builder.tree()
    if not tree.files:
        raise TreeError("holds no files")
    return tree


def read_streamed_folder(stream: IO[bytes], top: str) -> Tree:
    """Reads a folder from a tar archive, which can only be read once.

    Args:
        stream: the archive, not compressed.
        top: the folder's name in the archive.

    Raises:
        TreeError: the files exceed a bound, or are no repository.
        OSError: the archive cannot be read.
    """
    builder = TreeBuilder()
    try:
        with tarfile.open(fileobj=stream, mode="r|", errors="strict") as members:
            for member in members:
                if member.name == top:
                    continue
                member.name = _below(top, member.name)
                if member.islnk():
                    member.linkname = _below(top, member.linkname)
                _take(builder, members, member)
    except (tarfile.TarError, EOFError, OverflowError) as error:
        raise OSError(f"the archive cannot be read: {error}") from error
    tree = builder.tree()
    if not tree.files:
        raise TreeError("holds no files")
    return tree


def _below(top: str, path: str) -> str:
    return path.removeprefix(f"{top}/")


def _unpacked(archive: bytes) -> bytes:
    unpacker = zlib.decompressobj(_GZIP_WINDOW)
    try:
        plain = unpacker.decompress(archive, _MOST_ARCHIVE_BYTES + 1)
    except zlib.error as error:
        raise TreeError(f"is not compressed with gzip: {error}") from None
    if len(plain) > _MOST_ARCHIVE_BYTES:
        raise TreeError(f"its files have more than {MOST_BYTES} bytes together")
    if not unpacker.eof:
        raise TreeError("is cut short")
    if unpacker.unused_data.strip(b"\0"):
        raise TreeError("has several parts that are compressed with gzip; at most 1 is allowed")
    return plain


def _take(builder: TreeBuilder, members: tarfile.TarFile, member: tarfile.TarInfo) -> None:
    path = posixpath.normpath(member.name) if member.name.startswith("./") else member.name
    path = path.rstrip("/")
    if member.isdir() or is_left_out(path):
        return
    if member.issym():
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), member.linkname))
        builder.link(path, target)
    elif member.islnk():
        builder.link(path, posixpath.normpath(member.linkname))
    elif member.isreg():
        builder.make_room(path, member.size)
        content = members.extractfile(member)
        assert content is not None
        builder.add(path, content.read(), executable=bool(member.mode & _EXECUTABLE))
    else:
        raise TreeError(f"{path!r} is neither a file, nor a folder, nor a link")
