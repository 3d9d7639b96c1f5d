"""A client for the commands. It calls one server, and retries if it is full or unreachable."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import grpc
import typer

from codereward.revisions import unread
from codereward.v1 import reward_service_pb2 as pb
from codereward.v1 import reward_service_pb2_grpc
from reward_server.errors import StartError

PUSHBACK = "grpc-retry-pushback-ms"
_FIRST_PAUSE_SECONDS = 0.2
_LONGEST_PAUSE_SECONDS = 5.0
_OPTIONS = (
    # The server says when to retry. gRPC's own retries end silently after five attempts.
    ("grpc.enable_retries", 0),
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
)

PATIENCE_SECONDS = 60.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """The address of a server, and the options of the connection.

    Args:
        target: host and port.
        token: a bearer token, or "".
        authorities: PEM text of the authorities that may sign the server's certificate; None for
            plain text.
        certificate: PEM texts of the client's key and certificate, if the server asks for one.
        timeout_seconds: greatest time of one attempt at a call.
        patience_seconds: time for retries while the server is full or unreachable.
    """

    target: str
    token: str = ""
    authorities: bytes | None = None
    certificate: tuple[bytes, bytes] | None = None
    timeout_seconds: float = 300.0
    patience_seconds: float = PATIENCE_SECONDS


class Caller:
    """Calls one server, from one event loop."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._channel = _open(address)
        self._stub = reward_service_pb2_grpc.RewardServiceStub(self._channel)
        self._metadata = (("authorization", f"Bearer {address.token}"),) if address.token else ()

    async def score(self, request: pb.ScoreRequest) -> pb.ScoreResponse:
        """Judges a completion.

        Raises:
            grpc.aio.AioRpcError: it was not judged within `patience_seconds`, or by a server that
                cannot read the whole request.
        """
        response: pb.ScoreResponse = await self._patiently(
            lambda: self._stub.Score(
                request, timeout=self._address.timeout_seconds, metadata=self._metadata
            )
        )
        if problem := unread(request, response.provenance.contract_revision):
            code, none = grpc.StatusCode.FAILED_PRECONDITION, grpc.aio.Metadata()
            raise grpc.aio.AioRpcError(code, none, none, problem, None)
        return response

    async def info(self) -> pb.GetServerInfoResponse:
        """Asks the server for its description.

        Raises:
            grpc.aio.AioRpcError: there was no answer.
        """
        return await self._patiently(
            lambda: self._stub.GetServerInfo(
                pb.GetServerInfoRequest(),
                timeout=self._address.timeout_seconds,
                metadata=self._metadata,
            )
        )

    async def close(self) -> None:
        """Closes the connection."""
        await self._channel.close(None)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def _patiently(self, call: Callable[[], Awaitable[T]]) -> T:
        clock = asyncio.get_running_loop().time
        until = clock() + self._address.patience_seconds
        pause = _FIRST_PAUSE_SECONDS
        while True:
            try:
                return await call()
            except grpc.aio.AioRpcError as error:
                wait = pause_asked_for(error, pause)
                if wait is None or clock() + wait > until:
                    raise
                await asyncio.sleep(wait)
                pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)


def _open(address: Address) -> grpc.aio.Channel:
    if address.authorities is None:
        return grpc.aio.insecure_channel(address.target, options=_OPTIONS)
    key, chain = address.certificate or (None, None)
    credentials = grpc.ssl_channel_credentials(address.authorities or None, key, chain)
    return grpc.aio.secure_channel(address.target, credentials, options=_OPTIONS)


def remote(
    target: str,
    *,
    token_file: Path | None,
    authorities: Path | None,
    certificate: Path | None,
    key: Path | None,
    timeout_seconds: float,
) -> Address:
    """Returns the address of a server that runs already, with the content of the files.

    Raises:
        typer.BadParameter: only a part of the client's certificate is given.
    """
    return Address(
        target=target,
        token=token_file.read_text().strip() if token_file else "",
        authorities=authorities.read_bytes() if authorities else None,
        certificate=_certificate(authorities, certificate, key),
        timeout_seconds=timeout_seconds,
        patience_seconds=min(timeout_seconds, PATIENCE_SECONDS),
    )


def _certificate(
    ca: Path | None, certificate: Path | None, key: Path | None
) -> tuple[bytes, bytes] | None:
    if certificate is None and key is None:
        return None
    if ca is None or certificate is None or key is None:
        raise typer.BadParameter("--tls-certificate needs --tls-key and --tls-ca")
    return key.read_bytes(), certificate.read_bytes()


async def described(caller: Caller, address: Address) -> pb.GetServerInfoResponse:
    """Returns the server's description of itself.

    Raises:
        StartError: there was no answer.
    """
    try:
        return await caller.info()
    except grpc.aio.AioRpcError as error:
        said = f"{error.code().name}: {error.details()}"
        raise StartError(f"no answer from {address.target}: {said}") from None


def pause_asked_for(error: grpc.aio.AioRpcError, pause: float) -> float | None:
    """Returns the time to wait before another call, or None if another call cannot help."""
    if error.code() is grpc.StatusCode.UNAVAILABLE:
        return pause
    if error.code() is not grpc.StatusCode.RESOURCE_EXHAUSTED:
        return None
    trailers: Any = error.trailing_metadata()  # grpc's type for it is not iterable
    milliseconds = dict(trailers or ()).get(PUSHBACK, "")
    return int(milliseconds) / 1000 if milliseconds.isdecimal() else None
