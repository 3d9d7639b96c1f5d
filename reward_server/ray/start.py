"""Starts, finds and stops the servers of a name; what a driver calls."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import ray
from ray.util.placement_group import PlacementGroup

from reward_server.errors import SettingsError, StartError
from reward_server.ray.plan import NAMESPACE, Plan, actor_name, names_credentials
from reward_server.ray.registry import RegistryActor

_HEAD = "node:__internal_head__"
_ANSWER_SECONDS = 20.0
_FAILED_STOP_SECONDS = 10.0
_GONE_SECONDS = 20.0
_RESTART_SECONDS = 60.0
_RETRY_SECONDS = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerState:
    """What is known of one server.

    Args:
        address: `host:port`; "" while it does not serve.
        node_id: the id of its node in Ray.
        pid: the process id of the server on that node; 0 while there is none.
        problem: why it does not serve; "" if it does.
    """

    address: str = ""
    node_id: str = ""
    pid: int = 0
    problem: str = ""


class Servers:
    """The running servers of a name; made by `start` and `find`. The end of a `with` block stops
    them.

    Args:
        name: their name.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def target(self) -> str:
        """The target of clients."""
        return f"ray://{self.name}"

    def states(self) -> list[ServerState]:
        """Returns what is known of each server.

        Raises:
            StartError: they were stopped, or what knows them does not run again in 60 s.
        """
        found = _asked_for_states(self.name)
        return [
            ServerState(**{name: value for name, value in state.items() if name != "certificate"})
            for state in found
        ]

    def stop(self, timeout_seconds: float = 60.0) -> None:
        """Drains and ends all servers; does nothing if they were stopped.

        Args:
            timeout_seconds: time after which they are ended at once.
        """
        _stop(self.name, timeout_seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def start(
    name: str,
    *,
    nodes: int | Sequence[str],
    cpus: int,
    resources: Mapping[str, float] | None = None,
    settings: Mapping[str, Any] | None = None,
    timeout_seconds: float = 180.0,
) -> Servers:
    """Starts a server on each of several nodes, and returns when all of them serve.

    The servers run until they are stopped, even after this program has ended. If a node is lost,
    its server is started on another node as soon as one has room. If the settings name no
    certificates and no tokens, the servers get some that are made for them, and clients in the
    cluster get what they need together with the address.

    Args:
        name: clients find the servers by the target `ray://NAME`.
        nodes: the number of nodes, or their addresses. If a node is given by its address and is
            lost, its server waits for that node.
        cpus: CPUs that Ray reserves for each server. It has as many slots, unless the settings
            say otherwise.
        resources: resources of Ray that a node must have, such as `{"reward_node": 1}`.
        settings: settings of the servers, such as `{"drain_seconds": 10}`. Paths are those of the
            nodes.
        timeout_seconds: time in which all servers must have started to serve.

    Raises:
        SettingsError: an argument is wrong, or servers of this name run already.
        StartError: there are not enough nodes, or a server does not start. Nothing is left running.
        ConnectionError: this process is in no Ray cluster, and there is none on this machine.

    Examples:
        >>> import reward_server.ray
        >>> from trainer_client import remote_reward
        >>> with reward_server.ray.start("rewards", nodes=2, cpus=16) as servers:
        ...     reward = remote_reward(servers.target, task="mbpp")
        ...     train(reward)
    """
    chosen = dict(settings or {})
    plan = Plan(
        name=name,
        nodes=nodes if isinstance(nodes, int) else tuple(nodes),
        cpus=cpus,
        resources=dict(resources or {}),
        settings=chosen,
        token="" if names_credentials(chosen) else secrets.token_urlsafe(32),
    )
    _join()
    registry = _new_registry(plan)
    try:
        _begin(registry, plan, timeout_seconds)
    except BaseException:
        _stop(name, _FAILED_STOP_SECONDS)
        raise
    return Servers(name)


def _begin(registry: Any, plan: Plan, seconds: float) -> None:
    _clear(plan.name)  # what somebody left who ended a registry by other means
    try:
        problem = ray.get(registry.begin.remote(seconds), timeout=seconds + _ANSWER_SECONDS)
    except ray.exceptions.RayError as error:
        raise StartError(f"Ray does not run the servers: {error}") from error
    if problem:
        raise StartError(problem)


def find(name: str) -> Servers:
    """Returns the running servers of a name.

    Raises:
        StartError: there are none.
        ConnectionError: this process is in no Ray cluster, and there is none on this machine.
    """
    _join()
    _registry(name)
    return Servers(name)


def _stop(name: str, seconds: float) -> None:
    servers = _servers(name)
    ending = [server.stop.remote() for server in servers.values()]
    if ending:
        ray.wait(ending, num_returns=len(ending), timeout=seconds)
    _clear(name)
    registry = _actor(actor_name(name))
    if registry is not None:
        ray.kill(registry, no_restart=True)
    deadline = time.monotonic() + _GONE_SECONDS
    while any(map(_actor, [actor_name(name), *servers])) and time.monotonic() < deadline:
        time.sleep(0.05)


def _clear(name: str) -> None:
    """Ends the actors of servers and gives their resources back; their servers end with them."""
    for server in _servers(name).values():
        ray.kill(server, no_restart=True)
    for group in ray.util.placement_group_table().values():
        if group["name"] == actor_name(name) and group["state"] != "REMOVED":
            found = ray.PlacementGroupID(bytes.fromhex(group["placement_group_id"]))
            ray.util.remove_placement_group(PlacementGroup(found))


def _servers(name: str) -> dict[str, Any]:
    """Returns the actors of the servers of a name."""
    prefix = actor_name(name, 0).removesuffix("0")
    keys = [
        one["name"]
        for one in ray.util.list_named_actors(all_namespaces=True)
        if one["namespace"] == NAMESPACE and one["name"].startswith(prefix)
    ]
    return {key: actor for key in keys if (actor := _actor(key)) is not None}


def _join() -> None:
    if not ray.is_initialized():
        ray.init(os.environ.get("RAY_ADDRESS", "auto"))


def _new_registry(plan: Plan) -> Any:
    options = {
        "name": actor_name(plan.name),
        "namespace": NAMESPACE,
        "lifetime": "detached",
        "max_restarts": -1,
        "max_concurrency": 64,
        "num_cpus": 0,
        "resources": {_HEAD: 0.001},
    }
    try:
        return ray.remote(RegistryActor).options(**options).remote(plan)
    except ValueError:
        raise SettingsError(
            f"name: servers named {plan.name!r} run already; stop them first, "
            f"by `reward_server.ray.find({plan.name!r}).stop()`, or choose another name"
        ) from None


def _asked_for_states(name: str) -> list[dict[str, Any]]:
    """Returns the states that the registry knows; waits while Ray starts it again."""
    deadline = time.monotonic() + _RESTART_SECONDS
    while True:
        try:
            found: list[dict[str, Any]] = ray.get(
                _registry(name).states.remote(), timeout=_ANSWER_SECONDS
            )
            return found
        except (ray.exceptions.RayActorError, ray.exceptions.GetTimeoutError) as error:
            if time.monotonic() > deadline:
                problem = f"the registry of the servers named {name!r} does not answer: {error}"
                raise StartError(problem) from error
            time.sleep(_RETRY_SECONDS)


def _registry(name: str) -> Any:
    actor = _actor(actor_name(name))
    if actor is None:
        raise StartError(f"no servers named {name!r} run in this Ray cluster")
    return actor


def _actor(key: str) -> Any:
    try:
        return ray.get_actor(key, namespace=NAMESPACE)
    except ValueError:
        return None
