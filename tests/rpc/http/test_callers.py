"""Who may use the doors: the holders of the credentials of gRPC, under the same owners."""

from __future__ import annotations

import ssl
from pathlib import Path

import httpx
import pytest

from reward_server.errors import SettingsError, StartError
from reward_server.settings import load_settings
from tests.rpc.certificates import Authority
from tests.rpc.conftest import Serve, Served
from tests.rpc.http.conftest import AUTHORIZED, score_body, url_of

TRAFFIC = {"E2B-Traffic-Access-Token": "good"}
BASIC = {"Authorization": httpx.BasicAuth("any", "good")._auth_header}


@pytest.mark.parametrize(
    "headers",
    [AUTHORIZED, BASIC, {"X-API-Key": "good"}, {"X-Access-Token": "good"}, TRAFFIC],
    ids=["bearer", "password", "key", "access token", "traffic"],
)
async def test_a_token_is_taken_where_clients_can_show_it(
    served: Served, headers: dict[str, str]
) -> None:
    async with httpx.AsyncClient(base_url=url_of(served), headers=headers) as client:
        answer = await client.post("/v1/score", json=score_body())
    assert answer.status_code == 200


@pytest.mark.promise("Every path of HTTP needs a valid token.", "Service")
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "good"},
        {"Authorization": "Basic ?"},
        {"Authorization": "Bearer good", "X-API-Key": "better"},
        {"X-API-Key": ""},
    ],
)
@pytest.mark.parametrize("path", ["/v1/score", "/v1/score_batch", "/run_code", "/v1/info", "/x"])
async def test_every_path_needs_one_valid_token(
    served: Served, headers: dict[str, str], path: str
) -> None:
    async with httpx.AsyncClient(base_url=url_of(served), headers=headers) as client:
        answer = await client.post(path, json=score_body())
    assert (answer.status_code, answer.json()["status"]) == (401, "UNAUTHENTICATED")
    assert served.executor.started == []


async def test_a_page_of_the_web_cannot_use_a_door_that_needs_no_token(serve: Serve) -> None:
    served = await serve(http_port=0)
    headers = {"Origin": "https://example.org"}
    async with httpx.AsyncClient(base_url=url_of(served)) as client:
        answer = await client.post("/run_code", json={}, headers=headers)
        assert answer.status_code == 403
        assert (await client.post("/v1/score", json=score_body())).status_code == 200


async def test_an_id_of_one_credential_is_not_that_of_another(served: Served) -> None:
    async with httpx.AsyncClient(base_url=url_of(served)) as client:
        for token in ("good", "better"):
            headers = {"Authorization": f"Bearer {token}"}
            answer = await client.post("/v1/score", json=score_body(id="1"), headers=headers)
            assert answer.status_code == 200
            assert "deduplicated" not in answer.json()
    assert len(served.executor.started) == 2


async def test_tokens_that_are_read_again_hold_at_once(served: Served, tmp_path: Path) -> None:
    async with httpx.AsyncClient(base_url=url_of(served), headers=AUTHORIZED) as client:
        assert (await client.get("/v1/info")).status_code == 200
        (tmp_path / "tokens").write_text("other\n")
        served.app.reload()
        assert (await client.get("/v1/info")).status_code == 401


async def test_the_quota_of_a_tenant_holds_for_both_edges(serve: Serve, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens.toml"
    tokens.write_text('[[tenants]]\nname = "red"\ntokens = ["good"]\nbytes_in_flight = 300\n')
    served = await serve(http_port=0, token_file=tokens)
    async with httpx.AsyncClient(base_url=url_of(served), headers=AUTHORIZED) as client:
        assert (await client.post("/v1/score", json=score_body())).status_code == 200
        answer = await client.post("/v1/score", json=score_body(prompt="#" * 400))
    assert (answer.status_code, answer.json()["field"]) == (400, "request")
    assert "bytes_in_flight" in answer.json()["message"]


async def test_tls_is_that_of_grpc_and_clients_show_their_certificates(
    serve: Serve, tmp_path: Path
) -> None:
    authority = Authority(tmp_path, "authority")
    pair, own = authority.issue("server"), authority.issue("client")
    served = await serve(
        http_port=0,
        tls_certificate=pair.certificate,
        tls_key=pair.key,
        tls_client_ca=authority.certificate,
    )
    trust = ssl.create_default_context(cafile=authority.certificate)
    async with httpx.AsyncClient(base_url=url_of(served, "https"), verify=trust) as client:
        with pytest.raises(httpx.TransportError):
            await client.get("/v1/info")
    trust.load_cert_chain(own.certificate, own.key)
    async with httpx.AsyncClient(base_url=url_of(served, "https"), verify=trust) as client:
        assert (await client.get("/v1/info")).status_code == 200
    async with httpx.AsyncClient(base_url=url_of(served)) as client:
        with pytest.raises(httpx.TransportError):
            await client.get("/v1/ping")


async def test_a_certificate_that_is_read_again_is_shown_to_new_connections(
    serve: Serve, tmp_path: Path
) -> None:
    first, second = Authority(tmp_path, "first"), Authority(tmp_path, "second")
    pair = first.issue("server")
    served = await serve(http_port=0, tls_certificate=pair.certificate, tls_key=pair.key)
    other = second.issue("other")
    pair.certificate.write_bytes(other.certificate.read_bytes())
    pair.key.write_bytes(other.key.read_bytes())
    served.app.reload()
    trust = ssl.create_default_context(cafile=second.certificate)
    async with httpx.AsyncClient(base_url=url_of(served, "https"), verify=trust) as client:
        assert (await client.get("/v1/ping")).json() == "pong"


def test_a_public_address_needs_tls_and_credentials() -> None:
    with pytest.raises(SettingsError, match=r"http_host 0\.0\.0\.0 can be reached"):
        load_settings({"http_port": 8080, "http_host": "0.0.0.0"})
    load_settings({"http_host": "0.0.0.0"})


async def test_a_port_that_is_taken_is_told_at_the_start(serve: Serve) -> None:
    served = await serve(http_port=0)
    taken = int(served.app.http_address.rpartition(":")[2])
    with pytest.raises(StartError, match="http_port: cannot listen on"):
        await serve(http_port=taken)
