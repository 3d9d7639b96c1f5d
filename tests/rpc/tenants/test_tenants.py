"""Tenants over real gRPC: what one does is neither seen nor felt by another."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]  # no stubs

from codereward.v1 import reward_service_pb2 as pb
from reward_server.errors import SettingsError
from tests.rpc.conftest import Refusal, Serve, Served, function_request, refused
from tests.rpc.fakes import FakeExecutor
from trainer_client import AsyncRewardClient

RED = (("authorization", "Bearer red-token"),)
BLUE = (("authorization", "Bearer blue-token"),)
PAIR = (("red", "red-token"), ("blue", "blue-token"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tokens.toml"


def write(file: Path, **red: object) -> Path:
    """Writes a file of the tenants red, with some settings, and blue."""
    settings = "".join(f"{name} = {value}\n" for name, value in red.items())
    tables = [f'[[tenants]]\nname = "{name}"\ntokens = ["{token}"]\n' for name, token in PAIR]
    return write_tables(file, settings.join(tables))


def write_tables(file: Path, text: str) -> Path:
    file.write_text(text)
    return file


def score(served: Served, request: pb.ScoreRequest, metadata: Any) -> asyncio.Future[Any]:
    return asyncio.ensure_future(served.stub.Score(request, metadata=metadata))


# -------------------------------------------------------------------------------- kept apart


async def test_an_id_of_one_tenant_is_free_for_another(serve: Serve, file: Path) -> None:
    served = await serve(token_file=write(file))
    first = await served.stub.Score(function_request(1, id="same"), metadata=RED)
    again = await served.stub.Score(function_request(1, id="same"), metadata=RED)
    assert (first.deduplicated, again.deduplicated) == (False, True)
    for number in (1, 2):  # equal content, and other content under the id that blue chose
        mine = function_request(number, id=f"same{number}")
        await served.stub.Score(function_request(number, id=f"same{number}"), metadata=RED)
        answer = await served.stub.Score(mine, metadata=BLUE)
        assert not answer.deduplicated
    other = await served.stub.Score(function_request(3, id="same"), metadata=BLUE)
    assert (other.verdict, other.deduplicated) == (pb.VERDICT_PASSED, False)
    assert len(served.executor.started) == 6


async def test_equal_work_of_two_tenants_is_not_shared_while_it_runs(
    serve: Serve, file: Path
) -> None:
    served = await serve(FakeExecutor(slots=4, held=True), token_file=write(file))
    red = [score(served, function_request(), RED) for _ in range(2)]
    await served.executor.until_running(1)
    blue = score(served, function_request(), BLUE)
    await served.executor.until_running(2)  # blue waits for its own execution, not for red's
    served.executor.finish()
    assert {(await call).deduplicated for call in red} == {False, True}
    assert not blue.done()
    served.executor.finish()
    assert not (await blue).deduplicated


async def test_stored_tasks_of_one_tenant_are_unknown_to_another(serve: Serve, file: Path) -> None:
    served = await serve(token_file=write(file))
    task = pb.Task(function=function_request().function).SerializeToString()
    stored = await served.stub.PutTask(pb.PutTaskRequest(task=task), metadata=RED)
    named = pb.ScoreRequest(completion="def f(x): return x", task_digest=stored.task_digest)
    assert (await served.stub.Score(named, metadata=RED)).verdict == pb.VERDICT_PASSED
    error = await refused(served.stub.Score(named, metadata=BLUE))
    assert error.code is grpc.StatusCode.NOT_FOUND


async def test_a_tenants_stored_tasks_are_as_many_as_its_quota(serve: Serve, file: Path) -> None:
    served = await serve(token_file=write(file, stored_tasks_count=2))
    digests = {}
    for metadata in (RED, BLUE):
        for number in range(3):
            task = pb.Task(function=function_request(number).function).SerializeToString()
            put = await served.stub.PutTask(pb.PutTaskRequest(task=task), metadata=metadata)
            digests[metadata, number] = put.task_digest
    known = set()
    for (metadata, number), digest in digests.items():
        named = pb.ScoreRequest(completion="def f(x): return x", task_digest=digest)
        with suppress(grpc.aio.AioRpcError):
            await served.stub.Score(named, metadata=metadata)
            known.add((metadata, number))
    assert known == digests.keys() - {(RED, 0)}


# ------------------------------------------------------------------------------------ turns


# ----------------------------------------------------------------------------------- quotas


def violated_quota(error: Refusal) -> str:
    status = status_pb2.Status.FromString(error.trailers["grpc-status-details-bin"])
    found = error_details_pb2.QuotaFailure()
    assert any(detail.Unpack(found) for detail in status.details)
    subject: str = found.violations[0].subject
    return subject


@pytest.mark.promise(
    "A request above a quota is refused with the quota's name and a time.", "Service"
)
async def test_a_request_above_the_quota_is_refused_with_its_name_and_a_time(
    serve: Serve, file: Path
) -> None:
    served = await serve(FakeExecutor(held=True), token_file=write(file, requests_in_flight=1))
    first = score(served, function_request(1), RED)
    await served.executor.until_running(1)
    error = await refused(served.stub.Score(function_request(2), metadata=RED))
    assert error.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "red" in error.details
    assert "requests_in_flight of 1" in error.details
    assert violated_quota(error) == "requests_in_flight"
    assert error.retry_milliseconds > 0
    assert error.pushback == str(error.retry_milliseconds)
    blue = score(served, function_request(2), BLUE)
    await served.executor.until_running(2)
    served.executor.release()
    assert (await first).verdict == (await blue).verdict == pb.VERDICT_PASSED


async def test_a_batch_takes_no_more_places_than_its_tenant_has(serve: Serve, file: Path) -> None:
    executor = FakeExecutor(slots=4, held=True)
    served = await serve(executor, token_file=write(file, requests_in_flight=2))
    requests = [function_request(number) for number in range(6)]
    call = served.stub.ScoreBatch(pb.ScoreBatchRequest(requests=requests), metadata=RED)
    answers = asyncio.ensure_future(collected(call))
    await executor.until_running(2)
    await asyncio.sleep(0)
    assert executor.peak == 2
    executor.release()
    found = await answers
    assert [answer.HasField("response") for answer in found] == [True] * 6


async def collected(call: Any) -> list[pb.ScoreBatchResponse]:
    return [answer async for answer in call]


async def test_the_client_comes_back_as_told_until_all_is_judged(serve: Serve, file: Path) -> None:
    served = await serve(token_file=write(file, requests_in_flight=1))
    async with AsyncRewardClient(served.app.address, token="red-token") as client:
        scores = await client.score([function_request(number) for number in range(24)])
    assert [one.reward for one in scores] == [1.0] * 24


# ----------------------------------------------------------------------------------- reload


async def test_weights_quotas_and_tokens_are_read_again(serve: Serve, file: Path) -> None:
    served = await serve(FakeExecutor(held=True), token_file=write(file, requests_in_flight=1))
    first = score(served, function_request(1), RED)
    await served.executor.until_running(1)
    write(file, requests_in_flight=2)
    served.app.reload()
    second = score(served, function_request(2), RED)
    await served.executor.until_running(2)
    error = await refused(served.stub.Score(function_request(3), metadata=RED))
    assert "requests_in_flight of 2" in error.details
    write(file, requests_in_flight=0)
    with pytest.raises(SettingsError, match=r"line 4: tenants\[0\].requests_in_flight must be"):
        served.app.reload()
    error = await refused(served.stub.Score(function_request(3), metadata=RED))
    assert "requests_in_flight of 2" in error.details
    served.executor.release()
    assert (await first).verdict == (await second).verdict == pb.VERDICT_PASSED


async def test_an_old_and_a_new_token_are_one_tenant(serve: Serve, file: Path) -> None:
    write_tables(file, '[[tenants]]\nname = "red"\ntokens = ["red-token", "blue-token"]\n')
    served = await serve(token_file=file)
    answers = [
        await served.stub.Score(function_request(1, id="same"), metadata=metadata)
        for metadata in (RED, BLUE)
    ]
    assert [answer.deduplicated for answer in answers] == [False, True]
