"""The candidate's standard streams: pipes, read while the judge waits, or memory files.

A memory file of input is sealed before the candidate runs: nobody can change it, not even through
a descriptor that the candidate opens by itself. Memory files of output are read when the candidate
is gone.
"""

from __future__ import annotations

import fcntl
import os
import select

_PIECE_BYTES = 1 << 16
_ALL_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE


def give_input(descriptor: int, data: bytes) -> None:
    """Writes a program's input to its memory file, and seals it."""
    with open(descriptor, "wb", closefd=False) as file:
        file.write(data)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _ALL_SEALS)


class OutputLimitError(Exception):
    """The candidate wrote more than allowed."""


class Stream:
    """One stream: its leading bytes and its true size."""

    def __init__(self) -> None:
        self.kept = bytearray()
        self.size_bytes = 0

    def read_file(self, descriptor: int, kept_bytes: int) -> None:
        """Reads a memory file."""
        self.size_bytes = os.fstat(descriptor).st_size
        with open(descriptor, "rb", closefd=False) as file:
            self.kept += file.read(min(self.size_bytes, kept_bytes))


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
        # Read by the judge: the supervisor may hold no output, and one more process costs a fork.
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

    def read_files(self, stdout: int, stderr: int) -> None:
        """Reads both streams of a candidate that wrote to memory files and is gone."""
        self.stdout.read_file(stdout, self._kept_bytes)
        self.stderr.read_file(stderr, self._kept_bytes)

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
