"""Sets the rule that makes rewards of verdicts, from the options that name it."""

from __future__ import annotations

from typing import Literal, get_args

from codereward.v1 import reward_service_pb2 as pb

Policy = Literal["all_or_nothing", "fraction", "weighted"]

_POLICIES: tuple[str, ...] = get_args(Policy)


def set_reward_rule(
    request: pb.ScoreRequest, policy: str | None, compile_bonus: float, format_bonus: float
) -> None:
    """Sets the given parts of a reward policy; a task's own rule decides the others.

    Args:
        request: the fields that every request gets.
        policy: one of `Policy`, or None.
        compile_bonus: see `RewardPolicy` in the protocol; 0 is none.
        format_bonus: the reward of a completion with a code block that does not compile; 0 is none.

    Raises:
        ValueError: there is no such policy, or a bonus is not from 0 to 1.
    """
    for name, bonus in (("compile_bonus", compile_bonus), ("format_bonus", format_bonus)):
        if not 0.0 <= bonus <= 1.0:
            raise ValueError(f"{name} must be from 0 to 1, not {bonus}")
    if policy is not None and policy not in _POLICIES:
        raise ValueError(f"no policy {policy!r}; there are {', '.join(_POLICIES)}")
    if policy is not None:
        kind = pb.RewardPolicyKind.Value(f"REWARD_POLICY_KIND_{policy.upper()}")
        request.reward_policy.kind = kind
    if compile_bonus:
        request.reward_policy.compile_bonus = compile_bonus
    if format_bonus:
        request.reward_policy.format_bonus = format_bonus
