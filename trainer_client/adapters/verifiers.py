"""A reward for tasks of verifiers; prime-rl trains on their rollouts.

    [env.taskset.task.rewards.code_reward]
    fn = "trainer_client.adapters.verifiers.code_reward"

A task's field `tests` is the label, or its `id` if it has no such field; see `common.judge`.
Environment variables set the rest; see `common.settings`.
"""

from __future__ import annotations

from typing import Any, Protocol

from verifiers.v1 import (  # type: ignore[import-not-found]  # verifiers has it
    RolloutError,
    SandboxError,
    TaskError,
)

from trainer_client.adapters.common.settings import shared_judge
from trainer_client.rewards.metrics import verdict_name
from trainer_client.score import Score


class Trace(Protocol):
    """The part of a rollout's trace that is used here."""

    info: dict[str, Any]

    @property
    def last_reply(self) -> str:
        """The model's last text."""


async def code_reward(task: object, trace: Trace) -> float:
    """Judges the model's last reply; writes verdict and message to `trace.info`.

    Raises:
        SandboxError: the reply was not judged, but another attempt may succeed. verifiers marks the
            trace as not `ok`, and prime-rl does not train on it.
        TaskError: the task can never be judged.
    """
    (found,) = await shared_judge().score([trace.last_reply], [_label(task)])
    trace.info["code_reward"] = {"verdict": verdict_name(found), "message": _message(found)}
    if found.reward is None:
        raise _failure(found)
    return found.reward


def _label(task: object) -> object:
    tests = getattr(task, "tests", None)
    return getattr(task, "id", None) if tests is None else tests


def _failure(found: Score) -> RolloutError:
    permanent = found.error is None or found.error.permanent
    return (TaskError if permanent else SandboxError)(f"no reward: {_message(found)}")


def _message(found: Score) -> str:
    return found.message if found.error is None else str(found.error)
