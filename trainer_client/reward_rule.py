"""How settings say what verdicts are worth."""

from __future__ import annotations

from codereward.v1 import reward_service_pb2 as pb


def set_reward_rule(
    request: pb.ScoreRequest, policy: str | None, compile_bonus: float, format_bonus: float
) -> None:
    """Sets what is given of a reward policy; a task's own stays where nothing is.

    Args:
        request: the fields that every request gets.
        policy: a kind of the contract's in lower case, such as "fraction".
        compile_bonus: see `RewardPolicy` of the contract, as for the next; 0 is none.
        format_bonus: of what has a code block.
    """
    if policy is not None:
        kind = pb.RewardPolicyKind.Value(f"REWARD_POLICY_KIND_{policy.upper()}")
        request.reward_policy.kind = kind
    if compile_bonus:
        request.reward_policy.compile_bonus = compile_bonus
    if format_bonus:
        request.reward_policy.format_bonus = format_bonus
