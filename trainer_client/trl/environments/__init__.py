"""Environments and tools for agents that TRL trains.

CodeEnvironment      runs programs, and submits a solution
SessionEnvironment   a shell, an interpreter and files
PythonEnvironment    an interpreter that keeps its variables; the last message is judged
environment_reward   the reward of all: one call scores all episodes of a batch
python_tool          a tool without an environment, which keeps nothing

None of them needs torch; TRL calls them.
"""

from trainer_client.tools.python import python_tool
from trainer_client.tools.words import Feedback
from trainer_client.trl.environments.code_environment import CodeEnvironment
from trainer_client.trl.environments.python_environment import PythonEnvironment
from trainer_client.trl.environments.reward import EnvironmentReward, environment_reward
from trainer_client.trl.environments.session_environment import SessionEnvironment

__all__ = [
    "CodeEnvironment",
    "EnvironmentReward",
    "Feedback",
    "PythonEnvironment",
    "SessionEnvironment",
    "environment_reward",
    "python_tool",
]
