"""What stands before every RPC: credentials, room, and the boundary where failures become statuses.

A call refused here costs no reading of its body: the refusing handler takes a stream and never
asks for a message.
"""

from __future__ import annotations

import hashlib
import hmac
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from typing import TypeAlias, TypeVar

import grpc
import structlog
from google.protobuf.message import Message

from codereward.v1 import reward_service_pb2 as pb
from reward_server.errors import RewardServerError, SandboxError, UnauthenticatedError
from reward_server.rpc import status
from reward_server.telemetry import Telemetry

Context: TypeAlias = "grpc.aio.ServicerContext[bytes, Message]"
Handler: TypeAlias = "grpc.RpcMethodHandler[bytes, Message]"
Continuation: TypeAlias = "Callable[[grpc.HandlerCallDetails], Awaitable[Handler]]"
_Answer = TypeVar("_Answer")

_METHODS = frozenset(pb.DESCRIPTOR.services_by_name["RewardService"].methods_by_name)
_HEALTH = "/grpc.health.v1.Health/"
_log = structlog.get_logger("rpc")


class Authentication(grpc.aio.ServerInterceptor):  # type: ignore[type-arg]  # generic in stubs alone
    """Asks for one of a few bearer tokens, except for health checks.

    Tokens are compared by their digests, each with each, so that time tells nothing about them.
    """

    def __init__(self, tokens: Collection[str], telemetry: Telemetry) -> None:
        self._digests = [_digest(token) for token in tokens]
        self._telemetry = telemetry

    async def intercept_service(
        self, continuation: Continuation, details: grpc.HandlerCallDetails
    ) -> Handler:
        """Goes on, or refuses."""
        if details.method.startswith(_HEALTH) or self._allows(details):
            return await continuation(details)
        error = UnauthenticatedError("a valid bearer token is needed in `authorization`")
        return _refusal(details.method, error, self._telemetry)

    def _allows(self, details: grpc.HandlerCallDetails) -> bool:
        shown = [value for key, value in details.invocation_metadata if key == "authorization"]
        if len(shown) != 1 or not isinstance(shown[0], str):
            return False
        scheme, _, token = shown[0].partition(" ")
        digest = _digest(token.strip())
        matches = [hmac.compare_digest(digest, known) for known in self._digests]
        return scheme.lower() == "bearer" and any(matches)


class Room(grpc.aio.ServerInterceptor):  # type: ignore[type-arg]  # generic in stubs alone
    """Refuses work for which there is no room, before its body is read.

    Args:
        methods: full names of the methods that need room.
        check: raises when there is none.
        telemetry: counts the refusals.
    """

    def __init__(
        self, methods: Collection[str], check: Callable[[], None], telemetry: Telemetry
    ) -> None:
        self._methods = frozenset(methods)
        self._check = check
        self._telemetry = telemetry

    async def intercept_service(
        self, continuation: Continuation, details: grpc.HandlerCallDetails
    ) -> Handler:
        """Goes on, or refuses."""
        if details.method in self._methods:
            try:
                self._check()
            except RewardServerError as error:
                return _refusal(details.method, error, self._telemetry)
        return await continuation(details)


def boundary(
    method: str,
    behaviour: Callable[[bytes, Context], Awaitable[_Answer]],
    telemetry: Telemetry,
) -> Callable[[bytes, Context], Awaitable[_Answer]]:
    """Wraps a method: measures it, and turns whatever it raises into a status."""

    async def handle(body: bytes, context: Context) -> _Answer:
        begun = time.perf_counter()
        code = grpc.StatusCode.CANCELLED
        try:
            answer = await behaviour(body, context)
            code = grpc.StatusCode.OK
        except Exception as error:  # noqa: BLE001  # the boundary: an error becomes a status
            code = status.code_of(error)
            report_failure(method, error)
            await status.abort(context, error)
        finally:
            telemetry.call_ended(method, code.name, time.perf_counter() - begun)
        return answer

    return handle


def report_failure(method: str, error: Exception) -> None:
    """Logs a failure that operators should know of; a caller's own fault is only for debugging."""
    if isinstance(error, SandboxError):
        _log.warning("sandbox failed", method=method, error=str(error))
    elif isinstance(error, RewardServerError):
        _log.debug("refused", method=method, code=status.code_of(error).name)
    else:
        # Where, but not the message, which may quote a completion.
        frames = "".join(traceback.format_tb(error.__traceback__))
        _log.error("internal error", method=method, error=type(error).__name__, frames=frames)


def _refusal(method: str, error: RewardServerError, telemetry: Telemetry) -> Handler:
    async def refuse(_: AsyncIterator[bytes], context: Context) -> None:
        telemetry.call_ended(_label(method), status.code_of(error).name, 0.0)
        await status.abort(context, error)

    return grpc.stream_stream_rpc_method_handler(refuse)


def _label(method: str) -> str:
    """Names a method for counting; those that strangers make up are one."""
    name = method.rpartition("/")[2]
    return name if name in _METHODS else "other"


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
