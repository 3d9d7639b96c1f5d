"""The reward for trainers that pass columns, as TRL does; the environment configures it.

The column `task_id` names tasks of the file in CODEREWARD_TASKS. Without that file, the tasks are
read from the columns in the format CODEREWARD_FORMAT; see `settings`.
"""

from __future__ import annotations

import functools

from trainer_client import tasks
from trainer_client.adapters.common.settings import (
    PREFIX,
    AdapterSettings,
    naming_variables,
    shared_settings,
)
from trainer_client.rewards.execution import RemoteReward, Task


def shared_reward() -> RemoteReward:
    """Returns the reward that this process shares.

    Raises:
        ConfigError: the environment is wrong, or names neither tasks nor a format.
    """
    return _reward(shared_settings())


@functools.cache
def _reward(settings: AdapterSettings) -> RemoteReward:
    with naming_variables():
        return RemoteReward(
            settings.target,
            task=_task(settings),
            name="code_reward",
            defaults=settings.defaults,
            **settings.options,
        )


def _task(settings: AdapterSettings) -> Task:
    if settings.tasks is not None:
        return tasks.read_templates(settings.tasks)
    if settings.format is None:
        raise ValueError(f"{PREFIX}TASKS or {PREFIX}FORMAT must be set")
    return settings.format
