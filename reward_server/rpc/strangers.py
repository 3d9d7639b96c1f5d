"""Limits callers without a credential to a few connections, calls and health streams.

What this stops: strangers who open connections until descriptors run out, who send calls faster
than they can be refused (including HTTP/2's rapid reset), or who hold streams forever. The gRPC
core has its own limits for each of these, but they are the same for all callers. With them, holders
of a credential would be refused too. This module therefore watches the connections. It never ends a
connection on which a valid credential was shown, and keeps only a few of the others.

What it does not stop: floods below HTTP/2 (packets, TLS handshakes), which the network must limit,
and strangers who share a proxy's connection with holders of credentials.

To end a connection, it duplicates the descriptor, checks the duplicate's address, and shuts the
duplicate down. The number of the descriptor itself may have been given to another file meanwhile.
The duplicate's number cannot.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import stat
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from urllib.parse import unquote

import structlog

from reward_server.errors import OverloadedError
from reward_server.telemetry import Telemetry

MOST_CONNECTIONS = 64
MOST_STREAMS = 16
CALLS_AT_ONCE = 64
CALLS_PER_SECOND = 32.0
_LOOK_SECONDS, _CROWDED_SECONDS = 1.0, 0.1
# Time for a new connection to show a credential, while there is room.
_GRACE_SECONDS = 0.5
_PAUSE_SECONDS = 0.02
_REPORT_SECONDS = 10.0
_MOST_ADDRESSES = 4096
_RETRY_SECONDS = 5.0
_EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE})

_log = structlog.get_logger("strangers")


class Strangers:
    """Counts calls and streams of strangers, and ends the connections of those who exceed limits.

    Args:
        telemetry: counts the refusals.
    """

    def __init__(self, telemetry: Telemetry) -> None:
        self._telemetry = telemetry
        self._holders = set[str]()
        self._overdone = set[str]()
        self._streams = 0
        self._rates = _Rates()
        self._alarm = asyncio.Event()
        self._first_seen: dict[str, float] = {}
        self._next_report = 0.0
        self._is_watching = False
        self._is_crowded = False

    def showed_credential(self, peer: str) -> None:
        """Records that a holder of a valid credential uses a connection.

        It does so only while connections are watched, because only then are closed ones removed.
        """
        if self._is_watching:
            self._holders.add(peer_name(peer))

    def allows_call(self, peer: str) -> bool:
        """Counts a call without a credential; too many end the connection."""
        if peer in self._holders or self._rates.allows(_host(peer)):
            return True
        self._overdone.add(peer)
        self._alarm.set()
        return False

    @contextmanager
    def stream(self) -> Iterator[None]:
        """Counts a stream that stays open for the length of the block.

        Raises:
            OverloadedError: strangers hold too many streams.
        """
        if self._streams >= MOST_STREAMS:
            self._report("streams")
            raise OverloadedError(
                f"{MOST_STREAMS} streams are open without a credential; no more may be",
                retry_after_seconds=_RETRY_SECONDS,
            )
        self._streams += 1
        try:
            yield
        finally:
            self._streams -= 1

    @asynccontextmanager
    async def watched(self, ports: Collection[int], room: int) -> AsyncIterator[None]:
        """Watches the connections to ports during the block; there is room for `room` of them."""
        task = asyncio.create_task(self._watch(frozenset(ports), room))
        self._is_watching = True
        try:
            yield
        finally:
            self._is_watching = False
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _watch(self, ports: frozenset[int], room: int) -> None:
        while True:
            seconds = _CROWDED_SECONDS if self._is_crowded else _LOOK_SECONDS
            with suppress(TimeoutError):
                await asyncio.wait_for(self._alarm.wait(), seconds)
            self._alarm.clear()
            with suppress(OSError):  # watching needs a descriptor, and there may be none
                self._look(ports, room)
            await asyncio.sleep(_PAUSE_SECONDS)

    def _look(self, ports: frozenset[int], room: int) -> None:
        """Ends connections of strangers who exceed limits, and the oldest of too many."""
        found = dict(_connections(ports))
        now = time.monotonic()
        self._first_seen = {peer: self._first_seen.get(peer, now) for peer in found}
        self._holders &= found.keys()
        strangers = sorted(found.keys() - self._holders, key=self._first_seen.__getitem__)
        self._is_crowded = len(strangers) > MOST_CONNECTIONS
        surplus = self._surplus(strangers, now, room)
        overdone = (self._overdone & found.keys()) - self._holders
        self._overdone.clear()
        for peer in overdone.union(surplus):
            if _end(found[peer], peer, ports):
                self._report("calls" if peer in overdone else "connections")

    def _surplus(self, strangers: list[str], now: float, room: int) -> list[str]:
        """Returns the connections to end if there are too many, given the oldest first.

        A new connection may be about to show a credential, and stays while strangers leave half of
        the room free.
        """
        surplus = strangers[: max(len(strangers) - MOST_CONNECTIONS, 0)]
        had_time = sum(self._first_seen[peer] <= now - _GRACE_SECONDS for peer in surplus)
        return surplus[: max(had_time, len(strangers) - room // 2)]

    def _report(self, what: str) -> None:
        self._telemetry.stranger_refused(what)
        now = time.monotonic()
        if now >= self._next_report:
            self._next_report = now + _REPORT_SECONDS
            _log.warning("callers without a credential take too much", what=what)


class _Rates:
    """A bucket of calls for each host, which refills over time."""

    def __init__(self) -> None:
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allows(self, host: str) -> bool:
        now = time.monotonic()
        left, then = self._buckets.pop(host, (float(CALLS_AT_ONCE), now))
        left = min(left + (now - then) * CALLS_PER_SECOND, float(CALLS_AT_ONCE))
        self._buckets[host] = (max(left - 1.0, 0.0), now)
        if len(self._buckets) > _MOST_ADDRESSES:
            self._buckets.popitem(last=False)
        return left >= 1.0


def connections_to(ports: Collection[int]) -> int:
    """Returns the number of this process's connections to ports; zero if it cannot be counted."""
    with suppress(OSError):
        return sum(1 for _ in _connections(frozenset(ports)))
    return 0


def peer_name(peer: str) -> str:
    """Returns gRPC's name of a connection's other end in the format of `name_of`."""
    return unquote(peer)


def name_of(host: str, port: int) -> str:
    """Returns the name of a connection's other end, as gRPC writes it."""
    host = host.removeprefix("::ffff:") if "." in host else host
    return f"ipv6:[{host}]:{port}" if ":" in host else f"ipv4:{host}:{port}"


def _host(peer: str) -> str:
    return peer.rpartition(":")[0]


def _connections(ports: frozenset[int]) -> Iterator[tuple[str, int]]:
    """Yields the connections to ports: the other end's name, and the descriptor.

    Raises:
        OSError: there is no free descriptor.
    """
    for entry in os.listdir("/proc/self/fd"):
        name = _name_of(int(entry), ports)
        if name is not None:
            yield name, int(entry)


def _name_of(descriptor: int, ports: frozenset[int]) -> str | None:
    try:
        if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            return None
        with closing(socket.socket(fileno=os.dup(descriptor))) as connection:
            return _name(connection, ports)
    except OSError as error:  # it was closed meanwhile, is not connected, or is no internet socket
        if error.errno in _EXHAUSTED:
            raise
        return None


def _name(connection: socket.socket, ports: frozenset[int]) -> str | None:
    if connection.family not in (socket.AF_INET, socket.AF_INET6):
        return None
    if connection.getsockname()[1] not in ports:
        return None
    return name_of(*connection.getpeername()[:2])


def _end(descriptor: int, peer: str, ports: frozenset[int]) -> bool:
    """Ends a connection, unless the descriptor now belongs to another file."""
    try:
        with closing(socket.socket(fileno=os.dup(descriptor))) as connection:
            if _name(connection, ports) != peer:
                return False
            connection.shutdown(socket.SHUT_RDWR)
            return True
    except OSError:
        return False
