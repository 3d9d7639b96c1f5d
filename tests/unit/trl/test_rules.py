"""The KL coefficient finds its target, and a collapse is told from noise."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainer_client.errors import ConfigError
from trainer_client.trl.monitoring.rules import CollapseRule, KLRule


@pytest.mark.parametrize(
    ("kl", "steps", "expected"),
    [
        (0.1, 1, 0.04),  # at the target
        (0.11, 1, 0.04 * 1.01),
        (0.09, 1, 0.04 * 0.99),
        (5.0, 1, 0.04 * 1.02),  # the error is clipped
        (0.0, 1, 0.04 * 0.98),
        (5.0, 3, 0.04 * 1.02**3),
        (5.0, 0, 0.04),  # a second log of the same step
        (5.0, 10_000, 1.0),
        (0.0, 10_000, 1e-4),
        (None, 5, 0.04),
        (math.nan, 5, 0.04),
    ],
)
def test_the_coefficient_moves_by_the_clipped_error(kl, steps, expected):
    rule = KLRule(target=0.1, horizon=10.0)
    assert rule.next(0.04, kl, steps) == pytest.approx(expected)


@given(st.floats(1e-4, 1.0), st.floats(0, 1e6), st.integers(0, 10**6), st.floats(1.0, 1e4))
def test_the_coefficient_stays_within_its_bounds_and_moves_toward_the_target(
    coefficient, kl, steps, horizon
):
    rule = KLRule(target=0.1, horizon=horizon)
    found = rule.next(coefficient, kl, steps)
    assert rule.lowest <= found <= rule.highest
    assert (found - coefficient) * (kl - rule.target) >= 0.0


@pytest.mark.parametrize("logging_steps", [1, 10])
def test_a_kl_that_gives_way_to_its_coefficient_comes_to_the_target(logging_steps):
    rule, coefficient = KLRule(target=0.05), 0.5
    for _ in range(0, 400, logging_steps):
        coefficient = rule.next(coefficient, 0.004 / coefficient, logging_steps)
    assert 0.004 / coefficient == pytest.approx(0.05, rel=0.05)


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"target": 0.0}, "target"),
        ({"target": 0.1, "horizon": 0.5}, "horizon"),
        ({"target": 0.1, "lowest": 0.0}, "lowest"),
        ({"target": 0.1, "lowest": 0.1, "highest": 0.01}, "highest"),
        ({"target": math.nan}, "target"),
    ],
)
def test_a_wrong_number_of_the_kl_rule_is_named(wrong, field):
    with pytest.raises(ConfigError, match=f"^{field}: must be"):
        KLRule(**wrong)


def stops(rewards, **options) -> list[int]:
    """Returns the places at which the rule says to stop."""
    rule = CollapseRule(**options)
    return [index for index, reward in enumerate(rewards) if rule.see(reward)]


FAST = {"window": 2, "patience": 3}


@pytest.mark.parametrize(
    ("rewards", "expected"),
    [
        # The means of two are 1.0 at first, 0.5 once, then 0: the third of these is the 8th reward.
        ([1.0] * 4 + [0.0] * 4, [7]),
        ([1.0] * 4 + [0.0] * 7, [7, 10]),
        ([1.0] * 4 + [0.0, None, 0.0, None, None, 0.0, 0.0], [10]),
        ([1.0] * 4 + [0.0, 0.0, 0.0, 1.0, 0.0, 0.0], []),
        ([1.0] * 4 + [0.6] * 9, []),
        ([1.0] * 4 + [None] * 9, []),
        ([1.0] * 4 + [math.nan] * 9, []),
        ([0.04] * 4 + [0.0] * 9, []),  # the best was no more than noise
        ([0.0] * 20, []),
        ([], []),
    ],
)
def test_a_collapse_is_a_fall_that_lasts(rewards, expected):
    assert stops(rewards, **FAST) == expected


def test_a_collapse_is_measured_from_the_floor():
    rewards = [0.0] * 4 + [-0.9] * 4
    assert stops(rewards, **FAST) == []  # above a floor of 0.0 there never was anything
    assert stops(rewards, **FAST, floor=-1.0) == [7]


def test_the_reason_has_the_numbers():
    rule = CollapseRule(**FAST)
    reasons = [reason for reward in [1.0] * 4 + [0.0] * 4 if (reason := rule.see(reward))]
    assert reasons == [
        "the reward collapsed: its mean over 2 logged steps is 0, below 50% of its best, 1, "
        "for 3 of them"
    ]


def noisy(seed: int, mean, spread: float, steps: int = 400) -> list[float]:
    generator = random.Random(seed)
    return [
        min(1.0, max(0.0, generator.gauss(mean(step / steps), spread))) for step in range(steps)
    ]


@pytest.mark.parametrize(
    "mean", [lambda _: 0.3, lambda x: 0.1 + 0.6 * x, lambda x: 0.4 + 0.05 * math.sin(20 * x)]
)
def test_noise_and_waves_are_no_collapse(mean):
    assert not any(stops(noisy(seed, mean, 0.12)) for seed in range(50))


def test_every_noisy_collapse_is_found_soon():
    curves = [noisy(seed, lambda x: 0.5 if x < 0.5 else 0.05, 0.12) for seed in range(50)]
    assert all(200 <= stops(curve)[0] <= 240 for curve in curves)


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"window": 0}, "window"),
        ({"share": 1.0}, "share"),
        ({"patience": 0}, "patience"),
        ({"least_best": 0.0}, "least_best"),
    ],
)
def test_a_wrong_number_of_the_collapse_rule_is_named(wrong, field):
    with pytest.raises(ConfigError, match=f"^{field}: must be"):
        CollapseRule(**wrong)
