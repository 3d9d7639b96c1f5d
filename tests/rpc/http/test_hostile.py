"""Requests by which callers with a credential try to break the doors; none breaks them."""

from __future__ import annotations

import gzip
import json
from contextlib import nullcontext
from typing import Any

import httpx
import pytest

from reward_server.errors import InvalidRequestError
from reward_server.http.bodies import BATCH, MOST_CONTAINERS, MOST_ITEMS, check_size
from tests.rpc.conftest import Serve
from tests.rpc.http.conftest import AUTHORIZED, url_of

JSON = {"Content-Type": "application/json"}
PATHS = (
    "/v1/score",
    "/v1/score_batch",
    "/run_code",
    "/run_jupyter",
    "/submit",
    "/get_prompts",
    "/get_prompt_by_id",
    "/verify",
    "/v2/sandboxes",
    "/sandboxes/x/timeout",
    "/execute",
    "/files",
    "/process.Process/Start",
    "/process.Process/SendInput",
    "/filesystem.Filesystem/Stat",
)
BODIES = {
    "nothing": b"",
    "no object": b"[]",
    "no utf-8": b'{"a": "\xff"}',
    "nested": b'{"a": ' + b"[" * 200_000,
    "nested objects": b'{"a":' * 100_000,
    "huge number": b'{"a": ' + b"9" * 100_000 + b"}",
    "nan": b'{"a": NaN, "completion": NaN}',
    "zero bytes": b"\0" * 100,
    "surrogate": b'{"path": "\\ud800", "code": "\\ud800", "cells": ["\\ud800"]}',
    "many names": json.dumps({str(number): {} for number in range(20_000)}).encode(),
    "long name": json.dumps({"a" * 1_000_000: 1}).encode(),
}


@pytest.mark.parametrize("name", BODIES)
async def test_a_body_that_no_client_sends_is_the_callers_fault(
    client: httpx.AsyncClient, name: str
) -> None:
    for path in PATHS:
        answer = await client.post(path, content=BODIES[name], headers=JSON)
        told = json.loads(answer.content[answer.content.index(b"{") :])
        code = told.get("error", told).get("code")
        assert code in {400, "invalid_argument", "failed_precondition"}, (path, answer.text[:500])
        assert len(answer.content) < 10_000, path


@pytest.mark.parametrize(
    ("body", "is_refused"),
    [
        (b"[" + b"{}," * MOST_CONTAINERS + b"{}]", True),
        (b"[" + b"1," * MOST_ITEMS + b"1,1]", True),
        (b'["\\"",' + b"[]," * MOST_CONTAINERS + b"1]", True),
        (b"[" + b"{}," * (MOST_CONTAINERS - 1) + b"1]", False),
        (b'["' + b"[{," * MOST_ITEMS + b'"]', False),
        (b'["\\\\\\"' + b"[{," * MOST_ITEMS + b'"]', False),
        (b'"' + b"[{," * MOST_ITEMS, False),
    ],
)
async def test_json_that_takes_much_more_memory_than_bytes_is_refused(
    body: bytes, is_refused: bool
) -> None:
    with pytest.raises(InvalidRequestError) if is_refused else nullcontext():
        check_size(body)


@pytest.mark.parametrize(
    ("path", "times"),
    [
        *(("/run_code", 1), ("/submit", 1), ("/verify", 1), ("/v2/sandboxes", 1)),
        *(("/v1/score", 1), ("/v1/score_batch", BATCH)),
    ],
)
async def test_doors_refuse_such_json_before_they_read_it(
    client: httpx.AsyncClient, path: str, times: int
) -> None:
    body = b'{"a": [' + b"{}," * MOST_CONTAINERS * times + b"{}]}"
    answer = await client.post(path, content=body, headers=JSON)
    assert (answer.status_code, answer.json()["field"]) == (400, "request")
    assert "objects and lists" in answer.text


def verified(**fields: Any) -> dict[str, Any]:
    message = {"type": "message", "content": [{"type": "output_text", "text": "x"}]}
    tests = {"unit_tests": {"inputs": ["1"], "outputs": ["1"]}}
    return {
        "responses_create_params": {},
        "response": {"output": [message]},
        "verifier_metadata": tests,
        **fields,
    }


@pytest.mark.parametrize("text", ["NaN", "Infinity", "1e999"])
async def test_an_echo_of_a_number_that_json_does_not_have_is_refused(
    client: httpx.AsyncClient, text: str
) -> None:
    body = json.dumps(verified(temperature=17)).replace("17", text)
    answer = await client.post("/verify", content=body, headers=JSON)
    assert (answer.status_code, answer.json()["field"]) == (400, "request")


async def test_a_compressed_body_is_bounded_by_its_content(serve: Serve) -> None:
    served = await serve(http_port=0, max_request_bytes=4096)
    small, bomb = gzip.compress(b"{}"), gzip.compress(b" " * (64 << 20))
    packed = {**JSON, "Content-Encoding": "gzip"}
    async with httpx.AsyncClient(base_url=url_of(served), timeout=60) as client:
        answers = [
            (await client.post("/v1/score", content=body, headers=headers)).status_code
            for body, headers in (
                (small, packed),
                (bomb, packed),
                (b"{}", packed),
                (small[:-1], packed),
                (b"{}", {**JSON, "Content-Encoding": "br"}),
            )
        ]
    assert answers == [400, 413, 400, 400, 400]


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:80", 200),
        ("localhost", 200),
        ("a.localhost:8080", 200),
        ("[::1]:80", 200),
        ("evil.example:80", 403),
        ("127.0.0.1.evil.example", 403),
        ("", 403),
    ],
)
async def test_a_page_whose_name_was_bound_to_loopback_reads_nothing(
    serve: Serve, host: str, status: int
) -> None:
    served = await serve(http_port=0)
    async with httpx.AsyncClient(base_url=url_of(served)) as client:
        answer = await client.get("/v1/info", headers={"Host": host})
    assert answer.status_code == status


async def test_a_caller_with_a_token_may_use_any_name(client: httpx.AsyncClient) -> None:
    answer = await client.get("/v1/info", headers={**AUTHORIZED, "Host": "rewards.internal"})
    assert answer.status_code == 200
