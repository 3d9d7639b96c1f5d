"""The trainer's side of Reward Server: sends completions and receives rewards.

It needs only gRPC and protobuf. Reward functions are in `rewards`, and `reward-train` is in `trl`.
"""

from trainer_client.async_client import AsyncRewardClient
from trainer_client.errors import (
    CallError,
    ConfigError,
    RewardClientError,
    RewardLostError,
    SessionEndedError,
    SessionFileError,
    SessionProcessError,
    TaskError,
)
from trainer_client.requests import LazyRequest
from trainer_client.rewards.execution import RemoteReward, remote_reward
from trainer_client.score import Integrity, Score, ScoreError, TestOutcome, TestResult, Verdict
from trainer_client.sessions.async_session import AsyncCommand, AsyncSession
from trainer_client.sessions.results import (
    CodeOutcome,
    CodeResult,
    ExecResult,
    FileInfo,
    FileType,
    OutputChunk,
)
from trainer_client.sessions.sync_session import Command, Session
from trainer_client.sync_client import RewardClient
from trainer_client.transport.channel import Connection, Tls

__all__ = [
    "AsyncCommand",
    "AsyncRewardClient",
    "AsyncSession",
    "CallError",
    "CodeOutcome",
    "CodeResult",
    "Command",
    "ConfigError",
    "Connection",
    "ExecResult",
    "FileInfo",
    "FileType",
    "Integrity",
    "LazyRequest",
    "OutputChunk",
    "RemoteReward",
    "RewardClient",
    "RewardClientError",
    "RewardLostError",
    "Score",
    "ScoreError",
    "Session",
    "SessionEndedError",
    "SessionFileError",
    "SessionProcessError",
    "TaskError",
    "TestOutcome",
    "TestResult",
    "Tls",
    "Verdict",
    "remote_reward",
]
