"""The candidate's output to its standard streams, read while the judge waits."""

from __future__ import annotations

import os
import select

_PIECE_BYTES = 1 << 16


class OutputLimitError(Exception):
    """The candidate wrote more than allowed."""


class Stream:
    """One stream: its leading bytes and its true size."""

    def __init__(self) -> None:
        self.kept = bytearray()
        self.size_bytes = 0


class Outputs:
    """Both streams.

    Args:
        stdout: read end of a pipe, or None if there is no such stream.
        stderr: the same for the error output.
        kept_bytes: how much of each is kept.
        limit_bytes: greatest size of both together.
    """

    def __init__(
        self, stdout: int | None, stderr: int | None, *, kept_bytes: int, limit_bytes: int
    ) -> None:
        self.stdout, self.stderr = Stream(), Stream()
        ends = ((stdout, self.stdout), (stderr, self.stderr))
        self.open = {end: stream for end, stream in ends if end is not None}
        self._kept_bytes = kept_bytes
        self._left_bytes = limit_bytes

    def read(self, descriptor: int) -> bool:
        """Reads from a stream, waiting if it is empty; returns True if more may come.

        Raises:
            OutputLimitError: the candidate wrote more than allowed.
        """
        piece = os.read(descriptor, _PIECE_BYTES)
        if not piece:
            del self.open[descriptor]
            return False
        stream = self.open[descriptor]
        stream.size_bytes += len(piece)
        self._left_bytes -= len(piece)
        stream.kept += piece[: self._kept_bytes - len(stream.kept)]
        if self._left_bytes < 0:
            raise OutputLimitError
        return True

    def drain(self) -> None:
        """Reads all available output, without waiting.

        Raises:
            OutputLimitError: the candidate wrote more than allowed.
        """
        poller = select.poll()
        for descriptor in self.open:
            poller.register(descriptor, select.POLLIN)
        while ready := poller.poll(0):
            for descriptor, _ in ready:
                if not self.read(descriptor):
                    poller.unregister(descriptor)
