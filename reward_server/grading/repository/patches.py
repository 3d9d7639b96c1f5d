"""Applies a patch in the unified format to a repository.

A hunk fits if the file has its old lines without any difference, at the given line or at another
place. Of several places, the nearest one is taken. If a patch has line ends of Windows and the file
has none, those of the patch come from its transport. The work is bounded for every patch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from reward_server.grading.repository.tree import (
    MOST_BYTES,
    MOST_FILES,
    Tree,
    TreeError,
    check_path,
)

_MOST_LINES = 2_000_000  # that are compared to find the places of hunks
_MOST_READ_BYTES = MOST_BYTES  # of files, each time that a part of the patch changes one
_HUNK = re.compile(rb"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_HUNK_EXAMPLE = "@@ -1,3 +1,4 @@"
_OCTAL = re.compile(rb'\\([0-7]{3}|[abtnvfr"\\])')
_ESCAPES = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f"}
_NOTHING = b"/dev/null"
# What git writes before names: of old and new, or with `diff.mnemonicPrefix` of the commit, the
# index, an object, the working tree, and two paths outside of a repository.
_PREFIXES = frozenset((b"a/", b"b/", b"c/", b"i/", b"o/", b"w/", b"1/", b"2/"))
_LINK = b"120000"
_EXECUTABLE = b"100755"


class PatchError(ValueError):
    """A patch that is malformed or does not fit."""


@dataclass(slots=True)
class _Budget:
    """The work that a patch may still cost."""

    lines: int = _MOST_LINES
    bytes_read: int = _MOST_READ_BYTES
    room: int = 0  # for further bytes in the repository

    def compare(self) -> None:
        self.lines -= 1
        if self.lines < 0:
            raise PatchError("the patch's line numbers are too far off")

    def read(self, content: bytes) -> None:
        self.bytes_read -= len(content)
        if self.bytes_read < 0:
            raise PatchError("the patch changes large files too often")

    def grow(self, size: int) -> None:
        self.room -= size
        if self.room < 0:
            raise PatchError(f"the repository has more than {MOST_BYTES} bytes with the patch")


@dataclass(slots=True)
class _Hunk:
    start: int
    old: list[bytes] = field(default_factory=list)
    new: list[bytes] = field(default_factory=list)


@dataclass(slots=True)
class _FilePatch:
    old: str | None = None  # None if the file is new
    new: str | None = None  # None if the file is deleted
    mode: bytes = b""
    strips: bool | None = None  # whether names have a prefix, if the header of git tells
    moves: bool = False  # whether git names the files apart, since they differ
    is_copy: bool = False
    is_edit: bool = False  # whether lines `---` and `+++` announce hunks
    is_windows: bool = False  # whether these lines end as in Windows
    hunks: list[_Hunk] = field(default_factory=list)


def apply_patch(base: Tree, text: str) -> Tree:
    """Returns a repository with a patch applied; text outside of the patch's parts is ignored.

    Raises:
        PatchError: the patch is malformed, or does not fit.
    """
    parts = list(_read(text.encode("utf-8", "surrogateescape").split(b"\n")))
    if empty := next((one for one in parts if one.is_edit and not one.hunks), None):
        raise PatchError(f"the part of the patch for {empty.new or empty.old!r} has no hunk")
    left = {one.old for one in parts if one.old != one.new and not one.is_copy}
    work = _Work(base, frozenset(path for path in left if path is not None))
    for one in parts:
        work.apply(one)
    if len(work.files) > MOST_FILES:
        raise PatchError(f"the repository has more than {MOST_FILES} files with the patch")
    return Tree(files=work.files, executable=frozenset(work.executable & work.files.keys()))


class _Work:
    """A repository to which the parts of a patch are applied one after the other.

    A file that is renamed or copied is the one before the patch, as for git. So two files can take
    each other's names.

    Args:
        base: the repository before the patch.
        left: paths of files that the patch renames or deletes.
    """

    def __init__(self, base: Tree, left: frozenset[str]) -> None:
        self._base = base
        self._left = left
        self._arrived: set[str] = set()
        self._budget = _Budget(room=MOST_BYTES - base.size_bytes)
        self.files = dict(base.files)
        self.executable = set(base.executable)

    def apply(self, patch: _FilePatch) -> None:
        """Applies one part.

        Raises:
            PatchError: it does not fit.
        """
        old, new = patch.old, patch.new
        content, was_executable = self._before(patch)
        self._check_room(patch)
        changed = _patched(content, patch, self._budget)
        self._budget.grow(len(changed) - (0 if patch.is_copy else len(content)))
        if old is not None and not patch.is_copy and old != new and old not in self._arrived:
            self.files.pop(old, None)
            self.executable.discard(old)
        if new is None:
            if changed:
                raise PatchError(f"the patch deletes {old!r}, but not all of its lines")
            return
        if old != new:
            self._arrived.add(new)
        self.files[new] = changed
        if patch.mode == _EXECUTABLE or (not patch.mode and was_executable):
            self.executable.add(new)
        else:
            self.executable.discard(new)

    def _before(self, patch: _FilePatch) -> tuple[bytes, bool]:
        """Returns the content of the file that a part changes, and whether it is executable."""
        old = patch.old
        if old is None:
            return b"", False
        if patch.moves and old in self._base.files:
            return self._base.files[old], old in self._base.executable
        if old not in self.files:
            raise PatchError(f"the patch changes {old!r}, which is not there")
        return self.files[old], old in self.executable

    def _check_room(self, patch: _FilePatch) -> None:
        """Checks that a part which makes a file does not replace another one."""
        old, new = patch.old, patch.new
        if new is None or new == old or (new in self._left and new not in self._arrived):
            return
        is_empty = old is None and not self.files.get(new)
        if new in self.files and not is_empty:
            raise PatchError(f"the patch creates {new!r}, which is there already")


def _patched(content: bytes, patch: _FilePatch, budget: _Budget) -> bytes:
    if not patch.hunks:
        return content
    budget.read(content)
    lines = content.splitlines(keepends=True) if b"\r" not in content else _lines(content)
    is_windows = bool(lines) and lines[0].endswith(b"\r\n")
    if patch.is_windows and lines and b"\r" not in content:
        for hunk in patch.hunks:
            _use_line_ends_of_unix(hunk)
    made: list[bytes] = []
    position = 0
    for hunk in patch.hunks:
        place = _place(lines, hunk, position, budget) if hunk.old or not is_windows else None
        if place is None and is_windows:
            _use_line_ends_of_windows(hunk)
            place = _place(lines, hunk, position, budget)
        if place is None:
            name = patch.old or patch.new
            raise PatchError(f"the patch does not fit {name!r} at line {hunk.start}")
        made += lines[position:place]
        made += hunk.new
        position = place + len(hunk.old)
    return b"".join((*made, *lines[position:]))


def _lines(content: bytes) -> list[bytes]:
    """Splits at line feeds alone."""
    parts = content.split(b"\n")
    lines = [part + b"\n" for part in parts[:-1]]
    return [*lines, parts[-1]] if parts[-1] else lines


def _use_line_ends_of_windows(hunk: _Hunk) -> None:
    for side in (hunk.old, hunk.new):
        side[:] = [
            line[:-1] + b"\r\n" if line.endswith(b"\n") and line[-2:] != b"\r\n" else line
            for line in side
        ]


def _use_line_ends_of_unix(hunk: _Hunk) -> None:
    for side in (hunk.old, hunk.new):
        side[:] = [line[:-2] + b"\n" if line.endswith(b"\r\n") else line for line in side]


def _place(lines: Sequence[bytes], hunk: _Hunk, least: int, budget: _Budget) -> int | None:
    """Returns the place nearest to the given one where a hunk's old lines stand."""
    size, greatest = len(hunk.old), len(lines) - len(hunk.old)
    wanted = hunk.start if not size else hunk.start - 1
    if not size:
        return wanted if least <= wanted <= len(lines) else None
    wanted = max(least, min(wanted, greatest))
    for distance in range(max(greatest - wanted, wanted - least) + 1):
        for place in {wanted + distance, wanted - distance}:
            if least <= place <= greatest and _fits(lines, hunk, place, budget):
                return place
    return None


def _fits(lines: Sequence[bytes], hunk: _Hunk, place: int, budget: _Budget) -> bool:
    for index, line in enumerate(hunk.old, place):
        budget.compare()
        if lines[index] != line:
            return False
    return True


# ------------------------------------------------------------------------------------ reading


def _read(lines: list[bytes]) -> Iterator[_FilePatch]:
    """Reads the parts of a patch."""
    if lines and not lines[-1]:
        lines = lines[:-1]
    position, current, is_git = 0, _FilePatch(), False
    named = False
    while position < len(lines):
        line = lines[position].rstrip(b"\r")
        position += 1
        if line.startswith(b"diff --git "):
            if named:
                yield current
            current, is_git = _FilePatch(), True
            named = True
            _name_by_header(current, line)
        elif line.startswith(b"--- ") and _next_is_new_name(lines, position):
            if named and (not is_git or current.hunks):
                yield current
                current, is_git = _FilePatch(), False
            _name(current, line[4:], lines[position][4:])
            current.is_edit = True
            current.is_windows = lines[position].endswith(b"\r")
            named, position = True, position + 1
        elif named and (hunk := _HUNK.match(line)):
            position = _read_hunk(current, hunk, lines, position)
        elif named and line.startswith(b"@@"):
            shown = line[:80].decode("utf-8", "replace")
            raise PatchError(f"a hunk begins with {shown!r} instead of {_HUNK_EXAMPLE!r}")
        elif is_git:
            _read_extended(current, line)
    if named:
        yield current


def _next_is_new_name(lines: Sequence[bytes], position: int) -> bool:
    return position < len(lines) and lines[position].startswith(b"+++ ")


def _name_by_header(patch: _FilePatch, line: bytes) -> None:
    """Names a file that is only renamed, emptied or made executable, as `a/NAME b/NAME`."""
    rest = line.removeprefix(b"diff --git ")
    half = len(rest) // 2
    old, new = rest[:half], rest[half + 1 :]
    bare_old, bare_new = _unquoted(old), _unquoted(new)
    strips = _have_prefixes(bare_old, bare_new)
    if bare_old == bare_new or strips:
        patch.strips = strips
        patch.old = patch.new = _path(old, strips=strips)


def _have_prefixes(old: bytes, new: bytes) -> bool:
    """Returns True if two names are the same but for the prefixes that git writes."""
    prefixes = {old[:2], new[:2]}
    return len(prefixes) == 2 and prefixes <= _PREFIXES and old[2:] == new[2:]


def _name(patch: _FilePatch, old: bytes, new: bytes) -> None:
    if patch.moves:
        return
    old, new = map(_without_time, (old, new))
    bare_old, bare_new = _unquoted(old), _unquoted(new)
    strips = patch.strips
    if strips is None:
        strips = _have_prefixes(bare_old, bare_new) or all(
            name == _NOTHING or name.startswith(prefix)
            for name, prefix in ((bare_old, b"a/"), (bare_new, b"b/"))
        )
    patch.old = None if bare_old == _NOTHING else _path(old, strips=strips)
    patch.new = None if bare_new == _NOTHING else _path(new, strips=strips)
    if patch.old is None and patch.new is None:
        raise PatchError("a part of the patch names no file")


def _without_time(name: bytes) -> bytes:
    """Returns a name without the time after a tab; after a name with spaces, git writes a tab."""
    name, tab, _ = name.rstrip(b"\r").partition(b"\t")
    return name if tab else name.rstrip()


def _read_extended(patch: _FilePatch, line: bytes) -> None:
    """Reads a line of git between the name of a file and its first hunk."""
    if patch.hunks:
        return
    word, _, rest = line.rpartition(b" ")
    if line.startswith((b"GIT binary patch", b"Binary files ")):
        raise PatchError("the patch changes a binary file; send the file instead")
    match word:
        case b"new file mode":
            patch.old, patch.mode = None, rest
        case b"deleted file mode":
            patch.new = None
        case b"new mode":
            patch.mode = rest
    for prefix in (b"rename from ", b"copy from "):
        if line.startswith(prefix):
            patch.old = _path(line.removeprefix(prefix), strips=False)
            patch.is_copy, patch.moves = prefix.startswith(b"copy"), True
    for prefix in (b"rename to ", b"copy to "):
        if line.startswith(prefix):
            patch.new = _path(line.removeprefix(prefix), strips=False)
    if patch.mode == _LINK:
        raise PatchError("the patch makes a link")


def _read_hunk(
    patch: _FilePatch, head: re.Match[bytes], lines: Sequence[bytes], position: int
) -> int:
    """Reads the lines of a hunk; returns the position after them."""
    hunk = _Hunk(start=int(head[1]))
    old, new = int(head[2] or 1), int(head[4] or 1)
    while len(hunk.old) < old or len(hunk.new) < new:
        if position >= len(lines):
            raise PatchError(f"the hunk {head[0].decode()!r} is cut short")
        line, position = lines[position], position + 1
        kind, text = line[:1], line[1:] + b"\n"
        match kind:
            case b" " | b"" | b"\r":  # an editor may have removed the space of an empty line
                hunk.old.append(text)
                hunk.new.append(text)
            case b"-":
                hunk.old.append(text)
            case b"+":
                hunk.new.append(text)
            case b"\\":
                _end_without_newline(hunk, lines[position - 2][:1])
            case _:
                raise PatchError(f"the hunk {head[0].decode()!r} has fewer lines than it says")
    if len(hunk.old) > old or len(hunk.new) > new:
        raise PatchError(f"the hunk {head[0].decode()!r} has more lines than it says")
    if position < len(lines) and lines[position].startswith(b"\\"):
        _end_without_newline(hunk, lines[position - 1][:1])
        position += 1
    patch.hunks.append(hunk)
    return position


def _end_without_newline(hunk: _Hunk, kind: bytes) -> None:
    for side, sign in ((hunk.old, b"-"), (hunk.new, b"+")):
        if side and kind in (sign, b" "):
            side[-1] = side[-1].removesuffix(b"\n")


def _path(name: bytes, *, strips: bool) -> str:
    name = _unquoted(name)
    if strips:
        name = name.partition(b"/")[2]
    try:
        path = name.decode()
        check_path(path)
    except (UnicodeDecodeError, TreeError) as error:
        raise PatchError(f"a name in the patch is no path: {error}") from None
    return path


def _unquoted(name: bytes) -> bytes:
    """Reads a name that git has quoted."""
    if len(name) < 2 or not (name.startswith(b'"') and name.endswith(b'"')):
        return name

    def plain(found: re.Match[bytes]) -> bytes:
        one = found[1]
        if len(one) == 3:
            return bytes([int(one, 8) & 0xFF])
        return _ESCAPES.get(one, b"\r" if one == b"r" else one)

    return _OCTAL.sub(plain, name[1:-1])
