"""The clipped surrogate, the KL estimate and the loss of a batch."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainer_client.grpo import batch_loss, clipped_surrogate, k3_kl

LOG_PROBS = st.floats(-60.0, 0.0)


@pytest.mark.parametrize(
    ("ratio", "advantage", "expected"),
    [
        (1.0, 2.0, 2.0),
        (1.1, 2.0, 2.2),
        (1.5, 2.0, 2.56),  # gains end at the upper bound
        (0.5, 2.0, 1.0),  # losses of a good completion do not
        (0.5, -2.0, -1.6),  # gains end at the lower bound
        (1.5, -2.0, -3.0),
        (1.5, 0.0, 0.0),
    ],
)
def test_the_surrogate_ends_gains_at_the_bounds(ratio, advantage, expected):
    (found,) = clipped_surrogate([math.log(ratio) - 1.0], [-1.0], advantage, lower=0.2, upper=0.28)
    assert found == pytest.approx(expected)


@given(LOG_PROBS, LOG_PROBS, st.floats(-5, 5))
def test_the_surrogate_is_never_above_the_plain_one(new, old, advantage):
    (found,) = clipped_surrogate([new], [old], advantage)
    assert found <= math.exp(new - old) * advantage + 1e-9


@pytest.mark.parametrize(("advantage", "expected"), [(1.0, 1.2), (0.0, 0.0), (-1.0, -math.inf)])
def test_a_ratio_beyond_floats_makes_no_nan(advantage, expected):
    assert clipped_surrogate([0.0], [-1e4], advantage) == [expected]


@pytest.mark.parametrize(("lower", "upper"), [(-0.1, 0.2), (1.1, 0.2), (0.2, -0.1)])
def test_bounds_out_of_range_are_refused(lower, upper):
    with pytest.raises(ValueError, match="lower"):
        clipped_surrogate([0.0], [0.0], 1.0, lower=lower, upper=upper)


def test_lengths_that_differ_are_refused():
    with pytest.raises(ValueError, match=r"old_log_probs: .* 1 and 2"):
        clipped_surrogate([0.0], [0.0, 0.0], 1.0)
    with pytest.raises(ValueError, match="reference_log_probs"):
        k3_kl([0.0], [])


@given(LOG_PROBS, LOG_PROBS)
def test_k3_is_its_formula_and_never_negative(policy, reference):
    (found,) = k3_kl([policy], [reference])
    ratio = math.exp(reference - policy)
    assert found >= 0.0
    assert found == pytest.approx(ratio - 1.0 - (reference - policy), rel=1e-9, abs=1e-9)


def test_k3_is_zero_for_equal_policies_and_infinite_beyond_floats():
    assert k3_kl([-1.5, -1e4], [-1.5, 0.0]) == [0.0, math.inf]


def mean_under(chances, values):
    return sum(chance * value for chance, value in zip(chances, values, strict=True))


def distributions(count: int):
    """Draws so many distributions over the same tokens."""
    weights = st.lists(st.tuples(*[st.floats(0.01, 1.0)] * count), min_size=2, max_size=6)
    return weights.map(lambda rows: [[w / sum(c) for w in c] for c in zip(*rows, strict=True)])


@given(distributions(3))
def test_k3_has_the_kl_divergence_as_its_mean_under_the_policy_that_wrote(drawn):
    policy, reference, old = drawn
    divergence = sum(p * math.log(p / q) for p, q in zip(policy, reference, strict=True))
    new_logs, reference_logs, old_logs = ([math.log(p) for p in ps] for ps in drawn)
    plain = k3_kl(new_logs, reference_logs)
    weighted = k3_kl(new_logs, reference_logs, old_logs)
    assert mean_under(policy, plain) == pytest.approx(divergence, abs=1e-9)
    assert mean_under(old, weighted) == pytest.approx(divergence, abs=1e-9)


@pytest.mark.parametrize(
    ("loss_type", "expected"),
    [("grpo", (2.0 + 5.0) / 2), ("bnpo", 11 / 4), ("dapo", 11 / 4), ("dr_grpo", 11 / 16)],
)
def test_a_batch_is_averaged_as_its_loss_type_says(loss_type, expected):
    losses = [[1.0, 2.0, 3.0], [5.0]]
    assert batch_loss(losses, loss_type, max_completion_length=8) == pytest.approx(expected)


@pytest.mark.parametrize("loss_type", ["grpo", "bnpo", "dapo"])
def test_completions_without_tokens_add_nothing(loss_type):
    assert batch_loss([[], []], loss_type) == 0.0


def test_a_batch_loss_needs_completions_and_dr_grpo_a_length():
    with pytest.raises(ValueError, match="token_losses"):
        batch_loss([], "grpo")
    with pytest.raises(ValueError, match="max_completion_length"):
        batch_loss([[1.0]], "dr_grpo")
