"""One HTTP connection, with limits on how long its other end may keep it.

What this stops: callers who open connections until descriptors run out, who send a request's
headers slowly or without an end, who go on sending a body after its answer, and who do not read the
answer. What it does not: `boundary` limits bodies, and `rpc.strangers` ends connections of callers
without a credential.
"""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass, field
from typing import Any

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from reward_server.rpc.strangers import name_of

HEADER_SECONDS = 10.0
STALLED_SECONDS = 30.0
# The kinds of alternative names in a certificate that gRPC counts as identities.
_NAMES = frozenset({"DNS", "URI", "email", "IP Address"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """The bounds on connections.

    Args:
        connections: greatest number of open connections.
        header_seconds: time in which the headers of a request must arrive.
        stalled_seconds: time in which the other end must read from a full buffer.
    """

    connections: int
    header_seconds: float = field(default_factory=lambda: HEADER_SECONDS)
    stalled_seconds: float = field(default_factory=lambda: STALLED_SECONDS)


class Connection(H11Protocol):
    """A connection of uvicorn with limits; requests find `peer` and `identities` in their state."""

    def __init__(self, config: Config, state: ServerState, patience: Patience) -> None:
        super().__init__(config=config, server_state=state, app_state={})
        self._patience = patience
        self._header_timer: asyncio.TimerHandle | None = None
        self._stall_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accepts the connection, or ends it if there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self._patience.connections:
            transport.abort()
            return
        host, port = (transport.get_extra_info("peername") or ("", 0))[:2]
        self.app_state = {
            "peer": name_of(host, port),
            "identities": _identities(transport.get_extra_info("ssl_object")),
        }
        self._time_headers()

    def data_received(self, data: bytes) -> None:
        """Reads what arrived."""
        super().data_received(data)
        self._time_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stops all timers."""
        super().connection_lost(exc)
        for timer in (self._header_timer, self._stall_timer):
            if timer is not None:
                timer.cancel()

    def pause_writing(self) -> None:
        """Gives the other end some time to read."""
        super().pause_writing()
        self._stall_timer = self.loop.call_later(
            self._patience.stalled_seconds, self.transport.abort
        )

    def resume_writing(self) -> None:
        """Goes on writing."""
        super().resume_writing()
        if self._stall_timer is not None:
            self._stall_timer.cancel()

    def timeout_keep_alive_handler(self) -> None:
        """Ends an idle connection, even if its other end does not read the rest of an answer."""
        super().timeout_keep_alive_handler()
        self._stall_timer = self.loop.call_later(
            self._patience.stalled_seconds, self.transport.abort
        )

    def _time_headers(self) -> None:
        """Bounds the time until a request's headers are complete, or a body that nobody reads."""
        state = self.conn.their_state
        is_unread = state is h11.SEND_BODY and self.conn.our_state is h11.DONE
        is_expected = (state is h11.IDLE or is_unread) and not self.transport.is_closing()
        if not is_expected and self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None
        elif is_expected and self._header_timer is None:
            self._header_timer = self.loop.call_later(
                self._patience.header_seconds, self.transport.abort
            )


def _identities(connection: ssl.SSLObject | None) -> tuple[bytes, ...]:
    """Returns the names in a client's certificate, which gRPC calls its identities."""
    certificate: dict[str, Any] = (connection and connection.getpeercert()) or {}
    names = [name for kind, name in certificate.get("subjectAltName", ()) if kind in _NAMES]
    if not names:
        parts = (part for group in certificate.get("subject", ()) for part in group)
        names = [value for kind, value in parts if kind == "commonName"]
    return tuple(name.encode() for name in names)
