"""Rewards for ART's trajectories: a rollout of yours ends with `return await judged(...)`.

The environment says where the server and the tasks are; see `common.settings`.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from trainer_client.adapters.common import missing_rewards
from trainer_client.adapters.common.settings import shared_judge


class Trajectory(Protocol):
    """What is used of ART's `Trajectory`."""

    reward: float
    metrics: dict[str, Any]

    def messages(self) -> list[Any]:
        """The conversation, of which the assistant's last text is judged."""


_Trajectory = TypeVar("_Trajectory", bound=Trajectory)


async def judged(trajectory: _Trajectory, label: object) -> _Trajectory:
    """Judges a trajectory; sets its reward, and `passed` and `queue_seconds` among its metrics.

    Args:
        trajectory: which ends with the completion.
        label: tells its tests; see `common.judge`.

    Raises:
        RewardLostError: it was not judged. ART leaves such a trajectory out of its group, as often
            as the `max_exceptions` of `gather_trajectory_groups` allow.
    """
    (found,) = await shared_judge().score([trajectory.messages()], [label])
    trajectory.reward = missing_rewards.number(found, "raise")
    trajectory.metrics["passed"] = missing_rewards.passed(found)
    trajectory.metrics["queue_seconds"] = found.usage.queue_time_seconds
    return trajectory
