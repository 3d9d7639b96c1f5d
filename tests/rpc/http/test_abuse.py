"""What slow, greedy and unknown callers can take from the doors: little, and not for long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import httpx
import pytest
from starlette.responses import Response
from starlette.types import ASGIApp

from reward_server import app as app_module
from reward_server.http import connection, doors
from reward_server.http.connection import Patience
from reward_server.http.server import HttpEndpoint, HttpServer
from reward_server.rpc import strangers
from tests.rpc.conftest import Serve, Served
from tests.rpc.http.conftest import AUTHORIZED, raw, score_body, url_of

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def connected(served: Served) -> Streams:
    host, _, port = served.app.http_address.rpartition(":")
    return await asyncio.open_connection(host, int(port))


async def until_ended(reader: asyncio.StreamReader) -> bytes:
    read = b""
    with suppress(ConnectionError):
        while data := await reader.read(1 << 16):
            read += data
    return read


async def is_served(served: Served, number: int = 0) -> bool:
    async with httpx.AsyncClient(base_url=url_of(served), headers=AUTHORIZED, timeout=60) as client:
        answer = await client.post("/v1/score", json=score_body(number))
    return answer.status_code == 200


@asynccontextmanager
async def bare(answer: ASGIApp, patience: Patience) -> AsyncIterator[HttpServer]:
    """Serves one answer without any checks."""
    endpoint = HttpEndpoint(host="127.0.0.1", port=0, is_shared=False, tls=None, patience=patience)
    server = HttpServer(endpoint, answer, None)
    try:
        await server.start()
        yield server
    finally:
        await server.stop()


async def test_a_stranger_is_refused_before_its_body_is_read(served: Served) -> None:
    reader, writer = await connected(served)
    writer.write(b"POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Length: 30000000\r\n\r\n")
    answer = await until_ended(reader)
    assert answer.startswith(b"HTTP/1.1 401")
    writer.close()


async def test_connections_of_strangers_are_few_and_holders_are_served(served: Served) -> None:
    crowd = [await connected(served) for _ in range(3 * strangers.MOST_CONNECTIONS)]
    while sum(not reader.at_eof() for reader, _ in crowd) > strangers.MOST_CONNECTIONS:
        assert await is_served(served)
    assert await is_served(served, 1)
    for _, writer in crowd:
        writer.close()


async def test_a_stranger_that_asks_too_often_loses_its_connection(served: Served) -> None:
    reader, writer = await connected(served)
    with suppress(ConnectionError):
        for _ in range(2 * strangers.CALLS_AT_ONCE):
            writer.write(b"GET /v1/ping HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await writer.drain()
    answers = await until_ended(reader)
    assert answers.count(b"pong") <= strangers.CALLS_AT_ONCE + 8
    assert await is_served(served)
    writer.close()


async def test_connections_are_bounded(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_module, "connections_beside", lambda _: 4)
    served = await serve(http_port=0)
    crowd = [await connected(served) for _ in range(4)]
    reader, writer = await connected(served)
    assert await until_ended(reader) == b""
    for _, one in (*crowd, (reader, writer)):
        one.close()

    while not await is_served_quietly(served):
        continue


async def is_served_quietly(served: Served) -> bool:
    with suppress(httpx.TransportError):
        return await is_served(served)
    return False


@pytest.mark.parametrize("sent", [b"", b"POST /v1/score HTTP/1.1\r\nHost:"])
async def test_headers_that_do_not_arrive_end_the_connection(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(connection, "HEADER_SECONDS", 0.2)
    served = await serve(http_port=0)
    reader, writer = await connected(served)
    writer.write(sent)
    assert await until_ended(reader) == b""
    writer.close()


async def test_headers_are_timed_for_every_request_of_a_connection(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "HEADER_SECONDS", 0.5)
    served = await serve(http_port=0)
    reader, writer = await connected(served)
    writer.write(b"GET /v1/ping HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert (await reader.readuntil(b"pong")).startswith(b"HTTP/1.1 200")
    writer.write(b"GET /v1/ping")
    assert await until_ended(reader) == b'"'
    writer.close()


async def test_headers_that_are_too_large_are_refused(served: Served) -> None:
    reader, writer = await connected(served)
    with suppress(ConnectionError):
        writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * (1 << 20))
        await writer.drain()
    assert not (await until_ended(reader)).startswith(b"HTTP/1.1 200")
    assert await is_served(served)
    writer.close()


async def test_a_body_that_does_not_arrive_is_given_up(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doors, "BODY_SECONDS", 0.2)
    served = await serve(http_port=0)
    reader, writer = await connected(served)
    writer.write(raw("/v1/score", score_body())[:-5])
    assert (await until_ended(reader)).startswith(b"HTTP/1.1 408")
    writer.close()


async def test_a_body_that_nobody_reads_does_not_hold_the_connection(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "HEADER_SECONDS", 0.3)
    served = await serve(http_port=0)
    reader, writer = await connected(served)
    writer.write(b"POST /v1/ping HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000\r\n\r\n")
    assert (await reader.readuntil(b"\r\n")).startswith(b"HTTP/1.1 405")
    reading = asyncio.create_task(until_ended(reader))
    with suppress(ConnectionError):
        while not reading.done():
            writer.write(b"x")
            await asyncio.wait((reading,), timeout=0.02)
    await reading
    writer.close()


@pytest.mark.parametrize("declares", [True, False])
async def test_a_body_that_is_too_large_is_not_read(serve: Serve, declares: bool) -> None:
    served = await serve(http_port=0, max_request_bytes=4096)
    reader, writer = await connected(served)
    length = b"Content-Length: 9000000000" if declares else b"Transfer-Encoding: chunked"
    writer.write(b"POST /v1/score HTTP/1.1\r\nHost: localhost\r\n" + length + b"\r\n\r\n")
    with suppress(ConnectionError):
        for _ in range(0 if declares else 64):
            writer.write(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
            await writer.drain()
    answer = await until_ended(reader)
    assert answer.startswith(b"HTTP/1.1 413") or (answer == b"" and not declares)
    writer.close()


async def test_a_caller_that_does_not_read_its_answer_loses_the_connection() -> None:
    served = asyncio.Event()

    async def much(scope: object, receive: object, send: object) -> None:
        await Response(b"x" * (64 << 20))(scope, receive, send)  # type: ignore[arg-type]
        served.set()

    patience = Patience(connections=4, stalled_seconds=0.2)
    async with bare(much, patience) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1024)
        writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await served.wait()
        while server.connections:  # noqa: ASYNC110  # nothing tells of it
            await asyncio.sleep(0.01)
        assert len(await until_ended(reader)) < 64 << 20
        writer.close()


async def test_requests_that_are_no_http_are_refused(served: Served) -> None:
    for sent in (b"\x00\x01\x02\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"x" * 100_000):
        reader, writer = await connected(served)
        with suppress(ConnectionError):
            writer.write(sent)
            await writer.drain()
        assert b"200" not in (await until_ended(reader)).partition(b"\r\n")[0]
        writer.close()
    assert await is_served(served)


async def test_a_body_whose_end_two_servers_see_elsewhere_ends_its_connection(
    served: Served,
) -> None:
    reader, writer = await connected(served)
    head, _, _ = raw("/v1/score", score_body()).partition(b"\r\n\r\n")
    behind = raw("/v1/score", score_body(1))
    sent = head + b"\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + behind
    writer.write(sent)
    answers = await until_ended(reader)
    assert answers.startswith(b"HTTP/1.1 400"), answers
    assert answers.count(b"HTTP/1.1") == 1, answers
    assert b"must not come together" in answers
    writer.close()
