"""Rewards by execution: a reward server runs the completion against tests."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from typing import Literal, Unpack, overload

from codereward.v1 import reward_service_pb2 as pb
from trainer_client import tasks
from trainer_client.reward_rule import Policy, set_reward_rule
from trainer_client.rewards.judged import (
    BlockingRewardFunction,
    Judged,
    RewardFunction,
    TaskTemplates,
    as_blocking_function,
    as_function,
    default_name,
)
from trainer_client.transport.channel import ConnectionOptions, Target, addresses

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


@overload
def remote_reward(
    target: Target,
    *,
    task: Task,
    blocking: Literal[False] = False,
    **options: Unpack[RemoteRewardOptions],
) -> RewardFunction: ...


@overload
def remote_reward(
    target: Target,
    *,
    task: Task,
    blocking: Literal[True],
    **options: Unpack[RemoteRewardOptions],
) -> BlockingRewardFunction: ...


def remote_reward(
    target: Target,
    *,
    task: Task,
    blocking: bool = False,
    **options: Unpack[RemoteRewardOptions],
) -> RewardFunction | BlockingRewardFunction:
    """Makes a reward function for `GRPOTrainer(reward_funcs=...)`.

    Args:
        target: the servers; see `Connection`.
        task: the source of a completion's tests; see `RemoteReward`.
        blocking: whether the function returns the rewards, for trainers that do not await, such as
            TRL's `OnlineDPOTrainer`. By default it is an `async` function, which `GRPOTrainer` and
            `RLOOTrainer` await. Where one trainer calls several functions, only those with `async`
            run at the same time.
        **options: the options of `RemoteReward`, and those of `Connection`.

    Raises:
        TypeError: there is no such option.
        ValueError: see `RemoteReward`.

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

        A trainer that does not await calls it so.

        >>> reward = remote_reward(
        ...     "localhost:50051", task=tasks.templates("mbpp", rows), blocking=True
        ... )
        >>> reward(prompts, completions, task_id=["1", "1"])
        [1.0, 0.0]
    """
    made = RemoteReward(target, task=task, **options)
    return as_blocking_function(made) if blocking else as_function(made)


class RemoteReward(Judged):
    """The object that `remote_reward` wraps. Pass it to `AsyncGRPOTrainer`, which pickles rewards.

    Args:
        target: the servers; see `Connection`.
        task: the source of a completion's tests. It is a mapping of templates by task id
            (`tasks.templates`), the name of a task format, or a function that makes a request of a
            row. Templates are looked up by the column `id_column`; so the tests need not be in the
            data set, which TRL prints. In the other two cases the request is made from the row's
            columns. If the row has no column `prompt`, and the prompt that TRL passes is a text,
            this text is added as the column `prompt`.
        name: `__name__`, under which TRL logs. Two functions with the same name would log under the
            same keys. So a default name gets a number if a reward with other options has it.
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
        **connection: the options of `Connection`.

    Raises:
        TypeError: there is no such option.
        ValueError: there is no such task format or policy, a bonus is out of its range, or the
            reward policy is given twice.

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
        rule = _with_rule(defaults, policy, compile_bonus, format_bonus)
        name = name or _default_name(target, task, id_column, rule)
        super().__init__(
            target,
            name=name,
            templates=TaskTemplates(name=name, task=task, id_column=id_column),
            id_column=id_column,
            defaults=rule,
            failure_budget=failure_budget,
            columns=columns,
            **connection,
        )


def _default_name(target: Target, task: Task, id_column: str, rule: pb.ScoreRequest) -> str:
    base = f"{task if isinstance(task, str) else 'code'}_reward"
    rest = (addresses(target), id_column, rule.SerializeToString(deterministic=True))
    return default_name(base, (_identity(task), *rest))


def _identity(task: Task) -> Hashable:
    """Returns what is equal for the tasks of a notebook's cell, and of its next run."""
    if isinstance(task, Mapping):
        return frozenset(task)
    return getattr(task, "__code__", task)


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
