"""Servers on the nodes of a Ray cluster, which clients find by name.

The nodes are `ray.cluster_utils.Cluster`'s, on one machine: real processes of Ray, each with its
own scheduler, but no network between them.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from google.protobuf.json_format import MessageToJson

import reward_server.ray
from codereward.v1 import reward_service_pb2 as pb
from codereward.v1 import reward_service_pb2_grpc as rpc
from reward_server.errors import SettingsError, StartError
from reward_server.ray import Servers, ServerState
from tests.e2e.support.marks import TRAINERS_WARN
from tests.e2e.support.ray_cluster import RayCluster, ray_cluster
from tests.e2e.support.scripted import Script
from tests.e2e.support.tiny import GROUP, tiny_trainer
from trainer_client import RewardClient, remote_reward
from trainer_client.adapters import verl
from trainer_client.adapters.common import settings
from trainer_client.transport import ray_names
from trainer_client.transport.ray_servers import RayServers

pytestmark = [*TRAINERS_WARN]

SETTINGS = {"languages": ["python"], "workers": 2, "drain_seconds": 1}
NODES = 3


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with ray_cluster(NODES) as running:
        yield running


@pytest.fixture(scope="module")
def servers(cluster: RayCluster) -> Iterator[Servers]:
    with reward_server.ray.start("rewards", nodes=NODES, cpus=1, settings=SETTINGS) as running:
        yield running


def request(number: int, factor: int = 2, seconds: float = 0.0) -> pb.ScoreRequest:
    """Makes a request whose program is right if the factor is 2; no two numbers are alike."""
    body = f"time.sleep({seconds}); return {factor} * x  # {number}"
    tests = pb.FunctionTests(entry_point="double", asserts=["assert double(3) == 6"])
    source = f"import time\ndef double(x): {body}"
    return pb.ScoreRequest(completion=source, function=tests)


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def until(holds: Callable[[], bool]) -> None:
    """Returns once something holds."""
    while not holds():
        time.sleep(0.05)


def serving(servers: Servers, but: str = "") -> list[ServerState]:
    """Returns what is known when all servers are heard of, and none is on the node left out.

    One that was not heard of for a while has no address and no node until it is.
    """
    states = servers.states()
    while not all(one.address and one.node_id != but for one in states):
        time.sleep(0.05)
        states = servers.states()
    return states


@contextmanager
def sent_requests() -> Iterator[list[str]]:
    """Yields the addresses to which clients send requests, in their order."""
    plain, sent = RayServers.sending, list[str]()

    @contextmanager
    def noting(self: RayServers, requests: int):
        with plain(self, requests) as process:
            sent.extend([str(process.connection.target)] * requests)
            yield process

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RayServers, "sending", noting)
        yield sent


def test_one_call_starts_a_server_on_each_node_and_a_name_is_all_that_clients_need(
    servers: Servers,
) -> None:
    states = serving(servers)
    assert len({state.node_id for state in states}) == NODES
    with sent_requests() as sent, RewardClient("ray://rewards") as client:
        scores = client.score([request(number, 2 + number % 2) for number in range(24)])
        assert client.server_info().slots == 2
    assert [score.reward for score in scores] == [1.0, 0.0] * 12
    assert set(sent) == {state.address for state in states}


def test_a_client_is_pickled_into_a_worker_of_ray_and_finds_the_servers_there(
    servers: Servers,
) -> None:
    import ray

    requests = [request(number, 2 + number % 2) for number in (100, 101)]

    def judged(pickled: bytes) -> tuple[int, list[float | None]]:
        with pickle.loads(pickled) as client:
            return os.getpid(), [score.reward for score in client.score(requests)]

    with RewardClient(servers.target) as client:
        assert client.score(request(99))[0].reward == 1.0
        task = ray.remote(num_cpus=0)(judged)
        pid, rewards = ray.get(task.remote(pickle.dumps(client)), timeout=120)
    assert pid != os.getpid()
    assert rewards == [1.0, 0.0]


def test_an_adapter_takes_the_name_as_its_target(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEREWARD_TARGET", servers.target)
    settings.forget()
    try:
        label = MessageToJson(request(150))
        (found,) = verl.compute_scores([""], [request(150).completion], [label])
    finally:
        settings.shared_judge().close()
        settings.forget()
    assert found == {"score": 1.0, "acc": 1.0, "verdict": "PASSED"}


def test_a_stranger_outside_the_cluster_gets_nothing_from_its_servers(servers: Servers) -> None:
    address = serving(servers)[0].address
    asked = pb.GetServerInfoRequest()
    with grpc.insecure_channel(address) as channel, pytest.raises(grpc.RpcError) as refusal:
        rpc.RewardServiceStub(channel).GetServerInfo(asked, timeout=60)
    assert refusal.value.code() is grpc.StatusCode.UNAVAILABLE
    listed = next(one for one in ray_names.look_up("rewards") if one.address == address)
    trusted = grpc.ssl_channel_credentials(listed.certificate.encode())
    with grpc.secure_channel(address, trusted) as channel, pytest.raises(grpc.RpcError) as refusal:
        rpc.RewardServiceStub(channel).GetServerInfo(asked, timeout=60)
    assert refusal.value.code() is grpc.StatusCode.UNAUTHENTICATED
    assert len({one.certificate for one in ray_names.look_up("rewards")}) == NODES


def test_a_second_start_of_a_name_is_refused_and_a_running_one_is_found(servers: Servers) -> None:
    with pytest.raises(SettingsError, match="'rewards' run already"):
        reward_server.ray.start("rewards", nodes=1, cpus=1)
    # A server that was not heard of for a while is told apart until it is.
    until(lambda: reward_server.ray.find("rewards").states() == servers.states())


def test_a_server_ends_with_its_actor_even_after_kill_and_another_takes_its_place(
    servers: Servers,
) -> None:
    before = serving(servers)[1]
    with RewardClient(servers.target) as client:
        client.score(request(200))
        os.kill(parent_of(before.pid), signal.SIGKILL)
        scores = client.score([request(201 + number, seconds=0.2) for number in range(12)])
        assert [score.reward for score in scores] == [1.0] * 12
    until(lambda: not is_alive(before.pid))
    until(lambda: serving(servers)[1].pid != before.pid)
    assert serving(servers)[1].node_id == before.node_id


def test_the_registry_is_killed_and_knows_the_servers_again(servers: Servers) -> None:
    import ray

    states = serving(servers)
    registry = ray.get_actor(ray_names.ACTOR_PREFIX + "rewards", namespace=ray_names.NAMESPACE)
    ray.kill(registry, no_restart=False)
    assert len(servers.states()) == NODES
    with RewardClient(servers.target) as client:
        assert client.score(request(300))[0].reward == 1.0
    until(lambda: servers.states() == states)


def test_too_few_nodes_are_an_error_that_says_so_and_nothing_is_left(cluster: RayCluster) -> None:
    with pytest.raises(StartError, match="no place for 9 servers on nodes of their own"):
        reward_server.ray.start("many", nodes=9, cpus=1, timeout_seconds=2)
    with pytest.raises(StartError, match="no servers named 'many'"):
        reward_server.ray.find("many")


def test_a_server_that_does_not_start_is_an_error_with_its_log(cluster: RayCluster) -> None:
    with pytest.raises(StartError, match=r"(?s)server 0: the server ended with .*cobol"):
        reward_server.ray.start("broken", nodes=1, cpus=1, settings={"languages": "cobol"})
    with pytest.raises(StartError, match="no servers named 'broken'"):
        reward_server.ray.find("broken")


def test_stop_leaves_no_process_and_no_name_and_says_so_to_clients(cluster: RayCluster) -> None:
    with reward_server.ray.start("brief", nodes=1, cpus=1, settings=SETTINGS) as brief:
        (state,) = brief.states()
        with RewardClient("ray://brief") as client:
            assert client.score(request(400))[0].reward == 1.0
    assert not is_alive(state.pid)
    brief.stop()
    with RewardClient("ray://brief", outage_seconds=0.2) as client:
        (score,) = client.score(request(401))
    assert score.reward is None
    assert score.error is not None
    assert "`reward_server.ray.start('brief', ...)` starts them" in score.error.message


@pytest.mark.training
@pytest.mark.usefixtures("trl_noted")
def test_a_node_is_lost_in_mid_step_and_every_completion_gets_its_own_reward(
    cluster: RayCluster, servers: Servers, tiny_model: Path, tmp_path: Path
) -> None:
    victim = serving(servers)[0]

    def lose() -> None:
        until(lambda: victim.address in sent)
        os.kill(victim.pid, signal.SIGKILL)
        cluster.lose_node(victim.node_id)

    def task(row) -> pb.ScoreRequest:
        name = row["prompt"].removeprefix("def ").removesuffix("(x):")
        tests = pb.FunctionTests(entry_point=name, asserts=[f"assert {name}(3) == 6"])
        return pb.ScoreRequest(prompt=row["prompt"], function=tests)

    given: dict[str, float | None] = {}
    reward = remote_reward(servers.target, task=task, name="tests")

    async def noted(prompts, completions, **columns):
        rewards = await reward(prompts, completions, **columns)
        given.update(zip(completions, rewards, strict=True))
        return rewards

    trainer = tiny_trainer(
        tiny_model, tmp_path, noted, max_completion_length=64, max_steps=1, learning_rate=1e-3
    )
    trainer.model.generate = Script(trainer.processing_class, slow_body)
    with sent_requests() as sent:
        remover = threading.Thread(target=lose)
        remover.start()
        trainer.train()
        remover.join()

    assert {text: float("2 * x" in text) for text in given} == given
    assert Counter(given.values()) == {1.0: GROUP, 0.0: GROUP}
    assert len(sent) > len(given)  # what the lost server had was sent again
    (line,) = [line for line in trainer.state.log_history if "reward" in line]
    assert line["reward"] == 0.5
    assert line["tests/unjudged"] == 0.0

    cluster.add_node()
    serving(servers, but=victim.node_id)


def slow_body(prompt: str, row: int) -> str:
    """Returns a body that takes a second; every other one is right, and no two are alike."""
    return f"    import time; time.sleep(1)\n    return {2 + row % 2} * x  # {row}\n"
