"""The commands' client waits as long as it is told to, and no longer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
import pytest

from codereward.v1 import reward_service_pb2 as pb
from codereward.v1 import reward_service_pb2_grpc as pb_grpc
from reward_server.cli.calls import PUSHBACK, Address, Caller


class Service(pb_grpc.RewardServiceServicer):
    """Refuses with each status in turn, then answers."""

    def __init__(self, *refusals: tuple[grpc.StatusCode, str]) -> None:
        self.refusals = list(refusals)
        self.calls = 0
        self.metadata: list[dict[str, str]] = []

    async def Score(self, request, context):  # type: ignore[no-untyped-def]  # noqa: N802
        self.calls += 1
        self.metadata.append(dict(context.invocation_metadata()))
        if self.refusals:
            code, pushback = self.refusals.pop(0)
            trailers = ((PUSHBACK, pushback),) if pushback else ()
            await context.abort(code, "no", trailers)
        return pb.ScoreResponse(id=request.id)


@asynccontextmanager
async def calling(
    service: Service, *, patience: float = 5.0, token: str = ""
) -> AsyncIterator[Caller]:
    server = grpc.aio.server()
    pb_grpc.add_RewardServiceServicer_to_server(service, server)  # type: ignore[no-untyped-call]  # generated
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    address = Address(target=f"127.0.0.1:{port}", patience_seconds=patience, token=token)
    try:
        async with Caller(address) as caller:
            yield caller
    finally:
        await server.stop(None)


async def test_a_full_server_is_asked_again_when_it_said() -> None:
    service = Service(*[(grpc.StatusCode.RESOURCE_EXHAUSTED, "1")] * 3)
    async with calling(service) as caller:
        answer = await caller.score(pb.ScoreRequest(id="a"))
    assert answer.id == "a"
    assert service.calls == 4


async def test_a_server_that_is_away_is_asked_again() -> None:
    service = Service((grpc.StatusCode.UNAVAILABLE, ""))
    async with calling(service) as caller:
        await caller.score(pb.ScoreRequest())
    assert service.calls == 2


@pytest.mark.parametrize(
    "refusal",
    [
        (grpc.StatusCode.RESOURCE_EXHAUSTED, ""),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "-1"),
        (grpc.StatusCode.INVALID_ARGUMENT, "1"),
        (grpc.StatusCode.DEADLINE_EXCEEDED, ""),
    ],
)
async def test_what_no_retry_can_help_is_not_repeated(refusal: tuple[grpc.StatusCode, str]) -> None:
    service = Service(refusal)
    async with calling(service) as caller:
        with pytest.raises(grpc.aio.AioRpcError):
            await caller.score(pb.ScoreRequest())
    assert service.calls == 1


async def test_patience_ends() -> None:
    service = Service(*[(grpc.StatusCode.RESOURCE_EXHAUSTED, "10000")] * 2)
    async with calling(service, patience=1.0) as caller:
        with pytest.raises(grpc.aio.AioRpcError):
            await caller.score(pb.ScoreRequest())
    assert service.calls == 1


async def test_the_token_goes_with_every_call() -> None:
    service = Service()
    async with calling(service, token="secret") as caller:
        await caller.score(pb.ScoreRequest())
    assert service.metadata[0]["authorization"] == "Bearer secret"


async def test_the_answer_of_a_server_that_could_not_read_a_request_is_refused() -> None:
    request = pb.ScoreRequest(text_files={"a": "b"})
    async with calling(Service()) as caller:
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await caller.score(request)
    assert raised.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert "may not have text_files" in (raised.value.details() or "")
