"""Frames on the candidate's end of the channel, sent and received in order with blocking calls."""

from __future__ import annotations

import socket
import struct

from ..wire import JOINED, LENGTH

NUMBER = struct.Struct(">Q")  # begins every frame after READY and LOADED
READY = b'["ready"]'
LOADED = b'["loaded"]'
AHEAD = b"+"  # begins a question that the tests ask in any case, if nothing but data was answered
BEHIND = b'["behind"]'  # the answer to it if something else was
MOST_SHOWN = 1000  # characters of why there is no answer, or no solution
_PIECE_BYTES = 1 << 18
_USUAL_BYTES = 1 << 12


class ChannelClosedError(Exception):
    """The other side has closed the channel."""


class Frames:
    """Sends and receives frames.

    Args:
        channel: a blocking stream socket.
    """

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._buffer = bytearray()

    def send(self, frame: bytes) -> None:
        """Sends a frame.

        Raises:
            OSError: the other side has closed the channel.
        """
        self._channel.sendall(LENGTH.pack(len(frame)) + frame)

    def receive(self) -> bytes:
        """Waits for a frame.

        Raises:
            ChannelClosedError: the other side has closed the channel.
        """
        self._fill(LENGTH.size)
        end = LENGTH.size + LENGTH.unpack_from(self._buffer)[0]
        if len(self._buffer) < end:
            self._fill(end)
        frame = bytes(memoryview(self._buffer)[LENGTH.size : end])
        del self._buffer[:end]
        return frame

    def receive_pipes(self) -> list[int]:
        """Waits for the ends of two pipes: one to read, one to write.

        The other side must send nothing between the last frame and the pipes.

        Raises:
            ChannelClosedError: the other side has closed the channel.
        """
        flags = socket.MSG_CMSG_CLOEXEC
        message, descriptors, _, _ = socket.recv_fds(self._channel, len(JOINED), 2, flags)
        if message != JOINED:
            raise ChannelClosedError
        return descriptors

    def close(self) -> None:
        """Closes the channel."""
        self._channel.close()

    def _fill(self, size: int) -> None:
        while (missing := size - len(self._buffer)) > 0:
            piece_bytes = min(missing, _PIECE_BYTES) if missing > _USUAL_BYTES else _USUAL_BYTES
            piece = self._channel.recv(piece_bytes)
            if not piece:
                raise ChannelClosedError
            self._buffer += piece
