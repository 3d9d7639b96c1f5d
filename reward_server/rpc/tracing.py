"""One span for each call, made by OpenTelemetry's own instrumentation of gRPC."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc

from reward_server.rpc.callers import Context
from reward_server.rpc.interceptors import Continuation, Handler
from reward_server.telemetry import Spans

_STREAMING = ("/ScoreBatch", "/Exec")


def tracing(spans: Spans) -> list[Any]:
    """Returns the interceptors that make spans; none if there are no spans.

    They belong after authentication, so that callers without a credential make none.
    """
    if spans.provider is None:
        return []
    from opentelemetry.instrumentation.grpc import aio_server_interceptor, filters

    unwatched = filters.negate(filters.health_check())
    make: Callable[..., Any] = aio_server_interceptor  # it is not typed
    return [make(spans.provider, unwatched), _Generators()]


class _Generators(grpc.aio.ServerInterceptor):  # type: ignore[type-arg]  # generic in stubs alone
    """Makes streaming methods generators, since OpenTelemetry's interceptor needs these."""

    async def intercept_service(
        self, continuation: Continuation, details: grpc.HandlerCallDetails
    ) -> Handler:
        """Continues with the call."""
        handler: Any = await continuation(details)
        if handler is None or not details.method.endswith(_STREAMING):
            return handler  # type: ignore[no-any-return]  # the library has no type for it

        async def stream(requests: AsyncIterator[bytes], context: Context) -> AsyncIterator[Any]:
            await handler.stream_stream(requests, context)  # which writes its answers itself
            return
            yield

        return grpc.stream_stream_rpc_method_handler(
            stream, response_serializer=handler.response_serializer
        )
