"""Opens connections to one or several servers.

gRPC's own retries are switched off, for two reasons. They end silently: after five attempts, at
once for a request above the retry buffer, and if the retries of the channel have used up their
budget. They also cannot distinguish an overload from an outage. The module
`trainer_client.transport.retry` decides instead: it waits as long as the server asks, until the
caller's deadline.
"""

from __future__ import annotations

import ipaddress
import json
import random
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import grpc

from trainer_client.transport import forks, ray_names
from trainer_client.transport.tracing import trace_metadata

Target = str | Sequence[str]

# Sending a smaller task again costs less than the further call that stores it.
STORE_FROM_BYTES = 64 << 10
_POSITIVE = (
    "timeout_seconds",
    "rpc_timeout_seconds",
    "max_in_flight",
    "batch_size",
    "store_from_bytes",
)

# For these addresses, too, gRPC would use a proxy that environment variables name. The proxy may be
# on another machine, where loopback means something else.
_LOOPBACK = re.compile(r"(ipv4:|ipv6:|dns:)?/*(localhost|127(\.[0-9]+){3}|\[::1\])(:[0-9]+)?")

_URL = re.compile(r"(https?|grpcs?)://([^/]*)")
_PORT = re.compile(r":[0-9]{1,5}(%.*)?$")
_WITHOUT_PORT = ("unix", "unix-abstract", "vsock", "xds")
_USUAL_PORT = 50051

_SERVICE_CONFIG = json.dumps({"loadBalancingConfig": [{"round_robin": {}}]})

_random = random.Random()  # not the global generator, which programs seed
_ONE_SERVER = (("grpc.service_config", json.dumps({"loadBalancingConfig": [{"pick_first": {}}]})),)

_OPTIONS: tuple[tuple[str, int | str], ...] = (
    # They stop without a word: after five attempts, above 256 KiB, and when a budget is used up.
    # `retry` decides instead.
    ("grpc.enable_retries", 0),
    # A new channel shares no connection, so it does not wait for the pause after another's failure.
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.service_config", _SERVICE_CONFIG),
    # The client checks sizes before it sends, with clearer errors, so gRPC gets no limit.
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
    # A dead peer is noticed within 40 s. A server would count pings without a call as abuse.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 0),
    # A restarted server is found within two seconds; by default gRPC would wait up to two minutes.
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.min_reconnect_backoff_ms", 5_000),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    ("grpc.primary_user_agent", "codereward-client"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """Certificates in PEM form; the defaults trust the system's authorities.

    Args:
        root_certificates: authorities that may sign the server's certificate.
        certificate_chain: the client's certificate, if the server requires one.
        private_key: the key of that certificate.
        server_name: the name to expect in the server's certificate, if it is not the target's.

    Examples:
        >>> from pathlib import Path
        >>> from trainer_client import RewardClient, Tls
        >>> authority = Path("ca.pem").read_bytes()
        >>> tls = Tls(root_certificates=authority)
        >>> client = RewardClient("rewards.internal:50051", tls=tls, token="a secret")
    """

    root_certificates: bytes | None = None
    certificate_chain: bytes | None = None
    private_key: bytes | None = None
    server_name: str | None = None

    def __post_init__(self) -> None:
        if (self.certificate_chain is None) != (self.private_key is None):
            raise ValueError("certificate_chain and private_key go together")

    def __repr__(self) -> str:
        return f"Tls(server_name={self.server_name!r})"


def token_of_file(file: Path | None) -> str | None:
    """Reads a bearer token; returns None if no file is given.

    Raises:
        ValueError: the file does not hold exactly one token.
        OSError: it cannot be read.
    """
    if file is None:
        return None
    token = file.read_text("utf-8").strip()
    if not re.fullmatch(r"[!-~]+", token):
        raise ValueError(f"token_file: {file} must hold one token, without space in it")
    return token


def tls_of_files(
    ca: Path | None, certificate: Path | None, key: Path | None, server_name: str | None
) -> Tls | None:
    """Reads certificates; returns None, for plain text, if no option of TLS is given.

    Raises:
        ValueError: only one of the certificate and its key is given, or they do not match.
        OSError: a file cannot be read.
    """
    if not any((ca, certificate, key, server_name)):
        return None
    read = [None if file is None else file.read_bytes() for file in (ca, certificate, key)]
    return Tls(
        root_certificates=read[0],
        certificate_chain=read[1],
        private_key=read[2],
        server_name=server_name,
    )


class ConnectionOptions(TypedDict, total=False):
    """The fields of `Connection` that a client takes as keywords."""

    tls: Tls | None
    token: str | None
    timeout_seconds: float
    rpc_timeout_seconds: float | None
    outage_seconds: float
    max_in_flight: int
    max_request_bytes: int
    batch_size: int | None
    store_from_bytes: int | None


@dataclass(frozen=True, slots=True)
class Connection:
    """The addresses of the servers, and the options of connections and calls.

    Args:
        target: an address such as `host:port`, `dns:///name:port` or `unix:/path`, or several
            of them, in a sequence or separated by commas; calls go to each in turn. Or
            `ray://NAME`, the servers that `reward_server.ray.start(NAME, ...)` started.
        tls: certificates. If None, the connection uses no TLS, or for servers in a Ray cluster the
            certificates that were made for them.
        token: a bearer token. Without `tls` it is sent in clear text. If None, no token is sent, or
            for servers in a Ray cluster the token that was made for them.
        timeout_seconds: greatest time of one call to `score`.
        rpc_timeout_seconds: greatest time of one attempt at one request. If None, it is the time
            that the request's limits allow (`trainer_client.transport.deadlines`). With a smaller
            value, a slow program may end without a verdict.
        outage_seconds: time after which a call to `score` gives up if no server answers at all.
        max_in_flight: greatest number of requests in progress at once.
        max_request_bytes: greatest size of a request; a larger one is refused before it is sent.
        batch_size: number of requests in one RPC, which goes to one server. If None, the client
            puts a few requests into each RPC, and sends the last requests of a call one by one.
        store_from_bytes: size of a task (tests, prompt and data together) from which it is stored
            on the server and named by its digest; None to send it with each request.

    Examples:
        A client takes the fields as keywords.

        >>> from trainer_client import Connection, RewardClient
        >>> client = RewardClient(["a:50051", "b:50051"], timeout_seconds=120, max_in_flight=256)
        >>> Connection("a:50051, b:50051")
        Connection('a:50051,b:50051')
    """

    target: Target
    tls: Tls | None = None
    token: str | None = None
    timeout_seconds: float = 600.0
    rpc_timeout_seconds: float | None = None
    outage_seconds: float = 60.0
    max_in_flight: int = 64
    max_request_bytes: int = 32 << 20
    batch_size: int | None = None
    store_from_bytes: int | None = STORE_FROM_BYTES

    def __post_init__(self) -> None:
        addresses(self.target)
        for name in _POSITIVE:
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} must be positive, not {value}")

    def __repr__(self) -> str:
        return f"Connection({','.join(addresses(self.target))!r})"

    @property
    def is_ray_name(self) -> bool:
        """Returns True if the target names servers in a Ray cluster."""
        return addresses(self.target)[0].startswith(ray_names.PREFIX)

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """The metadata of every call."""
        trace = trace_metadata()
        return trace if self.token is None else (("authorization", f"Bearer {self.token}"), *trace)

    def open(self, address: str | None = None) -> grpc.aio.Channel:
        """Opens a channel that belongs to the running loop.

        Args:
            address: where to connect instead of the target.
        """
        channel = self._channel(self.target if address is None else address)
        forks.watch(channel)
        return channel

    def open_alone(self) -> grpc.aio.Channel:
        """Opens a channel to one of the addresses.

        All its calls go to one server, as those of a session must.
        """
        address = _random.choice(addresses(self.target))
        channel = self._channel(address, _ONE_SERVER)
        forks.watch(channel)
        return channel

    def _channel(
        self, target: Target, more: Sequence[tuple[str, int | str]] = ()
    ) -> grpc.aio.Channel:
        options = list(dict([*_OPTIONS, *more]).items())
        if all(map(_LOOPBACK.fullmatch, addresses(target))):
            options.append(("grpc.enable_http_proxy", 0))
        if self.tls is None:
            return grpc.aio.insecure_channel(grpc_target(target), options=options)
        if self.tls.server_name is not None:
            options.append(("grpc.ssl_target_name_override", self.tls.server_name))
        credentials = grpc.ssl_channel_credentials(
            self.tls.root_certificates, self.tls.private_key, self.tls.certificate_chain
        )
        return grpc.aio.secure_channel(grpc_target(target), credentials, options=options)


def addresses(target: Target) -> tuple[str, ...]:
    """Splits a target into its addresses.

    Raises:
        ValueError: there is no address, or one of them is wrong.
    """
    parts = target.split(",") if isinstance(target, str) else list(target)
    found = tuple(part.strip() for part in parts if part.strip())
    if not found:
        raise ValueError("the target names no address")
    for address in found:
        if address.startswith(ray_names.PREFIX):
            _check_ray_name(address, found)
        else:
            _check_address(address)
    return found


def host_of(address: str) -> str | None:
    """Returns the host of an address, with the brackets of IPv6; None if it has none."""
    if address.partition(":")[0] in _WITHOUT_PORT:
        return None
    plain = address.removeprefix("dns:").removeprefix("ipv4:").removeprefix("ipv6:").lstrip("/")
    return plain.rpartition(":")[0] or None


def _check_ray_name(address: str, found: Sequence[str]) -> None:
    ray_names.checked_name(address)
    if len(found) > 1:
        raise ValueError(f"target {address!r} stands for all of its servers; give it alone")


def _check_address(address: str) -> None:
    """Refuses an address that gRPC would misread.

    gRPC takes a URL for a host name, and uses port 443 if an address has no port.
    """
    url = _URL.match(address)
    if url:
        rest = "; for TLS, give its certificates" if url[1] == "https" else ""
        raise ValueError(f"target {address!r} is a URL; write {url[2]}, HOST:PORT alone{rest}")
    scheme = address.partition(":")[0]
    if scheme not in _WITHOUT_PORT and not _PORT.search(address):
        raise ValueError(
            f"target {address!r} names no port; a server listens on {_USUAL_PORT} unless told: "
            f"{address.rstrip(':')}:{_USUAL_PORT}"
        )


def grpc_target(target: Target) -> str:
    """Returns a target in gRPC's naming syntax.

    gRPC balances over literal addresses or over the addresses of one name. Host names in a list are
    therefore resolved here, once. To follow a name whose addresses change, give it alone.

    Raises:
        ValueError: the list mixes addresses that gRPC cannot balance over.
    """
    found = addresses(target)
    if len(found) == 1:
        return found[0]
    plain = [part.removeprefix("ipv4:").removeprefix("ipv6:").lstrip("/") for part in found]
    resolved = [_resolve(part) for part in plain]
    families = {family for family, _ in resolved}
    if len(families) != 1:
        raise ValueError(f"several addresses must be all IPv4 or all IPv6: {', '.join(found)}")
    return f"{families.pop()}:{','.join(address for _, address in resolved)}"


def _resolve(address: str) -> tuple[str, str]:
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError(f"{address!r} is not HOST:PORT, which a list of addresses needs")
    literal = _lookup(host.strip("[]"), address)
    if literal.version == 4:
        return "ipv4", f"{literal}:{port}"
    return "ipv6", f"[{literal}]:{port}"


def _lookup(host: str, address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        pass
    try:
        return ipaddress.IPv4Address(socket.gethostbyname(host))
    except OSError as error:
        raise ValueError(f"cannot resolve {address!r}: {error}") from error
