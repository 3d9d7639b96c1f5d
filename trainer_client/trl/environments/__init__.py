"""Environments and tools for agents that TRL trains.

CodeEnvironment      runs programs, and submits a solution
SessionEnvironment   a shell, an interpreter and files
environment_reward   the reward of both: one call scores all episodes of a batch
python_tool          a tool without an environment

None of them needs torch; TRL calls them.
"""

from trainer_client.tools.python import python_tool
from trainer_client.tools.words import Feedback
from trainer_client.trl.environments.code_environment import CodeEnvironment
from trainer_client.trl.environments.reward import EnvironmentReward, environment_reward
from trainer_client.trl.environments.session_environment import SessionEnvironment

__all__ = [
    "CodeEnvironment",
    "EnvironmentReward",
    "Feedback",
    "SessionEnvironment",
    "environment_reward",
    "python_tool",
]
