"""Messages and file descriptors between the runner's processes, over packet sockets."""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence

_DESCRIPTOR = struct.Struct("i")


def line() -> tuple[socket.socket, socket.socket]:
    """Returns both ends of a packet socket."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def as_line(descriptor: int) -> socket.socket:
    """Returns the packet socket of a descriptor. Family and type are given, since finding each
    would cost a system call."""
    return socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, 0, descriptor)


def as_stream(descriptor: int) -> socket.socket:
    """Returns the stream socket of a descriptor, see `as_line`."""
    return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, descriptor)


def send(line: socket.socket, message: bytes, descriptors: Sequence[int] = ()) -> None:
    """Sends a message, with copies of descriptors.

    Raises:
        OSError: the other end is closed.
    """
    packed = b"".join(map(_DESCRIPTOR.pack, descriptors))
    line.sendmsg([message], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, packed)] if packed else [])


def receive(line: socket.socket, size: int, descriptors: int = 0) -> tuple[bytes, list[int]]:
    """Waits for a message and the descriptors that come with it.

    Args:
        line: a packet socket.
        size: greatest size of a message in bytes.
        descriptors: how many descriptors come with it.

    Returns:
        The message, empty if the other end is gone, and the descriptors.
    """
    room = socket.CMSG_SPACE(descriptors * _DESCRIPTOR.size) if descriptors else 0
    try:
        message, passed, _, _ = line.recvmsg(size, room, socket.MSG_CMSG_CLOEXEC)
    except ConnectionResetError:
        # The other end went with a message of ours unread; what it had sent comes after this error.
        message, passed, _, _ = line.recvmsg(size, room, socket.MSG_CMSG_CLOEXEC)
    numbers = (number for _, _, packed in passed for number in _DESCRIPTOR.iter_unpack(packed))
    return message, [number for (number,) in numbers]
