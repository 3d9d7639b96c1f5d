"""The reward of episodes: one call scores all episodes of a batch."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Unpack

from trainer_client import tasks
from trainer_client.errors import RewardLostError
from trainer_client.rewards.execution import RemoteReward, RemoteRewardOptions, Task
from trainer_client.rewards.judged import Template, with_text
from trainer_client.score import Score, Verdict
from trainer_client.tools.sandbox import Sandbox
from trainer_client.transport.channel import Target
from trainer_client.trl.environments.episode import Environment, Episode

_COLUMN = "environments"
_MOST_THREADS = 64


def environment_reward(
    target: Target, *, task: Task, **options: Unpack[RemoteRewardOptions]
) -> EnvironmentReward:
    """Makes the reward of `CodeEnvironment` and `SessionEnvironment`.

    It belongs to the environments and into `reward_funcs`. It scores all episodes of a batch in one
    call: the last submission of each, or what its session holds at the end. If a model submitted
    nothing and used no session, its last message is judged, as by `remote_reward`. An episode whose
    tools did not work because of an outage has no reward.

    Args:
        target: the servers; see `channel.Connection`.
        task: the source of an episode's tests; see `remote_reward`.
        **options: see `remote_reward`.

    Raises:
        ValueError: see `remote_reward`.

    Examples:
        TRL makes the environments, and passes them to the reward.

        >>> import asyncio
        >>> from functools import partial
        >>> from trainer_client import tasks
        >>> from trainer_client.trl.environments import CodeEnvironment, environment_reward
        >>> rows = [{"task_id": 1, "test_list": ["assert double(3) == 6"]}]
        >>> reward = environment_reward("localhost:50051", task=tasks.templates("mbpp", rows))
        >>> environment_factory = partial(CodeEnvironment, reward, feedback="verdict")
        >>> environment = environment_factory()
        >>> environment.reset(task_id="1")
        >>> print(environment.submit("def double(x): return x"))
        A test failed.
        [submissions left: 2]
        >>> print(environment.submit("def double(x): return x + x"))
        All tests passed. The task is over. End your turn.
        >>> asyncio.run(reward(["Write double(x)."], [""], environments=[environment]))
        [1.0]
    """
    return EnvironmentReward(target, task=task, **options)


class EnvironmentReward(RemoteReward):
    """The object that `environment_reward` returns."""

    @functools.cached_property
    def sandbox(self) -> Sandbox:
        """The connection of the environments' tools."""
        return Sandbox(self._client)

    def begin(self, row: tasks.Row) -> Episode:
        """Returns a new episode of a row's task."""
        found = self.template(row)
        if isinstance(found, Score):
            return Episode(refusal=found)
        return Episode(template=found)

    async def __call__(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        *,
        log_extra: Callable[[str, list[Any]], None] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """Returns a reward for each episode, or None if it was not judged.

        Besides the metrics of `remote_reward`, it logs

        turns                     messages of the model in an episode, on average
        submissions               submissions in an episode, on average
        first_submission_passed   share of episodes whose first submission passed, of those in which
                                  the model was told so

        Raises:
            RewardLostError: the trainer passes no environments, nothing was judged for too long, or
                a task can never be judged.
        """
        if _COLUMN not in columns:
            raise RewardLostError(
                "the trainer passes no `environments`: set `environment_factory` of GRPOTrainer"
            )
        rewards = await super().__call__(
            prompts, completions, log_extra=log_extra, log_metric=log_metric, **columns
        )
        if log_metric is not None:
            episodes = [one.episode for one in columns[_COLUMN] if _is_ours(one)]
            for key, value in _metrics(episodes, completions):
                log_metric(f"{self.__name__}/{key}", value)
        return rewards

    async def _score(self, rows: Sequence[tasks.Row], completions: Sequence[Any]) -> list[Score]:
        await _settle([row[_COLUMN].episode for row in rows if _is_ours(row[_COLUMN])])
        return await super()._score(rows, completions)

    def _prepare(self, row: tasks.Row, completion: object) -> tuple[Template, str] | Score:
        environment = row[_COLUMN]
        if not _is_ours(environment):
            return self.not_for_this()
        episode: Episode = environment.episode
        known = episode.refusal or episode.failure or episode.score
        if known is not None:
            return known
        if episode.template is None:
            return super()._prepare(row, completion)
        if episode.submission is not None:
            return episode.template, episode.submission
        return with_text(episode.template, completion)


def _metrics(
    episodes: Sequence[Episode], completions: Sequence[Any]
) -> Iterator[tuple[str, float]]:
    """Yields name and value of each metric of episodes."""
    if not episodes:
        return
    yield "turns", sum(map(_turns, completions)) / len(completions)
    yield "submissions", sum(episode.submissions for episode in episodes) / len(episodes)
    first = [episode.verdicts[0] is Verdict.PASSED for episode in episodes if episode.verdicts]
    if first:
        yield "first_submission_passed", sum(first) / len(first)


def _turns(completion: Any) -> int:
    if isinstance(completion, str):
        return 1
    return sum(message.get("role") == "assistant" for message in completion)


def _is_ours(environment: object) -> bool:
    return isinstance(environment, Environment)


async def _settle(episodes: Sequence[Episode]) -> None:
    """Judges what the sessions of episodes hold, all at the same time."""
    open_ones = [episode for episode in episodes if episode.settle is not None]
    if not open_ones:
        return
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(min(len(open_ones), _MOST_THREADS)) as threads:
        settles = [loop.run_in_executor(threads, _settled, episode) for episode in open_ones]
        await asyncio.gather(*settles)


def _settled(episode: Episode) -> None:
    if episode.settle is not None:
        episode.score, episode.is_over, episode.settle = episode.settle(), True, None
