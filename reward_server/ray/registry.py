"""The actor that has the name: it places the servers, and knows their addresses.

It runs on the head node, without which there is no cluster. If its process is lost, Ray starts it
again, and within a second the servers report their addresses to it.
"""

from __future__ import annotations

import time
from typing import Any

import ray
from ray.util.placement_group import placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from reward_server.ray.plan import NAMESPACE, Plan, actor_name
from reward_server.ray.server import ServerActor

# A server that was not heard of for so long is not listed: its node or its process is lost.
LEASE_SECONDS = 6.0


class RegistryActor:
    """Knows the servers of one name.

    Args:
        plan: what was asked for.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._states: dict[int, dict[str, Any]] = {}
        self._heard: dict[int, float] = {}

    def begin(self, seconds: float) -> str:
        """Places and starts the servers; returns "" when all serve, or why they do not."""
        deadline = time.monotonic() + seconds
        group = placement_group(
            self._plan.bundles,
            strategy="STRICT_SPREAD",
            name=actor_name(self._plan.name),
            lifetime="detached",  # else it would end with the first process of this actor
        )
        if not group.wait(seconds):
            return _no_place(self._plan)
        myself = ray.get_runtime_context().current_actor
        servers: list[Any] = [
            ray.remote(ServerActor)
            .options(
                name=actor_name(self._plan.name, index),
                namespace=NAMESPACE,
                lifetime="detached",
                max_restarts=-1,
                max_concurrency=4,
                num_cpus=self._plan.cpus,
                scheduling_strategy=PlacementGroupSchedulingStrategy(
                    group, placement_group_bundle_index=index
                ),
            )
            .remote(myself, self._plan, index)
            for index in range(self._plan.count)
        ]
        left = max(deadline - time.monotonic(), 1.0)
        problems = ray.get([server.problem.remote(left) for server in servers])
        return "\n".join(
            f"server {index}: {problem}" for index, problem in enumerate(problems) if problem
        )

    def beat(self, index: int, state: dict[str, Any]) -> None:
        """Records the report of a server, which shows that the server still runs."""
        self._states[index] = state
        self._heard[index] = time.monotonic()

    def look_up(self) -> dict[str, Any]:
        """Returns what a client needs to reach the servers that serve."""
        return {
            "token": self._plan.token,
            "servers": [
                {"address": state["address"], "certificate": state["certificate"]}
                for index in range(self._plan.count)
                if "address" in (state := self._state(index))
            ],
        }

    def states(self) -> list[dict[str, Any]]:
        """Returns what is known of each server."""
        return [self._state(index) for index in range(self._plan.count)]

    def _state(self, index: int) -> dict[str, Any]:
        silent = time.monotonic() - self._heard.get(index, 0.0)
        if index not in self._states:
            return {"problem": "it has not been heard of"}
        if silent > LEASE_SECONDS:
            return {"problem": f"it was last heard of {silent:.0f} s ago"}
        return self._states[index]


def _no_place(plan: Plan) -> str:
    free = ray.available_resources()  # type: ignore[no-untyped-call]  # has none
    return (
        f"nodes: the cluster has no place for {plan.count} servers on nodes of their own, each "
        f"with {plan.bundles[0]}; free in all are {free}"
    )
