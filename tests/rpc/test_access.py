from __future__ import annotations

import asyncio
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from codereward.v1 import reward_service_pb2 as pb
from codereward.v1 import reward_service_pb2_grpc as pb_grpc
from reward_server import app
from reward_server.errors import SettingsError, StartError
from tests.rpc.certificates import Authority, Pair
from tests.rpc.conftest import Refusal, Serve, Served, function_request, refused
from tests.rpc.fakes import FakeExecutor

TOKEN = "correct-horse-battery"


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    file = tmp_path / "tokens"
    file.write_text(f"other\n{TOKEN}\n")
    return file


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path, "authority")


@pytest.fixture
def server_pair(authority: Authority) -> Pair:
    return authority.issue("server")


def rewrite(file: Path, content: str) -> None:
    file.write_text(content)


def bearer(token: str) -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {token}"),)


async def score_over_tls(
    served: Served, authority: Authority, client: Pair | None = None
) -> pb.ScoreResponse:
    key, certificate = client.read() if client else (None, None)
    credentials = grpc.ssl_channel_credentials(authority.certificate.read_bytes(), key, certificate)
    async with grpc.aio.secure_channel(served.app.address, credentials) as channel:
        stub: pb_grpc.RewardServiceAsyncStub = pb_grpc.RewardServiceStub(channel)
        return await stub.Score(function_request(), timeout=60)


# ------------------------------------------------------------------------------------- tokens


async def test_any_of_the_tokens_lets_in(serve: Serve, tokens: Path) -> None:
    served = await serve(token_file=tokens)
    for token in ("other", TOKEN):
        response = await served.stub.Score(function_request(), metadata=bearer(token))
        assert response.verdict == pb.VERDICT_PASSED


@pytest.mark.promise(
    "Without a valid token only health checks are answered, and no body is read.", "Service"
)
@pytest.mark.parametrize(
    "metadata",
    [
        (),
        bearer("wrong"),
        bearer(""),
        bearer(TOKEN[:-1]),
        bearer(TOKEN + "x"),
        bearer(f"{TOKEN} {TOKEN}"),
        (("authorization", TOKEN),),
        (("authorization", f"Basic {TOKEN}"),),
        (("token", f"Bearer {TOKEN}"),),
        (*bearer("wrong"), *bearer(TOKEN)),
        (*bearer(TOKEN), *bearer("wrong")),
    ],
)
async def test_no_other_credential_lets_in(
    serve: Serve, tokens: Path, metadata: tuple[tuple[str, str], ...]
) -> None:
    served = await serve(token_file=tokens)
    error = await refused(served.stub.Score(function_request(), metadata=metadata))
    assert error.code is grpc.StatusCode.UNAUTHENTICATED
    assert TOKEN not in error.details
    assert not served.executor.started


async def test_every_method_of_the_service_asks_for_a_token(serve: Serve, tokens: Path) -> None:
    served = await serve(token_file=tokens)
    codes = [
        (await refused(call)).code
        for call in (
            served.stub.Score(function_request()),
            served.stub.Execute(pb.ExecuteRequest(source="1")),
            served.stub.GetServerInfo(pb.GetServerInfoRequest()),
        )
    ]
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        [_ async for _ in served.stub.ScoreBatch(pb.ScoreBatchRequest())]
    assert {*codes, raised.value.code()} == {grpc.StatusCode.UNAUTHENTICATED}


@pytest.mark.promise(
    "Without a valid token only health checks are answered, and no body is read.", "Service"
)
async def test_the_body_of_a_stranger_is_not_read(serve: Serve, tokens: Path) -> None:
    served = await serve(token_file=tokens)
    too_large_for_the_transport = pb.ScoreRequest(completion="x" * (80 << 20))
    error = await refused(served.stub.Score(too_large_for_the_transport))
    assert error.code is grpc.StatusCode.UNAUTHENTICATED


async def test_reflection_asks_for_a_token_and_health_does_not(serve: Serve, tokens: Path) -> None:
    served = await serve(token_file=tokens)
    health = health_pb2_grpc.HealthStub(served.channel)
    answer = await health.Check(health_pb2.HealthCheckRequest())
    assert answer.status == health_pb2.HealthCheckResponse.SERVING
    with pytest.raises(grpc.RpcError) as raised:
        await asyncio.to_thread(reflected_services, served.app.address)
    assert isinstance(raised.value, grpc.Call)
    assert raised.value.code() is grpc.StatusCode.UNAUTHENTICATED


def reflected_services(address: str) -> set[str]:
    """Asks by a client that is not asynchronous.

    The asynchronous one has INTERNAL for a call that is refused before its first message is sent.
    """
    request = reflection_pb2.ServerReflectionRequest(list_services="")
    with grpc.insecure_channel(address) as channel:
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        [answer] = stub.ServerReflectionInfo(iter([request]))
    return {service.name for service in answer.list_services_response.service}


async def test_reflection_lists_the_services(serve: Serve) -> None:
    served = await serve()
    assert await asyncio.to_thread(reflected_services, served.app.address) == {
        "codereward.v1.RewardService",
        "codereward.v1.SessionService",
        "grpc.health.v1.Health",
        "grpc.reflection.v1alpha.ServerReflection",
    }


# ---------------------------------------------------------------------------------------- TLS


async def test_a_client_that_trusts_the_authority_is_served(
    serve: Serve, authority: Authority, server_pair: Pair
) -> None:
    served = await serve(tls_certificate=server_pair.certificate, tls_key=server_pair.key)
    assert (await score_over_tls(served, authority)).verdict == pb.VERDICT_PASSED


async def test_tokens_and_tls_go_together(
    serve: Serve, authority: Authority, server_pair: Pair, tokens: Path
) -> None:
    served = await serve(
        tls_certificate=server_pair.certificate, tls_key=server_pair.key, token_file=tokens
    )
    assert (await refused(score_over_tls(served, authority))).code is (
        grpc.StatusCode.UNAUTHENTICATED
    )


async def test_a_client_certificate_is_asked_for_and_checked(
    serve: Serve, authority: Authority, server_pair: Pair, tmp_path: Path
) -> None:
    (tmp_path / "rogue").mkdir()
    rogue = Authority(tmp_path / "rogue", "authority").issue("trainer")
    served = await serve(
        tls_certificate=server_pair.certificate,
        tls_key=server_pair.key,
        tls_client_ca=authority.certificate,
    )
    trainer = authority.issue("trainer")
    assert (await score_over_tls(served, authority, trainer)).verdict == pb.VERDICT_PASSED
    for stranger in (None, rogue):
        error = await refused(score_over_tls(served, authority, stranger))
        assert error.code is grpc.StatusCode.UNAVAILABLE
    assert len(served.executor.started) == 1


async def test_plain_text_to_a_tls_port_fails_and_others_are_served(
    serve: Serve, authority: Authority, server_pair: Pair
) -> None:
    served = await serve(tls_certificate=server_pair.certificate, tls_key=server_pair.key)
    error = await refused(served.stub.Score(function_request(), timeout=60))
    assert error.code is grpc.StatusCode.UNAVAILABLE
    assert (await score_over_tls(served, authority)).verdict == pb.VERDICT_PASSED


async def test_certificates_that_cannot_be_used_stop_the_start(
    serve: Serve, authority: Authority, server_pair: Pair, tmp_path: Path
) -> None:
    junk = tmp_path / "junk.pem"
    junk.write_text("junk")
    other = authority.issue("other")
    locked = authority.issue("locked", password=b"secret")
    for wrong in (
        {"tls_certificate": junk, "tls_key": server_pair.key},
        {"tls_certificate": server_pair.certificate, "tls_key": junk},
        {"tls_certificate": server_pair.certificate, "tls_key": other.key},
        {"tls_certificate": locked.certificate, "tls_key": locked.key},
        {
            "tls_certificate": server_pair.certificate,
            "tls_key": server_pair.key,
            "tls_client_ca": junk,
        },
    ):
        with pytest.raises(SettingsError, match="certificates cannot be used"):
            await serve(**wrong)


# ----------------------------------------------------------------------------------- rotation


async def test_tokens_are_rotated_without_a_restart(serve: Serve, tokens: Path) -> None:
    served = await serve(token_file=tokens)
    rewrite(tokens, "fresh\n")
    served.app.reload()
    assert (await refused(served.stub.Score(function_request(), metadata=bearer(TOKEN)))).code is (
        grpc.StatusCode.UNAUTHENTICATED
    )
    response = await served.stub.Score(function_request(), metadata=bearer("fresh"))
    assert response.verdict == pb.VERDICT_PASSED


async def test_a_call_that_is_open_outlives_its_token(serve: Serve, tokens: Path) -> None:
    served = await serve(FakeExecutor(held=True), token_file=tokens)
    call = asyncio.ensure_future(served.stub.Score(function_request(), metadata=bearer(TOKEN)))
    await served.executor.until_running(1)
    rewrite(tokens, "fresh\n")
    served.app.reload()
    served.executor.release()
    assert (await call).verdict == pb.VERDICT_PASSED


@pytest.mark.parametrize("content", ["", "# none\n", "two words\n", "\u00fc\n"])
async def test_tokens_that_cannot_be_used_leave_the_old_ones_in_force(
    serve: Serve, tokens: Path, content: str
) -> None:
    served = await serve(token_file=tokens)
    rewrite(tokens, content)
    with pytest.raises(SettingsError):
        served.app.reload()
    response = await served.stub.Score(function_request(), metadata=bearer(TOKEN))
    assert response.verdict == pb.VERDICT_PASSED


@pytest.mark.promise("Certificates and tokens are rotated without a restart.", "Service")
async def test_certificates_are_rotated_without_a_restart(
    serve: Serve, authority: Authority, server_pair: Pair, tmp_path: Path
) -> None:
    (tmp_path / "next").mkdir()
    successor = Authority(tmp_path / "next", "authority")
    served = await serve(tls_certificate=server_pair.certificate, tls_key=server_pair.key)
    assert (await score_over_tls(served, authority)).verdict == pb.VERDICT_PASSED
    pair = successor.issue("server")
    server_pair.key.write_bytes(pair.key.read_bytes())
    with pytest.raises(SettingsError, match="certificates cannot be used"):
        served.app.reload()
    assert (await score_over_tls(served, authority)).verdict == pb.VERDICT_PASSED
    server_pair.certificate.write_bytes(pair.certificate.read_bytes())
    served.app.reload()
    assert (await score_over_tls(served, successor)).verdict == pb.VERDICT_PASSED
    assert (await refused(score_over_tls(served, authority))).code is grpc.StatusCode.UNAVAILABLE


async def test_files_that_change_are_read_again_by_themselves(
    serve: Serve, tokens: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "_LOOK_SECONDS", 0.01)
    served = await serve(token_file=tokens)
    rewrite(tokens, "fresh\n")
    while True:
        try:
            await served.stub.Score(function_request(), metadata=bearer("fresh"))
        except grpc.aio.AioRpcError:
            await asyncio.sleep(0.1)  # who calls more often without a token is cut off
        else:
            return


# --------------------------------------------------------------------------------- the port


async def test_random_bytes_on_the_port_leave_the_server_up(serve: Serve) -> None:
    served = await serve()
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    for number in range(40):
        noise = bytes((number * 31 + index * index) % 256 for index in range(2000))
        _, writer = await asyncio.open_connection("127.0.0.1", served.app.port)
        writer.write((preface if number % 2 else b"") + noise)
        await writer.drain()
        writer.transport.abort()
    assert (await served.stub.Score(function_request())).verdict == pb.VERDICT_PASSED


async def test_connections_that_say_nothing_keep_nobody_out(serve: Serve) -> None:
    served = await serve()
    silent = [await asyncio.open_connection("127.0.0.1", served.app.port) for _ in range(100)]
    assert (await served.stub.Score(function_request())).verdict == pb.VERDICT_PASSED
    for _, writer in silent:
        writer.transport.abort()


async def test_a_port_in_use_is_told_and_not_shared(serve: Serve) -> None:
    served = await serve()
    with pytest.raises(StartError, match=f"127.0.0.1:{served.app.port}: Address already in use"):
        await serve(port=served.app.port)


async def test_an_address_of_another_machine_is_told(serve: Serve) -> None:
    with pytest.raises(StartError, match=r"192\.0\.2\.1:0: Cannot assign requested"):
        await serve(host="192.0.2.1", insecure_public=True)


async def test_a_name_that_nobody_has_is_told(serve: Serve) -> None:
    with pytest.raises(StartError, match=r"nowhere\.invalid:0: "):
        await serve(host="nowhere.invalid", insecure_public=True)


async def test_calls_at_once_are_bounded_even_if_they_share_one_execution(serve: Serve) -> None:
    served = await serve(FakeExecutor(slots=1, held=True), queue_capacity=1)
    first = asyncio.create_task(score(served, function_request()))
    await served.executor.until_running(1)
    others = [asyncio.create_task(score(served, function_request())) for _ in range(100)]
    too_many = set[asyncio.Task[pb.ScoreResponse]]()
    while len(too_many) < 29:
        waiting = [other for other in others if other not in too_many]
        done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        too_many |= done
    assert (await refused(too_many.pop())).code is grpc.StatusCode.RESOURCE_EXHAUSTED
    served.executor.release()
    assert (await first).verdict == pb.VERDICT_PASSED
    answers = await asyncio.gather(*others, return_exceptions=True)
    assert sum(isinstance(answer, pb.ScoreResponse) for answer in answers) == 71


# ----------------------------------------------------------------------------------- the end


async def until_status(call: object, status: int) -> None:
    async for answer in call:  # type: ignore[attr-defined]  # a streaming call
        if answer.status == status:
            return


async def test_health_is_told_for_the_server_and_its_service(serve: Serve) -> None:
    served = await serve()
    health = health_pb2_grpc.HealthStub(served.channel)
    for service in ("", "codereward.v1.RewardService"):
        answer = await health.Check(health_pb2.HealthCheckRequest(service=service))
        assert answer.status == health_pb2.HealthCheckResponse.SERVING
    error = await refused(health.Check(health_pb2.HealthCheckRequest(service="other")))
    assert error.code is grpc.StatusCode.NOT_FOUND


@pytest.mark.promise("A draining server finishes running work and refuses new work.", "Service")
async def test_draining_finishes_what_runs_and_refuses_what_comes(serve: Serve) -> None:
    served = await serve(drain_seconds=30)
    served.executor.held = True
    running = asyncio.create_task(score(served, function_request(1)))
    await served.executor.until_running(1)
    health = health_pb2_grpc.HealthStub(served.channel)
    watch = health.Watch(health_pb2.HealthCheckRequest())
    await until_status(watch, health_pb2.HealthCheckResponse.SERVING)
    stopping = asyncio.ensure_future(served.stop())
    await until_status(watch, health_pb2.HealthCheckResponse.NOT_SERVING)
    error = await refused(served.stub.Score(function_request(2)))
    assert error.code is grpc.StatusCode.UNAVAILABLE
    assert "shutting down" in error.details
    watch.cancel()
    served.executor.release()
    assert (await running).verdict == pb.VERDICT_PASSED
    await stopping
    assert (await refused(served.stub.Score(function_request(3)))).code is (
        grpc.StatusCode.UNAVAILABLE
    )


async def score(served: Served, request: pb.ScoreRequest) -> pb.ScoreResponse:
    return await served.stub.Score(request)


async def test_what_outlasts_the_drain_is_killed(serve: Serve) -> None:
    served = await serve(drain_seconds=0.05)
    served.executor.held = True
    running = asyncio.create_task(score(served, function_request()))
    await served.executor.until_running(1)
    await served.stop()
    assert len(served.executor.killed) == 1
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await running
    assert Refusal.of(raised.value).code is grpc.StatusCode.UNAVAILABLE
