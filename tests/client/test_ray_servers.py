"""How a client follows the servers of a name. The cluster's answer is scripted, the servers serve.

`tests/e2e/test_ray.py` has a real cluster.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import grpc
import pytest

from codereward.v1 import reward_service_pb2 as pb
from tests.rpc.certificates import Authority
from trainer_client import AsyncRewardClient, CallError, Connection
from trainer_client.transport import ray_names, ray_servers
from trainer_client.transport.ray_names import Listed, NotFoundError

Cluster = Callable[[Sequence[Listed] | str], None]


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """Returns a function that sets the cluster's answer: servers, or why there are none."""
    answer: list[Sequence[Listed] | str] = ["there is no cluster"]

    def look_up(name: str) -> tuple[Listed, ...]:
        assert name == "rewards"
        if isinstance(answer[0], str):
            raise NotFoundError(answer[0])
        return tuple(answer[0])

    monkeypatch.setattr(ray_names, "look_up", look_up)
    monkeypatch.setattr(ray_servers, "_LOOK_SECONDS", 0.0)
    monkeypatch.setattr(ray_servers, "_FAILED_LOOK_SECONDS", 0.0)
    return lambda chosen: answer.__setitem__(0, chosen)


def requests(count: int) -> list[pb.ScoreRequest]:
    return [pb.ScoreRequest(id=str(number)) for number in range(count)]


def listed(*servers) -> list[Listed]:
    return [Listed(address=server.target) for server in servers]


async def test_requests_are_spread_over_all_servers_of_a_name(serve, cluster: Cluster) -> None:
    servers = [serve(), serve(), serve()]
    cluster(listed(*servers))
    async with AsyncRewardClient("ray://rewards") as client:
        scores = await client.score(requests(60))
    assert [score.id for score in scores] == [str(number) for number in range(60)]
    assert all(score.reward == 1.0 for score in scores)
    assert all(len(server.requests) >= 10 for server in servers)


async def test_a_session_is_asked_of_one_server_of_the_name(serve, cluster: Cluster) -> None:
    cluster(listed(serve()))
    async with AsyncRewardClient("ray://rewards", outage_seconds=2.0) as client:
        with pytest.raises(CallError, match="UNIMPLEMENTED"):  # the scripted server has none
            async with client.session():
                pass


async def test_a_session_of_a_name_without_servers_says_so(cluster: Cluster) -> None:
    cluster("there is no cluster")
    async with AsyncRewardClient("ray://rewards", outage_seconds=0.2) as client:
        with pytest.raises(CallError, match="there is no cluster"):
            async with client.session():
                pass


async def test_a_server_that_is_gone_gets_no_further_share_and_loses_nothing(
    serve, cluster: Cluster
) -> None:
    gone, stays = serve(), serve()
    cluster(listed(gone, stays))
    async with AsyncRewardClient("ray://rewards", batch_size=1) as client:
        assert all(score.reward == 1.0 for score in await client.score(requests(20)))
        gone.stop()
        before = len(stays.requests)
        assert all(score.reward == 1.0 for score in await client.score(requests(20)))
        assert len(stays.requests) == before + 20


async def test_a_client_moves_to_the_server_that_took_the_place_of_another(
    serve, cluster: Cluster
) -> None:
    old = serve()
    cluster(listed(old))
    async with AsyncRewardClient("ray://rewards") as client:
        assert (await client.score(requests(1)))[0].reward == 1.0
        old.stop()
        call = asyncio.create_task(client.score(requests(8)))
        await asyncio.sleep(0)
        new = serve()
        cluster(listed(new))
        assert all(score.reward == 1.0 for score in await call)
        assert (await client.server_info()).slots == 2
        (line,) = client._lines.values()
        assert [one.address for one in line.processes._servers] == [new.target]
        assert line.processes._leaving == []
    assert len(new.requests) == 8


async def test_servers_that_are_known_serve_on_while_the_cluster_does_not_answer(
    serve, cluster: Cluster
) -> None:
    cluster(listed(serve()))
    async with AsyncRewardClient("ray://rewards") as client:
        assert (await client.score(requests(1)))[0].reward == 1.0
        cluster("the registry does not answer")
        for _ in range(3):
            assert (await client.score(requests(1)))[0].reward == 1.0


async def test_no_server_is_an_outage_that_a_call_waits_for_and_then_tells(
    serve, cluster: Cluster
) -> None:
    async with AsyncRewardClient("ray://rewards", outage_seconds=0.3) as client:
        (score,) = await client.score(requests(1))
        assert score.reward is None
        assert score.error is not None
        assert (score.error.status, score.error.permanent) == ("UNAVAILABLE", False)
        assert score.error.message.startswith("there is no cluster")
        with pytest.raises(CallError, match="UNAVAILABLE: there is no cluster"):
            await client.server_info()
    async with AsyncRewardClient("ray://rewards") as client:
        call = asyncio.create_task(client.score(requests(3)))
        await asyncio.sleep(0)
        cluster(listed(serve()))
        assert [score.reward for score in await call] == [1.0] * 3


async def test_what_nobody_expects_of_the_cluster_is_raised_and_not_a_zero(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def look_up(name: str) -> tuple[Listed, ...]:
        raise KeyError("servers")

    monkeypatch.setattr(ray_names, "look_up", look_up)
    async with AsyncRewardClient("ray://rewards") as client:
        with pytest.raises(KeyError):
            await client.score(requests(1))


async def test_certificate_and_token_come_with_the_address_and_the_callers_own_come_first(
    serve, cluster: Cluster, tmp_path
) -> None:
    authority = Authority(tmp_path, "authority")
    pair = authority.issue("server")
    credentials = grpc.ssl_server_credentials([pair.read()])
    server = serve(credentials=credentials)
    certificate = authority.certificate.read_text()
    cluster([Listed(address=server.target, certificate=certificate, token="made")])
    for options, token in (({}, "made"), ({"token": "mine"}, "mine")):
        async with AsyncRewardClient("ray://rewards", **options) as client:
            assert (await client.score(requests(1)))[0].reward == 1.0
            assert (await client.server_info()).slots == 2
        assert server.metadata[-1]["authorization"] == f"Bearer {token}"


@pytest.mark.parametrize("target", ["ray://", "ray://head:10001", "ray://a b", "ray://" + 65 * "a"])
def test_what_is_no_name_is_refused_with_an_explanation(target: str) -> None:
    with pytest.raises(ValueError, match=r"`reward_server\.ray\.start` was given"):
        Connection(target)


def test_a_name_stands_alone() -> None:
    with pytest.raises(ValueError, match="give it alone"):
        Connection("ray://rewards, a:50051")


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_names.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"needs the package ray: pip install '\.\[ray\]'"):
        Connection("ray://rewards")
