"""The gRPC server: its port, its transport's settings, health, reflection and its end."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.message import Message
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from reward_server.errors import StartError
from reward_server.rpc.service import SERVICE

MEBIBYTE = 1 << 20
# What the transport accepts beyond the validated size, so that an oversize request is refused by
# name and not by the transport, whose RESOURCE_EXHAUSTED looks like a full queue.
_HEADROOM = 2
_LAST_ANSWERS_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificates:
    """PEM texts of the server's certificate chain and key, and of who may sign clients' ones."""

    chain: bytes
    key: bytes
    client_authorities: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where and how to listen; port 0 takes any free one."""

    host: str
    port: int
    certificates: Certificates | None
    maximum_request_bytes: int
    maximum_concurrent_calls: int

    @property
    def transport_options(self) -> list[tuple[str, int]]:
        """Settings of the gRPC core, each with its reason."""
        return [
            ("grpc.max_receive_message_length", _HEADROOM * self.maximum_request_bytes + MEBIBYTE),
            # Two servers on one port would silently share its connections.
            ("grpc.so_reuseport", 0),
            # A client that vanished without a word is noticed, and its executions are killed.
            ("grpc.keepalive_time_ms", 30_000),
            ("grpc.keepalive_timeout_ms", 10_000),
            # Clients ping while a long call is silent; by default the core takes more than one
            # ping in five minutes for abuse and closes the connection.
            ("grpc.keepalive_permit_without_calls", 1),
            ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
        ]


class RpcServer:
    """One gRPC server; serves after `start`, its health is NOT_SERVING after `begin_drain`."""

    def __init__(
        self,
        endpoint: Endpoint,
        handlers: grpc.GenericRpcHandler[bytes, Message],
        interceptors: Sequence[Any],
    ) -> None:
        self._endpoint = endpoint
        self._health = health.aio.HealthServicer()  # type: ignore[attr-defined]  # not in stubs
        self._server = grpc.aio.server(
            handlers=[handlers],
            interceptors=interceptors,
            options=endpoint.transport_options,
            maximum_concurrent_rpcs=endpoint.maximum_concurrent_calls,
        )
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        services = (SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME)
        reflection.enable_server_reflection(services, self._server)

    async def start(self) -> int:
        """Listens, and tells on which port.

        Raises:
            StartError: the address cannot be listened on.
        """
        port = self._listen()
        await self._server.start()
        await self.tell_health(serving=True)
        return port

    async def tell_health(self, *, serving: bool) -> None:
        """Tells health checks whether work can be done; during a drain, it cannot be."""
        status = health_pb2.HealthCheckResponse
        for service in ("", SERVICE):
            await self._health.set(service, status.SERVING if serving else status.NOT_SERVING)

    async def begin_drain(self) -> None:
        """Tells health checks that this server takes no more work."""
        await self._health.enter_graceful_shutdown()

    async def stop(self) -> None:
        """Lets answers that are ready go out, and ends everything else."""
        await self._server.stop(_LAST_ANSWERS_SECONDS)

    def _listen(self) -> int:
        endpoint = self._endpoint
        host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
        address = f"{host}:{endpoint.port}"
        try:
            _try_address(endpoint.host, endpoint.port)
            if endpoint.certificates is None:
                return self._server.add_insecure_port(address)
            credentials = _credentials(endpoint.certificates)
            return self._server.add_secure_port(address, credentials)
        except OSError as error:
            raise StartError(f"cannot listen on {address}: {error.strerror}") from None
        except RuntimeError as error:
            raise StartError(f"cannot listen on {address}: {error}") from None


def _try_address(host: str, port: int) -> None:
    """Binds an address for a moment, since gRPC does not tell why it could not.

    Raises:
        OSError: why not.
    """
    problem: OSError | None = None
    for family, kind, protocol, _, address in socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM
    ):
        try:
            with socket.socket(family, kind, protocol) as trial:
                trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                trial.bind(address)
        except OSError as error:
            problem = error
        else:
            return
    if problem is not None:
        raise problem


def _credentials(certificates: Certificates) -> grpc.ServerCredentials:
    return grpc.ssl_server_credentials(
        [(certificates.key, certificates.chain)],
        root_certificates=certificates.client_authorities,
        require_client_auth=certificates.client_authorities is not None,
    )
