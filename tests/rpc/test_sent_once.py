"""What the client sends of a large task, counted on the wire between it and a real server."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from codereward.v1 import reward_service_pb2 as pb
from tests.rpc.conftest import Serve, Served
from tests.rpc.fakes import FakeExecutor
from tests.support.counting_proxy import counting_proxy
from trainer_client import AsyncRewardClient, LazyRequest, Verdict

TASK_BYTES = 1 << 20
COUNT = 512
_CHECK = "def check(f): assert f(0) == 0\n"
_TESTS = pb.FunctionTests(entry_point="f", test_code="#" * TASK_BYTES + f"\n{_CHECK}")


def completion(number: int) -> str:
    return f"def f(x): return {number}\n".ljust(2000, "#")


def request(number: int, **fields: Any) -> pb.ScoreRequest:
    return pb.ScoreRequest(
        id=f"r{number}",
        prompt="import math",
        completion=completion(number),
        function=_TESTS,
        **fields,
    )


def lazy(number: int) -> LazyRequest:
    return LazyRequest(id=f"r{number}", make=lambda: request(number))


def small_bytes(count: int) -> int:
    """The size of what the completions do not share."""
    return sum(len(completion(number)) for number in range(count))


def only_digests(executor: FakeExecutor) -> set[int]:
    return {len(job.work.tests.test_code) for job in executor.started}


@pytest.mark.promise(
    "512 completions send one copy of their tests, and one more after a restart.", "Client"
)
async def test_512_completions_move_one_copy_of_their_tests(serve: Serve) -> None:
    served = await serve()
    async with (
        counting_proxy(served.app.address) as proxy,
        AsyncRewardClient(proxy.address) as client,
    ):
        scores = await client.score(map(lazy, range(COUNT)))
    assert [score.reward for score in scores] == [1.0] * COUNT
    assert len(served.executor.started) == COUNT
    assert only_digests(served.executor) == {len(_TESTS.test_code)}
    least = TASK_BYTES + small_bytes(COUNT)
    assert least <= proxy.sent_bytes <= 1.1 * least
    assert proxy.received_bytes < 0.1 * least


@pytest.mark.promise(
    "512 completions send one copy of their tests, and one more after a restart.", "Client"
)
async def test_a_restart_between_two_completions_costs_one_more_copy_and_is_not_seen(
    serve: Serve,
) -> None:
    first = await serve(FakeExecutor(held=True))
    second = await serve()
    async with (
        counting_proxy(first.app.address) as proxy,
        AsyncRewardClient(proxy.address) as client,
    ):
        scoring = asyncio.create_task(client.score(map(lazy, range(COUNT))))
        await first.executor.until_started(2)
        for _ in range(COUNT // 4):
            await first.executor.until_running(2)
            first.executor.finish()
        await first.stop()
        proxy.lead_to(second.app.address)
        scores = await scoring
    assert [score.reward for score in scores] == [1.0] * COUNT
    least = 2 * TASK_BYTES + small_bytes(COUNT)
    assert proxy.sent_bytes <= 1.1 * least
    assert second.app.tasks.count == 1


async def test_a_second_call_sends_no_copy_and_a_server_that_forgot_gets_one(serve: Serve) -> None:
    first, second = await serve(), await serve()
    async with (
        counting_proxy(first.app.address) as proxy,
        AsyncRewardClient(proxy.address) as client,
    ):
        copies = []
        for switched in (False, False, True, False):
            if switched:
                proxy.lead_to(second.app.address)
            before = proxy.sent_bytes
            scores = await client.score([request(number) for number in range(8)])
            assert [score.verdict for score in scores] == [Verdict.PASSED] * 8
            copies.append(round((proxy.sent_bytes - before) / TASK_BYTES, 1))
    assert copies == [1.0, 0.0, 1.0, 0.0]


def has_been_asked(served: Served) -> bool:
    labels = {"method": "GetServerInfo", "code": "OK"}
    registry = served.app.telemetry.registry
    return bool(registry.get_sample_value("reward_server_calls_total", labels))


@pytest.mark.parametrize("in_flight", [1, 64])
async def test_servers_that_are_asked_in_turn_all_get_the_task_and_each_request_a_verdict(
    serve: Serve, in_flight: int
) -> None:
    servers = [await serve() for _ in range(2)]
    targets = [served.app.address for served in servers]
    async with AsyncRewardClient(targets, max_in_flight=in_flight) as client:
        # gRPC asks the servers in turn that are connected.
        while not all(map(has_been_asked, servers)):
            await client.server_info()
        scores = await client.score(map(lazy, range(64)))
    assert [score.reward for score in scores] == [1.0] * 64
    assert [served.app.tasks.count for served in servers] == [1, 1]


async def test_calls_at_once_share_one_copy(serve: Serve) -> None:
    served = await serve()
    async with (
        counting_proxy(served.app.address) as proxy,
        AsyncRewardClient(proxy.address) as client,
    ):
        scored = await asyncio.gather(*(client.score(lazy(number)) for number in range(32)))
    assert [scores[0].reward for scores in scored] == [1.0] * 32
    assert proxy.sent_bytes <= 1.1 * (TASK_BYTES + small_bytes(32))


async def test_a_small_task_is_sent_with_each_request(serve: Serve) -> None:
    served = await serve()
    tests = pb.FunctionTests(entry_point="f", asserts=["assert f(1) == 1"])
    todo = [pb.ScoreRequest(completion=f"def f(x): return {n}", function=tests) for n in range(9)]
    async with AsyncRewardClient(served.app.address) as client:
        scores = await client.score(todo)
    assert [score.reward for score in scores] == [1.0] * 9
    assert served.app.tasks.count == 0


async def test_a_task_that_the_server_cannot_store_is_sent_with_each_request(serve: Serve) -> None:
    served = await serve(stored_tasks_bytes=0)
    async with AsyncRewardClient(served.app.address) as client:
        scores = await client.score(map(lazy, range(4)))
    assert [score.reward for score in scores] == [1.0] * 4


async def test_more_tasks_than_the_server_can_store_all_get_their_verdicts(serve: Serve) -> None:
    served = await serve(stored_tasks_bytes=300 << 10)
    code = {number: f"{_CHECK}# {number}\n".ljust(100 << 10, "#") for number in range(16)}
    todo = [
        pb.ScoreRequest(
            completion=f"def f(x): return {number}",
            function=pb.FunctionTests(entry_point="f", test_code=code[number % 16]),
        )
        for number in range(64)
    ]
    async with AsyncRewardClient(served.app.address) as client:
        scores = await client.score(todo)
    assert [score.reward for score in scores] == [1.0] * 64
    assert served.app.tasks.size_bytes <= 300 << 10


async def test_a_wrong_large_task_is_told_as_if_it_had_been_sent_whole(serve: Serve) -> None:
    served = await serve()
    cases = [pb.CallCase(args_json="{}", expected_json=f'"{"x" * 100_000}"')]
    wrong = pb.ScoreRequest(
        completion="def f(x): return x", call=pb.CallTests(entry_point="f", cases=cases)
    )
    errors = []
    for least in (None, 1):
        async with AsyncRewardClient(served.app.address, store_from_bytes=least) as client:
            (score,) = await client.score(wrong)
            errors.append(score.error)
    assert errors[0] == errors[1]
    assert errors[0] is not None
    assert errors[0].status == "INVALID_ARGUMENT"
    assert "call.cases[0].args_json" in errors[0].message


async def test_every_field_arrives_as_if_the_request_had_been_sent_whole(serve: Serve) -> None:
    served = await serve()
    full = request(
        1,
        language="python",
        extraction=pb.EXTRACTION_NONE,
        files={"own.bin": b"1"},
        text_files={"own.txt": "2"},
        data_files={"b": b"3", "a": b"4"},
        text_data_files={"c": "5"},
        limits=pb.Limits(wall_time_seconds=7.0),
        reward_policy=pb.RewardPolicy(kind=pb.REWARD_POLICY_KIND_FRACTION),
        require_integrity=pb.INTEGRITY_SHARED,
        tags={"step": "1"},
        time_budget_seconds=20.0,
    )
    for least, ident in ((None, "whole"), (1, "named")):
        full.id = ident
        async with AsyncRewardClient(served.app.address, store_from_bytes=least) as client:
            (score,) = await client.score(full)
            assert score.reward == 1.0
    whole, named = served.executor.started
    assert whole == named
    assert served.app.tasks.count == 1
