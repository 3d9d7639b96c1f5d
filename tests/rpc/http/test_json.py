"""The plain JSON door gives the verdicts of gRPC, and says what is wrong with a request."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from types import ModuleType
from typing import Any

import httpx
import pytest

from codereward.v1 import reward_service_pb2 as pb
from tests.rpc.conftest import Serve, Served, function_request
from tests.rpc.fakes import FakeExecutor
from tests.rpc.http.conftest import AUTHORIZED, score_body, url_of


async def test_a_request_in_json_gets_the_verdict_of_grpc(
    served: Served, client: httpx.AsyncClient
) -> None:
    answer = (await client.post("/v1/score", json=score_body(1, id="a"))).json()
    metadata = (("authorization", "Bearer good"),)
    response = await served.stub.Score(function_request(2, id="b"), metadata=metadata)
    assert response.verdict == pb.VERDICT_PASSED
    assert answer["verdict"] == "VERDICT_PASSED"
    assert answer["reward"] == response.reward == 1.0
    assert answer["id"] == "a"


async def batch_answers(
    client: httpx.AsyncClient, requests: list[dict[str, Any]]
) -> dict[int, dict[str, Any]]:
    answer = await client.post("/v1/score_batch", json={"requests": requests})
    lines = [json.loads(line) for line in answer.text.splitlines()]
    return {line.get("index", 0): line for line in lines}


async def test_each_line_is_the_answer_of_one_request_of_a_batch(client: httpx.AsyncClient) -> None:
    requests = [*(score_body(n, id=str(n)) for n in range(5)), {"completion": "x"}]
    answers = await batch_answers(client, requests)
    assert [answers[index]["response"]["id"] for index in range(5)] == list("01234")
    assert answers[5]["error"]["code"] == 3
    assert "response" not in answers[5]


async def test_a_batch_is_refused_as_a_whole_before_it_is_judged(
    client: httpx.AsyncClient,
) -> None:
    body = {"requests": [score_body(1, id="a"), score_body(2, id="a")]}
    answer = await client.post("/v1/score_batch", json=body)
    assert (answer.status_code, answer.json()["field"]) == (400, "requests[1].id")


async def test_a_batch_whose_caller_goes_is_given_up(serve: Serve) -> None:
    executor = FakeExecutor(held=True)
    served = await serve(executor, http_port=0)
    body = {"requests": [score_body(n) for n in range(20)]}
    async with httpx.AsyncClient(base_url=url_of(served), timeout=60) as client:
        task = asyncio.create_task(client.post("/v1/score_batch", json=body))
        await executor.until_running(2)
        task.cancel()
        await served.until_admitted(0)
    assert len(executor.started) < 20


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"completion": "x", "function": {"entry_point": 3}}, "entry_point"),
        ({"nonsense": 1}, "nonsense"),
        ({"completion": "x"}, "tests"),
        ([], "request"),
        ({"completion": "x", "stdio": {"cases": [{"stdin": "?"}]}}, "stdio.cases[0].stdin"),
    ],
)
async def test_a_wrong_request_is_refused_with_the_name_of_its_field(
    client: httpx.AsyncClient, body: object, field: str
) -> None:
    answer = await client.post("/v1/score", json=body)
    assert (answer.status_code, answer.json()["status"]) == (400, "INVALID_ARGUMENT")
    assert answer.json()["field"] == field


async def test_a_wrong_request_of_a_batch_is_named(client: httpx.AsyncClient) -> None:
    body = {"requests": [score_body(), {"function": {"entry_point": 3}}]}
    answer = await client.post("/v1/score_batch", json=body)
    assert answer.status_code == 400
    assert answer.json()["field"] == "requests[1].entry_point"


async def test_text_that_is_no_json_is_refused(client: httpx.AsyncClient) -> None:
    headers = {"Content-Type": "application/json"}
    for text in (b"{", b"\xff", b"[" * 100_000):
        answer = await client.post("/v1/score", content=text, headers=headers)
        assert answer.status_code == 400, text[:9]


async def test_another_type_of_body_is_refused(client: httpx.AsyncClient) -> None:
    text = json.dumps(score_body())
    answer = await client.post("/v1/score", content=text, headers={"Content-Type": "text/plain"})
    assert (answer.status_code, answer.json()["field"]) == (400, "Content-Type")


async def test_a_completion_that_is_too_large_fails_as_over_grpc(
    serve: Serve, client: httpx.AsyncClient
) -> None:
    del client
    served = await serve(http_port=0, max_request_bytes=1 << 20)
    async with httpx.AsyncClient(base_url=url_of(served)) as other:
        answer = await other.post("/v1/score", json=score_body(completion="#" * (2 << 20)))
        task = await other.post("/v1/score", json=score_body(prompt="#" * (2 << 20)))
    assert answer.status_code == 200
    assert (answer.json()["verdict"], answer.json()["reward"]) == ("VERDICT_COMPILE_ERROR", 0.0)
    assert (task.status_code, task.json()["field"]) == (400, "request")


async def test_bytes_are_base64(client: httpx.AsyncClient) -> None:
    case = {"stdin": base64.b64encode(b"\xff").decode(), "expected_stdout_text": ""}
    answer = await client.post("/v1/score", json={"completion": "1", "stdio": {"cases": [case]}})
    assert answer.status_code == 200


async def test_a_full_queue_answers_429_and_when_to_retry(serve: Serve) -> None:
    served = await serve(FakeExecutor(slots=1, held=True), http_port=0, queue_capacity=1)
    async with httpx.AsyncClient(base_url=url_of(served), timeout=60) as client:
        waiting = [
            asyncio.create_task(client.post("/v1/score", json=score_body(n))) for n in range(2)
        ]
        await served.until_admitted(2)
        answer = await client.post("/v1/score", json=score_body(3))
        assert (answer.status_code, answer.json()["status"]) == (429, "RESOURCE_EXHAUSTED")
        assert int(answer.headers["Retry-After"]) >= answer.json()["retry_after_seconds"] > 0
        late = await client.post("/v1/score?timeout_seconds=nan", json=score_body(4))
        assert late.status_code in (400, 429)
        for task in waiting:
            task.cancel()
        await served.until_admitted(0)


async def test_the_deadline_of_a_request_is_kept(serve: Serve) -> None:
    served = await serve(FakeExecutor(held=True), http_port=0)
    async with httpx.AsyncClient(base_url=url_of(served), timeout=60) as client:
        answer = await client.post("/v1/score?timeout_seconds=0.2", json=score_body())
        assert (answer.status_code, answer.json()["status"]) == (504, "DEADLINE_EXCEEDED")
        for wrong in ("nan", "-1", "x", "1e9"):
            refused = await client.post(f"/v1/score?timeout_seconds={wrong}", json=score_body())
            assert (refused.status_code, refused.json()["field"]) == (400, "timeout_seconds")


async def test_work_for_a_caller_that_has_gone_is_killed(serve: Serve) -> None:
    executor = FakeExecutor(held=True)
    served = await serve(executor, http_port=0)
    async with httpx.AsyncClient(base_url=url_of(served), timeout=60) as client:
        task = asyncio.create_task(client.post("/v1/score", json=score_body()))
        await served.until_admitted(1)
        task.cancel()
        await served.until_admitted(0)
    assert len(executor.killed) == 1


async def test_the_description_is_an_openapi_document_and_needs_no_credential(
    served: Served, jsonschema: ModuleType
) -> None:
    async with httpx.AsyncClient(base_url=url_of(served)) as client:
        document = (await client.get("/openapi.json")).json()
        page = (await client.get("/")).text
    assert document["openapi"].startswith("3.1")
    assert {"/v1/score", "/v1/score_batch", "/run_code"} <= document["paths"].keys()
    schemas = document["components"]["schemas"]
    for one in schemas.values():
        jsonschema.Draft202012Validator.check_schema(one)
    references = set(re.findall(r"#/components/schemas/(\w+)", json.dumps(document)))
    assert references <= schemas.keys()
    assert "http://" not in page
    assert "https://" not in page
    assert "<script" not in page
    assert all(path in page for path in document["paths"])


async def test_a_request_fits_its_schema(client: httpx.AsyncClient, jsonschema: ModuleType) -> None:
    document = (await client.get("/openapi.json")).json()
    schema = {"$ref": "#/components/schemas/ScoreRequest", **document}
    jsonschema.validate(score_body(id="1", tags={"a": "b"}), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(score_body(id=1), schema)
    answer = (await client.post("/v1/score", json=score_body())).json()
    jsonschema.validate(answer, {"$ref": "#/components/schemas/ScoreResponse", **document})


async def test_the_server_describes_itself(client: httpx.AsyncClient) -> None:
    answer = (await client.get("/v1/info")).json()
    assert answer["languages"][0]["name"] == "python"


async def test_requests_are_counted_by_door(client: httpx.AsyncClient, served: Served) -> None:
    await client.post("/v1/score", json=score_body())
    await client.post("/v1/score", json={})
    registry = served.app.telemetry.registry
    for code in ("OK", "INVALID_ARGUMENT"):
        labels = {"method": "http /v1/score", "code": code}
        assert registry.get_sample_value("reward_server_calls_total", labels) == 1
    assert registry.get_sample_value("reward_server_http_connections") == 1


async def test_without_the_setting_there_is_no_port(serve: Serve) -> None:
    served = await serve()
    assert served.app.http_address == ""


async def test_a_stopped_server_has_no_port(serve: Serve) -> None:
    served = await serve(http_port=0)
    url = url_of(served)
    async with httpx.AsyncClient(base_url=url, headers=AUTHORIZED) as client:
        assert (await client.get("/v1/ping")).json() == "pong"
        await served.stop()
        with pytest.raises(httpx.TransportError):
            await client.get("/v1/ping")


async def test_a_server_without_sessions_tells_how_to_have_them(serve: Serve) -> None:
    served = await serve(http_port=0)
    async with httpx.AsyncClient(base_url=url_of(served)) as client:
        answer = await client.post("/v2/sandboxes", json={})
    assert answer.status_code == 400
    assert "session_memory_bytes" in answer.json()["message"]
