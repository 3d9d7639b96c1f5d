"""Rewards by execution: a reward server runs the completion against tests."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Unpack

from codereward.v1 import reward_service_pb2 as pb
from trainer_client import tasks
from trainer_client.reward_rule import Policy, set_reward_rule
from trainer_client.rewards.judged import (
    Judged,
    RewardFunction,
    TaskTemplates,
    as_function,
    default_name,
)
from trainer_client.transport.channel import ConnectionOptions, Target

Task = str | Mapping[str, pb.ScoreRequest] | Callable[[tasks.Row], pb.ScoreRequest]

TABLE_COLUMNS = ("verdict",)


class RemoteRewardOptions(ConnectionOptions, total=False):
    """The options of `remote_reward`, and those of its connection."""

    name: str
    id_column: str
    policy: Policy | None
    compile_bonus: float
    format_bonus: float
    defaults: pb.ScoreRequest | None
    failure_budget: int
    columns: Collection[str]


def remote_reward(
    target: Target,
    *,
    task: Task,
    name: str = "",
    id_column: str = "task_id",
    policy: Policy | None = None,
    compile_bonus: float = 0.0,
    format_bonus: float = 0.0,
    defaults: pb.ScoreRequest | None = None,
    failure_budget: int = 10,
    columns: Collection[str] = TABLE_COLUMNS,
    **connection: Unpack[ConnectionOptions],
) -> RewardFunction:
    """Makes a reward function for `GRPOTrainer(reward_funcs=...)`.

    Args:
        target: the servers; see `channel.Connection`, also for the other options.
        task: the source of a completion's tests. It is a mapping of templates by task id
            (`tasks.templates`), the name of a task format, or a function that makes a request of a
            row. Templates are looked up by the column `id_column`; so the tests need not be in the
            data set, which TRL prints. In the other two cases the request is made from the row's
            columns. If the row has no column `prompt`, and the prompt that TRL passes is a text,
            this text is added as the column `prompt`.
        name: `__name__`, under which TRL logs. Two functions with the same name would log under the
            same keys. So a default name gets a number when it is used again.
        id_column: the data-set column with the task's id. A row whose id is None is not judged,
            which is no failure: data sets may hold tasks of several kinds.
        policy: how outcomes of tests become a reward from 0 to 1; by default the task's own, or
            all-or-nothing if the task has none.
        compile_bonus: the least reward of a program that compiles, from 0 to 1. Only a program
            that passes every test gets 1.
        format_bonus: the reward of a completion with a code block that does not compile.
        defaults: fields for every request, such as limits, or a reward policy if none of the
            three options above is given.
        failure_budget: number of consecutive calls without a single reward after which training
            stops.
        columns: which columns of `metrics.EVERY_COLUMN` are shown in TRL's table of completions,
            beside the reward. A terminal of 80 columns has room for the verdict.

    Raises:
        ValueError: there is no such task format or policy, a bonus is out of its range, or the
            reward policy is given twice.

    Examples:
        `GRPOTrainer(reward_funcs=reward)` calls it in this way.

        >>> import asyncio
        >>> from trainer_client import remote_reward, tasks
        >>> rows = [{"task_id": 1, "test_list": ["assert double(3) == 6"]}]
        >>> reward = remote_reward("localhost:50051", task=tasks.templates("mbpp", rows))
        >>> prompts = ["Write a function double(x)."] * 2
        >>> completions = ["def double(x): return 2 * x", "def double(x): return x"]
        >>> asyncio.run(reward(prompts, completions, task_id=["1", "1"]))
        [1.0, 0.0]
    """
    return as_function(
        RemoteReward(
            target,
            task=task,
            name=name,
            id_column=id_column,
            policy=policy,
            compile_bonus=compile_bonus,
            format_bonus=format_bonus,
            defaults=defaults,
            failure_budget=failure_budget,
            columns=columns,
            **connection,
        )
    )


class RemoteReward(Judged):
    """The object that `remote_reward` wraps. Pass it to `AsyncGRPOTrainer`, which pickles rewards.

    Examples:
        >>> import pickle
        >>> from trainer_client import RemoteReward
        >>> reward = RemoteReward("localhost:50051", task="mbpp", name="tests")
        >>> pickle.loads(pickle.dumps(reward)).__name__
        'tests'
    """

    def __init__(
        self,
        target: Target,
        *,
        task: Task,
        name: str = "",
        id_column: str = "task_id",
        policy: Policy | None = None,
        compile_bonus: float = 0.0,
        format_bonus: float = 0.0,
        defaults: pb.ScoreRequest | None = None,
        failure_budget: int = 10,
        columns: Collection[str] = TABLE_COLUMNS,
        **connection: Unpack[ConnectionOptions],
    ) -> None:
        if isinstance(task, str):
            tasks.named(task)
        name = name or default_name(f"{task if isinstance(task, str) else 'code'}_reward")
        super().__init__(
            target,
            name=name,
            templates=TaskTemplates(name=name, task=task, id_column=id_column),
            id_column=id_column,
            defaults=_with_rule(defaults, policy, compile_bonus, format_bonus),
            failure_budget=failure_budget,
            columns=columns,
            **connection,
        )


def _with_rule(
    defaults: pb.ScoreRequest | None,
    policy: Policy | None,
    compile_bonus: float,
    format_bonus: float,
) -> pb.ScoreRequest:
    """Returns the fields of every request, with the reward rule that the options set."""
    request = pb.ScoreRequest()
    set_reward_rule(request, policy, compile_bonus, format_bonus)
    if defaults is None:
        return request
    if request.HasField("reward_policy") and defaults.HasField("reward_policy"):
        raise ValueError("defaults.reward_policy is set; leave out policy and the bonuses")
    request.MergeFrom(defaults)
    return request
