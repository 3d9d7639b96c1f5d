"""The candidate's standard streams, as a fresh interpreter would make them."""

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
    buffer = io.BufferedWriter(io.FileIO(descriptor, "w", closefd=False))
    return io.TextIOWrapper(
        buffer, encoding="utf-8", errors=errors, newline="\n", line_buffering=line_buffering
    )


@functools.cache
def open_streams() -> None:
    """Gives `sys` its streams, and `builtins` what `site` gives them, once in a process.

    They are good for its forks too, which put pipes of their own in the place of descriptors 0,
    1 and 2. Line ends of any system are line feeds in the text of the input.
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
    """Flushes the outputs, also those that were put in their place; tells whether it worked."""
    worked = _flush(sys.stdout)
    if sys.stdout is not sys.__stdout__:
        worked = _flush(sys.__stdout__) and worked
    return _flush(sys.stderr) and worked


def _flush(stream: TextIO | None) -> bool:
    try:
        if stream is not None and not getattr(stream, "closed", False):
            stream.flush()
    except Exception:  # noqa: BLE001  # a stream of the solution's may raise anything
        return False
    return True


def complain(about: object) -> None:
    """Writes a line to the error stream, if that can be."""
    try:
        sys.stderr.write(f"{about}\n")
    except Exception:  # noqa: BLE001  # as above
        return
