"""`reward-server probe`: the health of the server that runs here, for probes that run a command."""

from __future__ import annotations

import socket
import ssl
from dataclasses import dataclass
from typing import Annotated, Any

import grpc
import typer
from grpc_health.v1 import health_pb2, health_pb2_grpc

from reward_server.cli.options import ConfigOption, SetOption, read_settings
from reward_server.errors import SettingsError, StartError
from reward_server.settings import Settings, read_first_token

_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}


def probe(
    config: ConfigOption = None,
    assignments: SetOption = None,
    live: Annotated[
        bool,
        typer.Option("--live", help="Any answer is enough, also that of a server that drains."),
    ] = False,
    timeout: Annotated[float, typer.Option(min=0.1, help="Time for the answer, in seconds.")] = 5.0,
) -> None:
    """Asks the configured server for its health; exits with 0 if it serves.

    It reads the same settings as the server and calls its address, with TLS and a token if they are
    set. It exits with 1 if the server does not serve or does not answer, and with 2 if the settings
    are wrong.
    """
    settings = read_settings(config, assignments)
    target = _target(settings)
    try:
        status = _ask(settings, target, timeout)
    except (OSError, grpc.RpcError) as error:
        raise StartError(f"{target.address} does not answer: {_reason(error)}") from None
    name = health_pb2.HealthCheckResponse.ServingStatus.Name(status)
    typer.echo(f"{target.address} {name}")
    raise typer.Exit(0 if live or status == health_pb2.HealthCheckResponse.SERVING else 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    host: str
    port: int

    @property
    def address(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def _target(settings: Settings) -> _Target:
    if settings.port == 0:
        raise SettingsError("port: 0 stands for any free port, which a probe cannot know; set one")
    return _Target(host=_EVERYWHERE.get(settings.host, settings.host), port=settings.port)


def _ask(settings: Settings, target: _Target, timeout: float) -> int:
    # Callers without a token share a small allowance, which others could use up.
    metadata = []
    token = None if settings.token_file is None else read_first_token(settings.token_file)
    if token is not None:
        metadata.append(("authorization", f"Bearer {token}"))
    with _channel(settings, target, timeout) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        answer = stub.Check(health_pb2.HealthCheckRequest(), timeout=timeout, metadata=metadata)
    return int(answer.status)


def _channel(settings: Settings, target: _Target, timeout: float) -> grpc.Channel:
    options = (("grpc.enable_retries", 0), ("grpc.enable_http_proxy", 0))
    if settings.tls_certificate is None or settings.tls_key is None:
        return grpc.insecure_channel(target.address, options=options)
    chain, key = settings.tls_certificate.read_bytes(), settings.tls_key.read_bytes()
    shows_itself = settings.tls_client_ca is not None
    credentials = grpc.ssl_channel_credentials(
        root_certificates=chain,
        private_key=key if shows_itself else None,
        certificate_chain=chain if shows_itself else None,
    )
    name = ("grpc.ssl_target_name_override", _name(settings, target, timeout))
    return grpc.secure_channel(target.address, credentials, options=(*options, name))


def _name(settings: Settings, target: _Target, timeout: float) -> str:
    """Returns a name in the certificate, which the server must show exactly as configured.

    The address of a probe is a loopback one, which no certificate needs to name.
    """
    context = ssl.create_default_context(cafile=str(settings.tls_certificate))
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.set_alpn_protocols(["h2"])
    with (
        socket.create_connection((target.host, target.port), timeout=timeout) as plain,
        context.wrap_socket(plain) as encrypted,
    ):
        shown = encrypted.getpeercert() or {}
    found: Any = shown.get("subjectAltName", ())  # its stub mixes several fields
    names = [str(pair[1]) for pair in found]
    if not names:
        raise SettingsError("tls_certificate: has no subject alternative name; clients need one")
    return names[0].replace("*.", "probe.", 1)


def _reason(error: Exception) -> str:
    if isinstance(error, grpc.Call):
        return f"{error.code().name}: {error.details()}"
    return str(error)
