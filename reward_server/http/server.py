"""The HTTP server: its port, its TLS and its shutdown."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import AsyncExitStack
from dataclasses import dataclass

from starlette.types import ASGIApp
from uvicorn.config import Config
from uvicorn.server import ServerState

from reward_server.http.connection import Connection, Patience
from reward_server.http.sockets import bound
from reward_server.rpc.strangers import Strangers

_LAST_ANSWERS_SECONDS = 1.0
_HANDSHAKE_SECONDS = 10.0
_KEEP_ALIVE_SECONDS = 15
_HEADER_BYTES = 64 * 1024
_BACKLOG = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpEndpoint:
    """The address and the bounds of connections; port 0 takes any free one.

    Args:
        host: the address to listen on.
        port: the TCP port.
        is_shared: whether other processes of the server listen on the same port.
        tls: the certificates; None for plain text.
        patience: the bounds on connections.
    """

    host: str
    port: int
    is_shared: bool
    tls: ssl.SSLContext | None
    patience: Patience


class HttpServer:
    """One HTTP server.

    Args:
        endpoint: where it listens.
        app: answers requests.
        strangers: bounds what callers without a credential can do; None if there are none.
    """

    def __init__(self, endpoint: HttpEndpoint, app: ASGIApp, strangers: Strangers | None) -> None:
        self._endpoint = endpoint
        self._strangers = strangers
        self._watching = AsyncExitStack()
        self._state = ServerState()
        self._listeners: list[asyncio.Server] = []
        self._current_tls = endpoint.tls
        # Nothing is logged: strangers could fill the log, and an exception may quote a completion.
        self._config = Config(
            app,
            log_config=None,
            log_level="critical",
            access_log=False,
            interface="asgi3",
            lifespan="off",
            ws="none",
            http=Connection,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            # This bound on headers is why h11 reads requests.
            h11_max_incomplete_event_size=_HEADER_BYTES,
        )
        self.port = 0

    @property
    def connections(self) -> int:
        """Number of open connections."""
        return len(self._state.connections)

    async def start(self) -> int:
        """Starts to listen, and returns the port.

        Raises:
            StartError: the server cannot listen on the address.
        """
        endpoint, loop = self._endpoint, asyncio.get_running_loop()
        self._config.load()
        tls = endpoint.tls
        if tls is not None:
            tls.sni_callback = self._with_current_certificates
        for one in bound(endpoint.host, endpoint.port, is_shared=endpoint.is_shared):
            self.port = one.getsockname()[1]
            listener = await loop.create_server(
                self._connection,
                sock=one,
                ssl=tls,
                ssl_handshake_timeout=None if tls is None else _HANDSHAKE_SECONDS,
                backlog=_BACKLOG,
            )
            self._listeners.append(listener)
        if self._strangers is not None:
            await self._watching.enter_async_context(
                self._strangers.watched({self.port}, endpoint.patience.connections)
            )
        return self.port

    def replace_certificates(self, tls: ssl.SSLContext | None) -> None:
        """Uses other certificates for new connections; open connections continue."""
        self._current_tls = tls

    def leave(self) -> None:
        """Listens no more; a connection ends when its present request is answered."""
        for listener in self._listeners:
            listener.close()
        for connection in tuple(self._state.connections):
            connection.shutdown()

    async def stop(self) -> None:
        """Sends the answers that are ready, and ends everything else."""
        self.leave()
        if self._state.tasks:
            await asyncio.wait(tuple(self._state.tasks), timeout=_LAST_ANSWERS_SECONDS)
        for connection in tuple(self._state.connections):
            connection.transport.abort()
        tasks = tuple(self._state.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._watching.aclose()

    def _connection(self) -> Connection:
        return Connection(self._config, self._state, self._endpoint.patience)

    def _with_current_certificates(
        self, handshake: ssl.SSLSocket | ssl.SSLObject, name: str | None, begun: ssl.SSLContext
    ) -> None:
        if self._current_tls is not None and self._current_tls is not begun:
            handshake.context = self._current_tls
