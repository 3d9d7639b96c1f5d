"""The candidate's standard streams, as a new interpreter makes them."""

from __future__ import annotations

import builtins
import functools
import io
import sys
from _sitebuiltins import Quitter
from typing import TextIO


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


def complain(about: object) -> None:
    """Writes a line to the error stream, if possible."""
    try:
        sys.stderr.write(f"{about}\n")
    except Exception:  # noqa: BLE001  # as above
        return
