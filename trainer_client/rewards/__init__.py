"""Reward functions in TRL's calling convention: they take lists and return one reward or None each.

    execution   remote_reward: a server runs the completion against tests
    math        math_reward: a server compares the answer symbolically
    answers     correct text and correct numbers
    formats     the form of the text; `patterns` for a form of your own
    length      length, and repetition
    ensemble    one reward from several, bounds, and other options under another name

They are called as `f(prompts, completions, **columns)`. Options are keyword-only parameters, which
`with_options` sets; a column of a data set with the same name does not change them. Rewards that
need preparation are made by a function, whose arguments are their options.
"""

from trainer_client.rewards.answers import (
    correctness_reward,
    exact_answer_reward,
    int_reward,
    numeric_tolerance_reward,
)
from trainer_client.rewards.ensemble import clipped, ensemble, with_options
from trainer_client.rewards.execution import RemoteReward, remote_reward
from trainer_client.rewards.formats import (
    soft_format_reward,
    strict_format_reward,
    think_answer_format_reward,
    xmlcount_reward,
)
from trainer_client.rewards.judged import RewardFunction
from trainer_client.rewards.length import length_reward, overlong_penalty, repetition_penalty
from trainer_client.rewards.math import MathReward, math_reward
from trainer_client.rewards.patterns import pattern_reward

__all__ = [
    "MathReward",
    "RemoteReward",
    "RewardFunction",
    "clipped",
    "correctness_reward",
    "ensemble",
    "exact_answer_reward",
    "int_reward",
    "length_reward",
    "math_reward",
    "numeric_tolerance_reward",
    "overlong_penalty",
    "pattern_reward",
    "remote_reward",
    "repetition_penalty",
    "soft_format_reward",
    "strict_format_reward",
    "think_answer_format_reward",
    "with_options",
    "xmlcount_reward",
]
