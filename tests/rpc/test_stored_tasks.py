from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]  # no stubs

from codereward.v1 import reward_service_pb2 as pb
from tests.rpc.conftest import Serve, Served, refused
from tests.rpc.fakes import FakeExecutor

KIBIBYTE = 1024


def task(number: int = 0, **fields: Any) -> pb.Task:
    tests = pb.FunctionTests(entry_point="f", asserts=[f"assert f({number}) == {number}"])
    return pb.Task(function=tests, **fields)


async def put(served: Served, stored: pb.Task, token: str | None = None) -> bytes:
    request = pb.PutTaskRequest(task=stored.SerializeToString())
    answer = await served.stub.PutTask(request, metadata=bearer(token))
    return answer.task_digest


def bearer(token: str | None) -> tuple[tuple[str, str], ...]:
    return () if token is None else (("authorization", f"Bearer {token}"),)


def naming(digest: bytes, **fields: Any) -> pb.ScoreRequest:
    return pb.ScoreRequest(completion="def f(x): return x", task_digest=digest, **fields)


def whole(stored: pb.Task, **fields: Any) -> pb.ScoreRequest:
    request = pb.ScoreRequest.FromString(stored.SerializeToString())
    request.MergeFrom(pb.ScoreRequest(completion="def f(x): return x", **fields))
    return request


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    file = tmp_path / "tokens"
    file.write_text("mine\nyours\n")
    return file


# ------------------------------------------------------------------------------------ by name


async def test_the_digest_is_that_of_the_bytes_that_were_sent(serve: Serve) -> None:
    served = await serve()
    stored = task(language="python", data_files={"b": b"2", "a": b"1"})
    for deterministic in (True, False):
        body = stored.SerializeToString(deterministic=deterministic)
        answer = await served.stub.PutTask(pb.PutTaskRequest(task=body))
        assert answer.task_digest == hashlib.sha256(body).digest()


@pytest.mark.promise("A stored task is judged as if the request held it.", "Service")
async def test_a_named_task_is_executed_as_if_the_request_held_it(serve: Serve) -> None:
    served = await serve()
    stored = task(7, prompt="import math", data_files={"a.txt": b"1"}, text_data_files={"b": "2"})
    by_name = await served.stub.Score(naming(await put(served, stored)))
    at_once = await served.stub.Score(whole(stored))
    named, contained = served.executor.started
    assert named == contained
    assert "import math" in named.work.source
    assert named.work.data == {"a.txt": b"1", "b": b"2"}
    assert by_name.verdict == at_once.verdict == pb.VERDICT_PASSED
    assert [test.name for test in by_name.tests] == [test.name for test in at_once.tests]


async def test_a_task_that_is_not_stored_is_not_found_and_named(serve: Serve) -> None:
    served = await serve()
    digest = hashlib.sha256(b"nothing").digest()
    refusal = await refused(served.stub.Score(naming(digest)))
    assert refusal.code is grpc.StatusCode.NOT_FOUND
    assert digest.hex() in refusal.details
    assert "PutTask" in refusal.details
    status = status_pb2.Status.FromString(refusal.trailers["grpc-status-details-bin"])
    detail = error_details_pb2.ResourceInfo()
    assert status.details[0].Unpack(detail)
    assert (detail.resource_type, detail.resource_name) == ("codereward.v1.Task", digest.hex())
    assert not served.executor.started


async def test_each_request_of_a_batch_names_its_task(serve: Serve) -> None:
    served = await serve()
    first, second = await put(served, task(1)), await put(served, task(2))
    unknown = hashlib.sha256(b"nothing").digest()
    batch = pb.ScoreBatchRequest(
        requests=[naming(first), naming(unknown), naming(second), whole(task(3))]
    )
    answers = {item.index: item async for item in served.stub.ScoreBatch(batch)}
    assert answers[1].error.code == grpc.StatusCode.NOT_FOUND.value[0]
    assert [answers[index].response.verdict for index in (0, 2, 3)] == [pb.VERDICT_PASSED] * 3
    asserts = {job.work.tests.asserts for job in served.executor.started}
    assert asserts == {(f"assert f({number}) == {number}",) for number in (1, 2, 3)}


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"language": "python"}, "language"),
        ({"prompt": "import math"}, "prompt"),
        ({"data_files": {"a": b""}}, "data_files"),
        ({"text_data_files": {"a": ""}}, "text_data_files"),
        ({"function": pb.FunctionTests(entry_point="g")}, "function"),
        ({"task_digest": b"short"}, "task_digest"),
    ],
)
async def test_a_field_of_the_task_beside_its_digest_is_refused(
    serve: Serve, fields: dict[str, Any], field: str
) -> None:
    served = await serve()
    request = pb.ScoreRequest(**{"task_digest": await put(served, task()), **fields})
    refusal = await refused(served.stub.Score(request))
    assert refusal.code is grpc.StatusCode.INVALID_ARGUMENT
    assert refusal.violated_field == field


async def test_a_task_has_all_fields_of_a_request_that_it_claims_to_have() -> None:
    fields = pb.ScoreRequest.DESCRIPTOR.fields_by_name
    for field in pb.Task.DESCRIPTOR.fields:
        twin = fields[field.name]
        assert (twin.number, twin.type) == (field.number, field.type)


async def test_a_wrong_task_is_refused_with_the_field_that_score_names(serve: Serve) -> None:
    served = await serve()
    wrong = pb.Task(call=pb.CallTests(entry_point="f", cases=[pb.CallCase(args_json="{}")]))
    refusals = [await refused(put(served, wrong)), await refused(served.stub.Score(whole(wrong)))]
    assert {refusal.violated_field for refusal in refusals} == {"call.cases[0].args_json"}
    garbage = await refused(served.stub.PutTask(pb.PutTaskRequest(task=b"\xff\xff")))
    assert garbage.code is grpc.StatusCode.INVALID_ARGUMENT
    large = pb.PutTaskRequest(task=bytes(served.app.bounds.maximum_request_bytes))
    refusal = await refused(served.stub.PutTask(large))
    assert f"at most {served.app.bounds.maximum_request_bytes}" in refusal.details


# --------------------------------------------------------------------- the same as with tests


async def test_an_id_holds_for_a_request_whether_it_names_its_task_or_has_it(serve: Serve) -> None:
    served = await serve()
    stored = task(5, data_files={"a": b"1"})
    digest = await put(served, stored)
    await served.stub.Score(whole(stored, id="one"))
    await served.stub.Score(naming(digest, id="one"))
    assert len(served.executor.started) == 1
    other = await put(served, task(6, data_files={"a": b"1"}))
    refusal = await refused(served.stub.Score(naming(other, id="one")))
    assert refusal.violated_field == "id"


async def test_requests_that_name_a_task_share_work_with_those_that_have_it(serve: Serve) -> None:
    served = await serve(FakeExecutor(held=True))
    stored = task(5)
    digest = await put(served, stored)
    alike = [whole(stored), naming(digest), naming(digest), whole(stored)]
    stream = served.stub.ScoreBatch(pb.ScoreBatchRequest(requests=alike))
    await served.executor.until_running(1)
    served.executor.release()
    answers = [item.response async for item in stream]
    assert len(served.executor.started) == 1
    assert sorted(answer.deduplicated for answer in answers) == [False, True, True, True]


# ------------------------------------------------------------------------------------- owners


@pytest.mark.promise("Credentials share no ids, work or stored tasks.", "Service")
async def test_a_credential_cannot_use_or_find_the_task_of_another(
    serve: Serve, tokens: Path
) -> None:
    served = await serve(token_file=tokens)
    digest = await put(served, task(), "mine")
    call = served.stub.Score(naming(digest), metadata=bearer("yours"))
    refusal = await refused(call)
    nothing = hashlib.sha256(b"nothing").digest()
    missing = await refused(served.stub.Score(naming(nothing), metadata=bearer("yours")))
    assert refusal.code is missing.code is grpc.StatusCode.NOT_FOUND
    assert refusal.details.replace(digest.hex(), nothing.hex()) == missing.details
    assert (await served.stub.Score(naming(digest), metadata=bearer("mine"))).reward == 1.0


async def test_nothing_of_a_stranger_is_stored(serve: Serve, tokens: Path) -> None:
    served = await serve(token_file=tokens)
    for token in (None, "wrong"):
        refusal = await refused(put(served, task(), token))
        assert refusal.code is grpc.StatusCode.UNAUTHENTICATED
    assert served.app.tasks.count == 0


async def test_a_flood_of_tasks_stays_within_the_memory_and_displaces_only_its_own(
    serve: Serve, tokens: Path
) -> None:
    limit = 256 * KIBIBYTE
    served = await serve(token_file=tokens, stored_tasks_bytes=limit)
    mine = await put(served, task(), "mine")
    for number in range(40):
        large = task(number, text_data_files={"a": "x" * 20 * KIBIBYTE})
        latest = await put(served, large, "yours")
    assert limit // 2 < served.app.tasks.size_bytes <= limit + 4 * KIBIBYTE
    for token, digest in (("mine", mine), ("yours", latest)):
        answer = await served.stub.Score(naming(digest), metadata=bearer(token))
        assert answer.verdict == pb.VERDICT_PASSED


async def test_a_server_can_store_none(serve: Serve) -> None:
    served = await serve(stored_tasks_bytes=0)
    refusal = await refused(put(served, task()))
    assert refusal.code is grpc.StatusCode.FAILED_PRECONDITION
    assert "stored_tasks_bytes" in refusal.details
