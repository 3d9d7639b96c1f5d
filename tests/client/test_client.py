from __future__ import annotations

import asyncio
import pickle
import threading
import time
from concurrent import futures
from functools import partial
from itertools import count

import grpc
import pytest
from google.rpc import status_pb2

from codereward.v1 import reward_service_pb2 as pb
from tests.support.forks import said_in_a_fork
from trainer_client import (
    AsyncRewardClient,
    Integrity,
    LazyRequest,
    RewardClient,
    Verdict,
)
from trainer_client.local_server import free_port
from trainer_client.transport.retry import Patience


def requests(count: int, **fields) -> list[pb.ScoreRequest]:
    return [pb.ScoreRequest(id=f"r{index}", **fields) for index in range(count)]


def passed(request, context) -> pb.ScoreResponse:
    return pb.ScoreResponse(
        id=request.id, verdict=pb.VERDICT_PASSED, reward=1.0, integrity=pb.INTEGRITY_ISOLATED
    )


def slowly(request, context) -> pb.ScoreResponse:
    time.sleep(0.002)  # as long as a verdict takes
    return passed(request, context)


def failing_first(attempts: int, status: grpc.StatusCode, *metadata: tuple[str, str]):
    """Returns an answer that refuses each request a number of times, then passes it."""
    seen: dict[str, int] = {}
    lock = threading.Lock()

    def answer(request, context) -> pb.ScoreResponse:
        with lock:
            seen[request.id] = seen.get(request.id, 0) + 1
            refused = seen[request.id] <= attempts
        if refused:
            context.set_trailing_metadata(metadata)
            context.abort(status, "not now")
        return passed(request, context)

    return answer


async def test_scores_come_in_the_order_of_the_requests(serve):
    def slower_for_earlier(request, context):
        time.sleep(0.03 if request.id == "r0" else 0.0)  # the answers arrive in another order
        return pb.ScoreResponse(id=request.id, verdict=pb.VERDICT_PASSED, reward=1.0)

    async with AsyncRewardClient(serve(slower_for_earlier).target) as client:
        scores = await client.score(requests(5))
    assert [score.id for score in scores] == ["r0", "r1", "r2", "r3", "r4"]


async def test_a_score_tells_verdict_reward_and_integrity(serve):
    async with AsyncRewardClient(serve().target) as client:
        (score,) = await client.score(requests(1))
    assert score.verdict is Verdict.PASSED
    assert (score.reward, score.integrity, score.error) == (1.0, Integrity.ISOLATED, None)


async def test_no_requests_need_no_server():
    async with AsyncRewardClient("127.0.0.1:1") as client:
        assert await client.score([]) == []


@pytest.mark.parametrize("batch_size", [1, 4])
async def test_lazy_requests_are_made_when_they_are_sent_and_again_for_another_attempt(
    serve, batch_size
):
    made: list[str] = []

    def lazy(index: int) -> LazyRequest:
        def make() -> pb.ScoreRequest:
            made.append(f"r{index}")
            return pb.ScoreRequest(id=f"r{index}")

        return LazyRequest(id=f"r{index}", make=make)

    server = serve(failing_first(1, grpc.StatusCode.UNAVAILABLE))
    options = {"max_in_flight": 4, "batch_size": batch_size}
    async with AsyncRewardClient(server.target, **options) as client:
        scores = await client.score([lazy(index) for index in range(12)])
    assert [score.id for score in scores] == [f"r{index}" for index in range(12)]
    assert [score.reward for score in scores] == [1.0] * 12
    assert len(made) == (sum(server.batches) or len(server.requests)) >= 24
    if batch_size == 1:
        assert sorted(made) == sorted([f"r{index}" for index in range(12)] * 2)


@pytest.mark.parametrize("batch_size", [1, 4])
async def test_no_more_lazy_requests_exist_at_once_than_are_under_way(serve, batch_size):
    alive: set[str] = set()
    most = 0

    def lazy(index: int) -> LazyRequest:
        def make() -> pb.ScoreRequest:
            nonlocal most
            request = pb.ScoreRequest(id=f"r{index}")
            alive.add(request.id)
            most = max(most, len(alive))
            return request

        return LazyRequest(id=f"r{index}", make=make)

    def answer(request, context):
        alive.discard(request.id)
        return slowly(request, context)

    options = {"max_in_flight": 4, "batch_size": batch_size}
    async with AsyncRewardClient(serve(answer).target, **options) as client:
        await client.score([lazy(index) for index in range(64)])
    assert most <= 8  # an answer on its way back has left its slot on the server already


async def test_two_calls_at_once_share_the_bound(serve):
    server = serve(slowly)
    async with AsyncRewardClient(server.target, max_in_flight=4) as client:
        await asyncio.gather(client.score(requests(64)), client.score(requests(64)))
    assert 2 <= server.most_at_once <= 4


async def test_an_overload_is_retried_after_the_push_back_and_not_before(serve):
    push_back = ("grpc-retry-pushback-ms", "200")
    server = serve(failing_first(1, grpc.StatusCode.RESOURCE_EXHAUSTED, push_back))
    async with AsyncRewardClient(server.target) as client:
        started = time.monotonic()
        (score,) = await client.score(requests(1))
    assert score.reward == 1.0
    assert time.monotonic() - started >= 0.2
    assert len(server.requests) == 2


async def test_a_request_above_256_kib_is_retried_more_often_than_grpc_would(serve):
    server = serve(failing_first(7, grpc.StatusCode.UNAVAILABLE, ("grpc-retry-pushback-ms", "1")))
    async with AsyncRewardClient(server.target) as client:
        (score,) = await client.score(requests(1, completion="x" * (1 << 20)))
    assert score.reward == 1.0
    assert len(server.requests) == 8


@pytest.mark.parametrize("batch_size", [1, 4])
async def test_a_fault_of_the_caller_is_told_and_not_retried(serve, batch_size):
    def refuse(request, context):
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, "tests: absent")

    server = serve(refuse)
    async with AsyncRewardClient(server.target, batch_size=batch_size) as client:
        (score,) = await client.score(requests(1))
    assert (score.id, score.verdict, score.reward) == ("r0", None, None)
    assert str(score.error) == "INVALID_ARGUMENT: tests: absent"
    assert score.error is not None
    assert score.error.permanent
    assert len(server.requests) == 1


async def test_one_unjudged_request_leaves_the_others_judged(serve):
    def refuse_one(request, context):
        if request.id == "r1":
            context.abort(grpc.StatusCode.INTERNAL, "the sandbox failed")
        return passed(request, context)

    async with AsyncRewardClient(serve(refuse_one).target) as client:
        scores = await client.score(requests(3))
    assert [score.reward for score in scores] == [1.0, None, 1.0]


@pytest.mark.promise("A call ends in time if the server never answers.", "Client")
async def test_a_call_ends_in_time_when_the_server_never_answers(serve):
    release = threading.Event()

    def hang(request, context):
        release.wait()
        return passed(request, context)

    async with AsyncRewardClient(
        serve(hang).target, timeout_seconds=0.3, max_in_flight=2
    ) as client:
        scores = await client.score(requests(6))
    release.set()
    assert [score.error.status for score in scores] == ["DEADLINE_EXCEEDED"] * 6
    assert "before this request could be sent" in scores[5].error.message


async def test_one_attempt_has_a_deadline_of_its_own(serve):
    release = threading.Event()

    def hang(request, context):
        release.wait(20)
        return passed(request, context)

    async with AsyncRewardClient(serve(hang).target, rpc_timeout_seconds=0.2) as client:
        (score,) = await client.score(requests(1))
    release.set()
    assert score.error.status == "DEADLINE_EXCEEDED"


async def test_nobody_listening_gives_up_after_the_outage_time(monkeypatch):
    clock = count(step=0.02)  # each look at it takes that long
    patience = partial(Patience, clock=lambda: next(clock))
    monkeypatch.setattr("trainer_client.transport.call.Patience", patience)
    async with AsyncRewardClient("127.0.0.1:1", outage_seconds=0.4, max_in_flight=2) as client:
        scores = await client.score(requests(40))
    assert {score.error.status for score in scores} == {"UNAVAILABLE"}
    assert not any(score.error.permanent for score in scores)
    # The first wait for the server to come back; the others share their outage.
    assert 0 < sum("given up after" in score.error.message for score in scores) <= 10


async def test_a_server_that_comes_back_within_the_outage_time_judges_everything(serve):
    port = free_port()  # below those that the kernel gives to connections meanwhile
    first = serve(port=port)
    async with AsyncRewardClient(first.target) as client:
        assert (await client.score(requests(1)))[0].reward == 1.0
        await asyncio.to_thread(first.stop)
        waiting = asyncio.create_task(client.score(requests(20)))
        await asyncio.sleep(0.2)  # the outage itself
        serve(port=port)
        scores = await waiting
    assert [score.reward for score in scores] == [1.0] * 20


async def test_an_oversize_request_is_refused_before_it_is_sent(serve):
    server = serve()
    small, large = pb.ScoreRequest(id="s"), pb.ScoreRequest(id="l", completion="x" * 5000)
    async with AsyncRewardClient(server.target, max_request_bytes=4096) as client:
        scores = await client.score([small, large])
    assert scores[0].reward == 1.0
    assert scores[1].error.status == "INVALID_ARGUMENT"
    assert scores[1].error.permanent
    assert "5006 bytes" in scores[1].error.message
    assert "4096" in scores[1].error.message
    assert [request.id for request in server.requests] == ["s"]


async def test_a_request_above_the_servers_transport_limit_is_not_retried(serve):
    async with AsyncRewardClient(serve().target) as client:
        (score,) = await client.score(requests(1, prompt="x" * (17 << 20)))
    assert score.error.status == "RESOURCE_EXHAUSTED"
    assert score.error.permanent
    assert "given up" not in score.error.message


@pytest.mark.promise("A completion that is too large for a message is judged, too.", "Client")
@pytest.mark.parametrize(
    "too_much",
    [
        lambda: {"completion": "x" * (70 << 20)},
        lambda: {"completion": "\u00e9" * ((1 << 19) + 1)},
        lambda: {"completion": "\0" * ((1 << 20) + 1)},
        lambda: {"files": {"a.py": bytes(17 << 20)}},
        lambda: {"text_files": {"a.py": "x" * (40 << 20)}},
    ],
    ids=["70 MiB", "two-byte letters", "nulls", "a file", "a file of text"],
)
async def test_a_completion_that_is_too_large_is_sent_cut_with_its_true_size(serve, too_much):
    received = []

    def judge(request, context):
        received.append(request)
        return pb.ScoreResponse(verdict=pb.VERDICT_COMPILE_ERROR, reward=0.0)

    (request,) = requests(1, **too_much())
    async with AsyncRewardClient(serve(judge).target) as client:
        (score,) = await client.score([request])
    assert score.reward == 0.0
    assert received[0].ByteSize() < 1 << 20
    assert received[0].completion_size_bytes > 1 << 20
    assert not request.completion_size_bytes


async def test_the_largest_completion_is_sent_whole(serve):
    received = []

    def judge(request, context):
        received.append(request)
        return pb.ScoreResponse(verdict=pb.VERDICT_PASSED, reward=1.0)

    async with AsyncRewardClient(serve(judge).target) as client:
        await client.score(requests(1, completion="x" * (1 << 20)))
    assert len(received[0].completion) == 1 << 20
    assert received[0].completion_size_bytes == 0


async def test_the_deadline_of_a_call_leaves_room_for_what_the_request_allows(serve):
    left = []

    def judge(request, context):
        left.append(context.time_remaining())
        return pb.ScoreResponse(verdict=pb.VERDICT_PASSED, reward=1.0)

    slow = requests(1, limits=pb.Limits(wall_time_seconds=600.0))
    patient = requests(1, time_budget_seconds=900.0)
    async with AsyncRewardClient(serve(judge).target, timeout_seconds=5000) as client:
        for asked in (requests(1), slow, patient):
            await client.score(asked)
    assert left[0] > 240 + 27 * 30
    assert left[1] > 2 * 600 + 600
    assert left[2] > 900 + 30


async def test_an_answer_above_grpcs_usual_4_mib_arrives(serve):
    def long_answer(request, context):
        return pb.ScoreResponse(verdict=pb.VERDICT_PASSED, reward=1.0, message="x" * (6 << 20))

    async with AsyncRewardClient(serve(long_answer).target) as client:
        (score,) = await client.score(requests(1))
    assert len(score.message) == 6 << 20


async def test_the_token_goes_with_every_call(serve):
    def guarded(request, context):
        if dict(context.invocation_metadata()).get("authorization") != "Bearer sesame":
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "wrong token")
        return passed(request, context)

    server = serve(guarded)
    async with AsyncRewardClient(server.target, token="sesame") as client:
        assert (await client.score(requests(1)))[0].reward == 1.0
    async with AsyncRewardClient(server.target, token="simsim") as client:
        (score,) = await client.score(requests(1))
    assert str(score.error) == "UNAUTHENTICATED: wrong token"
    assert score.error.permanent


async def test_a_cancelled_call_cancels_its_requests_on_the_server(serve):
    entered, gone = threading.Event(), threading.Event()

    def hang(request, context):
        context.add_callback(gone.set)
        entered.set()
        gone.wait(20)
        return passed(request, context)

    async with AsyncRewardClient(serve(hang).target) as client:
        call = asyncio.create_task(client.score(requests(1)))
        await asyncio.to_thread(entered.wait, 10)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert await asyncio.to_thread(gone.wait, 10)


# ------------------------------------------------------------------------------- batches


async def test_a_batch_is_cut_in_count_and_in_bytes(serve):
    server = serve()
    options = {"batch_size": 4, "max_request_bytes": 3000}
    async with AsyncRewardClient(server.target, **options) as client:
        scores = await client.score(requests(9) + requests(3, completion="x" * 1400))
    assert [score.reward for score in scores] == [1.0] * 12
    assert sorted(server.batches) == [1, 3, 4, 4]


async def test_a_request_too_large_leaves_the_others_of_its_batch_alone(serve):
    server = serve()
    todo = [*requests(2), *requests(1, completion="x" * 4000), *requests(1)]
    async with AsyncRewardClient(server.target, batch_size=4, max_request_bytes=3000) as client:
        scores = await client.score(todo)
    assert [score.reward for score in scores] == [1.0, 1.0, None, 1.0]
    assert scores[2].error.permanent
    assert sorted(server.batches) == [1, 2]


async def test_a_batch_keeps_the_order_although_answers_come_in_another(serve):
    async with AsyncRewardClient(serve().target, batch_size=100) as client:
        scores = await client.score(requests(50))
    assert [score.id for score in scores] == [f"r{index}" for index in range(50)]


async def test_only_what_a_batch_left_open_is_sent_again(serve):
    refused = set()

    def overloaded_once(request, context):
        if request.id in {"r1", "r3"} and request.id not in refused:
            refused.add(request.id)
            return pb.ScoreBatchResponse(error=status_pb2.Status(code=8, message="full"))
        return passed(request, context)

    server = serve(overloaded_once)
    async with AsyncRewardClient(server.target, batch_size=8) as client:
        scores = await client.score(requests(5))
    assert [score.reward for score in scores] == [1.0] * 5
    assert (server.batches[0], sum(server.batches[1:])) == (5, 2)


async def test_a_batch_that_breaks_off_keeps_what_was_answered(serve):
    def break_off(request, context):
        if request.id == "r0":
            context.abort(grpc.StatusCode.DATA_LOSS, "disk on fire")
        return passed(request, context)

    async with AsyncRewardClient(serve(break_off).target, batch_size=8) as client:
        scores = await client.score(requests(4))
    assert [score.reward for score in scores] == [None, 1.0, 1.0, 1.0]
    assert str(scores[0].error) == "DATA_LOSS: disk on fire"


async def test_a_batch_item_that_was_not_judged_is_told(serve):
    def refuse(request, context):
        status = status_pb2.Status(code=3, message="limits.calls: must be positive")
        return pb.ScoreBatchResponse(error=status)

    async with AsyncRewardClient(serve(refuse).target, batch_size=8) as client:
        scores = await client.score(requests(2))
    assert [str(score.error) for score in scores] == [
        "INVALID_ARGUMENT: limits.calls: must be positive"
    ] * 2


# ------------------------------------------------------------------- the other two calls


async def test_execute_gives_what_the_program_did(serve):
    async with AsyncRewardClient(serve().target) as client:
        response = await client.execute(pb.ExecuteRequest(id="e", stdin=b"hello"))
    assert (response.id, response.stdout.data) == ("e", b"hello")


async def test_server_info_is_handed_on(serve):
    async with AsyncRewardClient(serve().target) as client:
        assert (await client.server_info()).server_version == "1.2.3"


# ------------------------------------------------------------------------ loops, threads


def test_one_client_serves_one_loop_after_another(serve):
    client = AsyncRewardClient(serve().target)
    for _ in range(3):
        assert asyncio.run(client.score(requests(2)))[1].reward == 1.0
    assert len(client._lines) == 1


def test_one_client_serves_two_loops_at_once(serve):
    client = AsyncRewardClient(serve().target)
    meeting = threading.Barrier(2, timeout=60)
    found: list[float | None] = []

    async def work() -> None:
        for _ in range(5):
            await asyncio.to_thread(meeting.wait)
            found.extend(score.reward for score in await client.score(requests(20)))

    threads = [threading.Thread(target=lambda: asyncio.run(work())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [1.0] * 200


@pytest.mark.parametrize("kind", [AsyncRewardClient, RewardClient])
def test_a_client_survives_pickling_even_while_connected(serve, kind):
    server = serve()
    client = kind(server.target, token="sesame")
    call(client, requests(1))
    copy = pickle.loads(pickle.dumps(client))
    assert call(copy, requests(1))[0].reward == 1.0
    assert server.metadata[1]["authorization"] == "Bearer sesame"
    for used in (client, copy):
        if isinstance(used, RewardClient):
            used.close()


def call(client, todo):
    if isinstance(client, RewardClient):
        return client.score(todo)
    return asyncio.run(client.score(todo))


def test_a_program_without_a_loop_has_the_same_client(serve):
    server = serve(failing_first(1, grpc.StatusCode.UNAVAILABLE))
    with RewardClient(server.target) as client:
        assert [score.reward for score in client.score(requests(100))] == [1.0] * 100
        assert client.server_info().slots == 2
        assert client.execute(pb.ExecuteRequest(stdin=b"x")).stdout.data == b"x"


async def test_the_blocking_client_works_inside_a_running_loop(serve):
    with RewardClient(serve().target) as client:
        assert client.score(requests(1))[0].reward == 1.0


def test_the_blocking_client_is_shared_between_threads(serve):
    found: list[float | None] = []
    with RewardClient(serve().target) as client:
        threads = [
            threading.Thread(
                target=lambda: found.extend(score.reward for score in client.score(requests(10)))
            )
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == [1.0] * 80


def client_threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "RewardClient"}


def test_a_closed_blocking_client_leaves_no_thread_and_opens_again(serve):
    others = client_threads()
    client = RewardClient(serve().target)
    client.score(requests(1))
    client.close()
    assert client_threads() <= others
    assert client.score(requests(1))[0].reward == 1.0
    client.close()


def hanging(release: threading.Event):
    def answer(request, context) -> pb.ScoreResponse:
        release.wait(20)
        return passed(request, context)

    return answer


def refused(request, context) -> pb.ScoreResponse:
    context.abort(grpc.StatusCode.UNAVAILABLE, "later")


@pytest.mark.parametrize("batch_size", [1, 4])
@pytest.mark.parametrize("waiting_for", ["an answer", "another attempt"])
def test_closing_ends_the_calls_of_other_threads(serve, waiting_for, batch_size):
    release = threading.Event()
    server = serve(hanging(release) if waiting_for == "an answer" else refused)
    client = RewardClient(server.target, batch_size=batch_size)
    try:
        with futures.ThreadPoolExecutor(3) as pool:
            calls = [pool.submit(client.score, requests(3)) for _ in range(3)]
            while len(server.requests) < len(calls):
                time.sleep(0.01)
            client.close()
            for call in calls:
                with pytest.raises(RuntimeError, match="closed during this call"):
                    call.result(60)
    finally:
        release.set()


def test_a_forgotten_blocking_client_ends_its_thread(serve):
    others = client_threads()
    client = RewardClient(serve().target)
    client.score(requests(1))
    (thread,) = client_threads() - others
    del client
    thread.join(60)
    assert not thread.is_alive()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_client_says_that_its_process_was_forked_and_goes_on_in_the_parent(serve):
    with RewardClient(serve().target) as client:
        assert client.score(requests(1))[0].reward == 1.0
        said = said_in_a_fork(lambda: client.score(requests(1)))
        assert "used before this process was forked" in said
        assert said_in_a_fork(client.close) == ""
        assert client.score(requests(1))[0].reward == 1.0
