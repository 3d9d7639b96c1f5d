"""The trainer's side of Reward Server: sends completions and receives rewards.

It needs only gRPC and protobuf. Rewards are in `rewards`, `reward-train` in `trl`.
"""

from trainer_client.async_client import AsyncRewardClient
from trainer_client.errors import (
    CallError,
    ConfigError,
    RewardClientError,
    RewardLostError,
    TaskError,
)
from trainer_client.requests import LazyRequest
from trainer_client.rewards.execution import RemoteReward, remote_reward
from trainer_client.score import Integrity, Score, ScoreError, TestOutcome, TestResult, Verdict
from trainer_client.sync_client import RewardClient
from trainer_client.transport.channel import Connection, Tls

__all__ = [
    "AsyncRewardClient",
    "CallError",
    "ConfigError",
    "Connection",
    "Integrity",
    "LazyRequest",
    "RemoteReward",
    "RewardClient",
    "RewardClientError",
    "RewardLostError",
    "Score",
    "ScoreError",
    "TaskError",
    "TestOutcome",
    "TestResult",
    "Tls",
    "Verdict",
    "remote_reward",
]
