"""The gRPC server: its port, its transport's settings, health, reflection and shutdown."""

from __future__ import annotations

import resource
import socket
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.message import Message
from grpc_health.v1 import health
from grpc_reflection.v1alpha import reflection

from reward_server.errors import StartError
from reward_server.rpc.health import Health
from reward_server.rpc.strangers import Strangers

MEBIBYTE = 1 << 20
# The transport accepts this multiple of the valid size. The server then refuses an oversize request
# with a reason, while the transport's RESOURCE_EXHAUSTED would look like a full queue.
_HEADROOM = 2
_LAST_ANSWERS_SECONDS = 1.0
# Greatest number of open calls on one connection: for each slot, one running and one waiting call.
_STREAMS_PER_SLOT, _LEAST_STREAMS = 2, 32
# The first version of gRPC's core that separately counts streams that are answered and not yet
# freed.
_COUNTS_FREED_APART = (1, 82)
# Numbers of file descriptors: reserved for other uses, reserved for each slot, and the most for
# callers.
_OTHER_DESCRIPTORS, _DESCRIPTORS_PER_SLOT, _MOST_CONNECTIONS = 128, 16, 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificates:
    """PEM texts of the server's certificate chain and key, and of the authorities of clients."""

    chain: bytes
    key: bytes
    client_authorities: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """The address, and the options of the listener; port 0 takes any free one.

    Args:
        own_port: a further port, which belongs to this process alone, if several processes share
            the address. Their parent has checked and reserved all ports.
    """

    host: str
    port: int
    certificates: Certificates | None
    maximum_request_bytes: int
    maximum_connections: int
    maximum_streams: int
    expects_strangers: bool
    own_port: int | None = None

    @property
    def is_shared(self) -> bool:
        """Returns True if several processes share the address."""
        return self.own_port is not None

    @property
    def transport_options(self) -> list[tuple[str, int]]:
        """Settings of the gRPC core, each with its reason."""
        return [
            ("grpc.max_receive_message_length", _HEADROOM * self.maximum_request_bytes + MEBIBYTE),
            # Two servers on one port would silently share its connections. Processes of one server
            # share it on purpose.
            ("grpc.so_reuseport", int(self.is_shared)),
            # A client that vanished silently is noticed, and its executions are killed.
            ("grpc.keepalive_time_ms", 30_000),
            ("grpc.keepalive_timeout_ms", 10_000),
            # Clients ping while a long call is silent. By default the core treats more than one
            # ping in five minutes as abuse and closes the connection.
            ("grpc.keepalive_permit_without_calls", 1),
            ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
            # Sandboxes keep enough descriptors, however many callers connect.
            ("grpc.max_allowed_incoming_connections", self.maximum_connections),
            ("grpc.server_handshake_timeout_ms", 10_000),
            *(_against_strangers(self.maximum_streams) if self.expects_strangers else ()),
        ]


def connections_beside(slots: int) -> int:
    """Returns the number of connections that leave enough descriptors for the slots."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    own = _OTHER_DESCRIPTORS + _DESCRIPTORS_PER_SLOT * slots
    return max(min((limit - own) // 2, _MOST_CONNECTIONS), 16)


def streams_for(slots: int) -> int:
    """Returns how many calls on one connection keep all slots busy."""
    return max(_STREAMS_PER_SLOT * slots, _LEAST_STREAMS)


def _against_strangers(streams: int) -> list[tuple[str, int]]:
    """Returns settings against large bodies and against streams that are reset when opened.

    A stream costs its sender nothing, and waits in one queue with all callers' calls until its
    credential can be checked. Therefore few streams of a connection are open, few are accepted from
    one read, and each reset costs the sender a ping.
    """
    return [
        # A window that grows with the received data makes the core store it even above the limit:
        # up to 600 MiB within half a minute. Without probes a stream has 64 KiB in transit.
        ("grpc.http2.bdp_probe", 0),
        ("grpc.max_concurrent_streams", streams),
        # A client opens a stream as soon as another is answered, a moment before that one is
        # freed here. Without room for these the core refuses calls of holders of a credential.
        ("grpc.http2.max_deallocating_streams", streams)
        if _core_version() >= _COUNTS_FREED_APART
        else ("grpc.http.overload_protection", 0),
        ("grpc.http2.max_requests_per_read", 1),
        ("grpc.http2.ping_on_rst_stream_percent", 100),
    ]


def _core_version() -> tuple[int, ...]:
    return tuple(int(number) for number in grpc.__version__.split(".")[:2])


class RpcServer:
    """One gRPC server; serves after `start`, its health is NOT_SERVING after `begin_drain`.

    Args:
        endpoint: where it listens.
        handlers: the methods of each service, by its name.
        interceptors: what each call passes first.
        state: answers health checks.
        strangers: bounds what callers without a credential can do; None if there are none.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        handlers: Mapping[str, grpc.GenericRpcHandler[bytes, Message]],
        interceptors: Sequence[Any],
        *,
        state: Health,
        strangers: Strangers | None,
    ) -> None:
        self._endpoint = endpoint
        self._health = state
        self._strangers = strangers
        self._watching = AsyncExitStack()
        self.ports = frozenset[int]()
        self._certificates = endpoint.certificates
        self._server = grpc.aio.server(
            handlers=[*handlers.values(), state.handlers()],
            interceptors=interceptors,
            options=endpoint.transport_options,
        )
        services = (*handlers, health.SERVICE_NAME, reflection.SERVICE_NAME)
        reflection.enable_server_reflection(services, self._server)

    async def start(self) -> int:
        """Starts to listen, and returns the port.

        Raises:
            StartError: the server cannot listen on the address.
        """
        port = self._listen()
        self.ports = frozenset({port, self._endpoint.own_port or port})
        await self._server.start()
        if self._strangers is not None:
            await self._watching.enter_async_context(
                self._strangers.watched(self.ports, self._endpoint.maximum_connections)
            )
        self._health.tell(serving=True)
        self._health.tell_process(serving=True)
        return port

    def replace_certificates(self, certificates: Certificates | None) -> None:
        """Uses other certificates for new connections; open connections continue."""
        self._certificates = certificates

    def tell_health(self, *, serving: bool) -> None:
        """Reports to health checks whether work can be done; during a drain it cannot."""
        self._health.tell(serving=serving)

    def tell_process_health(self, *, serving: bool) -> None:
        """Reports whether this one of several processes can do work."""
        self._health.tell_process(serving=serving)

    def begin_drain(self) -> None:
        """Reports to health checks that this server takes no more work."""
        self._health.drain()

    async def leave(self, seconds: float) -> None:
        """Sends new calls and connections to the other processes that share the address.

        Returns when all open calls have ended; ends them after some seconds.
        """
        await self._server.stop(seconds)

    async def stop(self) -> None:
        """Sends the answers that are ready, and ends everything else."""
        await self._server.stop(_LAST_ANSWERS_SECONDS)
        await self._watching.aclose()

    def _listen(self) -> int:
        endpoint = self._endpoint
        host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
        address = f"{host}:{endpoint.port}"
        try:
            if endpoint.own_port is None:
                try_address(endpoint.host, endpoint.port)
            else:
                self._add(f"{host}:{endpoint.own_port}")
            return self._add(address)
        except OSError as error:
            raise StartError(f"cannot listen on {address}: {error.strerror}") from None
        except RuntimeError as error:
            raise StartError(f"cannot listen on {address}: {error}") from None

    def _add(self, address: str) -> int:
        certificates = self._endpoint.certificates
        if certificates is None:
            return self._server.add_insecure_port(address)
        credentials = grpc.dynamic_ssl_server_credentials(
            _configuration(certificates),
            self._current_configuration,  # type: ignore[arg-type]  # None means no change
            certificates.client_authorities is not None,
        )
        return self._server.add_secure_port(address, credentials)

    def _current_configuration(self) -> grpc.ServerCertificateConfiguration | None:
        # The core calls this for each handshake.
        return None if self._certificates is None else _configuration(self._certificates)


def try_address(host: str, port: int) -> None:
    """Binds an address for a moment, because gRPC does not report why it cannot be bound.

    Raises:
        OSError: the reason.
    """
    problem: OSError | None = None
    for family, kind, protocol, _, address in socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM
    ):
        try:
            with socket.socket(family, kind, protocol) as listener:
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                listener.bind(address)
        except OSError as error:
            problem = error
        else:
            return
    if problem is not None:
        raise problem


def _configuration(certificates: Certificates) -> grpc.ServerCertificateConfiguration:
    return grpc.ssl_server_certificate_configuration(
        [(certificates.key, certificates.chain)],
        root_certificates=certificates.client_authorities,
    )
