from __future__ import annotations

import asyncio
from dataclasses import replace

import grpc
import pytest

from codereward.v1 import reward_service_pb2 as pb
from reward_server.domain import (
    CapturedStream,
    Ending,
    Execution,
    Job,
    Program,
    Termination,
    TerminationKind,
    TestOutcome,
    TestResult,
)
from reward_server.errors import SandboxError
from tests.rpc.conftest import Refusal, Serve, Served, function_request, refused
from tests.rpc.fakes import FakeExecutor, passing

# ------------------------------------------------------------------------------------ answers


async def test_a_completion_is_scored(serve: Serve) -> None:
    served = await serve()
    response = await served.stub.Score(function_request(id="7"))
    assert response.id == "7"
    assert response.verdict == pb.VERDICT_PASSED
    assert response.reward == 1.0
    assert response.integrity == pb.INTEGRITY_ISOLATED
    assert [test.outcome for test in response.tests] == [pb.TEST_OUTCOME_PASSED]
    assert response.provenance.backend == "fake"
    assert response.provenance.language_version == "3.11.7"
    assert response.usage.executions == 1


async def test_a_completion_judged_badly_is_no_error(serve: Serve) -> None:
    def crash(job: Job) -> Execution:
        return Execution(
            ending=Ending.CRASHED,
            termination=Termination(kind=TerminationKind.SIGNALED, value=11),
            message="\ud800 broke it",
        )

    served = await serve(FakeExecutor(behaviour=crash))
    response = await served.stub.Score(function_request())
    assert response.verdict == pb.VERDICT_RUNTIME_ERROR
    assert response.HasField("reward")
    assert response.reward == 0.0
    assert response.termination.signal == 11


async def test_a_program_is_run(serve: Serve) -> None:
    def echo(job: Job) -> Execution:
        assert isinstance(job.work, Program)
        output = b"\xff".join((job.work.stdin, *(arg.encode() for arg in job.work.args)))
        return Execution(
            ending=Ending.COMPLETED,
            termination=Termination(kind=TerminationKind.EXITED, value=3),
            stdout=CapturedStream(data=output, size_bytes=len(output)),
        )

    served = await serve(FakeExecutor(behaviour=echo))
    request = pb.ExecuteRequest(id="9", source="...", stdin=b"in\0", args=["a", "b"])
    response = await served.stub.Execute(request)
    assert response.id == "9"
    assert response.stdout == pb.CapturedStream(data=b"in\0\xffa\xffb", size_bytes=7)
    assert response.termination == pb.Termination(kind=pb.TERMINATION_KIND_EXITED, exit_code=3)
    assert response.provenance.backend == "fake"


async def test_the_server_describes_itself(serve: Serve) -> None:
    served = await serve(queue_capacity=17, max_cases=5)
    info = await served.stub.GetServerInfo(pb.GetServerInfoRequest())
    (language,) = info.languages
    assert (language.name, language.version) == ("python", "3.11.7")
    assert list(language.test_kinds) == ["function", "call", "stdio", "repository"]
    assert info.default_limits.cpu_time_seconds == 10.0
    assert info.maximum_limits.cpu_time_seconds == 300.0
    assert [wall.name for wall in info.walls] == ["kernel"]
    assert (info.slots, info.queue_capacity, info.maximum_cases) == (2, 17, 5)
    assert info.maximum_request_bytes == 32 << 20
    assert info.backend == "fake"


# ----------------------------------------------------------------------------------- refusals


@pytest.mark.promise("A wrong field is `INVALID_ARGUMENT` with its name.", "Service")
async def test_a_wrong_field_is_named_in_the_status(serve: Serve) -> None:
    served = await serve()
    request = function_request(limits=pb.Limits(cpu_time_seconds=0.0))
    error = await refused(served.stub.Score(request))
    assert error.code is grpc.StatusCode.INVALID_ARGUMENT
    assert "limits.cpu_time_seconds" in error.details
    assert error.violated_field == "limits.cpu_time_seconds"
    assert not served.executor.started


async def test_absent_tests_are_malformed(serve: Serve) -> None:
    served = await serve()
    error = await refused(served.stub.Score(pb.ScoreRequest(completion="x = 1")))
    assert error.code is grpc.StatusCode.INVALID_ARGUMENT
    assert error.violated_field == "tests"


async def test_ten_thousand_cases_are_refused_with_the_limit(serve: Serve) -> None:
    served = await serve()
    cases = [pb.CallCase(args_json="[]", expected_json="1")] * 10_000
    tests = pb.CallTests(entry_point="f", cases=cases)
    error = await refused(served.stub.Score(pb.ScoreRequest(call=tests)))
    assert error.code is grpc.StatusCode.INVALID_ARGUMENT
    assert error.violated_field == "call.cases"
    assert "10000; at most 1000" in error.details


@pytest.mark.parametrize(
    "request_",
    [
        function_request(language="cobol"),
        function_request(require_integrity=pb.INTEGRITY_ISOLATED, language="java"),
        pb.ScoreRequest(unit=pb.UnitTests(framework=pb.FRAMEWORK_PYTEST)),
        pb.ScoreRequest(program=pb.ProgramTests(test_code="x")),
    ],
)
async def test_what_is_not_on_offer_is_a_failed_precondition(
    serve: Serve, request_: pb.ScoreRequest
) -> None:
    served = await serve()
    error = await refused(served.stub.Score(request_))
    assert error.code is grpc.StatusCode.FAILED_PRECONDITION
    assert "offered" in error.details


async def test_text_that_is_not_utf8_is_refused_on_the_wire(serve: Serve) -> None:
    served = await serve()
    raw = served.channel.unary_unary("/codereward.v1.RewardService/Score", None, None)
    error = await refused(raw(b"\x22\x02\xff\xfe"))
    assert error.code is grpc.StatusCode.INVALID_ARGUMENT
    assert "UTF-8" in error.details


@pytest.mark.promise("A request that is too large is refused with the limit.", "Service")
async def test_a_body_of_64_megabytes_is_refused_with_the_limit(serve: Serve) -> None:
    served = await serve()
    request = pb.ScoreRequest(function=pb.FunctionTests(test_code="x" * (64 << 20)))
    error = await refused(served.stub.Score(request))
    assert error.code is grpc.StatusCode.INVALID_ARGUMENT
    assert "at most 33554432" in error.details
    assert (await served.stub.Score(function_request())).verdict == pb.VERDICT_PASSED


async def test_a_body_that_the_transport_does_not_take_is_no_reason_to_retry(serve: Serve) -> None:
    served = await serve(max_request_bytes=1024)
    request = pb.ScoreRequest(completion="x" * (2 << 20))
    error = await refused(served.stub.Score(request))
    assert error.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "larger than max" in error.details
    assert error.pushback is None


async def test_an_id_may_not_be_used_for_other_content(serve: Serve) -> None:
    served = await serve()
    first = await served.stub.Score(function_request(1, id="same"))
    again = await served.stub.Score(function_request(1, id="same"))
    assert (first.deduplicated, again.deduplicated) == (False, True)
    assert len(served.executor.started) == 1
    error = await refused(served.stub.Score(function_request(2, id="same")))
    assert error.code is grpc.StatusCode.INVALID_ARGUMENT
    assert error.violated_field == "id"


async def test_broken_machinery_is_unavailable(serve: Serve) -> None:
    served = await serve(FakeExecutor(held=True))
    call = served.stub.Score(function_request())
    await served.executor.until_running(1)
    served.executor.fail(SandboxError("the runner died"))
    error = await refused(call)
    assert error.code is grpc.StatusCode.UNAVAILABLE
    assert "the runner died" in error.details


async def test_a_fault_of_ours_is_internal_and_tells_nothing(serve: Serve) -> None:
    served = await serve(FakeExecutor(held=True))
    call = served.stub.Score(function_request())
    await served.executor.until_running(1)
    served.executor.fail(KeyError("secret"))
    error = await refused(call)
    assert error.code is grpc.StatusCode.INTERNAL
    assert "secret" not in str(error.details)
    served.executor.release()
    assert (await served.stub.Score(function_request(1))).verdict == pb.VERDICT_PASSED


async def test_an_unknown_method_is_unimplemented(serve: Serve) -> None:
    served = await serve()
    raw = served.channel.unary_unary("/codereward.v1.RewardService/Forge", None, None)
    assert (await refused(raw(b""))).code is grpc.StatusCode.UNIMPLEMENTED


# ------------------------------------------------------------------ deadlines, cancelling, load


@pytest.mark.promise(
    "If a call is cancelled or its client vanishes, its execution is killed.", "Service"
)
async def test_a_cancelled_call_kills_its_execution(serve: Serve) -> None:
    served = await serve(FakeExecutor(held=True))
    call = served.stub.Score(function_request())
    await served.executor.until_running(1)
    call.cancel()
    await served.executor.until_killed(1)


async def test_a_deadline_kills_the_execution_and_is_told(serve: Serve) -> None:
    served = await serve(FakeExecutor(held=True))
    error = await refused(served.stub.Score(function_request(), timeout=0.2))
    assert error.code is grpc.StatusCode.DEADLINE_EXCEEDED
    await served.executor.until_killed(1)
    served.executor.release()
    assert (await served.stub.Score(function_request(1))).verdict == pb.VERDICT_PASSED


@pytest.mark.promise(
    "If a call is cancelled or its client vanishes, its execution is killed.", "Service"
)
async def test_a_client_that_vanishes_has_its_execution_killed(serve: Serve) -> None:
    served = await serve(FakeExecutor(held=True))
    channel = grpc.aio.insecure_channel(served.app.address)
    stub = type(served.stub)(channel)
    call = asyncio.ensure_future(stub.Score(function_request()))
    await served.executor.until_running(1)
    await channel.close(None)
    await served.executor.until_killed(1)
    with pytest.raises((asyncio.CancelledError, grpc.aio.AioRpcError)):
        await call


async def fill(served: Served, count: int) -> list[asyncio.Task[pb.ScoreResponse]]:
    calls = [
        asyncio.ensure_future(served.stub.Score(function_request(number)))
        for number in range(count)
    ]
    await served.executor.until_running(min(count, served.executor.slots))
    await served.until_admitted(count)
    return calls


@pytest.mark.promise(
    "A full queue answers `RESOURCE_EXHAUSTED` with a time to come again.", "Service"
)
async def test_a_full_queue_pushes_back_with_a_time_to_come_again(serve: Serve) -> None:
    served = await serve(FakeExecutor(held=True), queue_capacity=3)
    calls = await fill(served, 5)
    error = await refused(served.stub.Score(function_request(99)))
    assert error.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    pushback = error.pushback
    assert pushback is not None
    assert int(pushback) > 0
    assert error.retry_milliseconds == int(pushback)
    served.executor.release()
    assert {(await call).verdict for call in calls} == {pb.VERDICT_PASSED}


async def test_an_overloaded_server_reads_no_body(serve: Serve) -> None:
    served = await serve(FakeExecutor(held=True), queue_capacity=1)
    calls = await fill(served, 3)
    malformed_and_large = pb.ScoreRequest(completion="x" * (48 << 20))
    error = await refused(served.stub.Score(malformed_and_large))
    assert error.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert error.pushback is not None
    served.executor.release()
    await asyncio.gather(*calls)


async def test_an_overloaded_server_still_describes_itself(serve: Serve) -> None:
    served = await serve(FakeExecutor(held=True), queue_capacity=1)
    calls = await fill(served, 3)
    info = await served.stub.GetServerInfo(pb.GetServerInfoRequest())
    assert info.queue_capacity == 1
    served.executor.release()
    await asyncio.gather(*calls)


# ----------------------------------------------------------------------------------- batches


async def batch(
    served: Served, *requests: pb.ScoreRequest, timeout: float | None = None
) -> list[pb.ScoreBatchResponse]:
    call = served.stub.ScoreBatch(pb.ScoreBatchRequest(requests=requests), timeout=timeout)
    return [answer async for answer in call]


async def test_a_batch_is_answered_in_whole(serve: Serve) -> None:
    served = await serve()
    answers = await batch(served, *(function_request(n, id=f"i{n}") for n in range(50)))
    assert {(answer.index, answer.id) for answer in answers} == {(n, f"i{n}") for n in range(50)}
    assert all(answer.response.verdict == pb.VERDICT_PASSED for answer in answers)


@pytest.mark.promise("Identical completions of a batch cost one execution.", "Service")
async def test_identical_completions_of_a_batch_cost_one_execution(serve: Serve) -> None:
    served = await serve(FakeExecutor(held=True))
    group = [function_request(id=str(number)) for number in range(8)]
    task = asyncio.create_task(batch(served, *group))
    await served.executor.until_running(1)
    served.executor.release()
    answers = [answer.response for answer in await task]
    assert {answer.id for answer in answers} == {str(number) for number in range(8)}
    assert sum(answer.deduplicated for answer in answers) == 7
    assert len(served.executor.started) == 1


async def test_an_empty_batch_has_no_answers(serve: Serve) -> None:
    assert await batch(await serve()) == []


async def test_the_answers_of_a_batch_come_as_they_are_ready(serve: Serve) -> None:
    served = await serve(FakeExecutor(slots=2, held=True))
    requests = pb.ScoreBatchRequest(requests=[function_request(0), function_request(1)])
    call = served.stub.ScoreBatch(requests)
    await served.executor.until_running(2)
    served.executor.finish(1)
    answers = aiter(call)
    first = await anext(answers)
    assert len(served.executor.running) == 1
    served.executor.release()
    assert {first.index, (await anext(answers)).index} == {0, 1}


async def test_one_wrong_request_does_not_spoil_the_batch(serve: Serve) -> None:
    served = await serve()
    answers = await batch(
        served,
        function_request(0),
        pb.ScoreRequest(id="bad"),
        function_request(1, language="cobol"),
    )
    by_index = {answer.index: answer for answer in answers}
    assert by_index[0].response.verdict == pb.VERDICT_PASSED
    assert by_index[1].id == "bad"
    assert by_index[1].error.code == grpc.StatusCode.INVALID_ARGUMENT.value[0]
    assert by_index[2].error.code == grpc.StatusCode.FAILED_PRECONDITION.value[0]


@pytest.mark.parametrize(
    ("requests", "field"),
    [
        ([function_request(id="a"), function_request(id="a")], "requests[1].id"),
        ([function_request()] * 5, "requests"),
    ],
)
async def test_a_batch_that_is_wrong_as_a_whole_is_refused(
    serve: Serve, requests: list[pb.ScoreRequest], field: str
) -> None:
    served = await serve(max_batch=4)
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await batch(served, *requests)
    error = Refusal.of(raised.value)
    assert error.code is grpc.StatusCode.INVALID_ARGUMENT
    assert error.violated_field == field


async def test_a_batch_larger_than_the_queue_is_served_whole(serve: Serve) -> None:
    served = await serve(queue_capacity=4)
    answers = await batch(served, *(function_request(n) for n in range(100)))
    assert sum(answer.HasField("response") for answer in answers) == 100


async def test_a_batch_leaves_half_of_the_queue_to_others(serve: Serve) -> None:
    served = await serve(FakeExecutor(slots=2, held=True), queue_capacity=10)
    task = asyncio.create_task(batch(served, *(function_request(n) for n in range(100))))
    await served.executor.until_running(2)
    await served.until_admitted(7)
    single = asyncio.ensure_future(served.stub.Score(function_request(1000)))
    await served.until_admitted(8)
    served.executor.release()
    assert (await single).verdict == pb.VERDICT_PASSED
    assert len(await task) == 100


async def test_batches_of_one_owner_leave_half_of_the_queue_together(serve: Serve) -> None:
    served = await serve(FakeExecutor(slots=2, held=True), queue_capacity=10)
    tasks = [
        asyncio.create_task(batch(served, *(function_request(100 * k + n) for n in range(50))))
        for k in range(4)
    ]
    await served.executor.until_running(2)
    await served.until_admitted(7)
    served.executor.release()
    answers = [answer for task in tasks for answer in await task]
    assert sum(answer.HasField("response") for answer in answers) == 200


async def test_a_cancelled_batch_kills_all_its_executions(serve: Serve) -> None:
    served = await serve(FakeExecutor(slots=3, held=True))
    requests = [function_request(n) for n in range(10)]
    call = served.stub.ScoreBatch(pb.ScoreBatchRequest(requests=requests))
    reading = asyncio.create_task(call.read())
    await served.executor.until_running(3)
    call.cancel()
    await served.executor.until_killed(3)
    await served.until_admitted(0)
    assert len(served.executor.started) == 3
    with pytest.raises(asyncio.CancelledError):
        await reading


async def test_no_more_of_a_batch_is_judged_while_its_caller_does_not_read(serve: Serve) -> None:
    def long_answer(job: Job) -> Execution:
        message = "x" * 4000
        tests = (TestResult(name="t", outcome=TestOutcome.FAILED, message=message),) * 500
        return replace(passing(job), tests=tests)

    served = await serve(FakeExecutor(slots=4, behaviour=long_answer), max_batch=1024)
    requests = [function_request(n) for n in range(300)]
    call = served.stub.ScoreBatch(pb.ScoreBatchRequest(requests=requests))
    await served.executor.until_started(64)
    single = await served.stub.Score(function_request(5000))
    assert single.verdict == pb.VERDICT_FAILED
    assert len(served.executor.started) < 150
    assert sum([1 async for _ in call]) == 300


async def test_a_request_of_a_batch_that_breaks_the_machinery_is_told_apart(serve: Serve) -> None:
    served = await serve(FakeExecutor(slots=1, held=True))
    task = asyncio.create_task(batch(served, function_request(0), function_request(1)))
    await served.executor.until_running(1)
    served.executor.fail(SandboxError("the runner died"))
    served.executor.release()
    await served.executor.until_started(2)
    served.executor.release()
    answers = await task
    codes = sorted(answer.error.code for answer in answers)
    assert codes == [0, grpc.StatusCode.UNAVAILABLE.value[0]]
