from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]  # no stubs

from codereward.v1 import reward_service_pb2 as pb
from codereward.v1 import reward_service_pb2_grpc as pb_grpc
from reward_server.app import App, serving
from reward_server.backends import Backend
from reward_server.domain import Wall
from reward_server.settings import load_settings
from tests.rpc.fakes import FakeExecutor


@dataclass(frozen=True, kw_only=True)
class Served:
    """A server over a fake executor, and a client of it."""

    app: App
    executor: FakeExecutor
    channel: grpc.aio.Channel
    stub: pb_grpc.RewardServiceAsyncStub
    stop: Callable[[], Awaitable[None]]

    async def until_admitted(self, count: int) -> None:
        """Returns once exactly `count` submissions are inside."""
        while self.app.scheduler.admitted != count:  # noqa: ASYNC110  # nothing tells of it
            await asyncio.sleep(0)


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """What a client sees of a failed call."""

    code: grpc.StatusCode
    details: str
    trailers: dict[str, Any]

    @classmethod
    def of(cls, error: grpc.aio.AioRpcError) -> Refusal:
        """Reads it from the library's exception."""
        trailers: Any = error.trailing_metadata()
        return cls(code=error.code(), details=error.details() or "", trailers=dict(trailers))

    @property
    def violated_field(self) -> str:
        """The field that a BadRequest names."""
        field: str = self._detail(error_details_pb2.BadRequest()).field_violations[0].field
        return field

    @property
    def retry_milliseconds(self) -> int:
        """The delay that a RetryInfo gives."""
        delay: int = self._detail(error_details_pb2.RetryInfo()).retry_delay.ToMilliseconds()
        return delay

    @property
    def pushback(self) -> str | None:
        """The delay that gRPC's own retries keep to."""
        return self.trailers.get("grpc-retry-pushback-ms")

    def _detail(self, message: Any) -> Any:
        status = status_pb2.Status.FromString(self.trailers["grpc-status-details-bin"])
        assert status.code == self.code.value[0]
        assert status.details[0].Unpack(message)
        return message


async def refused(call: Awaitable[object]) -> Refusal:
    """Waits for a call that must fail."""
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await call
    return Refusal.of(raised.value)


Serve = Callable[..., Awaitable[Served]]


@asynccontextmanager
async def servers() -> AsyncIterator[Serve]:
    """Starts servers; settings are given by name, all others have their defaults."""
    async with AsyncExitStack() as stack:

        async def start(
            executor: FakeExecutor | None = None,
            outages: asyncio.Queue[bool] | None = None,
            facts: Mapping[str, Any] = MappingProxyType({}),
            **flags: Any,
        ) -> Served:
            executor = executor or FakeExecutor()
            known = {"walls": (Wall(name="kernel", standing=True, detail="Linux"),), **facts}
            backend = Backend(
                name="fake",
                executor=executor,
                language_versions={"python": "3.11.7"},
                outages=outages or asyncio.Queue[bool](),
                **known,
            )
            settings = load_settings({"port": 0, "drain_seconds": 0, **flags})
            server = await stack.enter_async_context(AsyncExitStack())
            app = await server.enter_async_context(serving(settings, backend))
            channel = await stack.enter_async_context(grpc.aio.insecure_channel(app.address))
            stub: pb_grpc.RewardServiceAsyncStub = pb_grpc.RewardServiceStub(channel)
            return Served(
                app=app, executor=executor, channel=channel, stub=stub, stop=server.aclose
            )

        yield start


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Starts servers; see `servers`."""
    async with servers() as start:
        yield start


def function_request(number: int = 0, **fields: Any) -> pb.ScoreRequest:
    """A request that no other number's is identical to."""
    tests = pb.FunctionTests(entry_point="f", asserts=[f"assert f({number}) == {number}"])
    return pb.ScoreRequest(completion="def f(x): return x", function=tests, **fields)
