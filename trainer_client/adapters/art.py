"""Rewards for ART's trajectories: end your rollout with `return await judged(...)`.

Environment variables set the server and the tasks; see `common.settings`.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from trainer_client.adapters.common import missing_rewards
from trainer_client.adapters.common.settings import shared_judge


class Trajectory(Protocol):
    """The part of ART's `Trajectory` that is used here."""

    reward: float
    metrics: dict[str, Any]

    def messages(self) -> list[Any]:
        """The conversation; the assistant's last text is judged."""


_Trajectory = TypeVar("_Trajectory", bound=Trajectory)


async def judged(trajectory: _Trajectory, label: object) -> _Trajectory:
    """Judges a trajectory; sets its reward, and `passed` and `queue_seconds` in its metrics.

    Args:
        trajectory: the trajectory, which ends with the completion.
        label: determines the tests; see `common.judge`.

    Raises:
        RewardLostError: it was not judged. ART then leaves the trajectory out of its group, up to
            the number of `max_exceptions` of `gather_trajectory_groups`.
    """
    (found,) = await shared_judge().score([trajectory.messages()], [label])
    trajectory.reward = missing_rewards.number(found, "raise")
    trajectory.metrics["passed"] = missing_rewards.passed(found)
    trajectory.metrics["queue_seconds"] = found.usage.queue_time_seconds
    return trajectory
