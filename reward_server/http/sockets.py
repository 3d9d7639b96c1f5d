"""Addresses and sockets of the HTTP doors; this module needs no extra."""

from __future__ import annotations

import errno
import ipaddress
import socket

from reward_server.errors import StartError

_REMEDIES = {
    errno.EADDRINUSE: "another process uses the port; end it, or set another http_port",
    errno.EACCES: "ports below 1024 need more rights; set http_port to 1024 or above",
    errno.EADDRNOTAVAIL: "this machine does not have the address; set another http_host",
}
_OTHER_REMEDY = "set another http_host or http_port"


class PortError(StartError):
    """A port that cannot be bound.

    Args:
        problem: what is wrong.
        remedy: what to do.
    """

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"http_port: {problem}; {remedy}")
        self.problem = problem
        self.remedy = remedy


def is_loopback(host: str) -> bool:
    """Returns True if an address is reached by programs of this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def bound(host: str, port: int, *, is_shared: bool) -> list[socket.socket]:
    """Binds each address of a host that this machine has, all to one port; 0 takes any free one.

    Args:
        host: name or address.
        port: the TCP port.
        is_shared: whether other processes of the server listen on the same port.

    Raises:
        PortError: none can be bound.
    """
    found: list[socket.socket] = []
    problem, remedy = "it has no address", _OTHER_REMEDY
    try:
        places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        places, problem = [], str(error)
    for family, kind, protocol, _, address in places:
        one = socket.socket(family, kind, protocol)
        wanted = found[0].getsockname()[1] if found else port
        try:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if is_shared:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            one.bind((address[0], wanted, *address[2:]))
        except OSError as error:
            one.close()
            problem = error.strerror or str(error)
            remedy = _REMEDIES.get(error.errno or 0, _OTHER_REMEDY)
        else:
            found.append(one)
    if not found:
        raise PortError(f"cannot listen on {host}:{port}: {problem}", remedy)
    return found
