"""The clipped surrogate, the KL estimate, and a batch's loss from both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

LossType = Literal["grpo", "bnpo", "dapo", "dr_grpo"]


def clipped_surrogate(
    log_probs: Sequence[float],
    old_log_probs: Sequence[float],
    advantage: float,
    *,
    lower: float = 0.2,
    upper: float = 0.2,
) -> list[float]:
    """Returns min(ratio * A, clip(ratio, 1 - lower, 1 + upper) * A) for each token.

    PPO, arXiv 1707.06347, equation 7. An upper bound that differs from the lower one is the
    clip-higher of DAPO, arXiv 2503.14476, section 3.1. The surrogate is to be maximized: TRL's loss
    per token is its negative, with `epsilon` and `epsilon_high` as the bounds.

    Args:
        log_probs: log-probabilities of the completion's tokens under the policy, shape (T,).
        old_log_probs: the same under the policy that sampled the tokens, shape (T,).
        advantage: advantage of the completion.
        lower: how far below 1 a ratio still counts.
        upper: how far above 1 a ratio still counts.

    Returns:
        Surrogates, shape (T,).

    Raises:
        ValueError: the lengths differ, or a bound is out of range.
    """
    if not 0.0 <= lower <= 1.0 or upper < 0.0:
        raise ValueError(f"lower: must be 0 to 1, and upper at least 0: {lower}, {upper}")
    differences = _differences(log_probs, old_log_probs, "old_log_probs")
    ratios = [_exp(difference) for difference in differences]
    return [_surrogate(ratio, advantage, 1.0 - lower, 1.0 + upper) for ratio in ratios]


def k3_kl(
    log_probs: Sequence[float],
    reference_log_probs: Sequence[float],
    old_log_probs: Sequence[float] | None = None,
) -> list[float]:
    """Returns r - 1 - log r for each token, where r is the ratio of reference to policy.

    Schulman's estimator k3 of KL(policy || reference), http://joschu.net/blog/kl-approx.html:
    unbiased for tokens that the policy sampled, and never negative. Tokens that an older policy
    sampled are weighted by the ratio of policy to older policy (DeepSeek-V3.2, arXiv 2512.02556),
    as TRL does by default (`use_bias_correction_kl`).

    Args:
        log_probs: log-probabilities of the completion's tokens under the policy, shape (T,).
        reference_log_probs: the same under the reference model, shape (T,).
        old_log_probs: the same under the policy that sampled the tokens, shape (T,), if that was
            another policy.

    Returns:
        Estimates in nats, shape (T,).

    Raises:
        ValueError: the lengths differ.
    """
    differences = _differences(reference_log_probs, log_probs, "reference_log_probs")
    estimates = [_k3(difference) for difference in differences]
    if old_log_probs is None:
        return estimates
    changes = _differences(log_probs, old_log_probs, "old_log_probs")
    return [k3 and k3 * _exp(change) for k3, change in zip(estimates, changes, strict=True)]


def batch_loss(
    token_losses: Sequence[Sequence[float]],
    loss_type: LossType = "dapo",
    *,
    max_completion_length: int | None = None,
) -> float:
    """Returns the loss of a batch that is computed at once, by the name of TRL's `loss_type`.

    grpo      mean over completions of the mean over tokens (arXiv 2402.03300, equation 3)
    bnpo      mean over the batch's tokens
    dapo      the same; TRL's own differs from bnpo if a batch is accumulated (arXiv 2503.14476)
    dr_grpo   sum over tokens / (completions * max_completion_length) (arXiv 2503.20783)

    Args:
        token_losses: losses of each completion's tokens, ragged, shape (B, T): the negative
            surrogate, plus the KL estimate times its coefficient if there is one.
        loss_type: how to average.
        max_completion_length: the divisor of dr_grpo, in tokens.

    Raises:
        ValueError: there is no completion, or dr_grpo has no length.
    """
    if not token_losses:
        raise ValueError("token_losses: must have at least one completion")
    total = math.fsum(loss for losses in token_losses for loss in losses)
    if loss_type == "grpo":
        means = [math.fsum(losses) / max(1, len(losses)) for losses in token_losses]
        return math.fsum(means) / len(means)
    if loss_type == "dr_grpo":
        if max_completion_length is None or max_completion_length < 1:
            raise ValueError("max_completion_length: dr_grpo needs one, at least 1")
        return total / (len(token_losses) * max_completion_length)
    return total / max(1, sum(len(losses) for losses in token_losses))


def _differences(left: Sequence[float], right: Sequence[float], name: str) -> list[float]:
    if len(left) != len(right):
        raise ValueError(f"{name}: must be as many as log_probs: {len(left)} and {len(right)}")
    return [one - other for one, other in zip(left, right, strict=True)]


def _surrogate(ratio: float, advantage: float, lowest: float, highest: float) -> float:
    if advantage == 0.0:  # if a ratio is infinite, the product would be NaN
        return 0.0
    return min(ratio * advantage, min(max(ratio, lowest), highest) * advantage)


def _k3(log_ratio: float) -> float:
    if log_ratio > 1.0:
        return _exp(log_ratio) - 1.0 - log_ratio
    # expm1 keeps the digits if the policies are close; rounding may still yield less than 0.
    return max(0.0, math.expm1(log_ratio) - log_ratio)


def _exp(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf
