"""The arithmetic of GRPO on plain floats, for reports and tests; it is no second trainer.

advantages    advantages from the rewards of a group
surrogate     clipped surrogates, KL estimates and a batch's loss from log-probabilities
diagnostics   groups without variance, histograms and pass@k from the rewards of a run
"""

from trainer_client.grpo.advantages import (
    batch_scaled_advantages,
    centered_advantages,
    leave_one_out_advantages,
    split_groups,
    standardized_advantages,
)
from trainer_client.grpo.diagnostics import (
    Interval,
    mean_pass_at_k,
    pass_at_1_interval,
    pass_at_k,
    reward_histogram,
    zero_variance_share,
)
from trainer_client.grpo.surrogate import LossType, batch_loss, clipped_surrogate, k3_kl

__all__ = [
    "Interval",
    "LossType",
    "batch_loss",
    "batch_scaled_advantages",
    "centered_advantages",
    "clipped_surrogate",
    "k3_kl",
    "leave_one_out_advantages",
    "mean_pass_at_k",
    "pass_at_1_interval",
    "pass_at_k",
    "reward_histogram",
    "split_groups",
    "standardized_advantages",
    "zero_variance_share",
]
