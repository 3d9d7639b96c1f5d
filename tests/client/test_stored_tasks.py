from __future__ import annotations

import asyncio
import hashlib
import threading

import grpc
import pytest
from google.rpc import status_pb2

from codereward.v1 import reward_service_pb2 as pb
from tests.client.conftest import passed
from trainer_client import AsyncRewardClient, RewardClient
from trainer_client.transport.permits import Permits
from trainer_client.transport.stored_tasks import Divider

MOST = 32 << 20
TESTS = pb.FunctionTests(entry_point="f", test_code="#" * (100 << 10))


def requests(count: int) -> list[pb.ScoreRequest]:
    return [
        pb.ScoreRequest(id=f"r{index}", completion=f"{index}", function=TESTS)
        for index in range(count)
    ]


def small(count: int) -> list[pb.ScoreRequest]:
    return [pb.ScoreRequest(id=f"r{index}") for index in range(count)]


def as_an_older_version(request, context) -> pb.ScoreResponse:
    """Ignores `task_digest`, which it does not know."""
    if request.WhichOneof("tests") is None:
        problem = "tests: are absent; set one of function, call, stdio, unit, program"
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, problem)
    return passed(request, context)


def test_a_client_without_an_event_loop_sends_a_task_once_too(serve):
    server = serve()
    with RewardClient(server.target) as client:
        scores = client.score(requests(20))
    assert [score.reward for score in scores] == [1.0] * 20
    (task,) = server.tasks
    assert pb.Task.FromString(task).function == TESTS
    assert {one.task_digest for one in server.requests} == {hashlib.sha256(task).digest()}
    assert {one.WhichOneof("tests") for one in server.requests} == {None}


async def test_a_server_that_stores_no_tasks_gets_whole_requests(serve):
    server = serve(as_an_older_version)
    server.knows_tasks = False
    async with AsyncRewardClient(server.target) as client:
        scores = await client.score(requests(20))
    assert [score.reward for score in scores] == [1.0] * 20
    assert all(one.function == TESTS for one in server.requests)


async def test_a_request_is_sent_whole_to_an_older_server_beside_one_that_stores_tasks(serve):
    server = serve(as_an_older_version)  # behind one address with one that answers PutTask
    async with AsyncRewardClient(server.target, batch_size=1) as client:
        scores = await client.score(requests(8))
    assert [score.reward for score in scores] == [1.0] * 8
    assert sum(one.function == TESTS for one in server.requests) == 8


async def test_a_server_that_never_knows_the_task_gets_whole_requests(serve):
    def forgets(request, context) -> pb.ScoreResponse:
        if request.task_digest:
            context.abort(grpc.StatusCode.NOT_FOUND, "task_digest: no task is stored")
        return passed(request, context)

    server = serve(forgets)
    async with AsyncRewardClient(server.target) as client:
        (score,) = await client.score(requests(1))
    assert score.reward == 1.0
    assert [bool(one.task_digest) for one in server.requests] == [True] * 7 + [False]


async def test_a_failed_upload_is_tried_again_like_any_call(serve):
    server = serve()
    server.failing_uploads = 2
    async with AsyncRewardClient(server.target) as client:
        scores = await client.score(requests(4))
    assert [score.reward for score in scores] == [1.0] * 4
    assert (server.failing_uploads, len(server.tasks)) == (0, 1)


async def test_a_call_ends_in_time_when_no_upload_succeeds(serve):
    server = serve()
    server.failing_uploads = 1_000_000
    async with AsyncRewardClient(server.target, timeout_seconds=0.5) as client:
        scores = await client.score(requests(4))
    assert {score.error.status for score in scores} <= {"UNAVAILABLE", "DEADLINE_EXCEEDED"}
    assert not server.requests


def test_equal_tasks_have_one_digest_whatever_the_order_of_their_files():
    names = [f"f{number}" for number in range(50)]
    digests = set()
    for order in (names, names[::-1]):
        request = pb.ScoreRequest(function=TESTS, text_data_files=dict.fromkeys(order, "x"))
        digests.add(Divider(1, MOST).divided(request).digest)
    assert len(digests) == 1


@pytest.mark.parametrize("size", [63 << 10, 65 << 10])
def test_the_size_of_the_task_decides_and_not_that_of_the_completion(size):
    tests = pb.FunctionTests(test_code="#" * size)
    request = pb.ScoreRequest(completion="x" * (200 << 10), function=tests)
    assert (Divider(64 << 10, MOST).divided(request) is None) == (size < 64 << 10)


def test_a_digest_is_that_of_its_task_whatever_came_before():
    divider = Divider(1, MOST)
    texts = ["a" * 99, "b" * 99, "a" * 99, "a" * 98, "b" * 98, "b" * 99, *map(str, range(10, 30))]
    for text in texts:
        tests = pb.FunctionTests(test_code=text)
        parts = divider.divided(pb.ScoreRequest(completion="c", function=tests))
        assert parts.task == pb.Task(function=tests)
        assert parts.digest == hashlib.sha256(parts.task.SerializeToString()).digest()
        assert parts.rest == pb.ScoreRequest(completion="c", task_digest=parts.digest)


def test_a_task_above_the_size_of_a_request_is_not_stored():
    request = pb.ScoreRequest(function=TESTS)
    assert Divider(1, 99 << 10).divided(request) is None
    assert Divider(1, 101 << 10).divided(request) is not None


# ---------------------------------------------------------------------------------- few RPCs


async def test_512_requests_are_neither_512_rpcs_nor_one(serve):
    server = serve()
    async with AsyncRewardClient(server.target) as client:
        scores = await client.score(small(512))
    assert [score.id for score in scores] == [f"r{index}" for index in range(512)]
    assert 32 <= server.rpcs <= 128
    assert max(server.batches) <= 8


async def test_few_requests_go_in_rpcs_of_their_own(serve):
    server = serve()
    async with AsyncRewardClient(server.target) as client:
        await client.score(small(8))
    assert (server.rpcs, server.batches) == (8, [])


async def test_a_slow_completion_holds_up_none_but_itself(serve):
    others = threading.Semaphore(0)

    def answer(request, context) -> pb.ScoreResponse:
        if request.id == "r0":
            for _ in range(511):
                assert others.acquire(timeout=60)
        else:
            others.release()
        return passed(request, context)

    async with AsyncRewardClient(serve(answer).target) as client:
        scores = await client.score(small(512))
    assert [score.reward for score in scores] == [1.0] * 512


async def test_one_that_fails_in_an_rpc_leaves_the_others_their_scores(serve):
    def answer(request, context) -> pb.ScoreResponse | pb.ScoreBatchResponse:
        if int(request.id[1:]) % 8 == 3:
            return pb.ScoreBatchResponse(error=status_pb2.Status(code=3, message="wrong"))
        return passed(request, context)

    async with AsyncRewardClient(serve(answer).target, batch_size=8) as client:
        scores = await client.score(small(256))
    wrong = {score.id for score in scores if score.error is not None}
    assert wrong == {f"r{index}" for index in range(256) if index % 8 == 3}


async def test_permits_are_given_in_turn_and_never_more_than_there_are():
    permits = Permits(4)
    held = await permits.take(3)
    many = asyncio.create_task(permits.take(4))
    await asyncio.sleep(0)
    few = asyncio.create_task(permits.take(1))
    await asyncio.sleep(0)
    assert not few.done()  # though one is free, as another waited before it
    held.give_one()
    held.give_rest()
    (await many).give_rest()
    await few


async def test_a_call_that_is_cancelled_gives_its_permits_back(serve):
    server = serve()
    async with AsyncRewardClient(server.target, max_in_flight=4) as client:
        for rounds in range(20):
            scoring = asyncio.create_task(client.score(requests(16)))
            for _ in range(rounds):
                await asyncio.sleep(0)
            scoring.cancel()
            await asyncio.gather(scoring, return_exceptions=True)
        scores = await client.score(requests(16))
    assert [score.reward for score in scores] == [1.0] * 16
