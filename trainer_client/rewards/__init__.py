"""Reward functions in TRL's calling convention: lists in, one reward or None a completion out."""

from trainer_client.rewards.execution import RemoteReward, RewardFunction, remote_reward

__all__ = ["RemoteReward", "RewardFunction", "remote_reward"]
