"""Answers health checks, which need no credential and therefore must use few resources.

A stranger is a caller without a credential. The server does not read a stranger's request, since
its size is only bounded by the limit for whole tasks. So a stranger gets the server's state,
whatever service the request names.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Collection
from contextlib import AbstractContextManager, nullcontext

import grpc
from google.protobuf.message import DecodeError, Message
from grpc_health.v1 import health, health_pb2

from reward_server.errors import OverloadedError
from reward_server.rpc import status
from reward_server.rpc.callers import Callers, Context
from reward_server.rpc.strangers import Strangers, peer_name

_Response = health_pb2.HealthCheckResponse
# The service whose state is that of the answering process, if a server has several processes.
PROCESS = "process"
_jitter = random.Random()  # not the global generator, which programs seed
# A stream above the limit is refused after a random delay. Otherwise callers that try again at once
# would fill the queue in which all calls wait.
_REFUSAL_SECONDS = (2.0, 6.0)


class Health:
    """Answers `grpc.health.v1.Health`.

    Args:
        services: full names of the services whose state is the server's.
        is_member: whether this is one of several processes; then the server's state is that of all
            of them, and the service "process" has the state of this one.
        callers: distinguishes owners from strangers.
        strangers: bounds the resources that strangers use.
    """

    def __init__(
        self,
        services: Collection[str],
        *,
        callers: Callers,
        strangers: Strangers,
        is_member: bool = False,
    ) -> None:
        self._services = frozenset(services) | {""} | ({PROCESS} if is_member else set())
        self._callers = callers
        self._strangers = strangers
        self._state = self._own_state = int(_Response.NOT_SERVING)
        self._is_draining = False
        self._changed = asyncio.Event()

    def handlers(self) -> grpc.GenericRpcHandler[bytes, Message]:
        """Returns the methods as gRPC takes them."""
        methods = {
            "Check": grpc.stream_unary_rpc_method_handler(
                self.check, response_serializer=_Response.SerializeToString
            ),
            "Watch": grpc.stream_stream_rpc_method_handler(
                self.watch, response_serializer=_Response.SerializeToString
            ),
        }
        return grpc.method_handlers_generic_handler(health.SERVICE_NAME, methods)

    def tell(self, *, serving: bool) -> None:
        """Changes the server's state; after `drain` the answer stays NOT_SERVING."""
        self._state = _state(serving)
        self._announce()

    def tell_process(self, *, serving: bool) -> None:
        """Changes the state of the service "process"; after `drain` it stays NOT_SERVING."""
        self._own_state = _state(serving)
        self._announce()

    def drain(self) -> None:
        """Answers NOT_SERVING from now on."""
        self._is_draining = True
        self._announce()

    async def check(self, _: AsyncIterator[bytes], context: Context) -> Message:
        """Returns the state."""
        self._count(context)
        state = self._state_of(await self._service(context))
        if state == _Response.SERVICE_UNKNOWN:
            await context.abort(grpc.StatusCode.NOT_FOUND, "no such service is here")
        answer: Message = _Response(status=state)
        return answer

    async def watch(self, _: AsyncIterator[bytes], context: Context) -> None:
        """Writes the state, and each change of it."""
        try:
            await self._watch(context)
        except asyncio.CancelledError:
            self._count(context)  # resetting a stream counts as a call; waiting does not
            raise

    async def _watch(self, context: Context) -> None:
        service = await self._service(context)
        try:
            with self._place(context):
                await self._tell_changes(service, context)
        except OverloadedError as error:
            await asyncio.sleep(_jitter.uniform(*_REFUSAL_SECONDS))
            await status.abort(context, error)

    def _count(self, context: Context) -> None:
        if self._callers.owner(context) is None:
            self._strangers.allows_call(peer_name(context.peer()))

    def _place(self, context: Context) -> AbstractContextManager[None]:
        if self._callers.owner(context) is None or not self._callers.are_asked:
            return self._strangers.stream()
        return nullcontext()

    async def _tell_changes(self, service: str, context: Context) -> None:
        told = None
        while True:
            changed = self._changed
            state = self._state_of(service)
            if state != told:
                await context.write(_Response(status=state))
                told = state
            await changed.wait()

    async def _service(self, context: Context) -> str:
        if self._callers.owner(context) is None:
            return ""
        try:
            body = await context.read()
            request = health_pb2.HealthCheckRequest.FromString(bytes(body))
            service: str = request.service
            return service
        except (DecodeError, TypeError):
            return ""

    def _state_of(self, service: str) -> int:
        if service not in self._services:
            return int(_Response.SERVICE_UNKNOWN)
        if self._is_draining:
            return int(_Response.NOT_SERVING)
        return self._own_state if service == PROCESS else self._state

    def _announce(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def _state(serving: bool) -> int:
    return int(_Response.SERVING if serving else _Response.NOT_SERVING)
