"""The candidate's standard streams, as a new interpreter makes them, and their replacements while
tests capture output."""

from __future__ import annotations

import builtins
import functools
import io
import sys
from _sitebuiltins import Quitter
from collections.abc import Iterable
from typing import TextIO

_DESCRIPTORS = {"stdout": 1, "stderr": 2}


def _reader(descriptor: int) -> io.TextIOWrapper:
    raw = io.FileIO(descriptor, "r", closefd=False)
    return io.TextIOWrapper(io.BufferedReader(raw), encoding="utf-8", newline=None)


def _writer(descriptor: int, errors: str, *, line_buffering: bool = False) -> io.TextIOWrapper:
    raw = io.FileIO(descriptor, "w", closefd=False)
    return _text(raw, errors, line_buffering=line_buffering)


def _text(raw: io.FileIO, errors: str, *, line_buffering: bool = False) -> io.TextIOWrapper:
    buffer = io.BufferedWriter(raw)
    return io.TextIOWrapper(
        buffer, encoding="utf-8", errors=errors, newline="\n", line_buffering=line_buffering
    )


@functools.cache
def open_streams() -> None:
    """Sets the streams of `sys`, and the names that `site` adds to `builtins`, once in a process.

    Forks can use them too, after they replace descriptors 0, 1 and 2 with their own pipes. Line
    ends of every system become line feeds in the text of the input.
    """
    streams = {
        "stdin": _reader(0),
        "stdout": _writer(1, "strict"),
        "stderr": _writer(2, "backslashreplace", line_buffering=True),
    }
    for name, stream in streams.items():
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    for name in ("exit", "quit"):
        setattr(builtins, name, Quitter(name, "Ctrl-D (i.e. EOF)"))


def flush_streams() -> bool:
    """Flushes the outputs and their replacements; returns True if that succeeded."""
    worked = _flush(sys.stdout)
    if sys.stdout is not sys.__stdout__:
        worked = _flush(sys.__stdout__) and worked
    return _flush(sys.stderr) and worked


def _flush(stream: TextIO | None) -> bool:
    try:
        if stream is not None and not getattr(stream, "closed", False):
            stream.flush()
    except Exception:  # noqa: BLE001  # a stream of the solution may raise anything
        return False
    return True


class _Kept(io.FileIO):
    """A descriptor that also keeps a copy of the text that is written to it."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self._kept = bytearray()
        self._text = ""

    def write(self, data: memoryview) -> int:  # type: ignore[override]  # only a buffer calls it
        written = super().write(data)
        self._kept += data[:written]
        return written

    def told(self, characters: int) -> str:
        """Removes and returns the beginning of the copy."""
        text = self._text + self._kept.decode("utf-8", "replace")
        self._kept.clear()
        self._text = text[characters:]
        return text[:characters]


class Exchanged:
    """The streams in `sys` while the tests have replaced theirs.

    The tests would not see output to another stream, such as one that the solution saved before, or
    output that bypasses all streams.
    """

    def __init__(self) -> None:
        self._before: dict[str, object] = {}
        self._streams: dict[str, tuple[io.TextIOWrapper, _Kept]] = {}

    def listen(self, names: Iterable[str]) -> None:
        """Replaces these streams with ones that keep a copy, and restores the others."""
        for name, stream in self._before.items():
            setattr(sys, name, stream)
        self._before = {name: getattr(sys, name) for name in names}
        self._streams = {}
        for name in self._before:
            raw = _Kept(_DESCRIPTORS[name])
            stream = _text(raw, "surrogatepass", line_buffering=name == "stderr")
            self._streams[name] = stream, raw
            setattr(sys, name, stream)

    def told(self, name: str, characters: int) -> str:
        """Removes and returns the beginning of what was written to one of them."""
        self.flush()
        return self._streams[name][1].told(characters)

    def flush(self) -> None:
        """Flushes them, even if `sys` no longer has them."""
        for stream, _ in self._streams.values():
            _flush(stream)


def complain(about: object) -> None:
    """Writes a line to the error stream, if possible."""
    try:
        sys.stderr.write(f"{about}\n")
    except Exception:  # noqa: BLE001  # as above
        return
