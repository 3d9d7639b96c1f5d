from __future__ import annotations

from pathlib import Path

import grpc
import pytest

from codereward.v1 import reward_service_pb2 as pb
from tests.rpc.certificates import Authority
from trainer_client import AsyncRewardClient, CallError, ScoreError, Tls

OUTAGE_SECONDS = 0.3


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path, "authority")


@pytest.fixture
def roots(authority: Authority) -> bytes:
    return authority.certificate.read_bytes()


async def error_of(target: str, **options) -> ScoreError | None:
    async with AsyncRewardClient(target, outage_seconds=OUTAGE_SECONDS, **options) as client:
        (score,) = await client.score([pb.ScoreRequest(id="a")])
    return score.error


async def status_of(target: str, **options) -> str:
    error = await error_of(target, **options)
    return "judged" if error is None else error.status


async def test_a_server_is_known_by_its_authority(serve, authority, roots, tmp_path):
    credentials = grpc.ssl_server_credentials([authority.issue("server").read()])
    server = serve(credentials=credentials)
    stranger = Authority(tmp_path, "stranger").certificate.read_bytes()
    assert await status_of(server.target, tls=Tls(root_certificates=roots)) == "judged"
    assert await status_of(server.target, tls=Tls(root_certificates=stranger)) == "UNAVAILABLE"
    assert await status_of(server.target, tls=Tls()) == "UNAVAILABLE"
    assert await status_of(server.target) == "UNAVAILABLE"
    assert len(server.requests) == 1


async def test_a_server_that_asks_for_a_certificate_gets_one(serve, authority, roots):
    credentials = grpc.ssl_server_credentials(
        [authority.issue("server").read()], roots, require_client_auth=True
    )
    server = serve(credentials=credentials)
    key, chain = authority.issue("client").read()
    known = Tls(root_certificates=roots, private_key=key, certificate_chain=chain)
    assert await status_of(server.target, tls=known) == "judged"
    assert await status_of(server.target, tls=Tls(root_certificates=roots)) == "UNAVAILABLE"


async def test_several_addresses_share_one_name_in_their_certificates(serve, authority, roots):
    credentials = grpc.ssl_server_credentials([authority.issue("server").read()])
    targets = [serve(credentials=credentials).target for _ in range(2)]
    tls = Tls(root_certificates=roots, server_name="127.0.0.1")
    assert await status_of(",".join(targets), tls=tls) == "judged"


async def test_a_name_that_is_not_in_the_certificate_is_refused(serve, authority, roots):
    server = serve(credentials=grpc.ssl_server_credentials([authority.issue("server").read()]))
    tls = Tls(root_certificates=roots, server_name="other.example")
    assert await status_of(server.target, tls=tls) == "UNAVAILABLE"


async def test_a_connection_that_fails_says_what_to_do(serve, authority, roots, tmp_path):
    secure = serve(credentials=grpc.ssl_server_credentials([authority.issue("server").read()]))
    stranger = Authority(tmp_path, "stranger").certificate.read_bytes()
    trusted = Tls(root_certificates=roots)
    tries = {
        "may expect TLS": (secure.target, None),
        "leave TLS out": (serve().target, trusted),
        "name its authority": (secure.target, Tls(root_certificates=stranger)),
        "TLS server name": (
            secure.target,
            Tls(root_certificates=roots, server_name="other.example"),
        ),
        "nothing listens there": ("127.0.0.1:1", None),
        "no such host": ("no-such-host.invalid:1", None),
    }
    for hint, (target, tls) in tries.items():
        error = await error_of(target, tls=tls)
        assert error is not None
        assert hint in error.message


async def test_a_question_about_the_server_says_what_to_do_too(serve, authority):
    server = serve(credentials=grpc.ssl_server_credentials([authority.issue("server").read()]))
    async with AsyncRewardClient(server.target) as client:
        with pytest.raises(CallError, match="may expect TLS"):
            await client.server_info()
