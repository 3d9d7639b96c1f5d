"""The arithmetic of `trainer_client.grpo` gives TRL's own numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import SimpleNamespace

import pytest

from tests.e2e.support.marks import TRAINERS_WARN
from tests.e2e.support.tiny import GROUP, tiny_trainer
from trainer_client.grpo import (
    batch_loss,
    batch_scaled_advantages,
    centered_advantages,
    clipped_surrogate,
    k3_kl,
    leave_one_out_advantages,
    split_groups,
    standardized_advantages,
    zero_variance_share,
)

pytestmark = [
    pytest.mark.training,
    *TRAINERS_WARN,
    pytest.mark.promise("`trainer_client.grpo` computes the same numbers as TRL.", "Client"),
]

# Ordinary, without variance, partly judged, judged once, not judged.
REWARDS: list[float | None] = [
    *(0.0, 1.0, 0.25, 1.0),
    *(0.5, 0.5, 0.5, 0.5),
    *(0.0, None, 1.0, 0.5),
    *(None, 1.0, None, None),
    *(None, None, None, None),
]


def trl_step(model, output, rewards: Sequence[float | None], **arguments):
    """Makes one step with the given rewards."""

    def fixed(completions, **columns):
        assert len(completions) == len(rewards)
        return list(rewards)

    trainer = tiny_trainer(
        model,
        output,
        fixed,
        max_steps=1,
        per_device_train_batch_size=len(rewards),
        log_completions=True,
        **arguments,
    )
    trainer.train()
    return trainer


def logged_advantages(output) -> list[float]:
    import pyarrow.parquet as parquet

    (file,) = (output / "completions").glob("*.parquet")
    return parquet.read_table(file).to_pydict()["advantage"]


def by_group(form, rewards):
    return [value for group in split_groups(rewards, GROUP) for value in form(group)]


@pytest.mark.parametrize(
    ("scale", "form"), [("group", standardized_advantages), ("none", centered_advantages)]
)
def test_group_advantages_are_those_of_trl(tiny_model, tmp_path, scale, form):
    trl_step(tiny_model, tmp_path, REWARDS, scale_rewards=scale)
    found = logged_advantages(tmp_path)
    assert by_group(form, REWARDS) == pytest.approx(found, abs=1e-6)
    assert any(advantage > 0.1 for advantage in found)


def test_batch_scaled_advantages_are_those_of_trl(tiny_model, tmp_path):
    trl_step(tiny_model, tmp_path, REWARDS, scale_rewards="batch")
    groups = batch_scaled_advantages(split_groups(REWARDS, GROUP))
    assert [value for group in groups for value in group] == pytest.approx(
        logged_advantages(tmp_path), abs=1e-6
    )


def test_leave_one_out_advantages_are_those_of_trl(tiny_model, tmp_path):
    trainer = trl_step(tiny_model, tmp_path, REWARDS, trainer="RLOO", beta=0.0)
    found = list(trainer._logs["advantages"])  # RLOO's tables go to no file
    assert by_group(leave_one_out_advantages, REWARDS) == pytest.approx(found, abs=1e-6)


def test_the_share_of_groups_without_variance_is_that_of_trl(tiny_model, tmp_path):
    rewards = REWARDS[: 3 * GROUP]
    (logged, _) = trl_step(tiny_model, tmp_path, rewards).state.log_history
    assert zero_variance_share(split_groups(rewards, GROUP)) == pytest.approx(1 / 3)
    assert logged["frac_reward_zero_std"] == pytest.approx(1 / 3)


LOG_PROBS = [[-0.2, -1.0, -3.0], [-0.5, -2.0, -0.1], [-1.5, -0.7, -2.5]]
OLD = [[-0.6, -1.1, -2.0], [-0.5, -1.0, -0.4], [-0.9, -1.4, -2.4]]
REFERENCE = [[-0.4, -1.5, -2.9], [-1.0, -2.0, -0.1], [-1.2, -0.2, -4.5]]
LENGTHS = [3, 2, 1]
ADVANTAGES = [1.5, -0.5, -2.0]
LOWER, UPPER, BETA, MAX_LENGTH = 0.2, 0.28, 0.05, 6


@pytest.fixture(scope="module")
def loss_trainer(tiny_model, tmp_path_factory):
    trainer = tiny_trainer(
        tiny_model,
        tmp_path_factory.mktemp("loss"),
        lambda completions, **columns: [0.0] * len(completions),
        epsilon=LOWER,
        epsilon_high=UPPER,
        beta=BETA,
        max_completion_length=MAX_LENGTH,
    )
    trainer.model.eval()  # no accumulation to divide by
    return trainer


def trl_loss(trainer, monkeypatch, loss_type: str) -> tuple[float, dict[str, float]]:
    """Runs TRL's own loss on the tables above, in place of what its model would say of tokens."""
    import torch

    log_probs = torch.tensor(LOG_PROBS)
    monkeypatch.setattr(
        trainer,
        "_get_per_token_logps_and_entropies",
        lambda *_, **__: (log_probs, torch.zeros_like(log_probs), None),
    )
    monkeypatch.setattr(trainer, "loss_type", loss_type)
    mask = torch.tensor([[int(at < length) for at in range(3)] for length in LENGTHS])
    ids = torch.ones_like(mask)
    inputs = {
        "prompt_ids": ids,
        "prompt_mask": ids,
        "completion_ids": ids,
        "completion_mask": mask,
        "advantages": torch.tensor(ADVANTAGES),
        "old_per_token_logps": torch.tensor(OLD),
        "ref_per_token_logps": torch.tensor(REFERENCE),
        "num_items_in_batch": mask.sum(),
    }
    trainer._metrics["eval"].clear()
    loss = trainer.compute_loss(trainer.model, inputs).item()
    return loss, {name: values[0] for name, values in trainer._metrics["eval"].items()}


def our_tokens(weighted: bool) -> list[SimpleNamespace]:
    """Returns the surrogates and KL estimates of each completion's own tokens."""
    rows = zip(LOG_PROBS, OLD, REFERENCE, ADVANTAGES, LENGTHS, strict=True)
    return [
        SimpleNamespace(
            surrogate=clipped_surrogate(
                new[:length], old[:length], advantage, lower=LOWER, upper=UPPER
            ),
            kl=k3_kl(new[:length], reference[:length], old[:length] if weighted else None),
        )
        for new, old, reference, advantage, length in rows
    ]


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("loss_type", ["grpo", "bnpo", "dapo", "dr_grpo"])
def test_losses_and_the_kl_are_those_of_trl(loss_trainer, monkeypatch, loss_type, weighted):
    monkeypatch.setattr(loss_trainer.args, "use_bias_correction_kl", weighted)
    expected, metrics = trl_loss(loss_trainer, monkeypatch, loss_type)
    rows = our_tokens(weighted)
    losses = [
        [BETA * kl - surrogate for kl, surrogate in zip(row.kl, row.surrogate, strict=True)]
        for row in rows
    ]
    found = batch_loss(losses, loss_type, max_completion_length=MAX_LENGTH)
    assert found == pytest.approx(expected, abs=1e-6)
    estimates = [kl for row in rows for kl in row.kl]
    assert math.fsum(estimates) / len(estimates) == pytest.approx(metrics["kl"], abs=1e-6)
    # The tables reach both bounds, or the loss would say nothing of them.
    assert metrics["clip_ratio/low_mean"] > 0.0
    assert metrics["clip_ratio/high_mean"] > 0.0
