"""Rewards by execution: a reward server judges, the trainer awaits.

TRL calls a reward function with lists: prompts, completions and each data-set column, one item a
completion. It may call from one event loop after another, never limits the time, dies of any
exception, and leaves a row out of its group's baseline when the reward is None.
"""

from __future__ import annotations

import logging
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, Unpack

from codereward.v1 import reward_service_pb2 as pb
from trainer_client import score, tasks
from trainer_client.channel import ConnectionOptions, Target
from trainer_client.client import AsyncRewardClient
from trainer_client.errors import RewardLostError, TaskError
from trainer_client.rewards.metrics import Metrics
from trainer_client.score import Score
from trainer_client.text import completion_text

Task = str | Mapping[str, pb.ScoreRequest] | Callable[[tasks.Row], pb.ScoreRequest]

# A group with one reward near 1e30 loses its gradient without a word.
_GREATEST_REWARD = 1e6
_logger = logging.getLogger(__name__)
_default_names: Counter[str] = Counter()


class RewardFunction(Protocol):
    """What TRL awaits."""

    __name__: str

    async def __call__(
        self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Any
    ) -> list[float | None]:
        """Gives a reward for each completion, None where it was not judged."""


def remote_reward(
    target: Target,
    *,
    task: Task,
    name: str = "",
    id_column: str = "task_id",
    defaults: pb.ScoreRequest | None = None,
    failure_budget: int = 10,
    **connection: Unpack[ConnectionOptions],
) -> RewardFunction:
    """Makes a reward function for `GRPOTrainer(reward_funcs=...)`.

    Args:
        target: the servers; see `channel.Connection`, as for all other options.
        task: where a completion's tests come from. Templates by task id (`tasks.templates`) are
            looked up with the column `id_column`; that keeps tests out of the data set, which TRL
            prints. The name of a task format, or a function from a row to a request, reads the
            row's columns, to which a text prompt is added as `prompt`.
        name: `__name__`, under which TRL logs; two functions of one name would log into each
            other, so a default name is numbered when it is used again.
        id_column: the data-set column with the task's id.
        defaults: fields for every request, such as limits or the reward policy.
        failure_budget: consecutive calls without a single reward after which training stops.

    Raises:
        ValueError: there is no such task format.
    """
    remote = RemoteReward(
        target,
        task=task,
        name=name,
        id_column=id_column,
        defaults=defaults,
        failure_budget=failure_budget,
        **connection,
    )

    # Releases of TRL before 1.11 await a function declared `async`, but no object.
    async def reward(
        prompts: Sequence[Any], completions: Sequence[Any], **columns: Any
    ) -> list[float | None]:
        return await remote(prompts, completions, **columns)

    reward.__name__ = reward.__qualname__ = remote.__name__
    return reward


class RemoteReward:
    """What `remote_reward` wraps; see there. `AsyncGRPOTrainer` pickles rewards: give it this."""

    def __init__(
        self,
        target: Target,
        *,
        task: Task,
        name: str = "",
        id_column: str = "task_id",
        defaults: pb.ScoreRequest | None = None,
        failure_budget: int = 10,
        **connection: Unpack[ConnectionOptions],
    ) -> None:
        if isinstance(task, str):
            tasks.named(task)
        self.__name__ = name or _default_name(task)
        self._client = AsyncRewardClient(target, **connection)
        self._task = task
        self._id_column = id_column
        self._defaults = defaults or pb.ScoreRequest()
        self._budget = _Budget(failure_budget)
        self._metrics = Metrics(self.__name__)

    async def __call__(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        *,
        log_extra: Callable[[str, list[Any]], None] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """Gives a reward for each completion, None where it was not judged.

        Raises:
            RewardLostError: nothing could be judged for too long, or never will be.
        """
        scores = await self._score(prompts, completions, columns)
        self._metrics.log(scores, log_metric, log_extra)
        self._budget.spend(scores)
        return [_bounded(found.reward) for found in scores]

    async def _score(
        self, prompts: Sequence[Any], completions: Sequence[Any], columns: Mapping[str, Any]
    ) -> list[Score]:
        prepared = [
            self._prepare(index, prompts, completion, columns)
            for index, completion in enumerate(completions)
        ]
        requests = [item for item in prepared if isinstance(item, pb.ScoreRequest)]
        answers = iter(await self._client.score(requests))
        return [item if isinstance(item, Score) else next(answers) for item in prepared]

    def _prepare(
        self, index: int, prompts: Sequence[Any], completion: Any, columns: Mapping[str, Any]
    ) -> pb.ScoreRequest | Score:
        """Makes the request of one row, or the score of a row that cannot be one."""
        row = {
            name: values[index] for name, values in columns.items() if _is_column(values, prompts)
        }
        if isinstance(prompts[index], str):
            row.setdefault("prompt", prompts[index])
        try:
            template = self._template(row)
        except TaskError as error:
            return score.unjudged("", "INVALID_ARGUMENT", str(error), permanent=True)
        request = tasks.fill(template, completion_text(completion), id=uuid.uuid4().hex)
        request.MergeFrom(self._defaults)
        return request

    def _template(self, row: tasks.Row) -> pb.ScoreRequest:
        if isinstance(self._task, str):
            return tasks.named(self._task)(row)
        if not isinstance(self._task, Mapping):
            return self._task(row)
        key = row.get(self._id_column)
        if str(key) not in self._task:
            problem = "is absent" if key is None else f"no template for {key!r}"
            raise TaskError(self.__name__, self._id_column, problem)
        return self._task[str(key)]


class _Budget:
    """Stops training that goes on without rewards.

    A call without a single reward spends some; any reward restores it. Before the first verdict,
    a call whose every failure is permanent is a mistake in the set-up and stops at once.
    """

    def __init__(self, calls: int) -> None:
        self._calls = calls
        self._failed = 0
        self._ever_judged = False

    def spend(self, scores: Sequence[Score]) -> None:
        """Counts a call.

        Raises:
            RewardLostError: the budget is spent.
        """
        errors = [found.error for found in scores if found.error is not None]
        if errors:
            _logger.warning("%d of %d not judged: %s", len(errors), len(scores), errors[0])
        self._ever_judged = self._ever_judged or len(errors) < len(scores)
        if not scores or any(found.reward is not None for found in scores):
            self._failed = 0
            return
        self._failed += 1
        reason = errors[0] if errors else scores[0].message
        if not self._ever_judged and all(error.permanent for error in errors):
            raise RewardLostError(f"no completion can be judged: {reason}")
        if self._failed >= self._calls:
            raise RewardLostError(f"{self._failed} calls without a reward: {reason}")


def _default_name(task: Task) -> str:
    base = f"{task if isinstance(task, str) else 'code'}_reward"
    _default_names[base] += 1
    return base if _default_names[base] == 1 else f"{base}_{_default_names[base]}"


def _bounded(reward: float | None) -> float | None:
    if reward is None:
        return None
    return max(-_GREATEST_REWARD, min(_GREATEST_REWARD, reward))


def _is_column(values: object, prompts: Sequence[Any]) -> bool:
    # Beside columns TRL hands over its own things, such as the trainer's state.
    return isinstance(values, list) and len(values) == len(prompts)
