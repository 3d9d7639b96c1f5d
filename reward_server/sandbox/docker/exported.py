"""Reads an archive that an engine sends, while it arrives."""

from __future__ import annotations

import io
from collections.abc import Iterable


class Exported(io.RawIOBase):
    """A file that can be read once, from a stream of pieces."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """Returns True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # callers pass one
        """Fills a part of a buffer; returns its size, which is 0 at the end."""
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count
