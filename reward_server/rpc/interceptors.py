"""The steps around every RPC: checks of credentials and of free places, and the conversion of
failures to statuses.

A call that is refused here never reads its body: handlers take a stream, and a refusal does not
request a message from it.
"""

from __future__ import annotations

import asyncio
import enum
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import TypeAlias, TypeVar

import grpc
import structlog
from google.protobuf.message import Message

from codereward.v1 import reward_service_pb2 as pb
from codereward.v1 import session_service_pb2 as session_pb
from reward_server.errors import RewardServerError, SandboxError, UnauthenticatedError
from reward_server.rpc import status
from reward_server.rpc.callers import Callers, Context, OpenCalls
from reward_server.rpc.strangers import Strangers, peer_name
from reward_server.telemetry import Telemetry, tell_call
from reward_server.tenants.quotas import InFlight

Handler: TypeAlias = "grpc.RpcMethodHandler[bytes, Message]"
Continuation: TypeAlias = "Callable[[grpc.HandlerCallDetails], Awaitable[Handler]]"
_Answer = TypeVar("_Answer")

_METHODS = frozenset(
    (
        *pb.DESCRIPTOR.services_by_name["RewardService"].methods_by_name,
        *session_pb.DESCRIPTOR.services_by_name["SessionService"].methods_by_name,
    )
)
_UNAUTHENTICATED = grpc.StatusCode.UNAUTHENTICATED
_NO_CREDENTIAL = "a valid bearer token is needed in `authorization`"
_FLOOD_SECONDS = 1.0
_HEALTH = "/grpc.health.v1.Health/"
_log = structlog.get_logger("rpc")


class Work(enum.Enum):
    """The room that a call of a method needs."""

    NONE = "none"
    BODY = "its body"
    REQUEST = "one request"
    REQUESTS = "requests that its body holds"


class Authentication(grpc.aio.ServerInterceptor):  # type: ignore[type-arg]  # generic in stubs alone
    """Requires a credential, except for health checks."""

    def __init__(self, callers: Callers, strangers: Strangers, telemetry: Telemetry) -> None:
        self._callers = callers
        self._strangers = strangers
        self._telemetry = telemetry

    async def intercept_service(
        self, continuation: Continuation, details: grpc.HandlerCallDetails
    ) -> Handler:
        """Continues with the call, or refuses it."""
        if self._callers.identify(details) or details.method.startswith(_HEALTH):
            return await continuation(details)
        return self._refusal(details.method)

    def _refusal(self, method: str) -> Handler:
        async def refuse(_: AsyncIterator[bytes], context: Context) -> None:
            if not self._strangers.allows_call(peer_name(context.peer())):
                await asyncio.sleep(_FLOOD_SECONDS)  # until the connection is ended
            self._telemetry.call_ended(_label(method), _UNAUTHENTICATED.name, 0.0)
            self._telemetry.refused(status.cause_of(UnauthenticatedError()))
            await context.abort(_UNAUTHENTICATED, _NO_CREDENTIAL)

        return grpc.stream_stream_rpc_method_handler(refuse)


class Gate:
    """The checks that a call must pass before its body is read.

    Args:
        callers: identifies the call's owner.
        strangers: is notified when a credential was shown.
        calls: bounds the number of open calls.
        check: raises if there is no room for an owner's work.
        in_flight: bounds the requests and bytes of each owner.
    """

    def __init__(
        self,
        *,
        callers: Callers,
        strangers: Strangers,
        calls: OpenCalls,
        check: Callable[[str], None],
        in_flight: InFlight,
    ) -> None:
        self._callers = callers
        self._strangers = strangers
        self.calls = calls
        self.in_flight = in_flight
        self._check = check

    @contextmanager
    def room(self, owner: str, work: Work) -> Iterator[None]:
        """Finds room for a call's work for the length of the block, before its body is read.

        Args:
            owner: the call's owner.
            work: the size of the call's work; the requests of a batch are counted one by one,
                later.

        Raises:
            OverloadedError: there is no room for the owner's work, or a quota is reached.
            DrainingError: the server is shutting down.
        """
        if work is not Work.BODY:
            self._check(owner)
        self.in_flight.check_body(owner)
        with self.in_flight.request(owner) if work is Work.REQUEST else nullcontext():
            yield

    def owner(self, context: Context) -> str:
        """Returns the owner of a call."""
        owner = self._callers.owner(context)
        if owner is None:
            raise UnauthenticatedError(_NO_CREDENTIAL)
        self._strangers.showed_credential(context.peer())
        return owner


def handlers_of(
    service: str,
    unary: Mapping[str, Callable[[bytes, Context, str], Awaitable[Message]]],
    streamed: Mapping[str, Callable[[bytes, Context, str], Awaitable[None]]],
    telemetry: Telemetry,
    gate: Gate,
    work: Callable[[str], Work],
) -> grpc.GenericRpcHandler[bytes, Message]:
    """Returns the methods of a service in the form that gRPC takes, each within `boundary`.

    Args:
        service: full name of the service.
        unary: the methods that return one answer, by name.
        streamed: the methods that send their answers.
        telemetry: counts the calls.
        gate: the checks that a call must pass.
        work: returns the room that a call of a method needs.
    """
    methods: dict[str, grpc.RpcMethodHandler[bytes, Message]] = {
        name: grpc.stream_unary_rpc_method_handler(
            boundary(name, behaviour, telemetry, gate, work=work(name)),
            response_serializer=_serialize,
        )
        for name, behaviour in unary.items()
    }
    for name, sender in streamed.items():
        methods[name] = grpc.stream_stream_rpc_method_handler(
            boundary(name, sender, telemetry, gate, work=work(name)),
            response_serializer=_serialize,
        )
    return grpc.method_handlers_generic_handler(service, methods)


def _serialize(message: Message) -> bytes:
    return message.SerializeToString()


def boundary(
    method: str,
    behaviour: Callable[[bytes, Context, str], Awaitable[_Answer]],
    telemetry: Telemetry,
    gate: Gate,
    *,
    work: Work,
) -> Callable[[AsyncIterator[bytes], Context], Awaitable[_Answer]]:
    """Wraps a method: admits the call, measures it, and converts exceptions to a status.

    Args:
        method: name of the method.
        behaviour: answers a body; receives the call's owner.
        telemetry: counts the calls.
        gate: the checks that a call must pass.
        work: the room that a call needs.
    """

    async def enter(context: Context) -> _Answer:
        owner = gate.owner(context)
        with gate.calls.entered(owner):
            if work is Work.NONE:
                return await behaviour(await _body(context), context, owner)
            with gate.room(owner, work):
                body = await _body(context)
                with gate.in_flight.body(owner, len(body)):
                    return await behaviour(body, context, owner)

    async def handle(_: AsyncIterator[bytes], context: Context) -> _Answer:
        begun = time.perf_counter()
        code = grpc.StatusCode.CANCELLED
        tell_call(method=method, peer=peer_name(context.peer()))
        try:
            answer = await enter(context)
            code = grpc.StatusCode.OK
        except Exception as error:  # noqa: BLE001  # the boundary: an error becomes a status
            code = status.code_of(error)
            report_failure(telemetry, error)
            await status.abort(context, error)
        finally:
            telemetry.call_ended(method, code.name, time.perf_counter() - begun)
        return answer

    return handle


async def _body(context: Context) -> bytes:
    body: object = await context.read()  # not bytes if the caller sent none
    return body if isinstance(body, bytes) else b""


def report_failure(telemetry: Telemetry, error: Exception) -> None:
    """Counts a failure, and logs it; a caller's own fault is logged at the level DEBUG only."""
    telemetry.refused(status.cause_of(error))
    if isinstance(error, SandboxError):
        _log.warning("sandbox failed", error=str(error))
    elif isinstance(error, RewardServerError):
        _log.debug("refused", code=status.code_of(error).name)
    else:
        # Logs the place, but not the message, which may quote a completion.
        frames = "".join(traceback.format_tb(error.__traceback__))
        _log.error("internal error", error=type(error).__name__, frames=frames)


def _label(method: str) -> str:
    """Returns a method's name for counting; all invented names are counted under one name."""
    name = method.rpartition("/")[2]
    return name if name in _METHODS else "other"
