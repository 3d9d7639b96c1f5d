"""The judge's end of the channel. It drains the candidate's output while it waits, so that neither
side can deadlock the other.

What this stops: a candidate that fills a pipe, sends part of a frame or an endless frame, or stops
reading, so that both processes wait for each other for ever.

What it does not stop: a candidate that does nothing. The zygote ends it by its clock.
"""

from __future__ import annotations

import select
import socket

from ..wire import LENGTH
from .outputs import Outputs

_PIECE_BYTES = 1 << 18
_USUAL_BYTES = 1 << 12


class ClosedError(Exception):
    """The candidate's end is closed."""


class OversizeFrameError(Exception):
    """The candidate announced a frame larger than its shim would send."""


class Link:
    """Sends and receives frames, and reads the candidate's output while it waits.

    Args:
        channel: a stream socket.
        outputs: the candidate's output.
    """

    def __init__(self, channel: socket.socket, outputs: Outputs) -> None:
        channel.setblocking(False)
        self._channel = channel
        self._outputs = outputs
        self._buffer = bytearray()
        self._poller = select.poll()
        self._descriptor = channel.fileno()
        self._poller.register(self._descriptor, select.POLLIN)
        for descriptor in outputs.open:
            self._poller.register(descriptor, select.POLLIN)

    def send(self, *frames: bytes) -> None:
        """Sends frames.

        Raises:
            ClosedError: the candidate has closed its end.
            OutputLimitError: the candidate wrote more than allowed.
        """
        rest = memoryview(b"".join(LENGTH.pack(len(frame)) + frame for frame in frames))
        while rest:
            try:
                rest = rest[self._channel.send(rest) :]
            except BlockingIOError:
                self._poller.modify(self._descriptor, select.POLLOUT)
                self._wait()
                self._poller.modify(self._descriptor, select.POLLIN)
            except OSError as error:
                raise ClosedError from error

    def receive(self, limit_bytes: int) -> bytes:
        """Waits for a frame.

        Raises:
            ClosedError: the candidate has closed its end.
            OversizeFrameError: the frame is larger than `limit_bytes`.
            OutputLimitError: the candidate wrote more than allowed.
        """
        self._fill(LENGTH.size)
        size = LENGTH.unpack_from(self._buffer)[0]
        if size > limit_bytes:
            raise OversizeFrameError
        end = LENGTH.size + size
        if len(self._buffer) < end:
            self._fill(end)
        frame = bytes(memoryview(self._buffer)[LENGTH.size : end])
        del self._buffer[:end]
        return frame

    def closes(self) -> bool:
        """Waits until the candidate sends data or closes its end; returns True if it closed.

        Raises:
            OutputLimitError: the candidate wrote more than allowed.
        """
        try:
            self._fill(1)
        except ClosedError:
            return True
        return False

    @property
    def buffered(self) -> bool:
        """Returns True if bytes arrived after the last frame."""
        return bool(self._buffer)

    def has_more(self) -> bool:
        """Returns True if the candidate sent anything without a request."""
        if not self._buffer:
            try:
                self._buffer += self._channel.recv(_USUAL_BYTES)
            except OSError:
                return False
        return bool(self._buffer)

    def _fill(self, size: int) -> None:
        while (missing := size - len(self._buffer)) > 0:
            piece_bytes = min(missing, _PIECE_BYTES) if missing > _USUAL_BYTES else _USUAL_BYTES
            self._wait()
            try:
                piece = self._channel.recv(piece_bytes)
            except BlockingIOError:
                continue
            except OSError as error:
                raise ClosedError from error
            if not piece:
                raise ClosedError
            self._buffer += piece

    def _wait(self) -> None:
        """Reads output until the channel is ready."""
        ready = False
        while not ready:
            for descriptor, _ in self._poller.poll():
                if descriptor == self._descriptor:
                    ready = True
                elif descriptor not in self._outputs.open or not self._outputs.read(descriptor):
                    self._poller.unregister(descriptor)
