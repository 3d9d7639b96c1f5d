"""The ports that the processes of a server share, and those of each process alone.

The parent binds each port and never listens on it: the port stays reserved while a process is
started again, and the kernel gives connections only to the processes, which listen.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from reward_server.errors import StartError
from reward_server.rpc.server import try_address


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """The shared ports, and the port of each process, by number."""

    shared: int
    own: tuple[int, ...]
    http: int | None = None


@contextmanager
def reserved_ports(
    host: str,
    port: int,
    first_own: int | None,
    count: int,
    http: tuple[str, int] | None = None,
) -> Iterator[Ports]:
    """Reserves the ports for the length of the block.

    Args:
        host: the address to listen on.
        port: the shared port; 0 for any free one.
        first_own: port of the first process alone, or None for any free ports.
        count: number of processes.
        http: address and shared port of the HTTP doors, if there are any.

    Raises:
        StartError: a port cannot be used.
    """
    wanted = [0 if first_own is None else first_own + number for number in range(count)]
    with ExitStack() as stack:
        shared = _reserve(host, port, stack)
        own = tuple(_reserve(host, one, stack) for one in wanted)
        doors = None if http is None else _reserve(*http, stack)
        yield Ports(shared=shared, own=own, http=doors)


def _reserve(host: str, port: int, stack: ExitStack) -> int:
    try:
        try_address(host, port)
        return _bind(host, port, stack)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise StartError(f"cannot listen on {host} port {port}: {reason}") from None


def _bind(host: str, port: int, stack: ExitStack) -> int:
    """Binds a port on each address of the host that this machine has.

    Raises:
        OSError: the machine has none of them.
    """
    problem: OSError | None = None
    bound = 0
    for family, kind, protocol, _, address in socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM
    ):
        one = socket.socket(family, kind, protocol)
        try:
            # Each process listens by itself: gRPC cannot use a socket that another one opened.
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            # All addresses of a name get the port of the first one.
            one.bind((address[0], bound or port, *address[2:]))
        except OSError as error:
            one.close()
            problem = error
        else:
            stack.callback(one.close)
            bound = int(one.getsockname()[1])
    if not bound and problem is not None:
        raise problem
    return bound
