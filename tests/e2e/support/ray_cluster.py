"""A Ray cluster of several nodes on this machine, on loopback alone."""

from __future__ import annotations

import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

# Ray reports its use to its makers unless told not to, looks for the address of a network card, and
# gives up if a busy machine takes long.
_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_raylet_start_wait_time_s": "120",
    "RAY_agent_register_timeout_ms": "120000",
}
# A lost node is noticed in 3 s, and not in 15.
_SOON = {"RAY_health_check_period_ms": "1000", "RAY_health_check_failure_threshold": "3"}
_PORTS = (
    "dashboard_agent_listen_port",
    "metrics_agent_port",
    "metrics_export_port",
    "runtime_env_agent_port",
)


class RayCluster:
    """A head node that runs nothing but registries, and nodes with two CPUs each."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        head = {**self._arguments(), "num_cpus": 0, "no_monitor": True}
        self._cluster = Cluster(initialize_head=True, head_node_args=head, shutdown_at_exit=False)

    @property
    def address(self) -> str:
        """Where drivers connect."""
        return str(self._cluster.address)

    def add_node(self) -> None:
        """Starts a node."""
        self._cluster.add_node(**self._arguments(), num_cpus=2)

    def lose_node(self, node_id: str) -> None:
        """Kills a node's processes, without a warning."""
        node = next(one for one in self._cluster.worker_nodes if one.node_id == node_id)
        self._cluster.remove_node(node, allow_graceful=False)

    def close(self) -> None:
        """Ends all nodes."""
        self._cluster.shutdown()

    def _arguments(self) -> dict[str, Any]:
        return {
            "node_ip_address": "127.0.0.1",
            "include_dashboard": False,
            "include_log_monitor": False,
            "object_store_memory": 80 << 20,
            **dict(zip(_PORTS, _free_ports(len(_PORTS)), strict=True)),
        }


@contextmanager
def ray_cluster(nodes: int, *, notices_soon: bool = True) -> Iterator[RayCluster]:
    """Starts a cluster, of which this process is a driver for the length of the block.

    Args:
        nodes: how many there are besides the head.
        notices_soon: whether Ray asks more often than usual if its nodes are alive.
    """
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        temporary = Path(tempfile.mkdtemp(prefix="ray-"))  # short, since it holds sockets
        stack.callback(shutil.rmtree, temporary, ignore_errors=True)
        for name, value in {**_ENVIRONMENT, **(_SOON if notices_soon else {})}.items():
            patch.setenv(name, value)
        patch.setenv("RAY_TMPDIR", str(temporary))
        patch.setenv("PYTHONPATH", str(_without_slow_import(temporary)), prepend=":")
        import ray
        from ray._private import ray_constants

        patch.setattr(ray_constants, "ENABLE_RAY_CLUSTER", False)
        cluster = RayCluster()
        stack.callback(cluster.close)
        for _ in range(nodes):
            cluster.add_node()
        ray.init(cluster.address, log_to_driver=False)
        stack.callback(ray.shutdown)
        patch.setenv("RAY_ADDRESS", cluster.address)
        yield cluster


def _without_slow_import(folder: Path) -> Path:
    """Returns a folder that spares each of Ray's processes two seconds of computing.

    jsonschema, which Ray imports, tries to import a parser that a development tool brings along.
    """
    (folder / "modules").mkdir()
    (folder / "modules" / "rfc3987_syntax.py").write_text("raise ImportError('is not needed')\n")
    return folder / "modules"


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
