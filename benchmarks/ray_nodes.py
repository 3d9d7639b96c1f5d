"""Times of servers in a Ray cluster: their start, their way after the loss of a node, their end.

The cluster has four nodes besides its head, all on this machine, and three servers. In each run a
node is killed while requests are in progress there, and one is added in the end. Ray's settings are
its own, so a lost node is noticed after 15 s.

    python -m benchmarks.ray_nodes --runs 3
"""

from __future__ import annotations

import argparse
import os
import signal
import threading
import time

import reward_server.ray
from codereward.v1 import reward_service_pb2 as pb
from reward_server.ray import Servers
from tests.e2e.support.ray_cluster import RayCluster, ray_cluster
from trainer_client import RewardClient

_SERVERS = 3
_REQUESTS = 36
_TESTS = pb.FunctionTests(entry_point="double", asserts=["assert double(3) == 6"])


def main() -> None:
    """Prints a line for each run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    runs = parser.parse_args().runs
    with ray_cluster(_SERVERS + 1, notices_soon=False) as cluster:
        for _ in range(runs):
            begun = time.monotonic()
            settings = {"languages": ["python"], "workers": 2, "drain_seconds": 1}
            servers = reward_server.ray.start("bench", nodes=_SERVERS, cpus=1, settings=settings)
            started = time.monotonic() - begun
            answered, replaced = _lose_a_node(cluster, servers)
            begun = time.monotonic()
            servers.stop()
            print(
                f"started in {started:.1f} s; after the loss of a node the last answer came in "
                f"{answered:.1f} s and three served in {replaced:.1f} s; "
                f"stopped in {time.monotonic() - begun:.1f} s",
                flush=True,
            )
            cluster.add_node()


def _lose_a_node(cluster: RayCluster, servers: Servers) -> tuple[float, float]:
    victim, lost = servers.states()[0], [0.0]

    def lose() -> None:
        os.kill(victim.pid, signal.SIGKILL)
        cluster.lose_node(victim.node_id)

    remover = threading.Timer(1.0, lose)
    with RewardClient(servers.target) as client:
        client.score(_request(-1))
        remover.start()
        lost[0] = time.monotonic() + 1.0
        scores = client.score([_request(number) for number in range(_REQUESTS)])
    answered = time.monotonic() - lost[0]
    assert [score.reward for score in scores] == [1.0, 0.0] * (_REQUESTS // 2)
    remover.join()
    while victim.node_id in _nodes(servers) or len(_nodes(servers)) < _SERVERS:
        time.sleep(0.05)
    return answered, time.monotonic() - lost[0]


def _nodes(servers: Servers) -> set[str]:
    return {state.node_id for state in servers.states() if state.address}


def _request(number: int) -> pb.ScoreRequest:
    body = f"time.sleep(1); return {2 + number % 2} * x  # {number}"
    source = f"import time\ndef double(x): {body}"
    return pb.ScoreRequest(completion=source, function=_TESTS)


if __name__ == "__main__":
    main()
