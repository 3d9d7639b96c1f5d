"""Advantages from rewards, with what was not judged left out."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainer_client.grpo import (
    batch_scaled_advantages,
    centered_advantages,
    leave_one_out_advantages,
    split_groups,
    standardized_advantages,
)

REWARDS = st.lists(st.none() | st.floats(-10, 10, allow_subnormal=False), max_size=16)
FORMS = [standardized_advantages, centered_advantages, leave_one_out_advantages]


@pytest.mark.parametrize(
    ("rewards", "standardized", "centered", "left_out"),
    [
        ([], [], [], []),
        ([1.0], [0.0], [0.0], [0.0]),
        ([1.0, None], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]),
        ([None, None], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]),
        ([0.5, 0.5, 0.5], [0.0] * 3, [0.0] * 3, [0.0] * 3),
        # The sample's deviation of 0 and 1 is the root of one half.
        ([0.0, 1.0], [-0.5 / 0.70720678, 0.5 / 0.70720678], [-0.5, 0.5], [-1.0, 1.0]),
        ([0.0, None, 1.0], [-0.7070068, 0.0, 0.7070068], [-0.5, 0.0, 0.5], [-1.0, 0.0, 1.0]),
        ([1.0, 0.0, 0.0, 0.0], [1.4997, -0.4999, -0.4999, -0.4999], [0.75] + [-0.25] * 3, None),
        ([1.0, 2.0, 6.0], None, [-2.0, -1.0, 3.0], [-3.0, -1.5, 4.5]),
    ],
)
def test_advantages_of_known_groups(rewards, standardized, centered, left_out):
    expected = (standardized, centered, left_out)
    for form, values in zip(FORMS, expected, strict=True):
        if values is not None:
            assert form(rewards) == pytest.approx(values, rel=1e-4)


def test_epsilon_is_added_to_the_deviation():
    assert standardized_advantages([0.0, 2.0], epsilon=1.0) == pytest.approx(
        [-1 / (1 + math.sqrt(2)), 1 / (1 + math.sqrt(2))]
    )


def test_a_batch_is_divided_by_one_deviation():
    groups = [[0.0, 1.0], [4.0, 4.0], [None, 1.0]]
    rewards = [0.0, 1.0, 4.0, 4.0, 1.0]
    deviation = math.sqrt(sum((reward - 2.0) ** 2 for reward in rewards) / 4) + 1e-4
    assert batch_scaled_advantages(groups) == [
        pytest.approx([-0.5 / deviation, 0.5 / deviation]),
        [0.0, 0.0],
        [0.0, 0.0],
    ]


@pytest.mark.parametrize("form", FORMS)
@given(rewards=REWARDS)
def test_advantages_are_finite_cancel_out_and_are_zero_where_not_judged(form, rewards):
    advantages = form(rewards)
    assert len(advantages) == len(rewards)
    assert all(math.isfinite(advantage) for advantage in advantages)
    scale = 1.0 + max(map(abs, advantages), default=0.0)
    assert sum(advantages) == pytest.approx(0.0, abs=1e-9 * scale)
    pairs = zip(rewards, advantages, strict=True)
    assert all(advantage == 0.0 for reward, advantage in pairs if reward is None)


@pytest.mark.parametrize("form", FORMS)
@given(rewards=REWARDS)
def test_what_was_not_judged_changes_nothing_for_the_others(form, rewards):
    judged = [reward for reward in rewards if reward is not None]
    pairs = zip(rewards, form(rewards), strict=True)
    assert [advantage for reward, advantage in pairs if reward is not None] == form(judged)


@given(st.lists(st.floats(-10, 10), min_size=2, max_size=16))
def test_leave_one_out_compares_with_the_mean_of_the_others(rewards):
    others = [
        sum(rewards[:index] + rewards[index + 1 :]) / (len(rewards) - 1)
        for index in range(len(rewards))
    ]
    expected = [reward - other for reward, other in zip(rewards, others, strict=True)]
    assert leave_one_out_advantages(rewards) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_reward_that_is_no_number_is_refused_by_its_place(form, bad):
    with pytest.raises(ValueError, match=r"rewards\[1\]: must be finite"):
        form([0.0, bad])


def test_a_batch_is_split_into_neighbours():
    assert split_groups([1.0, 2.0, None, 4.0], 2) == [[1.0, 2.0], [None, 4.0]]


@pytest.mark.parametrize("num_generations", [0, 3, -1])
def test_a_batch_that_does_not_divide_is_refused(num_generations):
    with pytest.raises(ValueError, match="num_generations"):
        split_groups([1.0, 2.0, 3.0, 4.0], num_generations)
